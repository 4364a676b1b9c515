"""gpu-widen-bf16: arithmetic on numbers of type bf16 is done in f32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    ModuleOp,
    VectorType,
    bf16,
    f32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.ir.ops_in import ops_in
from tiledialect.lowering.nest.utils.constants import constant

MOVES = (arith.ConstantOp, arith.SelectOp, arith.BitcastOp, arith.ExtFOp, arith.TruncFOp)
"""The ops of `arith` that take numbers of bf16 as they are."""
COMPUTES = frozenset(
    (*arith.Arith.operations, *math.Math.operations, vector.FMAOp, vector.ReductionOp)
).difference(MOVES)
EXACT = (
    *(arith.NegfOp, math.AbsFOp, math.CopySignOp),
    *(arith.MinimumfOp, arith.MaximumfOp, arith.MinnumfOp, arith.MaxnumfOp),
)
"""Ops from numbers of bf16 to numbers of bf16, which can be in f32 too."""


def is_bf16(t: Attribute) -> bool:
    """Whether a type is bf16, or vectors of it."""
    # It is asked of every value, and `isinstance` takes long to deny.
    return type(t.element_type if type(t) is VectorType else t) is BFloat16Type


def has_bf16(ops: Sequence[Operation]) -> bool:
    """Whether ops, listed with all that is in them, make or are given numbers of bf16."""
    blocks = (block for op in ops for region in op.regions for block in region.blocks)
    given = (v.type for block in blocks for v in block.args)
    made = (v.type for op in ops for v in op.results)
    # Nearly all have one of a few types.
    return any(map(is_bf16, {id(t): t for t in chain(made, given)}.values()))


def computes_with_bf16(op: Operation) -> bool:
    """Whether an op computes with numbers of bf16, or makes some of others."""
    return type(op) in COMPUTES and any(is_bf16(v.type) for v in (*op.operands, *op.results))


@dataclass
class Widening:
    """Lets the ops of a module compute in f32."""

    extended: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Values of bf16 in f32."""

    def rewrite(self, op: Operation) -> None:
        """Let an op take extended operands, and round its results."""
        builder = Builder(InsertPoint.before(op))
        new = builder.insert(
            op.create(
                operands=[self.extend(v) if is_bf16(v.type) else v for v in op.operands],
                result_types=[_in_f32(v.type) for v in op.results],
                properties=op.properties,
                attributes=op.attributes,
            )
        )
        results = list[SSAValue](new.results)
        for k, old in enumerate(op.results):
            if is_bf16(old.type):
                results[k] = builder.insert(arith.TruncFOp(results[k], old.type)).result
                if isinstance(op, EXACT):
                    self.extended[results[k]] = new.results[k]
        hints = [v.name_hint for v in op.results]
        Rewriter.replace_op(op, [], results)
        for value, hint in zip(results, hints, strict=True):
            value.name_hint = hint

    def extend(self, value: SSAValue) -> SSAValue:
        """A value of bf16 in f32, made once, after its definition."""
        if value not in self.extended:
            self.extended[value] = _extended(value)
        return self.extended[value]


def _extended(value: SSAValue) -> SSAValue:
    owner, t = value.owner, _in_f32(value.type)
    if isinstance(owner, Block):
        op = arith.ExtFOp(value, t)
        Rewriter.insert_op(op, InsertPoint.at_start(owner))
    else:
        op = _wide_constant(owner, t) or arith.ExtFOp(value, t)
        Rewriter.insert_op(op, InsertPoint.after(owner))
    op.results[0].name_hint = value.name_hint
    return op.results[0]


def _wide_constant(op: Operation, t: Attribute) -> Operation | None:
    match getattr(op, "value", None):
        case FloatAttr() as number:
            return constant(number.value.data, t)
        case DenseIntOrFPElementsAttr() as numbers:
            wide = cast("VectorType[AnyFloat]", t)
            values = cast("tuple[float, ...]", numbers.get_values())
            return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(wide, values))
        case _:
            return None


def _in_f32(t: Attribute) -> Attribute:
    if isinstance(t, VectorType):
        return VectorType(f32, t.shape) if t.element_type == bf16 else t
    return f32 if t == bf16 else t


class GpuWidenBf16Pass(ModulePass):
    """Computes with numbers of type bf16 in f32, as OpenCL C cannot compute with them.

    Operands are extended by `arith.extf`, and each result is rounded by `arith.truncf` before it
    goes on. Ops that only move numbers stay as they are.
    """

    name = "gpu-widen-bf16"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Widen the ops of all functions."""
        ops = ops_in(op)
        if has_bf16(ops):
            widening = Widening()
            for computing in [x for x in ops if computes_with_bf16(x)]:
                widening.rewrite(computing)
