"""Errors in Lift programs, at the user's line."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import tiledialect as td
from tiledialect import TileError, lift

N = lift.array("N")
X = np.arange(8, dtype=np.float32) ** 2


def wrong(function, *types):
    """The error of a program, and the text that it points at."""
    with pytest.raises(TileError) as caught:
        lift.fun(*types, function)
    span = caught.value.span
    assert span is not None, caught.value
    assert span.filename == __file__
    line = inspect.getsource(inspect.getmodule(wrong)).splitlines()[span.line - 1]
    return caught.value.message, line[span.column - 1 : span.column - 1 + span.length]


@pytest.mark.parametrize(
    ("function", "message", "at"),
    [
        (
            lambda x: x >> lift.join,
            "join takes an array of arrays, but x holds f32",
            "x >> lift.join",
        ),
        (lambda x: x >> lift.split("N +"), "'N +' is no size: ", 'lift.split("N +")'),
        (lambda x: x >> lift.split(0), "the size of the pieces of split is 0", "lift.split(0)"),
        (lambda x: x >> lift.split("_n"), "the name of a size does not begin", 'lift.split("_n")'),
        (lambda x: x >> lift.split(2.5), "2.5 is no size", "lift.split(2.5)"),
        (lambda x: x >> lift.pad(1, 1, "zero"), "pad takes lift.clamp", 'lift.pad(1, 1, "zero")'),
        (lambda x: x + x[0:4], "add takes arrays of the same sizes, not x (N)", "x + x[0:4]"),
        (
            lambda x: x[0:4:2],
            "a slice has no step: use x >> lift.split(2) >> lift.map(lambda part: part[0])",
            "x[0:4:2]",
        ),
        (
            lambda x: x[::-1],
            "a slice has no step: use x >> lift.gather(lambda i, n: n - 1 - i)",
            "x[::-1]",
        ),
        (lambda x: x[::-2], "a slice has no step", "x[::-2]"),
        (lambda x: x[0, 1], "x[i, j] is x[i][j]; lift.map takes slices of inner axes", "x[0, 1]"),
        (lambda x: np.sin(x), "np.sin does not take values of a Lift program: use lift.sin", None),
        (lambda x: x >> lift.map(np.exp), "use lift.exp", "x >> lift.map(np.exp)"),
        (lambda x: np.sum(x), "np.sum does not take values of a Lift program: use x >> ", None),
        (lambda x: np.where(x > 0, x, 0), "use lift.where(condition, a, b)", None),
        (lambda x: np.arctan(x), "Lift has no such function", "np.arctan(x)"),
        (lambda x: x.sum(), "x.sum does not take values of a Lift program: use x >> lift.r", None),
        (lambda x: x.shape[0], "use x.size, the size of the outer axis", "x.shape"),
        (lambda x: x @ x, "use lift.zip(x, y) >> lift.map(lift.mul)", "x @ x"),
        (lambda x: x.__setitem__(0, 1.0), "elements of arrays are not changed", None),
        (lambda x: math.sqrt(x[0]), "use lift's, such as lift.sqrt(a)", "math.sqrt(x[0])"),
        (lambda x: x[len(x) - 1], "it has N elements: x.size is a size for patterns", "len(x)"),
        (lambda x: [0 for _ in range(x[0])], "neither range nor int() takes it", "range(x[0])"),
        (lambda x: x >> lift.map(lambda e: e & 1), "bit_and takes integers, not f32", "e & 1"),
        (lambda x: x >> lift.map(lambda e: e[0]), "get takes a tuple, but e is f32", "e[0]"),
        (lambda x: lift.zip(x, x[1:3]), "zip takes arrays of the same size", "lift.zip(x, x[1:3])"),
        (
            lambda x: x >> lift.reduce(lambda a, b: a < b, 0.0),
            "reduce begins with f32, but its function gives i1",
            "lift.reduce(lambda a, b: a < b, 0.0)",
        ),
        (
            lambda x: x >> lift.map(lambda a, b: a),
            "<lambda> takes 2 values, not 1",
            "x >> lift.map(lambda a, b: a)",
        ),
        (
            lambda x: x >> lift.map(lambda e: 1 if e > 0 else 2),
            "the value is not known yet: choose with lift.where",
            "e > 0",
        ),
        (lambda x: list(x), "x is an array, no tuple: map over arrays", None),
        (lambda x: x >> lift.gather(lambda i: i / 2), "the index function of gather", None),
        (lambda x: x >> lift.map(lambda e: "one"), "'one' is neither a value", None),
        (lambda x: lift.zip(x, x), "lift.unzip makes arrays of an array of tuples", None),
        (lambda x: None, "returns nothing", None),
        (lambda x: x >> lift.search(lambda e: 0, 0.0, "random"), "'binary' or 'linear'", None),
        (lambda x: x >> lift.iterate("N", lambda v: v[1:]), "its count must be a number", None),
        (lambda x: x * np.ones(3), "is neither a value of the program nor a number", None),
        (lambda x: x >> lift.map_glb(-1)(lift.id), "map_glb(-1): the dimensions", None),
        (lambda x: x >> lift.get("a"), "a component of a tuple is chosen by a number", None),
        (lambda x: lift.zip(x, x) >> lift.map(lift.get(-1)), "there is no get(-1)", None),
        (lambda x: x >> 3, "3 is no function", None),
        (lambda x: x >> lift.map(lambda a: round(a)), "use lift.floor(a + 0.5)", "round(a)"),
        (lambda x: x >> lift.map(lambda a: divmod(a, 2)), "use a // b and a % b", "divmod(a, 2)"),
        (lambda x: x >> lift.map(lambda a: divmod(7, a)), "use a // b and a % b", "divmod(7, a)"),
        (lambda x: x >> lift.map(lambda a: a ^ 2), "a ** b for powers", "a ^ 2"),
        (lambda x: x >> lift.map(lambda a: 2 ^ a), "a ** b for powers", "2 ^ a"),
        (lambda x: x >> lift.map(lambda a: a << 2), "use a * 2**n", "a << 2"),
        (lambda x: x >> lift.map(lambda a: 1 << a), "use a * 2**n", "1 << a"),
        (lambda x: x >> lift.map(lambda a: 8 >> a), "use a // 2**n", "8 >> a"),
        (lambda x: x >> lift.map(lambda a: ~a), "~a takes integers and truth values", "~a"),
        (lambda x: lift.slice(0, 5)(x)[-100], "has 5 elements: there is no place -100", None),
        (
            lambda x: lift.generate(4, lambda i: x[i * 2**31]),
            "2147483648 does not fit i32: lift.cast(i, lift.i64) has 64 bits",
            "i * 2**31",
        ),
        (lambda x: lift.compose(), "compose takes at least one function", "lift.compose()"),
    ],
)
def test_errors_point_at_the_line(function, message, at):
    found, text = wrong(function, N)
    assert message in found
    assert at is None or text == at


def test_values_stay_where_they_are():
    kept = []

    def keep(x):
        kept.append(x)
        return x

    lift.fun(N, keep)
    message, _ = wrong(lambda x: lift.concat(x, kept[0]), N)
    assert "x is used" in message
    message, _ = wrong(lambda x: x >> lift.map(keep) >> lift.map(lambda e: e + kept[-1]), N)
    assert "x is used" in message


def test_a_program_without_end():
    def forever(x):
        return forever(x)

    with pytest.raises(TileError, match="forever is nested too deeply"):
        lift.fun(N, forever)


def test_inputs_need_types():
    def unknown(x: missing):  # noqa: F821
        return x

    with pytest.raises(TileError, match="cannot be evaluated: name 'missing' is not defined"):
        lift.fun(unknown)
    with pytest.raises(TileError, match=r"give x a type, such as x: lift.array\('N'\)"):
        lift.fun(lambda x: x)
    with pytest.raises(TileError, match="fun is given 1 type for 2 inputs"):
        lift.fun(N, lambda x, y: x)
    with pytest.raises(TileError, match="an array cannot have -3 elements"):
        lift.array(-3)
    with pytest.raises(TileError, match="the type of x is 3"):
        lift.fun(3, lambda x: x)
    with pytest.raises(TileError, match="fun takes a function, not 3"):
        lift.fun(N, 3)
    with pytest.raises(TileError, match="an input holds numbers, not none"):
        from xdsl.dialects.builtin import NoneAttr

        lift.array("N", NoneAttr())


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda x: x >> lift.pad2(1, 1), r"give pad2\(1, 1, boundary\) or .*, not 2 arguments"),
        (lambda x: x >> lift.pad2(1, 1, 2, lift.clamp), "or .*, not 4 arguments"),
        (lambda x: x >> lift.slide2(3, 1, 3), r"give slide2\(size, step\) or .*, not 3 arguments"),
        (lambda x: lift.generate(), "generate takes sizes, and a function of as many indices"),
        (lambda x: x >> lift.gather(3), "gather takes an index function, not 3"),
        (lambda x: x >> lift.gather(lambda i: None), "None is no index expression"),
        (lambda x: x >> lift.gather(lambda i: i + 0.5), "0.5 is no index expression"),
        (lambda x: x >> lift.scatter(print), "None is no index expression"),
        (lambda x: x >> lift.gather(lambda i: x[0]), "at: f32> is no index expression"),
        (lambda x: x * 2**200, "the number is too large for f32"),
        (lambda x: x * 10**400, "the number is too large for f32"),
        (lambda x: 1e300 * x, r"1e\+300 is too large for f32"),
        (lambda x: lift.where(True, x, x), "where takes a condition of the program, not True"),
        (
            lambda x: lift.cast(x, "f32"),
            "cast takes a type of numbers, such as lift.f32, not 'f32'",
        ),
        (max, "the parameters of max are not known: give a lambda"),
        (lambda *, x: x, "the inputs of program are given by place, but x is not"),
        (lambda **x: x, r"the inputs of program are given by place, but \*\*x is not"),
        (lambda x: (), "program returns nothing"),
        (lambda x: {}, "program returns nothing"),
        (lambda x: {"a b": x}, "program must have a name of letters, digits and `_`, not 'a b'"),
        (lambda x: {1: x}, "program must have a name of letters, digits and `_`, not 1"),
        (lambda x: (x >> lift.slice(0, 3))[3], "the result of slice has 3 elements: .* place 3"),
    ],
)
def test_what_does_not_fit_is_refused_in_lifts_words(build, words):
    with pytest.raises(TileError, match=words):
        lift.fun(N, build)


@pytest.mark.parametrize(("size", "words"), [("N / 3", "8 / 3"), ("N - 10", "-2")])
def test_sizes_in_functions_are_checked_for_a_call(size, words):
    """Also those that no array has."""
    f = td.compile(
        lift.fun(N, lambda x: x >> lift.map(lambda e: e + lift.cast(lift.size(size), lift.f32)))
    )
    for run in (f.reference, f):
        with pytest.raises(
            TileError, match=f"a size or a place from the end is {words}; it must be an integer"
        ):
            run(X)


def test_places_are_checked_for_the_sizes_of_a_call():
    """A number is no index that is computed, and brought into the array's range."""
    f = td.compile(lift.fun(N, lambda x: x[8]))
    for run in (f.reference, f):
        with pytest.raises(TileError, match="x has 8 elements: there is no place 8"):
            run(X)
        assert run(np.append(X, X[:1])) == X[0]


@pytest.mark.parametrize(
    ("types", "words"),
    [
        ((N, lift.array("M")), "N / M is divided by M, which is 0"),
        ((lift.array("N / M"), lift.array("M")), "cannot be 8: N / M is divided by M, which is 0"),
        ((lift.array("N*M"), lift.array("M")), "does not determine the names in M"),
    ],
)
def test_sizes_that_are_0_divide_nothing(types, words):
    f = td.compile(lift.fun(*types, lambda x, y: (x >> lift.split("M"), y)))
    for run in (f.reference, f):
        with pytest.raises(TileError, match=words):
            run(X, X[:0])


def test_programs_are_compiled_before_they_are_called():
    program = lift.fun(N, lambda x: x)
    with pytest.raises(TileError, match=r"compile program to call it with arrays"):
        program(X)


def test_errors_while_it_runs_point_at_the_line():
    f = td.compile(lift.fun(N, lambda x: x >> lift.gather(lambda i: i + 1)))
    with pytest.raises(TileError) as caught:
        f.reference(X)
    assert "gather(i -> i + 1) is 8 for the index 7, outside of an array of 8" in str(caught.value)
    assert "lift.gather(lambda i: i + 1)" in str(caught.value)
    f = td.compile(lift.fun(N, lambda x: x >> lift.scatter(lambda i: i // 2)))
    for run in (f.reference, f):
        with pytest.raises(TileError, match="writes the element 0 more than once"):
            run(X)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (lift.scatter(lambda i: i * 0), r"scatter\(i -> 0\) writes the element 0 more than once"),
        (lift.scatter(lambda i: i % 0), r"scatter\(i -> \(i mod 0\)\) divides by 0 where i = 0"),
        (lift.scatter(lambda i, n: (3 * i) % n), "writes the element 0 more than once"),
        (lift.gather(lambda i: 6 // (i - 4)), "divides by 0 where i = 4"),
        (lift.gather(lambda i, n: i - n), "is -6 for the index 0, outside of an array of 6"),
    ],
)
def test_index_maps_are_checked_for_the_sizes_of_a_call(pattern, words):
    """Also where nothing of it could be known before; of known sizes, in the program."""
    x = np.arange(6, dtype=np.float32)
    f = td.compile(lift.fun(N, lambda x: x >> lift.map(lambda e: e + 1.0) >> pattern))
    with pytest.raises(TileError, match=words):
        f(x)
    with pytest.raises(TileError, match=words):
        lift.fun(lift.array(6), lambda x: x >> pattern)
