"""The first cost of a nest: more work, scattered accesses and idle units take longer."""

from small_programs import convolution, program
from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from tiledialect import lift
from tiledialect.exploration.lift.mapping import MappingSpace
from tiledialect.exploration.lift.settings import MappingSettings
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.lift_to_nest.lift_to_nest import LiftToNestPass
from tiledialect.lowering.nest.cost.estimate import estimate_nest, nest_work
from tiledialect.lowering.nest.nest_merge_loads import NestMergeLoadsPass
from tiledialect.passes.lift import RULES, Derivation
from tiledialect.passes.lift.lift_lower import LiftLowerPass
from tiledialect.schedule.cost.device import Device, described
from tiledialect.schedule.cost.nests import NestWork
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.search.decisions import Fixed, made

CPU, GPU = (described(kind, {}) for kind in (Kind.CPU, Kind.GPU))


def nest_of(derivation: Derivation) -> ModuleOp:
    module = derivation.module.clone()
    LiftLowerPass().apply(Context(), module)
    LiftToNestPass(64).apply(Context(), module)
    return module


def seconds(derivation: Derivation, device: Device = CPU) -> float:
    return estimate_nest(nest_of(derivation), device)


def work_of(derivation: Derivation) -> NestWork:
    """Counts of the one kernel on a GPU."""
    (kernel,) = ops_of(nest_of(derivation), gpu.FuncOp)
    return nest_work(kernel, GPU)


def product(n: int) -> Derivation:
    return program("matmul").initial.bind(M=n, N=n, K=n)


def test_more_work_takes_longer():
    for device in (CPU, GPU):
        assert seconds(product(512), device) > 4 * seconds(product(256), device)


def test_one_work_item_is_slower_than_all():
    whole = program("dot").initial.bind(N=1 << 20)
    parts = whole.apply(RULES["partial_reduce"], n=1 << 12).apply(RULES["fuse_parts"])
    parts = parts.apply(RULES["map_glb"], "map")
    assert seconds(parts) < seconds(whole)
    assert seconds(parts, GPU) < seconds(whole, GPU)


def test_neighbours_are_read_faster_than_rows():
    start = product(256)
    columns = start.apply(RULES["map_glb"](dim=1), "map").apply(RULES["map_glb"], "map_glb/map")
    rows = start.apply(RULES["map_glb"], "map").apply(RULES["map_glb"](dim=1), "map_glb/map")
    assert seconds(columns, GPU) < seconds(rows, GPU)


def test_work_items_that_share_a_row_are_faster_than_a_row_each():
    start = program("gemv").initial.bind(M=4096, N=4096)
    rows = start.apply(RULES["fuse"]).apply(RULES["map_glb"])
    vectors = start.apply(RULES["vectorize_zip"](w=4), "map/map")
    vectors = vectors.apply(RULES["vectorize_reduce"](w=4), "map/reduce").apply(RULES["fuse_parts"])
    shared = start.apply(RULES["partial_reduce_strided"], n=128).apply(RULES["fuse_parts"])
    shared = shared.apply(RULES["map_wrg"], "map").apply(RULES["map_lcl"], "map_wrg/map")
    assert 1.5 * seconds(shared, GPU) < seconds(vectors, GPU) < seconds(rows, GPU)


def test_all_loops_of_an_axis_count_as_work_items():
    start = program("gemv").initial.bind(M=4096, N=4096).apply(RULES["split_join"], "map", n=64)
    warps = start.apply(RULES["map_warp"], "map").apply(RULES["map_lane"], "map_warp/map")
    assert work_of(warps).items == 256


def test_what_all_steps_of_a_loop_load_is_loaded_once():
    """Of a pair of a work-item's element and all others, the work-item's is loaded once."""

    def differences(n: int) -> NestWork:
        pairs = lift.fun(
            lift.array(n),
            lambda x: (
                x >> lift.map_glb(lambda a: x >> lift.reduce_seq(lambda s, b: s + a * b, 0.0))
            ),
        )
        return work_of(Derivation.of(pairs))

    # A load of a row of 32 neighbours, and loads of one number that all of them share.
    each = GPU.rates.nests.access
    assert differences(256).accesses == each * 256 * (256 + 1 + 1)


def test_accumulators_that_loops_share_take_registers_once():
    """Of 8 x 16 floats that a work-item holds over parts; a step takes less than memory would."""
    device = described(Kind.GPU, {"compute_units": 16, "sub_group_size": 32, "registers": 255})
    start = program("matmul").initial.bind(M=256, N=256, K=64).apply(RULES["fuse_parts"])

    def held(p: int) -> float:
        sizes = {"m": 64, "n": 64, "p": p, "q": 16, "k": 16}
        blocks = start.apply(RULES["hold_blocks_2d"], "map", **sizes)
        space = MappingSpace(blocks, MappingSettings(), device)
        chooser = Fixed({"vectors": 1, "mapping": "held10", "copies": "none", "unroll": 512})
        return seconds(space.unrolled(space.mapped(chooser), chooser), device)

    assert held(8) < 1.5 * held(4)


def test_what_a_tile_takes_of_a_unit_lets_fewer_groups_hide_waiting():
    own = {"compute_units": 132, "sub_group_size": 32, "registers": 255}
    many = described(Kind.GPU, {**own, "local_mem_unit": 1 << 17})

    def waiting(*, ahead: bool, registers: int, local_memory: int = 1 << 14) -> float:
        counts = (1e10, 1e10, 0.0, 0.0, 528, 128, 128, 128)
        return NestWork(*counts, ahead, registers, local_memory).on(many).waiting

    alone = waiting(ahead=False, registers=128)
    assert 0 < waiting(ahead=True, registers=128) < alone
    assert waiting(ahead=False, registers=256) > alone
    assert waiting(ahead=False, registers=32, local_memory=1 << 16) > alone


def test_large_groups_leave_few_registers_to_each_work_item():
    """Blocks of 16 x 8 sums, in groups of 64 and of 1024 work-items."""
    device = described(Kind.GPU, {"compute_units": 16, "sub_group_size": 32, "registers": 255})
    start = program("matmul").initial.bind(M=1024, N=1024, K=64).apply(RULES["fuse_parts"])

    def groups(tile: int) -> float:
        sizes = {"m": 16 * tile, "n": 8 * tile, "p": 16, "q": 8, "k": 16}
        blocks = start.apply(RULES["hold_blocks_2d"], "map", **sizes)
        space = MappingSpace(blocks, MappingSettings(), device)
        chooser = Fixed({"vectors": 1, "mapping": "held10", "copies": "none", "unroll": 512})
        module = space.unrolled(space.mapped(chooser), chooser).module.clone()
        LiftLowerPass().apply(Context(), module)
        LiftToNestPass(1024).apply(Context(), module)
        return estimate_nest(module, device)

    assert groups(32) > 2 * groups(8)


def test_one_core_does_not_ask_for_all_that_memory_gives():
    two, many = (described(Kind.CPU, {"compute_units": n}) for n in (2, 16))

    def memory(groups: int, device: Device) -> float:
        return NestWork(1.0, 0.0, 0.0, 1e9, groups, 1).on(device).memory

    assert memory(1, two) == 2 * memory(2, two)
    assert memory(1, many) == 4 * memory(4, many) == 4 * memory(16, many)


def test_groups_that_leave_units_idle_take_longer():
    """Of 132 units 64 groups leave half idle, and 256 a few."""
    many = described(Kind.GPU, {"compute_units": 132, "sub_group_size": 32})

    def busy(groups: int) -> float:
        work = NestWork(1e9, 0.0, 0.0, 0.0, groups, (1 << 16) // groups)
        return work.on(many).arithmetic

    assert busy(64) > 1.9 * busy(256)


WIDE = described(Kind.CPU, {"native_vector_width": 16})


def panels(m: int, n: int, word: str = "rows0") -> Derivation:
    """Product in panels of n columns, in blocks of m x n elements in registers."""
    start = program("matmul").initial.bind(M=768, N=768, K=256).apply(RULES["fuse_parts"])
    blocks = start.apply(RULES["reuse_block_2d"], m=m, n=n)
    chooser = Fixed({"vectors": 16, "mapping": word, "copies": "none", "unroll": 64})
    space = MappingSpace(blocks, MappingSettings(), WIDE)
    return space.unrolled(space.mapped(chooser), chooser)


def test_copies_of_unrolled_loops_share_what_they_load():
    # A vector of sums for each vector that is loaded, and 3 sums for 1.4.
    assert seconds(panels(8, 48), WIDE) < 0.7 * seconds(panels(1, 16), WIDE)
    assert seconds(panels(8, 48), WIDE) < 0.9 * seconds(panels(16, 16), WIDE)


def rows_of_windows(n: int, *unrolled: str) -> float:
    """Accesses of windows of 4 elements, n of them to a work-item, with unrolled loops."""
    windows = lift.fun(
        lift.array(1027),
        lambda x: x >> lift.slide(4, 1) >> lift.map(lambda w: w >> lift.reduce(lift.add, 0.0)),
    )
    found = Derivation.of(windows).apply(RULES["split_join"], "map", n=n)
    found = found.apply(RULES["map_glb"], "map").apply(RULES["map_seq"], "map_glb/map")
    found = found.apply(RULES["reduce_seq"], "map_glb/map_seq/reduce")
    for rule, place in zip(("reduce_seq_unroll", "map_seq_unroll"), unrolled, strict=False):
        found = found.apply(RULES[rule], place)
    return work_of(found).accesses


def test_unrolled_loops_load_each_element_once():
    """8 windows of 4 elements share all but 11, and store 8."""
    inner = "map_glb/map_seq/reduce_seq"
    apart, shared = rows_of_windows(8, inner), rows_of_windows(8, inner, "map_glb/map_seq")
    assert shared / apart == (8 + 3 + 8) / (8 * 4 + 8)


def test_vectors_at_places_that_are_not_aligned_are_loaded_by_element():
    def traffic(apart: int) -> float:
        """Bytes of sums of two elements that are so far apart, 4 of them in a vector."""
        pairs = lift.fun(
            lift.array(1031),
            lambda x: x >> lift.slide(8, 1) >> lift.map(lambda w: w[0] + w[apart]),
        )
        space = MappingSpace(Derivation.of(pairs), MappingSettings(), GPU)
        chooser = Fixed({"vectors": 4, "mapping": "global0", "copies": "none"})
        return work_of(space.mapped(chooser)).traffic

    assert traffic(4) < traffic(5)


def test_sums_that_registers_do_not_hold_take_longer():
    # 24 and 48 vectors of sums, of 32 registers.
    assert seconds(panels(8, 48), WIDE) < 0.6 * seconds(panels(16, 48), WIDE)


def test_work_items_in_the_lanes_of_vectors_need_registers_of_their_own():
    assert seconds(panels(8, 48), WIDE) < 0.6 * seconds(panels(8, 48, "group0"), WIDE)


def test_lanes_of_a_loop_around_others_are_computed_one_by_one():
    def operations(role: str) -> float:
        """Time of sums of 64 columns, in the lanes of vectors or in a loop."""
        text = f"""
        "gpu.module"() <{{sym_name = "m"}}> ({{
          "gpu.func"() <{{function_type = (memref<64x256xf32, 1 : i32>, memref<64xf32, 1 : i32>)
              -> (), kernel}}> ({{
          ^bb0(%a: memref<64x256xf32, 1 : i32>, %sums: memref<64xf32, 1 : i32>):
            nest.for %j : serial to 4 {{
              nest.for %l : {role} to 16 {{
                nest.for %i : serial to 64 {{
                  %x = nest.load %a[%i, 16*%j + %l] : memref<64x256xf32, 1 : i32>
                  nest.store %x, %sums[16*%j + %l] : f32, memref<64xf32, 1 : i32>
                }}
              }}
            }}
            "gpu.return"() : () -> ()
          }}) {{sym_name = "k", gpu.kernel}} : () -> ()
        }}) : () -> ()"""
        (kernel,) = ops_of(parse_mlir(text, "nest"), gpu.FuncOp)
        return nest_work(kernel, WIDE).operations

    assert operations("vector") > 0.9 * operations("serial")


def test_windows_with_pads_are_faster_from_a_copy():
    """A convolution of 9 x 9 with blocks in registers: a copy tests each element once."""
    blocks = Derivation.of(convolution(9)).apply(RULES["block_stencil_2d"], v=64, m=4, n=16, k=9)

    def tiles(copies: str) -> float:
        chooser = Fixed({"vectors": 16, "mapping": "rows01", "copies": copies, "unroll": 64})
        space = MappingSpace(blocks, MappingSettings(), WIDE)
        return seconds(space.unrolled(space.mapped(chooser), chooser), WIDE)

    assert 4 * tiles("local") < tiles("none")


def tile_work(p: int, q: int, copies: str = "local", *, registers: int = 255) -> NestWork:
    """Counts of a product in tiles of 128 x 128, of which a work-item holds p x q sums."""
    own = {"compute_units": 132, "sub_group_size": 32, "registers": registers}
    device = described(Kind.GPU, {**own, "local_mem_size": 49152})
    start = program("matmul").initial.bind(M=256, N=256, K=64).apply(RULES["fuse_parts"])
    sizes = {"m": 128, "n": 128, "p": p, "q": q, "k": 16}
    space = MappingSpace(
        start.apply(RULES["hold_blocks_2d"], "map", **sizes), MappingSettings(), device
    )
    given = {"vectors": 4, "mapping": "held10", "copies": copies, "ahead": "no", "unroll": 512}
    _, mapped = made(space.mapped, given)
    module = nest_of(space.unrolled(mapped, Fixed(given)))
    NestMergeLoadsPass().apply(Context(), module)
    (kernel,) = ops_of(module, gpu.FuncOp)
    return nest_work(kernel, device)


def test_lanes_that_share_a_vector_load_it_by_turns():
    """Of 8 x 8 sums a step loads 4 vectors, of 16 x 8 six for twice as many sums."""
    small, large = tile_work(8, 8), tile_work(16, 8)
    assert 0.6 < large.accesses / small.accesses < 0.9


def test_operands_that_registers_do_not_hold_ahead_are_waited_for():
    assert tile_work(8, 8).waits == tile_work(8, 16).waits == 0
    few, many = (tile_work(p, 16, "none").waits for p in (4, 8))
    assert 0 < few < many
    assert tile_work(8, 16, "none", registers=1000).waits < many


def test_lines_of_earlier_steps_are_not_waited_for():
    """A work-item adds elements of 64 rows, in the steps of a loop the next ones or of others."""

    def waits(place: str) -> int:
        text = f"""
        "gpu.module"() <{{sym_name = "m"}}> ({{
          "gpu.func"() <{{function_type = (memref<1048576xf32, 1 : i32>, memref<1024xf32, 1 : i32>)
              -> (), kernel}}> ({{
          ^bb0(%a: memref<1048576xf32, 1 : i32>, %sums: memref<1024xf32, 1 : i32>):
            nest.for %l : local.x to 1024 {{
              %sum = nest.buffer : memref<1xf32, 5 : i32>
              nest.for %k : serial to 16 {{
                nest.for %r : unroll to 64 {{
                  %x = nest.load %a[{place}] : memref<1048576xf32, 1 : i32>
                  %y = nest.load %sum[0] : memref<1xf32, 5 : i32>
                  %z = arith.addf %x, %y : f32
                  nest.store %z, %sum[0] : f32, memref<1xf32, 5 : i32>
                }}
              }}
              %found = nest.load %sum[0] : memref<1xf32, 5 : i32>
              nest.store %found, %sums[%l] : f32, memref<1024xf32, 1 : i32>
            }}
            "gpu.return"() : () -> ()
          }}) {{sym_name = "k", gpu.kernel}} : () -> ()
        }}) : () -> ()"""
        (kernel,) = ops_of(parse_mlir(text, "nest"), gpu.FuncOp)
        return nest_work(kernel, described(Kind.GPU, {"registers": 40})).waits

    near, apart = waits("1024*%r + %k + %l"), waits("1024*%r + 65536*%k + %l")
    assert apart == 16 * near > 0
    assert waits("%r + 1024*%k + %l") == 16


def test_the_last_groups_of_a_unit_are_too_few():
    """Of 4 groups of 4 sub-groups a unit runs 3 at a time, by their registers, or 4."""
    many = described(Kind.GPU, {"compute_units": 132, "sub_group_size": 32, "registers": 255})

    def busy(registers: int) -> float:
        counts = (1e10, 0.0, 0.0, 0.0, 528, 128, 0, 0)
        return NestWork(*counts, True, registers).on(many).arithmetic

    assert busy(160) == 1.25 * busy(128)
    assert busy(255) == busy(128)
