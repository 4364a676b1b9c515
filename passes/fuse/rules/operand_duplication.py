"""Operand duplication: an argument for each place of a tensor, as for `A` in `A[i, k] * A[j,
k]`.
"""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, SSAValue

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import give_name, given_name
from tiledialect.passes.fuse.kernel_merging import MAX_ARGUMENTS


def duplicate_operands(block: Block) -> None:
    """Give kernels an operand for each place of a tensor: schedules stage operands, not reads."""
    for kernel in block.ops:
        if isinstance(kernel, KernelOp) and kernel.axes is None and kernel.schedule is None:
            _duplicate(kernel)


def _duplicate(kernel: KernelOp) -> None:
    op = kernel.contraction
    if op is None:
        return
    found: dict[tuple[SSAValue, tuple[IndexExpr, ...]], SSAValue] = {}
    for k, (value, access) in enumerate(zip(op.inputs, op.accesses, strict=True)):
        if not isinstance(value, BlockArgument):
            continue
        # Neighbours are loaded together: they count as one place.
        place = tuple(e - e.constant for e in access.data)
        if (value, place) not in found:
            is_first = all(value is not other for other, _ in found)
            found[value, place] = value if is_first else _duplicated(kernel, value)
        op.operands[k] = found[value, place]
    default = op.default
    if isinstance(default, BlockArgument) and default.has_more_than_one_use():
        # The result is initialised as the default and overwritten: reads need their own copy.
        op.operands[len(op.operands) - 1] = _duplicated(kernel, default, limit=None)


def _duplicated(
    kernel: KernelOp, argument: BlockArgument, limit: int | None = MAX_ARGUMENTS
) -> SSAValue:
    """Another argument for an operand of a kernel, if there is room."""
    count = len(kernel.inputs)
    if limit is not None and count + len(kernel.outputs) >= limit:
        return argument
    kernel.operands = (*kernel.operands, kernel.inputs[argument.index])
    new = kernel.block.insert_arg(argument.type, count)
    name, names = given_name(argument), {*map(given_name, kernel.block.args)}
    while name is not None and name in names:
        name += "_again"
    give_name(new, name)
    return new
