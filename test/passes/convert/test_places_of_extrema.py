"""Bodies of linalg.generic that keep the place of an extremum, against the loops that they say."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tiledialect as td
from tiledialect.ir.mlir_text import parse_mlir

Array = npt.NDArray[Any]

TEXT = """
func.func @f(%x: tensor<4x6xT>, %v: tensor<4xT>, %p: tensor<4xi64>)
    -> (tensor<4xT>, tensor<4xi64>) {
  %a, %b = linalg.generic {
    indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>,
                     affine_map<(i, k) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x6xT>) outs(%v, %p : tensor<4xT>, tensor<4xi64>) {
  ^bb0(%e: T, %m: T, %n: i64):
    %k = linalg.index 1 : index
    %j = arith.index_cast %k : index to i64
    %c = arith.COMPARE, %e, %m : T
    %s = arith.VALUE : T
    %t = arith.select %c, %j, %n : i64
    linalg.yield %s, %t : T, i64
  } -> (tensor<4xT>, tensor<4xi64>)
  func.return %a, %b : tensor<4xT>, tensor<4xi64>
}
"""
SELECT = "select %c, %e, %m"
CASES: tuple[tuple[str, str, Callable[..., Any], str, Callable[..., Any] | None], ...] = (
    ("f32", "cmpf ogt", operator.gt, "maximumf %e, %m", np.maximum),
    ("f32", "cmpf oge", operator.ge, "maximumf %m, %e", np.maximum),
    ("f32", "cmpf ole", operator.le, "minimumf %m, %e", np.minimum),
    ("f32", "cmpf ogt", operator.gt, SELECT, None),
    ("f32", "cmpf oge", operator.ge, SELECT, None),
    ("f32", "cmpf olt", operator.lt, SELECT, None),
    ("i32", "cmpi sgt", operator.gt, "maxsi %e, %m", np.maximum),
    ("i32", "cmpi sle", operator.le, SELECT, None),
)


def program(t: str, compare: str, value: str) -> str:
    text = TEXT.replace("COMPARE", compare).replace("VALUE", value)
    return text.replace("xT", f"x{t}").replace(": T", f": {t}")


def looped(
    x: Array, v: Array, p: Array, better: Callable[..., Any], best: Callable[..., Any] | None
) -> tuple[Array, Array]:
    v, p = v.copy(), p.copy()
    for i, k in np.ndindex(*x.shape):
        e, m = x[i, k], v[i]
        is_better = better(e, m)
        v[i] = best(e, m) if best is not None else e if is_better else m
        p[i] = k if is_better else p[i]
    return v, p


@pytest.mark.parametrize(("t", "compare", "better", "value", "best"), CASES)
def test_places(
    t: str,
    compare: str,
    better: Callable[..., Any],
    value: str,
    best: Callable[..., Any] | None,
    device: td.Device,
) -> None:
    f = td.compile(parse_mlir(program(t, compare, value), "f.mlir"), device=device)
    rng = np.random.default_rng(0)
    for trial in range(8):
        dtype = np.float32 if t == "f32" else np.int32
        x, v = (rng.integers(-3, 4, size=s).astype(dtype) for s in ((4, 6), (4,)))
        if t == "f32" and trial % 2:
            for array, number in ((x, np.nan), (v, np.nan), (x, -np.inf), (v, -np.inf)):
                array[rng.random(array.shape) < 0.2] = number
        p = np.arange(-4, 0)
        wanted = looped(x, v, p, better, best)
        for results in (f(x, v, p), f.reference(x, v, p)):
            for result, own in zip(results, wanted, strict=True):
                assert np.array_equal(result, own, equal_nan=result.dtype.kind == "f")


@pytest.mark.parametrize(
    ("compare", "value"),
    [
        ("cmpf ugt", SELECT),
        ("cmpf ogt", "minimumf %e, %m"),
        ("cmpf ogt", "maxnumf %e, %m"),
    ],
)
def test_other_comparisons_are_refused(compare: str, value: str) -> None:
    with pytest.raises(td.TileError, match="uses what it accumulates in another way"):
        td.compile(parse_mlir(program("f32", compare, value), "f.mlir"))
