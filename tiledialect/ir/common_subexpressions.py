"""xDSL's elimination of common subexpressions, which keeps names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.transforms.common_subexpression_elimination import (
    CommonSubexpressionElimination,
    CSEDriver,
)

from tiledialect.ir.names import take_name


@dataclass
class _NamingDriver(CSEDriver):
    """Driver that names an op like an equal one after it, if it has no name of its own."""

    axes: Mapping[SSAValue, object] = field(default_factory=dict[SSAValue, object])

    def _replace_and_delete(self, op: Operation, existing: Operation) -> None:
        pairs = zip(op.results, existing.results, strict=True)
        if any(self.axes.get(a) != self.axes.get(b) for a, b in pairs):
            return
        for old, new in zip(op.results, existing.results, strict=True):
            take_name(new, old)
        super()._replace_and_delete(op, existing)


def cse(thing: Operation | Region, axes: Mapping[SSAValue, object] | None = None) -> None:
    """Merge equal ops, in place; those whose results lie along other axes are not equal."""
    _NamingDriver(axes=axes or {}).simplify(thing)


class NamingCsePass(CommonSubexpressionElimination):
    """Merges equal ops; the one that stays takes a name from the others if it has none."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge equal ops."""
        cse(op)
