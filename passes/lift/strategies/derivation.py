"""Derivations: programs and the rules that made them, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.lift.attributes import size_of
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.sharing import unseen
from tiledialect.errors import SourceSpan, TileError
from tiledialect.index.size import Size
from tiledialect.ir.mlir_text import print_module
from tiledialect.ir.signature import find_function
from tiledialect.ir.verification import verify
from tiledialect.lift.program import Program
from tiledialect.lift.values import to_size
from tiledialect.passes.lift.rules.collections import rules_with
from tiledialect.passes.lift.rules.open_sizes import bind_named, open_sizes
from tiledialect.passes.lift.rules.places import op_at, places
from tiledialect.passes.lift.rules.refusal import Mismatch, NotApplicable, require_kind
from tiledialect.passes.lift.rules.rule import (
    Applied,
    Binding,
    Named,
    Rewriting,
    Step,
    Strategy,
)
from tiledialect.passes.lift.strategies.combinators import nowhere, require_strategies, top_down

Rules = Mapping[str, Named]


@dataclass(frozen=True)
class Derivation:
    """Program, and the steps that lead to it from another.

    Printed, it is every program on the way with the rules between them.

    Example:
    ```python
    tiled = Derivation.of(stencil).apply(RULES["tile_stencil"], "map")
    assert tiled.text == "tile_stencil(v=v, u=u) at map\\n" and tiled.sizes == {"N", "v", "u"}
    assert str(tiled.bind(u=6).module) == str(tiled.bind(v=4).module)
    ```
    """

    module: ModuleOp
    steps: tuple[Step | Binding, ...] = ()
    before: Derivation | None = None
    """Program that the last step was applied to."""
    name: str | None = None
    """Name of the function that is rewritten, if there are several."""

    @staticmethod
    def of(program: Program | ModuleOp | Derivation, name: str | None = None) -> Derivation:
        """Derivation of the program alone; a derivation is itself."""
        if isinstance(program, Derivation):
            return program
        module = program.module if isinstance(program, Program) else program
        require_kind(module, ModuleOp, "a program is of lift.fun, a ModuleOp or a Derivation")
        find_function(module, name)
        return Derivation(module.clone(), name=name)

    @property
    def function(self) -> func.FuncOp:
        """Function that is rewritten."""
        return find_function(self.module, self.name)

    @property
    def initial(self) -> Derivation:
        """Derivation without its steps."""
        return self if self.before is None else self.before.initial

    def apply(
        self, strategy: Strategy, place: str | None = None, **sizes: Size | int | str
    ) -> Derivation:
        """Apply a rule at a place, or follow a strategy from there, as one more step.

        Without a place, a rule is applied at the first one from the top where it can be, and a
        strategy at the program's result. Raises ``NotApplicable``.
        """
        require_strategies(strategy)
        module = self.module.clone()
        rewriting = Rewriting(find_function(module, self.name))
        if isinstance(strategy, Named) and (sizes or place is not None):
            strategy = strategy(**sizes)
        if place is not None:
            op = op_at(place, rewriting.function)
            try:
                strategy.run(rewriting, op.results[0])
            except NotApplicable as error:
                raise type(error)(f"at {place}, {error.message}") from None
        else:
            _search(strategy, rewriting)
        region_dce(rewriting.function.body)
        verify(module)
        _require_visible(self.function, rewriting)
        steps = (*self.steps, *rewriting.steps)
        return Derivation(module, steps, self, self.name)

    @property
    def sizes(self) -> frozenset[str]:
        """Names of sizes that the program leaves open."""
        return open_sizes(self.function)

    def bind(self, **sizes: int | str | Size) -> Derivation:
        """Bind names of sizes to values, and with them the names that they define.

        Raises a TileError if there is no such name.
        """
        module = self.module.clone()
        values = {name: to_size(size, None) for name, size in sizes.items()}
        bind_named(find_function(module, self.name), values)
        verify(module)
        steps = (*self.steps, Binding(tuple(values.items())))
        return Derivation(module, steps, self, self.name)

    def redo(self, step: Step | Binding) -> Derivation:
        """Repeat a step on the derivation."""
        require_kind(step, Step | Binding, "a step is one of a derivation's `steps`")
        if isinstance(step, Binding):
            return self.bind(**dict(step.sizes))
        return self.apply(step.rule, step.place, **dict(step.sizes))

    # -- printing ------------------------------------------------------------------------------

    def history(self) -> Iterator[Derivation]:
        """Every program of the derivation, one elementary step after the other."""
        current = self.initial
        yield current
        for step in self.steps:
            current = current.redo(step)
            yield current

    @property
    def text(self) -> str:
        """Steps, a line each, from which ``replay`` makes the derivation again."""
        return "".join(f"{step}\n" for step in self.steps)

    def __str__(self) -> str:
        """Every program, and between them the rules."""
        parts: list[str] = []
        for k, current in enumerate(self.history()):
            if k:
                step = self.steps[k - 1]
                parts.append(f"// {step}\n// {step.equation}\n")
            parts.append(print_module(current.module))
        return "\n".join(parts)


def _require_visible(before: func.FuncOp, rewriting: Rewriting) -> None:
    """Refuse steps after which no kernels can be made."""
    op = unseen(rewriting.function)
    if isinstance(op, LiftOp) and unseen(before) is None:
        *_, step = rewriting.steps
        raise NotApplicable(
            f"at {step.place}, {step.rule.name}: other work-groups would read the result of "
            f"{op.pattern()} in the same kernel, and cannot wait for it"
        )


def _search(strategy: Strategy, rewriting: Rewriting) -> None:
    if not isinstance(strategy, Named | Applied):
        _at_a_result(strategy, rewriting)
        return
    rule = strategy.rule if isinstance(strategy, Applied) else strategy
    try:
        _at_a_result(top_down(strategy), rewriting)
    except Mismatch:
        raise Mismatch(f"{rule.name} applies nowhere; it rewrites {rule.looks_for}") from None


def _at_a_result(strategy: Strategy, rewriting: Rewriting) -> None:
    """Follow a strategy at the first of the function's results where it applies."""
    last = rewriting.function.body.block.last_op
    refused: list[NotApplicable] = []
    for value in last.operands if last is not None else ():
        try:
            strategy.run(rewriting, value)
            return
        except NotApplicable as error:
            refused.append(error)
    raise nowhere(refused)


def _known(rules: Rules | None) -> Rules:
    """Rules by their names, as given, or all that there are."""
    if rules is None:
        return rules_with()
    require_kind(rules, Mapping, "rules are given by their names, as RULES has them")
    for rule in rules.values():
        require_kind(rule, Named, "rules are given by their names, as RULES has them")
    return rules


def applicable(
    program: Program | ModuleOp | Derivation, rules: Rules | None = None
) -> list[tuple[Named, str]]:
    """Every rule with every place where it applies, with new names for its sizes.

    Example:
    ```python
    assert ("reduce_seq", "map/reduce") in [(r.name, place) for r, place in applicable(stencil)]
    ```
    """
    derivation = Derivation.of(program)
    known = _known(rules)
    rewriting = Rewriting(find_function(derivation.module.clone(), derivation.name))
    before = rewriting.checkpoint()
    found: list[tuple[Named, str]] = []
    for place, op in places(rewriting.function).items():
        for rule in known.values():
            try:
                rule.run(rewriting, op.results[0])
                _require_visible(derivation.function, rewriting)
            except NotApplicable:
                continue
            finally:
                rewriting.back_to(before)
            found.append((rule, place))
    return found


def apply(
    program: Program | ModuleOp | Derivation,
    strategy: Strategy,
    place: str | None = None,
    **sizes: Size | int | str,
) -> Derivation:
    """Apply a rule to a program at a place, or follow a strategy from there.

    Example:
    ```python
    tiled = apply(stencil, RULES["tile_stencil"], "map", v=4)
    ```
    """
    derivation = Derivation.of(program)
    return derivation.apply(strategy, place, **sizes)


_STEP = re.compile(r"(?P<rule>\w+)(?:\((?P<sizes>.*)\))? at (?P<place>\S+)")
_BINDING = re.compile(r"bind\((?P<sizes>.*)\)")


def parse_step(line: str, rules: Rules) -> Step | Binding:
    """Parse a step from a line such as ``split_join(n=4) at map``, or ``bind(n=4)``."""
    if match := _BINDING.fullmatch(line):
        return Binding(parse_sizes(match["sizes"]))
    if match := _STEP.fullmatch(line):
        return Step(named(match["rule"], rules), match["place"], parse_sizes(match["sizes"] or ""))
    raise TileError(f"a step is written as 'rule(n=4) at place' or 'bind(n=4)', not {line!r}")


def parse_sizes(text: str) -> tuple[tuple[str, Size | int], ...]:
    """Parse sizes from a text such as ``n=4, v=N / 2``."""
    found: dict[str, Size | int] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, equals, size = (part.strip() for part in pair.partition("="))
        if not equals:
            raise TileError(f"a size is given as name=size, not {pair!r}")
        if name in found:
            raise TileError(f"{name} is given twice: {found[name]} and {size}")
        found[name] = size_of(size)
    return tuple(found.items())


def named(name: str, rules: Rules) -> Named:
    """Rule of that name."""
    if name in rules:
        return rules[name]
    import difflib

    close = difflib.get_close_matches(name, rules, 1)
    raise TileError(f"there is no rule {name}" + (f"; there is {close[0]}" if close else ""))


def replay(
    program: Program | ModuleOp | Derivation,
    text: str,
    rules: Rules | None = None,
    file: str = "<script>",
) -> Derivation:
    """Derivation whose steps are written a line each; ``#`` begins a comment.

    A TileError, or a ``NotApplicable``, names the line, and the ``file`` that the text is of.

    Example:
    ```python
    again = replay(stencil, "tile_stencil(v=v) at map  # overlapping tiles\\nbind(v=4)")
    assert str(again.module) == str(tiled.module)
    ```
    """
    derivation = Derivation.of(program)
    require_kind(text, str, "the steps are a text")
    known = _known(rules)
    for number, line in enumerate(text.splitlines(), 1):
        step = line.partition("#")[0].strip()
        if not step:
            continue
        try:
            derivation = derivation.redo(parse_step(step, known))
        except TileError as error:
            column = len(line) - len(line.lstrip()) + 1
            raise type(error)(error.message, SourceSpan(text, number, column, file)) from None
    return derivation


__all__ = ["Derivation", "applicable", "apply", "replay"]
