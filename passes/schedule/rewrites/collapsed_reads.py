"""Collapsed reads: the last axes of an operand read as one, where all of them are summed over, or
none.

A convolution's weights `K[co, ci, j, i]` are rows of `9*ci + 3*j + i`, whose copies are rows as
long as all three axes, which squares of registers transpose. A diagonal `X[i, i]` of rows of n
elements is `X[(n + 1)*i]`. The loops stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.tile.attributes import AccessAttr, ConstraintAttr
from tiledialect.dialects.tile.base import make_type, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.index.contraction import Constraint
from tiledialect.index.digits import joined
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.names import keep_name, with_type
from tiledialect.schedule.cost.device import LINE


@dataclass(frozen=True)
class CollapsedRead:
    """Last axes of an operand that collapse to one."""

    operand: int
    """Number of the contraction's operand."""
    axes: int
    """Number of the last axes."""


def collapse_reads(kernel: KernelOp, kept: frozenset[int]) -> None:
    """Let a kernel's contraction read the last axes of its inputs as one, where it can.

    ``kept`` are the numbers of the inputs that stay as they are.
    """
    op = kernel.contraction
    if op is None or op.domain is None or op.constraints.data:
        return
    for row in list(_collapsible_reads(kernel, op)):
        if kernel.block.args.index(op.inputs[row.operand]) not in kept:
            _collapse(kernel, op, row)


def _collapsible_reads(kernel: KernelOp, op: ContractionOp) -> Iterator[CollapsedRead]:
    """Collapsible inputs: those that the contraction alone reads, at one place."""
    for k, (value, access) in enumerate(zip(op.inputs, op.accesses, strict=True)):
        is_input = isinstance(value, BlockArgument) and value.block is kernel.block
        if is_input and len(list(value.uses)) == 1:
            axes = _diagonal(op, value, access.data)
            if axes == 0 and len(op.inputs) > 1:
                axes = _joint_axes(op, access.data, shape(value))
            if axes > 1:
                yield CollapsedRead(k, axes)


def _diagonal(op: ContractionOp, value: SSAValue, access: Sequence[IndexExpr]) -> int:
    """Number of last axes of a diagonal along an index of the output; or 0.

    The reads of an index along two axes are no rectangle that a work-group could copy, but a row of
    elements as far from one another as in a column. Where these lie in neighbouring lines of a
    cache, the rectangle has no others, and is loaded in vectors.
    """
    output = {name for e in op.output.data for name in e.names}
    last = set(access[-1].names) & output if access else set[str]()
    whole = len(access)
    first = next((k for k, e in enumerate(access) if not last.isdisjoint(e.names)), whole)
    t = tensor_type(value)
    step = prod(shape(value)[first + 1 :]) * element_bytes(t.element_type)
    is_far = whole - first > 1 and step > 2 * LINE
    return whole - first if is_far and all(len(e.names) <= 1 for e in access[first:]) else 0


def _joint_axes(op: ContractionOp, access: Sequence[IndexExpr], sizes: Sequence[int]) -> int:
    """Number of last axes that are whole indices, all of them summed over, or none."""
    assert op.domain is not None
    if not access:
        return 0
    ranges = op.domain.ranges
    output = {name for e in op.output.data for name in e.names}

    def kind(axis: int) -> bool | None:
        """Whether the index along an axis is one of the output; None if it is not a whole one."""
        expr = access[axis]
        name = next(iter(expr.names), "")
        # A diagonal is along no row.
        is_alone = sum(name in e.names for e in access) == 1
        if not is_alone or expr != IndexExpr.of(name) or ranges[name] != Range(0, sizes[axis]):
            return None
        return name in output

    # Axes of size 1 are at the end of any row.
    last = len(access) - 1
    while last and sizes[last] == 1 and access[last] == IndexExpr():
        last -= 1
    first = kind(last)
    if first is None:
        return 0
    found = takewhile(lambda k: kind(k) is first, range(last, -1, -1))
    return len(list(found)) + len(access) - 1 - last


def _collapse(kernel: KernelOp, op: ContractionOp, row: CollapsedRead) -> None:
    """Read the last axes of an operand as one, from a reshape before the kernel."""
    value = op.inputs[row.operand]
    assert isinstance(value, BlockArgument)
    sizes, access = shape(value), op.accesses.data[row.operand].data
    kept = len(sizes) - row.axes
    flat = joined(access[kept:], sizes[kept:])
    # Each axis bounded its index; the row bounds the first one.
    ends = [
        ConstraintAttr(Constraint(expr, IndexExpr.of(size)))
        for expr, size in zip(access[kept + 1 :], sizes[kept + 1 :], strict=True)
        if expr.names
    ]
    op.constraints = ArrayAttr(dict.fromkeys((*op.constraints.data, *ends)))
    new = (*sizes[:kept], prod(sizes[kept:]))
    outer = kernel.inputs[value.index]
    reshape = ReshapeOp.of(outer, new)
    keep_name(reshape.result, outer)
    Rewriter.insert_op(reshape, InsertPoint.before(kernel))
    kernel.operands[value.index] = reshape.result
    with_type(value, make_type(new, tensor_type(value).element_type))
    accesses = list(op.accesses.data)
    accesses[row.operand] = AccessAttr((*access[:kept], flat))
    op.accesses = ArrayAttr(accesses)
