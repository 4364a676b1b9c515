"""lift-bind: give names of sizes their values."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.passes.lift.derivation import parse_sizes
from tiledialect.passes.lift.open_sizes import bind_named
from tiledialect.passes.lift.rules import Binding
from tiledialect.passes.lift_rewrite import record
from tiledialect.signature import find_function
from tiledialect.verification import verify


@dataclass(frozen=True)
class LiftBindPass(ModulePass):
    """Gives names of sizes their values, such as tile sizes that a rewrite left open.

    A value that does not do, such as one that does not divide what it splits, is refused.
    """

    name = "lift-bind"

    sizes: tuple[str, ...]
    """The values, as `n=4`; also as other sizes, `n=N / 2`."""
    function: str | None = None
    """Which function; may be left out if there is only one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Bind the names."""
        values = parse_sizes(", ".join(self.sizes))
        function = find_function(op, self.function)
        bind_named(function, dict(values))
        verify(op)
        record(function, [Binding(values)])
