"""Accesses to memory in a loop whose steps are to be lanes of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from xdsl.dialects.builtin import MemRefType, f32
from xdsl.ir import SSAValue

from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.division import linear_in
from tiledialect.index.integer.expressions import Condition, Expr, map_expressions
from tiledialect.index.integer.polynomial import Variable
from tiledialect.index.integer.simplify import constant_difference, simplify, simplify_condition
from tiledialect.lowering.nest.utils.builder import GLOBAL, LOCAL
from tiledialect.lowering.nest.utils.conditions import is_uniform
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.lowering.nest.utils.shuffles import INTERLEAVED, INTERLEAVED_TYPES, SHORT_LANES
from tiledialect.schedule.loops import LOADED_LANES, LONG_LANES


class NotVectorizedError(Exception):
    """Reason that the steps of a loop cannot be lanes."""


@dataclass
class LaneAccesses:
    """Places of the loads and stores of a loop, from lane to lane."""

    loop: ForOp
    scope: NestScope

    def __post_init__(self):
        self.address = cache(self.scope.address)
        self.strides: dict[LoadOp | StoreOp, int | None] = {}
        self.lanes = self.loop.extent or 0
        self.lane = self.scope.name(self.loop.index)

    def check_overlap(self) -> None:
        """Refuse a lane that uses an element that another one writes."""
        accesses = [op for op in self.loop.block.ops if isinstance(op, LoadOp | StoreOp)]
        for op in accesses:
            if isinstance(op, StoreOp):
                others = [x for x in accesses if x is not op and x.memory is op.memory]
                if not all(self._are_apart(op, x) for x in others):
                    raise NotVectorizedError("a step uses an element that another one writes")

    def _are_apart(self, a: LoadOp | StoreOp, b: LoadOp | StoreOp) -> bool:
        """Whether the lanes of two accesses meet at most in the same lane."""
        distance = self.distance(b, a)
        stride = self.stride(a)
        if distance is None or stride != self.stride(b):
            return False
        is_between = bool(stride and distance % stride)
        return distance == 0 or is_between or (stride == 1 and abs(distance) >= self.lanes)

    def stride(self, op: LoadOp | StoreOp) -> int | None:
        """Stride of the address from lane to lane, if it is a constant."""
        if op not in self.strides:
            self.strides[op] = self._stride(op)
        return self.strides[op]

    def _stride(self, op: LoadOp | StoreOp) -> int | None:
        address, lane = self.address(op), str(self.lane)
        factor, rest = linear_in(address, Variable(lane)) or (address, address)
        if factor.value is not None and lane not in rest.names:
            return factor.value
        moved = address.substitute({lane: self.lane + 1})
        if (stride := constant_difference(moved, address, self.scope.env)) is not None:
            return stride
        at = [address.substitute({lane: Expr.const(k)}) for k in range(self.lanes)]
        strides = {constant_difference(b, a, self.scope.env) for a, b in pairwise(at)}
        return strides.pop() if len(strides) == 1 else None

    def at(self, exprs: Sequence[Expr], lane: int = 0) -> list[Expr]:
        """Substitute a lane in expressions."""
        value = {str(self.lane): Expr.const(lane)}
        return [simplify(e.substitute(value), self.scope.env) for e in exprs]

    def place(self, op: LoadOp | StoreOp, lane: int = 0) -> list[Expr]:
        """Place of an access in memory for a lane."""
        return self.at(self.scope.access(op), lane)

    def distance(self, a: LoadOp | StoreOp, b: LoadOp | StoreOp) -> int | None:
        """Elements from one access to another for the same lane, if that is a constant."""
        return constant_difference(self.address(b), self.address(a), self.scope.env)

    def condition(self, op: LoadOp | StoreOp) -> Condition:
        """Condition of an access, the same for all lanes; else a ``NotVectorizedError``."""
        condition = self.scope.condition(op)
        name = str(self.lane)
        if not is_uniform(condition, name, self.lanes, self.scope.env):
            raise NotVectorizedError(f"the condition '{condition}' depends on the lane")
        first = map_expressions(condition, lambda e: e.substitute({name: Expr()}))
        return simplify_condition(first, self.scope.env)

    def is_in_memory(self, op: LoadOp) -> bool:
        """Whether an access is to memory that has vectors."""
        t = op.memory.type
        return isinstance(t, MemRefType) and t.memory_space in (LOCAL, GLOBAL)

    def is_reversed(self, op: LoadOp) -> bool:
        """Whether lanes read a long vector's elements of a row in reverse."""
        return (
            self.lanes >= LONG_LANES
            and self.stride(op) == -1
            and self.is_in_memory(op)
            and all(str(self.lane) not in e.names for e in self.scope.access(op)[:-1])
        )

    def is_strided(self, op: LoadOp) -> bool:
        """Whether lanes read floats of a row with a stride, which few long vectors cover."""
        is_long = self.lanes >= LONG_LANES and op.result.type == f32
        stride = self.stride(op) or 0
        is_near = 1 < stride <= self.lanes // LOADED_LANES
        return is_long and is_near and self.is_in_memory(op) and self._is_interleaved(op, stride)

    def is_of_rows(self, op: LoadOp | StoreOp, stride: int) -> bool:
        """Whether lanes take the same element of each of neighbouring rows of a size.

        Where the stride is negative, they take the last row first.
        """
        size, step = abs(stride), 1 if stride > 0 else -1
        *outer, last = self.scope.access(op)
        memory, lane = op.memory.type, str(self.lane)
        if not outer or not isinstance(memory, MemRefType) or memory.get_shape()[-1] != size:
            return False
        moved = linear_in(outer[-1], Variable(lane))
        is_inside = all(lane not in e.names for e in outer[:-1])
        is_along = moved is not None and moved[0].value == step
        return last.value is not None and is_inside and is_along and self.stride(op) == stride

    def _is_apart_by(self, op: LoadOp | StoreOp, stride: int) -> bool:
        """Whether the lanes of a plain access have a stride along the last axis alone."""
        *outer, last = self.scope.access(op)
        moved = linear_in(last, Variable(str(self.lane)))
        is_inside = all(str(self.lane) not in e.names for e in outer)
        is_last = moved is not None and moved[0].value == stride
        return is_inside and is_last and self.stride(op) == stride

    def _is_interleaved(self, op: LoadOp | StoreOp, stride: int) -> bool:
        """Whether the lanes leave gaps for others, in a row or in short rows."""
        return self._is_apart_by(op, stride) or self.is_of_rows(op, stride)

    def interleaved_loads(self, op: LoadOp) -> list[LoadOp]:
        """Interleaved loads that together take all elements of a row, the first of each place."""
        stride = self.stride(op) or 0
        is_long = self.lanes >= LONG_LANES and op.result.type in INTERLEAVED_TYPES
        if not is_long or abs(stride) not in INTERLEAVED or not self.is_in_memory(op):
            return []
        found: dict[int, LoadOp] = {}
        condition = self.condition(op)
        for x in self.loop.block.ops:
            if not isinstance(x, LoadOp | StoreOp) or x.memory is not op.memory:
                continue
            distance = self.distance(op, x)
            if isinstance(x, StoreOp) or distance is None or x.default is not None:
                return []
            if self._is_interleaved(x, stride) and self.condition(x) == condition:
                found.setdefault(distance, x)
        places = sorted(found)
        is_whole = len(places) == abs(stride) and places[-1] - places[0] == abs(stride) - 1
        return [found[place] for place in places] if is_whole else []

    def interleaved_stores(self) -> dict[StoreOp, list[StoreOp]]:
        """Interleaved stores by the last one of each group; none for the others of the group."""
        ops = list(self.loop.block.ops)
        read = {op.memory for op in ops if isinstance(op, LoadOp)}
        rows: dict[SSAValue, list[StoreOp]] = {}
        for op in ops if self.lanes >= SHORT_LANES else ():
            if isinstance(op, StoreOp) and op.memory not in read:
                rows.setdefault(op.memory, []).append(op)
        found: dict[StoreOp, list[StoreOp]] = {}
        for stores in rows.values():
            group = self._by_place(stores)
            if group:
                found |= {op: [] for op in stores[:-1]} | {stores[-1]: group}
        return found

    def _by_place(self, stores: Sequence[StoreOp]) -> list[StoreOp]:
        """Stores in the order of their places; none if they do not fill one another's gaps."""
        count = len(stores)
        if count not in INTERLEAVED or not all(self._is_interleaved(op, count) for op in stores):
            return []
        if len({self.condition(op) for op in stores}) > 1:
            return []
        places = {self.distance(stores[0], x): x for x in stores}
        known = sorted(place for place in places if place is not None)
        is_whole = len(known) == count and known[-1] - known[0] == count - 1
        return [places[place] for place in known] if is_whole else []
