"""The order of evaluation in a kernel.

Which values are written inside the expression that uses them, and which variables may be
overwritten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import prod

from xdsl.dialects import arith, gpu, memref, scf, vector
from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, Float64Type, VectorType
from xdsl.ir import Operation, SSAValue, Use
from xdsl.traits import IsTerminator

from tiledialect.ir.ops_in import ops_in
from tiledialect.lowering.gpu.gpu_widen_bf16 import is_bf16
from tiledialect.lowering.opencl.arith_ops import ARITH
from tiledialect.lowering.opencl.math_ops import MATH
from tiledialect.lowering.opencl.memory import LOADS, MEMORY_EXPRESSIONS
from tiledialect.lowering.opencl.views import VIEWS

PURE = {**ARITH, **MATH, **MEMORY_EXPRESSIONS}

# Written at every use: they cost nothing.
FREE = frozenset((arith.ConstantOp, vector.BroadcastOp, memref.DimOp, memref.RankOp, *VIEWS))

# Their text repeats an operand, which must therefore be a variable.
REPEATING: tuple[type[Operation], ...] = (
    vector.ShuffleOp,
    vector.ReductionOp,
    arith.AddUIExtendedOp,
    arith.MulSIExtendedOp,
    arith.MulUIExtendedOp,
)

# Evaluated again in every iteration.
LOOP_BOUNDS = range(3)

WRITES, READS, WAITS = range(3)
"""Positions of the counts: ops that may write, loads, barriers."""
NONE = (0, 0, 0)

LONG_BITS = 256
"""Bits of a vector that only CPUs have registers for."""

WORK_ITEM_IDS: tuple[type[Operation], ...] = (
    gpu.ThreadIdOp,
    gpu.BlockIdOp,
    gpu.BlockDimOp,
    gpu.GridDimOp,
    gpu.GlobalIdOp,
)
WITHOUT_EFFECT = frozenset((*PURE, *LOADS, *VIEWS, *WORK_ITEM_IDS, *REPEATING))
HARMLESS = WITHOUT_EFFECT | {memref.AllocaOp, memref.AllocOp, memref.DeallocOp}


def is_free(op: Operation) -> bool:
    """Whether an op has no code of its own."""
    # It is asked of every op, and `isinstance` takes long to deny.
    if type(op) is arith.ExtFOp:
        return not isinstance(op.result.type, Float64Type) and not is_bf16(op.input.type)
    return type(op) in FREE


def _writes_itself(op: Operation) -> bool:
    """Whether an op may change memory that a load reads, apart from its regions."""
    if type(op) in HARMLESS or op.has_trait(IsTerminator):
        return False
    return not isinstance(op, scf.ForOp | scf.IfOp | scf.WhileOp | scf.IndexSwitchOp)


def _is_long(t: VectorType) -> bool:
    """Whether a vector fills one register of a CPU, or several."""
    element = t.element_type
    if not isinstance(element, FixedBitwidthType):
        return False
    return prod(t.get_shape()) * element.bitwidth >= LONG_BITS


class Inlining:
    """The answers for one function, worked out once, from its last op to its first."""

    def __init__(self, function: Operation) -> None:
        self.ops = ops_in(function)
        """The function and its ops."""
        self._order = {op: i for i, op in enumerate(self.ops)}
        self._counts = self._count(self._writing())
        """Numbers of writes, loads and barriers in an op's block up to the op."""
        self._dead: set[Operation] = set()
        self._inlined: set[Operation] = set()
        self._place: dict[Operation, Use] = {}
        for op in reversed(self.ops):
            if self._is_needless(op):
                self._dead.add(op)
            elif len(op.results) == 1:
                self._find_place(op)
                if self._decide(op):
                    self._inlined.add(op)

    def _writing(self) -> set[Operation]:
        """Ops that write, or hold ops that do."""
        writing: set[Operation] = set()
        # What is inside an op comes before it.
        for op in reversed(self.ops):
            if type(op) in HARMLESS:
                continue
            inside = (o for region in op.regions for block in region.blocks for o in block.ops)
            if _writes_itself(op) or any(o in writing for o in inside):
                writing.add(op)
        return writing

    def _count(self, writing: Collection[Operation]) -> dict[Operation, tuple[int, int, int]]:
        counts: dict[Operation, tuple[int, int, int]] = {}
        for op in self.ops:
            before = op.prev_op
            written, loaded, waited = counts.get(before, NONE) if before is not None else NONE
            kind = type(op)
            counts[op] = (
                written + (op in writing),
                loaded + (kind in LOADS),
                waited + (kind is gpu.BarrierOp),
            )
        return counts

    def _comes_between(self, what: int, first: Operation, last: Operation) -> bool:
        """Whether an op of a counted kind is between two ops of a block."""
        before = last.prev_op
        return before is not None and self._counts[before][what] > self._counts[first][what]

    def is_dead(self, op: Operation) -> bool:
        """Whether no printed op needs the op."""
        return op in self._dead

    def is_inlined(self, op: Operation) -> bool:
        """Whether the op's result is written inside the expressions that use it."""
        return op in self._inlined

    def uses(self, value: SSAValue) -> list[Use]:
        """The uses that are printed."""
        return [use for use in value.uses if use.operation not in self._dead]

    def _is_needless(self, op: Operation) -> bool:
        dead = self._dead
        return type(op) in WITHOUT_EFFECT and not any(
            use.operation not in dead for r in op.results for use in r.uses
        )

    def _only_use(self, op: Operation) -> Use | None:
        """The only use of an op's result that is printed, if it is one."""
        found: Use | None = None
        for use in op.results[0].uses:
            if use.operation not in self._dead:
                if found is not None:
                    return None
                found = use
        return found

    def _find_place(self, op: Operation) -> None:
        """The only place in the op's own block where its expression would stand, if there is
        one."""
        use = self._only_use(op)
        if use is None or use.operation.parent is not op.parent:
            return
        user = use.operation
        if type(user) not in REPEATING:
            place = self._place.get(user) if user in self._inlined else use
            if place is not None:
                self._place[op] = place

    def _decide(self, op: Operation) -> bool:
        if is_free(op):
            return True
        is_load = type(op) in LOADS
        place = self._place.get(op)
        if place is None or not (is_load or type(op) in PURE):
            return False
        if type(op) is arith.BitcastOp and type(load := op.operands[0].owner) in LOADS:
            # The bits of a half are free where it is loaded, and only there.
            return (
                isinstance(load, Operation)
                and load.parent is op.parent
                and not self._comes_between(WRITES, load, place.operation)
            )
        if not is_load:
            return not (
                self._is_step_before_loads(op, place.operation)
                or self._is_real_before_barrier(op, place.operation)
            )
        if isinstance(place.operation, scf.ForOp) and place.index in LOOP_BOUNDS:
            return False
        return not self._comes_between(WRITES, op, place.operation)

    def _is_step_before_loads(self, op: Operation, place: Operation) -> bool:
        """Whether the op is a step of a sum of long vectors before loads for the next step.

        Written where the last step is, the loads of all steps would be in registers together, and
        compilers leave them so: of 6 x 4 vectors of sums, four steps unrolled, a third were moved
        to the stack and back.
        """
        if type(op) is not arith.AddfOp or not self._comes_between(READS, op, place):
            return False
        next_step, t = self._only_use(op), op.results[0].type
        if next_step is None or type(next_step.operation) is not arith.AddfOp:
            return False
        return isinstance(t, VectorType) and _is_long(t)

    def _is_real_before_barrier(self, op: Operation, place: Operation) -> bool:
        """Whether an op on reals has a barrier between itself and its place.

        All its operands would be alive there. Intel's compiler took them for other values where the
        results of work-items that wait are computed of the same differences.
        """
        if not self._comes_between(WAITS, op, place):
            return False
        t = op.results[0].type
        return isinstance(t.element_type if isinstance(t, VectorType) else t, AnyFloat)

    def _reading(self, value: SSAValue) -> Iterator[Use]:
        """Ops that read the value, through inlined ops."""
        for use in self.uses(value):
            if use.operation not in self._inlined:
                yield use
            elif place := self._place.get(use.operation):
                yield place
            else:
                yield from self._reading(use.operation.results[0])

    def may_overwrite(self, aliases: list[SSAValue], op: Operation, *, inside: bool) -> bool:
        """Whether ``op`` may change a variable that holds these values.

        With ``inside``, the regions of the op read before the change.
        """
        return all(
            self._reads_before(use, op, inside=inside)
            for alias in aliases
            for use in self._reading(alias)
        )

    def _reads_before(self, use: Use, op: Operation, *, inside: bool) -> bool:
        reader = use.operation
        if reader.is_ancestor(op):
            # What a loop starts from, or a condition, is read once; its bounds again and again.
            return not (isinstance(reader, scf.ForOp) and use.index in LOOP_BOUNDS)
        if op.is_ancestor(reader):
            return inside
        return self._order[reader] < self._order[op]
