"""Inverses of the index maps of gather and scatter."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tiledialect.dialects.lift.attributes import IndexMap
from tiledialect.index.integer import Expr, Product, Quotient, Remainder, floordiv, mod, rebuilt
from tiledialect.index.polynomial import exact_quotient, linear_in
from tiledialect.index.ranges import Env
from tiledialect.index.simplify import simplify


def inverse(index_map: IndexMap, size: Expr, env: Env) -> IndexMap | None:
    """The map that undoes a permutation of ``size`` indices, if one is found and proved."""
    variable = index_map.variable
    whole = Expr.var("_size")
    # A size such as N*M is easier to reason about as one number.
    ways: tuple[tuple[Env, Callable[[Expr], Expr]], ...] = (
        (env.with_range(variable, 0, size), lambda e: e),
        (Env({"_size": (1, None), variable: (0, whole)}), lambda e: _renamed(e, size, whole)),
    )
    for candidate in _candidates(index_map, size):
        for inside, seen in ways:
            there_and_back = seen(candidate).substitute({variable: seen(index_map.expr)})
            if simplify(there_and_back - Expr.var(variable), inside) == Expr():
                return IndexMap(variable, candidate)
    return None


def _renamed(expr: Expr, size: Expr, name: Expr) -> Expr:
    """The expression with a name for a size, where that stands by itself."""
    if expr == size:
        return name
    return expr.map_atoms(lambda atom: rebuilt(atom, lambda part: _renamed(part, size, name)))


def _candidates(index_map: IndexMap, size: Expr) -> Iterator[Expr]:
    """What may undo a map: itself, a shift back, a transposition back."""
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


def _factor_of(expr: Expr, divisor: Expr) -> Expr | None:
    """What the remainder by a divisor is multiplied by."""
    for product, coefficient in expr:
        rests = [a for a in product if isinstance(a, Remainder) and a.divisor == divisor]
        if len(rests) == 1:
            others: Product = tuple(a for a in product if a is not rests[0])
            return Expr(((others, coefficient),))
    return None
