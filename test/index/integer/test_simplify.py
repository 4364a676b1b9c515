"""Each rule of simplification by hand; ``test_integers`` tries random expressions."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiledialect.dialects.index_syntax import condition_of, index_of
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.index.expr import Range as Box
from tiledialect.index.integer.expressions import Expr, divides, equal, less, mod
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import (
    constant_difference,
    is_multiple,
    operations,
    prove,
    simplify,
    simplify_condition,
)
from tiledialect.index.integer.value_sets import Range, Residue

I, J, K, N, X, Y = map(Expr.var, "i j k n x y".split())  # noqa: E741
ENV = Env(
    {
        "i": Box(0, 4),
        "j": (0, 8),
        "k": (-3, 3),
        "n": (1, 5),
        "x": (0, 1000),
        "M": (1, None),
        "N": (1, None),
        "m": (0, "M"),
        "p": (0, "N"),
        "q": (0, index_of("M + 2")),
        "t": (1, None),
        "a": (0, None),
    },
    [divides("t", "N"), divides(4, "a")],
)


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        # quotients and remainders by numbers
        ("(8*y + j) floordiv 8", "y"),
        ("(8*y + j) mod 8", "j"),
        ("(8*y + j + 16) floordiv 8", "y + 2"),
        ("(8*x + j) floordiv 32", "(x floordiv 4)"),
        ("(8*x + j) mod 32", "8*(x mod 4) + j"),
        ("(6*x + 4) floordiv 4", "((3*x) floordiv 2) + 1"),
        ("(x + 5) floordiv 4", "((x + 1) floordiv 4) + 1"),
        ("(x + 5) mod 4", "((x + 1) mod 4)"),
        ("(5*x + 9*y) mod 4", "((x + y) mod 4)"),
        ("x floordiv 4 floordiv 8", "(x floordiv 32)"),
        ("(x floordiv 4 + 3) floordiv 8", "((x + 12) floordiv 32)"),
        ("x mod 12 mod 4", "(x mod 4)"),
        ("x mod 4 mod 12", "(x mod 4)"),
        ("(3*(x mod 4) + y) mod 12", "((3*x + y) mod 12)"),
        ("(3*(x mod 4) + y) mod 9", "((3*(x mod 4) + y) mod 9)"),
        ("k floordiv 8", "(k floordiv 8)"),
        ("(k + 3) floordiv 8", "0"),
        ("(k - 4) mod 8", "k + 4"),
        ("j floordiv 1", "j"),
        ("j mod 1", "0"),
        ("y floordiv -4", "((-y) floordiv 4)"),
        ("(y + a) mod 4", "(y mod 4)"),
        ("(a + 3) floordiv 4 * 4", "a"),
        # by symbols
        ("(2*M + 1) mod M", "(1 mod M)"),
        ("j floordiv n", "(j floordiv n)"),
        ("(n*y + 3*n) floordiv n", "y + 3"),
        ("(n*y + x mod n) mod n", "(x mod n)"),
        ("(n*y + x mod n) floordiv n", "y"),
        ("j floordiv k", "(j floordiv k)"),
        ("(M*y + m) floordiv M", "y"),
        ("(M*y + m) mod M", "m"),
        ("(M*y + m) floordiv (M*n)", "(y floordiv n)"),
        ("(M*p + m) floordiv (M*N)", "0"),
        ("(M*y + 2*y + q) floordiv (M + 2)", "y"),
        ("(M*y + 2*y + q) mod (M + 2)", "q"),
        ("(m + M - 1) mod M", "((m - 1) mod M)"),
        ("((m - 1) mod M + M) mod M", "((m - 1) mod M)"),
        # what divides a symbol
        ("N mod t", "0"),
        ("(N floordiv t)*t", "N"),
        ("(N*y + x mod t) floordiv t", "y*(N floordiv t)"),
        ("(N*y + x) mod t", "(x mod t)"),
        # what belongs together
        ("x floordiv 4 * 4 + x mod 4", "x"),
        ("8*(x floordiv 4) + 2*(x mod 4) + 1", "2*x + 1"),
        ("x + 3 - 4*(x floordiv 4)", "(x mod 4) + 3"),
        ("x - 32*(x floordiv 32)", "(x mod 32)"),
        ("8*x + j - 32*((8*x + j) floordiv 32)", "8*(x mod 4) + j"),
        ("x*n - n*n*(x floordiv n)", "n*(x mod n)"),
        ("4*((x mod 32) floordiv 4) + x mod 4", "(x mod 32)"),
        # least and greatest
        ("min(i, 5, j)", "min(i, j)"),
        ("min(i, 3)", "i"),
        ("max(x + 1, x, -1)", "x + 1"),
        ("min(min(i, j), min(x, i))", "min(i, j, x)"),
        ("max(0, min(p, N - 1))", "p"),
        # selections
        ("(0 <= p ? (p < N ? p : N - 1) : 0)", "p"),
        ("(0 <= p - 1 ? (p - 1 < N ? p - 1 : N - 1) : 0)", "(1 <= p ? p - 1 : 0)"),
        ("(0 <= p + 1 ? (p + 1 < N ? p + 1 : N - 1) : 0)", "(p + 1 < N ? p + 1 : N - 1)"),
        (
            "(1 <= (0 <= y - 1 ? (y - 1 < 8 ? y - 1 : 7) : 0) ? "
            "(0 <= y - 1 ? (y - 1 < 8 ? y - 1 : 7) : 0) - 1 : 0)",
            "(2 <= y ? (y < 9 ? y - 1 : 7) - 1 : 0)",
        ),
        ("(x < 8 ? x floordiv 8 : x)", "(x < 8 ? 0 : x)"),
        ("(y == 0 ? 0 : y)", "y"),
        ("(y < 3 ? i + 1 : 1 + i)", "i + 1"),
        # polynomials
        ("(i + 1)*(j - 1)*2", "2*i*j + 2*j - 2*i - 2"),
        ("M*p + m - p*M", "m"),
    ],
)
def test_rules(text, simple):
    assert str(simplify(index_of(text), ENV)) == simple


def test_a_range_of_one_value_is_that_value():
    assert str(simplify(I * X + I, Env({"i": (3, 4)}))) == "3*x + 3"


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("i < 4", "true"),
        ("i < 0", "false"),
        ("i < 3", "i < 3"),
        ("4*i + 3 < 8", "i < 2"),
        ("-4*i < -8", "3 <= i"),
        ("x + i < x + j + 4", "true"),
        ("x floordiv 4 < 2", "x < 8"),
        ("2 < x floordiv 4", "12 <= x"),
        ("y + 3 < x", "y + 3 < x"),
        ("-2*x + 6 < 2*y", "4 <= x + y"),
        ("x == x", "true"),
        ("x == x + 1", "false"),
        ("2*x == 2*y + 1", "false"),
        ("i == j + 4", "false"),
        ("i + 2 == j", "i + 2 == j"),
        ("i == j + 9", "false"),
        ("a == 4*y + 2", "false"),
        ("not x == y", "not x == y"),
        ("p < N and m < M", "true"),
        ("p < N and x < 7", "x < 7"),
        ("x < 7 and x < 9", "x < 7"),
        ("x < 7 or x < 9", "x < 9"),
        ("x < 7 and 9 < x", "false"),
        ("x < 7 or 6 <= x", "true"),
        ("M*p + m < M*N", "true"),
        ("p floordiv 4 < (N + 3) floordiv 4", "true"),
        ("4*(p floordiv 4) < N", "true"),
        # of a selection, where it is known of one branch
        ("(1 <= p ? p - 1 : 0) < 4", "p < 5"),
        ("1 <= (y < 8 ? y : 8)", "1 <= y"),
        ("1 <= (0 <= y - 1 ? (y - 1 < 8 ? y - 1 : 7) : 0)", "2 <= y"),
        ("(x < y ? x : y) < 5", "(x < y ? x : y) < 5"),
        ("1 <= (x < 5 ? 0 : x floordiv k)", "1 <= (x < 5 ? 0 : (x floordiv k))"),
    ],
)
def test_conditions(text, simple):
    condition = condition_of(text)
    assert str(simplify_condition(condition, ENV)) == simple
    assert prove(condition, ENV) is {"true": True, "false": False}.get(simple)


def test_a_quotient_by_what_cannot_be_positive_may_be_anything():
    nothing = Env({"k": (0, 1)}).range(I // K)
    assert nothing == Range(-inf, inf)
    assert Range(8, 9).quotients(Range(-1, 2)) == Range(4, 9)


def test_ranges():
    assert ENV.range(I * K) == Range(-9, 6)
    assert ENV.range(Y) == Range(-inf, inf)
    assert ENV.range(0 * Y) == Range(0, 0)
    assert ENV.range(Y % 4) == Range(0, 3)
    assert ENV.range(Y // 4) == Range(-inf, inf)
    assert ENV.range(K * K) == Range(0, 9)
    assert ENV.range(index_of("N - 1 - p")) == Range(0, inf)
    assert ENV.range(index_of("M*N - 1 - M*p - m")) == Range(0, inf)
    assert ENV.range("M").lower == 1
    big = Env({"i": (0, 2**62 + 1), "m": (1, 2**62)})
    assert big.range(I + 1) == Range(1, 2**62 + 1)
    assert str(simplify(I % 2**62, big)) == "(i mod 4611686018427387904)"
    assert str(simplify(I % (2**62 + 1), big)) == "i"


def test_entangled_facts_are_searched_for_a_while_only():
    variables = [Expr.var(f"i{k}") for k in range(7)]
    rows = [sum(((k + 3) ** r % 7 - 3) * v for k, v in enumerate(variables)) for r in range(2, 6)]
    facts = [less(row, 5) for row in rows] + [less(-row, 5) for row in rows]
    env = Env({f"i{k}": (0, 6) for k in range(7)}, facts)
    last = sum((k % 3 - 1) * v for k, v in enumerate(variables))
    found = env.range(last)
    # All are 0 at one point, and none is beyond what each variable can give alone.
    assert -15 <= found.least <= 0 <= found.greatest <= 15


def test_a_range_that_is_not_empty_bounds_its_ends():
    env = Env({"i": (0, "N")})
    assert env.range("N") == Range(1, inf)
    assert prove(less(0, "N"), env) is True


def test_residues():
    env = Env({"N": (1, None)}, [divides(8, "N")]).with_range("i", 2, "N", step=4)
    assert env.residue("i") == Residue(4, 2)
    assert is_multiple(index_of("N*x + 2*i + 4"), 8, env)
    assert not is_multiple(index_of("N*x + i"), 4, env)
    assert is_multiple(index_of("3*N"), "N", env)
    assert simplify(mod("i", 4), env) == Expr.const(2)


def test_assumptions():
    env = ENV.assume(condition_of("x + i < n and y == 3"))
    assert simplify("y", env) == Expr.const(3)
    assert prove(less("x", 5), env) is True
    assert prove(less("x", 5), ENV) is None
    assert prove(equal("y", 4), env) is False


def test_another_variable_of_the_same_name():
    env = ENV.with_range("i", 5, "N").assume(less("i", "x"))
    assert env.range("i") == Range(5, 998)
    assert prove(less(5, "N"), env) is True
    assert env.with_range("i", 0, 2).range("i") == Range(0, 1)
    assert prove(less(5, "N"), env.with_range("i", 0, 2)) is None


def test_constant_differences():
    row = index_of("N*(x floordiv 4) + 4*(j floordiv 4)")
    assert constant_difference(row + 3, row) == 3
    assert constant_difference(index_of("(8*x + j) floordiv 8 + 1"), "x", ENV) == 1
    assert constant_difference("x", "y") is None


def test_operations():
    assert operations(index_of("32*i + j")) == 2
    assert operations(index_of("(x floordiv 4)*(x floordiv 4) - y")) == 3
    assert operations(index_of("x mod 4"), index_of("x mod 4 + 1")) == 2
    assert operations(index_of("(i < n ? i : n - 1)")) == 3


def test_of_index_expressions():
    i, j = IndexExpr.of("i"), IndexExpr.of("j")
    assert Expr.of(3 * i * j - 2) == 3 * I * J - 2
    with pytest.raises(ValueError, match="no integer"):
        Expr.of(i / 2)


def test_order_means_nothing():
    assert I + J == J + I and hash(I + J) == hash(J + I) and str(I + J) == str(J + I)
    assert len({(X + Y) // 4, (Y + X) // 4}) == 1
    assert I * J == J * I
    assert (I + J) ** 2 == I * I + 2 * I * J + J * J


def test_names_and_substitution():
    expr = index_of("(i < n ? x mod 4 : n) + j")
    assert set(expr.names) == {"i", "n", "x", "j"}
    assert (
        str(expr.substitute({"i": 0, "n": J + 1, "x": "k"})) == "(0 <= j ? (k mod 4) : j + 1) + j"
    )
    assert str(expr.substitute({"i": 0, "n": 3})) == "(x mod 4) + j"
    assert expr.evaluate({"i": 5, "n": 3, "x": 0, "j": 1}) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i +", "expected"),
        ("i j", "end of the expression"),
        ("i < j", "end of the expression"),
        ("(i < j) + 1", "got the condition i < j"),
        ("i mod 0", "division by zero"),
        ("floordiv + 1", "'floordiv' is no name"),
        ("(i ? j : k)", "got the expression i"),
    ],
)
def test_wrong_text(text, message):
    with pytest.raises(TileError, match=message):
        index_of(text)


@given(
    st.integers(-9, 9),
    st.integers(-9, 9),
    st.builds(Residue.of, st.integers(0, 7), st.integers(-9, 9)),
)
def test_residues_in_ranges(least: int, greatest: int, residue: Residue):
    found = any(Residue.of(residue.modulus, i) == residue for i in range(least, greatest + 1))
    assert residue.is_in(Range(least, greatest)) == found
