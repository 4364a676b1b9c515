"""tile-block-constants: contractions read constants in blocks of the vectors that they compute.

A weight `K[o, c, j, i]` becomes `K[o/32, c, j, i, 32]`: a register tile of a CPU, two vectors of
`o`, reads it from one end to the other. So does `K[c, o]`, whose rows are pages apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.discardable import STAGING
from tiledialect.dialects.tile.attributes import AccessAttr
from tiledialect.dialects.tile.base import Shape, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import named_kernels
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.names import keep_name
from tiledialect.ir.ops_in import ops_of, values_in
from tiledialect.passes.fuse.rules.axis_splitting import (
    AxisSplits,
    WindowAxes,
    divisible_contraction,
    split_axes,
)
from tiledialect.passes.schedule.rewrites.constants import known_values
from tiledialect.passes.schedule.rewrites.layout_copies import read_copy
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.loops import GlobalStage
from tiledialect.schedule.search.choice import COPY_GAIN, best_or_default

BLOCK_VECTORS = 2, 4
"""Vectors of a block: so many have the register tiles of a contraction along its lanes."""
READS = 8, 1024
"""Fewest and most reads of an element of an operand for blocks to matter: fewer are no tile's, and
more repay any order of its axes within a call."""


@dataclass(frozen=True)
class Blocked:
    """An operand of a kernel's contraction, and the index along which it is read in blocks."""

    kernel: KernelOp
    op: ContractionOp
    number: int
    """Number of the operand of the contraction."""
    index: str
    axis: int
    """Axis of the operand along which the index moves."""
    size: int
    """Elements of a block."""

    @staticmethod
    def all(kernel: KernelOp, value: SSAValue, device: Device) -> Iterator[Blocked]:
        """The blocks in which an operand of a kernel may be read; none if it need not."""
        op = divisible_contraction(kernel)
        if op is None or op.domain is None:
            return
        inner = [a for a, v in zip(kernel.block.args, kernel.inputs, strict=True) if v is value]
        uses = [use for argument in inner for use in argument.uses]
        if len(uses) != 1 or uses[0].operation is not op:
            return
        least, most = (n * prod(shape(value)) for n in READS)
        if not least <= prod(r.extent for r in op.domain.ranges.values()) <= most:
            return
        t = tensor_type(value).element_type
        lanes = device.lanes(str(t), element_bytes(t))
        number = uses[0].index
        for vectors in BLOCK_VECTORS:
            found = (
                Blocked(kernel, op, number, *o, vectors * lanes) for o in _whole_axes(op, number)
            )
            yield from [b for b in found if b.is_split][:1]

    @property
    def is_split(self) -> bool:
        """Whether the axis consists of several whole blocks."""
        extent = shape(self.op.inputs[self.number])[self.axis]
        return extent > self.size and extent % self.size == 0

    @property
    def outer(self) -> str:
        """Name of the index of the block."""
        name = f"{self.index}_block"
        while name in self.op.index_names:
            name += "_"
        return name

    def made(self, name: str) -> Made | None:
        """The kernel that reads the operand in blocks, none of it in the block yet."""
        parts = self._parts()
        if parts is None:
            return None
        clone = self.kernel.clone()
        values = dict(zip(values_in(self.kernel.block), values_in(clone.block), strict=True))
        views: list[ReshapeOp] = []

        def view(value: SSAValue, wanted: Shape) -> SSAValue:
            if shape(value) == wanted:
                return value
            views.append(ReshapeOp.of(value, wanted))
            keep_name(views[-1].result, value)
            return views[-1].result

        inner = {values[v]: split for v, split in parts.items()}
        kernel = split_axes(clone, inner, self._axes(clone, inner), view)
        clone.erase()
        if kernel is None:
            for op in views:
                op.erase()
            return None
        op = kernel.contraction
        assert op is not None
        argument = op.inputs[self.number]
        assert isinstance(argument, BlockArgument)
        kernel.sym_name = self.kernel.sym_name
        copy = read_copy(kernel, GlobalStage(argument.index, self._order), name)
        # It is no stage of a schedule.
        del copy.attributes[STAGING]
        return Made(kernel, copy, views)

    @property
    def _order(self) -> tuple[int, ...]:
        """The operand's axes, one of them split: a block lies side by side, its elements last."""
        access = self.op.accesses.data[self.number].data
        written = {name for e in self.op.output.data for name in e.names}
        summed = (k for k, e in enumerate(access) if not written.issuperset(e.names))
        at = min(self.axis, next(summed, self.axis))
        others = [k for k in range(len(access) + 1) if k not in (self.axis, self.axis + 1)]
        return (*others[:at], self.axis, *others[at:], self.axis + 1)

    def _parts(self) -> Mapping[SSAValue, AxisSplits] | None:
        """Splits of the kernel's values; None where the contraction and an op on its result read
        a tensor."""
        at = self.op.output.data.index(IndexExpr.of(self.index)) - len(shape(self.op.result))
        found: dict[SSAValue, AxisSplits] = {}
        for v in values_in(self.kernel.block):
            sizes = shape(v)
            if isinstance(v.owner, ConstantOp):
                continue
            uses = {use.operation for use in v.uses}
            if self.op in uses and len(uses) > 1:
                return None
            axis = at + len(sizes)
            if self.op in uses:
                axis = self.axis if v is self.op.inputs[self.number] else -1
            found[v] = tuple(
                self._split(size) if k == axis else (size,) for k, size in enumerate(sizes)
            )
        return found

    def _split(self, size: int) -> Shape:
        return (1, 1) if size == 1 else (size // self.size, self.size)

    def _axes(self, clone: KernelOp, parts: Mapping[SSAValue, AxisSplits]) -> WindowAxes:
        """The split of a clone's contraction, whose index is written by its digits."""
        op = clone.contraction
        assert op is not None and op.domain is not None
        number = IndexExpr.of(self.outer) * self.size + IndexExpr.of(self.index)
        blocks = op.domain.ranges[self.index].extent // self.size
        op.accesses = ArrayAttr(
            AccessAttr([e.substitute({self.index: number}) for e in a.data]) for a in op.accesses
        )
        op.output = AccessAttr([e.substitute({self.index: number}) for e in op.output.data])
        own = {self.outer: Range(0, blocks), self.index: Range(0, self.size)}
        digits = dict.fromkeys(own, tuple(own))
        kept = tuple(op.constraints)
        return WindowAxes({**op.domain.ranges, **own}, {}, digits, parts, kept)


def _whole_axes(op: ContractionOp, number: int) -> list[tuple[str, int]]:
    """Indices of the result that alone move along an axis of an operand, from end to end, and no
    other operand; where vectors lie along the last one, no others."""
    assert op.domain is not None
    found: list[tuple[str, int]] = []
    access = op.accesses.data[number].data
    others = [a for k, a in enumerate(op.accesses) if k != number]
    has_lanes = bool(access) and access[-1] in op.output.data
    for axis, e in [*enumerate(access)][-1 if has_lanes else 0 :]:
        if len(e.names) != 1 or e != IndexExpr.of(name := e.names[0]):
            continue
        size = shape(op.inputs[number])[axis]
        places = [*op.output.data, *access, *(x for a in others for x in a.data)]
        places += [c.data.expr for c in op.constraints]
        is_whole = op.domain.ranges[name] == Range(0, size)
        if is_whole and e in op.output.data and sum(name in x.names for x in places) == 2:
            found.append((name, axis))
    return found


@dataclass(frozen=True)
class Made:
    """A kernel that reads a blocked copy, and what goes before it."""

    kernel: KernelOp
    copy: KernelOp
    views: list[ReshapeOp] = field(default_factory=list[ReshapeOp])

    def erase(self) -> None:
        """Discard the kernels."""
        for op in (self.kernel, self.copy, *reversed(self.views)):
            op.erase()

    def replace(self, kernel: KernelOp) -> None:
        """Put the kernels in the place of one."""
        results: list[SSAValue] = []
        after: list[Operation] = []
        for old, new in zip(kernel.outputs, self.kernel.outputs, strict=True):
            keep_name(new, old)
            after.append(ReshapeOp.of(new, shape(old)))
            results.append(after[-1].results[0])
        before = [*self.views, self.copy, self.kernel]
        Rewriter.replace_op(kernel, [*before, *after], results)


@dataclass(frozen=True)
class TileBlockConstantsPass(ModulePass):
    """Lets contractions read constants in blocks of two or four vectors, on CPUs.

    The weights `K[o, c]` or `K[c, o]` of a convolution or a product that computes vectors along `o`
    are then `K[o/32, c, 32]`, so that a tile of registers reads memory from one end to the other. A
    kernel that makes the copy depends on constants alone, and runs once for many calls; it is not
    counted. The cost model weighs the best schedules with and without it.
    """

    name = "tile-block-constants"

    constants: tuple[str, ...] = ()
    """Names of arguments that seldom change."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Block the constants of every kernel."""
        device = device_of(op)
        if device is None or not device.traits.has_vectors:
            return
        names = {kernel: name for name, kernel in named_kernels(op).items()}
        for function in ops_of(op, func.FuncOp):
            known = known_values(function, self.constants)
            for kernel in [k for k in function.body.block.ops if isinstance(k, KernelOp)]:
                if kernel.schedule is None and kernel in names:
                    _block(kernel, names[kernel], known, device)


def _block(kernel: KernelOp, name: str, known: Collection[SSAValue], device: Device) -> None:
    """Block a constant operand of a kernel, if that is estimated to be faster."""
    for value in [v for v in kernel.inputs if v in known]:
        tried = [b.made(f"{name}_blocks") for b in Blocked.all(kernel, value, device)]
        made = [(_seconds(m.kernel, device), m) for m in tried if m is not None]
        made.sort(key=lambda pair: pair[0])
        is_better = bool(made) and made[0][0] < COPY_GAIN * _seconds(kernel, device)
        for _, other in made[is_better:]:
            other.erase()
        if is_better:
            made[0][1].replace(kernel)
            return


def _seconds(kernel: KernelOp, device: Device) -> float:
    """Estimate of a kernel by its best schedule."""
    return best_or_default(kernel_facts(kernel, device), device).estimate.seconds
