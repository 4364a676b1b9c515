"""tile-block-layouts: tensors between kernels lie in blocks of the vectors that compute them.

The result `O[n, o, y, x]` of a convolution becomes `O[n, o/32, y, x, 32]`: a tile of registers, a
few pixels and two vectors of channels, writes whole lines, and the next convolution reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.disjoint_set import DisjointSet

from tiledialect.analysis.adjacent_parts import needless_copies
from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.discardable import STAGING
from tiledialect.dialects.tile.base import Shape
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.ir.names import given_name, keep_name
from tiledialect.ir.ops_in import ops_of, values_in
from tiledialect.passes.schedule.rewrites.block_classes import (
    Classes,
    blocked_axis,
    classes_of,
    constant_operands,
)
from tiledialect.passes.schedule.rewrites.blocked_axes import (
    BlockedKernel,
    Blocks,
    blockable,
)
from tiledialect.passes.schedule.rewrites.constants import known_values
from tiledialect.passes.schedule.rewrites.layout_copies import copied
from tiledialect.passes.schedule.tile_join_axes import TileJoinAxesPass
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.loops import GlobalStage
from tiledialect.schedule.search.choice import best_or_default

LAYOUT_GAIN = 0.985
"""Share of the estimated time from which on blocks are taken: 3 x 3 convolutions whose vectors
begin anywhere take 5 to 10 % longer than estimated, those in blocks do not (bench/notes)."""


@dataclass
class _Rewriting:
    """A function while its kernels are replaced by those for values in blocks."""

    blocks: Mapping[SSAValue, Blocks]
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Results of kernels, in blocks, by those that they replace."""
    before: list[Operation] = field(default_factory=list[Operation])
    """Views and copies of a kernel's operands."""

    def view(self, value: SSAValue, wanted: Shape) -> SSAValue:
        """A value in another shape."""
        value = self._made(value)
        if shape(value) == wanted:
            return value
        reshape = ReshapeOp.of(value, wanted)
        keep_name(reshape.result, value)
        self.before.append(reshape)
        return reshape.result

    def _made(self, value: SSAValue) -> SSAValue:
        """A value in blocks, maybe before reshapes; one that is not stays."""
        while value in self.blocks and isinstance(value.owner, ReshapeOp):
            value = value.owner.operand
        return self.made.get(value, value)

    def packed(self, value: SSAValue, wanted: Shape, order: Sequence[int]) -> SSAValue:
        """A constant with other axes, in another order."""
        name = f"{given_name(value) or 'constant'}_blocks"
        copy = copied(self.view(value, wanted), GlobalStage(0, tuple(order)), name)
        # It is no stage of a schedule.
        del copy.attributes[STAGING]
        self.before.append(copy)
        return copy.outputs[0]

    def replace(self, kernel: KernelOp, constants: Sequence[SSAValue]) -> bool:
        """Put a kernel for values in blocks before one; whether there are such values."""
        own = {v: self.blocks[v] for v in values_in(kernel.block) if v in self.blocks}
        if not own:
            return False
        self.before = []
        new = BlockedKernel(kernel, own, constants).made(self.view, self.packed)
        Rewriter.insert_op((*self.before, new), InsertPoint.before(kernel))
        for old, result in zip(kernel.outputs, new.outputs, strict=True):
            keep_name(result, old)
            if old in self.blocks:
                self.made[old] = result
                continue
            after = ReshapeOp.of(result, shape(old))
            Rewriter.insert_op(after, InsertPoint.before(kernel))
            old.replace_all_uses_with(after.result)
        return True


@dataclass(frozen=True)
class _Layouts:
    """Kernels of a function, and the blocks in which their values can lie."""

    function: func.FuncOp
    kernels: Sequence[KernelOp]
    """The kernels that depend on more than constants."""
    known: Collection[SSAValue]
    classes: Classes
    blocks: Mapping[SSAValue, Blocks]

    @staticmethod
    def of(function: func.FuncOp, constants: Sequence[str], device: Device) -> _Layouts | None:
        """The blocks of a function's values; None without any."""
        known = known_values(function, constants)
        kernels = _moving(function, known)
        axis = blocked_axis([k for k in kernels if blockable(k, known)], known)
        if axis is None:
            return None
        classes = classes_of(function, known, axis)
        return _Layouts(function, kernels, known, classes, classes.blocks(device))

    def rewrite(self, blocks: Mapping[SSAValue, Blocks]) -> None:
        """Let some of the values lie in blocks."""
        rewriting = _Rewriting(blocks)
        own = ((k, constant_operands(k, self.known)) for k in self.kernels)
        replaced = {kernel for kernel, constants in own if rewriting.replace(kernel, constants)}
        for op in reversed([*self.function.body.block.ops]):
            is_reshape = isinstance(op, ReshapeOp) and op.result in blocks
            if is_reshape or op in replaced:
                Rewriter.erase_op(op)

    def blocks_of(self, numbers: Collection[int]) -> dict[SSAValue, Blocks]:
        """Blocks of the values of some kernels, by their numbers."""
        found = set[SSAValue]().union(*(self._roots(self.kernels[k]) for k in numbers))
        return {v: own for v, own in self.blocks.items() if self.classes.joined.find(v) in found}

    def _roots(self, kernel: KernelOp) -> set[SSAValue]:
        """Classes of a kernel's values in blocks, by a value of each."""
        return {self.classes.joined.find(v) for v in values_in(kernel.block) if v in self.blocks}

    @property
    def connected(self) -> Collection[Sequence[int]]:
        """Numbers of kernels, together where they have values in blocks of the same class."""
        together = DisjointSet(range(len(self.kernels)))
        first: dict[SSAValue, int] = {}
        for number, kernel in enumerate(self.kernels):
            for root in self._roots(kernel):
                together.union(number, first.setdefault(root, number))
        found: dict[int, list[int]] = {}
        for number in range(len(self.kernels)):
            found.setdefault(together.find(number), []).append(number)
        return found.values()


def gaining(
    connected: Iterable[Sequence[int]], plain: Sequence[float], blocked: Sequence[float]
) -> set[int]:
    """Numbers of the kernels for which blocks are taken, by the seconds of each without and with.

    Connected kernels take less time with blocks: clearly, or all such kernels do together.
    """

    def are_faster(numbers: Iterable[int], share: float) -> bool:
        before, after = (sum(seconds[k] for k in numbers) for seconds in (plain, blocked))
        return after < share * before

    faster = [numbers for numbers in connected if are_faster(numbers, 1.0)]
    everything = {k for numbers in faster for k in numbers}
    if are_faster(everything, LAYOUT_GAIN):
        return everything
    return {k for numbers in faster if are_faster(numbers, LAYOUT_GAIN) for k in numbers}


def _moving(function: func.FuncOp, known: Collection[SSAValue]) -> list[KernelOp]:
    """Kernels of a function that depend on more than constants."""
    kernels = (op for op in function.body.block.ops if isinstance(op, KernelOp))
    return [kernel for kernel in kernels if not any(v in known for v in kernel.outputs)]


def _in_blocks(module: ModuleOp, constants: Sequence[str], device: Device) -> ModuleOp:
    """Copy of a module all of whose values lie in blocks that can."""
    copy = module.clone()
    for function in ops_of(copy, func.FuncOp):
        layouts = _Layouts.of(function, constants, device)
        if layouts is not None:
            layouts.rewrite(layouts.blocks)
    return copy


def _seconds(module: ModuleOp, constants: Sequence[str], device: Device) -> list[list[float]]:
    """Estimates of each function's kernels that depend on more than constants, by their best
    schedules; 0 of those that have one, or copy results that may lie in place."""
    joined = module.clone()
    TileJoinAxesPass().apply(Context(), joined)
    needless = {k for f in ops_of(joined, func.FuncOp) for k in needless_copies(f)}

    def seconds(kernel: KernelOp) -> float:
        if kernel.schedule is not None or kernel in needless:
            return 0.0
        return best_or_default(kernel_facts(kernel, device), device).estimate.seconds

    functions = [(f, known_values(f, constants)) for f in ops_of(joined, func.FuncOp)]
    return [[seconds(kernel) for kernel in _moving(f, known)] for f, known in functions]


@dataclass(frozen=True)
class TileBlockLayoutsPass(ModulePass):
    """Lets tensors between kernels lie in blocks of two vectors, or of one, on CPUs.

    A convolution whose weights are constant has vectors along its channels. Its result
    `O[n, o, y, x]` is then `O[n, o/32, y, x, 32]`, so that they are stored as they are. Tensors
    that elementwise ops combine with it have the same layout, weights lie in the order in which
    they are read, and later kernels read blocks; so do concatenations and slices of whole blocks,
    groups of channels that are whole blocks, rows of each channel, and reshapes of the axes behind
    them. Tensors that are given or returned
    stay, and so do those that other ops take. The cost model weighs the best schedules of kernels
    that tensors in blocks connect, with and without it.
    """

    name = "tile-block-layouts"

    constants: tuple[str, ...] = ()
    """Names of arguments that seldom change."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Let tensors lie in blocks, where that is estimated to be faster."""
        device = device_of(op)
        if device is None or not device.traits.has_vectors:
            return
        layouts = [_Layouts.of(f, self.constants, device) for f in ops_of(op, func.FuncOp)]
        if not any(own is not None and own.blocks for own in layouts):
            return
        blocked = _in_blocks(op, self.constants, device)
        plain, others = (_seconds(m, self.constants, device) for m in (op, blocked))
        for own, before, after in zip(layouts, plain, others, strict=True):
            if own is not None:
                own.rewrite(own.blocks_of(gaining(own.connected, before, after)))
