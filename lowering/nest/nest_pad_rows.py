"""nest-pad-rows: rows of arrays in local memory far enough apart for the banks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lcm, prod

from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import DOUBLE
from tiledialect.dialects.nest.call import calls_of
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.index.integer.expressions import Expr, both, less, less_equal
from tiledialect.index.integer.simplify import prove
from tiledialect.ir.kernels import sizes_of
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.gpu.gpu_divide_groups import ALIGNMENT
from tiledialect.lowering.nest.cost.estimate import accesses, local_bytes
from tiledialect.lowering.nest.cost.warp_accesses import bank_rows, vector_width
from tiledialect.lowering.nest.utils.access_strides import value_of
from tiledialect.lowering.nest.utils.builder import is_local
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope, bytes_of, element_bytes
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.banks import WORD
from tiledialect.schedule.cost.device import Device, device_of

PADS = (1, 2, 4, 8)
"""Elements that a row may have more."""


@dataclass(frozen=True)
class Rows:
    """Rows of an array, with the elements that each has more."""

    length: int = 1
    pad: int = 0

    def size(self, elements: int) -> int:
        """Elements of an array that has so many without padding."""
        return elements + self.pad * ceil_div(elements, self.length)

    def place(self, flat: Expr, width: int, scope: NestScope) -> Expr | None:
        """Place of so many neighbours by the place without padding; None if they may be in several
        rows."""
        if not self.pad:
            return flat
        row, rest = Expr(), Expr()
        for product, coefficient in flat:
            factor, left = divmod(coefficient, self.length)
            row += Expr(((product, factor),)) if factor else Expr()
            rest += Expr(((product, left),)) if left else Expr()
        inside = both(less_equal(0, rest), less(rest + (width - 1), self.length))
        return flat + row * self.pad if prove(inside, scope.env) is True else None


class _Array:
    """Array in local memory that work-items access at flat places."""

    def __init__(self, buffer: BufferOp, device: Device):
        self.buffer = buffer
        self._device = device
        self._scope = NestScope()
        users = [use.operation for use in buffer.result.uses]
        self.accesses = [op for op in users if isinstance(op, LoadOp | StoreOp)]
        # Copies that take turns have an axis more.
        is_flat = self.type.get_num_dims() == 1 + (DOUBLE in buffer.attributes)
        is_dense = isinstance(self.type.layout, NoneAttr)
        self.is_plain = is_flat and is_dense and self.accesses == users
        self._lanes = [lanes_of(value_of(op)) for op in self.accesses]
        self._widths = [vector_width(op, self._scope) for op in self.accesses]

    @property
    def type(self) -> MemRefType[Attribute]:
        """Type of the array, or of its copies."""
        t = self.buffer.result.type
        assert isinstance(t, MemRefType)
        return t

    def best(self, room: int) -> Rows:
        """Rows by which the accesses take the fewest rows of banks, in so many bytes more."""
        counts = [accesses(op, self._scope) for op in self.accesses]
        if not self._conflicts():
            return Rows()
        least, found = self._cost(Rows(), counts), Rows()
        for rows in self._candidates():
            more = bytes_of(self._padded(rows)) - bytes_of(self.type)
            if more * self.buffer.number_of_copies <= room:
                cost = self._cost(rows, counts)
                if cost is not None and least is not None and cost < least:
                    least, found = cost, rows
        return found

    def _conflicts(self) -> bool:
        """Whether an access takes more rows of banks than its words fill."""
        found = (
            bank_rows(op, self._scope.access(op)[-1], self._device, self._scope)
            for op in self.accesses
        )
        return any(rows > fewest for rows, fewest in found)

    def _candidates(self) -> Iterator[Rows]:
        """Rows as long as the strides of the accesses, padded so that vectors stay whole."""
        lengths = {
            abs(coefficient)
            for op in self.accesses
            for product, coefficient in self._scope.access(op)[-1]
            if product
        }
        unit = lcm(*self._widths)
        for length in sorted(lengths - {1}, reverse=True):
            if length % unit == 0:
                yield from (Rows(length, pad) for pad in PADS if pad % unit == 0)

    def _places(self, rows: Rows) -> Sequence[Expr | None]:
        return [
            rows.place(self._scope.access(op)[-1], lanes, self._scope)
            for op, lanes in zip(self.accesses, self._lanes, strict=True)
        ]

    def _cost(self, rows: Rows, counts: Sequence[int]) -> float | None:
        """Rows of banks that the accesses take one after the other."""
        total, places = 0.0, self._places(rows)
        for k, (op, place) in enumerate(zip(self.accesses, places, strict=True)):
            if place is None:
                return None
            times = counts[k] * self._lanes[k] / self._widths[k]
            total += times * bank_rows(op, place, self._device, self._scope)[0]
        return total

    def _padded(self, rows: Rows) -> MemRefType[Attribute]:
        *outer, last = self.type.get_shape()
        shape = [*outer, rows.size(last)]
        return MemRefType(self.type.element_type, shape, NoneAttr(), self.type.memory_space)

    def pad(self, rows: Rows) -> None:
        """Give the array other rows."""
        old, scope = self.buffer, self._scope
        new = BufferOp(self._padded(rows), old.number_of_copies)
        new.attributes.update(old.attributes)
        new.result.name_hint = old.result.name_hint
        Rewriter.insert_op(new, InsertPoint.before(old))
        for op, place in zip(self.accesses, self._places(rows), strict=True):
            assert place is not None
            access, condition = [*scope.access(op)[:-1], place], scope.condition(op)
            if isinstance(op, StoreOp):
                made = StoreOp(scope.values, op.value, new.result, access, condition)
                Rewriter.replace_op(op, made, [])
            else:
                lanes = lanes_of(op.result)
                made = LoadOp(scope.values, new.result, access, condition, op.default, lanes=lanes)
                made.result.name_hint = op.result.name_hint
                Rewriter.replace_op(op, made)
        Rewriter.erase_op(old)


def _callers(module: gpu.ModuleOp) -> list[Counter[gpu.FuncOp]]:
    """Kernels that each caller computes, with how many groups of them share its local memory."""
    found: list[Counter[gpu.FuncOp]] = []
    for caller in ops_of(module, gpu.FuncOp):
        own = Counter[gpu.FuncOp]()
        for kernel in (call.kernel for call in calls_of(caller)):
            own[kernel] += prod(sizes_of(caller)[1]) // prod(sizes_of(kernel)[1])
        found.append(own)
    return found


def _room(kernel: gpu.FuncOp, callers: Sequence[Counter[gpu.FuncOp]], most: int) -> int:
    """Bytes of local memory that a kernel may take besides its own and those of its callers."""
    found = most - local_bytes(kernel)
    for groups in (own for own in callers if kernel in own):
        left = most - sum(n * local_bytes(k, ALIGNMENT) for k, n in groups.items())
        found = min(found, left // groups[kernel] - ALIGNMENT)
    return found


def pad_rows(kernel: gpu.FuncOp, device: Device, callers: Sequence[Counter[gpu.FuncOp]]) -> None:
    """Pad the rows of the arrays in local memory."""
    for buffer in ops_of(kernel, BufferOp):
        if is_local(buffer.result) and buffer.asynchronous is None:
            array = _Array(buffer, device)
            if array.is_plain and element_bytes(array.type) == WORD:
                rows = array.best(_room(kernel, callers, device.local_mem_size))
                if rows.pad:
                    array.pad(rows)


class NestPadRowsPass(ModulePass):
    """Pads rows of arrays in local memory so that work-items side by side access other banks.

    A row is as long as a stride of the accesses, each of which stays in one. It gets the few
    elements more with which all accesses together take the fewest rows of banks one after the
    other, as the cost service counts them, if the device's local memory has room for them beside
    the arrays of all kernels of a launch. Vectors stay aligned. Arrays of one axis alone are
    padded, whose layout no schedule has given, and whose elements are words.
    """

    name = "nest-pad-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Pad the arrays of all kernels."""
        device = device_of(op)
        if device is not None and device.traits.has_local_memory:
            for module in ops_of(op, gpu.ModuleOp):
                callers = _callers(module)
                for kernel in ops_of(module, gpu.FuncOp):
                    pad_rows(kernel, device, callers)
