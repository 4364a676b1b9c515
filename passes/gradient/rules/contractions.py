"""Derivatives of contractions: contractions again, with tensors exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation, Combination, symbol_number
from tiledialect.dialects.tile.combinations import COMPARED
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.contraction import UnboundedIndexError
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.index.names import numbered_names
from tiledialect.ir.tensor_builder import (
    Access,
    ContractionBuilder,
    TensorBuilder,
)

Inputs = list[tuple[SSAValue, Access]]

EQUALITY = {
    Combination.none: Combination.eq,
    Combination.add: Combination.add_eq,
    Combination.mul: Combination.mul_eq,
}
"""Combinations that compare the combined value with one more tensor."""

CHOICE = {
    Combination.none: Combination.cond,
    Combination.add: Combination.add_cond,
    Combination.mul: Combination.mul_cond,
}
"""Combinations that take one more tensor where the combined value equals another."""


def inputs_of(op: ContractionOp) -> Inputs:
    """Tensors of a contraction with their index expressions."""
    return [(v, a.data) for v, a in zip(op.inputs, op.accesses, strict=True)]


def contraction_gradient(
    b: TensorBuilder, op: ContractionOp, g: SSAValue, wanted: Sequence[bool]
) -> list[SSAValue | None]:
    """Cotangents of the inputs and of the default, where ``wanted``.

    ``g`` is the cotangent of the result. Where the maximum or minimum is taken at several points,
    they share it equally.
    """
    rules = {
        Aggregation.max: _extreme_gradient,
        Aggregation.min: _extreme_gradient,
        Aggregation.mul: _product_gradient,
    }
    rule = rules.get(op.aggregation.data, _sum_gradient)
    count = len(op.inputs)
    result: list[SSAValue | None] = [None] * count
    if any(wanted[:count]):
        result = rule(b, op, g, wanted)
    if op.default is not None:
        result.append(_default_gradient(b, op, g) if wanted[count] else None)
    return result


def _sum_gradient(
    b: TensorBuilder, op: ContractionOp, g: SSAValue, wanted: Sequence[bool]
) -> list[SSAValue | None]:
    """The product rule: the cotangent replaces the input, and they exchange indices."""
    inputs, combination = inputs_of(op), op.combination.data
    result: list[SSAValue | None] = []
    for k, (value, access) in enumerate(inputs):
        if not wanted[k] or k < COMPARED.get(combination, 0):
            result.append(None)
            continue
        c = ContractionBuilder(b, op)
        cotangent: tuple[SSAValue, Access] = (g, op.output.data)
        others, kept = [*inputs[:k], cotangent, *inputs[k + 1 :]], combination
        constraints: list[Constraint] = []
        if combination == Combination.add:
            dropped = inputs[:k] + inputs[k + 1 :]
            constraints = [x for v, a in dropped for x in c.inside(v, a)]
            others, kept = [cotangent], Combination.none
        result.append(c.make(Aggregation.add, kept, value, access, others, constraints))
    return result


def _extreme_gradient(
    b: TensorBuilder, op: ContractionOp, g: SSAValue, wanted: Sequence[bool]
) -> list[SSAValue | None]:
    """The cotangent, in equal shares, at the points whose value is the result."""
    inputs, combination = inputs_of(op), op.combination.data
    if combination == Combination.eq:
        return [None] * len(inputs)
    if combination not in EQUALITY or len(inputs) > 2:
        return _materialized_gradient(b, op, g, wanted)
    c = ContractionBuilder(b, op)
    output: Access = op.output.data
    extreme = (op.result, output)
    ties = c.make(Aggregation.add, EQUALITY[combination], op.result, output, [*inputs, extreme])
    # An element without points has no ties, and a division by 0 would spread.
    share = b.div(g, b.op(ew.MaxOp, ties, 1))
    result: list[SSAValue | None] = []
    for k, (value, access) in enumerate(inputs):
        if not wanted[k]:
            result.append(None)
            continue
        factors = inputs[:k] + inputs[k + 1 :] if combination == Combination.mul else []
        terms = [*inputs, extreme, (share, output), *factors]
        result.append(c.make(Aggregation.add, CHOICE[combination], value, access, terms))
    return result


def _product_gradient(
    b: TensorBuilder, op: ContractionOp, g: SSAValue, wanted: Sequence[bool]
) -> list[SSAValue | None]:
    """The cotangent times the product of all other values, right where some are 0.

    A product of products is the product of each factor's own, over the same points.
    """
    inputs, combination = inputs_of(op), op.combination.data
    if combination not in (Combination.none, Combination.mul):
        return _materialized_gradient(b, op, g, wanted)
    parts = [_ProductParts(b, op, k) for k in range(len(inputs))]
    result: list[SSAValue | None] = []
    for k, part in enumerate(parts):
        if not wanted[k]:
            result.append(None)
            continue
        share = g
        for other in parts[:k] + parts[k + 1 :]:
            share = b.mul(share, other.product())
        result.append(part.gradient(share))
    return result


class _ProductParts:
    """Products of one factor's values, split by their number of zeros."""

    def __init__(self, b: TensorBuilder, op: ContractionOp, k: int):
        self.b, self.op = b, op
        self.value, self.access = inputs_of(op)[k]
        self.c = ContractionBuilder(b, op)
        others = [pair for j, pair in enumerate(inputs_of(op)) if j != k]
        self.constraints = [x for v, a in others for x in self.c.inside(v, a)]
        self.is_zero = b.op(ew.CmpEqOp, self.value, 0)

    def over_points(self, aggregation: Aggregation, value: SSAValue) -> SSAValue:
        return self.c.make(
            aggregation,
            Combination.none,
            self.op.result,
            self.op.output.data,
            [(value, self.access)],
            self.constraints,
        )

    def product(self) -> SSAValue:
        return self.over_points(Aggregation.mul, self.value)

    def back(self, value: SSAValue) -> SSAValue:
        """Sum, for each element of the factor, of ``value`` where it contributes."""
        return self.c.make(
            Aggregation.add,
            Combination.none,
            self.value,
            self.access,
            [(value, self.op.output.data)],
            self.constraints,
        )

    def gradient(self, share: SSAValue) -> SSAValue:
        """Cotangent of the factor, from the cotangent of its product.

        The fast computation is right, but its own derivative is not where values are 0; so second
        derivatives come from a formula that multiplies the others at each point.
        """
        summed = _summed(self.op)
        if not summed:
            return self.back(share)
        fast = self.fast_gradient(share)
        slow = self.slow_gradient(share, summed)
        op = CustomGradientOp.of(fast, [slow])
        op.body.block.add_op(YieldOp([op.cotangent]))
        return self.b.insert(op)

    def slow_gradient(self, share: SSAValue, summed: Sequence[str]) -> SSAValue:
        """Sum of the products of all others, over the points where an element is taken."""
        inputs = inputs_of(self.op)
        places, sizes = _point_box(self.c, self.op, inputs)
        one = self.b.number(1)
        ones = self.over_box(Aggregation.assign, places, sizes, [(one, ())])
        others: list[SSAValue] = [
            self.others(places, sizes, summed[k:], sign, ones)
            for k in range(len(summed))
            for sign in (1, -1)
        ]
        product = others[0]
        for other in others[1:]:
            product = self.b.mul(product, other)
        return self.c.make(
            Aggregation.add,
            Combination.mul,
            self.value,
            self.access,
            [(share, self.op.output.data), (product, places)],
            self.constraints,
        )

    def others(
        self,
        places: Sequence[IndexExpr],
        sizes: Sequence[int | SSAValue],
        summed: Sequence[str],
        sign: int,
        ones: SSAValue,
    ) -> SSAValue:
        """Product, for each point, over the points that differ first in ``summed[0]``.

        They land on the same element, and come before the point, or after it.
        """
        taken = self.op.index_names
        renamed = {name: IndexExpr.of(next(numbered_names(name, taken, 2))) for name in summed}
        first = IndexExpr.of(summed[0])
        step = sign * (first - first.substitute(renamed)) - 1
        apart = Constraint(step, self.c.size(sizes[taken.index(summed[0])]))
        output: Access = self.op.output.data
        same = [
            Constraint(e.substitute(renamed) - e, IndexExpr.of(1))
            for e in output
            if not set(e.names).isdisjoint(summed)
        ]
        valid = [
            c.substitute(renamed)
            for c in (*(x.data for x in self.op.constraints), *self.constraints)
        ]
        inside = self.c.inside(self.op.result, output)
        access = [e.substitute(renamed) for e in self.access]
        constraints = [apart, *same, *valid, *inside]
        return self.over_box(
            Aggregation.mul, places, sizes, [(self.value, access)], constraints, ones
        )

    def over_box(
        self,
        aggregation: Aggregation,
        places: Sequence[IndexExpr],
        sizes: Sequence[int | SSAValue],
        inputs: Inputs,
        constraints: Sequence[Constraint] = (),
        default: SSAValue | None = None,
    ) -> SSAValue:
        """Contraction with an element for each point of the original one."""
        return self.b.insert(
            ContractionOp(
                aggregation,
                Combination.none,
                places,
                inputs,
                constraints,
                shape=tuple(s if isinstance(s, int) else DYNAMIC_INDEX for s in sizes),
                symbols=self.c.symbols,
                sizes=[s for s in sizes if isinstance(s, SSAValue)],
                default=default,
            )
        )

    def fast_gradient(self, share: SSAValue) -> SSAValue:
        """Cotangent by division, and where there are zeros by their number."""
        b = self.b
        zeros = self.over_points(Aggregation.add, self.is_zero)
        others = self.over_points(Aggregation.mul, b.select(self.is_zero, 1, self.value))
        scaled = b.mul(share, others)
        without = self.back(b.select(b.op(ew.CmpEqOp, zeros, 0), scaled, 0))
        only = self.back(b.select(b.op(ew.CmpEqOp, zeros, 1), scaled, 0))
        return b.select(self.is_zero, only, b.div(without, self.value))


def _summed(op: ContractionOp) -> list[str]:
    """Indices that differ between points of one element."""
    fixed = {e.variable for e in op.output.data}
    return [name for name in op.index_names if name not in fixed]


def _default_gradient(b: TensorBuilder, op: ContractionOp, g: SSAValue) -> SSAValue:
    """The cotangent where no point lands."""
    c = ContractionBuilder(b, op)
    constraints = [x for v, a in inputs_of(op) for x in c.inside(v, a)]
    one = b.number(1)
    points = c.make(
        Aggregation.add,
        Combination.none,
        op.result,
        op.output.data,
        [(one, ())],
        constraints,
    )
    return b.select(b.op(ew.CmpEqOp, points, 0), g, 0)


def _materialized_gradient(
    b: TensorBuilder, op: ContractionOp, g: SSAValue, wanted: Sequence[bool]
) -> list[SSAValue | None]:
    """Gradient of other combinations: the values at all points become a tensor first."""
    inputs = inputs_of(op)
    c = ContractionBuilder(b, op)
    places, sizes = _point_box(c, op, inputs)
    constraints = [
        *c.inside(op.result, op.output.data),
        *(x for v, a in inputs for x in c.inside(v, a)),
    ]
    shape = [s if isinstance(s, int) else DYNAMIC_INDEX for s in sizes]
    points = ContractionOp(
        Aggregation.assign,
        op.combination.data,
        places,
        inputs,
        c.needed([*(x.data for x in op.constraints), *constraints], inputs),
        shape=tuple(shape),
        symbols=c.symbols,
        sizes=[s for s in sizes if isinstance(s, SSAValue)],
    )
    value = b.insert(points)
    aggregate = c.make(
        op.aggregation.data,
        Combination.none,
        op.result,
        op.output.data,
        [(value, places)],
        constraints,
    )
    assert isinstance(aggregate.owner, ContractionOp)
    (at_points,) = contraction_gradient(b, aggregate.owner, g, [True])
    assert at_points is not None
    return _sum_gradient(b, points, at_points, wanted)


def _point_box(
    c: ContractionBuilder, op: ContractionOp, inputs: Inputs
) -> tuple[list[IndexExpr], list[int | SSAValue]]:
    """Axis for each index of a contraction: its expression and its size."""
    if op.is_static:
        try:
            ranges = sets.ranges(op.space())
        except UnboundedIndexError as e:
            raise TileError.at(op, f"nothing bounds the index {e.name}") from None
        return (
            [IndexExpr.of(name) - ranges[name].lower for name in op.index_names],
            [ranges[name].extent for name in op.index_names],
        )
    sizes = [
        _range_of(c, op, name, [*inputs, (op.result, op.output.data)]) for name in op.index_names
    ]
    return [IndexExpr.of(name) for name in op.index_names], sizes


def _range_of(
    c: ContractionBuilder, op: ContractionOp, name: str, tensors: Inputs
) -> int | SSAValue:
    """Size of an axis, or bound of a constraint, that an index runs along by itself."""
    for value, access in tensors:
        for axis, e in enumerate(access):
            if e.variable == name:
                return c.builder.size(value, axis)
    for constraint in (x.data for x in op.constraints):
        if constraint.expr.variable == name:
            bound = constraint.bound
            number = symbol_number(bound.variable or "")
            if number is not None:
                return c.symbols[number]
            if bound.is_constant:
                return ceil(bound.constant)
    raise TileError.at(
        op, f"the gradient of this contraction needs the range of {name}: specialize first"
    )
