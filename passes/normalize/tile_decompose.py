"""tile-decompose: scatters, sums over broadcast axes and custom gradients become contractions."""

from __future__ import annotations

from itertools import islice
from math import prod

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import Shape, shape_of, tensor_type
from tiledialect.dialects.tile.canonicalization import drop
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.ops import CastOp, ConstantOp, IndexOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp, ScatterOp, SumToOp
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import give_name, keep_name, keep_origin, keep_place

MAX_OPS = 100
"""Maximum ops of the search for an argument as large as their result."""


def _argument_of(vector: SSAValue, length: int) -> SSAValue:
    """An argument of so many elements that a vector depends on; the vector if there is none.

    A user of the length alone need not compute the vector.
    """
    found = [vector]
    # Operands are appended behind their users.
    for value in islice(found, MAX_OPS):
        if isinstance(value.owner, Operation):
            found += [v for v in value.owner.operands if v not in found]
        elif isinstance(value.type, TensorType) and _size(value.type) == length:
            return value
    return vector


def _size(t: TensorType[Attribute]) -> int | None:
    """Number of elements of a tensor, if known."""
    return None if DYNAMIC_INDEX in t.get_shape() else prod(t.get_shape())


class DecomposeScatter(RewritePattern):
    """Scatter as a sum: each element of the result adds up the updates whose index names it.

    So every element has one owner, and no atomics are needed.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScatterOp, rewriter: PatternRewriter) -> None:
        """Replace a scatter of known rank."""
        updates, indices, like = (shape_of(tensor_type(v)) for v in op.operands)
        shape = shape_of(tensor_type(op.result))
        if updates is None or indices is None or like is None or shape is None:
            return
        if isinstance(op.parent_op(), KernelOp) or op.parts is not None:
            return
        points = [IndexExpr.of(f"i{k}") for k in range(len(indices))]
        rest = [IndexExpr.of(f"r{k}") for k in range(len(shape) - 1)]
        place = IndexExpr.of("v")
        cast, named = _row_numbers(op)
        made, column = _column(op, like)
        rows = IndexOp.along(column, 0)
        give_name(rows.result, "rows")
        axes = len(shape_of(tensor_type(column)) or ())
        contraction = ContractionOp(
            Aggregation.add,
            Combination.cond,
            [place, *rest],
            [
                (rows.result, [place, *(IndexExpr() for _ in range(1, axes))]),
                (named, points),
                (op.updates, [*points, *rest] if updates else []),
            ],
            shape=shape,
        )
        new = [*cast, *made, rows, contraction]
        keep_origin(new, op)
        rewriter.replace(op, new)


def _row_numbers(op: ScatterOp) -> tuple[list[Operation], SSAValue]:
    """Rows that updates go to, as integers, and the ops for them."""
    if isinstance(tensor_type(op.indices).element_type, IntegerType):
        return [], op.indices
    # A number has no type of its own yet.
    cast = CastOp.to(op.indices, et.CONCRETE["i64"])
    return [cast], cast.result


def _column(op: ScatterOp, like: Shape) -> tuple[list[Operation], SSAValue]:
    """Tensor with as many rows as the result, if possible of one axis, and the ops for it."""
    rows = like[0] if len(like) else DYNAMIC_INDEX
    if rows == DYNAMIC_INDEX:
        return [], op.like
    if len(like) > 1:
        # The numbers of the rows alone, not a table of the shape of `like`.
        one, place = ConstantOp.of(1), [IndexExpr.of("v")]
        ones = ContractionOp(
            Aggregation.assign, Combination.none, place, [(one.result, ())], shape=like[:1]
        )
        give_name(one.result, "one")
        give_name(ones.result, "ones")
        return [one, ones], ones.result
    column = _argument_of(op.like, rows)
    if shape_of(tensor_type(column)) == like:
        return [], column
    view = ReshapeOp.of(column, like)
    keep_name(view.result, op.like)
    return [view], view.result


class DecomposeSumTo(RewritePattern):
    """A sum over broadcast axes as a contraction; the operand where no axis was broadcast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SumToOp, rewriter: PatternRewriter) -> None:
        """Replace a sum between known shapes."""
        shape, like = shape_of(tensor_type(op.operand)), shape_of(tensor_type(op.like))
        if shape is None or like is None or DYNAMIC_INDEX in (*shape, *like):
            return
        if shape == like and op.operand.type == op.result.type:
            drop(op, op.operand, rewriter)
            return
        indices = [IndexExpr.of(f"i{axis}") for axis in range(len(shape))]
        kept = indices[len(shape) - len(like) :]
        output = [i if size != 1 else IndexExpr() for i, size in zip(kept, like, strict=True)]
        access = indices if shape else []
        contraction = ContractionOp(
            Aggregation.add, Combination.none, output, [(op.operand, access)], shape=like
        )
        keep_origin([contraction], op)
        rewriter.replace(op, contraction)


class CastDefault(RewritePattern):
    """Convert a default of another element type than the result's first."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContractionOp, rewriter: PatternRewriter) -> None:
        """Insert the cast, if it is needed."""
        t = tensor_type(op.result).element_type
        if op.default is None or tensor_type(op.default).element_type == t:
            return
        constant, cast = op.default.owner, CastOp.to(op.default, t)
        if isinstance(constant, ConstantOp) and not shape_of(tensor_type(op.default)):
            # The constant that is the default of all elements stays one.
            cast = ConstantOp.of(constant.number, t)
        keep_place(cast, op)
        rewriter.insert(cast)
        op.operands = (*op.operands[:-1], cast.results[0])
        rewriter.notify_op_modified(op)


class DropCustomGradient(RewritePattern):
    """Replace a value with a custom gradient by the value, after differentiation."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CustomGradientOp, rewriter: PatternRewriter) -> None:
        """Replace the op by its value."""
        if op.value.type == op.result.type:
            drop(op, op.value, rewriter)
        else:
            cast = CastOp.to(op.value, tensor_type(op.result).element_type)
            keep_origin([cast], op)
            rewriter.replace(op, cast)


class TileDecomposePass(ModulePass):
    """Replaces `tile.scatter` and `tile.sum_to` by contractions.

    The default of a contraction gets the result's element type. A scatter needs only the length of
    its `like` operand: an argument of that length replaces it, if there is one.
    `tile.custom_gradient` becomes its value, so nothing can be differentiated after this pass; ops
    for the gradient alone are erased.
    """

    name = "tile-decompose"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decompose every such op."""
        # Custom gradients first, as their bodies need not be decomposed.
        drop = PatternRewriteWalker(DropCustomGradient(), apply_recursively=False)
        if drop.rewrite_module(op):
            for function in op.walk():
                if isinstance(function, func.FuncOp):
                    region_dce(function.body)
        patterns = GreedyRewritePatternApplier(
            [DecomposeScatter(), DecomposeSumTo(), CastDefault()]
        )
        PatternRewriteWalker(patterns, apply_recursively=False).rewrite_module(op)
