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

from tiledialect.api.reference import run_function
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.combinations import COMPARED, compared_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.numeric import NUMPY_TYPES
from tiledialect.index import sets
from tiledialect.index.expr import Constraint, IndexExpr

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


AGGREGATE = {
    Aggregation.add: sum,
    Aggregation.mul: lambda values: reduce(mul, values),
    Aggregation.max: max,
    Aggregation.min: min,
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


@settings(max_examples=150, deadline=None)
@given(contractions(general=True))
def test_contractions_mean_what_is_defined(made: Contraction):
    module, arrays = contraction_module([made])
    module.verify()
    (op,) = (op for op in module.walk() if isinstance(op, ContractionOp))
    dtype = NUMPY_TYPES[tensor_type(op.result).element_type]
    (result,) = run_function(module, "f", arrays)
    with np.errstate(all="ignore"):
        expected = by_definition(made, op, arrays, dtype)
    assert result.dtype == dtype
    assert np.array_equal(result, expected), f"{module}\n{result}\n{expected}"
