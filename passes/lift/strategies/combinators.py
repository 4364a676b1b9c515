"""Strategies: rules in sequence, by choice, repeated, and at matching places.

A strategy is applied at a value and returns its replacement, in the spirit of ELEVATE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.lift.base import FunctionOp
from tiledialect.passes.lift.rules.matching import Chain, Stage, matches
from tiledialect.passes.lift.rules.places import children
from tiledialect.passes.lift.rules.refusal import Mismatch, NotApplicable, require_kind
from tiledialect.passes.lift.rules.rule import Rewriting, Strategy

LIMIT = 1000
"""Maximum number of repetitions of a strategy before it counts as endless."""

NO_PATTERN = "none of its patterns is there"
MAX_REASONS = 3
"""Maximum number of mismatches that are listed."""


@dataclass(frozen=True)
class Local(Strategy):
    """Strategy that a function implements."""

    function: Callable[[Rewriting, SSAValue], SSAValue]

    def run(self, rewriting: Rewriting, value: SSAValue) -> SSAValue:
        """Apply it, or leave everything as it was."""
        before = rewriting.checkpoint()
        try:
            return self.function(rewriting, value)
        except NotApplicable:
            rewriting.back_to(before)
            raise


def require_strategies(*given: object) -> None:
    """Refuse what is neither a rule nor a strategy."""
    for strategy in given:
        require_kind(strategy, Strategy, "a rule is given as RULES['map_glb'], or in a strategy")


def sequence(*strategies: Strategy) -> Strategy:
    """All of the strategies, each at the result of the one before.

    Example: ``sequence(RULES["map_glb"], in_function(RULES["reduce_seq"]))``
    """
    require_strategies(*strategies)

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        for strategy in strategies:
            value = strategy.run(rewriting, value)
        return value

    return Local(run)


def choice(*strategies: Strategy) -> Strategy:
    """First strategy that applies.

    Example: ``choice(RULES["map_fusion"], RULES["map_seq"])``
    """
    require_strategies(*strategies)
    return _Choice(strategies)


@dataclass
class _Choice(Strategy):
    """First of some strategies that applies."""

    strategies: Sequence[Strategy]

    def __post_init__(self):
        self._fitting: dict[type[object], tuple[Strategy, ...]] = {}

    def fits(self, kind: type[object]) -> bool:
        """Whether one of the strategies may apply."""
        return bool(self._among(kind))

    def run(self, rewriting: Rewriting, value: SSAValue) -> SSAValue:
        """Apply the first that applies."""
        refused: list[NotApplicable] = []
        for strategy in self._among(type(value.owner)) or self.strategies:
            try:
                return strategy.run(rewriting, value)
            except NotApplicable as error:
                refused.append(error)
        raise nowhere(refused)

    def _among(self, kind: type[object]) -> tuple[Strategy, ...]:
        if kind not in self._fitting:
            self._fitting[kind] = tuple(s for s in self.strategies if s.fits(kind))
        return self._fitting[kind]


def attempt(strategy: Strategy) -> Strategy:
    """Strategy that is applied if it can be.

    Example: ``sequence(attempt(RULES["map_fusion"]), RULES["map_seq"])``
    """
    return choice(strategy, nothing)


nothing = Local(lambda rewriting, value: value)
"""Strategy that changes nothing."""


def repeat(strategy: Strategy) -> Strategy:
    """Strategy that is applied as often as it can be.

    Example: ``sequence(RULES["split_join"], at_input(repeat(RULES["map_seq"])))``
    """
    require_strategies(strategy)

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        for _ in range(LIMIT):
            try:
                value = strategy.run(rewriting, value)
            except NotApplicable:
                return value
        raise NotApplicable(f"the strategy still applies after {LIMIT} times")

    return Local(run)


# -- to other places -------------------------------------------------------------------------------


def at_input(strategy: Strategy, number: int = -1) -> Strategy:
    """Strategy at the pattern's input: its array, which is the last operand.

    Example: ``at_input(RULES["slide_tiling"](v=4))``
    """
    require_strategies(strategy)
    require_kind(number, int, "an operand has a number")

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        op = _op(value)
        if not -len(op.operands) <= number < len(op.operands):
            raise Mismatch("there is no input" + (f" {number}" if number != -1 else ""))
        strategy.run(rewriting, op.operands[number])
        return value

    return Local(run)


def in_function(strategy: Strategy) -> Strategy:
    """Strategy at the result of the pattern's function.

    Example: ``in_function(RULES["reduce_seq"])``
    """
    require_strategies(strategy)

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        op = _op(value)
        if not isinstance(op, FunctionOp):
            raise Mismatch("there is no function")
        strategy.run(rewriting, op.yielded)
        return value

    return Local(run)


def top_down(strategy: Strategy) -> Strategy:
    """Strategy at the first place where it applies: a value, then its dependences.

    Example: ``top_down(RULES["reduce_seq"])``
    """
    return _first(strategy, _descending)


def bottom_up(strategy: Strategy) -> Strategy:
    """Strategy at the first place where it applies: a value's dependences, then itself.

    Example: ``bottom_up(choice(RULES["map_glb"], RULES["map_seq"]))``
    """
    return _first(strategy, lambda value: reversed([*_descending(value)]))


def at_results(rewriting: Rewriting, strategy: Strategy) -> None:
    """Apply a strategy once for each result of the function, from the top down, where it can be."""
    last = rewriting.function.body.block.last_op
    for number in range(len(last.operands) if last is not None else 0):
        assert last is not None
        with suppress(NotApplicable):
            top_down(strategy).run(rewriting, last.operands[number])


def _first(strategy: Strategy, order: Callable[[SSAValue], Iterator[SSAValue]]) -> Strategy:
    require_strategies(strategy)

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        refused: list[NotApplicable] = []
        seen = 0
        for place in order(value):
            seen += 1
            if not strategy.fits(type(place.owner)):
                continue
            try:
                new = strategy.run(rewriting, place)
            except NotApplicable as error:
                refused.append(error)
            else:
                return new if place is value else value
        if seen and not refused:
            raise Mismatch(NO_PATTERN)
        raise nowhere(refused)

    return Local(run)


def nowhere(refused: Sequence[NotApplicable]) -> NotApplicable:
    """Error that none of several rules applies, or one at none of several places.

    Conditions that fail come before mismatches, of which many say nothing.
    """
    failed = dict.fromkeys(e.message for e in refused if not isinstance(e, Mismatch))
    if failed:
        return NotApplicable("; ".join(failed))
    mismatched = dict.fromkeys(e.message for e in refused)
    if not mismatched:
        return Mismatch("there is no place that matches")
    if len(mismatched) > MAX_REASONS:
        return Mismatch(NO_PATTERN)
    return Mismatch("; ".join(mismatched))


def _descending(value: SSAValue) -> Iterator[SSAValue]:
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if value in seen or not isinstance(value.owner, Operation):
            continue
        seen.add(value)
        yield value
        pending += reversed([*children(value.owner)])


def everywhere(strategy: Strategy) -> Strategy:
    """Strategy that is applied as often as it can be anywhere, from the top down each time.

    Example: ``everywhere(choice(RULES["map_glb"], RULES["reduce_seq"]))``
    """
    return repeat(top_down(strategy))


def at(pattern: Chain | Stage, strategy: Strategy) -> Strategy:
    """Strategy at the first place from the top that the pattern matches.

    Example: ``at(p.slide(3, 1) >> p.map("f"), RULES["map_glb"](dim=1))``
    """
    require_kind(pattern, Chain | Stage, "a place is given by a pattern, such as p.map('f')")
    first = _first(strategy, lambda value: (v for v in _descending(value) if matches(pattern, v)))

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        if not any(matches(pattern, place) for place in _descending(value)):
            raise Mismatch(f"there is no {pattern}")
        return first.run(rewriting, value)

    return Local(run)


def _op(value: SSAValue) -> Operation:
    if isinstance(value.owner, Operation):
        return value.owner
    raise Mismatch("there is an input of the program or of a function")
