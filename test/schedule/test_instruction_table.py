"""The table of instructions: NVIDIA's layouts as its manual has them, and what an entry must be."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from tiledialect.index.integer.expressions import mod
from tiledialect.interpreters.instruction import execute, load_rows, round_tf32
from tiledialect.schedule.instructions import (
    ELEMENT,
    LANE,
    MMA_BF16,
    MMA_F16,
    MMA_TF32,
    Exchange,
    Fragment,
    Instruction,
    RowLoad,
    check,
    find,
    register,
    table,
)
from tiledialect.schedule.loops import ScheduleError

Places = dict[tuple[int, int], tuple[int, int]]
"""The row and column of each element (lane, number)."""


def sums() -> Places:
    """C and D of m16n8: `c0, c1` are in row `groupID`, the others 8 rows below."""
    return {
        (lane, c): (lane // 4 if c < 2 else lane // 4 + 8, lane % 4 * 2 + (c & 1))
        for lane in range(32)
        for c in range(4)
    }


def a_tf32() -> Places:
    return {
        (lane, a): (
            lane // 4 if a in (0, 2) else lane // 4 + 8,
            lane % 4 if a in (0, 1) else lane % 4 + 4,
        )
        for lane in range(32)
        for a in range(4)
    }


def b_tf32() -> Places:
    return {
        (lane, b): (lane % 4 if b == 0 else lane % 4 + 4, lane // 4)
        for lane in range(32)
        for b in range(2)
    }


def a_f16() -> Places:
    return {
        (lane, a): (
            lane // 4 if 0 <= a < 2 or 4 <= a < 6 else lane // 4 + 8,
            lane % 4 * 2 + (a & 1) + (8 if a >= 4 else 0),
        )
        for lane in range(32)
        for a in range(8)
    }


def b_f16() -> Places:
    return {
        (lane, b): (lane % 4 * 2 + (b & 1) + (8 if b >= 2 else 0), lane // 4)
        for lane in range(32)
        for b in range(4)
    }


MANUAL = {MMA_TF32: (sums(), a_tf32(), b_tf32()), MMA_F16: (sums(), a_f16(), b_f16())}
MANUAL[MMA_BF16] = MANUAL[MMA_F16]


@pytest.mark.parametrize("entry", table(), ids=lambda entry: entry.name)
def test_entries_of_the_table_are_right(entry: Instruction) -> None:
    check(entry)


DTYPES = {MMA_TF32: np.float32, MMA_F16: np.float16, MMA_BF16: ml_dtypes.bfloat16}
"""The tables of the PTX manual, "Matrix Fragments for mma"."""


@pytest.mark.parametrize("entry", MANUAL, ids=lambda e: e.name)
def test_layouts_are_those_of_the_manual(entry: Instruction):
    for fragment, places in zip(entry.fragments, MANUAL[entry], strict=True):
        own = {(lane, k): fragment.at(lane, k) for lane in range(32) for k in range(fragment.count)}
        assert own == places


@pytest.mark.parametrize("entry", MANUAL, ids=lambda e: e.name)
def test_a_simulation_of_the_lanes_multiplies_matrices(entry: Instruction):
    """Registers filled, and the results read, by the manual's tables alone."""
    rng = np.random.default_rng(1)
    k = dict(entry.box)["k"]
    dtype = DTYPES[entry]
    a = rng.integers(-8, 8, (16, k)).astype(dtype)
    b = rng.integers(-8, 8, (k, 8)).astype(dtype)
    c = rng.integers(-8, 8, (16, 8)).astype(np.float32)

    def registers(fragment: Fragment, matrix: npt.NDArray[np.generic], places: Places):
        elements = np.array(
            [[matrix[places[lane, n]] for n in range(fragment.count)] for lane in range(32)]
        )
        if elements.dtype.itemsize == 2:
            elements = elements.view(np.int16)
        if fragment.packed == 1:
            return list(elements.T)
        return list(elements.reshape(32, -1, fragment.packed).swapaxes(0, 1))

    start, of_a, of_b = (
        registers(*x) for x in zip(entry.fragments, (c, a, b), MANUAL[entry], strict=True)
    )
    totals = execute(entry, 32, start, [*of_a, *of_b])
    expected = c + a.astype(np.float32) @ b.astype(np.float32)
    for (lane, n), place in MANUAL[entry][0].items():
        assert totals[n][lane] == expected[place]


@pytest.mark.parametrize(
    ("entry", "number", "axis", "transposed"),
    [
        (MMA_TF32, 0, "k", False),
        (MMA_F16, 0, "k", False),
        (MMA_F16, 0, "m", True),
        (MMA_F16, 1, "n", True),
    ],
)
def test_rows_are_those_of_ldmatrix(entry: Instruction, number: int, axis: str, transposed: bool):
    """A lane names a row of a matrix, and gets 4 bytes of its row (or column) of each matrix."""
    fragment = entry.operands[number]
    rows = fragment.rows_along(axis)
    assert rows is not None and (".trans" in rows.text) == transposed
    along = fragment.axes.index(axis)
    dtype = np.float32 if entry is MMA_TF32 else np.int16
    matrix = np.arange(256, dtype=dtype).reshape(16, 16)[:, : dict(entry.box)["k"]]
    place = [[e.evaluate({"lane": lane}) for e in rows.place] for lane in range(32)]
    lines = [matrix[i] if along else matrix[:, j] for i, j in place]
    named = np.stack([x[p[along] :][: rows.width] for x, p in zip(lines, place, strict=True)])
    registers = load_rows(entry, number, rows, named)
    for lane in range(32):
        row, pair = lane // 4, lane % 4
        for k, own_register in enumerate(registers):
            own = named[8 * k : 8 * k + 8]
            if rows.width == 4:
                expected = own[row, pair]
            elif transposed:
                expected = own[2 * pair : 2 * pair + 2, row]
            else:
                expected = own[row, 2 * pair : 2 * pair + 2]
            assert np.array_equal(own_register[lane], expected)


def test_tf32_leaves_what_has_10_bits():
    x = np.float32([0, -0.0, 1, -1 - 2**-10, 2047 * 2.0**100, (2 - 2**-10) * 2.0**127])
    x = np.append(x, np.float32([np.inf, -np.inf, np.nan]))
    assert np.array_equal(round_tf32(x), x, equal_nan=True)


def test_tf32_is_off_by_two_thirds_of_a_unit_at_most_and_not_to_one_side():
    x = np.float32(2.0) ** np.random.default_rng(0).uniform(-20, 20, 100_000).astype(np.float32)
    off = (round_tf32(x) - x).astype(np.float64) / 2.0 ** (np.floor(np.log2(x)) - 10)
    assert np.abs(off).max() < 0.67
    assert abs(off.mean()) < 0.03


ONE = Fragment(("m",), "f32", 4, (ELEMENT,))
DOUBLE = Instruction("twice", (("m", 4),), ONE, (ONE, ONE), "void twice(float *d0) {}")
PAIR = Fragment(("m",), "f32", 2, (2 * LANE + ELEMENT,))


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (replace(DOUBLE, text="void other() {}"), "defines no such function"),
        (replace(DOUBLE, lanes=0), "no work-items"),
        (replace(DOUBLE, result=replace(ONE, axes=("z",))), "axes of its own"),
        (replace(DOUBLE, result=replace(ONE, packed=3)), "does not fill registers"),
        (replace(DOUBLE, result=replace(ONE, place=(ELEMENT + 1,))), "outside its box"),
        (replace(DOUBLE, result=replace(ONE, place=(mod(ELEMENT, 2),))), "each element of its box"),
        (replace(DOUBLE, result=replace(ONE, place=(ELEMENT + 0 * LANE,)), lanes=2), "once"),
        (
            replace(
                DOUBLE, operands=(replace(ONE, rows=(RowLoad("r", "z", 4, (0 * LANE,), ""),)), ONE)
            ),
            "another axis",
        ),
        (
            replace(
                DOUBLE, operands=(replace(ONE, rows=(RowLoad("r", "m", 2, (0 * LANE,), ""),)), ONE)
            ),
            "are not its box",
        ),
        (replace(DOUBLE, exchange=Exchange(1, 1, (ELEMENT,)), lanes=2, result=PAIR), "exchange of"),
        (replace(DOUBLE, exchange=Exchange(1, 1, ()), result=replace(ONE, packed=2)), "registers"),
        (replace(MMA_TF32, text=MMA_TF32.text + " "), "another instruction mma_m16n8k8_tf32"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_an_entry_that_contradicts_itself_is_refused(entry: Instruction, reason: str):
    with pytest.raises(ScheduleError, match=reason):
        register(entry)


def test_what_is_not_there_is_named_with_what_is():
    with pytest.raises(
        ScheduleError, match=r"no instruction wmma; known are .*mma_m16n8k16_f16, mma"
    ):
        find("wmma")
