"""Range-aware simplification of integer expressions, and proofs by it.

Every rule is an equality wherever the facts of the environment hold; rules for division need a
divisor that is known to be positive. (They are the rules of the work on Lift's views, and some
more.)

- Sums collect equal products. In ``(d*a + b) floordiv d`` and ``mod d`` what the divisor divides
  is taken out, and if the range of ``b`` says so, all that is left is ``a`` and ``b``; a divisor
  may be a sum, as in ``(2*i + M*i + j) floordiv (M + 2)``.
- A common factor is cancelled even where the dividend has a small remainder by it:
  ``(8*i + j) floordiv 32`` is ``i floordiv 4`` for ``0 <= j < 8``.
- A quotient and a remainder that belong together become what they were made from.
- Minima, maxima, comparisons and selections are decided by ranges and residues; the branches of a
  selection are simplified where its condition holds, or does not. A comparison of a selection is
  one of its branch, if it is decided for the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import Literal

from tiledialect import caches
from tiledialect.index.integer.division import (
    common_factor,
    content,
    exact_quotient,
    split,
    without,
)
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
    Truth,
    at_least_zero,
    both,
    either,
    equal,
    extremum,
    floordiv,
    junction,
    mod,
    negate,
    parts_of,
    select,
)
from tiledialect.index.integer.polynomial import Term, Variable
from tiledialect.index.integer.ranges import Env

NOTHING = Env()
"""The environment without facts."""


def simplify(expr: Operand, env: Env = NOTHING) -> Expr:
    """A simple expression that is equal wherever the facts of the environment hold."""
    return _simplifier(env).expr(Expr.of(expr))


def simplify_condition(condition: Condition, env: Env = NOTHING) -> Condition:
    """A simple condition that is equivalent wherever the facts of the environment hold."""
    return _simplifier(env).condition(condition)


def prove(condition: Condition, env: Env = NOTHING) -> bool | None:
    """Whether the condition holds wherever the facts do; None if that depends or is not known."""
    found = simplify_condition(condition, env)
    return found.value if isinstance(found, Truth) else None


def is_multiple(expr: Operand, divisor: Operand, env: Env = NOTHING) -> bool:
    """Whether the expression is known to be a multiple of the divisor."""
    expr = Expr.of(expr)
    if isinstance(divisor, int) and expr.constant:
        # Sums that differ in their numbers alone share the simplified rest.
        moving = simplify(mod(expr.moving, divisor), env)
        if moving == Expr():
            return expr.constant % divisor == 0
    return simplify(mod(expr, divisor), env) == Expr()


def constant_difference(left: Operand, right: Operand, env: Env = NOTHING) -> int | None:
    """``left - right``, if that is one number."""
    return simplify(Expr.of(left) - right, env).value


def operations(*exprs: Expr) -> int:
    """Number of operations that compute the expressions, equal atoms counted once."""
    seen: set[Atom] = set()
    return sum(_operations(expr, seen) for expr in exprs)


def _operations(expr: Expr, seen: set[Atom]) -> int:
    count = max(0, len(expr.terms) - 1)
    for product, coefficient in expr:
        count += max(0, len(product) - (abs(coefficient) == 1))
    for atom in expr.atoms:
        if atom not in seen:
            seen.add(atom)
            count += _operations_of(atom, seen)
    return count


def _operations_of(atom: Atom, seen: set[Atom]) -> int:
    match atom:
        case Variable():
            return 0
        case Quotient(dividend, divisor) | Remainder(dividend, divisor):
            return 1 + _operations(dividend, seen) + _operations(divisor, seen)
        case Extremum(_, operands):
            return len(operands) - 1 + sum(_operations(operand, seen) for operand in operands)
        case Selection(condition, yes, no):
            chosen = _operations(yes, seen) + _operations(no, seen)
            return 1 + _comparisons(condition, seen) + chosen


def _comparisons(condition: Condition, seen: set[Atom]) -> int:
    match condition:
        case Truth():
            return 0
        case Comparison():
            left, _, right = condition.sides
            return 1 + _operations(left, seen) + _operations(right, seen)
        case Junction(_, parts):
            return len(parts) - 1 + sum(_comparisons(part, seen) for part in parts)


@caches.SIMPLIFIERS
def _simplifier(env: Env) -> _Simplifier:
    return _Simplifier(env)


class _Simplifier:
    """Simplifier with the facts of one environment, which caches its results."""

    def __init__(self, env: Env):
        self._env = env
        self._exprs: dict[Expr, Expr] = {}
        self._atoms: dict[Atom, Expr] = {}
        self._conditions: dict[Condition, Condition] = {}

    def expr(self, expr: Expr) -> Expr:
        """A simple expression of equal value."""
        found = self._exprs.get(expr)
        if found is None:
            found = self._recombined(expr.map_atoms(self._atom))
            self._exprs[expr] = self._exprs[found] = found
        return found

    def _atom(self, atom: Atom) -> Expr:
        found = self._atoms.get(atom)
        if found is None:
            found = self._atoms[atom] = self._new_atom(atom)
        return found

    def _new_atom(self, atom: Atom) -> Expr:
        match atom:
            case Variable():
                value = self._env.range(Expr.of(atom)).value
                return Expr.of(atom) if value is None else Expr.const(value)
            case Quotient(dividend, divisor):
                return self._quotient(self.expr(dividend), self.expr(divisor))
            case Remainder(dividend, divisor):
                return self._remainder(self.expr(dividend), self.expr(divisor))
            case Extremum(kind, operands):
                return self._extremum(kind, map(self.expr, operands))
            case Selection(condition, yes, no):
                return self._selection(self.condition(condition), yes, no)

    def _recombined(self, expr: Expr) -> Expr:
        """Rewrite ``b*(x floordiv b)`` to ``x - x mod b``, where one of these is there already."""
        for product, coefficient in expr:
            for atom in product:
                if not isinstance(atom, Quotient):
                    continue
                others = Expr(((without(product, (atom,)) or (), coefficient),))
                times = exact_quotient(others, atom.divisor)
                if times is None:
                    continue
                whole = times * atom.dividend
                small = times * self._remainder(atom.dividend, atom.divisor)
                other = expr - others * Expr.of(atom) + whole - small
                cancels = _is_free_of(other, whole) or _is_free_of(other, small)
                if cancels and operations(other) < operations(expr):
                    return self._recombined(other)
        return expr

    # -- division ----------------------------------------------------------------------------

    def _quotient(self, dividend: Expr, divisor: Expr) -> Expr:
        if self._env.at_least(-1, divisor):
            dividend, divisor = -dividend, -divisor
        if not self._env.at_least(divisor, 1):
            return floordiv(dividend, divisor)
        quotient, rest = self._split(dividend, divisor)
        known = self._known_quotient(rest, divisor)
        if known is not None:
            return quotient + known
        common, large, _ = self._common_factor(rest, divisor)
        if common is not None:
            return quotient + self._quotient(large, exact_quotient(divisor, common) or divisor)
        inner = (rest - rest.constant).atom
        if isinstance(inner, Quotient) and self._env.at_least(inner.divisor, 1):
            # (x floordiv a + c) floordiv b is (x + a*c) floordiv (a*b)
            whole = inner.dividend + inner.divisor * rest.constant
            return quotient + self._quotient(whole, inner.divisor * divisor)
        return self._recombined(quotient + floordiv(rest, divisor))

    def _remainder(self, dividend: Expr, divisor: Expr) -> Expr:
        if self._env.at_least(-1, divisor):
            return -self._remainder(-dividend, -divisor)
        if not self._env.at_least(divisor, 1):
            return mod(dividend, divisor)
        _, rest = self._split(self._without_remainders(dividend, divisor), divisor)
        if divisor.value:
            rest = self._reduced(rest, divisor.value)
        known = self._known_quotient(rest, divisor)
        if known is not None:
            return rest - divisor * known
        common, large, small = self._common_factor(rest, divisor)
        if common is not None:
            large = self._remainder(large, exact_quotient(divisor, common) or divisor)
            return self._recombined(large * common + small)
        return mod(rest, divisor)

    def _split(self, dividend: Expr, divisor: Expr) -> tuple[Expr, Expr]:
        """``split``, with facts that a variable is a multiple of something."""
        quotient, rest = split(dividend, divisor)
        for product, coefficient in rest:
            for atom in product:
                others = Expr(((without(product, (atom,)) or (), coefficient),))
                for whole in self._as_multiples(atom):
                    times = exact_quotient(others * whole, divisor)
                    if times is not None:
                        more, rest = self._split(rest - Expr(((product, coefficient),)), divisor)
                        return quotient + times + more, rest
        return quotient, rest

    def _as_multiples(self, atom: Atom) -> Iterator[Expr]:
        """``d*(x floordiv d)`` for x, or for a quotient of it, where d is known to divide x."""
        dividend, divisor = Expr.of(atom), Expr.const(1)
        if isinstance(atom, Quotient):
            dividend, divisor = atom.dividend, atom.divisor
        if dividend.atom is not None:
            for by in self._env.divisors(dividend.atom):
                times = exact_quotient(by, divisor)
                if times is not None and by != divisor:
                    yield times * floordiv(dividend, by)

    def _without_remainders(self, dividend: Expr, divisor: Expr) -> Expr:
        """The dividend with ``c * (x mod a)`` as ``c * x`` where the divisor divides ``c * a``."""
        for product, coefficient in dividend:
            for atom in product:
                if isinstance(atom, Remainder):
                    others = Expr(((without(product, (atom,)) or (), coefficient),))
                    if exact_quotient(others * atom.divisor, divisor) is not None:
                        change = others * (atom.dividend - Expr.of(atom))
                        return self._without_remainders(dividend + change, divisor)
        return dividend

    def _reduced(self, dividend: Expr, divisor: int) -> Expr:
        """An expression with the same remainder and coefficients less than the divisor."""
        terms: list[Term[Atom]] = []
        for product, coefficient in dividend:
            residue = self._env.residue(Expr(((product, coefficient),)))
            if residue.modulus % divisor == 0:
                terms.append(((), residue.remainder % divisor))
            else:
                large = abs(coefficient) >= divisor
                terms.append((product, coefficient % divisor if large else coefficient))
        reduced = Expr.collect(terms)
        return reduced + (reduced.constant % divisor - reduced.constant)

    def _known_quotient(self, dividend: Expr, divisor: Expr) -> int | None:
        """The quotient, where the facts leave only one."""
        env = self._env
        ends = env.range(dividend).quotients(env.range(divisor))
        if ends.least == ends.greatest and abs(ends.least) != inf:
            return int(ends.least)
        if divisor.value is None:
            for guess in (0, -1, 1):
                rest = dividend - divisor * guess
                if env.at_least(rest, 0) and env.at_least(divisor - 1, rest):
                    return guess
        return None

    def _common_factor(self, dividend: Expr, divisor: Expr) -> tuple[Expr | None, Expr, Expr]:
        """The greatest divisor g of the divisor that leaves the dividend a small rest.

        That is, the terms of the dividend that g does not divide sum up to 0 … g - 1. Returns g,
        if there is one but 1, and the quotient and rest of the dividend by it.
        """
        whole = content(divisor)
        factors = {common_factor(term, whole) for term in dividend if term[0]}
        for factor in sorted(factors - {Expr.const(1)}, key=_size, reverse=True):
            large, small = split(dividend, factor)
            env = self._env
            if env.at_least(small, 0) and env.at_least(factor - 1, small):
                return factor, large, small
        return None, dividend, Expr()

    # -- least and greatest, selections ------------------------------------------------------

    def _extremum(self, kind: Literal["min", "max"], operands: Iterable[Expr]) -> Expr:
        whole = extremum(kind, operands)
        if not isinstance(whole.atom, Extremum):
            return whole
        left = list(whole.atom.operands)
        for operand in whole.atom.operands:
            if any(self._is_beaten(kind, operand, by) for by in left if by != operand):
                left.remove(operand)
        return extremum(kind, left)

    def _is_beaten(self, kind: Literal["min", "max"], operand: Expr, by: Expr) -> bool:
        above, below = (operand, by) if kind == "min" else (by, operand)
        return self._env.at_least(self._recombined(above - below), 0)

    def _selection(self, condition: Condition, yes: Expr, no: Expr) -> Expr:
        if isinstance(condition, Truth):
            return self.expr(yes if condition.value else no)
        where = _simplifier(self._env.assume(condition))
        elsewhere = _simplifier(self._env.assume(negate(condition)))
        new_yes, new_no = where.expr(yes), elsewhere.expr(no)
        if where.expr(new_no) == new_yes:
            return new_no
        if elsewhere.expr(new_yes) == new_no:
            return new_yes
        return select(condition, new_yes, new_no)

    # -- conditions --------------------------------------------------------------------------

    def condition(self, condition: Condition) -> Condition:
        """A simple condition that is equivalent."""
        found = self._conditions.get(condition)
        if found is None:
            found = self._new_condition(condition)
            self._conditions[condition] = self._conditions[found] = found
        return found

    def _new_condition(self, condition: Condition) -> Condition:
        if self._env.knows(condition):
            return Truth(True)
        if self._env.knows(negate(condition)):
            return Truth(False)
        match condition:
            case Truth():
                return condition
            case Comparison(expr, ">="):
                return self._at_least_zero(self.expr(expr))
            case Comparison(expr, "=="):
                return self._is_zero(self.expr(expr))
            case Comparison():
                return negate(self.condition(negate(condition)))
            case Junction(kind, parts):
                return self._junction(kind, junction(kind, map(self.condition, parts)))

    def _at_least_zero(self, expr: Expr) -> Condition:
        """``0 <= expr``, a quotient in it multiplied by its divisor."""
        if self._env.at_least(expr, 0):
            return Truth(True)
        if self._env.at_least(-1, expr):
            return Truth(False)
        simple = at_least_zero(expr)
        if not isinstance(simple, Comparison):
            return simple
        expr, constant = simple.expr, simple.expr.constant
        for sign in (1, -1):
            atom = ((expr - constant) * sign).atom
            if isinstance(atom, Quotient) and self._env.at_least(atom.divisor, 1):
                # x floordiv d >= -c is x >= -c*d, and x floordiv d <= c is x < (c + 1)*d
                low = atom.dividend + atom.divisor * constant
                high = atom.divisor * (constant + 1) - atom.dividend - 1
                return self._at_least_zero(self.expr(low if sign == 1 else high))
        return self._without_selection(simple)

    def _without_selection(self, comparison: Comparison) -> Condition:
        """A comparison of a selection as one of its branch, where it is known of the other."""
        for product, coefficient in comparison.expr:
            if len(product) != 1 or not isinstance(atom := product[0], Selection):
                continue
            rest = comparison.expr - Expr.of(atom) * coefficient
            elsewhere = negate(atom.condition)
            yes = self._where(atom.condition, rest + atom.yes * coefficient)
            no = self._where(elsewhere, rest + atom.no * coefficient)
            if isinstance(no, Truth) and self._is_defined(atom.yes):
                found = either(elsewhere, yes) if no.value else both(atom.condition, yes)
            elif isinstance(yes, Truth) and self._is_defined(atom.no):
                found = either(atom.condition, no) if yes.value else both(elsewhere, no)
            else:
                continue
            found = self.condition(found)
            if _comparisons(found, set()) <= _comparisons(comparison, set()):
                return found
        return comparison

    def _where(self, condition: Condition, expr: Expr) -> Condition:
        """``0 <= expr`` where a condition holds."""
        return _simplifier(self._env.assume(condition)).condition(at_least_zero(expr))

    def _is_defined(self, expr: Expr) -> bool:
        """Whether no divisor may be 0."""
        return all(
            (not isinstance(atom, Quotient | Remainder) or self._env.at_least(atom.divisor, 1))
            and all(map(self._is_defined, parts_of(atom)))
            for atom in expr.atoms
        )

    def _is_zero(self, expr: Expr) -> Condition:
        known = self._env.range(expr)
        if known.value is not None:
            return Truth(known.value == 0)
        residue = self._env.residue(expr)
        if known.least > 0 or known.greatest < 0 or residue.remainder:
            return Truth(False)
        return equal(expr, 0)

    def _junction(self, kind: Literal["and", "or"], whole: Condition) -> Condition:
        """Without the parts that the others imply."""
        if not isinstance(whole, Junction) or whole.kind != kind:
            return whole
        left = list(whole.parts)
        for part in whole.parts:
            env = self._env
            for other in left:
                if other != part:
                    env = env.assume(other if kind == "and" else negate(other))
            found = _simplifier(env).condition(part)
            if found == Truth(kind == "and"):
                left.remove(part)
            elif isinstance(found, Truth):
                return found
        return junction(kind, left)


def _is_free_of(expr: Expr, part: Expr) -> bool:
    """Whether no term of the part but a number is left in the expression."""
    return all(product not in expr.coefficients for product, _ in part if product)


def _size(factor: Expr) -> tuple[int, int]:
    product, coefficient = factor.terms[0]
    return len(product), coefficient
