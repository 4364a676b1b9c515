"""Fetches of the innermost body from the caches of a CPU, by the model."""

from __future__ import annotations

from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.cost.cpu_estimate import CpuModel
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import LoopIndex, LoopLevel, Role, Schedule

LANES = 16
DEVICE = described(Kind.CPU, {"compute_units": 16, "native_vector_width": LANES})


def column_sums(rows: int, columns: int) -> Facts:
    """Sums of the columns of a matrix."""
    source, result = (
        Tensor(k, shape, tuple(map(IndexExpr.of, access)), "f32", 4)
        for k, (shape, access) in enumerate((((rows, columns), "ik"), ((columns,), "k")))
    )
    indices = (
        LoopIndex("k", Range(0, columns), is_output=True),
        LoopIndex("i", Range(0, rows), is_output=False),
    )
    return Facts(indices, (source,), (result,), "add", None, 1.0)


def cycles(case: Facts, *loops: LoopLevel) -> float:
    """Cycles for a vector of what the body reads."""
    model = CpuModel(case, Schedule((*loops, LoopLevel("k", 1, LANES, Role.VECTOR))), DEVICE)
    vectors = model.accesses[0].elements(model.inner_steps) / LANES
    return model.streamed(model.accesses[0]) / vectors


def down(case: Facts, together: int) -> float:
    """The same where rows are gone over one after the other, some vectors of each."""
    step = together * LANES
    rows, columns = case.extents["i"], case.extents["k"]
    return cycles(
        case,
        LoopLevel("k", step, columns // step, Role.SERIAL),
        LoopLevel("i", 1, rows, Role.SERIAL),
        LoopLevel("k", LANES, together, Role.UNROLL),
    )


def along(case: Facts, together: int) -> float:
    """The same where some rows are gone along together."""
    rows, columns = case.extents["i"], case.extents["k"]
    return cycles(
        case,
        LoopLevel("i", together, rows // together, Role.SERIAL),
        LoopLevel("k", LANES, columns // LANES, Role.SERIAL),
        LoopLevel("i", 1, together, Role.UNROLL),
    )


def test_long_pieces_of_far_rows_come_along():
    case = column_sums(64, 2048)
    assert down(case, 1) > down(case, 8) > down(case, 16)


def test_rows_a_multiple_of_pages_apart_are_read_once_as_others_are():
    assert down(column_sums(64, 2048), 8) == down(column_sums(64, 2176), 8)


def row_in_blocks(places: int, blocks: int) -> Facts:
    """A row by 16 vectors of weights, its channels and its results in blocks of 16."""
    shapes = ((blocks, places, 16), (16, blocks, 16, 16)), (16, places, 16)
    accesses = (("b", "x", "c"), ("o", "b", "c", "k")), ("o", "x", "k")
    row, weights, result = (
        Tensor(n, shape, tuple(map(IndexExpr.of, access)), "f32", 4)
        for n, shape, access in zip(
            (0, 1, 0), (*shapes[0], shapes[1]), (*accesses[0], accesses[1]), strict=True
        )
    )
    sizes = {"o": 16, "x": places, "k": 16, "b": blocks, "c": 16}
    indices = tuple(LoopIndex(n, Range(0, size), n in "oxk") for n, size in sizes.items())
    return Facts(indices, (row, weights), (result,), "add", "mul", 2.0)


def lost(places: int, blocks: int, together: int) -> float:
    """Cycles of a body that nothing else is done in, where so many blocks are summed together."""
    case = row_in_blocks(places, blocks)
    levels = (
        LoopLevel("o", 1, 16, Role.SERIAL),
        LoopLevel("b", together, blocks // together, Role.SERIAL),
        LoopLevel("x", 8, places // 8, Role.SERIAL),
        LoopLevel("b", 1, together, Role.SERIAL),
        LoopLevel("c", 1, 16, Role.SERIAL),
        LoopLevel("x", 1, 8, Role.UNROLL),
        LoopLevel("k", 1, LANES, Role.VECTOR),
    )
    return CpuModel(case, Schedule(tuple(x for x in levels if x.extent > 1)), DEVICE).lost_cycles


def test_pieces_of_many_far_rows_are_not_foreseen():
    """Rows that the second cache keeps are near, and few rows are followed."""
    assert lost(4096, 64, 64) > lost(4096, 64, 32) > lost(4096, 64, 16) == 0
    assert lost(64, 64, 64) == 0


def test_a_core_reads_no_more_rows_ahead_than_it_follows():
    case = column_sums(64, 2048)
    assert along(case, 8) == along(case, 32) < along(case, 64)
