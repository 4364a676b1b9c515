"""Accesses of a CPU's core: lanes that are apart or tested, and lines of its caches."""

import pytest

from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import LoadOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.cost.core_accesses import (
    Lanes,
    begun_share,
    line_cycles,
    moves_of,
    operations_of,
)
from tiledialect.lowering.nest.utils.access_strides import stride_over
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.traits import Kind

DEVICE = described(Kind.CPU, {"native_vector_width": 16})
ALIGNED, PADDED = "16*%i + %l", "16*%i + %l - 8"


def load(place: str, role: str = "vector", steps: str = "serial", condition: str = "") -> LoadOp:
    """A load at places that loops of 16 lanes in 4 steps make."""
    given = f" if {condition} else %zero" if condition else ""
    text = f"""
    "gpu.module"() <{{sym_name = "m"}}> ({{
      "gpu.func"() <{{function_type = (memref<4096xf32, 1 : i32>) -> (), kernel}}> ({{
      ^bb0(%a: memref<4096xf32, 1 : i32>):
        %zero = arith.constant 0.0 : f32
        nest.for %i : {steps} to 4 {{
          nest.for %l : {role} to 16 {{
            %x = nest.load %a[{place}]{given} : memref<4096xf32, 1 : i32>
          }}
        }}
        "gpu.return"() : () -> ()
      }}) {{sym_name = "k", gpu.kernel}} : () -> ()
    }}) : () -> ()"""
    (found,) = ops_of(parse_mlir(text, "nest"), LoadOp)
    return found


def operations(*given: str) -> float:
    """Time of a load of 16 lanes, in loads of vectors."""
    op = load(*given)
    loop = op.parent_op()
    assert isinstance(loop, ForOp)
    own = operations_of(op, Lanes(loop, 16), DEVICE, NestScope())
    return own / DEVICE.rates.nests.access


def test_lanes_that_are_apart_take_longer():
    assert operations(ALIGNED) == operations("%i") == 1
    near, far = operations("32*%i + 2*%l"), operations("%i + 64*%l")
    assert 1 < near < far == 16 * DEVICE.rates.of_cpu.accesses.apart / DEVICE.rates.nests.access


@pytest.mark.parametrize(
    ("place", "steps", "share"),
    [("16*%i + %l - 16", "serial", 0), (PADDED, "serial", 1), (PADDED, "unroll", 0.25)],
)
def test_lanes_that_are_tested_by_themselves_take_longer(place: str, steps: str, share: float):
    """Pads of whole vectors are tested as a whole, and other ones in the copies that have them."""
    rates, access = DEVICE.rates.of_cpu.accesses, DEVICE.rates.nests.access
    own = operations(place, "vector", steps, f"0 <= {place}")
    alone = 16 * rates.tested_lane / access
    assert own == pytest.approx(1 + rates.test / access + share * (alone - 1))


def test_masks_of_work_items_are_faster_than_branches():
    condition = f"0 <= {PADDED}"
    masked, branches = (operations(PADDED, r, "serial", condition) for r in ("local.x", "vector"))
    assert operations(PADDED, "local.x") < masked < branches


def test_strided_loops_move_with_the_loop_that_they_begin_at():
    text = """
    "gpu.module"() <{sym_name = "m"}> ({
      "gpu.func"() <{function_type = (memref<65536xf32, 1 : i32>) -> (), kernel}> ({
      ^bb0(%a: memref<65536xf32, 1 : i32>):
        nest.for %g : group.x to 4 {
          nest.for %l : local.x to 8 {
            nest.for %i = 8*%g + %l to 64 step 32 : serial {
              nest.for %k : serial to 16 {
                %x = nest.load %a[1024*%i + %k] : memref<65536xf32, 1 : i32>
              }
            }
          }
        }
        "gpu.return"() : () -> ()
      }) {sym_name = "k", gpu.kernel} : () -> ()
    }) : () -> ()"""
    module = parse_mlir(text, "nest")
    (op,) = ops_of(module, LoadOp)
    scope = NestScope()
    strides = [stride_over(loop, op, scope) for loop in ops_of(module, ForOp)]
    assert strides == [8 * 1024, 1024, 32 * 1024, 1]
    _, lanes, *_ = ops_of(module, ForOp)
    # The lanes of work-items come first, one row each.
    assert moves_of(op, Lanes(lanes, 8), scope) == (
        (8, 4096),
        (16, 4),
        (2, 131072),
        (4, 32768),
    )


def test_rows_that_meet_in_the_first_cache_are_fetched_for_each_element():
    """Of 16 rows an element each, step by step: a power of two of bytes apart, and a line more."""

    def cycles(row: int) -> float:
        return line_cycles([(16, row), (1024, 4)], 4, DEVICE)

    assert cycles(4096) > 9 * cycles(4096 + 64)


def test_neighbours_come_line_by_line():
    core = DEVICE.rates.of_cpu.core
    assert line_cycles([(16, 4), (1024, 64)], 4, DEVICE) == 65536 / core.far_bytes
    # What fits into the first cache comes once, and what fits into the second from there.
    assert line_cycles([(16, 4), (64, 64), (9, 0)], 4, DEVICE) == 4096 / core.far_bytes
    assert line_cycles([(16, 4), (1024, 64), (9, 0)], 4, DEVICE) == 9 * 65536 / core.second_bytes


def test_pieces_of_memory_begin_slowly():
    pieces = begun_share([(128, 64), (1024, 65536), (8, 8192)], 64)
    assert pieces == 1.25
    # Groups one after the other continue a piece, and a few rows in turns are pieces each.
    assert begun_share([(128, 64), (8192, 8192)], 64) < 1.001
    assert begun_share([(16, 4), (8, 16384), (256, 64)], 4) == 1.125
