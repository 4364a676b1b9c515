"""lift-bind: give names of sizes their values."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.ir.signature import find_function
from tiledialect.ir.verification import verify
from tiledialect.passes.lift.lift_rewrite import record
from tiledialect.passes.lift.rules.open_sizes import bind_named
from tiledialect.passes.lift.rules.rule import Binding
from tiledialect.passes.lift.strategies.derivation import parse_sizes


@dataclass(frozen=True)
class LiftBindPass(ModulePass):
    """Gives names of sizes their values, such as tile sizes that a rewrite left open.

    An impossible value, such as one that does not divide the size that it splits, is refused.
    """

    name = "lift-bind"

    sizes: tuple[str, ...]
    """Values, as `n=4`; also as other sizes, `n=N / 2`."""
    function: str | None = None
    """Name of the function; may be left out if there is only one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Bind the names."""
        values = parse_sizes(", ".join(self.sizes))
        function = find_function(op, self.function)
        bind_named(function, dict(values))
        verify(op)
        record(function, [Binding(values)])
