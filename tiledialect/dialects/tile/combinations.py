"""Combination of the elements of a contraction's tensors, and its types."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type

ARITY: dict[Combination, tuple[int, ...]] = {
    Combination.none: (1,),
    Combination.add: (2, 3),
    Combination.mul: (2, 3),
    Combination.eq: (2,),
    Combination.cond: (3,),
    Combination.add_eq: (3,),
    Combination.mul_eq: (3,),
    Combination.add_cond: (4,),
    Combination.mul_cond: (4, 5),
}
"""Number of tensors of each combination."""

OPERATORS: dict[Combination, tuple[str, ...]] = {
    Combination.none: (),
    Combination.add: ("add", "add"),
    Combination.mul: ("mul", "mul"),
    Combination.eq: ("eq",),
    Combination.cond: ("eq", "cond"),
    Combination.add_eq: ("add", "eq"),
    Combination.mul_eq: ("mul", "eq"),
    Combination.add_cond: ("add", "eq", "cond"),
    Combination.mul_cond: ("mul", "eq", "cond", "mul"),
}
"""Operators between the tensors of each combination, as far as there are any."""

COMPARED: dict[Combination, int] = {
    Combination.eq: 2,
    Combination.cond: 2,
    Combination.add_eq: 3,
    Combination.mul_eq: 3,
    Combination.add_cond: 3,
    Combination.mul_cond: 3,
}
"""Number of compared tensors of a combination: all but the last, each with the last."""

PRODUCTS = (Combination.mul, Combination.mul_eq, Combination.mul_cond)
"""Combinations whose first tensors are multiplied; in the others they are added."""

WORDS = tuple({word for operators in OPERATORS.values() for word in operators})


def combined_type(combination: Combination, inputs: Sequence[SSAValue]) -> Attribute:
    """The element type of the combined value at one point; bools count as integers in add, mul."""
    types = [tensor_type(value).element_type for value in inputs]
    values = types[COMPARED.get(combination, 0) :]
    if not values:
        return et.any_type if et.any_type in types else et.CONCRETE["i1"]
    result = values[0]
    for t in values[1:]:
        result = et.promote(result, t)
    return result if len(values) == 1 else et.as_number(result)


def compared_type(combination: Combination, inputs: Sequence[SSAValue]) -> Attribute:
    """The element type in which the first inputs of a combination are compared."""
    inner = Combination.mul if combination in PRODUCTS else Combination.add
    return combined_type(inner, inputs[: COMPARED[combination]])


def result_element_type(
    aggregation: Aggregation,
    combination: Combination,
    inputs: Sequence[SSAValue],
    default: SSAValue | None,
) -> Attribute:
    """The element type of a contraction's result.

    That of the combined value, promoted with the default's; never a weak one. Sums and products
    of bools are integers. It is also the type in which the values are combined and aggregated.
    """
    t = combined_type(combination, inputs)
    if aggregation in (Aggregation.add, Aggregation.mul):
        t = et.as_number(t)
    if default is not None:
        t = et.promote(t, tensor_type(default).element_type)
    return et.concrete(t)
