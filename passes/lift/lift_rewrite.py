"""lift-rewrite: apply rewrite rules at places of a Lift program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr

from tiledialect.dialects.discardable import STEPS
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import read_text
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.ir.signature import find_function
from tiledialect.passes.lift.rules.collections import rules_with
from tiledialect.passes.lift.rules.rule import Binding, Named, Step
from tiledialect.passes.lift.strategies.combinators import everywhere
from tiledialect.passes.lift.strategies.derivation import Derivation, named, parse_sizes, replay


def recorded(function: func.FuncOp) -> list[str]:
    """Steps recorded in a function's attribute."""
    steps = function.attributes.get(STEPS, ArrayAttr([]))
    assert isinstance(steps, ArrayAttr)
    return [step.data for step in steps if isinstance(step, StringAttr)]


def record(function: func.FuncOp, steps: Iterable[Step | Binding]) -> None:
    """Add steps to a function's attribute."""
    texts = [*recorded(function), *map(str, steps)]
    function.attributes[STEPS] = ArrayAttr([StringAttr(text) for text in texts])


@dataclass(frozen=True)
class LiftRewritePass(PassWithFlags):
    """Applies a rewrite rule to a Lift program, at a place, or a script of such steps.

    `at` is an address such as `map.1/reduce`: the reduction in the function of the second map.
    Without it, the rule is applied at the first place from the result on where it can be. The steps
    are recorded in the function's attribute `lift.steps`.
    """

    name = "lift-rewrite"

    rule: str | None = None
    """Name of the rule."""
    at: str | None = None
    """Address of the place."""
    sizes: tuple[str, ...] = ()
    """Values of the rule's parameters, as `n=4`; a size that has none gets a new name."""
    everywhere: bool = False
    """Whether to apply the rule again, anywhere, as long as it can be."""
    script: str | None = None
    """A file of steps instead, each written as they are recorded: `split_join(n=4) at map`."""
    load: str | None = None
    """A Python file that defines more rules."""
    function: str | None = None
    """Name of the function; may be left out if there is only one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the function."""
        rules = rules_with(self.load)
        function = find_function(op, self.function)
        done = self._derivation(Derivation.of(ModuleOp([function.clone()])), rules)
        new = done.function
        new.detach()
        record(new, done.steps)
        block = function.parent
        assert block is not None
        block.insert_op_before(new, function)
        function.detach()
        function.erase()

    def _derivation(self, program: Derivation, rules: Mapping[str, Named]) -> Derivation:
        if (self.rule is None) == (self.script is None):
            raise TileError("lift-rewrite takes a rule or a script")
        if self.script is not None:
            return replay(program, read_text(Path(self.script)), rules, self.script)
        assert self.rule is not None
        rule = named(self.rule, rules)
        sizes = dict(parse_sizes(", ".join(self.sizes)))
        done = program.apply(rule, self.at, **sizes)
        return done.apply(everywhere(rule(**sizes))) if self.everywhere else done
