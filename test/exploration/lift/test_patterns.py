"""Lift programs as parts of a search."""

from dataclasses import replace
from itertools import islice
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from small_programs import inputs, program
from xdsl.dialects.builtin import StringAttr

import tiledialect as td
from tiledialect.exploration.lift.estimators import Estimators, _done
from tiledialect.exploration.lift.patterns import LiftPart, _bytes, _Seeds
from tiledialect.exploration.lift.ranking import Ranked
from tiledialect.exploration.lift.settings import AlgorithmicSettings, MappingSettings, Settings
from tiledialect.exploration.parts import Candidate
from tiledialect.ir.signature import parse_type
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.passes.lift import RULES, Derivation, replay
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.search.decisions import Fixed, enumerated, made

SMALL = Settings(
    algorithmic=AlgorithmicSettings(most_rewritten=2, most_programs=3),
    mapping=MappingSettings(vectorize=False),
)


PLAIN = MappingSettings(
    **dict.fromkeys(
        ("global01", "global10", "global012", "global210", "group01", "group10"), False
    ),
    **dict.fromkeys(("balance", "local_memory", "private_memory"), False),
)
"""Mappings along one dimension, without copies: estimates of all take most of a test's time."""


def part_of(name: str, device: td.Device, settings: Settings = SMALL) -> LiftPart:
    function = td.compile(program(name).initial.module, device=device)
    return LiftPart.of(function.subject(inputs(name), {}), settings)


def test_the_first_seed_is_the_default(fast: td.Device):
    part = part_of("gemv", fast)
    seeds = part.seeds()
    decisions, candidate = made(part.candidate, next(seeds))
    assert candidate.text == ""
    assert candidate.estimate == part.weight > 0
    assert part.least > 0
    assert next(seeds) != decisions


def test_candidates_replay_and_agree(fast: td.Device):
    part = part_of("gemv", fast)
    start = program("gemv").initial
    expected = td.compile(start.module).reference(*inputs("gemv"))
    for number, (_, candidate) in enumerate(enumerated(part.candidate)):
        if number % 10 == 0:
            kernel = td.compile(replay(start, candidate.text).module, device=fast)
            assert np.array_equal(kernel(*inputs("gemv")), expected), candidate.text
        if number == 60:
            break


def test_seeds_are_candidates_of_the_space(fast: td.Device):
    # The third program has 400 candidates.
    few = replace(SMALL, algorithmic=AlgorithmicSettings(most_rewritten=1, most_programs=2))
    part = part_of("dot", fast, few)
    best = min(candidate.estimate for _, candidate in enumerated(part.candidate))
    found = [made(part.candidate, seed)[1].estimate for seed in part.seeds() if seed]
    assert best <= min(found) <= found[0]


def test_seeds_have_blocks_in_registers_among_the_first(fast: td.Device):
    """The cost model finds the panels of a product, with sizes that registers hold."""
    device = described(Kind.CPU, {"native_vector_width": 16, "compute_units": 2})
    start = Derivation.of(program("matmul").initial.module).bind(M=192, K=192, N=192)
    part = LiftPart(start, "matmul", device, target_system_spec(fast), Settings(mapping=PLAIN))
    seeds = filter(None, part.seeds())
    texts = (made(part.candidate, seed)[1].text for seed in islice(seeds, 12))
    assert any("reuse_block_2d" in text and "map_seq_unroll" in text for text in texts)


def test_seeds_on_a_gpu_have_groups_that_are_full():
    device = described(Kind.GPU, {"compute_units": 132})
    start = program("gemv").initial.bind(M=4096, N=4096)
    start = start.apply(RULES["partial_reduce_strided"]).apply(RULES["fuse_parts"])
    settings = replace(SMALL, algorithmic=AlgorithmicSettings(exploration_depth=0))
    part = LiftPart(Derivation.of(start.module), "gemv", device, StringAttr(""), settings)
    found = (made(part.candidate, seed)[0] for seed in part.seeds() if seed)
    assert any(d["mapping"] == "group0" and int(d["size n"]) >= 128 for d in found)


def test_explores_a_program_of_patterns(fast: td.Device):
    function = td.compile(program("dot").initial.module, device=fast)
    result = td.explore(function, *inputs("dot"), trials=4, settings=SMALL)
    assert not result.wrong
    assert np.array_equal(result.best(*inputs("dot")), function(*inputs("dot")))


def test_large_inputs_are_compared_by_whole_arrays(fast: td.Device):
    function = td.compile(program("matmul").initial.module, device=fast)
    random = np.random.default_rng(0)
    a, b = random.random((96, 64), np.float32), random.random((64, 80), np.float32)
    (expected,) = function.subject((a, b), {}).cases[0].expected
    # Sums of 64 products of numbers below 1, in another order.
    np.testing.assert_allclose(expected, a @ b, rtol=1e-5)


@pytest.mark.parametrize("table", ["[algorithmic]\nrule_collection = 'stencils'"])
def test_unknown_collections_are_errors(table: str, fast: td.Device):
    part = part_of("dot", fast, Settings.parse(table))
    with pytest.raises(td.TileError, match="no collection of rules stencils"):
        _ = part.programs


def test_bytes_of_arrays_are_those_of_their_elements():
    types = "4x2xf16", "4xf32", "3xf64", "0xf32"
    assert [_bytes(parse_type(t)) for t in types] == [16, 16, 24, 0]


def test_candidates_of_other_kinds_that_are_nearly_as_good_are_measured():
    """As they are, but not those that are a fifth slower; small changes are made of the best."""
    found = [Ranked(t, text=f"{t}", decisions={"mapping": f"{t}"}) for t in (1.0, 1.1, 1.3)]
    estimators = SimpleNamespace(
        count=1,
        best_of=lambda word, default: _done(found),
        refined=lambda ranked: _done([Ranked(0.9, text="0.9", decisions={"mapping": "0.9"})]),
    )
    part = SimpleNamespace(programs=SimpleNamespace(all=lambda: iter(["program"])), estimates={})
    seeds = _Seeds(cast(LiftPart, part), cast(Estimators, estimators), Candidate("", 2.0)).run()
    given = [str(seed["mapping"]) for seed in islice(seeds, 5) if seed]
    assert given[:2] == ["1.0", "1.1"] and "1.3" not in given


def test_seeds_are_waited_for_where_no_other_process_looks_for_them(fast: td.Device):
    part = part_of("gemv", fast)
    assert part.awaited_seeds == part.least_seeds
    part.estimators = cast(Estimators, SimpleNamespace(count=2))
    assert part.awaited_seeds < part.least_seeds


def test_decisions_that_come_again_make_no_new_program(fast: td.Device):
    space = part_of("gemv", fast)
    drawn = (d for d, _ in enumerated(space.candidate) if any(n.startswith("size ") for n in d))
    given = next(drawn)
    first, again = (space.derivation(Fixed(given)) for _ in range(2))
    assert first is again and space.derivation(Fixed(next(drawn))) is not first
