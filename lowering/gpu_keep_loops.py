"""gpu-keep-loops: for OpenCL implementations that need it, loops with branches stay loops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

KEEPS_LOOPS = ("Intel(R) OpenCL",)
"""Platforms that need the pass: Intel's compiler for CPUs unrolls a loop of 32 iterations with a
branch in it, and then takes minutes to make the branches into masks."""

KEEP_LOOP = "tile.keep_loop"
"""The attribute of a loop that must not be unrolled."""
FEW = 4
"""A loop of no more iterations may be unrolled all the same."""


@dataclass(frozen=True)
class GpuKeepLoopsPass(ModulePass):
    """Marks innermost loops with a branch in them: the OpenCL compiler is not to unroll them.

    Loops of a few iterations are left to it. What was to be unrolled by a schedule is no loop any
    more.
    """

    name = "gpu-keep-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark the loops of every kernel."""
        for loop in [x for x in op.walk() if isinstance(x, scf.ForOp)]:
            inside = [x for x in loop.walk() if x is not loop]
            is_innermost = not any(isinstance(x, scf.ForOp) for x in inside)
            branches = any(isinstance(x, scf.IfOp) for x in inside)
            if is_innermost and branches and not _is_short(loop):
                loop.attributes[KEEP_LOOP] = UnitAttr()


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
