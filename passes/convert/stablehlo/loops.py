"""Loops and choices of StableHLO: unrolled, or run by the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.inlining import MOST_UNROLLED, copy_block
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.convert.stablehlo.base import Conversion, evaluate, folded
from tiledialect.passes.convert.stablehlo.trip_counts import trip_count

Values = Sequence[SSAValue]
Table: TypeAlias = Mapping[type[Operation], Conversion]
Body: TypeAlias = Callable[[TensorBuilder, Values], Values]
"""Makes the results of a region of its arguments."""


def control_flow(table: Table) -> Table:
    """Conversions of the ops whose regions are converted by a table."""
    return {
        hlo.IfOp: partial(_if, table),
        hlo.CaseOp: partial(_case, table),
        hlo.WhileOp: partial(_while, table),
    }


# -- choices -----------------------------------------------------------------------------------


def _if(table: Table, b: TensorBuilder, op: hlo.IfOp, operands: Values) -> Values:
    condition = folded(b, operands[0])
    then, otherwise = op.true_branch.blocks[0], op.false_branch.blocks[0]
    if (known := constant_of(condition)) is not None:
        return evaluate(b, then if known.number else otherwise, (), table)
    return _chosen(
        b,
        condition,
        lambda c, _: evaluate(c, then, (), table),
        lambda c, _: evaluate(c, otherwise, (), table),
    )


def _case(table: Table, b: TensorBuilder, op: hlo.CaseOp, operands: Values) -> Values:
    index = folded(b, operands[0])
    blocks = [branch.blocks[0] for branch in op.branches]
    last = len(blocks) - 1
    if (known := constant_of(index)) is not None:
        number = int(known.number)
        return evaluate(b, blocks[number if 0 <= number <= last else last], (), table)

    def one_from(number: int, c: TensorBuilder, _: Values) -> Values:
        # Any index but those of the others is the last branch's.
        if number == last:
            return evaluate(c, blocks[last], (), table)
        return _chosen(
            c,
            c.op(ew.CmpEqOp, index, number),
            lambda d, _: evaluate(d, blocks[number], (), table),
            partial(one_from, number + 1),
        )

    return one_from(0, b, ())


def _chosen(b: TensorBuilder, condition: SSAValue, then: Body, otherwise: Body) -> Values:
    """Results of one of two bodies; both are computed, unless one has a loop of the host."""
    regions = [_region(b, (), body) for body in (then, otherwise)]
    blocks = [region.block for region in regions]
    ends = [block.last_op for block in blocks]
    types = [v.type for end in ends[:1] if end is not None for v in end.operands]
    branch = scf.IfOp(_scalar(b, condition), types, regions[0], regions[1])
    b.place_op(branch)
    if ops_of(branch, scf.ForOp, scf.WhileOp):
        return branch.results
    pairs = zip(*(copy_block(block, branch, ()) for block in blocks), strict=True)
    chosen = [b.select(condition, x, y) for x, y in pairs]
    read = branch.cond.owner
    Rewriter.erase_op(branch, safe_erase=False)
    assert isinstance(read, Operation)
    Rewriter.erase_op(read)
    return chosen


def _scalar(b: TensorBuilder, value: SSAValue) -> SSAValue:
    """The element of a tensor without axes."""
    return b.insert(tensor.ExtractOp(value, [], i1))


def _region(
    b: TensorBuilder, arguments: Values, body: Body, end: type[scf.YieldOp] | None = scf.YieldOp
) -> Region:
    """Region of what a body makes; without an end, its first result decides whether a loop ends."""
    block = Block(arg_types=[v.type for v in arguments])
    for argument, value in zip(block.args, arguments, strict=True):
        argument.name_hint = value.name_hint
    mark = scf.YieldOp()
    block.add_op(mark)
    inner = TensorBuilder(mark, b.place)
    results = body(inner, block.args)
    if end is None:
        condition, *rest = results
        block.insert_op_before(scf.ConditionOp(_scalar(inner, condition), *rest), mark)
    else:
        block.insert_op_before(end(*results), mark)
    Rewriter.erase_op(mark)
    return Region(block)


# -- loops -------------------------------------------------------------------------------------


def _while(table: Table, b: TensorBuilder, op: hlo.WhileOp, operands: Values) -> Values:
    values = [folded(b, v) for v in operands]
    condition, body = op.cond.blocks[0], op.body.blocks[0]
    size = sum(1 for _ in (*op.body.walk(), *op.cond.walk()))
    count = trip_count(op, values)
    if count is None or count * size <= MOST_UNROLLED:
        written = _written_out(table, b, op, values, max(1, MOST_UNROLLED // size))
        if written is not None:
            return written

    def step(c: TensorBuilder, arguments: Values) -> Values:
        return evaluate(c, body, arguments, table)

    def test(c: TensorBuilder, arguments: Values) -> Values:
        return [*evaluate(c, condition, arguments, table), *arguments]

    if count is not None:
        zero, end, one = (
            b.insert(arith.ConstantOp(IntegerAttr(n, IndexType()))) for n in (0, count, 1)
        )
        region = _region(b, values, step)
        region.block.insert_arg(IndexType(), 0)
        loop = scf.ForOp(zero, end, one, values, region)
        b.place_op(loop)
        return loop.results
    regions = _region(b, values, test, end=None), _region(b, values, step)
    loop = scf.WhileOp(values, [v.type for v in values], *regions)
    b.place_op(loop)
    return loop.results


def _written_out(
    table: Table, b: TensorBuilder, op: hlo.WhileOp, values: Values, most: int
) -> Values | None:
    """Results of a loop whose iterations follow one another, if constants alone end it."""
    start = b.before.prev_op
    for _ in range(most):
        (goes_on,) = evaluate(b, op.cond.blocks[0], values, table)
        if (known := constant_of(goes_on)) is None:
            break
        if not known.number:
            return values
        values = evaluate(b, op.body.blocks[0], values, table)
    while (last := b.before.prev_op) is not start and last is not None:
        Rewriter.erase_op(last, safe_erase=False)
    return None
