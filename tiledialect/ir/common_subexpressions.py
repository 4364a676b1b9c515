"""xDSL's elimination of common subexpressions, which keeps names."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region
from xdsl.transforms.common_subexpression_elimination import (
    CommonSubexpressionElimination,
    CSEDriver,
)

from tiledialect.ir.names import take_name


class _NamingDriver(CSEDriver):
    """Driver that names an op like an equal one after it, if it has no name of its own."""

    def _replace_and_delete(self, op: Operation, existing: Operation) -> None:
        for old, new in zip(op.results, existing.results, strict=True):
            take_name(new, old)
        super()._replace_and_delete(op, existing)


def cse(thing: Operation | Region) -> None:
    """Merge equal ops, in place."""
    _NamingDriver().simplify(thing)


class NamingCsePass(CommonSubexpressionElimination):
    """Merges equal ops; the one that stays takes a name from the others if it has none."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge equal ops."""
        cse(op)
