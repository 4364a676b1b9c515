"""Random contractions: the reference against the definition, one point at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import product
from operator import add, mul
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from generators import Contraction, contraction_module, contractions
from hypothesis import given, settings
from hypothesis import strategies as st

from tiledialect.api.reference import run_function
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.combinations import COMPARED, compared_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES, kind_of
from tiledialect.index import sets
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.interpreters import contraction, matrix_product
from tiledialect.interpreters import points as split

Array = npt.NDArray[Any]
Point = dict[str, int]


def inside(constraint: Constraint, point: Point) -> bool:
    value = constraint.expr.evaluate(point)
    return value.denominator == 1 and 0 <= value < constraint.bound.constant


def every_point(made: Contraction) -> list[Point]:
    space = made.space()
    box = [range(r.lower - 1, r.upper + 1) for r in sets.ranges(space).values()]
    tried = (dict(zip(space.variables, values, strict=True)) for values in product(*box))
    return [p for p in tried if all(inside(c, p) for c in space.all_constraints())]


def element(access: tuple[IndexExpr, ...], point: Point) -> tuple[int, ...]:
    return tuple(int(expr.evaluate(point)) for expr in access)


def wrapped(value: Any, dtype: np.dtype[Any]) -> Any:
    """Integers wrap; reals are those that the type has."""
    if dtype.kind in "iu":
        value = np.asarray(int(value) % 2**64, np.uint64)
    return np.asarray(value).astype(dtype).item()


def combine(op: ContractionOp, values: list[Any]) -> Any:
    """The value at a point. What comes before an equality sign is compared in its own type."""
    combination = op.combination.data
    first = mul if combination.startswith("mul") else add
    kind = NUMPY_TYPES[tensor_type(op.result).element_type]
    if combination not in COMPARED:
        return wrapped(reduce(first, values), kind)
    right = COMPARED[combination] - 1
    t = NUMPY_TYPES[compared_type(combination, op.inputs)]
    equal = wrapped(reduce(first, values[:right]), t) == wrapped(values[right], t)
    if right == len(values) - 1:
        return equal
    return wrapped(reduce(mul, values[right + 1 :]), kind) if equal else 0


def unless_nan(choose: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    return lambda values: next((v for v in values if v != v), None) or choose(values)


AGGREGATE: dict[Aggregation, Callable[[list[Any]], Any]] = {
    Aggregation.add: sum,
    Aggregation.mul: lambda values: reduce(mul, values),
    Aggregation.max: unless_nan(max),
    Aggregation.min: unless_nan(min),
    Aggregation.assign: lambda values: values[0],
}


def by_definition(
    made: Contraction, op: ContractionOp, arrays: list[Array], dtype: np.dtype[Any]
) -> Array:
    landed: dict[tuple[int, ...], list[Any]] = {}
    for point in every_point(made):
        values = [
            array[element(access, point)].item()
            for array, (_, access) in zip(arrays, made.inputs, strict=False)
        ]
        where = element(made.output, point)
        landed.setdefault(where, []).append(combine(op, values))
    result = np.zeros(made.shape, dtype)
    if made.default:
        result[...] = arrays[-1].astype(dtype)
    for where, values in landed.items():
        total = AGGREGATE[made.aggregation](values)
        whole = dtype.kind in "iu"
        result[where] = np.asarray(int(total) % 2**64, np.uint64).astype(dtype) if whole else total
    return result


def with_extremes(array: Array, seed: int) -> Array:
    """Some of the reals infinite or NaN."""
    if kind_of(array.dtype) != "f":
        return array
    random = np.random.default_rng(seed)
    extremes = random.choice([np.inf, -np.inf, np.nan], array.shape)
    return np.where(random.random(array.shape) < 0.1, extremes, array).astype(array.dtype)


def assert_as_defined(made: Contraction, seed: int | None = None) -> None:
    module, arrays = contraction_module([made])
    if seed is not None:
        arrays = [with_extremes(array, seed + number) for number, array in enumerate(arrays)]
    module.verify()
    (op,) = (op for op in module.walk() if isinstance(op, ContractionOp))
    dtype = NUMPY_TYPES[tensor_type(op.result).element_type]
    (result,) = run_function(module, "f", arrays)
    with np.errstate(all="ignore"):
        expected = by_definition(made, op, arrays, dtype)
    assert result.dtype == dtype
    equal = np.array_equal(
        *(a.astype(np.float64) if kind_of(a.dtype) == "f" else a for a in (result, expected)),
        equal_nan=kind_of(dtype) == "f",
    )
    assert equal, f"{module}\n{result}\n{expected}"


@settings(max_examples=30, deadline=None)
@given(contractions(general=True))
def test_contractions_mean_what_is_defined(made: Contraction):
    assert_as_defined(made)


@settings(max_examples=15, deadline=None)
@given(contractions(general=True), st.integers(1, 20), st.booleans(), st.integers(0, 99))
def test_so_do_blocks_of_them_with_infinite_numbers(
    made: Contraction, most: int, with_matrices: bool, seed: int
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split, "AXIS_POINTS", most)
        patch.setattr(split, "MOST_PRODUCTS", most)
        patch.setattr(contraction, "POINTS_AT_ONCE", most)
        patch.setattr(contraction, "MATRIX_ELEMENTS", most)
        patch.setattr(matrix_product, "SHORT", 0 if with_matrices else 1 << 30)
        assert_as_defined(made, seed)
