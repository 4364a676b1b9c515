"""Calls and tuples of StableHLO, and the ops that stand for their operands."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl_jax.dialects import stablehlo as hlo

from tiledialect.dialects import stablehlo as added
from tiledialect.passes.convert.stablehlo_base import refusal


class DropTuple(RewritePattern):
    """An element of a tuple is the value that it was made of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: added.GetTupleElementOp, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by the element."""
        if (element := op.element) is not None:
            rewriter.replace(op, [], [element])


class DropBarrier(RewritePattern):
    """A barrier against optimizations is its operands."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: hlo.OptimizationBarrierOp, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by its operands."""
        rewriter.replace(op, [], list(op.operands))


REASONS: dict[str, str] = {
    "stablehlo.rng_bit_generator": (
        "the bits of an algorithm are not defined by it; jax.random with the default"
        " `jax_default_prng_impl` (threefry2x32) is of plain ops"
    ),
    "stablehlo.complex": "there are no complex numbers",
    "stablehlo.real": "there are no complex numbers",
    "stablehlo.imag": "there are no complex numbers",
    "stablehlo.fft": "there are no complex numbers",
}


def check_converted(module: ModuleOp) -> None:
    """Refuse what is left of StableHLO."""
    for op in module.walk():
        if isinstance(op, hlo.CustomCallOp):
            raise refusal(op, f"@{op.call_target_name.data} is code of another compiler")
        if op.name.partition(".")[0] in ("stablehlo", "chlo"):
            raise refusal(op, REASONS.get(op.name, "there is no conversion of it"))
