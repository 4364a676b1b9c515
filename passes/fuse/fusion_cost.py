"""Bytes that kernels move, by which the cost service weighs their fusion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from math import prod
from operator import itemgetter

from xdsl.ir import BlockArgument, Operation, SSAValue

from tiledialect.analysis.kernel_facts import COSTLY, phases
from tiledialect.dialects.tile.base import size_of, tensor_type
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.traffic import Gain, Machine, Traffic


def traffic(machine: Machine, kernel: KernelOp) -> Traffic:
    """Bytes that a kernel moves, and their time."""
    if kernel.axes is None:
        once = moved(kernel)
        return Traffic(once, machine.time(once), machine.groups)
    axes, reduced = kernel.axes.ranges, kernel.reduced
    rows = prod(r.extent for n, r in axes.items() if n not in reduced)
    last = next((n for n, r in reversed(axes.items()) if r.extent > 1), None)
    groups = rows if last in reduced else ceil_div(rows, machine.lanes)
    again = _row_traffic(machine, kernel, rows, groups)
    return machine.rows(again, groups)


def _row_traffic(machine: Machine, kernel: KernelOp, rows: int, groups: int) -> float:
    """Bytes that a row kernel moves: for each phase anew where rows are not kept near.

    Rows in short pieces move whole lines, the rest of which is read again from near, too.
    """
    pairs = zip(kernel.inputs, kernel.block.args, strict=True)
    own = {a: bytes_of(v) for v, a in pairs if size_of(v) > rows}
    made = {v: bytes_of(v) for v in kernel.outputs if size_of(v) > rows}
    lines = _lines(machine, kernel, {**own, **made}, rows)
    once = moved(kernel) + sum(lines.values()) - sum(own.values()) - sum(made.values())
    needed = phases(kernel)
    again = {a: max(0, len(needed[a]) - 1) for a in own}
    if sum(lines[a] for a in own) <= machine.near * max(groups, 1):
        rest = sum(n * (lines[a] - own[a]) for a, n in again.items())
        return once + rest / machine.cache_rate
    return once + sum(n * lines[a] for a, n in again.items())


def _lines(
    machine: Machine, kernel: KernelOp, own: Mapping[SSAValue, int], rows: int
) -> Mapping[SSAValue, int]:
    """Bytes of the lines that rows of tensors of so many bytes lie in.

    Whole lines count if too many are fetched until the next row takes the rest of them. Sums of
    pieces that do not divide lines are as slow by themselves.
    """
    piece = _contiguous_neighbours(kernel)
    if not piece:
        return own
    sizes = {v: piece * element_bytes(tensor_type(v).element_type) for v in own}
    shares = {v: machine.line // n if machine.line % n == 0 else 1 for v, n in sizes.items()}
    lines = {v: n * shares[v] for v, n in own.items()}
    return lines if sum(lines.values()) > machine.nearest * rows else own


def merging(
    machine: Machine, kernels: Iterable[KernelOp], kernel: KernelOp, again: float = 0.0
) -> Gain:
    """Gain of one kernel over several, if it repeats some operations."""
    both, note = traffic(machine, kernel), ""
    if both.groups < machine.groups:
        note = f", with {both.groups} work-groups where {machine.groups} keep the device busy"
    return machine.gain((traffic(machine, k) for k in kernels), [both], again, note)


def _contiguous_neighbours(kernel: KernelOp) -> int:
    """Number of neighbours of a row that lie together, where other rows are between them,
    else 0.
    """
    assert kernel.axes is not None
    ranges, reduced = kernel.axes.ranges, kernel.reduced
    axes = [(r.extent, n in reduced) for n, r in reversed(ranges.items()) if r.extent > 1]
    along = [n for n, _ in takewhile(itemgetter(1), axes)]
    is_parted = any(is_reduced for _, is_reduced in axes[len(along) :])
    return prod(along) if along and is_parted else 0


def bytes_of(value: SSAValue) -> int:
    """Size of a tensor in bytes."""
    return size_of(value) * element_bytes(tensor_type(value).element_type)


def operations(ops: Iterable[Operation]) -> float:
    """Number of simple operations of elementwise ops for an element.

    A load is one, too: repeated reads hit a cache.
    """
    ops = [op for op in ops if isinstance(op, ElementwiseOp) and not isinstance(op, ConstantOp)]
    loaded = {v for op in ops for v in op.operands if isinstance(v, BlockArgument)}
    return sum(COSTLY.get(op.name, 1) for op in ops) + len(loaded)


def moved(kernel: KernelOp) -> int:
    """Bytes that a kernel moves if it reads every element of its inputs once."""
    return sum(map(bytes_of, (*kernel.inputs, *kernel.outputs)))
