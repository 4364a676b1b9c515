"""nest-vectorize: vector loops as ops on vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    ModuleOp,
    StringAttr,
    VectorType,
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
from tiledialect.index.integer.expressions import Condition, Expr, Truth
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import constant_difference
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.conditions import hoist_branch
from tiledialect.lowering.nest.utils.constants import constant
from tiledialect.lowering.nest.utils.lane_accesses import LaneAccesses, NotVectorizedError
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.lowering.nest.utils.shuffles import (
    gathered,
    interleaved_elements,
    interleaving_lanes,
    place_at,
    shuffle,
    strided_starts,
)
from tiledialect.schedule.loops import Role

VECTOR_SIZES = (2, 3, 4, 8, 16)
"""Numbers of elements of OpenCL C's vectors."""


@dataclass
class Vectorizer:
    """Vectorizes the ops of one vector loop."""

    loop: ForOp
    scope: NestScope

    def __post_init__(self):
        self.accesses = LaneAccesses(self.loop, self.scope)
        self.lanes, self.lane = self.accesses.lanes, self.accesses.lane
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
        self.accesses.check_overlap()
        together = self.accesses.interleaved_stores()
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

    def _load(self, op: LoadOp) -> None:
        stride = self.accesses.stride(op)
        if self.accesses.condition(op) == Truth(False):
            return self._keep_default(op)
        if stride not in (0, 1):
            return self._gather(op)
        default = self._default(op)
        if stride and default is not None:
            default = self._wide(default)
        elif default is not None and isinstance(default.type, VectorType):
            raise NotVectorizedError("the steps load one element, or else several")
        access, condition = self.accesses.place(op), self.accesses.condition(op)
        lanes = self.lanes if stride else 1
        new = LoadOp(self._names, self._memory(op), access, condition, default, lanes=lanes)
        self._keep(op, new)

    def _store(self, op: StoreOp) -> None:
        stride, value = self.accesses.stride(op), self.values.get(op.value, op.value)
        if stride not in (0, 1):
            self._scatter(op, value)
            return
        if not stride and isinstance(value.type, VectorType):
            raise NotVectorizedError("the steps store different values in one place")
        access, condition = self.accesses.place(op), self.accesses.condition(op)
        value = self._wide(value) if stride else value
        self.ops.append(StoreOp(self._names, value, self._memory(op), access, condition))

    def _gather(self, op: LoadOp) -> None:
        """Load each lane on its own, unless shuffles of vectors give them."""
        if self.accesses.is_reversed(op):
            self._load_reversed(op)
            return
        if op.default is not None:
            raise NotVectorizedError("the steps load elements that are no neighbours")
        condition, total = self.accesses.condition(op), None
        if group := self.accesses.interleaved_loads(op):
            self._deinterleave(op, group)
            return
        if self.accesses.is_strided(op):
            self._load_strided(op, condition)
            return
        names, t = self._names, vector_of(op.result.type, self.lanes)
        for lane in range(self.lanes):
            load = LoadOp(names, self._memory(op), self.accesses.place(op, lane), condition)
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

    def _load_reversed(self, op: LoadOp) -> None:
        """Load a vector and reverse its lanes."""
        place, condition = self.accesses.place(op, self.lanes - 1), self.accesses.condition(op)
        default = self._default(op)
        if default is not None:
            default = self._reverse(self._wide(default))
        memory = self._memory(op)
        load = LoadOp(self._names, memory, place, condition, default, lanes=self.lanes)
        load.result.name_hint = op.result.name_hint
        self.ops.append(load)
        self.values[op.result] = self._reverse(load.result)

    def _reverse(self, value: SSAValue) -> SSAValue:
        return self._shuffled(value, value, [*reversed(range(self.lanes))])

    def _shuffled(self, a: SSAValue, b: SSAValue, lanes: Sequence[int]) -> SSAValue:
        """Shuffle two vectors into one of their type."""
        self.ops.append(new := shuffle(a, b, lanes))
        return new.result

    def _load_strided(self, op: LoadOp, condition: Condition) -> None:
        """Shuffle strided lanes out of vectors in a row, the last of which ends at the last one."""
        stride, place = self.accesses.stride(op) or 0, self.accesses.place(op)
        row = stride if self.accesses.is_of_rows(op, stride) else 0
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

    def _deinterleave(self, op: LoadOp, group: Sequence[LoadOp]) -> None:
        """Shuffle lanes out of vectors in a row, which the other interleaved loads share."""
        first, count, lanes = group[0], len(group), self.lanes
        is_reversed = self.accesses.stride(op) == -count
        if first not in self.rows:
            place = self.accesses.place(first, lanes - 1 if is_reversed else 0)
            row = count if self.accesses.is_of_rows(first, -count if is_reversed else count) else 0
            places = (place_at(place, k * lanes, row) for k in range(count))
            self.rows[first] = self._row_of(op, places, self.accesses.condition(op))
        number = self.accesses.distance(first, op) or 0
        elements = interleaved_elements(number, count, lanes, is_reversed=is_reversed)
        self.ops += (ops := gathered(self.rows[first], elements, range(0, count * lanes, lanes)))
        self.values[op.result] = ops[-1].result

    def _scatter(self, op: StoreOp, value: SSAValue) -> None:
        """Store each lane on its own."""
        condition, names = self.accesses.condition(op), self._names
        for lane in range(self.lanes):
            element = value
            if isinstance(value.type, VectorType):
                self.ops.append(extract := vector.ExtractOp(value, [lane], op.value.type))
                element = extract.result
            at = self.accesses.place(op, lane)
            self.ops.append(StoreOp(names, element, self._memory(op), at, condition))

    def _interleave(self, group: Sequence[StoreOp]) -> None:
        """Store the interleaved vectors of some stores; nothing if there are none."""
        if not group:
            return
        count, lanes = len(group), self.lanes
        values = [self._wide(self.values.get(op.value, op.value)) for op in group]
        place = self.accesses.place(group[0])
        in_rows = self.accesses.is_of_rows(group[0], count)
        condition = self.accesses.condition(group[0])
        for first in range(0, count * lanes, lanes):
            row = values[0]
            for number in range(1, count):
                found = interleaving_lanes(number, count, range(first, first + lanes))
                row = self._shuffled(row, values[number], found)
            at, memory = place_at(place, first, count if in_rows else 0), self._memory(group[0])
            self.ops.append(StoreOp(self._names, row, memory, at, condition))

    def _compute(self, op: Operation) -> None:
        if isinstance(op, IndexOp) and str(self.lane) in self.scope.name(op.result).names:
            self._index(op, self.scope.name(op.result))
            return
        if isinstance(op, arith.IndexCastOp) and op.input in self.moved:
            self._number(op, self.moved[op.input])
            return
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

    def _index(self, op: IndexOp, index: Expr) -> None:
        """Keep an index value that is one for all lanes; others have one for each."""
        at = {str(e): e for lane in range(self.lanes) for e in self.accesses.at([index], lane)}
        if len(at) == 1:
            self._keep(op, IndexOp(self._names, *at.values()))
        else:
            self.moved[op.result] = index

    def _number(self, op: arith.IndexCastOp, index: Expr) -> None:
        """Vector of an index's numbers: the first lane's, plus the others' constant distances."""
        at = [self.accesses.at([index], lane)[0] for lane in range(self.lanes)]
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
