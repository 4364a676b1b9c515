"""Derivatives of the elementwise and special ops.

Each rule takes the op and the cotangent of its result (`g`, of the result's shape) and gives a
cotangent for each operand, in the result's shape, or None where there is none: comparisons, ops
on integers and bits, roundings and positions have derivative 0.

A table of docs/gradients.md has the derivatives at corners.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt

from xdsl.dialects.builtin import IntegerType, f32
from xdsl.ir import Operation, SSAValue

from tiledialect.analysis.value_bounds import magnitude
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile import special
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.gradient.rules.approximate_division import LARGE, is_broadcast

Cotangents = tuple[SSAValue | None, ...]
Rule = Callable[[TensorBuilder, Operation, SSAValue], Cotangents]
UnaryRule = Callable[[TensorBuilder, SSAValue, SSAValue, SSAValue], SSAValue]
"""Rule by the operand ``x``, the result ``y`` and the cotangent ``g``."""


def can_flow(value: SSAValue) -> bool:
    """Whether cotangents flow through a value: it may hold reals."""
    return et.may_be_float(getattr(value.type, "element_type", value.type))


def _unary(rule: UnaryRule) -> Rule:
    return lambda b, op, g: (rule(b, op.operands[0], op.results[0], g),)


def _nothing(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    return (None,) * len(op.operands)


def _one_minus_square(b: TensorBuilder, x: SSAValue) -> SSAValue:
    return b.sub(1, b.mul(x, x))


def _abs(b: TensorBuilder, x: SSAValue, y: SSAValue, g: SSAValue) -> SSAValue:
    negative = b.select(b.op(ew.CmpLtOp, x, 0), b.neg(g), 0)
    return b.select(b.op(ew.CmpGtOp, x, 0), g, negative)


def _erf(b: TensorBuilder, x: SSAValue, y: SSAValue, g: SSAValue) -> SSAValue:
    bell = b.op(ew.ExpOp, b.neg(b.mul(x, x)))
    return b.mul(b.mul(g, bell), 2 / sqrt(pi))


def _mul(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    return b.mul(g, op.operands[1]), b.mul(g, op.operands[0])


SCALE = 0.25
"""Scale of divisors that are so large that their reciprocal may not be a normal float."""


def _div(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    divisor, (quotient,) = op.operands[1], op.results
    if is_broadcast(divisor, quotient) and tensor_type(divisor).element_type == f32:
        # One reciprocal serves many elements, and products are many times as fast as a quotient.
        first = _by_reciprocal(b, g, divisor)
    else:
        first = b.div(g, divisor)
    return first, b.neg(b.mul(first, quotient))


def _by_reciprocal(b: TensorBuilder, g: SSAValue, divisor: SSAValue) -> SSAValue:
    if magnitude(divisor) <= LARGE:
        return b.mul(g, b.op(ew.RecipOp, divisor))
    is_large = b.op(ew.CmpGtOp, b.op(ew.AbsOp, divisor), 2.0**LARGE)
    scale = b.select(is_large, SCALE, 1.0)
    return b.mul(b.mul(g, b.op(ew.RecipOp, b.mul(divisor, scale))), scale)


def _pow(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    base, exponent = op.operands
    # Operands without effect are replaced before use, so that no derivative meets 0 times
    # infinity.
    nonzero = b.select(b.op(ew.CmpEqOp, base, 0), 1, base)
    some = b.select(b.op(ew.CmpEqOp, exponent, 0), nonzero, base)
    slope = b.mul(exponent, b.op(ew.PowOp, some, b.sub(exponent, 1)))
    positive = b.select(b.op(ew.CmpGtOp, base, 0), base, 1)
    growth = b.mul(op.results[0], b.op(ew.LogOp, positive))
    return b.mul(g, slope), b.mul(g, growth)


def _extreme(wins: type[ew.ElementwiseOp]) -> Rule:
    def rule(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
        first, second = op.operands
        shared = b.select(b.op(ew.CmpEqOp, first, second), b.mul(g, 0.5), 0)
        return (
            b.select(b.op(wins, first, second), g, shared),
            b.select(b.op(wins, second, first), g, shared),
        )

    return rule


def _select(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    condition = op.operands[0]
    return None, b.select(condition, g, 0), b.select(condition, 0, g)


def _gather(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    tensor, indices = op.operands
    # tile.gather takes the nearest slice for an index that is out of range. The number of the last
    # one may be too large for the indices' own type.
    if (t := tensor_type(indices).element_type) in et.CONCRETE.values() and not et.is_wide(t):
        indices = b.insert(ew.CastOp.to(indices, et.CONCRETE["i64"]))
    last = b.size(tensor, 0)
    limit = last - 1 if isinstance(last, int) else b.sub(b.insert(ew.SizeOp.of(last)), 1)
    inside = b.op(ew.MaxOp, b.op(ew.MinOp, indices, limit), 0)
    return b.insert(special.ScatterOp.make(g, inside, tensor)), None


def _scan(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    assert isinstance(op, ScanOp)
    if op.aggregation.data is not Aggregation.add or op.start is not None:
        raise TileError.at(
            op,
            "only a tile.scan that adds, and starts with nothing, has a gradient: "
            "write others as contractions",
        )
    every = op.every.value.data if op.every is not None else None
    back = ScanOp(
        Aggregation.add, g, op.along, reverse=op.reverse is None, every=every, keys=op.keys
    )
    return (b.insert(back), *([None] if op.keys is not None else []))


def _scatter(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    assert isinstance(op, special.ScatterOp)
    if op.parts is not None:
        raise TileError.at(op, "a tile.scatter in parts has no gradient: it is for kernels")
    updates, indices, _ = op.operands
    shape, index_shape = shape_of(tensor_type(updates)), shape_of(tensor_type(indices))
    result_shape = shape_of(tensor_type(op.results[0]))
    if shape is None or index_shape is None or result_shape is None:
        raise TileError.at(op, "the gradient of scatter needs to know shapes: specialize first")
    points = [IndexExpr.of(f"i{k}") for k in range(len(index_shape))]
    rest = [IndexExpr.of(f"r{k}") for k in range(len(result_shape) - 1)]
    place = IndexExpr.of("v")
    rows = b.insert(ew.IndexOp.along(g, 0))
    if not isinstance(tensor_type(indices).element_type, IntegerType):
        # A number has no type of its own yet.
        indices = b.insert(ew.CastOp.to(indices, et.CONCRETE["i64"]))
    contraction = ContractionOp(
        Aggregation.add,
        Combination.cond,
        [*points, *rest] if shape else [],
        [
            (rows, [place, *(IndexExpr() for _ in result_shape[1:])]),
            (indices, points),
            (g, [place, *rest]),
        ],
        shape=shape,
        sizes=[s for k in range(len(shape)) if isinstance(s := b.size(updates, k), SSAValue)],
    )
    return b.insert(contraction), None, None


def _reshape(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    assert isinstance(op, special.ReshapeOp)
    shape = shape_of(tensor_type(op.operand))
    if shape is None:
        raise TileError.at(op, "the gradient of reshape needs to know the rank of its operand")
    sizes = [b.size(op.operand, axis) for axis in range(len(shape))]
    return b.insert(special.ReshapeOp.of(g, sizes)), *(None for _ in op.sizes)


def _sum_to(b: TensorBuilder, op: Operation, g: SSAValue) -> Cotangents:
    # The cotangent of a sum goes to each of its terms.
    return b.like(g, op.operands[0]), None


DERIVATIVES: dict[type[Operation], Rule] = {
    ew.AbsOp: _unary(_abs),
    ew.NegOp: _unary(lambda b, x, y, g: b.neg(g)),
    ew.ReluOp: _unary(lambda b, x, y, g: b.select(b.op(ew.CmpGtOp, x, 0), g, 0)),
    ew.IdentOp: _unary(lambda b, x, y, g: g),
    ew.AcosOp: _unary(lambda b, x, y, g: b.neg(b.div(g, b.op(ew.SqrtOp, _one_minus_square(b, x))))),
    ew.AsinOp: _unary(lambda b, x, y, g: b.div(g, b.op(ew.SqrtOp, _one_minus_square(b, x)))),
    ew.AtanOp: _unary(lambda b, x, y, g: b.div(g, b.add(1, b.mul(x, x)))),
    ew.CosOp: _unary(lambda b, x, y, g: b.neg(b.mul(g, b.op(ew.SinOp, x)))),
    ew.CoshOp: _unary(lambda b, x, y, g: b.mul(g, b.op(ew.SinhOp, x))),
    ew.ErfOp: _unary(_erf),
    ew.ExpOp: _unary(lambda b, x, y, g: b.mul(g, y)),
    ew.ExpM1Op: _unary(lambda b, x, y, g: b.mul(g, b.add(y, 1))),
    ew.Log1pOp: _unary(lambda b, x, y, g: b.div(g, b.add(1, x))),
    ew.LogOp: _unary(lambda b, x, y, g: b.div(g, x)),
    ew.RecipOp: _unary(lambda b, x, y, g: b.neg(b.mul(g, b.mul(y, y)))),
    ew.SigmoidOp: _unary(lambda b, x, y, g: b.mul(g, b.mul(y, b.sub(1, y)))),
    ew.SinOp: _unary(lambda b, x, y, g: b.mul(g, b.op(ew.CosOp, x))),
    ew.SinhOp: _unary(lambda b, x, y, g: b.mul(g, b.op(ew.CoshOp, x))),
    ew.SqrtOp: _unary(lambda b, x, y, g: b.div(g, b.mul(2, y))),
    ew.TanOp: _unary(lambda b, x, y, g: b.mul(g, b.add(1, b.mul(y, y)))),
    ew.TanhOp: _unary(lambda b, x, y, g: b.mul(g, _one_minus_square(b, y))),
    ew.AddOp: lambda b, op, g: (g, g),
    ew.SubOp: lambda b, op, g: (g, b.neg(g)),
    ew.MulOp: _mul,
    ew.DivOp: _div,
    ew.PowOp: _pow,
    ew.MaxOp: _extreme(ew.CmpGtOp),
    ew.MinOp: _extreme(ew.CmpLtOp),
    ew.SelectOp: _select,
    ew.CastOp: _unary(lambda b, x, y, g: g),
    special.GatherOp: _gather,
    special.ScatterOp: _scatter,
    ScanOp: _scan,
    special.ReshapeOp: _reshape,
    special.SumToOp: _sum_to,
    **dict.fromkeys(
        (
            ew.CeilOp,
            ew.FloorOp,
            ew.RoundOp,
            ew.RemOp,
            ew.BitNotOp,
            ew.BitAndOp,
            ew.BitOrOp,
            ew.BitXorOp,
            ew.BitLeftOp,
            ew.BitRightOp,
            ew.CmpEqOp,
            ew.CmpNeOp,
            ew.CmpLtOp,
            ew.CmpGtOp,
            ew.CmpLeOp,
            ew.CmpGeOp,
            ew.IndexOp,
            special.ShapeOp,
            special.PrngValueOp,
            special.PrngStateOp,
        ),
        _nothing,
    ),
}
"""Rules of all ops but contractions."""
