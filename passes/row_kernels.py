"""Merging kernels into row kernels: contractions and elementwise ops over the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.attributes import AccessAttr, DomainAttr
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.rows import Rows, check_results, reduced_by, shape
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr, Range


def merge_rows(block: Block, most_arguments: int) -> None:
    """Merge each kernel with those that make its inputs, where that gives a row kernel."""
    for kernel in [op for op in block.ops if isinstance(op, KernelOp)]:
        merged: KernelOp | None = kernel
        while merged is not None:
            kernel, merged = merged, _with_a_producer(merged, most_arguments)


def _with_a_producer(kernel: KernelOp, most_arguments: int) -> KernelOp | None:
    block = kernel.parent_block()
    assert block is not None
    order = {op: k for k, op in enumerate(block.ops)}
    producers = {v.owner for v in kernel.inputs if isinstance(v.owner, KernelOp)}
    for producer in sorted(producers, key=order.__getitem__, reverse=True):
        users = {use.operation for v in producer.outputs for use in v.uses} - {kernel}
        if all(order[user] > order[kernel] for user in users if user in order):
            merged = _merged(producer, kernel)
            arguments = len(merged.inputs) + len(merged.outputs)
            if arguments <= most_arguments and _make_rows(merged):
                _replace(producer, kernel, merged)
                return merged
            merged.erase()
    return None


def _merged(producer: KernelOp, kernel: KernelOp) -> KernelOp:
    """A kernel, not in the block yet, that computes what two do.

    Its results are those of the first that others take, then those of the second.
    """
    inputs = dict.fromkeys((*producer.inputs, *kernel.inputs))
    outer = [v for v in inputs if v.owner is not producer]
    body = Block(arg_types=[v.type for v in outer])
    values: dict[SSAValue, SSAValue] = dict(zip(outer, body.args, strict=True))
    for value, argument in values.items():
        argument.name_hint = value.name_hint
    results: list[SSAValue] = []
    for k in (producer, kernel):
        mapped = dict[SSAValue, SSAValue]()
        mapped.update((a, values[v]) for a, v in zip(k.block.args, k.inputs, strict=True))
        body.add_ops([op.clone(mapped) for op in k.block.ops if not isinstance(op, YieldOp)])
        for output, value in zip(k.outputs, k.yield_op.values, strict=True):
            values[output] = mapped[value]
            if k is kernel or any(use.operation is not kernel for use in output.uses):
                results.append(mapped[value])
    body.add_op(YieldOp(results))
    merged = KernelOp(outer, [v.type for v in results], Region(body))
    merged.location = kernel.location
    return merged


def _make_rows(kernel: KernelOp) -> bool:
    """Give a kernel its axes, in place; whether it is a row kernel."""
    axes = _axes(kernel.block.ops)
    for op in kernel.contractions:
        names = _names(op, axes)
        if names is None or op.constraints.data or op.symbols:
            return False
        op.output = AccessAttr([e.substitute(names) for e in op.output.data])
        op.accesses = ArrayAttr(
            [AccessAttr([e.substitute(names) for e in a.data]) for a in op.accesses]
        )
        op.domain = None
    summed = {frozenset(r) for op in kernel.contractions if (r := reduced_by(op, axes))}
    if len(summed) != 1:
        return False
    try:
        rows = Rows.of(kernel.block.ops, axes)
        check_results(rows, kernel.yield_op.values, kernel.reduced)
    except VerifyException:
        return False
    kernel.axes = DomainAttr(tuple(axes.items()))
    return True


def _axes(ops: Iterable[Operation]) -> dict[str, Range]:
    """The axes of the largest shape, named `d0`, `d1`, …"""
    shapes = [shape(v) for op in ops for v in (*op.operands, *op.results)]
    rank = max(map(len, shapes), default=0)
    sizes = [max(column) for column in zip(*(s for s in shapes if len(s) == rank), strict=True)]
    return {f"d{k}": Range(0, size) for k, size in enumerate(sizes)}


def _names(op: ContractionOp, axes: Mapping[str, Range]) -> dict[str, IndexExpr] | None:
    """The axes that the indices of a contraction are, as its largest tensors tell."""
    found: dict[str, IndexExpr] = {}
    tensors: Sequence[tuple[SSAValue, AccessAttr]] = [
        (op.result, op.output),
        *zip(op.inputs, op.accesses, strict=True),
    ]
    for value, access in tensors:
        if len(access.data) == len(axes):
            for e, size, axis in zip(access.data, shape(value), axes, strict=True):
                if len(e.names) == 1:
                    expr = IndexExpr.of(axis if size > 1 else 0)
                    if found.setdefault(e.names[0], expr) != expr:
                        return None
    return found if found.keys() >= set(op.index_names) else None


def _replace(producer: KernelOp, kernel: KernelOp, merged: KernelOp) -> None:
    """Put a merged kernel in the place of two."""
    Rewriter.insert_op(merged, InsertPoint.before(kernel))
    taken = [v for v in producer.outputs if any(use.operation is not kernel for use in v.uses)]
    for old, new in zip((*taken, *kernel.outputs), merged.outputs, strict=True):
        new.name_hint = old.name_hint
        old.replace_uses_with_if(new, lambda use: use.operation is not kernel)
    Rewriter.erase_op(kernel)
    Rewriter.erase_op(producer)
