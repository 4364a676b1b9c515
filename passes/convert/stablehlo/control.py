"""Choices and loops of StableHLO, and tuples; the ops that have no conversion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import Rewriter

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.errors import TileError
from tiledialect.ir.inlining import MOST_UNROLLED
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.convert.stablehlo.base import Conversion, evaluate, folded, refusal

Values = Sequence[SSAValue]


def drop_sharding(module: ModuleOp) -> None:
    """Leave out what says how tensors are spread over several devices, as there is one."""
    for op in list(module.walk()):
        name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
        if name in ("sdy.mesh", "sdy.sharding_constraint"):
            Rewriter.replace_op(op, [], list(op.operands))


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
    table |= {
        hlo.OptimizationBarrierOp: lambda _, __, operands: operands,
        hlo.IfOp: partial(_if, table),
        hlo.CaseOp: partial(_case, table),
        hlo.WhileOp: partial(_while, table),
    }
    return table


def _if(table: Table, b: TensorBuilder, op: hlo.IfOp, operands: Values) -> Values:
    condition = folded(b, operands[0])
    branches = (op.true_branch, op.false_branch)
    if (known := constant_of(condition)) is not None:
        return evaluate(b, branches[not known.number].blocks[0], (), table)
    results = [evaluate(b, branch.blocks[0], (), table) for branch in branches]
    return [b.select(condition, x, y) for x, y in zip(*results, strict=True)]


def _case(table: Table, b: TensorBuilder, op: hlo.CaseOp, operands: Values) -> Values:
    index = folded(b, operands[0])
    last = len(op.branches) - 1
    if (known := constant_of(index)) is not None:
        number = int(known.number)
        chosen = op.branches[number if 0 <= number <= last else last]
        return evaluate(b, chosen.blocks[0], (), table)
    # Any index but those of the others is the last branch's.
    *others, result = [evaluate(b, branch.blocks[0], (), table) for branch in op.branches]
    for k, values in reversed([*enumerate(others)]):
        is_own = b.op(ew.CmpEqOp, index, k)
        result = [b.select(is_own, x, y) for x, y in zip(values, result, strict=True)]
    return result


def _while(table: Table, b: TensorBuilder, op: hlo.WhileOp, operands: Values) -> Values:
    values = [folded(b, v) for v in operands]
    size = sum(1 for _ in op.body.walk()) + sum(1 for _ in op.cond.walk())
    for _ in range(max(1, MOST_UNROLLED // size)):
        (goes_on,) = evaluate(b, op.cond.blocks[0], values, table)
        if (known := constant_of(goes_on)) is None:
            raise refusal(op, "the number of its iterations depends on data")
        if not known.number:
            return values
        values = evaluate(b, op.body.blocks[0], values, table)
    raise refusal(op, f"its iterations, each written out, are more than {MOST_UNROLLED} ops")


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
        name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
        if name.partition(".")[0] in ("stablehlo", "chlo", "sdy"):
            of = f" of @{op.call_target_name.data}" if isinstance(op, added.CustomCallOp) else ""
            reason = REASONS.get(name, "there is no conversion of it")
            raise TileError.at(op, f"{name}{of} cannot be converted: {reason}")
