"""Generalization of nests over the steps of loops over a batch: their number becomes an argument.

A sum over the batch has a serial loop over it, and a work-group that computes a part of the batch
has one over its part. The steps move the first coordinate of arguments and buffers, and nothing
else, so that the same kernel computes with more steps, or fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import gpu
from xdsl.dialects.builtin import FunctionType, IndexType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tiledialect.dialects.discardable import FACTS
from tiledialect.dialects.nest.attributes import ConditionAttr, ExprsAttr
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.index.integer.expressions import Condition, Expr, both, less_equal
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.batch_generalization import (
    bytes_with,
    expressions_in,
    is_dense,
    is_said,
    sides,
    with_extent,
)
from tiledialect.lowering.nest.utils.builder import LOCAL
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.loops import Role
from tiledialect.schedule.search.choice import MOST_SUMS

LARGE = 64
"""Least operations of a loop without loops inside whose end may be an argument."""


def open_steps(kernel: gpu.FuncOp, device: Device) -> list[int]:
    """Give a kernel the numbers of steps over batches as arguments; the values of these."""
    counts: list[int] = []
    facts: list[Condition] = []
    for loop in ops_of(kernel, ForOp) if is_said(kernel) else ():
        found = _Steps.of(loop)
        if found is None or not found.is_large or (most := found.most(kernel, device)) is None:
            continue
        number = Expr.var(f"d{len(counts)}")
        facts += [less_equal(1, number), less_equal(number, most)]
        counts.append(found.count)
        found.open(kernel, most)
    if counts:
        kernel.attributes[FACTS] = ConditionAttr(both(*facts))
        kernel.function_type = FunctionType.from_lists(kernel.body.block.arg_types, [])
    return counts


@dataclass(frozen=True)
class _Place:
    """A first coordinate that the steps of a loop move, and work-groups that have as many each."""

    index: SSAValue
    elements: int
    """Elements of each step."""
    group: SSAValue | None
    """Index of the work-groups; None if each of them has all steps."""
    groups: int


@dataclass
class _Steps:
    """Loops over a batch, and the accesses and memories whose first coordinate they move."""

    count: int
    places: dict[LoadOp | StoreOp, _Place] = field(default_factory=dict["LoadOp | StoreOp", _Place])

    @staticmethod
    def of(loop: ForOp) -> _Steps | None:
        """The batch of a loop; None if the index has other uses."""
        count = loop.extent
        if count is None or count < 2 or not _has_steps(loop, Role.SERIAL, count):
            return None
        found = _Steps(count)
        return found if found._follow(loop.index) and found._is_whole() else None

    def _follow(self, index: SSAValue) -> bool:
        """Find all accesses by an index, and by the others that access the same memories."""
        waiting, seen = [index], {index}
        while waiting:
            users = dict.fromkeys(use.operation for use in waiting.pop().uses)
            for op in (user for user in users if user not in self.places):
                place = self._place(op)
                if place is None or not isinstance(op, LoadOp | StoreOp):
                    return False
                self.places[op] = place
                new = [v for v in (place.index, op.memory) if v not in seen]
                seen.update(new)
                waiting += new
        return bool(self.places)

    def _place(self, op: Operation) -> _Place | None:
        if not isinstance(op, LoadOp | StoreOp) or not _can_grow(op.memory):
            return None
        t = op.memory.type
        assert isinstance(t, MemRefType)
        first = op.access.data[0]
        numbers = {index: k for k, index in enumerate(op.indices)}
        for index in numbers:
            if not _has_steps(_loop_of(index), Role.SERIAL, self.count):
                continue
            terms = {i: _term(first, k) for i, k in numbers.items()}
            own, elements = terms[index]
            if elements < 1:
                continue
            whole, moved, group, groups = elements * self.count, own * elements, None, 1
            for other, (step, stride) in terms.items():
                if stride == whole and t.get_shape()[0] % whole == 0:
                    number = t.get_shape()[0] // whole
                    if _has_steps(_loop_of(other), Role.GROUP, number):
                        group, groups, moved = other, number, moved + step * stride
            rest = (first - moved, *expressions_in(op)[1:])
            names = {name for e in rest for name in e.names}
            is_alone = names.isdisjoint(moved.names) and [*op.indices].count(index) == 1
            if t.get_shape()[0] == whole * groups and is_alone:
                return _Place(index, elements, group, groups)
        return None

    def _is_whole(self) -> bool:
        """Whether each access has one loop and each memory one form."""
        loops = {place.index for place in self.places.values()}
        forms = {(op.memory, p.elements, p.group) for op, p in self.places.items()}
        return all(sum(i in loops for i in op.indices) == 1 for op in self.places) and len(
            forms
        ) == len({memory for memory, *_ in forms})

    @property
    def is_large(self) -> bool:
        """Whether a loop is large."""
        return any(map(_is_large, self.loops))

    def _extents(self, count: int) -> dict[SSAValue, int]:
        """Extents of the first axes of the memories for so many steps."""
        places = self.places.items()
        return {op.memory: place.elements * place.groups * count for op, place in places}

    def most(self, kernel: gpu.FuncOp, device: Device) -> int | None:
        """The most steps, a power of two, that passes over nests treat alike; None if there are
        fewer than now, or no room."""
        each = self._extents(1)
        grows = any(isinstance(memory.owner, BufferOp) for memory in each)

        def extents(count: int) -> dict[SSAValue, int]:
            return {memory: n * count for memory, n in each.items()}

        now, most = sides(kernel, {}, device), 1
        while most < self.count or (not grows and sides(kernel, extents(2 * most), device) == now):
            most *= 2
        room: dict[Attribute, int] = {LOCAL: device.local_mem_size}
        used: dict[Attribute, int] = {}
        for op in ops_of(kernel, BufferOp) if grows else ():
            t = op.result.type
            assert isinstance(t, MemRefType)
            own = bytes_with(op.result, extents(most))
            used[t.memory_space] = used.get(t.memory_space, 0) + own
        fits = all(n <= room.get(space, MOST_SUMS) for space, n in used.items())
        return most if fits and sides(kernel, extents(most), device) == now else None

    @property
    def loops(self) -> list[ForOp]:
        """The loops over the steps."""
        found = [_loop_of(index) for index in dict.fromkeys(p.index for p in self.places.values())]
        return [loop for loop in found if loop is not None]

    def open(self, kernel: gpu.FuncOp, most: int) -> None:
        """Take the number of steps from a new argument."""
        block = kernel.body.block
        number = block.insert_arg(IndexType(), len(block.args))
        number.name_hint = "steps"
        self._take(most, Expr.var("d0"), Expr.var("steps"), number)

    def resize(self, count: int) -> bool:
        """Take another number of steps; whether work-groups move nothing else by theirs."""
        groups = {p.group for p in self.places.values()} - {None}
        users = {use.operation for group in groups if group is not None for use in group.uses}
        if not users <= self.places.keys():
            return False
        self._take(count, Expr.const(count), Expr.const(count))
        return True

    def _take(self, room: int, end: Expr, steps: Expr, *number: SSAValue) -> None:
        """Run loops up to an end, in memories of room for so many steps."""
        for memory, extent in self._extents(room).items():
            Rewriter.replace_value_with_new_type(memory, with_extent(memory.type, extent))
        for loop in self.loops:
            loop.operands = number
            loop.bounds = ExprsAttr([Expr(), end, Expr.const(1)])
        for op, place in self.places.items():
            if place.group is not None:
                own = Expr.var(f"d{[*op.indices].index(place.group)}")
                change = own * place.elements * (steps - self.count)
                _replace_first(op, op.access.data[0] + change, *number)


def resize_steps(kernel: gpu.FuncOp, index: str, count: int, other: int) -> bool:
    """Give serial loops over an index, of that name, another number of steps; whether it is done.

    The kernel is of no use otherwise.
    """
    loops = [
        x
        for x in ops_of(kernel, ForOp)
        if x.index.name_hint == index and _has_steps(x, Role.SERIAL, count)
    ]
    is_there = bool(loops)
    while loops:
        found = _Steps.of(loops[0])
        if found is None or not found.resize(other):
            return False
        loops = [x for x in loops if x not in found.loops]
    return is_there


def _replace_first(op: LoadOp | StoreOp, first: Expr, *number: SSAValue) -> None:
    """Replace an access by one with another first coordinate, of ``steps``, too."""
    names = {f"d{k}": index for k, index in enumerate(op.indices)}
    names |= zip(("steps",), number, strict=False)
    place = op.memory, (first, *op.access.data[1:])
    tested = () if op.condition is None else (op.condition.data,)
    if isinstance(op, StoreOp):
        new = StoreOp(names, op.value, *place, *tested)
    else:
        new = LoadOp(names, *place, *tested, default=op.default, lanes=lanes_of(op.result))
        new.result.name_hint = op.result.name_hint
    new.attributes.update(op.attributes)
    Rewriter.replace_op(op, new)


def _term(e: Expr, number: int) -> tuple[Expr, int]:
    """Index of a number, and how far a step of it moves an expression."""
    index = Expr.var(f"d{number}")
    return index, e.coefficients.get(index.terms[0][0], 0)


def _loop_of(index: SSAValue) -> ForOp | None:
    """The loop of an index."""
    loop = index.owner.parent_op() if isinstance(index.owner, Block) else None
    return loop if isinstance(loop, ForOp) else None


def _has_steps(loop: ForOp | None, role: Role, count: int) -> bool:
    """Whether a loop has this role and the steps 0, 1, … before a count."""
    expected: Sequence[int] = (0, count, 1)
    return (
        loop is not None
        and loop.role.data.role is role
        and all(e.value == n for e, n in zip(loop.bounds.data, expected, strict=True))
    )


def _is_large(loop: ForOp) -> bool:
    """Whether a test in each step costs nothing: there are loops inside, or many operations."""
    inside = (x for x in ops_of(loop, ForOp) if x is not loop)
    return any(not x.is_unrolled for x in inside) or _operations(loop) >= LARGE


def _operations(op: Operation) -> int:
    """Number of the operations in an op, with those of unrolled steps; lanes are one."""
    steps = 1
    if isinstance(op, ForOp) and op.role.data.role is Role.UNROLL:
        steps = op.extent or 1
    inside = (x for region in op.regions for block in region.blocks for x in block.ops)
    return steps * (1 + sum(map(_operations, inside)))


def _can_grow(memory: SSAValue) -> bool:
    """Whether a memory is a dense argument or a buffer of one copy."""
    owner = memory.owner
    if isinstance(owner, BufferOp):
        is_plain = owner.number_of_copies == 1 and owner.asynchronous is None
    else:
        is_plain = isinstance(owner, Block) and isinstance(owner.parent_op(), gpu.FuncOp)
    return is_plain and is_dense(memory.type)
