"""Operands that kernels of CPUs pack into tiles, or read as they lie."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cpu_cases import (
    CASES,
    DEVICES,
    across,
    convolution,
    in_blocks,
    product,
    two_cores,
    without_copies,
)

from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.facts import padded_indices
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import UNROLLED, LoopLevel, Role
from tiledialect.schedule.search.choice import ranked


def test_what_is_padded_or_lies_across_is_packed():
    device = DEVICES["wide"]
    for case, number in (("convolution", 0), ("transposed product", 1)):
        facts = CASES[case]
        padded = padded_indices(facts, facts.inputs[number])
        for candidate in ranked(facts, device):
            written = {x.index for x in candidate.schedule.levels if x.role in UNROLLED}
            if candidate.family == "contractions" and (written & padded or not padded):
                assert number in {stage.operand for stage in candidate.schedule.stages}


def test_groups_that_would_copy_the_same_are_one():
    """Each copies its rows of the picture once for all blocks of channels."""
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    case = in_blocks(28, 128)
    chosen = ranked(case, device)[0].schedule
    assert any(stage.operand == 0 for stage in chosen.stages)
    roles = {x.role for x in chosen.levels if x.index == "b"}
    assert roles == {Role.SERIAL}


def test_rows_along_pictures_need_no_stage():
    """Loops over the points of pictures leave out taps that are outside."""
    device = replace(DEVICES["wide"], compute_units=2)
    best = ranked(convolution(14, 64, pictures=8), device)[0].schedule
    assert LoopLevel("n", 1, 8, Role.UNROLL) in best.levels
    assert 0 not in {stage.operand for stage in best.stages}


def test_operands_of_far_rows_are_packed():
    device = replace(DEVICES["wide"], local_mem_size=1 << 18)
    best = without_copies(CASES["product of columns"], device)[0].schedule
    assert [(stage.operand, stage.at and stage.at[0]) for stage in best.stages] == [
        (0, "k"),
        (1, "j"),
    ]


@pytest.mark.parametrize("size", [700, 960])
def test_what_lies_across_is_copied_where_it_is_read_often(size: int):
    best = ranked(across(size, size, size), two_cores(8))[0].schedule
    assert [stage.operand for stage in best.global_stages] == [0]


@pytest.mark.parametrize("lanes", [8, 16])
def test_long_factors_that_are_read_across_are_packed(lanes: int):
    best = ranked(across(2000, 32, 2000), two_cores(lanes))[0].schedule
    assert any(stage.operand == 0 for stage in best.stages)


def test_operands_that_few_rows_use_are_read_as_they_lie():
    for rows in (4, 8, 16):
        best = ranked(product(rows, 512, 512), DEVICES["wide"])[0].schedule
        assert not best.stages
    assert ranked(product(512, 512, 512), DEVICES["wide"])[0].schedule.stages


def test_few_columns_are_summed_along_memory():
    """All of them for some rows at a time; a factor that lies across is copied once."""
    for size in (300, 512, 700):
        for transposed in (False, True):
            case = product(size, 2, size, transposed=transposed)
            best = ranked(case, DEVICES["wide"])[0].schedule
            assert (best.levels[-1].index, best.levels[-1].role) == ("k", Role.VECTOR)
            unrolled = {x.index: x.extent for x in best.levels if x.role is Role.UNROLL}
            assert unrolled["j"] == 2 and unrolled["i"] > 1
            assert [s.order for s in best.stages] == ([] if transposed else [(1, 0)])


def test_columns_that_lanes_do_not_divide_need_no_copy():
    for columns in (500, 333):
        best = ranked(product(8, columns, 500), DEVICES["wide"])[0].schedule
        assert best.levels[-1] == LoopLevel("j", 1, 16, Role.VECTOR) and not best.stages
