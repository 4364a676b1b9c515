"""Stencil fusion: contractions of few points join the kernel of their elementwise users, or of
other stencils.

So the difference of neighbours `X[r, c + 1] - X[r, c]` is one kernel, which reads `X` once. On CPUs
parts that are written side by side become one, too, and copies of copies: an image is padded by its
own elements along both axes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod

from xdsl.ir import BlockArgument, Operation, SSAValue, Use

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.base import size_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.dialects.tile.structure.small_stencils import (
    MOST_STENCIL_POINTS,
    inner_copies,
    inner_ops,
    read_elements,
    stencil_points,
    uses_of,
)
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr
from tiledialect.passes.fuse.fusion_cost import bytes_of, operations, traffic
from tiledialect.passes.fuse.kernel_merging import merged, merged_if, used_elsewhere
from tiledialect.schedule.cost.traffic import Gain, Machine, Traffic
from tiledialect.schedule.loops import SHORT_ROW
from tiledialect.schedule.output_box import leaves_unwritten


def fuse_stencils(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """A kernel of both, if all their contractions have few points, near their users' elements."""
    contractions = (*first.contractions, *second.contractions)
    if len(contractions) < 2 or {shape(v) for k in (first, second) for v in k.outputs} != {
        shape(first.outputs[0])
    }:
        return None
    if (
        not all(map(_is_plain, contractions))
        or sum(map(stencil_points, contractions)) > MOST_STENCIL_POINTS
    ):
        return None
    if not _are_elements(first, second) or _feeds_contraction(first, second):
        return None
    return merged(first, second)


def fuse_copies(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """The same for parts side by side, copies of copies, and reversed reads."""
    contractions = (*first.contractions, *second.contractions)
    if not _are_elements(first, second) or not all(map(stencil_points, contractions)):
        return None
    if any(_is_unfilled(v) for v in second.inputs if v.owner is not first):
        return None
    shapes = {shape(v) for v in (*second.outputs, *used_elsewhere(first, second))}
    if len(shapes) > 1 or not all(_reads_rows(op, near=True) for op in contractions):
        return None
    if _joint_reads(first, second) > MOST_STENCIL_POINTS:
        # Merging costs more than this number, and kernels of many copies have many producers.
        return None
    return merged_if(first, second, _is_kernel)


def _joint_reads(first: KernelOp, second: KernelOp) -> int:
    """Number of places in memory that one kernel of two would read for an element."""
    kept, end = {*used_elsewhere(first, second)}, first.yield_op
    made: dict[SSAValue, SSAValue] = dict(zip(first.outputs, end.values, strict=True))
    arguments: dict[SSAValue, list[BlockArgument]] = {}
    for argument, value in zip(second.block.args, second.inputs, strict=True):
        if value in made:
            arguments.setdefault(made[value], []).append(argument)

    def uses(value: SSAValue) -> Iterator[Use]:
        yield from (u for u in value.uses if u.operation is not end or end_keeps(u))
        for argument in arguments.get(value, ()):
            yield from argument.uses

    def end_keeps(use: Use) -> bool:
        return first.outputs[use.index] in kept

    inner = inner_ops([*(op for op in first.block.ops if op is not end), *second.block.ops], uses)
    found: dict[SSAValue, int] = {}
    for value, own in arguments.items():
        found.update(dict.fromkeys(own, read_elements(value, found)))
    outer = [op.result for k in (first, second) for op in k.contractions if op not in inner]
    return sum(read_elements(v, found) for v in _taken(outer, uses))


def _taken(
    values: Sequence[SSAValue], uses_of: Callable[[SSAValue], Iterable[Use]] = uses_of
) -> list[SSAValue]:
    """Values that other ops than contractions take."""
    return [
        v for v in values if any(not isinstance(u.operation, ContractionOp) for u in uses_of(v))
    ]


def fuse_concatenation(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """The same for results written in parts of one shape, which are computed side by side."""
    contractions = (*first.contractions, *second.contractions)
    # A part is written over the ones before.
    if all(op.default is None for op in contractions) or not _are_elements(first, second):
        return None
    return merged_if(first, second, _writes_parts)


def _writes_parts(kernel: KernelOp) -> bool:
    """Whether a kernel composes results of parts, and has few other points for each."""
    parts = [part for own in kernel.parts.values() for part in own]
    if not parts:
        return False
    written = {part.op for part in parts}
    taps = [op for op in kernel.contractions if op not in written]
    if not all(stencil_points(op) and _reads_rows(op, near=True) for op in taps):
        return False
    inner = inner_copies(taps)
    shapes = {shape(op.result) for op in taps if op not in inner}
    elements = [op for op in kernel.block.ops if isinstance(op, ElementwiseOp)]
    shapes |= {shape(v) for op in elements if not isinstance(op, ConstantOp) for v in op.results}
    return (
        shapes <= {shape(parts[0].value)}
        and sum(read_elements(op.result) for op in taps) <= MOST_STENCIL_POINTS
    )


def _is_unfilled(value: SSAValue) -> bool:
    """Whether a value has elements that only the kernel that takes it writes, in its place."""
    op = value.owner.contraction if isinstance(value.owner, KernelOp) else None
    return op is not None and op.default is None and leaves_unwritten(op.space(), ranges_of(op))


def _is_kernel(kernel: KernelOp) -> bool:
    """Whether all contractions of a kernel have few points, and elements of one shape."""
    found = kernel.contractions
    if kernel.contraction is not None or not found or not all(map(stencil_points, found)):
        return False
    inner = inner_ops([*kernel.block.ops])
    outer = [op.result for op in found if op not in inner]
    others = [
        op.res for op in kernel.block.ops if isinstance(op, ElementwiseOp) and op not in inner
    ]
    shapes = {shape(v) for v in (*outer, *others, *kernel.yield_op.values)}
    return len(shapes) == 1 and sum(map(read_elements, _taken(outer))) <= MOST_STENCIL_POINTS


def stencil_gain(first: KernelOp, second: KernelOp, kernel: KernelOp, machine: Machine) -> Gain:
    """Gain of the fused kernel over the two: neighbours that several points read are in a cache."""
    apart = (_traffic(k, machine) for k in (first, second))
    return machine.gain(apart, [traffic(machine, kernel)], _repeated(kernel))


def _repeated(kernel: KernelOp) -> float:
    """Number of operations for elements of functions that copies place in a larger tensor.

    They are computed for all elements of the tensor.
    """
    size = size_of(kernel.outputs[0])
    inner = [op for op in inner_ops([*kernel.block.ops]) if isinstance(op, ElementwiseOp)]
    return sum(operations([op]) * max(0, size - size_of(op.res)) for op in inner)


def _traffic(kernel: KernelOp, machine: Machine) -> Traffic:
    """Bytes that a kernel moves: of a partly overwritten result, that part alone."""
    op = kernel.contraction
    if op is None or op.default is None or not leaves_unwritten(op.space(), ranges_of(op)):
        return traffic(machine, kernel)
    points = prod(r.extent for r in ranges_of(op).values())
    part = points / size_of(op.result) * bytes_of(op.result)
    read = sum(min(part, bytes_of(v)) for v in op.inputs)
    return Traffic(part + read, machine.time(part + read), machine.groups)


def _are_elements(first: KernelOp, second: KernelOp) -> bool:
    """Whether kernels have contractions and elementwise ops alone."""
    kinds = (ElementwiseOp, ConstantOp, YieldOp, ContractionOp)
    return all(
        k.axes is None and all(isinstance(op, kinds) for op in k.block.ops) for k in (first, second)
    )


def _is_plain(op: ContractionOp) -> bool:
    """Whether a contraction reads memory, and writes all of its elements in order."""
    sizes = zip(op.output.data, shape(op.result), strict=True)
    forward = all((e.names and e.coefficient(e.names[0]) == 1) or n == 1 for e, n in sizes)
    in_memory = op.default is None and all(isinstance(v, BlockArgument) for v in op.inputs)
    return forward and in_memory and stencil_points(op) > 0 and _reads_rows(op)


def _reads_rows(op: ContractionOp, *, near: bool = False) -> bool:
    """Whether neighbours read neighbours: the last index is no other axis of an input, or wider.

    With ``near``, reads may also be reversed, or the next ones along the fastest axes.
    """
    names = op.output.data[-1].names if op.output.data else ()
    if near:
        fastest, others = _fastest(op), [n for e in op.output.data for n in e.names]
        pairs = zip(op.inputs, op.accesses, strict=True)
        strides = [_strides(v, access.data) for v, access in pairs]
        return not any(_is_transposed(found, fastest, others) for found in strides)
    return all(
        e.coefficient(n) == (k == len(access.data) - 1 and n in access.data[-1].names)
        for access in op.accesses
        for k, e in enumerate(access.data)
        for n in names
    )


def _fastest(op: ContractionOp) -> list[str]:
    """Indices along the last axis of a result, and along those before it if it is short."""
    found: list[str] = []
    for e, size in zip(reversed(op.output.data), reversed(shape(op.result)), strict=True):
        found += e.names
        if size >= SHORT_ROW:
            break
    return found


def _strides(value: SSAValue, access: Sequence[IndexExpr]) -> dict[str, int]:
    """Elements of memory by which a step of each index moves an access."""
    found: dict[str, int] = {}
    for k, e in enumerate(access):
        for n in e.names:
            step = int(e.coefficient(n)) * prod(shape(value)[k + 1 :])
            found[n] = found.get(n, 0) + step
    return found


def _is_transposed(
    strides: Mapping[str, int], fastest: Sequence[str], names: Sequence[str]
) -> bool:
    """Whether a step of a slower index of a result goes less far than one of the fastest."""
    slower = [abs(strides[n]) for n in names if n not in fastest and strides.get(n)]
    steps = [abs(strides[n]) for n in fastest if strides.get(n)]
    return bool(slower and steps) and min(slower) < max(steps)


def _feeds_contraction(first: KernelOp, second: KernelOp) -> bool:
    """Whether a contraction of the second kernel depends on the first one's results."""
    arguments = dict(zip(second.inputs, second.block.args, strict=True))
    pending: list[SSAValue] = [arguments[v] for v in first.outputs if v in arguments]
    users: set[Operation] = set()
    while pending:
        for use in pending.pop().uses:
            if use.operation not in users:
                users.add(use.operation)
                pending += use.operation.results
    return any(isinstance(op, ContractionOp) for op in users)
