"""The exact questions, against trying every point."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import every_point, index_spaces, output_of
from threads import in_threads

from tiledialect.index import domain, sets
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError
from tiledialect.index.expr import Constraint, IndexExpr, Range
from tiledialect.index.reduce import reduce
from tiledialect.index.sets import Guard, GuardKind, magnitude

I, J, K = map(IndexExpr.of, "ijk")  # noqa: E741
HALF = Fraction(1, 2)


def space_of(output, output_shape, inputs=(), input_shapes=(), constraints=()):
    """An index space, leaving ``IndexExpr.of`` away."""

    def tensor(indices):
        return tuple(IndexExpr.of(index) for index in indices)

    limits = [Constraint(IndexExpr.of(e), IndexExpr.of(bound)) for e, bound in constraints]
    return IndexSpace(
        tensor(output),
        tuple(output_shape),
        tuple(tensor(t) for t in inputs),
        tuple(tuple(shape) for shape in input_shapes),
        tuple(limits),
    )


def product_of(box: dict[str, Range]) -> list[dict[str, int]]:
    values = product(*(range(r.lower, r.upper) for r in box.values()))
    return [dict(zip(box, v, strict=True)) for v in values]


# -- against every point ----------------------------------------------------------------------


@given(index_spaces())
@settings(max_examples=24, deadline=None)
def test_ranges_and_points(space):
    points = every_point(space)
    assert sets.is_empty(space) == (not points)
    found = sets.ranges(space)
    assert tuple(found) == space.variables
    for name in space.variables:
        values = [p[name] for p in points] or [0]
        assert (found[name].lower, found[name].upper - bool(points)) == (min(values), max(values))
    listed = [dict(zip(space.variables, map(int, row), strict=True)) for row in sets.points(space)]
    assert sorted(map(repr, listed)) == sorted(map(repr, points))


@given(index_spaces())
@settings(max_examples=24, deadline=None)
def test_guards(space):
    points = every_point(space)
    for box in (sets.ranges(space), dict.fromkeys(space.variables, Range(-2, 3))):
        found = sets.guards(space, box)
        inside = product_of(box)
        passed = [p for p in inside if all(guard.holds(p) for guard in found)]
        assert passed == [p for p in inside if p in points]
        for guard in found:  # none follows from the others
            others = [other for other in found if other is not guard]
            assert not passed or any(
                all(o.holds(p) for o in others) and not guard.holds(p) for p in inside
            )


BIG = st.sampled_from([0, 1, -1, 2, 3, 6, -6, 2**31, -(2**40), 2**62, 2**63 - 1, -(2**63), 10**30])


@given(
    st.sampled_from(list(GuardKind)),
    st.lists(BIG, min_size=4, max_size=4),
    BIG.map(lambda n: abs(n) + 1),
    st.lists(st.tuples(st.integers(-4, 3), st.integers(1, 5)), min_size=3, max_size=3),
)
@settings(max_examples=48, deadline=None)
def test_guards_in_smaller_numbers(kind, numbers, bound, box):
    expr = IndexExpr.linear(dict(zip("ijk", numbers, strict=False)), numbers[3])
    guard = Guard(kind, expr, 0 if kind is GuardKind.LOWER else bound, 0)
    ranges = {n: Range(low, low + size) for n, (low, size) in zip("ijk", box, strict=True)}
    small = guard.reduced(ranges)
    for point in product_of(ranges):
        assert small.holds(point) == guard.holds(point)
        partial = [int(c) * (point[m[0]] if m else 1) for m, c in small.expr]
        assert sum(map(abs, partial)) <= magnitude(small.expr, ranges)
    assert magnitude(small.expr, ranges) <= 3 * magnitude(expr, ranges) + 2
    free = [c for m, c in small.expr if m]
    if kind is not GuardKind.DIVISIBLE and len(free) == 1:
        # A single index fits however large its coefficient was.
        assert max(magnitude(small.expr, ranges), abs(small.bound)) < 20


@given(index_spaces())
@settings(max_examples=24, deadline=None)
def test_collisions(space):
    points = every_point(space)
    outputs = [output_of(space, p) for p in points]
    found = sets.collision(space)
    assert (found is None) == (len(set(outputs)) == len(outputs))
    if found:
        assert found.first in points and found.second in points
        assert found.first != found.second
        assert output_of(space, found.first) == found.output == output_of(space, found.second)


@given(index_spaces())
@settings(max_examples=24, deadline=None)
def test_coverage(space):
    points = every_point(space)
    elements = set(product(*map(range, space.output_shape)))
    assert sets.covers_output(space) == (elements <= {output_of(space, p) for p in points})
    names = space.output_variables
    box = {name: sets.ranges(space)[name] for name in names}
    written = [{name: p[name] for name in names} for p in points]
    full = bool(points) and all(p in written for p in product_of(box))
    assert sets.is_full(space) == full


# -- by hand ----------------------------------------------------------------------------------


def conv(channels=64, size=14):
    n, y, x, co, j, i, ci = map(IndexExpr.of, ("n", "y", "x", "co", "j", "i", "ci"))
    return IndexSpace(
        (n, y, x, co),
        (2, size, size, channels),
        ((n, y + j - 1, x + i - 1, ci), (j, i, ci, co)),
        ((2, size, size, channels), (3, 3, channels, channels)),
    )


def test_padded_convolution():
    space = conv()
    found = sets.ranges(space)
    assert {k: str(r) for k, r in found.items()} == {
        "n": "0..2", "y": "0..14", "x": "0..14", "co": "0..64", "j": "0..3", "i": "0..3", "ci": "0..64",
    }  # fmt: skip
    assert list(map(str, sets.guards(space, found))) == [
        "0 <= y + j - 1",
        "y + j - 1 < 14",
        "0 <= x + i - 1",
        "x + i - 1 < 14",
    ]
    assert sets.covers_output(space) and sets.is_full(space)
    assert sets.collision(space) is not None


def test_guards_of_a_fraction():
    space = space_of(["i"], [4], [[I / 2]], [[9]])
    assert list(map(str, sets.guards(space, {"i": Range(0, 4)}))) == ["(i) % 2 == 0"]
    assert list(map(str, sets.guards(space, {"i": Range(-9, 9)}))) == [
        "0 <= i",
        "i < 4",
        "(i) % 2 == 0",
    ]


def test_of_two_equal_tests_the_first_stays():
    space = space_of(["i"], [9], [["i"]], [[3]], [(I, 3)])
    assert [g.source for g in sets.guards(space, {"i": Range(0, 9)})] == [1]


@pytest.mark.parametrize(
    ("space", "name"),
    [
        (space_of(["i"], [4], [["i", J + K]], [[4, 5]]), "j"),
        (space_of([I + J], [4]), "i"),
        (space_of([I + J], [4], [[J]], [[0]], [(K + IndexExpr.of("l"), 5)]), "k"),
        (space_of([], [], [], [], [(J - 2 * K, 3), (2 * K - J, 3)]), "j"),
    ],
)
def test_unbounded(space, name):
    with pytest.raises(UnboundedIndexError) as error:
        sets.ranges(space)
    assert error.value.name == name
    with pytest.raises(UnboundedIndexError):
        sets.points(space)


def test_no_index_at_all():
    space = space_of([], [], [[]], [[]])
    assert sets.ranges(space) == {}
    assert sets.points(space).shape == (1, 0)
    assert not sets.is_empty(space)
    assert sets.guards(space, {}) == ()
    assert sets.covers_output(space) and sets.is_full(space) and sets.collision(space) is None


@pytest.mark.parametrize(
    "space",
    [
        space_of(["i"], [4], [[7, "i"]], [[3, 4]]),
        space_of(["i"], [4], [[HALF, "i"]], [[3, 4]]),
        space_of(["i"], [4], [["i"]], [[0]]),
        space_of(["i"], [0]),
        space_of([0, "i"], [4, 4], [["i"]], [[4]], [(I, -3)]),
        space_of([I / 2], [4], [[I / 2 + HALF]], [[4]]),
    ],
)
def test_empty(space):
    assert sets.is_empty(space)
    assert set(sets.ranges(space).values()) == {Range(0, 0)}
    assert sets.points(space).shape == (0, len(space.variables))
    assert sets.covers_output(space) == (0 in space.output_shape)
    assert not sets.is_full(space)
    assert sets.collision(space) is None
    box = dict.fromkeys(space.variables, Range(0, 5))
    assert not any(all(g.holds({"i": i}) for g in sets.guards(space, box)) for i in range(5))


def test_constant_output_index():
    space = space_of([0, "i"], [2, 4], [["i"]], [[4]])
    assert not sets.covers_output(space)
    assert sets.is_full(space)
    assert sets.covers_output(space_of([0, "i"], [1, 4], [["i"]], [[4]]))


def test_single_valued_only_thanks_to_the_domain():
    assert sets.collision(space_of([3 * I + J], [12], [["i", "j"]], [[4, 3]])) is None
    found = sets.collision(space_of([3 * I + J], [13], [["i", "j"]], [[4, 4]]))
    assert found is not None
    assert {tuple(found.first.values()), tuple(found.second.values())} <= {
        (a, b) for a in range(4) for b in (0, 3)
    }


def test_sizes_beyond_machine_integers():
    big = 2**70
    space = space_of(["i", "j"], [big, 3], [[I + J - 1]], [[big]])
    found = sets.ranges(space)
    assert found == {"i": Range(0, big), "j": Range(0, 3)}
    assert [str(g) for g in sets.guards(space, found)] == ["0 <= i + j - 1", f"i + j < {big + 1}"]
    assert sets.collision(space) is None
    assert not sets.covers_output(space)
    few = space_of([I - big], [3], [[I]], [[big + 2]])
    assert sets.points(few).tolist() == [[big], [big + 1]]
    strided = space_of([big * I], [big + 1], [["i"]], [[3]])
    assert sets.points(strided).tolist() == [[0], [1]]


def test_coverage_too_hard_to_tell():
    """A question that takes seconds to answer is given up, and the next one is not."""
    output = [109 * K - 159 * I - 125 * J + 135, 244 * K - 266 * IndexExpr.of("l") - 223]
    space = space_of(
        output, [100, 1508], [[105 * J + 154], ["i", "j", "k", "l"]], [[2090], [9, 4, 8, 4]]
    )
    assert not sets.covers_output(space)
    assert sets.covers_output(conv(size=1234))


def test_threads_have_their_own_context():
    answers: list[bool] = []

    def ask(size: int):
        answers.append(all(sets.covers_output(conv(size=size + s)) for s in range(20)))

    in_threads(ask, range(100, 180, 20))
    assert answers == [True] * 4


def test_ranks_and_symbols_are_checked():
    with pytest.raises(ValueError, match="as many indices"):
        space_of(["i"], [1, 2])
    with pytest.raises(ValueError, match="symbols"):
        space_of(["i"], [1], constraints=[(I, "N")])


def test_layers_alike_are_computed_once():
    def ask(channels: int):
        space = conv(channels)
        sets.guards(space, sets.ranges(space))
        sets.collision(space)
        sets.covers_output(space)

    ask(64)
    before = domain.guards.cache_info().misses
    ask(64)
    assert domain.guards.cache_info().misses == before


def test_sixty_indices():
    names = [f"i{k}" for k in range(60)]
    limits = [(name, 1 + (k < 3)) for k, name in enumerate(names)]
    space = space_of([], [], [[sum(map(IndexExpr.of, names), IndexExpr())]], [[5]], limits)
    assert sets.ranges(space) == {name: Range(0, bound) for name, bound in limits}
    assert sets.guards(space, sets.ranges(space)) == ()
    assert reduce(space).space.variables
    wide = space_of([], [], space.inputs, [[5]], [(name, 2) for name in names])
    (guard,) = sets.guards(wide, sets.ranges(wide))
    assert guard.kind is GuardKind.UPPER and guard.bound == 5


def entangled(count: int, sign: int, bound: int) -> IndexSpace:
    """A sum over dozens of indices with coefficients that have nothing to do with each other."""
    terms = [sign**k * (37 * k * k % 101 + 1) * IndexExpr.of(f"i{k}") for k in range(count)]
    limits = [(f"i{k}", bound) for k in range(count)]
    return space_of([], [], [[sum(terms, IndexExpr())]], [[50]], limits)


@pytest.mark.parametrize(("sign", "bound"), [(1, 1), (-1, 3)])
def test_sixty_coefficients(sign, bound):
    space = entangled(60, sign, bound)
    ranges = sets.ranges(space)
    assert not sets.is_empty(space)
    for found in ranges.values():
        assert found.lower == 0 and 1 <= found.upper <= bound
    guards = sets.guards(space, ranges)
    origin = dict.fromkeys(space.variables, 0)
    assert all(guard.holds(origin) for guard in guards)
    assert (guards == ()) == (bound == 1)
    reduce(space)
