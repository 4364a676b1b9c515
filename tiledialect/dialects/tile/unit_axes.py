"""Canonicalization of reshapes that add axes of size 1: what they reshape is computed so."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tiledialect.dialects.tile.base import Shape, make_type, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import keep_place, take_name


class ComputeUnitAxes(RewritePattern):
    """A reshape that only adds axes of size 1 to a contraction's or elementwise op's result.

    The op computes it. So a sum along an axis, added as an axis of size 1 again, can be in one row
    kernel with the ops that broadcast it.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        """Replace the op that makes ``op``'s operand by one that makes its result."""
        value, wanted = op.operand, op.result.type
        if isinstance(op.parent_op(), KernelOp) or not isinstance(wanted, TensorType):
            return
        kept = _kept_axes(value.type, wanted.get_shape())
        # Others would have the axes removed again.
        if kept is None or any(
            not isinstance(use.operation, ReshapeOp) or use.operation.result.type != wanted
            for use in value.uses
        ):
            return
        made = value.owner
        if isinstance(made, ContractionOp):
            new = _with_axes(made, kept, wanted.get_shape())
        elif isinstance(made, ew.ElementwiseOp) and not isinstance(made, ew.IndexOp):
            new = _elementwise(made, kept, wanted.get_shape(), rewriter)
        else:
            new = None
        if new is None or not isinstance(made, Operation):
            return
        keep_place(new, made)
        rewriter.insert(new, InsertPoint.before(made))
        take_name(new.results[0], op.result)
        take_name(new.results[0], value)
        for use in [*value.uses]:
            rewriter.replace(use.operation, [], [new.results[0]])
        rewriter.erase(made)


def _kept_axes(t: Attribute, wanted: Sequence[int]) -> list[int] | None:
    """Axis of ``wanted`` for each axis of a type, the others of size 1; None if others differ."""
    if not isinstance(t, TensorType) or not t.has_static_shape() or len(t.get_shape()) < 1:
        return None
    if len(wanted) <= len(t.get_shape()) or min(wanted) < 1:
        return None
    kept: list[int] = []
    sizes = list(t.get_shape())
    for axis, n in enumerate(wanted):
        if len(kept) < len(sizes) and n == sizes[len(kept)]:
            kept.append(axis)
        elif n != 1:
            return None
    return kept if len(kept) == len(sizes) else None


def _with_axes(op: ContractionOp, kept: list[int], shape: Shape) -> ContractionOp | None:
    """A contraction whose result has axes of size 1 besides those that are kept."""
    is_number = op.default is not None and shape_of(tensor_type(op.default)) == ()
    if op.sizes or (op.default is not None and not is_number):
        return None
    output = [IndexExpr()] * len(shape)
    for axis, e in zip(kept, op.output.data, strict=True):
        output[axis] = e
    return ContractionOp(
        op.aggregation.data,
        op.combination.data,
        output,
        [(v, a.data) for v, a in zip(op.inputs, op.accesses, strict=True)],
        [c.data for c in op.constraints],
        shape=shape,
        symbols=list(op.symbols),
        default=op.default,
        domain=op.domain,
        no_defract=op.no_defract is not None,
        attributes=dict(op.attributes),
        is_wide=op.is_wide,
    )


def _elementwise(
    op: ew.ElementwiseOp, kept: list[int], shape: Shape, rewriter: PatternRewriter
) -> ew.ElementwiseOp | None:
    """An elementwise op on operands with the axes that the result gets."""
    wanted = [_operand_shape(v, kept, shape) for v in op.operands]
    if None in wanted:
        return None
    values: list[SSAValue] = []
    for operand, own in zip(op.operands, wanted, strict=True):
        t = tensor_type(operand)
        if isinstance(t, TensorType) and own is not None and t.get_shape() != own:
            reshape = ReshapeOp.create(
                operands=[operand], result_types=[make_type(own, t.element_type)]
            )
            rewriter.insert(reshape, InsertPoint.before(op))
            operand = reshape.result
        values.append(operand)
    return type(op).create(
        operands=values,
        result_types=[make_type(shape, tensor_type(op.res).element_type)],
        properties=op.properties,
        attributes=op.attributes,
    )


def _operand_shape(value: SSAValue, kept: list[int], shape: Shape) -> Shape | None:
    """Shape of an operand of an elementwise op whose result has axes besides those that are kept;
    None if it is not known."""
    t = value.type
    if not isinstance(t, TensorType) or not t.has_static_shape():
        return None
    own = t.get_shape()
    axes = kept[len(kept) - len(own) :]
    found = [1] * len(shape)
    for axis, n in zip(axes, own, strict=True):
        found[axis] = n
    # Fewer axes than the result has stand for the last ones.
    first = 0 if len(own) == len(kept) else axes[0] if axes else len(shape)
    return tuple(found[first:])
