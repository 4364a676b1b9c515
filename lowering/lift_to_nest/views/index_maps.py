"""Inverses of the index maps of gather and scatter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import gcd

from tiledialect.dialects.lift.attributes import IndexMap
from tiledialect.index.integer.division import exact_quotient, linear_in
from tiledialect.index.integer.expressions import (
    Atom,
    Expr,
    Quotient,
    Remainder,
    floordiv,
    mod,
    parts_of,
    rebuilt,
)
from tiledialect.index.integer.polynomial import Product
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import simplify

MAX_TRIED = 4096
"""Maximum number of indices that are all tried; for more the inverse is proved."""


def inverse(index_map: IndexMap, size: Expr, env: Env) -> IndexMap | None:
    """Inverse of a permutation of ``size`` indices, if one is found and proved."""
    variable = index_map.variable
    whole = Expr.var("_size")
    # A size such as N*M is easier to reason about as one number.
    ways: tuple[tuple[Env, Callable[[Expr], Expr]], ...] = (
        (env.with_range(variable, 0, size), lambda e: e),
        (Env({"_size": (1, None), variable: (0, whole)}), lambda e: _renamed(e, size, whole)),
    )
    names, number = {*index_map.expr.names, *size.names}, size.value
    if number is not None and number <= MAX_TRIED and names <= {variable}:
        tried = (c for c in _candidates(index_map, size) if _undoes(c, index_map, number))
        return next((IndexMap(variable, c) for c in tried), None)
    for candidate in _candidates(index_map, size):
        for inside, seen in ways:
            there_and_back = seen(candidate).substitute({variable: seen(index_map.expr)})
            if simplify(there_and_back - Expr.var(variable), inside) == Expr():
                return IndexMap(variable, candidate)
    return None


def _undoes(candidate: Expr, index_map: IndexMap, size: int) -> bool:
    """Whether an expression inverts a map, by trying all indices."""
    name, expr = index_map.variable, index_map.expr
    return all(candidate.evaluate({name: expr.evaluate({name: k})}) == k for k in range(size))


def _renamed(expr: Expr, size: Expr, name: Expr) -> Expr:
    """Replace a size by a name, where it stands by itself."""
    if expr == size:
        return name
    return expr.map_atoms(lambda atom: rebuilt(atom, lambda part: _renamed(part, size, name)))


def _candidates(index_map: IndexMap, size: Expr) -> Iterator[Expr]:
    """Candidates of the inverse: the map itself, a shift or transposition back, permuted digits."""
    i, expr = Expr.var(index_map.variable), index_map.expr
    yield expr
    if (parts := linear_in(expr, i.atoms[0])) is not None and parts[0] in (1, Expr.const(1)):
        yield i - parts[1]
    for atom in expr.atoms:
        if isinstance(atom, Remainder) and expr == Expr.of(atom):
            # (i + c) mod n is undone by (i - c) mod n
            yield mod(i * 2 - atom.dividend, atom.divisor)
        if isinstance(atom, Quotient) and atom.dividend == i:
            # i floordiv m + n*(i mod m) is undone by i floordiv n + m*(i mod n)
            across = exact_quotient(size, atom.divisor) or _factor_of(expr, atom.divisor)
            if across is not None:
                yield floordiv(i, across) + atom.divisor * mod(i, across)
    for atom in expr.atoms:
        if isinstance(atom, Remainder) and expr == Expr.of(atom):
            yield from _times_back(atom, i)
    if size.value is not None and {*expr.names} <= {index_map.variable}:
        yield from _digits_back(index_map, size.value)


def _times_back(atom: Remainder, i: Expr) -> Iterator[Expr]:
    """Inverse of (a*i + c) mod n: (b*i - b*c) mod n where a*b mod n = 1."""
    parts, n = linear_in(atom.dividend, i.atoms[0]), atom.divisor.value
    if parts is None or n is None:
        return
    factor = parts[0].value
    if factor is not None and gcd(factor, n) == 1:
        yield mod((i - parts[1]) * pow(factor, -1, n), n)


def _digits_back(index_map: IndexMap, size: int) -> Iterator[Expr]:
    """Inverse of a map that permutes, or reverses, digits of the index.

    The digits are in the bases that the map divides by.
    """
    name, i = index_map.variable, Expr.var(index_map.variable)
    bases = sorted({n for n in _divisors(index_map.expr) if 0 < n < size} | {1, size})
    if any(high % low for low, high in pairwise(bases)):
        return
    first = index_map.expr.evaluate({name: 0})
    weights = [index_map.expr.evaluate({name: base}) - first for base in bases[:-1]]
    digits = sorted(zip(weights, pairwise(bases), strict=True), key=lambda d: abs(d[0]))
    lowest = first + sum(w * (high // low - 1) for w, (low, high) in digits if w < 0)
    back = Expr()
    for weight, (low, high) in digits:
        if weight == 0:
            return
        digit = mod(floordiv(i - lowest, abs(weight)), high // low)
        back += low * (digit if weight > 0 else high // low - 1 - digit)
    yield back


def _divisors(expr: Expr) -> Iterator[int]:
    """Divisors of the variable in an expression."""
    for atom in expr.atoms:
        for part in parts_of(atom):
            yield from _divisors(part)
        if isinstance(atom, Quotient | Remainder):
            yield _divided(atom.dividend) * (atom.divisor.value or 0)


def _divided(expr: Expr) -> int:
    """Total divisor of a quotient of quotients."""
    if isinstance(quotient := expr.atom, Quotient):
        return _divided(quotient.dividend) * (quotient.divisor.value or 0)
    return 1


def _factor_of(expr: Expr, divisor: Expr) -> Expr | None:
    """Factor of the remainder by a divisor."""
    for product, coefficient in expr:
        rests = [a for a in product if isinstance(a, Remainder) and a.divisor == divisor]
        if len(rests) == 1:
            others: Product[Atom] = tuple(a for a in product if a is not rests[0])
            return Expr(((others, coefficient),))
    return None
