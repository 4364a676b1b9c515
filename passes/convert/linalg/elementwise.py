"""Ops of arith and math on whole tensors, and constants."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tiledialect.dialects.tile.base import tensor_type
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.dense_constants import dense_numbers, splat
from tiledialect.ir.names import place_of
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.passes.convert.linalg.bodies import Body, is_tensor
from tiledialect.passes.convert.linalg.elements import Element, Size, Space, filled, sizes_of
from tiledialect.passes.convert.linalg.results import replace
from tiledialect.passes.convert.linalg.scalar_ops import EMITTERS, emit


def fill(space: Space, element: Element, shape: list[Size], t: TensorType[Attribute]) -> SSAValue:
    """A tensor of one number."""
    access = tuple(IndexExpr.of(f"d{k}") for k in range(len(shape)))
    return space.place(element, access, shape, t.element_type, None)


class ElementwisePattern(RewritePattern):
    """Converts arith and math on tensors, and constants of few numbers."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Convert an op with a tensor as its result."""
        if len(op.results) != 1 or not isinstance(t := op.results[0].type, TensorType):
            return
        space = Space(TensorBuilder(op, place_of(op)), {})
        if isinstance(op, arith.ConstantOp):
            if isinstance(op.value, DenseIntOrFPElementsAttr):
                _constant(space, op, op.value, t, rewriter)
            return
        if not op.name.startswith(("arith.", "math.")):
            return
        result = emit(space, op, _elements(space, op) if op.name in EMITTERS else [])
        if not result.access:
            first = next(v for v in op.operands if is_tensor(v))
            result = Element(fill(space, result, sizes_of(space.builder, first), t))
        replace(op, [result.value], rewriter)


def _constant(
    space: Space,
    op: arith.ConstantOp,
    value: DenseIntOrFPElementsAttr,
    t: TensorType[Attribute],
    rewriter: PatternRewriter,
) -> None:
    """Convert a constant: one number, few ones, or an array."""
    if (number := splat(value)) is not None:
        element = Element(layout.constant(space.builder, number, t.element_type))
        replace(op, [fill(space, element, list(t.get_shape()), t)], rewriter)
    elif len(value) <= layout.MOST_CHOSEN:
        made = layout.dense(space.builder, dense_numbers(value), t.get_shape(), t.element_type)
        replace(op, [made], rewriter)
    else:
        rewriter.replace(op, [], [layout.kept(space.builder, value)])


def _elements(space: Space, op: Operation) -> list[Element]:
    body = Body(space, op)
    found: list[Element] = []
    for value in op.operands:
        if not is_tensor(value):
            found.append(body.element(value))
        elif (number := filled(value)) is not None:
            found.append(Element(number))
        else:
            rank = len(tensor_type(value).get_shape())  # pyright: ignore[reportAttributeAccessIssue]
            found.append(Element(value, tuple(IndexExpr.of(f"d{k}") for k in range(rank))))
    return found
