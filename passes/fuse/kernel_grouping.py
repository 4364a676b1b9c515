"""Groups of ops that become kernels, and these kernels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.base import Shape, TileOp, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import CastOp, ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import ReshapeOp, ScatterOp, before_reshapes
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.ir.names import given_name, keep_name
from tiledialect.ir.ops_in import outer_operands
from tiledialect.passes.fuse.kernel_merging import MAX_ARGUMENTS, sort_topologically
from tiledialect.passes.specialize.tile_narrow_operands import is_widened
from tiledialect.schedule.output_box import leaves_unwritten


@dataclass(eq=False)
class KernelGroup:
    """Ops that will be one kernel: at most one contraction, and ops on its result's elements."""

    number: int
    shape: Shape
    ops: list[Operation] = field(default_factory=list[Operation])
    needs: set[KernelGroup] = field(default_factory=set["KernelGroup"])
    """Groups that produce operands of this one."""
    users: set[KernelGroup] = field(default_factory=set["KernelGroup"])
    """Groups that need this one."""
    open: bool = True
    """Whether elementwise ops may join."""
    contracts: bool = False
    """Whether there is a contraction, a scan or a scatter."""
    read: set[SSAValue] = field(default_factory=set[SSAValue])
    """Values from outside that the ops take."""
    made: set[SSAValue] = field(default_factory=set[SSAValue])
    """Results that ops outside take, or that later ones may."""

    def need(self, groups: set[KernelGroup]) -> None:
        """Take operands from other groups."""
        self.needs |= groups
        for group in groups:
            group.users.add(self)

    def has_room(self, read: set[SSAValue], made: int) -> bool:
        """Whether the kernel has room for these outer values, and for so many results."""
        return len(self.read | read) + len(self.made) + made <= MAX_ARGUMENTS


class Grouping:
    """Groups of a function, in an order in which they can run."""

    def __init__(self, block: Block, apart: Collection[str] = ()):
        self.apart = apart
        """Names of results that no later op may join."""
        self.copied = {op for op in block.ops if _is_copied(op, apart)}
        """Ops that are repeated in each kernel that takes their results."""
        self.group_of: dict[SSAValue, KernelGroup] = {}
        self.groups: list[KernelGroup] = []
        for op in block.ops:
            if op in self.copied:
                continue
            if isinstance(op, TileOp) and not isinstance(op, ReshapeOp):
                self._place(op)
            else:
                self._pass(op)

    def _pass(self, op: Operation) -> None:
        """Keep the place of an op that belongs to no kernel.

        A reshape is its operand under another type; a pattern is a kernel of its own.
        """
        if makers := {self.group_of[v] for v in outer_operands(op) if v in self.group_of}:
            group = KernelGroup(len(self.groups), (), open=False)
            group.need(makers)
            self.groups.append(group)
            self.group_of.update((result, group) for result in op.results)

    def _place(self, op: TileOp) -> None:
        (result,) = op.results
        makers = {self.group_of[v] for v in op.operands if v in self.group_of}
        group = None
        if isinstance(op, ElementwiseOp):
            group = self._join(op, makers)
        if group is None:
            shape = shape_of(tensor_type(result)) or ()
            # The sums of a scatter are complete after all reads.
            is_open = _writes_everything(op) and not isinstance(op, ScatterOp)
            group = KernelGroup(len(self.groups), shape, open=is_open)
            group.contracts = isinstance(op, ContractionOp | ScanOp | ScatterOp)
            self.groups.append(group)
        self.group_of[result] = group
        group.ops.append(op)
        group.made.add(result)
        if given_name(result) in self.apart:
            group.open = False
        group.read |= self._read_by(op, group)
        group.need({self.group_of[v] for v in group.read if v in self.group_of})
        group.made -= {v for v in op.operands if self._is_inner(v, group)}

    def _read_by(self, op: Operation, group: KernelGroup) -> set[SSAValue]:
        """Values that a kernel of ``group`` takes from memory for ``op``."""
        operands = [v for v in op.operands if v.owner not in self.copied]
        behind = (v.owner for v in op.operands if v.owner in self.copied)
        operands += [v for copied in behind if isinstance(copied, CastOp) for v in copied.operands]
        return {v for v in operands if self.group_of.get(v) is not group}

    def _is_inner(self, value: SSAValue, group: KernelGroup) -> bool:
        """Whether only ops of ``group`` take a value of it."""
        return self.group_of.get(value) is group and all(
            use.operation.results and self.group_of.get(use.operation.results[0]) is group
            for use in value.uses
        )

    def _join(self, op: ElementwiseOp, makers: set[KernelGroup]) -> KernelGroup | None:
        """The last group that produces an operand, if ``op`` can be part of it.

        Groups are numbered in running order, so that one of the others can be merged into it if
        everything else that needs it comes later.
        """
        (result,) = op.results
        shape = shape_of(tensor_type(result)) or ()
        target = max(makers, key=lambda g: g.number, default=None)
        if target is None or not target.open or target.shape != shape:
            return None
        if not target.has_room(self._read_by(op, target), 1):
            return None
        for group in makers - {target}:
            if group.open and group.shape == shape:
                self._merge(group, target)
        return target

    def _merge(self, group: KernelGroup, target: KernelGroup) -> None:
        if group in target.needs:
            # An op of the target reads elements of other places, so they must be in memory.
            return
        if any(g.number < target.number for g in group.users):
            return
        if group.contracts and target.contracts:
            return
        if not target.has_room(group.read, len(group.made) + 1):
            return
        target.ops += group.ops
        target.made |= group.made
        target.contracts |= group.contracts
        target.need(group.needs - {target})
        for maker in group.needs:
            maker.users.discard(group)
        for op in group.ops:
            self.group_of[op.results[0]] = target
        target.read = {v for v in target.read | group.read if self.group_of.get(v) is not target}
        target.made = {v for v in target.made if not self._is_inner(v, target)}
        for user in group.users:
            user.needs.discard(group)
            user.need({target})
        group.ops, group.open, group.needs, group.users = [], False, set(), set()


def _is_copied(op: Operation, apart: Collection[str] = ()) -> bool:
    """Whether an op is repeated in each kernel that takes its result: it computes nothing.

    Such are constants, and casts of arguments of 16 bits to f32.
    """
    if not isinstance(op, CastOp):
        return isinstance(op, ConstantOp)
    return (
        is_widened(op.result)
        and isinstance(before_reshapes(op.operand), BlockArgument)
        and given_name(op.result) not in apart
        and all(map(_is_loaded, op.result.uses))
    )


def _is_loaded(use: Use) -> bool:
    """Whether a use takes elements: defaults of contractions are in memory."""
    op = use.operation
    is_operand = isinstance(op, ContractionOp) and use.index < len(op.inputs)
    return is_operand or isinstance(op, ElementwiseOp)


def _writes_everything(op: Operation) -> bool:
    """Whether a kernel of ``op`` writes every element of its result."""
    return not isinstance(op, ContractionOp) or not leaves_unwritten(op.space(), ranges_of(op))


def group_into_kernels(block: Block, apart: Collection[str]) -> None:
    """Move the tile ops of a block into kernels; no later op joins results named ``apart``."""
    grouping = Grouping(block, apart)
    order = {op: k for k, op in enumerate(block.ops)}
    for group in grouping.groups:
        if group.ops:
            make_kernel(sorted(group.ops, key=order.__getitem__), grouping.copied)
    for op in reversed(list(block.ops)):
        if op in grouping.copied and not op.results[0].uses:
            Rewriter.erase_op(op)
    sort_topologically(block)


def make_kernel(ops: Sequence[Operation], copied: Collection[Operation] = ()) -> None:
    """Move ops of a block into a kernel, with copies of some others whose results they take."""
    taken = dict.fromkeys(v.owner for op in ops for v in op.operands)
    copies = {op: op.clone() for op in taken if isinstance(op, Operation) and op in copied}
    own = dict.fromkeys([*copies.values(), *ops])
    for op in ops:
        given = [copies.get(v.owner) for v in op.operands]  # pyright: ignore[reportArgumentType]
        op.operands = [
            v if copy is None else copy.results[0]
            for v, copy in zip(op.operands, given, strict=True)
        ]
    inside = {result for op in own for result in op.results}
    inputs = [*dict.fromkeys(v for op in own for v in op.operands if v not in inside)]
    outputs = [
        r for op in own for r in op.results if any(use.operation not in own for use in r.uses)
    ]
    if not outputs:
        for op in reversed(ops):
            Rewriter.erase_op(op)
        return
    body, place = Block(arg_types=[v.type for v in inputs]), InsertPoint.after(ops[-1])
    for op in ops:
        op.detach()
    body.add_ops([*own, YieldOp(outputs)])
    kernel = KernelOp(inputs, body, like=ops[-1])
    Rewriter.insert_op(kernel, place)
    for output, result in zip(outputs, kernel.outputs, strict=True):
        keep_name(result, output)
        output.replace_uses_with_if(result, lambda use: use.operation.parent is not body)
    for old, new in zip(inputs, body.args, strict=True):
        keep_name(new, old)
        old.replace_uses_with_if(new, lambda use: use.operation in own)
