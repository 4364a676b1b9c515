"""Random small index spaces, and what is true of them by trying every point."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import Constraint, IndexExpr

NAMES = ("i", "j", "k")
REACH = range(-3, 4)  # every variable of a random space is kept in here

COEFFICIENTS = [0, 0, 1, 1, -1, 2, -2, 3] + [Fraction(n, d) for n in (1, -1, 2, 3) for d in (2, 3)]
OFFSETS = [0, 0, 0, 1, -1, 2, Fraction(1, 2), Fraction(-1, 3)]


def expressions(names: tuple[str, ...]) -> st.SearchStrategy[IndexExpr]:
    coefficients = st.tuples(*[st.sampled_from(COEFFICIENTS) for _ in names])
    return st.builds(
        lambda c, k: IndexExpr.linear(dict(zip(names, c, strict=True)), k),
        coefficients,
        st.sampled_from(OFFSETS),
    )


@st.composite
def tensors(draw: st.DrawFn, names: tuple[str, ...], most: int = 3):
    indices = tuple(draw(st.lists(expressions(names), max_size=most)))
    return indices, tuple(draw(st.integers(0, 5)) for _ in indices)


@st.composite
def index_spaces(draw: st.DrawFn, most_names: int = 3) -> IndexSpace:
    """Spaces whose points lie in ``REACH``: each variable is an index of the last input."""
    names = NAMES[: draw(st.integers(0, most_names))]
    output, output_shape = draw(tensors(names))
    first, first_shape = draw(tensors(names, 2))
    extra = draw(st.lists(st.tuples(expressions(names), st.integers(-1, 5)), max_size=2))
    constraints = [Constraint(e, IndexExpr.of(bound)) for e, bound in extra]
    lows = [draw(st.integers(-3, 1)) for _ in names]
    bounded = tuple(IndexExpr.of(n) - low for n, low in zip(names, lows, strict=True))
    shape = tuple(draw(st.integers(0, 4 - low)) for low in lows)
    order = draw(st.booleans())
    inputs, shapes = ((first, bounded), (first_shape, shape))
    if order:
        inputs, shapes = inputs[::-1], shapes[::-1]
    return IndexSpace(output, output_shape, inputs, shapes, tuple(constraints))


Point = dict[str, int]


def holds(constraint: Constraint, point: Point) -> bool:
    value = constraint.expr.evaluate(point)
    return value.denominator == 1 and 0 <= value < constraint.bound.constant


def every_point(space: IndexSpace, reach: range = REACH) -> list[Point]:
    """All points, found by trying; ``reach`` must hold them."""
    boxes = product(reach, repeat=len(space.variables))
    candidates = (dict(zip(space.variables, values, strict=True)) for values in boxes)
    return [p for p in candidates if all(holds(c, p) for c in space.all_constraints())]


def output_of(space: IndexSpace, point: Point) -> tuple[Fraction, ...]:
    return tuple(index.evaluate(point) for index in space.output)


def element_tuple(space: IndexSpace, point: Point) -> tuple[tuple[Fraction, ...], ...]:
    """The elements of the output and of all inputs that meet at a point."""
    tensors = (space.output, *space.inputs)
    return tuple(tuple(index.evaluate(point) for index in tensor) for tensor in tensors)
