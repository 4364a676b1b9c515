"""Values of a function that are computed of constant arguments alone, or of no argument."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects import func
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.ir.signature import argument_names

PURE = (KernelOp, ReshapeOp)
"""Ops that may be computed once."""


def known_values(function: func.FuncOp, constants: Collection[str]) -> set[SSAValue]:
    """Constant arguments of a function, and what is computed of these alone, or of nothing."""
    names = zip(function.body.block.args, argument_names(function), strict=True)
    known: set[SSAValue] = {a for a, name in names if name in constants}
    for op in function.body.block.ops:
        if isinstance(op, PURE) and all(v in known for v in op.operands):
            known.update(op.results)
    return known
