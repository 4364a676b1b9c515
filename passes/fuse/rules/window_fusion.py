"""Window fusion: row kernels of kernels that read or write a tensor in disjoint windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.tile.base import Shape
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.ir.names import keep_name
from tiledialect.passes.fuse.rules.axis_splitting import (
    AxisSplits,
    ValueSplits,
    WindowAxes,
    split_axes,
    splits_like,
    window_axes,
)
from tiledialect.passes.fuse.rules.producer_inlining import is_elementwise
from tiledialect.passes.fuse.rules.row_kernels import fuse_rows


@dataclass
class WindowKernel:
    """A row kernel of several kernels, not in the block yet."""

    members: Sequence[KernelOp]
    """The kernels, in the order in which they run."""
    kernel: KernelOp
    results: Sequence[SSAValue]
    """Results of the kernels that others take, in the order of the row kernel's results."""
    before: Sequence[ReshapeOp]
    """Reshapes of the row kernel's operands."""

    def put(self) -> None:
        """Insert the row kernel in the place of the last kernel, with reshapes around it."""
        last = self.members[-1]
        views = [v for old in self.results for v in _views(old)]
        after: list[Operation] = []
        for old, new in zip(self.results, self.kernel.outputs, strict=True):
            keep_name(new, old)
            result = new
            if old.type != new.type:
                after.append(ReshapeOp.of(new, shape(old)))
                result = after[-1].results[0]
                keep_name(result, old)
            old.replace_uses_with_if(result, lambda use: use.operation not in self.members)
        for view in views:
            view.detach()
        ops = (*self.before, self.kernel, *after, *views)
        Rewriter.insert_op(ops, InsertPoint.before(last))
        for member in reversed(self.members):
            Rewriter.erase_op(member)

    def erase(self) -> None:
        """Discard the row kernel."""
        self.kernel.erase()
        for view in self.before:
            view.erase()


def _views(value: SSAValue) -> list[ReshapeOp]:
    """Reshapes of a value, and of these, in order."""
    own = [use.operation for use in value.uses]
    found = [op for op in own if isinstance(op, ReshapeOp) and op.parent is not None]
    return [view for op in found for view in (op, *_views(op.result))]


def has_windows(kernel: KernelOp) -> bool:
    """Whether a kernel's contraction reads or writes in disjoint windows."""
    return kernel.contraction is not None and window_axes(kernel) is not None


def fuse_windows(members: Sequence[KernelOp]) -> WindowKernel | None:
    """A row kernel of kernels that share windows, in the order in which they run, if any."""
    building = _WindowKernelBuilder(members)
    if (splits := _splits(members)) is None or not all(map(building.add, members, splits)):
        building.erase()
        return None
    assert building.kernel is not None
    return WindowKernel(members, building.kernel, building.results, [*building.views.values()])


def _splits(members: Sequence[KernelOp]) -> list[tuple[ValueSplits, WindowAxes | None]] | None:
    """Splits of the values of each kernel, as the windows of their contractions determine."""
    found = {k: window_axes(k) for k in members if k.contraction is not None}
    known: dict[SSAValue, AxisSplits] = {}
    for kernel, axes in found.items():
        if axes is None:
            return None
        pairs = (*zip(kernel.inputs, kernel.block.args, strict=True), *_results(kernel))
        known |= {outer: axes.parts[inner] for outer, inner in pairs if inner in axes.parts}
    splits: list[tuple[ValueSplits, WindowAxes | None]] = []
    for kernel in members:
        axes = found.get(kernel)
        parts = axes.parts if axes is not None else _like(kernel, known)
        if parts is None:
            return None
        splits.append((parts, axes))
    return splits


def _results(kernel: KernelOp) -> list[tuple[SSAValue, SSAValue]]:
    """Pairs of a kernel's results, outside and in it."""
    return [*zip(kernel.outputs, kernel.yield_op.values, strict=True)]


def _like(kernel: KernelOp, known: Mapping[SSAValue, AxisSplits]) -> ValueSplits | None:
    """Splits of the values of an elementwise kernel, given those of other kernels' values."""
    if not is_elementwise(kernel):
        return None
    pairs = (*_results(kernel), *zip(kernel.inputs, kernel.block.args, strict=True))
    found = (splits_like(kernel, inner, known[outer]) for outer, inner in pairs if outer in known)
    return next((parts for parts in found if parts is not None), None)


@dataclass
class _WindowKernelBuilder:
    """A row kernel while kernels join it, one after the other."""

    members: Sequence[KernelOp]
    kernel: KernelOp | None = None
    results: list[SSAValue] = field(default_factory=list[SSAValue])
    """Values of the block for the results."""
    views: dict[tuple[SSAValue, Shape], ReshapeOp] = field(
        default_factory=dict[tuple[SSAValue, Shape], ReshapeOp]
    )
    """Reshapes of its operands."""
    joined: list[KernelOp] = field(default_factory=list[KernelOp])

    def add(self, member: KernelOp, how: tuple[ValueSplits, WindowAxes | None]) -> bool:
        """Let a kernel join; whether it can."""
        parts, axes = how
        new = split_axes(member, parts, axes, self._view)
        self.joined.append(member)
        if new is None:
            return False
        if self.kernel is None:
            self.kernel, self.results = new, [*member.outputs]
            return True
        pairs = zip(self.results, self.kernel.outputs, strict=True)
        kept = [(old, made) for old, made in pairs if not _users(old) <= {*self.joined}]
        both = fuse_rows(self.kernel, new, [made for _, made in kept])
        new.erase()
        if both is None:
            return False
        self.kernel.erase()
        self.kernel, self.results = both, [*(old for old, _ in kept), *member.outputs]
        return True

    def _view(self, value: SSAValue, shape_: Shape) -> SSAValue:
        """A kernel's operand in this shape, or the joined kernels' value of it."""
        if self.kernel is not None and value in self.results:
            return self.kernel.outputs[self.results.index(value)]
        if shape(value) == shape_:
            return value
        view = self.views.get((value, shape_))
        if view is None:
            view = self.views[value, shape_] = ReshapeOp.of(value, shape_)
            keep_name(view.result, value)
        return view.result

    def erase(self) -> None:
        """Restore the block."""
        if self.kernel is not None:
            self.kernel.erase()
        for view in self.views.values():
            view.erase()


def _users(value: SSAValue) -> set[Operation]:
    """Users of a value in the block."""
    return {use.operation for use in value.uses if use.operation.parent is not None}


def _users_behind_views(value: SSAValue) -> set[Operation]:
    """Users of a value in the block, directly or through reshapes."""
    views = _views(value)
    users = {op for v in (value, *(view.result for view in views)) for op in _users(v)}
    return users - {*views}


def may_join(members: Sequence[KernelOp], order: Mapping[Operation, int]) -> bool:
    """Whether other users of some kernels' results come after the last of these."""
    users = {op for k in members for v in k.outputs for op in _users_behind_views(v)} - {*members}
    last = max(order[k] for k in members)
    return all(order.get(op, -1) > last for op in users)
