"""convert-linalg-to-tile: tensor programs of linalg, tensor, arith and math in the tile dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.transforms.dead_code_elimination import dce
from xdsl.utils.exceptions import VerifyException

from tiledialect.errors import TileError
from tiledialect.ir.inlining import inline_calls
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.passes.convert.linalg.control import settle_control_flow
from tiledialect.passes.convert.linalg.elementwise import ElementwisePattern
from tiledialect.passes.convert.linalg.functions import tensor_signatures
from tiledialect.passes.convert.linalg.results import drop_casts
from tiledialect.passes.convert.linalg.structured import SoftmaxPattern, StructuredPattern
from tiledialect.passes.convert.linalg.tensor_ops import TensorPattern

FAMILIES: Sequence[type[RewritePattern]] = (
    StructuredPattern,
    SoftmaxPattern,
    TensorPattern,
    ElementwisePattern,
)
"""Patterns, each for a family of ops."""

CONVERTED = ("linalg.", "arith.", "math.")
"""Dialects of which no op on tensors is left."""


class _Kept(RewritePattern):
    """Patterns that leave an op as it is where they cannot convert it."""

    def __init__(self, patterns: Iterable[RewritePattern]):
        self.patterns = tuple(patterns)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Apply the patterns."""
        for pattern in self.patterns:
            try:
                pattern.match_and_rewrite(op, rewriter)
            except (TileError, VerifyException):
                return
            if rewriter.has_done_action:
                return


class _Placed(RewritePattern):
    """Pattern whose errors have the place of the op."""

    def __init__(self, pattern: RewritePattern):
        self.pattern = pattern

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Apply the pattern."""
        try:
            self.pattern.match_and_rewrite(op, rewriter)
        except VerifyException as e:
            raise TileError.at(op, f"{op.name}: {e}") from None


@dataclass(frozen=True)
class ConvertLinalgToTilePass(PassWithFlags):
    """Converts tensor programs of linalg, tensor, arith and math to the tile dialect.

    A structured op is a contraction where its body sums products of elements, takes their maximum
    or the like, and elementwise ops where each point of its loops writes an element of its own.
    Named ops, and scalars that functions take and return, are converted, too. Calls are inlined.
    Short loops of `scf` on tensors are unrolled, and results of branches selected; the others
    stay for the host. An op that has no counterpart is an error; with `partial`, it stays as it is,
    and so do calls.
    """

    name = "convert-linalg-to-tile"

    partial: bool = False
    """Leave ops as they are that cannot be converted."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Convert every op on tensors."""
        if not self.partial and any(_is_tensors(call) for call in ops_of(op, func.CallOp)):
            inline_calls(op)
        if not self.partial:
            settle_control_flow(op)
        tensor_signatures(op)
        patterns = [family() for family in FAMILIES]
        applied: RewritePattern = (
            _Kept(patterns)
            if self.partial
            else GreedyRewritePatternApplier([_Placed(p) for p in patterns])
        )
        PatternRewriteWalker(applied, apply_recursively=False).rewrite_module(op)
        drop_casts(op)
        dce(op)
        if not self.partial:
            _check(op)


def _is_tensors(op: Operation) -> bool:
    return any(isinstance(t, TensorType) for t in (*op.operand_types, *op.result_types))


def _check(module: ModuleOp) -> None:
    """Raise a TileError at an op on tensors that is left."""
    for op in module.walk():
        if op.name.startswith(CONVERTED) and _is_tensors(op) and not _is_kept(op):
            raise TileError.at(op, f"{op.name} has no counterpart in the tile dialect")


def _is_kept(op: Operation) -> bool:
    """Whether an op is a constant, which the host keeps."""
    return isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr)
