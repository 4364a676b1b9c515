"""nest-vectorize: vector loops as ops on vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    VectorType,
    f32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.discardable import NOT_VECTORIZED
from tiledialect.dialects.nest.attributes import LoopRole, RoleAttr
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.lanes import vector_of
from tiledialect.dialects.nest.lanewise import LANEWISE
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.division import linear_in
from tiledialect.index.integer.expressions import Condition, Expr, Truth, map_expressions
from tiledialect.index.integer.polynomial import Variable
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import constant_difference, simplify, simplify_condition
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.builder import GLOBAL, LOCAL
from tiledialect.lowering.nest.utils.conditions import hoist_branch, is_uniform
from tiledialect.lowering.nest.utils.constants import constant
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.lowering.nest.utils.shuffles import (
    INTERLEAVED,
    INTERLEAVED_TYPES,
    SHORT_LANES,
    gathered,
    interleaved_elements,
    interleaving_lanes,
    place_at,
    shuffle,
    strided_starts,
)
from tiledialect.schedule.loops import LOADED_LANES, LONG_LANES, Role

VECTOR_SIZES = (2, 3, 4, 8, 16)
"""Numbers of elements of OpenCL C's vectors."""


class NotVectorizedError(Exception):
    """Reason that the steps of a loop cannot be lanes."""


@dataclass
class Vectorizer:
    """Vectorizes the ops of one vector loop."""

    loop: ForOp
    scope: NestScope

    def __post_init__(self):
        self.stride, self.address = cache(self._stride), cache(self.scope.address)
        self.lanes = self.loop.extent or 0
        self.lane = self.scope.name(self.loop.index)
        self.values: dict[SSAValue, SSAValue] = {}
        self.ops: list[Operation] = []
        self.moved: dict[SSAValue, Expr] = {}
        """Index values that differ from lane to lane."""
        self.rows: dict[LoadOp, list[SSAValue]] = {}
        """Vectors whose elements several loads share out, by the first of these loads."""

    def run(self) -> list[Operation]:
        """Vectorized ops of the loop; raises ``NotVectorizedError``."""
        if self.lanes not in VECTOR_SIZES:
            raise NotVectorizedError(f"OpenCL C has no vectors of {self.lanes}")
        self._check_overlap()
        together = self._interleaved()
        for op in self.loop.block.ops:
            if isinstance(op, LoadOp):
                self._load(op)
            elif isinstance(op, StoreOp) and op in together:
                self._interleave(together[op])
            elif isinstance(op, StoreOp):
                self._store(op)
            else:
                self._compute(op)
        return self.ops

    def _check_overlap(self) -> None:
        """Refuse a lane that uses an element that another one writes."""
        accesses = [op for op in self.loop.block.ops if isinstance(op, LoadOp | StoreOp)]
        for op in accesses:
            if isinstance(op, StoreOp):
                others = [x for x in accesses if x is not op and x.memory is op.memory]
                if not all(self._are_apart(op, x) for x in others):
                    raise NotVectorizedError("a step uses an element that another one writes")

    def _are_apart(self, a: LoadOp | StoreOp, b: LoadOp | StoreOp) -> bool:
        """Whether the lanes of two accesses meet at most in the same lane."""
        distance = constant_difference(self.address(a), self.address(b), self.scope.env)
        stride = self.stride(a)
        if distance is None or stride != self.stride(b):
            return False
        is_between = bool(stride and distance % stride)
        return distance == 0 or is_between or (stride == 1 and abs(distance) >= self.lanes)

    def _stride(self, op: LoadOp | StoreOp) -> int | None:
        """Stride of the address from lane to lane, if it is a constant."""
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

    @property
    def _names(self) -> dict[str, SSAValue]:
        """Index values by their names; of those computed in the loop, their replacements."""
        return {name: self.values.get(v, v) for name, v in self.scope.values.items()}

    def _memory(self, op: LoadOp | StoreOp) -> SSAValue:
        """Memory of an access; of a buffer of the loop, the one that all lanes share."""
        return self.values.get(op.memory, op.memory)

    def _default(self, op: LoadOp) -> SSAValue | None:
        """Value of a load where its condition does not hold."""
        return None if op.default is None else self.values.get(op.default, op.default)

    def _is_in_memory(self, op: LoadOp) -> bool:
        """Whether an access is to memory that has vectors."""
        t = self._memory(op).type
        return isinstance(t, MemRefType) and t.memory_space in (LOCAL, GLOBAL)

    def _at(self, exprs: Sequence[Expr], lane: int = 0) -> list[Expr]:
        """Substitute a lane in expressions."""
        value = {str(self.lane): Expr.const(lane)}
        return [simplify(e.substitute(value), self.scope.env) for e in exprs]

    def _condition(self, op: LoadOp | StoreOp) -> Condition:
        condition = self.scope.condition(op)
        name = str(self.lane)
        if not is_uniform(condition, name, self.lanes, self.scope.env):
            raise NotVectorizedError(f"the condition '{condition}' depends on the lane")
        first = map_expressions(condition, lambda e: e.substitute({name: Expr()}))
        return simplify_condition(first, self.scope.env)

    def _load(self, op: LoadOp) -> None:
        stride = self.stride(op)
        if self._condition(op) == Truth(False):
            return self._keep_default(op)
        if stride not in (0, 1):
            return self._gather(op)
        default = self._default(op)
        if stride and default is not None:
            default = self._wide(default)
        elif default is not None and isinstance(default.type, VectorType):
            raise NotVectorizedError("the steps load one element, or else several")
        access, condition = self._at(self.scope.access(op)), self._condition(op)
        lanes = self.lanes if stride else 1
        new = LoadOp(self._names, self._memory(op), access, condition, default, lanes=lanes)
        self._keep(op, new)

    def _store(self, op: StoreOp) -> None:
        stride, value = self.stride(op), self.values.get(op.value, op.value)
        if stride not in (0, 1):
            return self._scatter(op, value)
        if not stride and isinstance(value.type, VectorType):
            raise NotVectorizedError("the steps store different values in one place")
        access, condition = self._at(self.scope.access(op)), self._condition(op)
        value = self._wide(value) if stride else value
        self.ops.append(StoreOp(self._names, value, self._memory(op), access, condition))

    def _gather(self, op: LoadOp) -> None:
        """Load each lane on its own, unless shuffles of vectors give them."""
        if self._is_reversed(op):
            return self._load_reversed(op)
        if op.default is not None:
            raise NotVectorizedError("the steps load elements that are no neighbours")
        condition, total = self._condition(op), None
        if group := self._interleaved_loads(op):
            self._deinterleave(op, group)
            return
        if self._is_strided(op):
            self._load_strided(op, condition)
            return
        access, names = self.scope.access(op), self._names
        t = vector_of(op.result.type, self.lanes)
        for lane in range(self.lanes):
            load = LoadOp(names, self._memory(op), self._at(access, lane), condition)
            load.result.name_hint = op.result.name_hint
            if total is None:
                new = vector.BroadcastOp(load.result, t)
            else:
                new = vector.InsertOp(load.result, total, [lane])
            self.ops += [load, new]
            self.values[op.result] = total = new.results[0]

    def _keep_default(self, op: LoadOp) -> None:
        """Replace a load that never happens by its default."""
        default = self._default(op)
        if default is None:
            self.ops.append(nothing := constant(0, op.result.type))
            default = nothing.results[0]
        self.values[op.result] = default

    def _is_reversed(self, op: LoadOp) -> bool:
        """Whether lanes read a long vector's elements of a row in reverse."""
        return (
            self.lanes >= LONG_LANES
            and self.stride(op) == -1
            and self._is_in_memory(op)
            and all(str(self.lane) not in e.names for e in self.scope.access(op)[:-1])
        )

    def _load_reversed(self, op: LoadOp) -> None:
        """Load a vector and reverse its lanes."""
        access, condition = self._at(self.scope.access(op), self.lanes - 1), self._condition(op)
        default = self._default(op)
        if default is not None:
            default = self._reverse(self._wide(default))
        memory = self._memory(op)
        load = LoadOp(self._names, memory, access, condition, default, lanes=self.lanes)
        load.result.name_hint = op.result.name_hint
        self.ops.append(load)
        self.values[op.result] = self._reverse(load.result)

    def _reverse(self, value: SSAValue) -> SSAValue:
        return self._shuffled(value, value, [*reversed(range(self.lanes))])

    def _shuffled(self, a: SSAValue, b: SSAValue, lanes: Sequence[int]) -> SSAValue:
        """Shuffle two vectors into one of their type."""
        self.ops.append(new := shuffle(a, b, lanes))
        return new.result

    def _is_strided(self, op: LoadOp) -> bool:
        """Whether lanes read floats of a row with a stride, which few long vectors cover."""
        is_long = self.lanes >= LONG_LANES and op.result.type == f32
        stride = self.stride(op) or 0
        is_near = 1 < stride <= self.lanes // LOADED_LANES
        return is_long and is_near and self._is_in_memory(op) and self._is_interleaved(op, stride)

    def _is_of_rows(self, op: LoadOp | StoreOp, stride: int) -> bool:
        """Whether lanes take the same element of each of neighbouring rows of a size.

        Where the stride is negative, they take the last row first.
        """
        size, step = abs(stride), 1 if stride > 0 else -1
        *outer, last = self.scope.access(op)
        memory, lane = self._memory(op).type, str(self.lane)
        if not outer or not isinstance(memory, MemRefType) or memory.get_shape()[-1] != size:
            return False
        moved = linear_in(outer[-1], Variable(lane))
        is_inside = all(lane not in e.names for e in outer[:-1])
        is_along = moved is not None and moved[0].value == step
        return last.value is not None and is_inside and is_along and self.stride(op) == stride

    def _load_strided(self, op: LoadOp, condition: Condition) -> None:
        """Shuffle strided lanes out of vectors in a row, the last of which ends at the last one."""
        stride, place = self.stride(op) or 0, self._at(self.scope.access(op))
        row = stride if self._is_of_rows(op, stride) else 0
        starts = strided_starts(stride, self.lanes)
        found = self._row_of(op, (place_at(place, k, row) for k in starts), condition)
        self.ops += (ops := gathered(found, range(0, stride * self.lanes, stride), starts))
        self.values[op.result] = ops[-1].result

    def _row_of(
        self, op: LoadOp, places: Iterable[Sequence[Expr]], condition: Condition
    ) -> list[SSAValue]:
        """Load whole vectors at some places in the memory of an op."""
        place = self._names, self._memory(op)
        loads = [LoadOp(*place, at, condition, lanes=self.lanes) for at in places]
        for load in loads:
            load.result.name_hint = op.result.name_hint
        self.ops += loads
        return [load.result for load in loads]

    def _interleaved_loads(self, op: LoadOp) -> list[LoadOp]:
        """Interleaved loads that together take all elements of a row, the first of each place."""
        stride = self.stride(op) or 0
        is_long = self.lanes >= LONG_LANES and op.result.type in INTERLEAVED_TYPES
        if not is_long or abs(stride) not in INTERLEAVED or not self._is_in_memory(op):
            return []
        found: dict[int, LoadOp] = {}
        condition = self._condition(op)
        for x in self.loop.block.ops:
            if not isinstance(x, LoadOp | StoreOp) or x.memory is not op.memory:
                continue
            distance = constant_difference(self.address(x), self.address(op), self.scope.env)
            if isinstance(x, StoreOp) or distance is None or x.default is not None:
                return []
            if self._is_interleaved(x, stride) and self._condition(x) == condition:
                found.setdefault(distance, x)
        places = sorted(found)
        is_whole = len(places) == abs(stride) and places[-1] - places[0] == abs(stride) - 1
        return [found[place] for place in places] if is_whole else []

    def _deinterleave(self, op: LoadOp, group: Sequence[LoadOp]) -> None:
        """Shuffle lanes out of vectors in a row, which the other interleaved loads share."""
        first, count, lanes = group[0], len(group), self.lanes
        is_reversed = self.stride(op) == -count
        if first not in self.rows:
            place = self._at(self.scope.access(first), lanes - 1 if is_reversed else 0)
            row = count if self._is_of_rows(first, -count if is_reversed else count) else 0
            places = (place_at(place, k * lanes, row) for k in range(count))
            self.rows[first] = self._row_of(op, places, self._condition(op))
        number = constant_difference(self.address(op), self.address(first), self.scope.env) or 0
        elements = interleaved_elements(number, count, lanes, is_reversed=is_reversed)
        self.ops += (ops := gathered(self.rows[first], elements, range(0, count * lanes, lanes)))
        self.values[op.result] = ops[-1].result

    def _scatter(self, op: StoreOp, value: SSAValue) -> None:
        """Store each lane on its own."""
        condition, access, names = self._condition(op), self.scope.access(op), self._names
        for lane in range(self.lanes):
            element = value
            if isinstance(value.type, VectorType):
                self.ops.append(extract := vector.ExtractOp(value, [lane], op.value.type))
                element = extract.result
            at = self._at(access, lane)
            self.ops.append(StoreOp(names, element, self._memory(op), at, condition))

    def _interleaved(self) -> dict[StoreOp, list[StoreOp]]:
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
        count, first = len(stores), self.address(stores[0])
        if count not in INTERLEAVED or not all(self._is_interleaved(op, count) for op in stores):
            return []
        if len({self._condition(op) for op in stores}) > 1:
            return []
        places = {constant_difference(self.address(x), first, self.scope.env): x for x in stores}
        known = sorted(place for place in places if place is not None)
        is_whole = len(known) == count and known[-1] - known[0] == count - 1
        return [places[place] for place in known] if is_whole else []

    def _is_apart_by(self, op: LoadOp | StoreOp, stride: int) -> bool:
        """Whether the lanes of a plain access have a stride along the last axis alone."""
        *outer, last = self.scope.access(op)
        moved = linear_in(last, Variable(str(self.lane)))
        is_inside = all(str(self.lane) not in e.names for e in outer)
        is_last = moved is not None and moved[0].value == stride
        return is_inside and is_last and self.stride(op) == stride

    def _is_interleaved(self, op: LoadOp | StoreOp, stride: int) -> bool:
        """Whether the lanes leave gaps for others, in a row or in short rows."""
        return self._is_apart_by(op, stride) or self._is_of_rows(op, stride)

    def _interleave(self, group: Sequence[StoreOp]) -> None:
        """Store the interleaved vectors of some stores; nothing if there are none."""
        if not group:
            return
        count, lanes = len(group), self.lanes
        values = [self._wide(self.values.get(op.value, op.value)) for op in group]
        place = self._at(self.scope.access(group[0]))
        in_rows = self._is_of_rows(group[0], count)
        condition = self._condition(group[0])
        for first in range(0, count * lanes, lanes):
            row = values[0]
            for number in range(1, count):
                found = interleaving_lanes(number, count, range(first, first + lanes))
                row = self._shuffled(row, values[number], found)
            at, memory = place_at(place, first, count if in_rows else 0), self._memory(group[0])
            self.ops.append(StoreOp(self._names, row, memory, at, condition))

    def _compute(self, op: Operation) -> None:
        if isinstance(op, IndexOp) and str(self.lane) in (e := self.scope.name(op.result)).names:
            at = {str(x): x for lane in range(self.lanes) for x in self._at([e], lane)}
            if len(at) == 1:
                return self._keep(op, IndexOp(self._names, *at.values()))
            self.moved[op.result] = e
            return
        if isinstance(op, arith.IndexCastOp) and op.input in self.moved:
            return self._number(op, self.moved[op.input])
        operands = [self.values.get(v, v) for v in op.operands]
        if not self.moved.keys().isdisjoint(operands):
            raise NotVectorizedError(f"there is no {op.name} of vectors")
        if not any(isinstance(v.type, VectorType) for v in operands):
            if self.loop.index in op.operands or op.regions:
                raise NotVectorizedError(f"there is no {op.name} of vectors")
            self._keep(op, op.clone(self.values.copy()))
            return
        types = [v.type for v in (*op.operands, *op.results)]
        if (
            op.dialect_name() not in (arith.Arith.name, math.Math.name)
            # OpenCL C has powers of integers by no function: they are a loop for each.
            or isinstance(op, math.IPowIOp)
            or any(isinstance(t, IndexType) for t in types)
        ):
            raise NotVectorizedError(f"there is no {op.name} of vectors")
        wide = [self._wide(v) for v in operands]
        results = [vector_of(r.type, self.lanes) for r in op.results]
        kind = type(op)
        if not any(isinstance(t, BFloat16Type) for t in types):
            kind = LANEWISE.get(kind, kind)
        new = kind.create(
            operands=wide,
            result_types=results,
            properties=op.properties,
            attributes=op.attributes,
        )
        try:
            # Some of xDSL's ops are of scalars alone.
            new.verify()
        except VerifyException:
            raise NotVectorizedError(f"there is no {op.name} of vectors") from None
        self._keep(op, new)

    def _number(self, op: arith.IndexCastOp, index: Expr) -> None:
        """Vector of an index's numbers: the first lane's, plus the others' constant distances."""
        at = [self._at([index], lane)[0] for lane in range(self.lanes)]
        differences = [constant_difference(e, at[0], self.scope.env) for e in at]
        steps = [d for d in differences if d is not None]
        t = op.result.type
        if len(steps) < self.lanes or not isinstance(t, IntegerType):
            raise NotVectorizedError("the distances of the lanes' numbers are not known")
        first = IndexOp(self._names, at[0])
        cast = arith.IndexCastOp(first.result, t)
        wide = VectorType(t, [self.lanes])
        offsets = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(wide, steps))
        self.ops += [first, cast, offsets]
        self._keep(op, arith.AddiOp(self._wide(cast.result), offsets.result))

    def _keep(self, old: Operation, new: Operation) -> None:
        self.ops.append(new)
        for a, b in zip(old.results, new.results, strict=True):
            b.name_hint = a.name_hint
            self.values[a] = b

    def _wide(self, value: SSAValue) -> SSAValue:
        """Broadcast a value to all lanes."""
        if isinstance(value.type, VectorType):
            return value
        self.ops.append(op := vector.BroadcastOp(value, vector_of(value.type, self.lanes)))
        op.results[0].name_hint = value.name_hint
        return op.results[0]


def vectorize(loop: ForOp, env: Env) -> None:
    """Replace a vector loop by ops on vectors, or unroll it."""
    hoist_branch(loop, env)
    vectorizer = Vectorizer(loop, NestScope(env=env))
    try:
        ops = vectorizer.run()
    except NotVectorizedError as e:
        # Dropped ops must not stay uses of their operands.
        for op in reversed(vectorizer.ops):
            op.drop_all_references()
        loop.role = RoleAttr(LoopRole(Role.UNROLL))
        loop.attributes[NOT_VECTORIZED] = StringAttr(str(e))
        return
    Rewriter.insert_op(ops, InsertPoint.before(loop))
    Rewriter.erase_op(loop, safe_erase=False)


class NestVectorizePass(ModulePass):
    """Vectorizes loops with the role `vector`.

    Neighbours in memory are loaded and stored together, and so are interleaved stores, or loads; a
    value that is the same in all lanes stays a scalar until it meets a vector. A loop whose steps
    cannot be lanes gets the role `unroll`, and says why.
    """

    name = "nest-vectorize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Vectorize every vector loop."""
        # The loops share the facts about the loops around them.
        env = Env()
        for loop in ops_of(op, ForOp):
            if loop.role.data.role is Role.VECTOR:
                vectorize(loop, env)
