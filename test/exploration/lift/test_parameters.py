"""Parameters: the open sizes within their conditions."""

import pytest
from small_programs import program

from tiledialect.exploration.lift.mapping import MappingSpace, mapping
from tiledialect.exploration.lift.parameters import LOCAL_MEMORY, ParameterSpace, parameters
from tiledialect.exploration.lift.settings import MappingSettings, ParameterSettings
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.passes.lift import RULES, Derivation, replay
from tiledialect.schedule.search.decisions import DeadEndError, Fixed, enumerated


def test_tiles_divide_and_others_follow():
    tiled = program("stencil").apply(RULES["tile_stencil"], "map")
    space = ParameterSpace(tiled, ParameterSettings())
    assert space.names == ("v",)
    assert [d["size v"] for d, _ in enumerated(space.bound)] == [1, 2, 4, 8]
    assert all(not d.sizes for d in parameters(tiled))


def test_two_sizes_divide_one_another():
    parts = program("dot").apply(RULES["partial_reduce"], n="n").apply(RULES["partial_reduce"])
    found = [dict(d.steps[-1].sizes) for d in parameters(parts)]
    pairs = {tuple(sorted((k, v.value) for k, v in sizes.items())) for sizes in found}
    assert pairs
    assert len(pairs) == len(found)
    for pair in pairs:
        n, n1 = (number for _, number in pair)
        assert 16 % n == 0
        assert (16 // n) % n1 == 0 or n % n1 == 0


def test_what_is_divided_is_decided_before_its_divisors():
    tiles = program("matmul").apply(RULES["tile_maps"], "map", m="z", n="y")
    blocks = tiles.apply(RULES["tile_maps"], "map/map/map", m="a", n="b")
    space = ParameterSpace(blocks, ParameterSettings())
    assert space.names == ("y", "b", "z", "a")
    assert (8, 4, 4, 2) in {tuple(d.values()) for d, _ in enumerated(space.bound)}


def test_no_open_sizes():
    assert [d.text for d in parameters(program("dot"))] == [program("dot").text]


def test_bounds_are_conditions():
    mapped = (
        program("matmul")
        .apply(RULES["tile_maps"], "map")
        .apply(RULES["map_wrg"](dim=1), "map")
        .apply(RULES["map_wrg"](dim=0), "map_wrg/map")
        .apply(RULES["map_lcl"](dim=1), "map_wrg/map_wrg/map")
        .apply(RULES["map_lcl"](dim=0), "map_wrg/map_wrg/map_lcl/map")
    )
    space = ParameterSpace(mapped, ParameterSettings(max_local_size=8, max_workgroups=4))
    found = [tuple(d.values()) for d, _ in enumerated(space.bound)]
    assert found
    for m, n in found:
        assert m * n <= 8
        assert (4 // m) * (8 // n) <= 4
    with pytest.raises(DeadEndError):
        ParameterSpace(mapped, ParameterSettings(max_local_size=1, max_workgroups=1)).bound(
            Fixed({})
        )


def test_memory_is_that_of_the_elements():
    """Bytes of local memory that a tile of a stencil takes, by the element type."""
    tiled = program("stencil").apply(RULES["tile_stencil"], "map")
    steps = next(d.text for d in mapping(tiled, most=1000) if "to_local" in d.text)
    most, bytes_of = LOCAL_MEMORY, dict[str, int | None]()
    for element in ("f16", "f32", "f64"):
        text = str(program("stencil").initial.module).replace("f32", element)
        module = parse_mlir(text, "stencil.mlir")
        space = ParameterSpace(replay(Derivation.of(module), steps), ParameterSettings())
        ((size,),) = [bound.sizes for bound in space.bounds if bound.most == most]
        bytes_of[element] = size.substitute(dict.fromkeys(size.names, 2)).value
    assert bytes_of["f32"]
    assert bytes_of == {
        "f16": bytes_of["f32"] // 2,
        "f32": bytes_of["f32"],
        "f64": bytes_of["f32"] * 2,
    }


def test_blocks_are_parts_of_tiles():
    start = program("matmul").initial.bind(M=256, N=256, K=256).apply(RULES["fuse_parts"])
    space = ParameterSpace(start.apply(RULES["hold_blocks_2d"], "map"), ParameterSettings())
    assert {name: sorted(wholes) for name, wholes in space.parts.items()} == {
        "p": ["m"],
        "q": ["n"],
    }


def test_accumulators_that_reductions_share_count_once():
    """Blocks of 8 x 16 floats that a work-item holds over parts, and in each of them."""
    start = program("matmul").initial.bind(M=256, N=256, K=256).apply(RULES["fuse_parts"])
    blocks = start.apply(RULES["hold_blocks_2d"], "map")
    chooser = Fixed({"vectors": 1, "mapping": "held10", "copies": "none"})
    mapped = MappingSpace(blocks, MappingSettings()).mapped(chooser)
    space = ParameterSpace(mapped, ParameterSettings(max_private_memory=600))
    (size,) = next(bound.sizes for bound in space.bounds if bound.most == 600)
    assert size.substitute({"p": 8, "q": 16}).value == 4 * 8 * 16


def test_work_items_compute_or_copy():
    start = program("matmul").initial.bind(M=256, N=256, K=256).apply(RULES["fuse_parts"])
    blocks = start.apply(RULES["hold_blocks_2d"], "map")
    chooser = Fixed({"vectors": 1, "mapping": "held10", "copies": "local"})
    mapped = MappingSpace(blocks, MappingSettings()).mapped(chooser)
    space = ParameterSpace(mapped, ParameterSettings())
    sizes = {"m": 64, "n": 64, "p": 4, "q": 8, "k": 16}
    chosen = Fixed({f"size {name}": size for name, size in sizes.items()})
    assert space.bound(chosen) and chosen.made == {f"size {n}": s for n, s in sizes.items()}
    (items,) = (b.sizes for b in space.bounds if (b.least, b.most) == (1, 1024))
    assert [size.substitute(sizes).value for size in items] == [16 * 8, 16 * 16]
