"""Integer expressions and conditions of address arithmetic.

An ``Expr`` is a polynomial in *atoms*: variables, quotients, remainders, minima, maxima and
selections. A ``Condition`` compares expressions. Both are values in a canonical form. Division
rounds down and the remainder has the divisor's sign, as in Python and as ``floordiv`` and ``mod``
of MLIR's affine expressions. ``simplify`` knows the consequences of ranges; this file has
unconditional ones only. Expressions and conditions share a file, as either would import the other:
a selection has a condition, and a comparison has an expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd, prod
from typing import Literal

from tiledialect import caches
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer.polynomial import Polynomial, Term, Variable, product_of
from tiledialect.lazy import lazy

Values = Mapping[str, int]


# -- expressions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quotient:
    """``dividend floordiv divisor``."""

    dividend: Expr
    divisor: Expr

    @lazy
    def _text(self) -> str:
        return f"({self.dividend.factor} floordiv {self.divisor.factor})"

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True)
class Remainder:
    """``dividend mod divisor``."""

    dividend: Expr
    divisor: Expr

    @lazy
    def _text(self) -> str:
        return f"({self.dividend.factor} mod {self.divisor.factor})"

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True)
class Extremum:
    """The least of some integers (``kind`` is "min") or the greatest ("max")."""

    kind: Literal["min", "max"]
    operands: tuple[Expr, ...]

    @lazy
    def _text(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.operands))})"

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True)
class Selection:
    """``yes`` where the condition holds, else ``no``, which then need not have a value."""

    condition: Condition
    yes: Expr
    no: Expr

    @lazy
    def _text(self) -> str:
        return f"({self.condition} ? {self.yes} : {self.no})"

    def __str__(self) -> str:
        return self._text


Atom = Variable | Quotient | Remainder | Extremum | Selection
ATOMS = (Variable, Quotient, Remainder, Extremum, Selection)
"""Classes of atoms as a tuple for `isinstance`, which is slow for a union."""


@dataclass(frozen=True, eq=False)
class Expr(Polynomial["Atom"]):
    """A polynomial in atoms, with all operations on integers."""

    # -- making ----------------------------------------------------------------------------

    @staticmethod
    @caches.VARIABLES
    def var(name: str) -> Expr:
        """The variable with this name."""
        return Expr((((Variable(name),), 1),))

    @classmethod
    def of(cls, value: Expr | IndexExpr | Atom | int | str) -> Expr:
        """The expression of a number, a name, an atom, or an index expression without fractions."""
        match value:
            case Expr():
                return value
            case int():
                return Expr.const(value)
            case str():
                return Expr.var(value)
            case IndexExpr():
                if value.denominator != 1:
                    raise ValueError(f"{value} has a coefficient that is no integer")
                return Expr.collect((product_of(map(Variable, m)), int(c)) for m, c in value)
            case _:
                if not isinstance(value, ATOMS):  # pyright: ignore[reportUnnecessaryIsInstance]
                    raise TypeError(f"{value!r} is no index expression")
                return Expr((((value,), 1),))

    # -- looking ---------------------------------------------------------------------------

    @lazy
    def names(self) -> tuple[str, ...]:
        """All variables, also those inside atoms, in order of appearance."""
        found: list[str] = []
        for atom in self.atoms:
            # Nearly all are variables.
            found += (atom.name,) if isinstance(atom, Variable) else _names_in(atom)
        return tuple(dict.fromkeys(found))

    def evaluate(self, values: Values) -> int:
        """The value where every variable has one. Raises ``ZeroDivisionError``."""
        return sum(c * prod(_value_of(atom, values) for atom in p) for p, c in self)

    # -- changing --------------------------------------------------------------------------

    def substitute(self, values: Mapping[str, Operand]) -> Expr:
        """Replace variables, all at once."""
        if values.keys().isdisjoint(self.names):
            return self

        def new(atom: Atom) -> Expr:
            if isinstance(atom, Variable):
                return Expr.of(values.get(atom.name, atom))
            return rebuilt(atom, lambda inner: inner.substitute(values))

        return self.map_atoms(new)

    def map_atoms(self, new: Callable[[Atom], Expr]) -> Expr:
        """Replace each factor by an expression."""
        terms: list[Term[Atom]] = []
        for product, coefficient in self.terms:
            if len(product) == 1:
                # Nearly all are of this kind.
                terms += [(p, c * coefficient) for p, c in new(product[0]).terms]
            else:
                terms += prod(map(new, product), start=Expr.const(coefficient)).terms
        return Expr.collect(terms)

    def __floordiv__(self, other: Operand) -> Expr:
        return floordiv(self, other)

    def __rfloordiv__(self, other: Operand) -> Expr:
        return floordiv(other, self)

    def __mod__(self, other: Operand) -> Expr:
        return mod(self, other)

    def __rmod__(self, other: Operand) -> Expr:
        return mod(other, self)


Operand = Expr | int | str
"""An expression, a number, or the name of a variable."""


def floordiv(dividend: Operand, divisor: Operand) -> Expr:
    """``dividend floordiv divisor``, rounded down."""
    dividend, divisor = Expr.of(dividend), Expr.of(divisor)
    match dividend.value, divisor.value:
        case _, 1:
            return dividend
        case int(a), int(b) if b:
            return Expr.const(a // b)
        case _, int(b) if b < 0:
            return floordiv(-dividend, -b)
        case _:
            return Expr.of(Quotient(dividend, divisor))


def mod(dividend: Operand, divisor: Operand) -> Expr:
    """``dividend mod divisor``, at least 0 and less than a positive divisor."""
    dividend, divisor = Expr.of(dividend), Expr.of(divisor)
    match dividend.value, divisor.value:
        case _, 1:
            return Expr()
        case int(a), int(b) if b:
            return Expr.const(a % b)
        case _, int(b) if b < 0:
            return -mod(-dividend, -b)
        case _:
            return Expr.of(Remainder(dividend, divisor))


def minimum(*operands: Operand) -> Expr:
    """The least of the operands."""
    return extremum("min", operands)


def maximum(*operands: Operand) -> Expr:
    """The greatest of the operands."""
    return extremum("max", operands)


def extremum(kind: Literal["min", "max"], operands: Iterable[Operand]) -> Expr:
    """The least or the greatest of the operands; nested ones of the same kind are merged."""
    found: dict[Expr, None] = {}
    numbers: list[int] = []
    for operand in map(Expr.of, operands):
        match operand.atom:
            case Extremum(same, inner) if same == kind:
                parts = inner
            case _:
                parts = (operand,)
        for part in parts:
            if part.value is None:
                found[part] = None
            else:
                numbers.append(part.value)
    if numbers:
        found[Expr.const(min(numbers) if kind == "min" else max(numbers))] = None
    if not found:
        raise ValueError(f"{kind} of nothing")
    left = sorted(found, key=lambda part: (part.value is not None, str(part)))
    return left[0] if len(left) == 1 else Expr.of(Extremum(kind, tuple(left)))


def select(condition: Condition, yes: Operand, no: Operand) -> Expr:
    """``condition ? yes : no``."""
    yes, no = Expr.of(yes), Expr.of(no)
    if isinstance(condition, Truth):
        return yes if condition.value else no
    return yes if yes == no else Expr.of(Selection(condition, yes, no))


def rebuilt(atom: Atom, new: Callable[[Expr], Expr]) -> Expr:
    """The atom with new expressions in the place of those in it."""
    match atom:
        case Variable():
            return Expr.of(atom)
        case Quotient(dividend, divisor):
            return floordiv(new(dividend), new(divisor))
        case Remainder(dividend, divisor):
            return mod(new(dividend), new(divisor))
        case Extremum(kind, operands):
            return extremum(kind, map(new, operands))
        case Selection(condition, yes, no):
            return select(map_expressions(condition, new), new(yes), new(no))


def _value_of(atom: Atom, values: Values) -> int:
    match atom:
        case Variable(name):
            return values[name]
        case Quotient(dividend, divisor):
            return dividend.evaluate(values) // divisor.evaluate(values)
        case Remainder(dividend, divisor):
            return dividend.evaluate(values) % divisor.evaluate(values)
        case Extremum(kind, operands):
            found = [operand.evaluate(values) for operand in operands]
            return min(found) if kind == "min" else max(found)
        case Selection(condition, yes, no):
            return (yes if holds(condition, values) else no).evaluate(values)


def _names_in(atom: Atom) -> Iterator[str]:
    for part in parts_of(atom):
        yield from part.names


def parts_of(atom: Atom) -> tuple[Expr, ...]:
    """Expressions in an atom, also those in its condition."""
    match atom:
        case Variable():
            return ()
        case Quotient(dividend, divisor) | Remainder(dividend, divisor):
            return dividend, divisor
        case Extremum(_, operands):
            return operands
        case Selection(condition, yes, no):
            return (*expressions_of(condition), yes, no)


# -- conditions ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """A constant condition: true or false."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True)
class Comparison:
    """Condition that the expression is at least 0, or is 0, or is not 0."""

    expr: Expr
    kind: Literal[">=", "==", "!="]

    @lazy
    def sides(self) -> tuple[Expr, Literal["<", "<=", "=="], Expr]:
        """Both sides as they are printed, with no term negative, and the operator between them."""
        left = Expr(tuple((p, -c) for p, c in self.expr if p and c < 0))
        right = Expr(tuple((p, c) for p, c in self.expr if p and c > 0))
        offset = self.expr.constant
        if self.kind != ">=":
            left, right = right, left
            return (left, "==", right - offset) if offset <= 0 else (left + offset, "==", right)
        if offset < 0 and left:
            return left + (-offset - 1), "<", right
        if offset >= 0 and not right:
            return left, "<", Expr.const(offset + 1)
        return (left, "<=", right + offset) if left else (Expr.const(-offset), "<=", right)

    @lazy
    def _text(self) -> str:
        left, sign, right = self.sides
        return f"not {left} == {right}" if self.kind == "!=" else f"{left} {sign} {right}"

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True)
class Junction:
    """Conjunction (``kind`` is "and") or disjunction ("or") of its parts."""

    kind: Literal["and", "or"]
    parts: tuple[Condition, ...]

    @lazy
    def _text(self) -> str:
        return f" {self.kind} ".join(
            f"({part})" if isinstance(part, Junction) else str(part) for part in self.parts
        )

    def __str__(self) -> str:
        return self._text


Condition = Truth | Comparison | Junction


def less(left: Operand, right: Operand) -> Condition:
    """``left < right``."""
    return at_least_zero(Expr.of(right) - left - 1)


def less_equal(left: Operand, right: Operand) -> Condition:
    """``left <= right``."""
    return at_least_zero(Expr.of(right) - left)


def at_least_zero(expr: Expr) -> Condition:
    """``0 <= expr``, with a common factor of the coefficients divided out and the rest rounded."""
    if expr.value is not None:
        return Truth(expr.value >= 0)
    common = gcd(*(c for p, c in expr if p))
    if common > 1:
        expr = Expr.collect((p, c // common) for p, c in expr)
    return Comparison(expr, ">=")


def equal(left: Operand, right: Operand) -> Condition:
    """``left == right``."""
    expr = Expr.of(left) - right
    if expr.value is not None:
        return Truth(expr.value == 0)
    common = gcd(*(c for p, c in expr if p))
    if expr.constant % common:
        return Truth(False)
    if expr.terms[0][1] < 0:
        common = -common
    return Comparison(Expr.collect((p, c // common) for p, c in expr), "==")


def negate(condition: Condition) -> Condition:
    """Negate the condition."""
    match condition:
        case Truth(value):
            return Truth(not value)
        case Comparison(expr, ">="):
            return at_least_zero(-expr - 1)
        case Comparison(expr, kind):
            return Comparison(expr, "!=" if kind == "==" else "==")
        case Junction(kind, parts):
            return junction("or" if kind == "and" else "and", map(negate, parts))


def both(*conditions: Condition) -> Condition:
    """Conjunction of conditions."""
    return junction("and", conditions)


def either(*conditions: Condition) -> Condition:
    """Disjunction of conditions."""
    return junction("or", conditions)


def junction(kind: Literal["and", "or"], conditions: Iterable[Condition]) -> Condition:
    """Join conditions; nested ones of the same kind are merged."""
    given = tuple(conditions)
    if len(given) == 1:
        return given[0]
    neutral = Truth(kind == "and")
    found: dict[Condition, None] = {}
    for condition in given:
        match condition:
            case Junction(same, inner) if same == kind:
                found.update(dict.fromkeys(inner))
            case _:
                found[condition] = None
    found.pop(neutral, None)
    if len(found) > 1 and any(negate(condition) in found for condition in found):
        return negate(neutral)
    parts = sorted(found, key=str)
    return Junction(kind, tuple(parts)) if len(parts) > 1 else parts[0] if parts else neutral


def divides(divisor: Operand, value: Operand) -> Condition:
    """Condition that the value is a multiple of the divisor."""
    return equal(mod(value, divisor), 0)


def map_expressions(condition: Condition, new: Callable[[Expr], Expr]) -> Condition:
    """Map the compared expressions of the condition."""
    match condition:
        case Truth():
            return condition
        case Comparison(expr, ">="):
            return at_least_zero(new(expr))
        case Comparison(expr, kind):
            same = equal(new(expr), 0)
            return same if kind == "==" else negate(same)
        case Junction(kind, parts):
            return junction(kind, (map_expressions(part, new) for part in parts))


def expressions_of(condition: Condition) -> tuple[Expr, ...]:
    """Expressions that a condition compares."""
    match condition:
        case Truth():
            return ()
        case Comparison(expr, _):
            return (expr,)
        case Junction(_, parts):
            return tuple(expr for part in parts for expr in expressions_of(part))


def holds(condition: Condition, values: Values) -> bool:
    """Whether the condition holds where every variable has a value.

    All parts of a junction are evaluated, as kernels do.
    """
    match condition:
        case Truth(value):
            return value
        case Comparison(expr, ">="):
            return expr.evaluate(values) >= 0
        case Comparison(expr, kind):
            return (expr.evaluate(values) == 0) == (kind == "==")
        case Junction(kind, parts):
            found = [holds(part, values) for part in parts]
            return all(found) if kind == "and" else any(found)
