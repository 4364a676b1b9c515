"""Kernels whose values have an axis in blocks: `[n, c, y, x]` becomes `[n, c_block, y, x, c]`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TypeVar

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import BlockArgument, SSAValue

from tiledialect.dialects.tile.attributes import (
    AccessAttr,
    Aggregation,
    ConstraintAttr,
    DomainAttr,
)
from tiledialect.dialects.tile.base import Shape, make_type, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.elementwise.special import IndexOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.names import with_type
from tiledialect.ir.ops_in import values_in

Access = Sequence[IndexExpr]
T = TypeVar("T")


@dataclass(frozen=True)
class Blocks:
    """Blocks along an axis."""

    axis: int
    """Place of the axis, counted from the end: 1 for the last one."""
    size: int
    """Elements of a block."""
    is_view: bool = False
    """Whether a block's own axis follows that of the blocks, so that elements lie as before; else
    it is the last one."""

    def shape(self, sizes: Shape) -> Shape:
        """Shape of a value in blocks; a value that has not the axis is the same for all of it."""
        at = len(sizes) - self.axis
        has_axis = at >= 0 and sizes[at] > 1
        own = (sizes[at] // self.size, self.size) if has_axis else (1, 1)
        return tuple(self.placed(sizes, *own)) if sizes else ()

    def access(self, access: Access, index: str | None) -> tuple[IndexExpr, ...]:
        """Access to a value in blocks, along whose axis an index moves that is one of elements
        within a block, and others from block to block; or none does."""
        at = len(access) - self.axis
        e = access[at] if at >= 0 else IndexExpr.of(0)
        if index is None:
            return tuple(self.placed(access, e, IndexExpr.of(0)))
        low = IndexExpr.of(index)
        return tuple(self.placed(access, (e - low) / self.size, low))

    def placed(self, axes: Sequence[T], block: T, element: T) -> Iterator[T]:
        """Axes with those of a block and of its element in the place of one."""
        at = len(axes) - self.axis
        if at < 0:
            yield from axes
        else:
            yield from (*axes[:at], block)
            yield from (element,) if self.is_view else ()
            yield from axes[at + 1 :]
        yield from () if self.is_view else (element,)


def is_reshape(sizes: Shape, axis: int) -> bool:
    """Whether elements in blocks along an axis, counted from the end, lie as before."""
    at = len(sizes) - axis
    return at < 0 or sizes[at] == 1 or all(size == 1 for size in sizes[at + 1 :])


def blockable(kernel: KernelOp, known: Collection[SSAValue]) -> bool:
    """Whether the values of a kernel may lie in blocks: it has one contraction, or copies, as those
    of a concatenation, or rows all of whose values have its axes in order, and does not compute
    constants."""
    allowed = ContractionOp | ElementwiseOp | ConstantOp | YieldOp
    ops = [*kernel.block.ops]
    is_plain = all(isinstance(op, allowed) and not isinstance(op, IndexOp) for op in ops)
    if kernel.schedule is not None or not is_plain or any(v in known for v in kernel.outputs):
        return False
    op, found = kernel.contraction, kernel.contractions
    if any(c.symbols for c in found):
        return False
    if kernel.axes is not None:
        return all(_has_axes_in_order(c, [*kernel.axes.ranges]) for c in found)
    if any(c.domain is None for c in found):
        return False
    if all(c.aggregation.data is Aggregation.assign for c in found):
        return True
    return op is not None and found == (op,) and op.default is None


def _has_axes_in_order(op: ContractionOp, axes: Sequence[str]) -> bool:
    """Whether each tensor of a contraction has all axes of its kernel, or size 1, in order."""
    return all(
        len(access) == len(axes)
        and all(
            e == IndexExpr.of(name) or size == 1
            for e, name, size in zip(access, axes, shape(value), strict=True)
        )
        for value, access in _places(op)
    )


def _ranges(op: ContractionOp) -> Mapping[str, Range]:
    """Ranges of a contraction's indices: its own, or the axes of its kernel."""
    kernel = op.parent_op()
    if op.domain is None and isinstance(kernel, KernelOp) and kernel.axes is not None:
        return kernel.axes.ranges
    return op.domain.ranges if op.domain is not None else {}


def moving_index(op: ContractionOp, value: SSAValue, access: Access, axis: int) -> str | None:
    """The index that moves along an axis of a contraction's tensor, step by step, and along no
    other axis of it; others move there by several elements at a time, as groups of channels do."""
    at = len(access) - axis
    if at < 0 or shape(value)[at] == 1 or access[at].denominator != 1:
        return None
    own = [n for n in access[at].names if abs(access[at].coefficient(n)) == 1]
    if len(own) != 1 or access[at].coefficient(own[0]) != 1:
        return None
    return own[0] if sum(own[0] in e.names for e in access) == 1 else None


def whole_index(op: ContractionOp, value: SSAValue, access: Access, axis: int) -> str | None:
    """The index that moves along an axis of a contraction's tensor, from end to end and along no
    other axis of it."""
    index, at = moving_index(op, value, access, axis), len(access) - axis
    if index is None or access[at] != IndexExpr.of(index):
        return None
    return index if _ranges(op)[index] == Range(0, shape(value)[at]) else None


def block_step(op: ContractionOp, access: Access, axis: int, index: str) -> int:
    """Greatest number of which a contraction's index along an axis begins at, ends at, and is
    shifted by, also by other indices, multiples."""
    e = access[len(access) - axis]
    own = _ranges(op)[index]
    return gcd(own.lower, own.upper, *(int(c) for _, c in e - IndexExpr.of(index)))


@dataclass(frozen=True)
class BlockedKernel:
    """Form of a kernel for values in blocks."""

    kernel: KernelOp
    blocks: Mapping[SSAValue, Blocks]
    """Blocks of the values in the kernel."""
    constants: Collection[SSAValue]
    """Arguments that can lie in any order."""

    def sizes(self, op: ContractionOp) -> Mapping[str, int]:
        """Sizes of the blocks of a contraction's indices that move along them."""
        found: dict[str, int] = {}
        for value, access in _places(op):
            if value in self.blocks:
                own = self.blocks[value]
                index = moving_index(op, value, access, own.axis)
                found |= {index: own.size} if index is not None else {}
        return found

    def made(
        self,
        view: Callable[[SSAValue, Shape], SSAValue],
        packed: Callable[[SSAValue, Shape, Sequence[int]], SSAValue],
    ) -> KernelOp:
        """The kernel for values in blocks, not in the block yet.

        ``view`` gives its operands in another shape, ``packed`` those that are constant, with
        their axes in an order, too.
        """
        body = self.kernel.body.clone()
        pairs = zip(values_in(self.kernel.block), values_in(body.block), strict=True)
        same: dict[SSAValue, SSAValue] = dict(pairs)
        for value, own in self.blocks.items():
            same[value] = _reshaped(same[value], own.shape(shape(value)))
        inputs = [
            view(value, shape(same[argument]))
            for value, argument in zip(self.kernel.inputs, self.kernel.block.args, strict=True)
        ]
        for op in self.kernel.contractions:
            sizes = self.sizes(op)
            contraction = same[op.result].owner
            assert isinstance(contraction, ContractionOp)
            self._rewrite(op, contraction, sizes)
            for argument in self.constants if sizes else ():
                assert isinstance(argument, BlockArgument)
                number = argument.index
                order = self._pack(contraction, body.block.args[number], sizes)
                if order is not None:
                    wanted, axes = order
                    inputs[number] = packed(self.kernel.inputs[number], wanted, axes)
        made = KernelOp(inputs, body, self._axes(), like=self.kernel)
        made.sym_name = self.kernel.sym_name
        return made

    def _axes(self) -> DomainAttr | None:
        """The axes of a row kernel, one of them as two digits."""
        if self.kernel.axes is None:
            return None
        own, axes = next(iter(self.blocks.values())), self.kernel.axes.data
        name, whole = axes[len(axes) - own.axis]
        block = self._block_name(name, {}), Range(0, whole.extent // own.size)
        return DomainAttr(tuple(own.placed(axes, block, (name, Range(0, own.size)))))

    def _block_name(self, name: str, ranges: Mapping[str, Range]) -> str:
        """Name of the index of the blocks along an index, among others."""
        axes = self.kernel.axes.ranges if self.kernel.axes is not None else {}
        found = f"{name}_block"
        while found in ranges or found in axes:
            found += "_"
        return found

    def _rewrite(self, old: ContractionOp, new: ContractionOp, own: Mapping[str, int]) -> None:
        """Let a contraction's indices be numbers of two digits, and its accesses blocks."""
        ranges = dict(_ranges(old))
        numbers: dict[str, IndexExpr] = {}
        for name, size in own.items():
            whole = ranges[name]
            if whole == Range(0, size):
                continue
            block = self._block_name(name, ranges)
            ranges[block] = Range(whole.lower // size, whole.upper // size)
            ranges[name] = Range(0, size)
            numbers[name] = IndexExpr.of(block) * size + IndexExpr.of(name)
        accesses = [self._access(old, v, access, numbers) for v, access in _places(old)]
        new.output, *read = accesses
        new.accesses = ArrayAttr(read)
        new.constraints = ArrayAttr(
            ConstraintAttr(c.data.substitute(numbers)) for c in old.constraints
        )
        new.domain = DomainAttr(tuple((name, ranges[name]) for name in new.index_names))

    def _access(
        self,
        op: ContractionOp,
        value: SSAValue,
        access: Access,
        numbers: Mapping[str, IndexExpr],
    ) -> AccessAttr:
        own = self.blocks.get(value)
        found = tuple(e.substitute(numbers) for e in access)
        if own is None:
            return AccessAttr(found)
        return AccessAttr(own.access(found, moving_index(op, value, access, own.axis)))

    def _pack(
        self, op: ContractionOp, argument: SSAValue, own: Mapping[str, int]
    ) -> tuple[Shape, tuple[int, ...]] | None:
        """Let a contraction read a constant in blocks of all its digits, those of the result last.

        The result are the constant's shape with an axis for each digit, and the order of these.
        """
        number = [*op.inputs].index(argument)
        exprs: list[IndexExpr] = []
        sizes: list[int] = []
        lanes: list[int] = []
        for e, size in zip(op.accesses.data[number].data, shape(argument), strict=True):
            low = _low(e, own)
            if low is None or size % own[low]:
                exprs.append(e)
                sizes.append(size)
                continue
            exprs += [(e - IndexExpr.of(low)) / own[low], IndexExpr.of(low)]
            lanes.append(len(sizes) + 1)
            sizes += [size // own[low], own[low]]
        if not lanes:
            return None
        written = {n for e in op.output.data for n in e.names}
        lanes.sort(key=lambda k: exprs[k].names[0] in written)
        order = (*(k for k in range(len(sizes)) if k not in lanes), *lanes)
        accesses = [*op.accesses.data]
        accesses[number] = AccessAttr([exprs[k] for k in order])
        _reshaped(argument, tuple(sizes[k] for k in order))
        op.accesses = ArrayAttr(accesses)
        op.domain = _in_order(op)
        return tuple(sizes), order


def _low(e: IndexExpr, sizes: Mapping[str, int]) -> str | None:
    """The index of a block's elements in a number whose other digits count blocks."""

    def is_low(name: str) -> bool:
        return all(c % sizes[name] == 0 for _, c in e - IndexExpr.of(name))

    return next((name for name in e.names if name in sizes and is_low(name)), None)


def _in_order(op: ContractionOp) -> DomainAttr:
    assert op.domain is not None
    ranges = op.domain.ranges
    return DomainAttr(tuple((name, ranges[name]) for name in op.index_names))


def _places(op: ContractionOp) -> list[tuple[SSAValue, Access]]:
    """The tensors of a contraction, its result first, and where it accesses them."""
    read = zip(op.inputs, op.accesses, strict=True)
    return [(op.result, op.output.data), *((v, a.data) for v, a in read)]


def _reshaped(value: SSAValue, sizes: Shape) -> SSAValue:
    return with_type(value, make_type(sizes, tensor_type(value).element_type))
