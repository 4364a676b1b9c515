"""Schedules that were found for one shape serve others: legal, and not much slower than theirs."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import TensorType, f32

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.api.loading import load
from tiledialect.dialects.tile.schedule_text import named_kernels
from tiledialect.lowering.compilation import compile_module
from tiledialect.schedule.cost.device import Device, described
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage, check
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.choice import GOOD, NO_WORSE, TRANSFERRED, best
from tiledialect.schedule.search.size_transfer import (
    KnownSchedules,
    serves_batches,
    stretches,
    transferring,
    without_sizes,
)

CPU = described(Kind.CPU, {"compute_units": 4, "local_mem_size": 1 << 20})
GPU = described(Kind.GPU, {"platform": "NVIDIA", "compute_units": 20, "local_mem_size": 49152})
DENSE = "function (X[B, T, C], W[C, N]) -> (Y) { Y[b, t, n: B, T, N] = +(X[b, t, c] * W[c, n]); }"
BY_WEIGHTS = "function (X[B, C], D[B, N]) -> (W) { W[c, n: C, N] = +(X[b, c] * D[b, n]); }"
SCORES = (
    "function (Q[B, H, S, D], K[B, H, T, D]) -> (L) {"
    " L[b, h, s, t: B, H, S, T] = +(Q[b, h, s, d] * K[b, h, t, d]); }"
)
ROWS = "function (X[B, C]) -> (R) { R = softmax(X, 1); }"
POOL = "function (X[B, N, C]) -> (R) { R[b, i, c: B, N/2, C] = >(X[b, 2*i + j, c]), j < 2; }"


def facts_of(source: str, *shapes: tuple[int, ...]) -> Facts:
    """The facts of the only kernel of a program, for some shapes."""
    types = [TensorType(f32, shape) for shape in shapes]
    module = compile_module(load(source).module, None, types, after="tile-join-axes")
    (kernel,) = named_kernels(module).values()
    return kernel_facts(kernel, CPU)


def shapes_of(source: str, batch: int) -> list[tuple[int, ...]]:
    """The shapes of a program's inputs, for a batch."""
    b = batch
    return {
        DENSE: [(b, 32, 64), (64, 48)],
        BY_WEIGHTS: [(b, 64), (b, 48)],
        SCORES: [(b, 4, 32, 16), (b, 4, 32, 16)],
        ROWS: [(b, 100)],
        POOL: [(b, 20, 30)],
    }[source]


PROGRAMS = {"dense": DENSE, "weights": BY_WEIGHTS, "scores": SCORES, "rows": ROWS, "pool": POOL}


def checked(facts: Facts, found: Candidate) -> None:
    """Fail if a kernel cannot run by a schedule."""
    check(facts.indices, found.schedule, [len(t.shape) for t in facts.inputs] + [9] * 9)


@pytest.mark.covering(1)
@pytest.mark.parametrize("device", [CPU, GPU], ids=["CPU", "GPU"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_chosen_beside_others_is_legal_and_about_as_fast(name: str, device: Device):
    known = KnownSchedules()
    for batch in (8, 6, 32, 1):
        facts = facts_of(PROGRAMS[name], *shapes_of(PROGRAMS[name], batch))
        alone = best(facts, device)
        with transferring(known):
            found = best(facts, device)
            assert best(facts, device) is found
        assert alone is not None and found is not None
        checked(facts, found)
        assert found.estimate.seconds <= GOOD * alone.estimate.seconds
        if batch == 8:
            assert found == alone, "the first shape has what it has by itself"


@pytest.mark.parametrize("device", [CPU, GPU], ids=["CPU", "GPU"])
def test_what_is_as_good_for_other_sizes_is_kept(device: Device):
    known = KnownSchedules()
    for batch, is_kept in ((64, False), (32, True), (128, True), (1, False)):
        facts = facts_of(DENSE, (batch, 64, 256), (256, 128))
        with transferring(known):
            found = best(facts, device)
        assert found is not None and (found.family == TRANSFERRED) == is_kept


@pytest.mark.parametrize(("name", "batches"), [("scores", (8, 10)), ("pool", (8, 12))])
def test_what_is_about_as_fast_as_the_best_is_kept(name: str, batches: tuple[int, int]):
    """The distances from the lower bounds differ by more than a tenth."""
    known = KnownSchedules()
    for batch in batches:
        facts = facts_of(PROGRAMS[name], *shapes_of(PROGRAMS[name], batch))
        alone = best(facts, CPU)
        with transferring(known):
            found = best(facts, CPU)
    assert found is not None and alone is not None and found.family == TRANSFERRED
    assert found.estimate.seconds <= NO_WORSE * alone.estimate.seconds


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 200), st.integers(2, 200), st.sampled_from([*PROGRAMS.values()]))
def test_stretched_schedules_reach_all_values_and_no_more_than_a_tile_too_many(
    one: int, other: int, source: str
):
    old, new = (facts_of(source, *shapes_of(source, batch)) for batch in (one, other))
    assert without_sizes(old) == without_sizes(new)
    found = best(old, CPU)
    assert found is not None
    for longer in stretches(found.schedule, old, new):
        checked(new, Candidate("", longer, found.estimate))
        for index in new.indices:
            own = [x for x in longer.levels if x.index == index.name]
            reach, outer = prod(x.extent for x in own), max((x.stride for x in own), default=1)
            assert index.range.extent <= reach < index.range.extent + outer or one == other


def test_what_is_written_out_for_each_row_serves_no_other_number():
    old, new = (facts_of(BY_WEIGHTS, *shapes_of(BY_WEIGHTS, batch)) for batch in (8, 9))
    found = best(old, CPU)
    assert found is not None
    levels = found.schedule.levels
    assert {*stretches(found.schedule, old, old)} == {found.schedule}
    # Without the outer loops all that is left is written out.
    inner = tuple(x for x in levels if x.index != "b")
    assert not [*stretches(type(found.schedule)(inner), old, new)]


def test_work_groups_share_out_what_a_batch_has():
    old, new = (facts_of(DENSE, (batch, 32, 64), (64, 48)) for batch in (8, 12))
    inside = LoopLevel("t", 1, 32, Role.SERIAL), LoopLevel("n", 1, 48, Role.VECTOR)

    def schedule(groups: LoopLevel, share: LoopLevel) -> Schedule:
        at = (groups.index, groups.stride)
        return Schedule((groups, share, *inside), (Stage(0, local=True, at=at),))

    given_ = schedule(LoopLevel("b", 4, 2, Role.GROUP, "x"), LoopLevel("b", 1, 4, Role.SERIAL))
    more = schedule(LoopLevel("b", 4, 3, Role.GROUP, "x"), LoopLevel("b", 1, 4, Role.SERIAL))
    larger = schedule(LoopLevel("b", 6, 2, Role.GROUP, "x"), LoopLevel("b", 1, 6, Role.SERIAL))
    assert [*stretches(given_, old, new)] == [more, larger]


def test_of_schedules_that_are_even_one_that_serves_other_batches_is_chosen():
    for batch in (4, 8, 16):
        facts = facts_of(DENSE, (batch, 128, 256), (256, 256))
        found = best(facts, CPU)
        assert found is not None and serves_batches(found.schedule, facts)


def test_kernels_that_differ_in_more_than_sizes_are_no_neighbours():
    kinds = {without_sizes(facts_of(s, *shapes_of(s, 8))) for s in PROGRAMS.values()}
    assert len(kinds) == len(PROGRAMS)
