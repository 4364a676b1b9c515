"""Tuples, composite ops and sharding of StableHLO, and the ops that have no conversion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.errors import TileError
from tiledialect.ir.names import op_name
from tiledialect.passes.convert.stablehlo.base import Conversion
from tiledialect.passes.convert.stablehlo.loops import control_flow


def drop_sharding(module: ModuleOp) -> None:
    """Leave out what says how tensors are spread over several devices, as there is one."""
    for op in list(module.walk()):
        if op_name(op) in ("sdy.mesh", "sdy.sharding_constraint"):
            Rewriter.replace_op(op, [], list(op.operands))


def call_decompositions(module: ModuleOp) -> None:
    """Replace each composite op by a call of its decomposition."""
    for op in list(module.walk()):
        if isinstance(op, added.CompositeOp):
            call = func.CallOp(op.decomposition, op.inputs, op.result_types)
            call.location = op.location
            Rewriter.replace_op(op, call)
            try:
                call.verify(verify_nested_ops=False)
            except VerifyException as error:
                raise TileError.at(call, f"{op.name} {op.composite_name}: {error}") from None


class DropTuple(RewritePattern):
    """An element of a tuple is the value that it was made of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: added.GetTupleElementOp, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by the element."""
        if (element := op.element) is not None:
            rewriter.replace(op, [], [element])


Table: TypeAlias = Mapping[type[Operation], Conversion]


def with_control_flow(conversions: Table) -> Table:
    """Conversions with those of the ops whose regions are converted by them, too."""
    table = dict(conversions)
    table |= {hlo.OptimizationBarrierOp: lambda _, __, operands: operands, **control_flow(table)}
    return table


REASONS: dict[str, str] = {
    "stablehlo.rng_bit_generator": (
        "its bits are those of XLA's own generators; jax.random with `threefry2x32` is of plain ops"
    ),
    "stablehlo.custom_call": "it is code of another compiler",
    **dict.fromkeys(
        ("stablehlo.complex", "stablehlo.real", "stablehlo.imag", "stablehlo.fft"),
        "there are no complex numbers",
    ),
}


def check_converted(module: ModuleOp) -> None:
    """Refuse what is left of StableHLO."""
    for op in module.walk():
        name = op_name(op)
        if name.partition(".")[0] in ("stablehlo", "chlo", "sdy"):
            of = f" of @{op.call_target_name.data}" if isinstance(op, added.CustomCallOp) else ""
            reason = REASONS.get(name, "there is no conversion of it")
            raise TileError.at(op, f"{name}{of} cannot be converted: {reason}")
