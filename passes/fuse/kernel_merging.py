"""Merge of two kernels, and its insertion in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.elementwise.ops import CastOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.small_stencils import is_covered
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.errors import TileError
from tiledialect.ir.names import keep_name, keep_names, take_name
from tiledialect.ir.ops_in import outer_operands

MAX_ARGUMENTS = 100
"""Maximum buffers of a kernel; OpenCL grants every kernel 1024 bytes of arguments."""


def sort_topologically(block: Block) -> None:
    """Sort the ops of a block topologically, otherwise in their order."""
    placed, waiting = set[Operation](), set[Operation]()
    pending = [*reversed(block.ops)]
    while pending:
        op = pending[-1]
        makers = [v.owner for v in outer_operands(op) if isinstance(v.owner, Operation)]
        missing = [maker for maker in makers if maker not in placed]
        if missing and op in waiting:
            raise TileError.at(op, f"{name_of(op.results[0])} needs itself")
        if missing:
            waiting.add(op)
            pending += missing
        elif pending.pop() not in placed:
            placed.add(op)
            op.detach()
            block.add_op(op)


def users_of(kernel: KernelOp) -> set[Operation]:
    """Users of a kernel's results."""
    return {use.operation for v in kernel.outputs for use in v.uses}


def merged(
    first: KernelOp, second: KernelOp, kept: Sequence[SSAValue] | None = None
) -> KernelOp | None:
    """A kernel, not in the block yet, with the ops of two; None if it has too many arguments.

    Its results are the first one's ``kept`` results, by default those with other users, then the
    second one's.
    """
    kept = used_elsewhere(first, second) if kept is None else kept
    inputs = dict.fromkeys((*first.inputs, *second.inputs))
    outer = [v for v in inputs if v.owner is not first]
    if len(outer) + len(kept) + len(second.outputs) > MAX_ARGUMENTS:
        return None
    body = Block(arg_types=[v.type for v in outer])
    values: dict[SSAValue, SSAValue] = dict(zip(outer, body.args, strict=True))
    for value, argument in values.items():
        keep_name(argument, value)
    results: list[SSAValue] = []
    for k in (first, second):
        mapped = dict[SSAValue, SSAValue]()
        mapped.update((a, values[v]) for a, v in zip(k.block.args, k.inputs, strict=True))
        body.add_ops([op.clone(mapped) for op in k.block.ops if not isinstance(op, YieldOp)])
        for output, value in zip(k.outputs, k.yield_op.values, strict=True):
            values[output] = mapped[value]
        taken = k.outputs if k is second else kept
        results += [values[output] for output in taken]
    body.add_op(YieldOp(results))
    _share_casts(body)
    return KernelOp(outer, body, like=second)


def _share_casts(body: Block) -> None:
    """Merge equal conversions of the two kernels."""
    found: dict[tuple[SSAValue, Attribute], SSAValue] = {}
    for op in [x for x in body.ops if isinstance(x, CastOp)]:
        first = found.setdefault((op.operand, op.result.type), op.result)
        if first is not op.result:
            take_name(first, op.result)
            Rewriter.replace_op(op, [], [first])


def merged_if(
    first: KernelOp, second: KernelOp, is_fit: Callable[[KernelOp], bool]
) -> KernelOp | None:
    """The merged kernel, if it is fit."""
    kernel = merged(first, second)
    if kernel is None or is_fit(kernel):
        return kernel
    kernel.erase()
    return None


def pruned(kernel: KernelOp) -> KernelOp:
    """The kernel without unused ops and arguments; the old one is erased."""
    region_dce(kernel.body)
    used = [k for k, argument in enumerate(kernel.block.args) if argument.uses]
    if len(used) == len(kernel.inputs):
        return kernel
    inputs = [kernel.inputs[k] for k in used]
    for argument in [a for a in kernel.block.args if not a.uses]:
        kernel.block.erase_arg(argument)
    new = KernelOp(inputs, kernel.detach_region(kernel.body), kernel.axes, like=kernel)
    kernel.erase()
    return new


def joint_arguments(first: KernelOp, second: KernelOp) -> int:
    """Number of tensors that one kernel of two reads and writes, if neither needs the other."""
    return len({*first.inputs, *second.inputs}) + len(first.outputs) + len(second.outputs)


def used_elsewhere(first: KernelOp, second: KernelOp) -> list[SSAValue]:
    """Results of the first kernel with other users than the second."""
    return [v for v in first.outputs if any(use.operation is not second for use in v.uses)]


def replace(first: KernelOp, second: KernelOp, kernel: KernelOp, place: KernelOp) -> None:
    """Insert a merged kernel in the place of one of the two."""
    taken = [*used_elsewhere(first, second), *second.outputs]
    Rewriter.insert_op(kernel, InsertPoint.before(place))
    keep_names(kernel, taken)
    for old, new in zip(taken, kernel.outputs, strict=True):
        old.replace_uses_with_if(new, lambda use: use.operation is not second)
    for old in (second, first):
        Rewriter.erase_op(old)


def drop_overwritten_defaults(body: Region) -> None:
    """Drop defaults of copies whose elements other copies overwrite, in place."""
    for kernel in [op for op in body.block.ops if isinstance(op, KernelOp)]:
        if kernel.axes is None and kernel.contraction is None and kernel.schedule is None:
            _drop_overwritten_default(kernel)
    region_dce(body)


def _drop_overwritten_default(kernel: KernelOp) -> None:
    for op in kernel.contractions:
        if isinstance(default := op.default, BlockArgument) and is_covered(op.result):
            op.operands = op.operands[:-1]
            segments = [len(op.inputs), len(op.symbols), len(op.sizes), 0]
            op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, segments)
            if not default.uses:
                operands = [*kernel.operands]
                del operands[default.index]
                kernel.block.erase_arg(default)
                kernel.operands = operands
