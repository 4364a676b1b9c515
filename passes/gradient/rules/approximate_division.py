"""Approximate division: products with reciprocals where only sums and smooth functions read
quotients.

A gradient recomputes some of the function's values, a normalized row for instance: it divides by a
value that is constant along the row. These quotients are invisible, so one reciprocal may serve
them all, though the last bit of a product with it may differ. Where that would be visible, as in
comparisons, roundings and at the ends of functions' domains, quotients stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.value_bounds import magnitude
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import ReshapeOp, SumToOp
from tiledialect.ir.names import keep_origin

LARGE = 125
"""Power of two beyond which the reciprocal of a float may not be a normal one."""

SMOOTH = (
    *(ew.AddOp, ew.SubOp, ew.MulOp, ew.NegOp, ew.IdentOp, ReshapeOp, SumToOp),
    *(ew.ExpOp, ew.ErfOp, ew.TanhOp, ew.SigmoidOp, ew.SinOp, ew.CosOp),
)
"""Ops whose result changes in its last bits alone where an operand does."""


def approximate_divisions(function: func.FuncOp, outputs: Sequence[SSAValue]) -> None:
    """Let a gradient function multiply by reciprocals where the difference is invisible.

    ``outputs`` are the original function's, if the gradient returns them.
    """
    block = function.body.block
    exact = set(outputs)
    for op in reversed(list(block.ops)):
        exact.update(_exact_operands(op, exact))
    for op in list(block.ops):
        if isinstance(op, ew.DivOp) and op.results[0] not in exact and divides_rows(op):
            reciprocal = ew.RecipOp.make(op.operands[1])
            product = ew.MulOp.make(op.operands[0], reciprocal.results[0])
            keep_origin([reciprocal, product], op)
            # Where one op replaces another, xDSL gives the name to that alone.
            Rewriter.insert_op(reciprocal, InsertPoint.before(op))
            Rewriter.replace_op(op, product)


def divides_rows(op: Operation) -> bool:
    """Whether floats are divided by a repeated value whose reciprocal is always a normal float."""
    divisor, (quotient,) = op.operands[1], op.results
    is_float = tensor_type(divisor).element_type == tensor_type(quotient).element_type == f32
    return is_float and is_broadcast(divisor, quotient) and magnitude(divisor) <= LARGE


def is_broadcast(value: SSAValue, result: SSAValue) -> bool:
    """Whether a tensor surely has fewer axes than the result that it is broadcast to, or axes of
    size 1.
    """
    shape, whole = shape_of(tensor_type(value)), shape_of(tensor_type(result))
    if shape is None or whole is None:
        return False
    pairs = zip(shape, whole[len(whole) - len(shape) :], strict=True)
    return len(shape) < len(whole) or any(a == 1 != b for a, b in pairs)


def _exact_operands(op: Operation, exact: set[SSAValue]) -> Sequence[SSAValue]:
    """Operands of an op whose last bits are visible, given the values whose last bits are."""
    if isinstance(op, func.ReturnOp):
        return ()
    if not exact.isdisjoint(op.results) or op.regions:
        return op.operands
    match op:
        case ew.DivOp():
            return op.operands[1:]
        case ew.SelectOp():
            return op.operands[:1]
        case ContractionOp():
            return () if _adds_products(op) else op.operands
        case _:
            return () if isinstance(op, SMOOTH) else op.operands


def _adds_products(op: ContractionOp) -> bool:
    """Whether an op adds, or copies, elements or products of elements."""
    adds = op.aggregation.data in (Aggregation.add, Aggregation.assign)
    return adds and op.combination.data in (Combination.none, Combination.mul, Combination.add)
