"""Reduce, defract, and the merging of constraints, against trying every point."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import COEFFICIENTS, OFFSETS, element_tuple, every_point, holds, index_spaces, output_of

from tiledialect.index import sets
from tiledialect.index.change import Change
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError
from tiledialect.index.defract import defract
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.index.parallel import merge_parallel, without_redundant
from tiledialect.index.reduce import reduce


def names(text: str):
    return map(IndexExpr.of, text.split())


def below(expr, bound) -> Constraint:
    return Constraint(IndexExpr.of(expr), IndexExpr.of(bound))


def spelled(change: Change) -> dict[str, str]:
    return {name: str(value) for name, value in change.values.items()}


def listed(space: IndexSpace) -> list[dict[str, int]]:
    rows = sets.points(space)
    return [dict(zip(space.variables, map(int, row), strict=True)) for row in rows]


# -- the worked example of the post on Tile's gradients -----------------------------------------


def seeds_example() -> IndexSpace:
    n, y, x, ci, co, j, i = names("n y x ci co j i")
    return IndexSpace(
        (n, 3 * y + 2 * j, 3 * x + 2 * i, ci),
        (2, 9, 9, 5),
        ((n, y, x, co), (j, i, ci, co)),
        ((2, 3, 3, 7), (2, 2, 5, 7)),
    )


def test_the_example_reduced():
    change = reduce(seeds_example())
    assert str(change.space) == (
        "[v0, v1, v2, v3] <- [v0, 1/3*v1 - 2/3*v4, 1/3*v2 - 2/3*v5, v6] [v4, v5, v3, v6]"
    )
    assert spelled(change) == {
        "ci": "v3",
        "co": "v6",
        "i": "v5",
        "j": "v4",
        "n": "v0",
        "x": "1/3*v2 - 2/3*v5",
        "y": "1/3*v1 - 2/3*v4",
    }


def test_the_example_defracted():
    change = defract(reduce(seeds_example()).space)
    assert str(change.space) == (
        "[v0_0, v1_0 + 3*v1_1, v2_0 + 3*v2_1, v3_0]"
        " <- [v0_0, -v1_0 + v1_1 - 2*v4_0, -v2_0 + v2_1 - 2*v5_0, v6_0]"
        " [2*v1_0 + 3*v4_0, 2*v2_0 + 3*v5_0, v3_0, v6_0]"
        ", 0 <= v1_0 < 3, 0 <= v2_0 < 3"
    )
    assert spelled(change) == {
        "v0": "v0_0",
        "v1": "v1_0 + 3*v1_1",
        "v2": "v2_0 + 3*v2_1",
        "v3": "v3_0",
        "v4": "2*v1_0 + 3*v4_0",
        "v5": "2*v2_0 + 3*v5_0",
        "v6": "v6_0",
    }


# -- against every point ------------------------------------------------------------------------


def check_same_points(old: IndexSpace, change: Change, points: list[dict[str, int]]) -> None:
    """The change is one to one on points, and corresponding points access the same elements."""
    new = change.space
    found = listed(new)
    tuples = Counter(element_tuple(old, p) for p in points)
    assert tuples == Counter(element_tuple(new, p) for p in found)
    if points:
        values = change.values or {name: IndexExpr.of(name) for name in old.variables}
        back = [tuple(values[name].evaluate(p) for name in old.variables) for p in found]
        assert sorted(back) == sorted(tuple(p.values()) for p in points)


def check_owners(space: IndexSpace) -> None:
    """Different assignments to the output's variables never name the same element."""
    variables = space.output_variables
    found = sets.ranges(space)
    box = product(*(range(found[name].lower, found[name].upper) for name in variables))
    limits = [c for c in space.constraints if set(c.expr.names) <= set(variables)]
    assignments = [dict(zip(variables, values, strict=True)) for values in box]
    allowed = [a for a in assignments if all(holds(c, a) for c in limits)]
    elements = [output_of(space, a) for a in allowed]
    assert len(set(elements)) == len(elements)


def check_reduced(space: IndexSpace) -> None:
    """The output's indices are as many variables as it has; the others depend on those."""
    single = {index.variable for index in space.output} - {None}
    assert single == set(space.output_variables)


@given(index_spaces())
@settings(max_examples=24, deadline=None)
def test_reduce_then_defract(space):
    points = every_point(space)
    reduced = reduce(space)
    check_same_points(space, reduced, points)
    check_reduced(reduced.space)
    check_owners(reduced.space)
    defracted = defract(reduced.space)
    check_same_points(reduced.space, defracted, listed(reduced.space))
    assert all(c.expr.denominator == 1 for c in defracted.space.all_constraints())
    check_owners(defracted.space)


@given(index_spaces())
@settings(max_examples=20, deadline=None)
def test_defract_alone(space):
    change = defract(space)
    check_same_points(space, change, every_point(space))
    assert all(c.expr.denominator == 1 for c in change.space.all_constraints())


@given(index_spaces())
@settings(max_examples=20, deadline=None)
def test_both_again_change_no_points(space):
    once = defract(reduce(space).space).space
    again = defract(reduce(once).space)
    check_owners(again.space)
    tuples = [Counter(element_tuple(s, p) for p in listed(s)) for s in (once, again.space)]
    assert tuples[0] == tuples[1]


@st.composite
def triangular_spaces(draw: st.DrawFn) -> IndexSpace:
    """Spaces in which each variable has to be congruent to a combination of those before it."""
    variables = [IndexExpr.of(name) for name in "ijkl"[: draw(st.integers(2, 4))]]
    inner: list[IndexExpr] = []
    for count, variable in enumerate(variables):
        factors = [draw(st.integers(-3, 3)) for _ in range(count)]
        before = sum((f * v for f, v in zip(factors, variables, strict=False)), IndexExpr())
        offset = draw(st.integers(0, 5))
        inner.append((variable + before + offset) / draw(st.sampled_from([1, 2, 3, 4, 6])) + 5)
    outputs = tuple(variables[: draw(st.integers(1, len(variables)))])
    size = (draw(st.integers(6, 8)),) * len(variables)
    return IndexSpace(
        outputs,
        size[: len(outputs)],
        (tuple(variables), tuple(inner)),
        (size, (20,) * len(variables)),
    )


@given(triangular_spaces())
@settings(max_examples=24, deadline=None)
def test_chains_of_congruences(space):
    change = defract(space)
    check_same_points(space, change, listed(space))
    assert all(c.expr.denominator == 1 for c in change.space.all_constraints())
    check_owners(change.space)
    digits = change.space.constraints[len(space.constraints) :]
    assert sets.is_empty(space) or all(c.expr.variable for c in digits)


def test_what_is_absorbed_reaches_later_variables():
    """The third variable depends on the second one's quotient, not only on its digits."""
    space = IndexSpace(
        (I,), (16,), (((J - I) / 2, (K - (J - I) / 2) / 4, J, K),), ((16, 16, 16, 16),)
    )
    change = defract(space)
    check_same_points(space, change, listed(space))
    assert spelled(change) == {
        "i": "i_0 + 2*i_1 + 8*i_2",
        "j": "i_0 + 2*j_0 + 8*j_1",
        "k": "j_0 - i_1 + 4*k_0",
    }


@pytest.mark.parametrize("inputs", [4, 8])
def test_taps_of_two_classes_make_a_box(inputs):
    """Two of four taps meet an even place, the other two an odd one, however few inputs there are:
    no tap is tested, where ``v0 + 2*v1 + 1`` would need a loop of three."""
    space = IndexSpace((2 * I + J - 1,), (2 * inputs,), ((I,), (J,)), ((inputs,), (4,)))
    reduced = reduce(space).space
    change = defract(reduced)
    check_same_points(reduced, change, listed(reduced))
    assert str(change.space) == (
        "[v0_0 + 2*v0_1] <- [v0_0 + v0_1 - v1_0] [-v0_0 + 2*v1_0 + 1], 0 <= v0_0 < 2"
    )
    ranges = {name: str(bounds) for name, bounds in sets.ranges(change.space).items()}
    assert ranges == {"v0_0": "0..2", "v0_1": f"0..{inputs}", "v1_0": "0..2"}


def test_digits_of_many_values_keep_the_least_remainders():
    space = IndexSpace((300 * I + J - 1,), (1200,), ((I,), (J,)), ((4,), (600,)))
    reduced = reduce(space).space
    change = defract(reduced)
    check_same_points(reduced, change, listed(reduced))
    assert "- 300*v1_0" not in str(change.space) and "-v0_0" not in str(change.space)


parallel_constraints = st.lists(
    st.builds(
        lambda c, k, bound, shape: below(IndexExpr.linear({n: c * f for n, f in shape}, k), bound),
        st.sampled_from([c for c in COEFFICIENTS if c]),
        st.sampled_from(OFFSETS),
        st.integers(-1, 8),
        st.sampled_from([(("i", 1), ("j", -1)), (("i", 2), ("j", -2)), (("i", 1),), (("j", 2),)]),
    ),
    max_size=5,
)


@given(parallel_constraints)
@settings(max_examples=24, deadline=None)
def test_merge_parallel(constraints):
    merged = merge_parallel(constraints)
    for values in product(range(-7, 8), repeat=2):
        point = dict(zip("ij", values, strict=True))
        assert all(holds(c, point) for c in merged) == all(holds(c, point) for c in constraints)
    directions = [c.expr - c.expr.constant for c in merged]
    assert len(directions) <= 3
    assert not any(
        a == factor * b
        for k, a in enumerate(directions)
        for b in directions[:k]
        for factor in (
            1,
            -1,
            2,
            -2,
            3,
            -3,
            Fraction(1, 2),
            Fraction(-1, 2),
            Fraction(1, 3),
            Fraction(-1, 3),
        )
    )


@given(index_spaces())
@settings(max_examples=20, deadline=None)
def test_without_redundant(space):
    points = every_point(space)
    less = without_redundant(space)
    assert less.accesses == space.accesses
    assert len(less.constraints) <= len(space.constraints)
    for number in range(len(less.constraints) + 1):  # the first time with all of them
        left = [c for i, c in enumerate(less.constraints) if i != len(less.constraints) - number]
        rest = IndexSpace(
            less.output, less.output_shape, less.inputs, less.input_shapes, tuple(left)
        )
        same = every_point(rest) == points
        assert same == (number == 0) or not points


# -- by hand ------------------------------------------------------------------------------------

I, J, K = names("i j k")  # noqa: E741
NINE = (9, 9, 9, 9)


def both(space: IndexSpace) -> str:
    return str(defract(reduce(space).space).space)


def test_single_variables_stay():
    space = IndexSpace((I, J), (3, 4), ((I + K - 1, K), (J,)), ((3, 3), (4,)))
    assert reduce(space) == Change(space)
    assert defract(space) == Change(space)


def test_output_indices_that_depend_on_one_another():
    assert both(IndexSpace((I, I), (3, 3), ((I,),), ((3,),))) == "[i, i] <- [i]"
    text = "[v0, v1] <- [v0 - v1, -v0 + 2*v1]"
    assert both(IndexSpace((2 * I + J, I + J), (9, 9), ((I, J),), ((4, 4),))) == text
    space = IndexSpace((I, I, J), (3, 3, 4), ((I, J),), ((3, 4),))
    assert both(space) == "[i, i, j] <- [i, j]"
    space = IndexSpace((I, I + J, J), (3, 9, 4), ((I, J),), ((3, 4),))
    assert both(space) == "[v0, v1, -v0 + v1] <- [v0, -v0 + v1]"


def test_output_constants():
    assert (
        both(IndexSpace((IndexExpr(), 2 * I), (3, 9), ((I,),), ((5,),))) == "[0, 2*v0_0] <- [v0_0]"
    )


def test_an_old_variable_stays_an_integer():
    space = IndexSpace((2 * I,), (9,), ((2 * I,),), ((9,),))
    assert str(reduce(space).space) == "[v0] <- [v0], 0 <= 1/2*v0 < 5"
    assert both(space) == "[2*v0_0] <- [2*v0_0]"


def test_fractional_offsets():
    half = Fraction(1, 2)
    assert both(IndexSpace((I / 2 + half,), (9,), ((I,),), ((9,),))) == "[v0] <- [2*v0 - 1]"
    space = IndexSpace((I,), (9,), ((I / 2 + half,),), ((9,),))
    assert str(defract(space).space) == "[2*i_0 + 1] <- [i_0 + 1]"


def test_several_splits():
    space = IndexSpace((I,), (9,), (((I - J) / 2, (I - K) / 4, J, K),), (NINE,))
    assert str(defract(space).space) == (
        "[i_0 + 2*i_1 + 4*i_2] <- [i_1 + 2*i_2 - j_0, i_2 - k_0, i_0 + 2*j_0, i_0 + 2*i_1 + 4*k_0]"
        ", 0 <= i_0 < 2, 0 <= i_1 < 2"
    )


def test_moduli_that_do_not_divide_one_another():
    space = IndexSpace((I,), (9,), (((I - J) / 2, (I - K) / 3, J, K),), (NINE,))
    assert str(defract(space).space) == (
        "[i_0 + 2*i_1 + 6*i_2]"
        " <- [i_1 + 3*i_2 - j_0, 2*i_2 - k_0, i_0 + 2*j_0, i_0 + 2*i_1 + 3*k_0]"
        ", 0 <= i_0 < 2, 0 <= i_1 < 3"
    )


def test_an_equality_does_not_visit_a_square():
    space = IndexSpace((I,), (100,), ((J,),), ((100,),), (below(I - J, 1),))
    assert both(space) == "[v0] <- [v0 - v1], 0 <= v1 < 1"


def frames(count: int, size: int, step: int, offset: int = 0) -> IndexSpace:
    """Frames that are added where they overlap, `O[step*i + j] = +(F[i, j])`."""
    return IndexSpace((step * I + J - offset,), (step * count + size,), ((I, J),), ((count, size),))


def test_overlapping_frames_are_not_searched():
    overlapping = "[v0_0 + 16*v0_1] <- [v0_1 - v1_0, v0_0 + 16*v1_0], 0 <= v0_0 < 16"
    assert both(frames(50, 64, 16)) == overlapping
    assert both(frames(70, 64, 16)) == overlapping
    assert both(frames(2, 64, 16)).endswith("[v1, v0 - 16*v1]")
    assert both(frames(64, 3, 16)).startswith("[v0_0 + 16*v0_1]")


def test_taps_that_a_dilation_parts_stay():
    assert both(frames(3, 33, 24, 24)) == "[v0] <- [v1, v0 - 24*v1 + 24]"
    assert both(frames(3, 600, 12, 12)) == "[v0] <- [v1, v0 - 12*v1 + 12]"


@given(st.integers(1, 40), st.integers(1, 40), st.integers(8, 20), st.integers(0, 9))
@settings(max_examples=12, deadline=None)
def test_error_boundary(count, size, step, offset):
    space = frames(count, size, step, offset)
    reduced = reduce(space)
    check_same_points(space, reduced, listed(space))
    defracted = defract(reduced.space)
    check_same_points(reduced.space, defracted, listed(reduced.space))
    check_owners(defracted.space)


def test_constraints_merged_and_dropped():
    limits = (below(I, 7), below(I - 1, 9), below(J, 20), below(7 - I, 7))
    space = IndexSpace((I, J), (9, 9), ((I,),), ((9,),), limits)
    assert str(without_redundant(space)) == "[i, j] <- [i], 0 <= i - 1 < 6"


@pytest.mark.parametrize(
    "space",
    [
        IndexSpace((2 * I,), (0,), ((I,),), ((4,),)),
        IndexSpace((I, IndexExpr.of(3)), (5, 3), ((I / 2,),), ((4,),)),
        IndexSpace((I + J,), (5,), ((I, J),), ((3, 3),), (below(I, 0),)),
        IndexSpace((), (), ((I / 2, I / 2 + Fraction(1, 2)),), ((3, 3),)),
    ],
)
def test_empty(space):
    for change in (reduce(space), defract(space)):
        assert sets.is_empty(change.space)
        assert change.space.variables == ()
        assert change.space.output_shape == space.output_shape
        assert set(change.values) == set(space.variables)


def test_unbounded():
    space = IndexSpace((I + J,), (9,), ((I / 2 + J / 2,),), ((9,),))
    for change in (reduce, defract):
        with pytest.raises(UnboundedIndexError, match="nothing bounds the index i"):
            change(space)


def test_new_names_do_not_collide():
    a, a_0, a_1 = names("a a_0 a_1")
    space = IndexSpace((a,), (9,), (((a - a_0) / 2, (a - a_1) / 3, a_0, a_1),), (NINE,))
    change = defract(space)
    assert len(change.space.variables) == 5
    check_same_points(space, change, listed(space))


def test_scattered_strided_columns():
    """The gradient of a dilated, strided, grouped convolution with padding."""
    g, y, j, c, d = names("g y j c d")
    space = IndexSpace(
        (2 * y + 3 * j - 1, 4 * g + c),
        (11, 8),
        ((y, 3 * g + d), (j, g, c, d)),
        ((5, 6), (3, 2, 4, 3)),
    )
    reduced = reduce(space)
    defracted = defract(reduced.space)
    points = listed(space)
    assert len(points) > 100
    check_same_points(space, reduced, points)
    check_same_points(reduced.space, defracted, listed(reduced.space))
    check_owners(defracted.space)
