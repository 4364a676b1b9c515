"""gpu-keep-loops: for OpenCL implementations that need it, loops stay loops, and scalar.

An eighth of the time that Intel's compiler takes for a network goes into loops around loops, which
are no faster for it. Vectorized wrongly are loops whose steps do not fill whole vectors; loops with
a branch for the last iteration end its process from 64 iterations on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import takewhile

from xdsl.context import Context
from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnitAttr, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tiledialect.dialects.discardable import KEEP_LOOP, KEEP_SCALARS
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.gpu.utils.loops import steps_of
from tiledialect.lowering.nest.utils.builder import GLOBAL, PRIVATE
from tiledialect.schedule.loops import SHORT_ROW

FUNCTIONS = f"{math.Math.name}."
"""Prefix of the names of ops that may be calls of functions."""
ARITHMETIC = frozenset(
    (
        *(arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp),
        *(arith.RemSIOp, arith.RemUIOp, arith.MulSIExtendedOp, arith.MulUIExtendedOp),
        *(arith.MinnumfOp, arith.MaxnumfOp),
    )
)
"""Other ops that may be calls of functions."""
FEW = 4
"""Most iterations of loops that may be unrolled all the same."""


class GpuKeepLoopsPass(ModulePass):
    """Marks loops that the OpenCL compiler is not to unroll or vectorize: schedules did it.

    Not to be unrolled are innermost loops that have a branch in them or write short rows, several
    numbers one by one, and loops around loops, except loops that use arrays in private memory,
    which may become registers. Nests of loops of a few iterations are left to the compiler. Not to
    be vectorized are innermost loops that call functions on scalars, or divide integers, and loops
    that test for their last iteration alone, which may be unrolled.
    """

    name = "gpu-keep-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark the loops of every kernel."""
        loops = ops_of(op, scf.ForOp)
        outer, private = _ancestors_of(loops), _ancestors_of(_uses_of_private(op))
        long = [loop for loop in loops if not _is_short(loop)]
        holds_long = {*long, *_ancestors_of(long)}
        for loop in loops:
            if loop not in outer:
                _mark_innermost(loop)
            elif loop in holds_long and loop not in private:
                loop.attributes[KEEP_LOOP] = UnitAttr()


def _ancestors_of(ops: Iterable[Operation]) -> set[Operation]:
    """Ancestors of ops."""
    found: set[Operation] = set()
    for op in ops:
        # The ancestors of a found op were found with it.
        found.update(takewhile(lambda outer: outer not in found, ancestors(op)))
    return found


def _mark_innermost(loop: scf.ForOp) -> None:
    """Mark a loop without others in it."""
    inside = ops_in(loop.body.block)
    tests_last = any(_tests_last(x, loop) for x in inside)
    if tests_last or any(map(_may_call, inside)):
        loop.attributes[KEEP_SCALARS] = UnitAttr()
    has_branches = any(type(x) is scf.IfOp for x in inside)
    is_kept = has_branches or _writes_rows(inside)
    if is_kept and not tests_last and not _is_short(loop):
        loop.attributes[KEEP_LOOP] = UnitAttr()


def _writes_rows(ops: Iterable[Operation]) -> bool:
    """Whether the numbers of short rows are stored one by one in some array in global memory.

    Vectors of the steps would be scattered, lane by lane.
    """
    ops = list(ops)
    if any(isinstance(v.type, VectorType) for op in ops for v in op.results):
        return False
    arrays = [x.memref for x in ops if isinstance(x, memref.StoreOp)]
    stores = Counter(
        a for a in arrays if isinstance(a.type, MemRefType) and a.type.memory_space == GLOBAL
    )
    return any(1 < count < SHORT_ROW for count in stores.values())


def _uses_of_private(module: ModuleOp) -> set[Operation]:
    """The ops that use arrays in private memory."""
    found: set[Operation] = set()
    arrays: list[SSAValue] = [
        x.memref for x in ops_of(module, memref.AllocaOp) if x.memref.type.memory_space == PRIVATE
    ]
    while arrays:
        for use in arrays.pop().uses:
            found.add(use.operation)
            arrays += [v for v in use.operation.results if isinstance(v.type, MemRefType)]
    return found


def _may_call(op: Operation) -> bool:
    """Whether an op may be a call of a function on scalars."""
    is_function = type(op) in ARITHMETIC or op.name.startswith(FUNCTIONS)
    return is_function and not isinstance(op.results[0].type, VectorType)


def _tests_last(op: Operation, loop: scf.ForOp) -> bool:
    """Whether an op tests whether an iteration of a loop is before the last one."""
    if type(op) is not arith.CmpiOp or op.lhs is not loop.body.block.args[0]:
        return False
    bound, steps = constant_integer(op.rhs), steps_of(loop)
    return bound is not None and steps is not None and bound == steps - 1


def _is_short(loop: scf.ForOp) -> bool:
    steps = steps_of(loop)
    return steps is not None and steps <= FEW
