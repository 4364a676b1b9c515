"""Index expressions as views of layout patterns compose them: slides of pads of transpositions.

With symbolic sizes, all that remains is what a person would write.
"""

import pytest

from tiledialect.dialects.index_syntax import condition_of, index_of
from tiledialect.index.integer.expressions import Expr, less, less_equal
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import prove, simplify

I, J, M, N = map(Expr.var, "i j M N".split())  # noqa: E741
HALO = "0 <= i < M + 2 and 0 <= j < N + 2"
TILE = "0 <= i < M and 0 <= j < N"
WINDOW = "0 <= i < M and 0 <= j < N + 2 and 0 <= k < 3"
WRAPPED = "((j - 1) mod N)"


def env_of(*facts: str) -> Env:
    return Env({"M": (1, None), "N": (1, None)}, map(condition_of, facts))


@pytest.mark.parametrize(
    ("facts", "text", "simple"),
    [
        # a pad of a slide
        ("0 <= x < N and 0 <= k", "(k + x + N) mod (k + N)", "x"),
        ("0 <= x < N", "(4 + x + N) mod (N + 2)", "x + 2"),
        ("true", "(5 + 2*N) mod (2 + N)", "1"),
        ("true", "(5 + 2*N) floordiv (2 + N)", "2"),
        ("3 <= N and 0 <= i < 3", "(2 + i + N) floordiv (2 + N)", "1"),
        ("0 <= x < N and 3 <= N", "(4 + x + N) floordiv (2 + N)", "1"),
        # flat indices split again
        (HALO, "(2*j + M*j + i) mod (M + 2)", "i"),
        (HALO, "(2*j + M*j + i) floordiv (M + 2)", "j"),
        (HALO, "(M*j + 4*j + i) floordiv (4 + M)", "j"),
        (HALO, "(2*N + M*N) floordiv (2 + M)", "N"),
        (HALO, "(i mod (2 + N) + 2*j + j*N) mod (2 + N)", "i mod (N + 2)"),
        (HALO, "(i mod (2 + N) + 2*j + j*N) floordiv (2 + N)", "j"),
        (HALO, "(4 + 2*i + 2*N + i*N) floordiv (N + 2)", "i + 2"),
        (WINDOW, "(N*i + N*k + 2*i + 2*k + j) mod (2 + N)", "j"),
        (WINDOW, "(N*i + N*k + 2*i + 2*k + j) floordiv (2 + N)", "i + k"),
        (WINDOW, "(2*j + j*M + k + i) mod (2 + M)", "i + k"),
        (WINDOW, "(2*j + j*M + k + i) floordiv (2 + M)", "j"),
        # padded by wrapping around
        (TILE, "((j - 1) mod N + N) mod N", WRAPPED),
        (TILE, f"(({WRAPPED} + N) mod N) floordiv N", "0"),
        (HALO, f"(2*{WRAPPED} + M*{WRAPPED} + i) mod (2 + M)", "i"),
        (HALO, f"(2*{WRAPPED} + M*{WRAPPED} + i) floordiv (2 + M)", WRAPPED),
        (HALO, f"(2*{WRAPPED} + M*{WRAPPED} + i) floordiv (M*N + 2*N)", "0"),
        (WINDOW, f"({WRAPPED} + N*i + N*k) mod N", WRAPPED),
        # slides of slides
        (TILE, "(1 + N*i + 2*i + j) mod (2 + N)", "j + 1"),
        (TILE, "(1 + N*i + 2*i + j) floordiv (2 + N)", "i"),
        (TILE, "(2 + M*j + 2*j + M + i) mod (2 + M)", "i"),
        (TILE, "(2 + M*j + 2*j + M + i) floordiv (2 + M)", "j + 1"),
        (TILE, "(4 + M*j + 2*j + 2*M + i) mod (2 + M)", "i"),
        (TILE, "(5 + M*j + 2*j + 2*M + i) mod (2 + M)", "i + 1"),
        (TILE, "(5 + M*j + 2*j + 2*M + i) floordiv (2 + M)", "j + 2"),
        (TILE, "(3 + N + j + 2*i + N*i) floordiv (2 + N)", "i + 1"),
        (TILE, "(1 + 2*((j - 1 + N) mod N) + M*((j - 1 + N) mod N) + i) mod (2 + M)", "i + 1"),
        # what is known of the size
        ("0 <= i < M*N", "i floordiv (M*N)", "0"),
        ("N mod 4 == 0 and 0 <= w < N floordiv 4", "w mod (N floordiv 4)", "w"),
        ("N mod 4 == 0 and 0 <= w < N floordiv 4", "w mod N", "w"),
        ("N mod 4 == 0", "(3*N) mod (N floordiv 4)", "0"),
        ("N mod 8 == 0", "(N floordiv 4) mod (N floordiv 8)", "0"),
        ("0 <= i < 2 and 0 <= d < 4", "(d + 4*i) mod 8", "4*i + d"),
        ("0 <= i < N", "(i + N) floordiv N", "1"),
        ("0 <= i < 2 and 0 <= d < 5", "(d + 4*i) floordiv 8", "(4*i + d) floordiv 8"),
    ],
)  # fmt: skip
def test_composed(facts, text, simple):
    assert simplify(index_of(text), env_of(facts)) == index_of(simple)


def test_a_transposed_transposition_of_pads():
    """From both sides by one, wrapping: as it is composed by patterns, and what is left of it."""
    env = env_of(TILE.replace("< N", "< N + 2").replace("< M", "< M + 2"))
    flat = (2 + N) * I + J
    turned = flat // (2 + N) + flat % (2 + N) * 2 + flat % (2 + N) * M
    height = (N * M + 2 * N) // (2 + M)
    column = ((turned // (2 + M) - 1) % height + height) % height
    again = turned % (2 + M) + column * M + column * 2
    row = again // (2 + M) + again % (2 + M) * N
    below = (((turned % (2 + M) + (column * M + column * 2)) // (N * M + 2 * N)) - 1) % M
    assert str(simplify(row % N, env)) == WRAPPED
    assert str(simplify(below, env)) == "M - 1"


def test_a_strided_matrix_product():
    """The work-items of a group read a tile together; the patterns divide and multiply a lot."""
    env = env_of("0 <= w and 0 <= l < 8 and 0 <= m < 16 and 0 <= v and 16*w + m < M")
    w, l, m, v = map(Expr.var, "w l m v".split())  # noqa: E741
    flat = l * 16 + m
    inner = flat // 16 + flat % 16 * 8
    tile = (w * 16 + inner // 8) * 8 + inner % 8
    index = tile // 8 + tile % 8 * M
    assert str(simplify(index % M + (v * 8 + index // M) * M, env)) == "8*M*v + M*l + 16*w + m"


@pytest.mark.parametrize(
    ("facts", "left", "right"),
    [
        ("3 <= N and 0 <= y < N", "y", "N + 1"),
        ("3 <= N and 0 <= i < 3", "i", "N + 1"),
        (TILE, "max(j - 1, 1 - j)", "max(N, 2)"),
        ("0 <= l < 4 and N mod 4 == 0", "l*(N floordiv 4)", "N"),
        ("0 <= l < 64", "l floordiv 16", "8"),
        ("2 <= N", "N floordiv 2", "N"),
        (WINDOW, "(N + 2)*(i + k) + j", "(N + 2)*(M + 2)"),
    ],
)
def test_less(facts, left, right):
    assert prove(less(index_of(left), index_of(right)), env_of(facts)) is True
    assert prove(less_equal(index_of(right), index_of(left)), env_of(facts)) is False


@pytest.mark.parametrize(
    ("x", "y"),
    [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)],
)
def test_a_clamped_stencil(x, y):
    """The accesses of a stencil in two dimensions whose border repeats."""
    env = env_of("0 <= x < M and 0 <= y < N")

    def clamped(name: str, offset: int, size: str) -> str:
        at = f"{name} + {offset}"
        return f"(0 <= {at} ? ({at} < {size} ? {at} : {size} - 1) : 0)"

    wanted = {
        -1: "(1 <= {0} ? {0} - 1 : 0)",
        0: "{0}",
        1: "({0} + 1 < {1} ? {0} + 1 : {1} - 1)",
    }
    access = index_of(f"M*{clamped('y', y, 'N')} + {clamped('x', x, 'M')}")
    assert simplify(access, env) == index_of(
        f"M*{wanted[y].format('y', 'N')} + {wanted[x].format('x', 'M')}"
    )
    assert prove(less(access, M * N), env) is True
