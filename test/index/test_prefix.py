"""Cumulative spaces, against counting what lands on every element."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import every_point, index_spaces

from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.index.prefix import prefix

Element = tuple[int, ...]
Landing = Counter[tuple[Element, ...]]


def landings(space: IndexSpace) -> dict[Element, Landing]:
    """Elements of the inputs that land on each element of the output, with their number."""
    found: dict[Element, Landing] = {}
    for row in sets.points(space):
        point = dict(zip(space.variables, map(int, row), strict=True))
        output, *inputs = (
            tuple(int(e.evaluate(point)) for e in access)
            for access in (space.output, *space.inputs)
        )
        found.setdefault(output, Counter())[tuple(inputs)] += 1
    return found


def scanned(space: IndexSpace) -> dict[Element, Landing] | None:
    """The same by running totals, if the space is cumulative."""
    found = prefix(space)
    if found is None:
        return None
    axis, terms = found.axis, landings(found.source)
    order = [k for k in range(len(space.inputs)) if k not in found.factors]
    result: dict[Element, Landing] = {}
    for output, landing in landings(found.result).items():
        ((running, *factors),) = landing
        place, total = running[axis], Counter[tuple[Element, ...]]()
        for element, term in terms.items():
            beside = (*element[:axis], place, *element[axis + 1 :]) == running
            before = element[axis] >= place if found.reverse else element[axis] <= place
            if beside and before:
                for inputs, count in term.items():
                    numbered = dict(zip(order, inputs, strict=True))
                    numbered |= zip(found.factors, factors, strict=True)
                    total[tuple(numbered[k] for k in sorted(numbered))] += count
        if total:
            result[output] = total
    return result


@st.composite
def cumulative_spaces(draw: st.DrawFn) -> IndexSpace:
    """Running totals along ``i`` of what lies along ``k``, in other variables."""
    a, c = draw(st.sampled_from([1, 1, 1, 2, -1])), draw(st.integers(-2, 2))
    i, k, b = (IndexExpr.of(n) for n in "ikb")
    limit = (a * i + c - k) * draw(st.sampled_from([1, -1]))
    size, length = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    inputs, shapes = [(k, b)], [(length, 2)]
    if draw(st.booleans()):
        inputs, shapes = [*inputs, (i,)], [*shapes, (draw(st.integers(1, 6)),)]
    output, shape = ((i, b), (size, 2)) if draw(st.booleans()) else ((i,), (size,))
    space = IndexSpace(
        output,
        shape,
        tuple(inputs),
        tuple(shapes),
        (Constraint(limit, IndexExpr.of(draw(st.sampled_from([3, 30])))),),
    )
    change = draw(st.sampled_from([{}, {"k": i - IndexExpr.of("j")}, {"i": i + k}]))
    return space.substitute(change)


@given(cumulative_spaces())
@settings(max_examples=24, deadline=None)
def test_running_totals(space: IndexSpace):
    found = scanned(space)
    assert found is None or found == landings(space)


@given(index_spaces())
@settings(max_examples=24, deadline=None)
def test_of_any_space(space: IndexSpace):
    found = scanned(space)
    assert found is None or found == landings(space)
    assert len(every_point(space)) == sum(sum(c.values()) for c in landings(space).values())


def test_what_is_found():
    i, j, k, n = (IndexExpr.of(name) for name in "ijkn")
    size = IndexExpr.of(9)
    shifted = IndexSpace((n, i), (2, 9), ((n, i - j),), ((2, 9),), (Constraint(j, size),))
    found = prefix(shifted)
    assert found is not None and (found.axis, found.reverse, found.factors) == (1, False, ())
    assert found.source.output_shape == (2, 9)
    back = prefix(replace(shifted, inputs=((n, i + j),)))
    assert back is not None and back.reverse
    window = prefix(replace(shifted, constraints=(Constraint(j, IndexExpr.of(4)),)))
    assert window is None
    unbounded = prefix(IndexSpace((i,), (9,), ((i,),), ((9,),), (Constraint(i - k, size),)))
    assert unbounded is None
