"""Random integer expressions and conditions, environments, and what is true at every point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from hypothesis import strategies as st

from tiledialect.index.integer.expressions import (
    Atom,
    Comparison,
    Condition,
    Expr,
    Extremum,
    Junction,
    Quotient,
    Remainder,
    Selection,
    Truth,
    both,
    divides,
    either,
    equal,
    floordiv,
    holds,
    less,
    less_equal,
    maximum,
    minimum,
    mod,
    negate,
    select,
)
from tiledialect.index.integer.polynomial import Variable
from tiledialect.index.integer.ranges import Env

Point = dict[str, int]
NAMES = ("N", "n", "i", "j", "k")


@dataclass(frozen=True, repr=False)
class World:
    """An environment, and the points at which its facts hold."""

    env: Env
    points: tuple[Point, ...]

    def __repr__(self) -> str:
        return f"World({self.env})"


def world(ranges: dict[str, tuple], facts: tuple[Condition, ...], box: dict[str, range]) -> World:
    env = Env(ranges, facts)
    stated = [less_equal(low, name) for name, (low, _) in ranges.items() if low is not None]
    stated += [less(name, high) for name, (_, high) in ranges.items() if high is not None]
    candidates = (dict(zip(box, values, strict=True)) for values in product(*box.values()))
    points = tuple(p for p in candidates if all(holds(fact, p) for fact in (*stated, *facts)))
    assert points
    return World(env, points)


EVEN = range(-4, 5, 2)
SIGNED = {"N": range(-2, 3), "n": range(-1, 3), "i": EVEN, "j": range(0, 5, 2), "k": range(-3, 1)}
POSITIVE = {"N": range(1, 6), "n": range(1, 4), "i": range(6), "j": range(3), "k": range(-2, 3, 2)}
N, n, i, j, k = map(Expr.var, NAMES)

WORLDS = (
    world({}, (), SIGNED),
    world({"i": (-4, 5), "j": (0, 5), "k": (-3, 1)}, (equal(mod(i, 2), 0),), SIGNED),
    world({"N": (1, 7), "n": (1, 4), "i": (0, 6), "j": (0, 4), "k": (-2, 3)}, (), POSITIVE),
    world({"n": (1, None), "N": (1, None), "i": (0, "N"), "j": (0, "n"), "k": (-2, 3)}, (), POSITIVE),
    world({"n": (1, None), "N": (1, None), "i": (0, N), "j": (0, n)}, (divides("n", "N"),), POSITIVE),
    world({"n": (1, None), "N": (1, None), "i": (0, floordiv(N + n - 1, n)), "j": (0, n)}, (less(n * i + j, N),), POSITIVE),
    world({"N": (None, None), "i": (k, N + k), "j": (0, 4)}, (less(j, i), divides(2, j)), POSITIVE),
    world({"N": (1, None), "i": (0, N + 2), "j": (0, 3 * N)}, (equal(mod(N, 2), 1),), POSITIVE),
)  # fmt: skip

worlds = st.sampled_from(WORLDS)

LEAVES = st.one_of(st.sampled_from(NAMES).map(Expr.var), st.integers(-9, 33).map(Expr.const))
DIVISORS = st.sampled_from([*map(Expr.const, (1, 2, 3, 4, 8, 16)), n, N, n + 2, 2 * n, N * n])

FORMS: tuple[Callable[[Expr, Expr, Expr], Expr], ...] = (
    lambda a, b, d: a + b,
    lambda a, b, d: a - b,
    lambda a, b, d: a * 4 + b,
    lambda a, b, d: a * b,
    lambda a, b, d: a // d,
    lambda a, b, d: a % d,
    lambda a, b, d: a // (b or 3),
    lambda a, b, d: a % (b or 3),
    lambda a, b, d: minimum(a, b),
    lambda a, b, d: maximum(a, b),
    # what belongs together
    lambda a, b, d: a // d * d + a % d + b,
    lambda a, b, d: a - a // d * d,
    lambda a, b, d: (a * d + b) // d,
    lambda a, b, d: (a * d + b) % d,
    lambda a, b, d: a * d + b % d,
)
JOINTS = (less, less_equal, equal, both, either, lambda a, b: negate(both(a, b)))


@st.composite
def expressions(draw: st.DrawFn, size: int = 8) -> Expr:
    """Expressions with up to so many leaves."""
    if size < 2 or draw(st.integers(0, 5)) == 0:
        return draw(LEAVES)
    if draw(st.integers(0, 7)) == 0:
        yes, no = draw(expressions(size // 2)), draw(expressions(size // 2))
        return select(draw(conditions(size // 2)), yes, no)
    parts = [draw(expressions(size // 2)) for _ in range(2)]
    return draw(st.sampled_from(FORMS))(*parts, draw(DIVISORS))


@st.composite
def conditions(draw: st.DrawFn, size: int = 8) -> Condition:
    """Conditions with up to so many leaves."""
    joint = draw(st.sampled_from(JOINTS if size > 3 else JOINTS[:3]))
    parts = expressions if joint in JOINTS[:3] else conditions
    return joint(draw(parts(size // 2)), draw(parts(size // 2)))


def values(expr: Expr, points: tuple[Point, ...]) -> Iterator[tuple[Point, int]]:
    """The values at all points at which there is one."""
    evaluate = eval(f"lambda {', '.join(NAMES)}: {python_of(expr)}")
    for point in points:
        with suppress(ZeroDivisionError):
            yield point, evaluate(**point)


def truths(condition: Condition, points: tuple[Point, ...]) -> Iterator[tuple[Point, bool]]:
    """Whether the condition holds, at all points at which that is defined."""
    for point, value in values(select(condition, 1, 0), points):
        yield point, value == 1


def python_of(value: Expr | Condition | Atom) -> str:
    """The same in Python: what is checked against has no part in what is checked."""
    match value:
        case Expr():
            terms = ("*".join([str(c), *map(python_of, p)]) for p, c in value)
            return f"({' + '.join(terms) or 0})"
        case Variable():
            return value.name
        case Quotient():
            return f"({python_of(value.dividend)} // {python_of(value.divisor)})"
        case Remainder():
            return f"({python_of(value.dividend)} % {python_of(value.divisor)})"
        case Extremum():
            return f"{value.kind}({', '.join(map(python_of, value.operands))})"
        case Selection():
            branches = python_of(value.yes), python_of(value.no)
            return f"({branches[0]} if {python_of(value.condition)} else {branches[1]})"
        case Truth():
            return str(value.value)
        case Comparison():
            return f"({python_of(value.expr)} {value.kind} 0)"
        case Junction():
            join = "all" if value.kind == "and" else "any"
            return f"{join}([{', '.join(map(python_of, value.parts))}])"
