"""Random contractions: the reference against the definition, one point at a time."""

from __future__ import annotations

from functools import reduce
from itertools import product
from operator import add, mul
from typing import Any

import numpy as np
import numpy.typing as npt
from generators import Contraction, contraction_module, contractions
from hypothesis import given, settings

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import combined_type
from tiledialect.dialects.tile.numeric import NUMPY_TYPES
from tiledialect.index import sets
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.interpreters.tile import run_function

Array = npt.NDArray[Any]
Point = dict[str, int]


def inside(constraint: Constraint, point: Point) -> bool:
    value = constraint.expr.evaluate(point)
    return value.denominator == 1 and 0 <= value < constraint.bound.constant


def every_point(made: Contraction) -> list[Point]:
    space = made.space()
    box = [range(r.lower - 1, r.upper + 1) for r in sets.ranges(space).values()]
    points = (dict(zip(space.variables, values, strict=True)) for values in product(*box))
    return [p for p in points if all(inside(c, p) for c in space.all_constraints())]


def element(access: tuple[IndexExpr, ...], point: Point) -> tuple[int, ...]:
    return tuple(int(expr.evaluate(point)) for expr in access)


def combine(combination: Combination, values: list[Any], dtype: np.dtype[Any]) -> Any:
    if combination == Combination.eq:
        return values[0] == values[1]
    if combination == Combination.cond:
        return values[2] if values[0] == values[1] else 0
    total = reduce(mul if combination == Combination.mul else add, values)
    # Integers wrap at the width of the combined type before they are aggregated.
    return (
        np.asarray(total % 2**64, np.uint64).astype(dtype).item() if dtype.kind in "iu" else total
    )


AGGREGATE = {
    Aggregation.add: sum,
    Aggregation.mul: lambda values: reduce(mul, values),
    Aggregation.max: max,
    Aggregation.min: min,
    Aggregation.assign: lambda values: values[0],
}


def by_definition(
    made: Contraction, arrays: list[Array], dtype: np.dtype[Any], combined: np.dtype[Any]
) -> Array:
    landed: dict[tuple[int, ...], list[Any]] = {}
    for point in every_point(made):
        values = [
            array[element(access, point)].item()
            for array, (_, access) in zip(arrays, made.inputs, strict=False)
        ]
        where = element(made.output, point)
        landed.setdefault(where, []).append(combine(made.combination, values, combined))
    result = np.zeros(made.shape, dtype)
    if made.default:
        result[...] = arrays[-1].astype(dtype)
    for where, values in landed.items():
        total = AGGREGATE[made.aggregation](values)
        whole = dtype.kind in "iu"
        result[where] = np.asarray(int(total) % 2**64, np.uint64).astype(dtype) if whole else total
    return result


@settings(max_examples=150, deadline=None)
@given(contractions(general=True))
def test_contractions_mean_what_is_defined(made: Contraction):
    module, arrays = contraction_module([made])
    module.verify()
    (op,) = [op for op in module.walk() if op.name == "tile.contraction"]
    dtype = NUMPY_TYPES[tensor_type(op.results[0]).element_type]
    combined = NUMPY_TYPES[combined_type(made.combination, op.inputs)]
    (result,) = run_function(module, "f", arrays)
    with np.errstate(all="ignore"):
        expected = by_definition(made, arrays, dtype, combined)
    assert result.dtype == dtype
    assert np.array_equal(result, expected), f"{module}\n{result}\n{expected}"
