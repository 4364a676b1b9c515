"""Generalization of nests over the batch size: one kernel for many batches.

The batch is a loop over work-groups whose index is used for nothing but the first coordinate of
arguments, of which each step has a number of elements. A kernel for more work-groups, and for
longer arguments, is correct for fewer: each group computes the same at the same addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.dialects import gpu
from xdsl.dialects.builtin import FunctionType, MemRefType, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tiledialect import caches
from tiledialect.dialects.discardable import OFFSET_PARAMETERS, UNREAD
from tiledialect.dialects.nest.attributes import ExprsAttr
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.expressions import Expr, expressions_of
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.scope import bytes_of
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.loops import Role

SAID = {
    *("sym_name", "function_type", "kernel", "known_block_size", "known_grid_size"),
    *(UNREAD, OFFSET_PARAMETERS),
}
"""Attributes of kernels that do not depend on the batch size."""
WIDE = (2**31, 2**62)
"""Bytes beyond 32-bit and 64-bit addresses."""


def generalize_batch(kernel: gpu.FuncOp, device: Device) -> None:
    """Raise the batch size of a kernel as far as the same arrays fit the device's caches.

    Arguments that are not used have any size.
    """
    if not is_said(kernel):
        return
    for argument in kernel.body.block.args:
        if not argument.uses and is_dense(argument.type):
            Rewriter.replace_value_with_new_type(argument, with_extent(argument.type, 1))
    for loop in ops_of(kernel, ForOp):
        if loop.role.data.role is Role.GROUP and (batch := Batch.of(loop, kernel)) is not None:
            batch.stretch(device)
    kernel.function_type = FunctionType.from_lists(kernel.body.block.arg_types, [])


@dataclass(frozen=True)
class Batch:
    """A loop over the batch, and the elements of arguments, along the first axis, of each step."""

    loop: ForOp
    kernel: gpu.FuncOp
    arguments: Mapping[SSAValue, int]
    steps: int

    @staticmethod
    def of(loop: ForOp, kernel: gpu.FuncOp) -> Batch | None:
        """The batch of a loop over work-groups; None if its index has other uses."""
        lower, upper, step = loop.bounds.data
        steps = upper.value
        around = (x for x in ancestors(loop) if isinstance(x, ForOp))
        is_outermost = all(x.role != loop.role for x in around)
        if lower.value != 0 or step.value != 1 or steps is None or steps < 2 or not is_outermost:
            return None
        users = {use.operation for use in loop.index.uses}
        found = {x.memory for x in users if isinstance(x, LoadOp | StoreOp)}
        # Arguments of a batch are accessed nowhere else than at the step's own elements.
        users |= {use.operation for a in found for use in a.uses}
        moved = {(_memory(x), _elements(x, loop.index)) for x in users}
        arguments = {memory: n for memory, n in moved if memory is not None and n is not None}
        if not found or len(arguments) != len(moved):
            return None
        parts = (_is_of_parts(a.type, n * steps) for a, n in arguments.items())
        if not all(a in kernel.body.block.args for a in found) or not all(parts):
            return None
        return Batch(loop, kernel, arguments, steps)

    def stretch(self, device: Device) -> None:
        """Raise the number of steps to the largest power of two of the same sizes."""
        sides, most = self._sides(self.steps, device), 1
        while self._sides(most, device) <= sides:
            most *= 2
        most //= 2
        if most < self.steps or self._sides(most, device) != sides:
            return
        self.resize(most)
        # The grid is launched with fewer groups.
        self.kernel.known_grid_size = None

    def resize(self, steps: int) -> None:
        """Give the loop another number of steps, and arguments the elements of these."""
        self.loop.bounds = ExprsAttr([Expr(), Expr.const(steps), Expr.const(1)])
        for argument, n in self.arguments.items():
            Rewriter.replace_value_with_new_type(argument, with_extent(argument.type, n * steps))

    def _sides(self, steps: int, device: Device) -> tuple[bool, ...]:
        extents = {a: n * steps for a, n in self.arguments.items()}
        return sides(self.kernel, extents, device)


def resize_groups(kernel: gpu.FuncOp, index: str, axis: str, count: int, other: int) -> bool:
    """Give the loop of work-groups over an index another number of steps; whether it is done."""
    for loop in ops_of(kernel, ForOp):
        role = loop.role.data
        if (role.role, role.axis, loop.index.name_hint) == (Role.GROUP, axis, index):
            found = Batch.of(loop, kernel)
            if found is None or found.steps != count:
                return False
            found.resize(other)
            return True
    return False


def is_said(kernel: gpu.FuncOp) -> bool:
    """Whether no attribute of a kernel depends on the batch size."""
    names = (*kernel.attributes, *kernel.properties)
    return SAID.issuperset(n.removeprefix("gpu.") for n in names)


def sides(kernel: gpu.FuncOp, extents: Mapping[SSAValue, int], device: Device) -> tuple[bool, ...]:
    """Whether arguments, each and together, exceed the sizes on which passes over nests decide.

    ``extents`` are other ones of the first axis of some of them.
    """
    each = [bytes_with(a, extents) for a in kernel.body.block.args]
    limits = device.second_cache, device.cache_sizes[-1], *WIDE
    apart = (size > limit for size in each for limit in limits)
    return (*apart, sum(each) > device.most_kept)


def bytes_with(memory: SSAValue, extents: Mapping[SSAValue, int]) -> int:
    """Bytes of a memory, where some memories have other extents of the first axis."""
    t = memory.type
    if not isinstance(t, MemRefType) or not t.has_static_shape():
        return 0
    extent = extents.get(memory)
    return bytes_of(t) if extent is None else bytes_of(t) // t.get_shape()[0] * extent


def is_dense(t: Attribute) -> TypeGuard[MemRefType[Attribute]]:
    """Whether a type is of a memref of known shape that has axes and elements, and no gaps."""
    return (
        isinstance(t, MemRefType)
        and isinstance(t.layout, NoneAttr)
        and t.has_static_shape()
        and t.get_num_dims() > 0
        and 0 not in t.get_shape()
    )


def _is_of_parts(t: Attribute, extent: int) -> bool:
    """Whether a memref is dense, with an extent of the first of several axes."""
    return is_dense(t) and t.get_num_dims() > 1 and t.get_shape()[0] == extent


def with_extent(t: Attribute, extent: int) -> MemRefType[Attribute]:
    """The memref type with another extent of the first axis."""
    assert is_dense(t)
    return _dense(t.element_type, (extent, *t.get_shape()[1:]), t.memory_space)


@caches.MEMORY_TYPES
def _dense(
    element_type: Attribute, shape: tuple[int, ...], space: Attribute
) -> MemRefType[Attribute]:
    return MemRefType(element_type, shape, NoneAttr(), space)


def _memory(op: Operation) -> SSAValue | None:
    return op.memory if isinstance(op, LoadOp | StoreOp) else None


def _elements(op: Operation, index: SSAValue) -> int | None:
    """The elements from one step of an index to the next, if that moves the first coordinate of an
    access and nothing else."""
    if not isinstance(op, LoadOp | StoreOp) or [*op.indices].count(index) != 1:
        return None
    if not op.access.data:
        # A tensor without axes has one element, which no index moves.
        return None
    own = Expr.var(f"d{[*op.indices].index(index)}")
    first, *others = expressions_in(op)
    ((name, _),) = own.terms
    elements = first.coefficients.get(name, 0)
    still = (first - own * elements, *others)
    is_alone = not any(own.names[0] in e.names for e in still)
    return elements if elements > 0 and is_alone else None


def expressions_in(op: LoadOp | StoreOp) -> tuple[Expr, ...]:
    """Coordinates of an access, and the expressions of its condition."""
    tested = () if op.condition is None else expressions_of(op.condition.data)
    return (*op.access.data, *tested)
