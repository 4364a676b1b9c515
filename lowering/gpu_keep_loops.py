"""gpu-keep-loops: for OpenCL implementations that need it, loops with branches stay loops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tiledialect.lowering.nest.builder import PRIVATE
from tiledialect.ops_in import ops_in, ops_of

KEEPS_LOOPS = ("Intel(R) OpenCL",)
"""Platforms that need the pass: Intel's compiler for CPUs unrolls a loop of 32 iterations with a
branch in it, and then takes minutes to make the branches into masks. An eighth of the time that it
takes for a network goes into loops around loops, which are no faster for it."""

KEEP_LOOP = "tile.keep_loop"
"""The attribute of a loop that must not be unrolled."""
FEW = 4
"""A loop of no more iterations may be unrolled all the same."""


@dataclass(frozen=True)
class GpuKeepLoopsPass(ModulePass):
    """Marks loops that the OpenCL compiler is not to unroll, as schedules have unrolled what pays.

    These are innermost loops with a branch in them, and loops around loops but for those that use
    arrays in private memory, which may become registers. Loops of a few iterations, with none but
    such in them, are left to it.
    """

    name = "gpu-keep-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark the loops of every kernel."""
        private = set(filter(_is_private, ops_in(op)))
        for loop in ops_of(op, scf.ForOp):
            loops = ops_of(loop.body.block, scf.ForOp)
            if all(map(_is_short, (loop, *loops))):
                continue
            if loops:
                keep = private.isdisjoint(ops_in(loop.body.block))
            else:
                keep = bool(ops_of(loop.body.block, scf.IfOp))
            if keep:
                loop.attributes[KEEP_LOOP] = UnitAttr()


def _is_private(op: Operation) -> bool:
    """Whether an op uses an array in private memory."""
    return any(
        isinstance(v.type, MemRefType) and v.type.memory_space == PRIVATE for v in op.operands
    )


def _is_short(loop: scf.ForOp) -> bool:
    bounds = [_constant(v) for v in (loop.lb, loop.ub, loop.step)]
    if None in bounds:
        return False
    lower, upper, step = (b or 0 for b in bounds)
    return step > 0 and upper - lower <= FEW * step


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None
