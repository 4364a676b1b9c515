"""The box of the output variables, and what loops over it write, against trying every point."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import every_point, index_spaces, output_of

from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.defract import defract
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.index.reduce import reduce
from tiledialect.schedule.output_box import (
    Ranges,
    always_lands,
    leaves_unwritten,
    output_box,
    shared_element,
    visited,
    widened,
)

REPEATED = settings(max_examples=60, deadline=None)


def places(ranges: Ranges, names: tuple[str, ...]) -> list[dict[str, int]]:
    """Every value of the variables inside their ranges."""
    values = product(*(range(ranges[n].lower, ranges[n].upper) for n in names))
    return [dict(zip(names, v, strict=True)) for v in values]


def is_element(space: IndexSpace, element: tuple) -> bool:
    return all(
        e.denominator == 1 and 0 <= e < size
        for e, size in zip(element, space.output_shape, strict=True)
    )


@st.composite
def sums_of_digits(draw: st.DrawFn) -> IndexSpace:
    """Outputs such as ``i + 3*j + 12*k - 5``."""
    weights, names = [1], ["i"]
    for name in ("j", "k")[: draw(st.integers(0, 2))]:
        weights.append(weights[-1] * draw(st.integers(2, 5)))
        names.append(name)
    offset, size = draw(st.integers(-30, 30)), draw(st.integers(0, 30))
    expr = IndexExpr.linear(dict(zip(names, weights, strict=True)), offset)
    return IndexSpace((expr,), (size,))


@given(index_spaces() | sums_of_digits())
@REPEATED
def test_every_element_has_one_point_in_the_box(space: IndexSpace):
    box = output_box(space)
    if box is None:
        return
    outputs = [output_of(space, p) for p in places(box.ranges, space.output_variables)]
    inside = Counter(e for e in outputs if is_element(space, e))
    assert inside == Counter(product(*map(range, space.output_shape)))
    leaving = {
        axis
        for element in outputs
        for axis, (e, size) in enumerate(zip(element, space.output_shape, strict=True))
        if not 0 <= e < size
    }
    assert leaving <= set(box.overshooting)


@given(index_spaces())
@REPEATED
def test_what_loops_write(space: IndexSpace):
    points = every_point(space)
    found = sets.ranges(space)
    ranges = widened(space, found)
    assert all(ranges[n].lower <= p[n] < ranges[n].upper for p in points for n in space.variables)
    written = {output_of(space, p) for p in points}
    elements = set(product(*map(range, space.output_shape)))
    everything = visited(space, ranges) is not None or elements <= written
    assert leaves_unwritten(space, ranges) == (not everything)


@given(index_spaces(), st.integers(0, 2))
@REPEATED
def test_where_something_always_lands(space: IndexSpace, more: int):
    points = every_point(space)
    # Wider loops than needed, as a kernel written by hand may have.
    found = sets.ranges(space)
    wider = {n: Range(r.lower - more, r.upper + more) for n, r in found.items()}
    for ranges in (widened(space, found), wider):
        owners = places(ranges, space.output_variables)
        if visited(space, ranges) is not None:
            owners = [p for p in owners if is_element(space, output_of(space, p))]
        landed = [{n: p[n] for n in space.output_variables} for p in points]
        if always_lands(space, ranges):
            assert all(owner in landed for owner in owners)


@given(index_spaces() | sums_of_digits().filter(lambda s: len(s.variables) < 3))
@REPEATED
def test_shared_elements(space: IndexSpace):
    ranges = dict.fromkeys(space.variables, Range(-2, 3))
    owners = places(ranges, space.output_variables)
    counts = Counter(e for p in owners if is_element(space, e := output_of(space, p)))
    found = shared_element(space, ranges)
    assert (found is None) == all(n == 1 for n in counts.values())
    if found is not None:
        assert found.first in owners and found.second in owners and found.first != found.second
        assert output_of(space, found.first) == found.output == output_of(space, found.second)


@given(index_spaces())
@REPEATED
def test_every_element_has_one_owner_in_normal_form(space: IndexSpace):
    normal = defract(reduce(space).space).space
    assert shared_element(normal, widened(normal, sets.ranges(normal))) is None


def test_the_box_is_not_much_larger_than_the_output():
    i, j = map(IndexExpr.of, "ij")
    weight = 10**12
    (only,) = (output_box(IndexSpace((i + weight * j,), (8,))),)
    assert only is not None and only.ranges == {"i": Range(0, 8), "j": Range(0, 1)}
    assert only.overshooting == ()
    # Three elements at the end of one value of j, five at the start of the next.
    assert output_box(IndexSpace((i + weight * j + 5,), (8,))) is None
    for size in range(40):
        for offset in range(-9, 9):
            box = output_box(IndexSpace((i + 4 * j + offset,), (size,)))
            if box is not None:
                assert prod(r.extent for r in box.ranges.values()) <= 4 * size
