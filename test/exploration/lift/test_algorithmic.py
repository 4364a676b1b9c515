"""Algorithmic rewriting: equal programs, no duplicates, the same each time, within the filters."""

import numpy as np
import pytest
from small_programs import PROGRAMS, choose, outputs, program

from tiledialect.errors import TileError
from tiledialect.exploration.lift.algorithmic import (
    COLLECTIONS,
    _interleaved,
    algorithmic,
    canonical_hash,
    collection,
    depth,
    distance,
)
from tiledialect.exploration.lift.parameters import parameters
from tiledialect.exploration.lift.settings import AlgorithmicSettings
from tiledialect.passes.lift import RULES, Derivation

FEW = AlgorithmicSettings(most_rewritten=3, most_programs=12)
MORE = AlgorithmicSettings(most_rewritten=6, most_programs=30)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compute_the_same(name: str, request: pytest.FixtureRequest):
    choose(name, request)
    expected = outputs(program(name), name)
    for derivation in algorithmic(program(name), FEW):
        (bound, *_) = reversed(parameters(derivation, most=5))
        for a, b in zip(outputs(bound, name), expected, strict=True):
            assert np.array_equal(a, b), derivation.text


def test_finds_tiles_and_blocks(request: pytest.FixtureRequest):
    choose("matmul", request)
    texts = [d.text for d in algorithmic(program("matmul"), MORE)]
    for rule in ("tile_maps", "register_block_2d", "partial_reduce", "interchange"):
        assert any(rule in text for text in texts)
    assert any("tile_stencil_2d" in d.text for d in algorithmic(program("nine_points"), MORE))


def test_finds_parts():
    assert any("partial_reduce" in d.text for d in algorithmic(program("dot"), FEW))


def test_no_duplicates_and_deterministic():
    found = algorithmic(program("gemv"), FEW)
    hashes = [canonical_hash(d.function) for d in found]
    assert len({*hashes}) == len(hashes)
    assert [d.text for d in algorithmic(program("gemv"), FEW)] == [d.text for d in found]
    assert found[0].text == program("gemv").text


def test_hash_ignores_names_of_sizes_and_the_order_of_steps():
    start = program("matmul")
    one = start.apply(RULES["tile_maps"], "map", m="m", n="n")
    other = start.apply(RULES["tile_maps"], "map", m="n", n="p")
    assert canonical_hash(one.function) == canonical_hash(other.function)
    assert canonical_hash(one.function) != canonical_hash(start.function)
    square = start.apply(RULES["tile_maps"], "map", m="m", n="m")
    assert canonical_hash(one.function) != canonical_hash(square.function)


def test_filters():
    assert depth(program("matmul").function) == 3
    start = program("gemv")
    assert depth(start.function) == 2
    assert distance(start.function) == 0
    flat = AlgorithmicSettings(depth_filter=2, most_rewritten=3)
    found = algorithmic(start, flat)
    assert found
    assert all(depth(d.function) <= 2 or "register_block" in d.text for d in found)
    once = AlgorithmicSettings(rule_repetition=1, most_rewritten=3)
    assert all(d.text.count("partial_reduce(") <= 1 for d in algorithmic(start, once))
    shallow = AlgorithmicSettings(exploration_depth=1)
    rules = [*COLLECTIONS["all"]]
    for derivation in algorithmic(start, shallow):
        assert sum(step.split("(")[0] in rules for step in derivation.text.splitlines()) <= 1


def test_collections_of_lift():
    lift = AlgorithmicSettings(rule_collection="convolution2D")
    found = algorithmic(program("nine_points"), lift)
    assert any("tile_stencil_2d" in d.text for d in found)
    assert len(algorithmic(program("dot"), lift)) <= 3
    default = AlgorithmicSettings(rule_collection="default", most_rewritten=4)
    assert any(
        "vectorize_reduce(w=8)" in d.text for d in algorithmic(program("dot"), default, width=8)
    )
    with pytest.raises(TileError, match="no collection of rules stencils; there is default"):
        collection("stencils")


def test_steps_replay():
    from tiledialect.passes.lift import replay

    start = program("gemv").initial
    for derivation in algorithmic(program("gemv"), FEW)[:10]:
        again = replay(Derivation.of(start.module), derivation.text)
        assert canonical_hash(again.function) == canonical_hash(derivation.function)


def test_strides_in_parts_are_found():
    """Work-items of a group take neighbours of its part."""
    settings = AlgorithmicSettings(most_rewritten=8, most_programs=40)
    texts = [d.text for d in algorithmic(program("dot"), settings)]
    assert any("partial_reduce(" in t and "partial_reduce_strided(" in t for t in texts)


def test_sources_take_turns():
    a, b = (Derivation.of(program(name).initial.module) for name in ("dot", "gemv"))
    assert [*_interleaved([iter([a, a, a]), iter([b])])] == [a, b, a, a]
