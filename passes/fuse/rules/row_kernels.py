"""Row kernels of two kernels: contractions and elementwise ops over the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.attributes import AccessAttr, DomainAttr
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.row_axes import (
    Rows,
    check_results,
    names_in,
    place_read,
    shape,
)
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.passes.fuse.fusion_cost import merging
from tiledialect.passes.fuse.kernel_merging import merged
from tiledialect.passes.fuse.rules.part_sums import add_parts, is_part_sum
from tiledialect.schedule.cost.traffic import Gain, Machine


def fuse_rows(
    first: KernelOp, second: KernelOp, kept: Sequence[SSAValue] | None = None
) -> KernelOp | None:
    """A row kernel of two kernels, if their contractions and elementwise ops share their rows.

    The first one's ``kept`` results stay results, by default those with other users.
    """
    contractions = (*first.contractions, *second.contractions)
    if not contractions or not (may_have_rows(first) and may_have_rows(second)):
        return None
    # With shared weights many pairs have a common operand: only those with rows are merged.
    axes = _axes((*first.block.ops, *second.block.ops))
    sizes = tuple(r.extent for r in axes.values())
    rest = [op for op in contractions if not (is_part_sum(op) and shape(op.result) == sizes)]
    if _all_names(rest, axes) is None:
        return None
    kernel = merged(first, second, kept)
    if kernel is not None and not _make_rows(kernel, axes):
        kernel.erase()
        return None
    return kernel


def fuse_sums(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """A row kernel of two whose contractions aggregate tensors of one shape over the same axes."""
    shapes = {shape(v) for op in (*first.contractions, *second.contractions) for v in op.inputs}
    if len(shapes) != 1:
        return None
    (sizes,) = shapes
    axes = {name: Range(0, n) for name, n in zip(_axis_names(len(sizes)), sizes, strict=True)}
    if _all_names((*first.contractions, *second.contractions), axes) is None:
        return None
    kernel = merged(first, second)
    if kernel is not None and not _make_rows(kernel, axes):
        kernel.erase()
        return None
    return kernel


def row_fusion_gain(first: KernelOp, second: KernelOp, kernel: KernelOp, machine: Machine) -> Gain:
    """Gain of the row kernel over the two."""
    return row_kernel_gain((first, second), kernel, machine)


def row_kernel_gain(members: Iterable[KernelOp], kernel: KernelOp, machine: Machine) -> Gain:
    """Gain of a row kernel over its members."""
    return merging(machine, members, kernel, _repeated_points(kernel))


def _repeated_points(kernel: KernelOp) -> int:
    """Number of points at which contractions repeat aggregates for other rows."""
    assert kernel.axes is not None
    axes = {name: r.extent for name, r in kernel.axes.ranges.items()}
    reduced, again = kernel.reduced, 0
    rows = prod(n for name, n in axes.items() if name not in reduced)
    for op in kernel.contractions:
        own = names_in(e for access in op.accesses for e in access.data)
        visited = rows * prod(axes[name] for name in own & reduced)
        again += visited - prod(axes[name] for name in own)
    return again


def may_have_rows(kernel: KernelOp) -> bool:
    """Whether a kernel may be part of a row kernel, as far as its contractions alone determine."""
    return kernel.axes is not None or all(
        is_part_sum(op) or _reads_at_axes(op) for op in kernel.contractions
    )


def _reads_at_axes(op: ContractionOp) -> bool:
    """Whether a contraction may be part of a row kernel: its indices are axes, or constants.

    Its tensors of as many axes as the kernel has, whatever their number, determine the axes.
    """
    places = [access.data for access in (op.output, *op.accesses)]
    if not all(len(e.names) <= 1 and e.denominator == 1 for place in places for e in place):
        return False
    if op.constraints.data or op.symbols or op.default is not None:
        return False
    ranks = set(map(len, places))
    return any(_names(op, _axis_names(rank)) is not None for rank in ranks)


def _all_names(
    contractions: Sequence[ContractionOp], axes: Mapping[str, Range]
) -> list[Mapping[str, IndexExpr]] | None:
    """Axes of each contraction's indices; None if no kernel can have them.

    All of them sum over the same axes, and over one at least.
    """
    found: list[Mapping[str, IndexExpr]] = []
    summed: set[frozenset[str]] = set()
    for op in contractions:
        if (names := _names(op, [*axes])) is None:
            return None
        found.append(names)
        read, written = (
            names_in(names[n] for access in accesses for e in access.data for n in e.names)
            for accesses in (op.accesses, (op.output,))
        )
        if reduced := frozenset(n for n in read - written if axes[n].extent > 1):
            summed.add(reduced)
    return found if len(summed) == 1 else None


def _make_rows(kernel: KernelOp, axes: Mapping[str, Range]) -> bool:
    """Give a kernel its axes, in place; return whether it is a row kernel."""
    add_parts(kernel, tuple(r.extent for r in axes.values()))
    if (all_names := _all_names(kernel.contractions, axes)) is None:
        return False
    for op, names in zip(kernel.contractions, all_names, strict=True):
        op.output = AccessAttr([e.substitute(names) for e in op.output.data])
        op.accesses = ArrayAttr(
            [AccessAttr([e.substitute(names) for e in a.data]) for a in op.accesses]
        )
        op.domain = None
    try:
        rows = Rows.of(kernel.block.ops, axes)
        check_results(rows, kernel.yield_op.values, kernel.reduced)
    except VerifyException:
        return False
    kernel.axes = DomainAttr(tuple(axes.items()))
    return True


def _axes(ops: Iterable[Operation]) -> dict[str, Range]:
    """Axes of the largest shape, named `d0`, `d1`, …, but for inputs that are read in parts."""
    values = ((*(() if _reads_parts(op) else op.operands), *op.results) for op in ops)
    shapes = [shape(v) for own in values for v in own]
    rank = max(map(len, shapes), default=0)
    sizes = [max(column) for column in zip(*(s for s in shapes if len(s) == rank), strict=True)]
    return {n: Range(0, size) for n, size in zip(_axis_names(rank), sizes, strict=True)}


def _reads_parts(op: Operation) -> bool:
    """Whether a contraction adds parts of an input, or reads one."""
    if not isinstance(op, ContractionOp):
        return False
    pairs = [
        pair
        for v, a in zip(op.inputs, op.accesses, strict=True)
        for pair in zip(a.data, shape(v), strict=True)
    ]
    return is_part_sum(op) or any(place_read(e, size) is not None for e, size in pairs)


def _axis_names(rank: int) -> list[str]:
    """Names of so many axes."""
    return [f"d{k}" for k in range(rank)]


def _names(op: ContractionOp, axes: Sequence[str]) -> dict[str, IndexExpr] | None:
    """Axes of a contraction's indices, each its own, as its largest tensors determine."""
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
    along = [e for e in found.values() if e.names]
    # Two indices along one axis would be its diagonal.
    is_clear = found.keys() >= set(op.index_names) and len(along) == len(set(along))
    return found if is_clear else None
