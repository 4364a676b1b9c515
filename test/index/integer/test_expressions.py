"""Integer expressions: random ones at every point of random environments."""

from hypothesis import given, settings
from integers import conditions, expressions, truths, values, worlds

from tiledialect.dialects.index_syntax import condition_of, index_of
from tiledialect.index.integer.expressions import both, negate
from tiledialect.index.integer.simplify import (
    constant_difference,
    is_multiple,
    operations,
    prove,
    simplify,
    simplify_condition,
)

MANY = settings(max_examples=48, deadline=None)
SOME = settings(max_examples=32, deadline=None)


@given(expressions(), worlds)
@MANY
def test_simplified_is_equal(expr, world):
    simple = simplify(expr, world.env)
    for point, value in values(expr, world.points):
        assert simple.evaluate(point) == value


@given(expressions(), worlds)
@MANY
def test_ranges_and_residues_hold_all_values(expr, world):
    bounds, residue = world.env.range(expr), world.env.residue(expr)
    for _, value in values(expr, world.points):
        assert bounds.lower <= value < bounds.upper
        difference = value - residue.remainder
        assert difference % residue.modulus == 0 if residue.modulus else difference == 0


@given(conditions(), worlds)
@MANY
def test_proofs_never_lie(condition, world):
    simple, proved = simplify_condition(condition, world.env), prove(condition, world.env)
    assert proved in (None, getattr(simple, "value", None))
    defined = list(truths(condition, world.points))
    assert list(truths(simple, tuple(point for point, _ in defined))) == defined


@given(expressions(), conditions(), worlds)
@SOME
def test_assumptions(expr, condition, world):
    env = world.env.assume(condition)
    simple, bounds = simplify(expr, env), env.range(expr)
    reached = tuple(point for point, truth in truths(condition, world.points) if truth)
    for point, value in values(expr, reached):
        assert simple.evaluate(point) == value
        assert bounds.lower <= value < bounds.upper


@given(expressions(), expressions(), worlds)
@SOME
def test_multiples_and_differences(left, right, world):
    multiple = is_multiple(left, 4, world.env)
    difference = constant_difference(left, right, world.env)
    rights = {tuple(p.items()): value for p, value in values(right, world.points)}
    for point, value in values(left, world.points):
        assert value % 4 == 0 or not multiple
        other = rights.get(tuple(point.items()))
        assert None in (other, difference) or value - other == difference


@given(expressions(), worlds)
@SOME
def test_simplified_is_simple(expr, world):
    simple = simplify(expr, world.env)
    assert simplify(simple, world.env) == simple


@given(expressions(), conditions())
@SOME
def test_text_parses_back(expr, condition):
    assert index_of(str(expr)) == expr
    assert condition_of(str(condition)) == condition
    assert condition_of(str(both(condition, negate(condition)))) == both(
        condition, negate(condition)
    )


@given(expressions(), expressions())
@SOME
def test_substitution(expr, other):
    points = tuple({"N": 3, "n": 2, "i": a, "j": b, "k": -1} for a in range(3) for b in range(3))
    replaced = expr.substitute({"i": other, "j": 2})
    for point, value in values(other, points):
        for _, wanted in values(expr, ({**point, "i": value, "j": 2},)):
            assert replaced.evaluate(point) == wanted
    assert operations(expr) >= 0
