"""Mapping: who does the patterns; every mapping computes the same."""

from random import Random

import numpy as np
import pytest
from small_programs import PROGRAMS, choose, inputs, outputs, program

import tiledialect as td
from tiledialect import lift
from tiledialect.exploration.lift.algorithmic import algorithmic
from tiledialect.exploration.lift.mapping import GROUPS_OF_UNIT, MappingSpace, mapping
from tiledialect.exploration.lift.parameters import ParameterSpace
from tiledialect.exploration.lift.settings import (
    AlgorithmicSettings,
    MappingSettings,
    ParameterSettings,
)
from tiledialect.passes.lift import RULES, Derivation
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.search.decisions import (
    Chooser,
    DeadEndError,
    Fixed,
    drawn,
    enumerated,
    made,
)

FEW = AlgorithmicSettings(most_rewritten=2, most_programs=6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_mappings_compute_the_same(name: str, request: pytest.FixtureRequest):
    """Candidates at random: an algorithmic program, its mapping, its sizes, and unrolling."""
    choose(name, request)
    expected, random = outputs(program(name), name), Random(0)
    count = 0
    for derivation in algorithmic(program(name), FEW):
        space = MappingSpace(derivation, MappingSettings())

        def whole(chooser: Chooser, space: MappingSpace = space) -> Derivation:
            mapped = space.mapped(chooser)
            bound = ParameterSpace(mapped, ParameterSettings()).bound(chooser)
            return space.unrolled(bound, chooser)

        for _ in range(3):
            try:
                _, candidate = drawn(whole, random, 5)
            except DeadEndError:
                continue
            count += 1
            for a, b in zip(outputs(candidate, name), expected, strict=True):
                assert np.array_equal(a, b), candidate.text
    assert count > 3


def test_vectors_of_windows():
    """Functions of arrays take vectors of the elements of neighbours, in any mapping."""
    windows = lift.fun(
        lift.array(32),
        lambda x: (
            x >> lift.pad(1, 1, lift.clamp) >> lift.slide(3, 1) >> lift.map(lambda w: w[2] - w[0])
        ),
    )
    space = MappingSpace(Derivation.of(windows), MappingSettings())
    found = space.mapped(Fixed({"vectors": 4, "mapping": "global0"}))
    assert "vectorize_arrays(w=4) at map" in found.text
    x = np.arange(32, dtype=np.float32) ** 2
    expected = np.pad(x, (0, 1), "edge")[1:] - np.pad(x, (1, 0), "edge")[:-1]
    assert np.array_equal(td.compile(found.module)(x), expected)


def test_mappings_of_a_stencil():
    tiled = program("stencil").apply(RULES["tile_stencil"], "map", v=4)
    texts = [d.text for d in mapping(tiled)]
    assert texts[0] == tiled.text
    assert len({*texts}) == len(texts)
    wanted = ("map_wrg", "map_lcl", "map_glb", "map_warp", "to_local", "map_ends", "to_private")
    for rule in wanted:
        assert any(rule in text for text in texts), rule
    assert [d.text for d in mapping(tiled)] == texts


@pytest.mark.parametrize("word", ["global0", "group0", "rows0"])
def test_groups_in_proportion_to_units_go_through_elements_in_strides(word: str):
    name, device = "gemv", described(Kind.CPU, {"compute_units": 2})
    space = MappingSpace(program(name), MappingSettings(vectorize=False), device)
    expected = outputs(program(name), name)
    for each in (0, 1, 4):
        _, found = made(space.mapped, {"mapping": word, "copies": "none", GROUPS_OF_UNIT: each})
        assert (f"limit_groups(groups={2 * each})" in found.text) == (each > 0)
        for a, b in zip(outputs(found, name), expected, strict=True):
            assert np.array_equal(a, b), found.text
    exact = MappingSpace(program(name), MappingSettings(balance=False), device)
    assert not any("limit_groups" in d.text for _, d in enumerated(exact.mapped))


def test_limits_of_groups_bound_their_number():
    """Of 4 rows, one to a group, at most 2 groups are allowed."""
    mapped = program("gemv").apply(RULES["map_wrg"], "map")
    settings = ParameterSettings(max_workgroups=2)
    with pytest.raises(DeadEndError):
        ParameterSpace(mapped, settings).bound(Fixed({}))
    limited = mapped.apply(RULES["limit_groups"](groups=2), "map_wrg")
    assert ParameterSpace(limited, settings).bound(Fixed({})) == limited


def test_copies_with_columns_for_rows():
    """A panel of columns in local memory, which a group copies by rows of it."""
    name = "matmul"
    panels = program(name).apply(RULES["fuse_parts"]).apply(RULES["reuse_block_2d"], m=2, n=4)
    given = {"vectors": 4, "mapping": "rows0", "copies": "columns"}
    _, mapped = made(MappingSpace(panels, MappingSettings()).mapped, given)
    wanted = ("add_transposed_identity_inside", "vectorize(w=4)", "to_local")
    assert all(step in mapped.text for step in wanted)
    for a, b in zip(outputs(mapped, name), outputs(program(name), name), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.covering(1)
@pytest.mark.parametrize("word", ["held01", "held10"])
@pytest.mark.parametrize("copies", ["none", "local", "columns"])
def test_work_items_hold_accumulators(word: str, copies: str, fast: td.Device):
    """Blocks of sums stay with work-items, which go through parts of both matrices together."""
    name = "matmul"
    sizes = {"m": 4, "n": 4, "p": 2, "q": 2, "k": 4}
    fused = program(name).apply(RULES["fuse_parts"])
    space = MappingSpace(fused.apply(RULES["hold_blocks_2d"], **sizes), MappingSettings())
    _, mapped = made(space.mapped, {"vectors": 2, "mapping": word, "copies": copies})
    assert "to_private at map_wrg/map_wrg/reduce_seq" in mapped.text
    assert mapped.text.count("to_local") == (0 if copies == "none" else 2)
    assert mapped.text.count("vectorize(w=2)") == mapped.text.count("to_local")
    expected = outputs(program(name), name)
    found = td.compile(mapped.module, device=fast)(*inputs(name))
    assert np.array_equal(found, expected[0])
    assert np.array_equal(outputs(mapped, name)[0], expected[0])


def test_parts_are_fetched_ahead_on_gpus():
    name = "matmul"
    fused = program(name).apply(RULES["fuse_parts"])
    sizes = {"m": 4, "n": 4, "p": 2, "q": 2, "k": 2}
    blocks = fused.apply(RULES["hold_blocks_2d"], **sizes)
    given = {"vectors": 1, "mapping": "held10", "copies": "local", "ahead": "yes"}
    _, mapped = made(MappingSpace(blocks, MappingSettings()).mapped, given)
    assert mapped.text.count("fetch_ahead at map_wrg/map_wrg/reduce_seq/to_local") == 2
    assert np.array_equal(outputs(mapped, name)[0], outputs(program(name), name)[0])
    cpu = described(Kind.CPU, {})
    decided, _ = made(MappingSpace(blocks, MappingSettings(), cpu).mapped, given)
    assert "ahead" not in decided


@pytest.mark.covering(1)
@pytest.mark.parametrize("word", ["parts01", "parts10"])
def test_work_items_share_out_elements_and_the_parts_of_each(word: str, fast: td.Device):
    """Groups of rows, whose sums are of parts that work-items along another dimension add up."""
    name = "gemv"
    rows = program(name).apply(RULES["split_join"], "map", n=2)
    parts = rows.apply(RULES["partial_reduce"], "map/map/reduce", n=4).apply(RULES["fuse_parts"])
    space = MappingSpace(parts, MappingSettings(vectorize=False))
    _, mapped = made(space.mapped, {"mapping": word})
    outer, inner = word.removeprefix("parts")
    assert f"map_lcl(dim={outer}) at map_wrg/map\n" in mapped.text
    assert f"map_lcl(dim={inner}) at map_wrg/map_lcl/map\n" in mapped.text
    expected = outputs(program(name), name)
    assert np.array_equal(outputs(mapped, name)[0], expected[0])
    assert np.array_equal(td.compile(mapped.module, device=fast)(*inputs(name)), expected[0])
    for other, given in ((parts, False), (rows, True)):
        off = MappingSpace(other, MappingSettings(vectorize=False, parts=given))
        assert not any(d["mapping"] == word for d, _ in enumerated(off.mapped))


def test_work_items_share_out_rows_of_groups_along_two_dimensions(device: td.Device):
    """Each work-item has the points of a column in a block of rows."""
    start = Derivation.of(lift.fun(lift.array(3, 4, 8), lambda x: x >> lift.map3(lift.abs)))
    blocks = start.apply(RULES["block_rows"], "map/map", n=2)
    lines = {"mapping": "lines10", "vectors": 1}
    _, mapped = made(MappingSpace(blocks, MappingSettings()).mapped, lines)
    steps = "map_wrg(dim=1) at map", "map_wrg(dim=0) at map_wrg/map"
    assert all(f"{step}\n" in mapped.text for step in steps)
    assert "map_lcl(dim=0) at map_wrg/map_wrg/map\nmap_seq at" in mapped.text
    x = -np.arange(96, dtype=np.float32).reshape(3, 4, 8)
    assert np.array_equal(td.compile(mapped.module, device=device)(x), -x)
    for settings, kind in ((MappingSettings(lines=False), None), (MappingSettings(), Kind.CPU)):
        on = None if kind is None else described(kind, {})
        words = (d["mapping"] for d, _ in enumerated(MappingSpace(blocks, settings, on).mapped))
        assert "lines10" not in words


def test_windows_move_through_registers():
    tiled = program("stencil").apply(RULES["tile_stencil"], "map", v=4)
    given = {"vectors": 1, "mapping": "rows0", "copies": "none", "moving": "yes"}
    _, mapped = made(MappingSpace(tiled, MappingSettings()).mapped, given)
    assert "map_seq_slide_seq at map_wrg/map_seq" in mapped.text
    assert np.array_equal(outputs(mapped, "stencil")[0], outputs(tiled, "stencil")[0])


def test_settings_disable_mappings():
    off = {f"global{k}": False for k in ("0", "01", "10", "012", "210")}
    settings = MappingSettings(**off, warps=False, local_memory=False, vectorize=False)
    texts = [d.text for d in mapping(program("matmul"), settings)]
    assert any("map_wrg" in text for text in texts)
    for rule in ("map_glb", "map_warp", "to_local", "vectorize"):
        assert not any(rule in text for text in texts)


def test_dimensions():
    space = MappingSpace(program("matmul"), MappingSettings(vectorize=False))
    found = {d["mapping"]: v.text for d, v in enumerated(space.mapped) if d.get("copies") == "none"}
    assert "map_glb(dim=1) at map\nmap_glb(dim=0) at map_glb/map" in found["global10"]
    assert "map_wrg(dim=0) at map\nmap_lcl(dim=0) at map_wrg/map" in found["group0"]
    assert "global012" not in found


def test_copies_in_local_memory_by_rows_and_elements():
    tiled = program("nine_points").apply(RULES["tile_stencil_2d"], v=2)
    space = MappingSpace(tiled, MappingSettings(vectorize=False))
    found = {
        v.text
        for d, v in enumerated(space.mapped)
        if d["mapping"] == "group10" and d["copies"] == "local"
    }
    assert any("to_local at map_wrg/map_wrg/map_lcl" in text for text in found)
