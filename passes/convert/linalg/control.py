"""Loops and branches around ops on tensors: iterations one after the other, branches chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import eq, ge, gt, le, lt, ne

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.errors import TileError
from tiledialect.ir.inlining import MOST_UNROLLED, copy_block, inline_block
from tiledialect.ir.size_arithmetic import SIZE_ARITHMETIC

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": eq,
    "ne": ne,
    "slt": lt,
    "sle": le,
    "sgt": gt,
    "sge": ge,
}
"""Comparisons of signed integers by the predicate's name."""
CASTS = (arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)


def known_integer(value: SSAValue) -> int | None:
    """The integer that a value is, if constants and static sizes alone make it."""
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return number.value.data
        case tensor.DimOp() as op if isinstance(t := op.source.type, TensorType):
            axis, shape = known_integer(op.index), t.get_shape()
            if axis is None or not 0 <= axis < len(shape) or shape[axis] == DYNAMIC_INDEX:
                return None
            return shape[axis]
        case Operation() as op if isinstance(op, CASTS):
            return known_integer(op.operands[0])
        case Operation() as op if isinstance(op, arith.CmpiOp):
            predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
            return _computed(op, COMPARISONS.get(predicate))
        case Operation() as op:
            return _computed(op, SIZE_ARITHMETIC.get(type(op)))
        case _:
            return None


def _computed(op: Operation, compute: Callable[[int, int], int] | None) -> int | None:
    if compute is None or len(op.operands) != 2:
        return None
    a, b = map(known_integer, op.operands)
    if a is None or b is None:
        return None
    try:
        return int(compute(a, b))
    except ZeroDivisionError:
        return None


def write_out_control_flow(module: ModuleOp) -> None:
    """Replace loops and branches on tensors by the ops that they run, or that make each result.

    Raises a TileError for a loop whose number of iterations is not known.
    """
    while (op := next(_control_flow(module), None)) is not None:
        if isinstance(op, scf.ForOp):
            _write_out(op)
        else:
            _choose(op)


def _control_flow(module: ModuleOp) -> Iterator[scf.ForOp | scf.IfOp]:
    """Loops and branches with tensors as results, the outer ones first."""
    for op in module.walk():
        if isinstance(op, scf.ForOp | scf.IfOp) and any(
            isinstance(t, TensorType) for t in op.result_types
        ):
            yield op


def _write_out(loop: scf.ForOp) -> None:
    """Replace a loop by its iterations."""
    bounds = [known_integer(v) for v in (loop.lb, loop.ub, loop.step)]
    lower, upper, step = bounds
    if lower is None or upper is None or step is None or step < 1:
        raise TileError.at(loop, "scf.for: the number of iterations must be known and the step > 0")
    steps, size = range(lower, upper, step), sum(1 for _ in loop.body.walk())
    if len(steps) * size > MOST_UNROLLED:
        raise TileError.at(
            loop, f"scf.for: {len(steps)} iterations of {size} ops are more than {MOST_UNROLLED}"
        )
    values: list[SSAValue] = list(loop.iter_args)
    index_type = loop.body.block.args[0].type
    assert isinstance(index_type, IndexType | IntegerType)
    for k in steps:
        index = arith.ConstantOp(IntegerAttr(k, index_type))
        Rewriter.insert_op(index, InsertPoint.before(loop))
        values = copy_block(loop.body.block, loop, [index.result, *values])
    Rewriter.replace_op(loop, [], values)


def _choose(branch: scf.IfOp) -> None:
    """Replace a branch by the one that is taken, or by a selection of the results of both."""
    then, otherwise = branch.true_region.block, branch.false_region.block
    known = known_integer(branch.cond)
    if known is not None:
        inline_block(then if known else otherwise, branch, [])
        return
    pairs = zip(*(copy_block(block, branch, []) for block in (then, otherwise)), strict=True)
    chosen = [arith.SelectOp(branch.cond, x, y) for x, y in pairs]
    Rewriter.replace_op(branch, chosen, [op.result for op in chosen])
