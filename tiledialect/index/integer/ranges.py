"""Ranges and residues of expressions, derived from facts about variables.

An ``Env`` holds facts, which are conditions: ranges of variables, whose bounds may be expressions
of other variables, divisibility, guards that were passed. From them it computes

- the ``range`` of an expression: by interval arithmetic, and by putting the bound of a variable in
  its place where that bound is an expression: with ``i < N``, ``N - 1 - i`` is at least
  ``N - 1 - (N - 1)``, 0. It is exact for affine expressions of variables whose ranges do not depend
  on each other, and never too small;
- its ``residue``: a modulus and a remainder that all its values have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd, inf
from typing import Literal

from tiledialect import caches
from tiledialect.index import expr as rational
from tiledialect.index.integer.division import exact_quotient, linear_in, split
from tiledialect.index.integer.expressions import (
    Atom,
    Comparison,
    Condition,
    Expr,
    Extremum,
    Junction,
    Operand,
    Quotient,
    Remainder,
    Selection,
    at_least_zero,
    divides,
    expressions_of,
    floordiv,
    less,
    less_equal,
    negate,
)
from tiledialect.index.integer.polynomial import Variable
from tiledialect.index.integer.value_sets import ANY, Number, Range, Residue

_DEPTH = 8
"""Most variables that are successively replaced by their bounds."""

_MOST_STEPS = 500
"""Most replacements of variables by bounds, after which interval arithmetic alone answers."""

_MOST_FACTS = 100
"""Most derived facts that are recorded besides the stated ones."""


@dataclass(frozen=True)
class Bound:
    """``scale * atom`` lies on one side of one of the alternatives; ``scale`` is positive."""

    scale: Expr
    alternatives: tuple[Expr, ...]


Side = Literal["below", "above"]
SIDES: tuple[Side, ...] = ("below", "above")
Ends = tuple[Operand | None, Operand | None]
Ranges = Mapping[str, rational.Range | Ends]
_ONE = Expr.const(1)


@dataclass
class _Search:
    """State of the search for an answer, in an environment and those with assumptions."""

    steps: int = 0


class Env:
    """Facts about variables at a reached point of a program.

    ``ranges`` gives variables their ``(lower, upper)``, upper excluded; either may be an expression
    of variables named before, or None. As the point is reached, no range is empty: with ``0 <= i <
    N``, also ``N`` is at least 1. A variable without facts may be any integer.
    """

    def __init__(self, ranges: Ranges | None = None, facts: Iterable[Condition] = ()):
        given = ranges or {}
        stated = (fact for name, ends in given.items() for fact in _stated(name, ends))
        self.facts: tuple[Condition, ...] = (*stated, *facts)
        self._rank = {name: rank for rank, name in enumerate(given)}
        self._ranges: dict[Atom, Range] = {}
        self._bounds: dict[tuple[Atom, Side], tuple[Bound, ...]] = {}
        self._residues: dict[Atom, Residue] = {}
        self._divisors: dict[Atom, tuple[Expr, ...]] = {}
        self._known: set[Condition] = set()
        self._least_found: dict[tuple[Expr, int], Number] = {}
        self._all_bounds: dict[tuple[Atom, Side], Sequence[Bound]] = {}
        self._intervals: dict[tuple[Expr, int], Range] = {}
        self._assumed: dict[Condition, Env] = {}
        self._ranged: dict[tuple[str, Operand | None, Operand | None, Operand], Env] = {}
        self._search = _Search()
        self._file_all(*self.facts)

    def __str__(self) -> str:
        return ", ".join(map(str, self.facts))

    def with_range(
        self, name: str, lower: Operand | None, upper: Operand | None, step: Operand = 1
    ) -> Env:
        """Extend the environment by a variable, in the place of one of its name.

        With a step, the variable is ``lower`` plus a multiple of it.
        """
        key = name, lower, upper, step
        if key not in self._ranged:
            self._ranged[key] = self._with_range(*key)
        return self._ranged[key]

    def _with_range(
        self, name: str, lower: Operand | None, upper: Operand | None, step: Operand
    ) -> Env:
        new = list(_between(name, lower, upper))
        if step != 1:
            new.append(divides(step, Expr.var(name) - (0 if lower is None else lower)))
        if name not in self._rank:
            return self._extended(*new)
        return Env(facts=(*(fact for fact in self.facts if name not in _names_in(fact)), *new))

    def assume(self, condition: Condition) -> Env:
        """Extend the environment by a condition that holds."""
        if condition in self._known:
            return self
        if condition not in self._assumed:
            self._assumed[condition] = self._extended(condition)
            self._assumed[condition]._search = self._search
        return self._assumed[condition]

    def _extended(self, *facts: Condition) -> Env:
        """A copy with more facts."""
        env = Env()
        env.facts = (*self.facts, *facts)
        env._ranges, env._residues = dict(self._ranges), dict(self._residues)
        env._known, env._rank = set(self._known), dict(self._rank)
        env._bounds, env._divisors = dict(self._bounds), dict(self._divisors)
        env._file_all(*facts)
        return env

    def knows(self, condition: Condition) -> bool:
        """Whether the condition is one of the facts."""
        return condition in self._known

    def divisors(self, atom: Atom) -> Sequence[Expr]:
        """Known divisors of the value."""
        return self._divisors.get(atom, ())

    # -- facts -------------------------------------------------------------------------------

    def _file_all(self, *facts: Condition) -> None:
        """Record facts and their consequences."""
        pending = list(facts)
        limit = len(self._known) + len(facts) + _MOST_FACTS
        while pending and len(self._known) < limit:
            pending += self._file(pending.pop(0))

    def _file(self, fact: Condition) -> Sequence[Condition]:
        """Record a fact; return its consequences together with others."""
        if fact in self._known:
            return ()
        self._known.add(fact)
        for name in _names_in(fact):
            self._rank.setdefault(name, len(self._rank))
        match fact:
            case Junction("and", parts):
                return parts
            case Comparison(expr, ">="):
                return self._file_bound(expr)
            case Comparison(expr, "=="):
                self._file_residue(expr)
                return at_least_zero(expr), at_least_zero(-expr)
            case _:
                return ()

    def _file_bound(self, expr: Expr) -> Sequence[Condition]:
        """Note that the expression is at least 0, as a bound of the atom that was named last."""
        single = [(p[0], c) for p, c in expr if len(p) == 1]
        if not single:
            return ()
        atom, factor = single[0]
        if len(single) > 1:
            atom, factor = max(single, key=lambda item: self._rank_of(item[0]))
        side: Side = "below" if factor > 0 else "above"
        scale = Expr.const(abs(factor))
        if len(expr.moving.terms) == 1:
            end = Expr.const(-expr.constant if factor > 0 else expr.constant)
        else:
            end = (Expr.of(atom) * factor - expr) * (1 if factor > 0 else -1)
        others = tuple(self._stated_bounds(atom, "above" if side == "below" else "below"))
        if end.value is not None and scale == _ONE:
            known = Range(least=end.value) if side == "below" else Range(greatest=end.value)
            self._ranges[atom] = self._ranges.get(atom, Range()).meet(known)
        else:
            stated = self._bounds.get((atom, side), ())
            self._bounds[atom, side] = (*stated, Bound(scale, (end,)))
        gaps = (other * scale - end * by for by, other in others)
        return [at_least_zero(gap if side == "below" else -gap) for gap in gaps]

    def _stated_bounds(self, atom: Atom, side: Side) -> Iterator[tuple[Expr, Expr]]:
        for bound in (*self._number_bounding(atom, side), *self._bounds.get((atom, side), ())):
            yield bound.scale, bound.alternatives[0]

    def _file_residue(self, expr: Expr) -> None:
        """Note ``x mod m == r`` or, with an offset ``c``, ``(x + c) mod m == r``."""
        match (expr - expr.constant).atom:
            case Remainder(dividend, divisor):
                offset = dividend.constant
                atom = (dividend - offset).atom
                remainder = -expr.constant - offset
            case _:
                return
        if atom is None:
            return
        if divisor.value:
            residue = Residue.of(divisor.value, remainder)
            self._residues[atom] = self._residues.get(atom, ANY).meet(residue)
            remainder = residue.remainder
        if remainder == 0:
            self._divisors[atom] = (*self._divisors.get(atom, ()), divisor)

    def _rank_of(self, atom: Atom) -> tuple[int, str, int, str]:
        """Variables in the order in which they were named, then terms composed of them."""
        names = [(self._rank.get(name, -1), name) for name in Expr.of(atom).names]
        text = str(atom)
        rank, last = max(names, default=(-1, ""))
        return rank, last, len(text), text

    # -- ranges ------------------------------------------------------------------------------

    def range(self, expr: Operand) -> Range:
        """A range that holds all values of the expression."""
        self._search.steps = 0
        return self._range(Expr.of(expr), _DEPTH)

    def at_least(self, expr: Operand, bound: Operand) -> bool:
        """Whether ``expr >= bound`` is known."""
        self._search.steps = 0
        return self._least(Expr.of(expr) - bound, _DEPTH) >= 0

    def _range(self, expr: Expr, depth: int) -> Range:
        return Range(self._least(expr, depth), -self._least(-expr, depth))

    def _least(self, expr: Expr, depth: int) -> Number:
        """A lower bound of the expression."""
        if expr.value is not None:
            return expr.value
        key = (expr, depth)
        if key not in self._least_found:
            self._search.steps += 1
            if self._search.steps > _MOST_STEPS:
                return self._interval(expr, 0).least
            least = self._interval(expr, depth).least
            if depth:
                replaceable = [atom for atom in expr.atoms if self._is_replaceable(atom, expr)]
                for atom in sorted(replaceable, key=self._rank_of, reverse=True):
                    found = list(self._least_by_bounds(expr, atom, depth))
                    if found:
                        least = max(least, *found)
                        break
            self._least_found[key] = least
        return self._least_found[key]

    def _least_by_bounds(self, expr: Expr, atom: Atom, depth: int) -> Iterator[Number]:
        """Lower bounds of the expression with the bounds of an atom in its place."""
        parts = linear_in(expr, atom)
        if parts is None:
            return
        factor, rest = parts
        if isinstance(atom, Selection):
            cases = (atom.condition, atom.yes), (negate(atom.condition), atom.no)
            yield min(
                self.assume(condition)._least(factor * value + rest, depth - 1)
                for condition, value in cases
            )
        for side in self._sides_for(factor, depth - 1):
            for bound in (*self._bounds_of(atom, side), *self._number_bounding(atom, side)):
                least = self._least_at(bound, factor, rest, depth - 1)
                if least is not None:
                    yield least

    def _sides_for(self, factor: Expr, depth: int) -> Sequence[Side]:
        """Sides of the bounds that make a product with the factor least."""
        for known in (find(factor, depth) for find in (self._interval, self._range)):
            if known.least >= 0:
                return ("below",)
            if known.greatest <= 0:
                return ("above",)
        return ()

    def _least_at(self, bound: Bound, factor: Expr, rest: Expr, depth: int) -> Number | None:
        """A lower bound of ``factor * atom + rest`` with the bound for the atom, if it fits."""
        scale, value = bound.scale.value, factor.value
        # a multiple of it, in which the atom occurs scaled as it is in the bound
        multiple = scale // gcd(scale, value) if scale and value else 1
        times = exact_quotient(factor * multiple, bound.scale)
        if times is None:
            return None
        least = min(self._least(times * end + rest * multiple, depth) for end in bound.alternatives)
        return least if least == -inf else -(-least // multiple)

    def _bounds_of(self, atom: Atom, side: Side) -> Sequence[Bound]:
        """The bounds of an atom that are expressions."""
        key = (atom, side)
        if key not in self._all_bounds:
            stated = self._bounds.get(key, ())
            self._all_bounds[key] = (*stated, *self._bounds_by_form(atom, side))
        return self._all_bounds[key]

    def _number_bounding(self, atom: Atom, side: Side) -> Iterator[Bound]:
        known = self._ranges.get(atom, Range())
        end = known.least if side == "below" else known.greatest
        if isinstance(end, int):
            yield Bound(_ONE, (Expr.const(end),))

    def _is_replaceable(self, atom: Atom, expr: Expr) -> bool:
        """Whether bounds in the place of the atom may tell more than interval arithmetic."""
        if isinstance(atom, Selection) or any(self._bounds_of(atom, side) for side in SIDES):
            return True
        return atom in self._ranges and any(atom in p for p, _ in expr if len(p) > 1)

    def _bounds_by_form(self, atom: Atom, side: Side) -> Iterator[Bound]:
        """The bounds that any atom of this form has."""
        match atom:
            case Remainder(dividend, divisor) if side == "above":
                if divisor.value is None and self._is_positive(divisor):
                    yield Bound(_ONE, (divisor - 1,))
                if self._interval(dividend, 0).least >= 0:
                    yield Bound(_ONE, (dividend,))
            case Quotient(dividend, divisor) if self._is_positive(divisor):
                below = side == "below"
                yield Bound(divisor, (dividend - divisor + 1 if below else dividend,))
                for end in self._ends(dividend, side):
                    whole, rest = split(end, divisor)
                    yield Bound(_ONE, (whole + floordiv(rest, divisor),))
                if not below and self._interval(dividend, 0).least >= 0:
                    yield Bound(_ONE, (dividend,))
            case Extremum(kind, operands):
                if (kind == "min") == (side == "above"):
                    yield from (Bound(_ONE, (operand,)) for operand in operands)
                else:
                    yield Bound(_ONE, operands)
            case _:
                return

    def _ends(self, expr: Expr, side: Side) -> Iterator[Expr]:
        """Expressions on one side of a sum: with a variable's bounds in the variable's place."""
        for atom in sorted(expr.atoms, key=self._rank_of, reverse=True):
            factor = expr.coefficients.get((atom,), 0)
            same = "below" if (factor > 0) == (side == "below") else "above"
            bounds = self._bounds.get((atom, same), ()) if factor else ()
            for bound in bounds:
                if bound.scale == _ONE:
                    yield expr + (bound.alternatives[0] - Expr.of(atom)) * factor
            if bounds:
                return

    def _is_positive(self, expr: Expr) -> bool:
        return self._interval(expr, 0).least > 0

    def _interval(self, expr: Expr, depth: int) -> Range:
        """The range by interval arithmetic."""
        key = (expr, depth)
        if key not in self._intervals:
            total = Range(0, 0)
            for product, coefficient in expr:
                term = Range(coefficient, coefficient)
                for atom, count in Counter(product).items():
                    term *= self._range_of(atom, depth) ** count
                total += term
            self._intervals[key] = total
        return self._intervals[key]

    def _range_of(self, atom: Atom, depth: int) -> Range:
        known = self._range_by_form(atom, depth).meet(self._ranges.get(atom, Range()))
        return known.rounded(self._residues[atom]) if atom in self._residues else known

    def _range_by_form(self, atom: Atom, depth: int) -> Range:
        match atom:
            case Quotient(dividend, divisor) if self._is_positive(divisor):
                return self._range(dividend, depth).quotients(self._range(divisor, depth))
            case Remainder(dividend, divisor) if self._is_positive(divisor):
                return self._range(dividend, depth).remainders(self._range(divisor, depth))
            case Extremum(kind, operands):
                found = [self._range(operand, depth) for operand in operands]
                least, greatest = [r.least for r in found], [r.greatest for r in found]
                chosen = min if kind == "min" else max
                return Range(chosen(least), chosen(greatest))
            case Selection(_, yes, no):
                return self._range(yes, depth).join(self._range(no, depth))
            case _:
                return Range()

    # -- residues ----------------------------------------------------------------------------

    def residue(self, expr: Operand) -> Residue:
        """Common residue of all values of the expression."""
        total = Residue(0, 0)
        for product, coefficient in Expr.of(expr):
            term = Residue(0, coefficient)
            for atom in product:
                term *= self._residue_of(atom)
            total += term
        return total

    def _residue_of(self, atom: Atom) -> Residue:
        return self._residues.get(atom, ANY).meet(self._residue_by_form(atom))

    def _residue_by_form(self, atom: Atom) -> Residue:
        match atom:
            case Variable():
                value = self._ranges.get(atom, Range()).value
                return ANY if value is None else Residue(0, value)
            case Quotient(dividend, divisor) if divisor.value:
                return self.residue(dividend).quotient(divisor.value)
            case Remainder(dividend, divisor):
                if divisor.value:
                    return self.residue(dividend).rest(divisor.value)
                common = self.residue(divisor)
                shared = gcd(common.modulus, common.remainder)
                return self.residue(dividend) + Residue(shared, 0) if shared else ANY
            case Extremum(_, operands):
                return reduce(Residue.join, map(self.residue, operands))
            case Selection(_, yes, no):
                return self.residue(yes).join(self.residue(no))
            case _:
                return ANY


def _names_in(fact: Condition) -> Iterator[str]:
    return (name for expr in expressions_of(fact) for name in expr.names)


def _stated(name: str, ends: rational.Range | Ends) -> Sequence[Condition]:
    """The facts that a range is."""
    lower, upper = (ends.lower, ends.upper) if isinstance(ends, rational.Range) else ends
    return _between(name, lower, upper)


@caches.LOOP_FACTS
def _between(name: str, lower: Operand | None, upper: Operand | None) -> Sequence[Condition]:
    """The facts that these ends are: each pass names the same loops again."""
    least = () if lower is None else (less_equal(lower, name),)
    return least if upper is None else (*least, less(name, upper))
