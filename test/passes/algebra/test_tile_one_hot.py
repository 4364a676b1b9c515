"""Sums over one-hot matrices as gathers and scatters, on devices and by several schedules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from running import Case, reference, run, run_together

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.scatters import scatter_schedule, scatter_schedules

Array = npt.NDArray[Any]

EMBEDDING = """function (I[P], W[V, R]) -> (O) {
  ROWS = index(W, 0);
  O[p, r: P, R] = +(ROWS[v, 0] == I[p] ? W[v, r]);
}"""
GRADIENT = """function (I[P], V[N], D[P, R]) -> (O) {
  ROWS = index(V, 0);
  O[v, r: N, R] = +(ROWS[v] == I[p] ? D[p, r]);
}"""
FEW_ROWS = """function (I[P], V[N], D[P, R]) -> (O) {
  ROWS = index(V, 0);
  INSIDE = max(min(I, N - 1), 0);
  O[v, r: N, R] = +(ROWS[v] == INSIDE[p] ? D[p, r]);
}"""
"""Gradient of `gather`."""
HISTOGRAM = """function (I[P], V[N]) -> (C, S, T) {
  ROWS = index(V, 0);
  C[v: N] = +(ROWS[v] == I[p]);
  E = reshape(ROWS, N, 1) == I ? 2.5 : 0.0;
  S[v: N] = +(E[v, p]);
  F = reshape(ROWS, N, 1) == I;
  T[v: N] = +(F[v, p]);
}"""
"""Indices are counted, by a contraction and by elementwise ops."""
SCATTER = "function (D[P, Q, R], I[P, Q], V[N]) -> (O) { O = scatter(D, I, V); }"
TYPES = (np.int32, np.int8, np.uint64)


def indices(shape: tuple[int, ...], dtype: Any) -> Array:
    """Some names of rows, and some that are none."""
    random = np.random.default_rng(3)
    least = 0 if np.dtype(dtype).kind == "u" else -3
    found = random.integers(least, 14, shape).astype(dtype)
    found.flat[0] = np.iinfo(dtype).max
    return found


def numbers(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    return np.random.default_rng(4).integers(-3, 4, shape).astype(dtype)


def of(name: str, source: str, *inputs: Array) -> Case:
    return Case(name, source, inputs, reference(source, inputs))


def test_on_devices(device: Any):
    cases: list[Case] = []
    for t in TYPES:
        kind = np.dtype(t).name
        i, j = indices((17,), t), indices((3, 5), t)
        real = np.float16 if t is np.int8 else np.float32
        cases += [
            of(f"embedding_{kind}", EMBEDDING, i, numbers((11, 6), real)),
            of(f"gradient_{kind}", GRADIENT, i, numbers((11,)), numbers((17, 6), real)),
            of(f"scatter_{kind}", SCATTER, numbers((3, 5, 7), np.int32), j, numbers((11,))),
        ]
    # Intel's compiler ended the process on the last of an odd number of columns.
    few = (indices((50,), np.int32), numbers((2,)), numbers((50, 3)))
    run_together([*cases, of("few_rows", FEW_ROWS, *few)], device)


def test_histograms(device: Any):
    """Also of reals, some of which are no whole numbers, no numbers, infinite, or no rows."""
    cases: list[Case] = []
    for size, rows in ((1, 100), (17, 8), (60, 33)):
        rng = np.random.default_rng(size)
        real = (rng.integers(-10, 2 * rows + 10, size) / 2).astype(np.float32)
        real[:5] = (-0.0, np.nan, np.inf, -np.inf, 3e38)[:size]
        whole = rng.integers(-3, rows + 3, size)
        for kind, i in (
            ("f32", real),
            ("i32", whole.astype(np.int32)),
            ("u8", np.abs(whole).astype(np.uint8)),
        ):
            cases.append(of(f"h_{kind}_{size}_{rows}", HISTOGRAM, i, numbers((rows,))))
    run_together(cases, device)


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((11,), np.int32), ((9, 2, 70), np.int32), ((300, 20), np.int32), ((300,), np.uint8)],
)
def test_chosen_schedules(shape: tuple[int, ...], dtype: Any, kind: Kind, device: Any):
    """Schedules of both kinds of devices, on every device; any u8 may name a row."""
    size = replace(described(kind, {}), compute_units=4, max_work_group_size=64)
    schedules = [*scatter_schedules(shape, 0, size)]
    assert schedules[0] == scatter_schedule(shape, 0, size) and len(schedules) > 1
    # Neighbours differ in one size.
    schedules = schedules[:: max(2, len(schedules) // 2)]
    result = "x".join(map(str, shape))
    updates = "x".join(map(str, (13, *shape[1:])))
    t = {np.int32: "i32", np.uint8: "ui8"}[dtype]
    types = f"tensor<{updates}xf32>, tensor<13x{t}>, tensor<{shape[0]}xf32>"
    u, i, v = types.split(", ")
    kernels = "".join(
        f"""
  %R{k} = tile.kernel(%u = %U : {u}, %i = %I : {i}, %v = %V : {v}) -> tensor<{result}xf32>
    schedule <{", ".join(map(str, schedule.levels))}> {{
    %s = tile.scatter %u, %i, %v : ({types}) -> tensor<{result}xf32>
    tile.yield %s : tensor<{result}xf32>
  }}"""
        for k, schedule in enumerate(schedules)
    )
    results = ", ".join(f"tensor<{result}xf32>" for _ in schedules)
    names = ", ".join(f"%R{k}" for k in range(len(schedules)))
    text = f"""func.func @f(%U: {u}, %I: {i}, %V: {v}) -> ({results}) {{{kernels}
  func.return {names} : {results}
}}"""
    module = parse_mlir(text, "scatter.mlir")
    module.verify()
    inputs = [numbers((13, *shape[1:])), indices((13,), dtype), numbers(shape[:1])]
    found, (expected, *_) = run(module, inputs, device), reference(module, inputs)
    assert len(found) == len(schedules)
    for each in found:
        np.testing.assert_array_equal(each, expected)


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("shape", [(11,), (30, 9)])
def test_in_parts(shape: tuple[int, ...], kind: Kind, device: Any):
    """More indices than a block has, in parts that no block divides."""
    size = replace(described(kind, {}), compute_units=4, max_work_group_size=4)
    points, whole = (5, 41), (3, *shape)
    schedule = scatter_schedule(whole, 1, size)
    u, i, v, r = (
        f"tensor<{'x'.join(map(str, s))}x{t}>"
        for s, t in (
            ((*points, *shape[1:]), "f32"),
            (points, "i32"),
            (shape[:1], "f32"),
            (whole, "f32"),
        )
    )
    text = f"""func.func @f(%U: {u}, %I: {i}, %V: {v}) -> {r} {{
  %R = tile.kernel(%u = %U : {u}, %i = %I : {i}, %v = %V : {v}) -> {r}
    schedule <{", ".join(map(str, schedule.levels))}> {{
    %s = tile.scatter %u, %i, %v parts 3 : ({u}, {i}, {v}) -> {r}
    tile.yield %s : {r}
  }}
  func.return %R : {r}
}}"""
    module = parse_mlir(text, "parts.mlir")
    module.verify()
    inputs = [numbers((*points, *shape[1:])), indices(points, np.int32), numbers(shape[:1])]
    (found,), (expected,) = run(module, inputs, device), reference(module, inputs)
    np.testing.assert_array_equal(found, expected)
    assert np.abs(expected).sum(axis=tuple(range(1, len(whole)))).all()


def test_the_order_of_sums(device: Any):
    """The values are added in the order of the indices, where rows are many."""
    values = np.float32([1e8, 1, -1e8, 1, 1])
    i = np.int32([5, 5, 5, 5, 7])
    source = "function (D[P], I[P], V[N]) -> (O) { O = scatter(D, I, V); }"
    (found,) = run(source, [values, i, numbers((64,))], device)
    assert found[5] == 1 and found[7] == 1 and np.count_nonzero(found) == 2


def test_numbers_as_indices(device: Any):
    """A number names one row, or none."""
    counts = """function (V[N]) -> (O, P, Q) {{
      O = scatter(V, 2, V); P = scatter(3, N, V); Q = scatter(1, {}, V);
    }}"""
    cases = [of(f"index_{k}", counts.format(k), numbers((4,))) for k in (2, 4, 99999999999)]
    run_together(cases, device)
    gradient = td.compile("function (S[], V[N]) -> (O) { O = scatter(S, 2, V); }").gradient(["S"])
    arrays = (np.asarray(7, np.float32), numbers((4,)), np.arange(4, dtype=np.float32))
    assert gradient(*arrays) == gradient.reference(*arrays) == 2


def test_numbers_that_do_not_fit():
    with pytest.raises(TileError, match="99999999999 does not fit i32"):
        reference(
            "function (I[P], V[N]) -> (O) { O = scatter(99999999999, I, V); }",
            [indices((3,), np.int32), numbers((4,))],
        )
