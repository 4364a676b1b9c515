"""tile-join-axes: kernels over short axes of tensors run over several of them as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from tiledialect.analysis.collapsed_axes import CollapsedAxes, collapsible_axes
from tiledialect.dialects.tile.attributes import DomainAttr
from tiledialect.dialects.tile.base import make_type, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import (
    named_kernels,
    parse_schedule_text,
    read_schedules,
)
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import names_in, shape
from tiledialect.errors import TileError
from tiledialect.ir.names import keep_name, with_type
from tiledialect.ir.ops_in import values_in
from tiledialect.passes.schedule.rewrites.collapsed_reads import collapse_reads
from tiledialect.passes.views.concatenation import completing_kernels
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.search.candidates.levels import ACCESS

MIN_ROW_VECTORS = 8
"""Number of vectors of a row below which its remainder and the loop's start cost too much."""
MIN_AXIS_ON_GPU = 8
"""Minimum size of an axis for a tile of a work-item on a GPU."""
MIN_ROW_ON_GPU = 128
"""Minimum size of a product's rows for a tile of a work-group."""


def joined(kernel: KernelOp, found: CollapsedAxes) -> KernelOp | None:
    """The kernel with two axes as one, not in the block yet; None if that is invalid."""
    body = kernel.body.clone()
    made = dict(zip(values_in(kernel.block), values_in(body.block), strict=True))
    collapsed = replace(found, dropped={made[v]: k for v, k in found.dropped.items() if v in made})
    for op in body.block.ops:
        if isinstance(op, ContractionOp):
            _join(op, collapsed)
    for value, axis in collapsed.dropped.items():
        if axis is not None:
            t = make_type(collapsed.shape(value), tensor_type(value).element_type)
            with_type(value, t)
    inputs = [
        ReshapeOp.of(v, shape(a)).result if a.type != v.type else v
        for v, a in zip(kernel.inputs, body.block.args, strict=True)
    ]
    new = KernelOp(inputs, body, like=kernel)
    new.attributes = dict(kernel.attributes)
    new.sym_name = kernel.sym_name
    if kernel.axes is not None:
        new.axes = DomainAttr(tuple(collapsed.ranges.items()))
    try:
        new.verify()
    except VerifyException:
        _erase(new)
        return None
    return new


def _erase(kernel: KernelOp) -> None:
    """Erase a kernel that is in no block, and the reshapes that were made for it."""
    made = [v.owner for v in kernel.inputs if isinstance(v.owner, ReshapeOp) and not v.owner.parent]
    kernel.erase()
    for reshape in made:
        Rewriter.erase_op(reshape)


def _join(op: ContractionOp, collapsed: CollapsedAxes) -> None:
    """Let a contraction run over the joined axis, in place."""
    before = op.domain.ranges if op.domain is not None else {}
    places = zip(op.inputs, op.accesses, strict=True)
    op.accesses = ArrayAttr([collapsed.access(v, a) for v, a in places])
    op.output = collapsed.access(op.result, op.output)
    if op.domain is not None:
        ranges = {**before, **collapsed.ranges}
        op.domain = DomainAttr(tuple((name, ranges[name]) for name in op.index_names))


def replace_kernel(new: KernelOp, kernel: KernelOp) -> None:
    """Replace a kernel by one of fewer axes, with reshapes around it."""
    before = [v.owner for v in new.inputs if isinstance(v.owner, ReshapeOp) and not v.owner.parent]
    after: list[Operation] = []
    results: list[SSAValue] = []
    for old, result in zip(kernel.outputs, new.outputs, strict=True):
        keep_name(result, old)
        if old.type != result.type:
            after.append(ReshapeOp.of(result, shape(old)))
            result = after[-1].results[0]
        results.append(result)
    for reshape in before:
        keep_name(reshape.result, reshape.operand)
    Rewriter.replace_op(kernel, [*before, new, *after], results)


@dataclass(frozen=True)
class TileJoinAxesPass(ModulePass):
    """Lets kernels run over two axes as one, where the second one is short.

    Images whose channels come before their rows, say, then have rows of height * width elements,
    which fill vectors. On GPUs axes of kernels of elementwise ops alone are joined where wide
    accesses do not divide rows: all but the last one of a tensor are wide then; in row kernels the
    axes that are summed over are joined, of which work-items have equal parts. On CPUs the last two
    axes of a row kernel, or of a kernel of elementwise ops alone, are joined, where all tensors
    have both, next to one another, or none of them. So are two indices of a contraction, both
    summed over or neither, wherever they stand: those of `A[a, b, c, d] * B[c, d, e]` are `ab`,
    `cd` and `e`, and a convolution by one point at a time is a product of matrices, as its
    gradients are. Reshapes, which cost nothing, stand around the kernel then. On CPUs a product
    also reads the last axes of a factor as one where they are whole indices, all summed over or
    none, though its loops stay as they are: `K[f, c, j, i]` as `K[f, 9*c + 3*j + i]`, whose copies
    have long rows, and a diagonal `X[i, i]` that goes along an axis of the result is `X[(N +
    1)*i]`. On GPUs indices of a contraction become one where the second fills no tile, or where one
    tensor is summed over both. Kernels that write parts of a result side by side have the same axes
    joined, or none. Kernels that get a schedule over the original axes stay.
    """

    name = "tile-join-axes"

    schedules: tuple[str, ...] = ()
    """Schedules that kernels get, by the names of their results."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Join the axes of every kernel."""
        device = device_of(op)
        if device is None:
            return
        given = {n: text for texts in self.schedules for n, text in read_schedules(texts).items()}
        names = {kernel: name for name, kernel in named_kernels(op).items()}
        texts = {kernel: given[name] for kernel, name in names.items() if name in given}
        done: set[KernelOp] = set()
        for kernel in names:
            parts = completing_kernels(kernel)
            if done.isdisjoint(parts) and all(part.schedule is None for part in parts):
                self._join(parts, device, [texts.get(part) for part in parts])
            done.update(parts)
        if device.traits.has_vectors:
            for name, kernel in named_kernels(op).items():
                if kernel.schedule is None:
                    collapse_reads(kernel, _ordered(given.get(name), kernel))

    def _join(
        self, kernels: Sequence[KernelOp], device: Device, given: Sequence[str | None]
    ) -> None:
        """Join the same axes of all kernels that write parts of a result."""
        # Each round removes an axis.
        for _ in kernels[0].indices:
            new: list[KernelOp] = []
            for kernel, text in zip(kernels, given, strict=True):
                found = collapsible_axes(kernel, _least(kernel, device))
                is_given = found and text is not None and _runs_over_more(text, kernel, found)
                made = joined(kernel, found) if found and not is_given else None
                new += [] if made is None else [made]
            if len(new) < len(kernels) or len({tuple(k.result_types) for k in new}) > 1:
                for made in new:
                    _erase(made)
                return
            for kernel, made in zip(kernels, new, strict=True):
                replace_kernel(made, kernel)
            kernels = new


def _least(kernel: KernelOp, device: Device) -> Callable[[str], int]:
    """Minimum size of a second axis that stays separate."""
    op = kernel.contraction
    if device.traits.has_vectors or op is None:
        least = _least_row(kernel, device)
        return lambda _: least
    is_product = len(op.inputs) > 1
    row = MIN_ROW_ON_GPU if is_product else device.sub_group_size
    fastest = op.output.data[-1].names if op.output.data else ()
    summed = frozenset() if is_product else frozenset(op.index_names) - names_in(op.output.data)
    whole = max((r.range.extent for r in kernel.indices), default=0) + 1
    least = {**dict.fromkeys(fastest, row), **dict.fromkeys(summed, whole)}
    return lambda name: least.get(name, MIN_AXIS_ON_GPU)


def _least_row(kernel: KernelOp, device: Device) -> int:
    """The same for rows, or without contractions: rows of a few vectors stay, and where lanes are
    work-items those that wide accesses divide.

    Summed axes of rows are one axis there, of which work-items have equal parts.
    """
    if device.traits.has_vectors:
        return MIN_ROW_VECTORS * device.native_vector_width
    if kernel.axes is not None:
        last = [*kernel.axes.ranges][-1]
        return kernel.axes.ranges[last].extent + 1 if last in kernel.reduced else 0
    if kernel.contractions:
        return 0
    row = kernel.indices[-1].range.extent if kernel.indices else 0
    widest = max(element_bytes(tensor_type(v).element_type) for v in kernel.outputs)
    return row + 1 if row * widest % ACCESS else 0


def _ordered(text: str | None, kernel: KernelOp) -> frozenset[int]:
    """Inputs of a kernel whose original axes a given schedule orders."""
    try:
        stages = parse_schedule_text(text, kernel).stages if text is not None else ()
    except TileError:
        return frozenset()
    ranks = [len(shape(value)) for value in kernel.values]
    return frozenset(s.operand for s in stages if s.order and len(s.order) == ranks[s.operand])


def _runs_over_more(text: str, kernel: KernelOp, found: CollapsedAxes) -> bool:
    """Whether a schedule has loops over axes that would be gone, or is invalid."""
    try:
        levels = parse_schedule_text(text, kernel).levels
    except TileError:
        return True
    return not {level.index for level in levels} <= found.ranges.keys()
