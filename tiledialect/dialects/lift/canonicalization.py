"""Canonicalization of the lift dialect: ops that give a value which is there already.

Here is only what makes a program shorter in every case. What may be better or worse is a rewrite
rule, for the user to apply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tiledialect.dialects.lift import layout, maps, memory, reductions, values
from tiledialect.dialects.lift.types import as_array, leading
from tiledialect.index.integer import Expr
from tiledialect.index.size import Size

Op = TypeVar("Op", bound=Operation)


def _made_by(value: SSAValue, kind: type[Op]) -> Op | None:
    return value.owner if isinstance(value.owner, kind) else None


def _split(op: layout.SplitOp) -> SSAValue | None:
    inner = _made_by(op.input, layout.JoinOp)
    return inner.input if inner and inner.input.type == op.result.type else None


def _join(op: layout.JoinOp) -> SSAValue | None:
    inner = _made_by(op.input, layout.SplitOp)
    return inner.input if inner else None


def _transpose(op: layout.TransposeOp) -> SSAValue | None:
    inner = _made_by(op.input, layout.TransposeOp)
    return inner.input if inner else None


def _pad(op: layout.PadOp | layout.PadConstantOp) -> SSAValue | None:
    return op.input if op.left.data == op.right.data == Size() else None


def _slice(op: layout.SliceOp) -> SSAValue | None:
    whole = op.stop.data == leading(as_array(op.input, "slice"))
    return op.input if whole and op.start.data == Size() else None


def _concat(op: layout.ConcatOp) -> SSAValue | None:
    return op.inputs[0] if len(op.inputs) == 1 else None


def _gather(op: layout.GatherOp) -> SSAValue | None:
    return _reordered(op, layout.ScatterOp)


def _scatter(op: layout.ScatterOp) -> SSAValue | None:
    return _reordered(op, layout.GatherOp)


def _reordered(
    op: layout.GatherOp | layout.ScatterOp, inverse: type[layout.GatherOp | layout.ScatterOp]
) -> SSAValue | None:
    """What an op with the inverse map reorders; for a scatter, the map is a permutation."""
    if op.map.data.expr == Expr.var(op.map.data.variable):
        return op.input
    inner = _made_by(op.input, inverse)
    return inner.input if inner and inner.map == op.map else None


def _as_scalar(op: layout.AsScalarOp) -> SSAValue | None:
    inner = _made_by(op.input, layout.AsVectorOp)
    return inner.input if inner else None


def _as_vector(op: layout.AsVectorOp) -> SSAValue | None:
    inner = _made_by(op.input, layout.AsScalarOp)
    return inner.input if inner and inner.input.type == op.result.type else None


def _get(op: values.GetOp) -> SSAValue | None:
    inner = _made_by(op.input, values.TupleOp)
    return inner.components[op.index.data] if inner else None


def _map(op: maps.MapOp) -> SSAValue | None:
    """The operand, if the function gives its argument; or the array that it takes from a zip."""
    (argument,) = op.block.args
    if op.yielded == argument:
        return op.input
    get, arrays = _made_by(op.yielded, values.GetOp), _made_by(op.input, values.ZipOp)
    return arrays.inputs[get.index.data] if get and arrays and get.input == argument else None


def _iterate(op: reductions.IterateOp) -> SSAValue | None:
    return op.initial if op.count.data == Size() else None


def _memory(op: memory.MemoryOp) -> SSAValue | None:
    return op.input if _made_by(op.input, type(op)) else None


EQUAL: dict[type[Operation], Callable[[Any], SSAValue | None]] = {
    layout.SplitOp: _split,
    layout.JoinOp: _join,
    layout.TransposeOp: _transpose,
    layout.PadOp: _pad,
    layout.PadConstantOp: _pad,
    layout.SliceOp: _slice,
    layout.ConcatOp: _concat,
    layout.GatherOp: _gather,
    layout.ScatterOp: _scatter,
    layout.AsScalarOp: _as_scalar,
    layout.AsVectorOp: _as_vector,
    values.GetOp: _get,
    maps.MapOp: _map,
    reductions.IterateOp: _iterate,
    **dict.fromkeys(memory.MEMORY_OPS, _memory),
}
"""For each kind of op, what finds the value that it gives."""


class ReplaceByValue(RewritePattern):
    """Replaces an op by a value that is there already."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace ``op``."""
        find = EQUAL.get(type(op))
        value = find(op) if find else None
        if value is not None:
            rewriter.replace(op, [], [value])


PATTERNS: tuple[RewritePattern, ...] = (ReplaceByValue(),)
