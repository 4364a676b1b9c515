"""Rules: a pattern, its replacement, and their conditions."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType
from typing import Any

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import func
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift.base import LiftOp
from tiledialect.errors import TileError
from tiledialect.index.size import Size
from tiledialect.ir.names import keep_place, take_name
from tiledialect.lift.tracing import fresh_names, unplaced
from tiledialect.lift.values import Value, to_size
from tiledialect.passes.lift.rules.matching import Anything, Chain, Stage
from tiledialect.passes.lift.rules.open_sizes import (
    define_sizes,
    defined_sizes,
    definitions,
    open_sizes,
)
from tiledialect.passes.lift.rules.places import places
from tiledialect.passes.lift.rules.refusal import Mismatch, NotApplicable, require_kind

Sizes = Mapping[str, "Size | int | str"]
"""Values of a rule's parameters."""


@dataclass(frozen=True)
class Step:
    """Application of a rule, at a place, with values of its parameters."""

    rule: Named
    place: str
    sizes: tuple[tuple[str, Size | int], ...] = ()

    @property
    def equation(self) -> str:
        """Equation of the rule, in a line."""
        return self.rule.equation.partition("\n")[0]

    def __str__(self) -> str:
        sizes = f"({_sizes_text(self.sizes)})" if self.sizes else ""
        return f"{self.rule.name}{sizes} at {self.place}"


@dataclass(frozen=True)
class Binding:
    """Values for names of sizes, as a step."""

    sizes: tuple[tuple[str, Size | int], ...]
    equation = "Names of sizes get their values."

    def __str__(self) -> str:
        return f"bind({_sizes_text(self.sizes)})"


def _sizes_text(sizes: tuple[tuple[str, Size | int], ...]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sizes)


@dataclass(frozen=True)
class Replaced:
    """Replaced value, its former uses, and the ops that were added to the function."""

    old: SSAValue
    uses: tuple[tuple[Operation, int], ...]
    added: tuple[Operation, ...]
    defined: Mapping[str, Size]
    """Named sizes before the replacement."""

    def undo(self, function: func.FuncOp) -> None:
        """Use the value again, and erase the added ops."""
        define_sizes(function, self.defined)
        for op, index in self.uses:
            op.operands[index] = self.old
        for op in reversed(self.added):
            op.detach()
            op.erase()


class Facts:
    """Facts about a function at one time, gathered when they are asked for."""

    def __init__(self, function: func.FuncOp):
        self._function = function

    @cached_property
    def addresses(self) -> dict[Operation, str]:
        """Addresses of the patterns."""
        return {op: address for address, op in places(self._function).items()}

    @cached_property
    def sizes(self) -> frozenset[str]:
        """Names of sizes."""
        return open_sizes(self._function)


@dataclass
class Rewriting:
    """Function under rewriting, with its replacements so far, which can be undone."""

    function: func.FuncOp
    steps: list[Step] = field(default_factory=list[Step])
    _replaced: list[Replaced] = field(default_factory=list[Replaced])
    _facts: dict[int, Facts] = field(default_factory=dict[int, Facts])
    """Replacements by the number of earlier ones: undoing restores them."""

    @property
    def facts(self) -> Facts:
        """Facts about the function as it is."""
        return self._facts.setdefault(len(self._replaced), Facts(self.function))

    def replace(
        self, op: Operation, built: Block, value: SSAValue, sizes: Mapping[str, Size]
    ) -> None:
        """Put ``value``, with the ops of ``built`` that it needs, in place of the result of ``op``.

        ``sizes`` get names of their own.
        """
        inside = set(built.walk())
        for new in inside:
            keep_place(new, op)
        added = tuple(built.ops)
        Rewriter.inline_block(built, InsertPoint.after(op))
        old = op.results[0]
        uses = tuple((u.operation, u.index) for u in old.uses if u.operation not in inside)
        for user, index in uses:
            user.operands[index] = value
        defined = defined_sizes(self.function)
        self._replaced.append(Replaced(old, uses, added, defined))
        define_sizes(self.function, {**defined, **sizes})
        self._facts.pop(len(self._replaced), None)
        take_name(value, old)

    def checkpoint(self) -> tuple[int, int]:
        """State, to be restored later."""
        return len(self.steps), len(self._replaced)

    def back_to(self, checkpoint: tuple[int, int]) -> None:
        """Undo all replacements since."""
        steps, replaced = checkpoint
        while len(self._replaced) > replaced:
            self._replaced.pop().undo(self.function)
        del self.steps[steps:]

    def fresh(self, name: str) -> Size:
        """Size ``name``, or one with a number if the program has such a name."""
        taken = self.facts.sizes
        candidates = (name, *(f"{name}{k}" for k in range(1, len(taken) + 2)))
        return Size.of(next(c for c in candidates if c not in taken))


class Strategy(ABC):
    """Transformation at a value of a program: a rule, or a composition of rules."""

    def fits(self, kind: type[object]) -> bool:
        """Whether it may apply to results of ops of a kind, without a look at the op."""
        del kind
        return True

    @abstractmethod
    def run(self, rewriting: Rewriting, value: SSAValue) -> SSAValue:
        """Apply it, and return the value's replacement. Raises ``NotApplicable``."""


class Named(Strategy, ABC):
    """Strategy with a name, an equation, and perhaps parameters."""

    name: str
    equation: str

    @property
    @abstractmethod
    def function(self) -> Callable[..., Any]:
        """Python function whose keywords are the parameters."""

    @property
    def looks_for(self) -> str:
        """Text of the condition under which it applies."""
        return self.equation.partition("\n")[0].rstrip(".")

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Parameters: sizes, or integers."""
        every = inspect.signature(self.function, eval_str=True).parameters
        return {n: p for n, p in every.items() if p.kind == p.KEYWORD_ONLY}

    def __call__(self, **sizes: Size | int | str | None) -> Applied:
        """Give values to the rule's parameters; one that is None is left out."""
        for name in sizes:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise TileError(f"{self.name} has no parameter {name}; it has {known}")
        return Applied(self, tuple((n, s) for n, s in sizes.items() if s is not None))

    def run(self, rewriting: Rewriting, value: SSAValue) -> SSAValue:
        """Apply it with a new name for each size."""
        return self._open.run(rewriting, value)

    @cached_property
    def _open(self) -> Applied:
        return self()

    def chosen(self, rewriting: Rewriting, given: Sizes) -> dict[str, Size | int]:
        """Values of the parameters: as given, or by default, or a new name.

        A size that may be left out has a name where the one before is open, too.
        """
        found: dict[str, Size | int] = {}
        opened = False
        for name, parameter in self.parameters.items():
            if parameter.annotation is int:
                found[name] = self._integer(name, given.get(name, parameter.default))
            elif name in given:
                found[name] = to_size(given[name], None)
            elif parameter.default is parameter.empty or opened:
                found[name] = rewriting.fresh(name)
                opened = True
        return found

    def _integer(self, name: str, given: object) -> int:
        number = given.value if isinstance(given, Size) else given
        if isinstance(number, str) and number.isdigit():
            number = int(number)
        if not isinstance(number, int):
            raise NotApplicable(f"{name} of {self.name} is a number, not {given}")
        return number

    def check(self, value: SSAValue) -> None:
        """Refuse a value of another form than the rule's pattern."""

    @abstractmethod
    def apply(self, rewriting: Rewriting, value: SSAValue, sizes: dict[str, Any]) -> SSAValue:
        """Apply it."""


@dataclass(frozen=True)
class Applied(Strategy):
    """Rule with values of its parameters."""

    rule: Named
    sizes: tuple[tuple[str, Size | int | str], ...]

    def fits(self, kind: type[object]) -> bool:
        """Whether the rule may apply."""
        return self.rule.fits(kind)

    def run(self, rewriting: Rewriting, value: SSAValue) -> SSAValue:
        """Apply the rule, and record the step."""
        rule, op = self.rule, value.owner
        before = rewriting.checkpoint()
        try:
            if not isinstance(op, LiftOp):
                raise Mismatch("there is no pattern")
            rule.check(value)
            # Afterwards the op has none.
            place = rewriting.facts.addresses.get(op, "?")
            sizes = rule.chosen(rewriting, dict(self.sizes))
            new = rule.apply(rewriting, value, sizes)
        except NotApplicable as error:
            rewriting.back_to(before)
            raise type(error)(f"{rule.name}: {error.message}") from None
        # A rule that is composed of others is recorded as one step.
        del rewriting.steps[before[0] :]
        rewriting.steps.append(Step(rule, place, tuple(sizes.items())))
        return new


@dataclass(frozen=True)
class Rule(Named):
    """Pattern, and a function that writes its replacement, or refuses."""

    name: str
    pattern: Chain
    replacement: Callable[..., object]
    equation: str

    @property
    def function(self) -> Callable[..., Any]:
        """Function that writes the replacement."""
        return self.replacement

    @property
    def looks_for(self) -> str:
        """Text of the pattern."""
        return str(self.pattern)

    def fits(self, kind: type[object]) -> bool:
        """Whether the pattern ends with an op of the kind."""
        if kind not in self._fitting:
            self._fitting[kind] = issubclass(kind, self.pattern.kinds)
        return self._fitting[kind]

    @cached_property
    def _fitting(self) -> dict[type[object], bool]:
        return {}

    def check(self, value: SSAValue) -> None:
        """Refuse a value that the pattern does not match."""
        self.pattern.match(value)

    def apply(self, rewriting: Rewriting, value: SSAValue, sizes: dict[str, Any]) -> SSAValue:
        """Match the pattern, write the replacement, and put it in place."""
        op = value.owner
        assert isinstance(op, LiftOp)
        found: dict[str, Any] = {**self.pattern.match(value), "here": op}
        block = Block()
        try:
            with unplaced(), fresh_names(), definitions() as defined, ImplicitBuilder(block):
                new = self._written(found, sizes)
            _same_type(new.type, value.type)
            for name in defined.keys() & rewriting.facts.sizes:
                raise NotApplicable(f"{name} is a size of the program already")
        except Exception as error:
            block.erase(safe_erase=False)
            raise self._refusal(error) from error
        rewriting.replace(op, block, new, defined)
        return new

    def _written(self, found: Mapping[str, Any], sizes: Mapping[str, Any]) -> SSAValue:
        """Write the replacement."""
        for name in self._positional:
            if name not in found:
                raise TypeError(f"{name} is not in its pattern, {self.pattern}")
        written = self.replacement(*(found[n] for n in self._positional), **sizes)
        if not isinstance(written, Value):
            raise TypeError(f"its replacement is {written!r}, no value")
        return written.ssa

    def _refusal(self, error: Exception) -> Exception:
        """Error of a failed replacement, in terms of the user of the rule."""
        match error:
            case NotApplicable():
                return error
            case TileError():
                return NotApplicable(error.message)
            case VerifyException():
                return NotApplicable(str(error))
            case _:
                # The rule itself is wrong, and may be the user's.
                return TileError(f"the rule {self.name}: {type(error).__name__}: {error}")

    @cached_property
    def _positional(self) -> tuple[str, ...]:
        every = inspect.signature(self.replacement).parameters
        return tuple(n for n, p in every.items() if p.kind == p.POSITIONAL_OR_KEYWORD)


def _same_type(new: Attribute, old: Attribute) -> None:
    if new != old:
        raise NotApplicable(f"the replacement has the type {new} instead of {old}")


@dataclass(frozen=True)
class Macro(Named):
    """Rule that is composed of others."""

    name: str
    strategy: Callable[..., object]
    equation: str

    @property
    def function(self) -> Callable[..., Any]:
        """Function that makes the strategy."""
        return self.strategy

    @cached_property
    def _fixed(self) -> object:
        return self.strategy()

    def apply(self, rewriting: Rewriting, value: SSAValue, sizes: dict[str, Any]) -> SSAValue:
        """Follow the strategy."""
        made = self.strategy(**sizes) if sizes else self._fixed
        if not isinstance(made, Strategy):
            raise TileError(f"the macro {self.name} gives {made!r}, no strategy")
        return made.run(rewriting, value)


def rule(pattern: Chain | Stage) -> Callable[[Callable[..., object]], Rule]:
    """Make a rule of the decorated function, which writes the pattern's replacement.

    The function takes the names of the pattern, `x` for its input and `here` for the op, and
    numerical parameters by keyword; its documentation begins with the equation.

    Example:
    ```python
    @rule(p.pad("a", "b", "edge") >> p.pad("c", "d", "edge"))
    def pad_pad(x, a, b, c, d, edge):
        "`pad(a, b, clamp) >> pad(c, d, clamp) = pad(a + c, b + d, clamp)`."
        require(edge.data == lift.clamp, f"the boundary is {edge.data}")
        return x >> lift.pad(a + c, b + d, lift.clamp)
    ```
    """

    def decorate(replacement: Callable[..., object]) -> Rule:
        chain = Chain((pattern,)) if isinstance(pattern, Stage) else pattern
        if not isinstance(chain, Chain):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TileError(f"the rule {replacement.__name__}: {pattern!r} is no pattern")
        return Rule(replacement.__name__, chain, replacement, inspect.getdoc(replacement) or "")

    return decorate


def macro(strategy: Callable[..., object]) -> Macro:
    """Make a rule of the decorated function, which gives a strategy for its parameters.

    Example:
    ```python
    @macro
    def tile_for_groups(*, v):
        "`tile_stencil`, and a work-group to each tile."
        return sequence(RULES["tile_stencil"](v=v), at_input(RULES["map_wrg"]))
    ```
    """
    require_kind(strategy, FunctionType, "macro takes a function of sizes that gives a strategy")
    return Macro(strategy.__name__, strategy, inspect.getdoc(strategy) or "")


__all__ = ["Anything", "Macro", "Named", "Rule", "Step", "Strategy", "macro", "rule"]
