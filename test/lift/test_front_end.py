"""Writing Lift programs in Python: the slides' examples, and errors at the user's line."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import tiledialect as td
from tiledialect import TileError, lift

X = np.arange(8, dtype=np.float32) ** 2
SUMS = np.array([X[max(i - 1, 0)] + X[i] + X[min(i + 1, 7)] for i in range(8)])


def reference(program, *inputs):
    return td.compile(program).reference(*inputs)


# -- the slides' examples ------------------------------------------------------------------------


def test_high_level():
    program = lift.fun(
        lift.array("N"),
        lambda input: (
            lift.map(lift.reduce(lift.add, 0.0))
            @ lift.slide(3, 1)
            @ lift.pad(1, 1, lift.clamp)
            @ input
        ),
    )
    assert reference(program, X).tolist() == SUMS.tolist()


def test_low_level():
    program = lift.fun(
        lift.array("N"),
        lambda input: (
            lift.map_glb(lift.map_seq(lift.to_global(lift.id)) @ lift.reduce_seq(lift.add, 0.0))
            @ lift.slide(3, 1)
            @ lift.pad(1, 1, lift.clamp)
            @ input
        ),
    )
    assert reference(program, X).tolist() == SUMS.tolist()
    text = str(program)
    assert "lift.map_glb(0)" in text and "lift.to_global" in text and "lift.reduce_seq" in text


@pytest.mark.parametrize("outer", [lift.map, lift.map_wrg])
@pytest.mark.parametrize("inner", [lift.map, lift.map_lcl])
def test_overlapped_tiles(outer, inner):
    f = lift.reduce(lift.add, 0.0)
    program = lift.fun(
        lift.array("N"),
        lambda input: (
            lift.join
            @ outer(lambda tile: inner(f) @ lift.slide(3, 1) @ tile)
            @ lift.slide("v + 2", "v")
            @ lift.pad(1, 1, lift.clamp)
            @ input
        ),
    )
    # With a tile of any size, the result has that of the input.
    assert "-> (tensor<?xf32, #lift.sizes<N>>" in str(program)
    with pytest.raises(TileError, match="no input tells what size v is"):
        reference(program, X)


def test_nine_points():
    program = lift.fun(
        lift.array("N", "M"),
        lambda input: (
            lift.map_glb(1)(
                lift.map_glb(0)(
                    lift.map_seq(lift.to_global(lift.id))
                    @ lift.reduce_seq_unroll(lift.add, 0.0)
                    @ lift.join
                )
            )
            @ lift.slide2(3, 1)
            @ lift.pad2(1, 1, lift.clamp)
            @ input
        ),
    )
    image = np.arange(12, dtype=np.float32).reshape(3, 4)
    p = np.pad(image, 1, "edge")
    expected = sum(p[i : i + 3, j : j + 4] for i in range(3) for j in range(3))
    np.testing.assert_array_equal(reference(program, image), expected)


# -- composition ---------------------------------------------------------------------------------


def test_both_directions_are_the_same_program():
    steps = lift.pad(1, 1, lift.clamp), lift.slide(3, 1), lift.map(lift.reduce(lift.add, 0.0))
    pad, slide, sums = steps

    programs = [
        lift.fun(lift.array("N"), lambda x, f=f: f(x))
        for f in (
            lambda x: x >> pad >> slide >> sums,
            pad >> slide >> sums,
            sums @ slide @ pad,
            lift.compose(sums, slide, pad),
            lift.compose(lambda windows: windows >> sums, slide >> lift.id, pad),
        )
    ]
    assert len({str(p) for p in programs}) == 1


def test_a_program_is_a_function_of_other_programs():
    half = lift.fun(lift.array("N"), lambda x: x >> lift.map(lambda e: e / 2.0))
    quarter = lift.fun(lift.array("N"), lambda x: half(half(x)))
    assert reference(quarter, X).tolist() == (X / 4).tolist()


def test_functions_of_several_values_take_tuples_apart():
    def body(x, y):
        return lift.zip(x, y) >> lift.map(lambda p: lift.sub(p)) >> lift.map(lambda a: a + 1)

    program = lift.fun(lift.array("N"), lift.array("N"), body)
    assert reference(program, X, X / 2).tolist() == (X / 2 + 1).tolist()


# -- patterns ------------------------------------------------------------------------------------


def test_iterate_with_a_changing_size():
    def halve(v):
        return v >> lift.split(2) >> lift.map(lift.reduce(lift.add, 0.0))

    program = lift.fun(lift.array("N"), lambda x: x >> lift.iterate(3, halve))
    assert "#lift.sizes<N / 8>" in str(program)
    assert reference(program, X).tolist() == [X.sum()]
    with pytest.raises(
        TileError, match=r"makes tensor<3xf32> of tensor<6xf32> in 1 steps, but then"
    ):
        reference(program, X[:6])


def test_iterations_in_an_iteration_have_names_of_their_own():
    def halve(v):
        return v >> lift.split(2) >> lift.map(lift.reduce(lift.add, 0.0))

    def body(x, n):
        def both(v):
            sums = n >> lift.iterate(2, lambda w: halve(w))
            return halve(v) >> lift.map(lambda e: e + sums[0] + v[0])

        return x >> lift.iterate(2, both)

    program = lift.fun(lift.array("N"), lift.array("n"), body)
    once = X[::2] + X[1::2] + X.sum() + X[0]
    twice = once[::2] + once[1::2] + X.sum() + once[0]
    assert reference(program, X, X.reshape(2, 4).sum(0)).tolist() == twice.tolist()


def test_iterate_with_a_symbolic_count():
    program = lift.fun(
        lift.array("N"), lambda x: x >> lift.iterate("N", lift.map(lambda e: e + 1.0))
    )
    assert reference(program, X).tolist() == (X + 8).tolist()


@pytest.mark.parametrize("order", ["binary", "linear"])
@pytest.mark.parametrize("key", range(-1, 10))
def test_search(order, key):
    values = np.array([0, 1, 3, 4, 7, 8], np.int32)
    program = lift.fun(
        lift.array("N", lift.i32),
        lift.i32,
        lambda x, k: x >> lift.search(lambda e: k - e, -5, order),
    )
    assert reference(program, values, np.int32(key)) == (key if key in values else -5)


def test_generate():
    program = lift.fun(
        lift.array("N"),
        lambda x: lift.generate(x.size, 3, lambda i, j: x[i] + lift.cast(j, lift.f32)),
    )
    assert reference(program, X).tolist() == (X[:, None] + np.arange(3)).tolist()


def test_indices_are_returned_as_int32():
    program = lift.fun(lift.array("N"), lambda x: lift.generate(x.size, 2, lambda i, j: i - j))
    found = reference(program, X[:3])
    assert found.dtype == np.int32
    assert found.tolist() == [[0, -1], [1, 0], [2, 1]]


def test_let_and_at():
    program = lift.fun(
        lift.array("N"),
        lambda x: x >> lift.map(lambda e: e + x[100]) >> lift.let(lambda y: lift.concat(y, y)),
    )
    assert reference(program, X).tolist() == [*(X + 49), *(X + 49)]


def test_vectors():
    program = lift.fun(
        lift.array("N"),
        lambda x: (
            x
            >> lift.as_vector(4)
            >> lift.map_glb(lift.map_vec(lambda e: e * e) >> (lambda v: v + v))
            >> lift.as_scalar
        ),
    )
    assert "vector<4xf32>" in str(program)
    assert reference(program, X).tolist() == (2 * X * X).tolist()


def test_map_seq_slide_is_map_of_slide():
    f = lift.reduce_seq(lift.max, 0.0)
    rotating = lift.fun(lift.array("N"), lambda x: x >> lift.map_seq_slide(f, 4, 2))
    plain = lift.fun(lift.array("N"), lambda x: x >> lift.slide(4, 2) >> lift.map_seq(f))
    assert reference(rotating, X).tolist() == reference(plain, X).tolist() == [9, 25, 49]


@pytest.mark.parametrize(
    "pattern",
    [
        *(lift.map, lift.map_glb, lift.map_wrg, lift.map_lcl),
        *(lift.map_warp, lift.map_lane, lift.map_seq, lift.map_seq_unroll),
    ],
)
def test_who_does_it_makes_no_difference(pattern):
    program = lift.fun(lift.array("N"), lambda x: x >> pattern(lambda e: 2 * e))
    assert reference(program, X).tolist() == (2 * X).tolist()


def test_reorder_stride():
    program = lift.fun(lift.array("N"), lambda x: x >> lift.gather(lift.reorder_stride(2)))
    assert reference(program, X).tolist() == X.reshape(4, 2).T.reshape(-1).tolist()


def test_arrays_of_tuples_of_arrays_are_laid_out_together():
    def body(x, m):
        pairs = lift.zip(x, m) >> lift.split(2) >> lift.transpose >> lift.join
        return lift.unzip(pairs >> lift.gather(lift.reverse) >> lift.pad(1, 0, lift.clamp))

    program = lift.fun(lift.array("N"), lift.array("N", "M"), body)
    m = np.arange(16, dtype=np.float32).reshape(8, 2)
    order = [7, 7, 5, 3, 1, 6, 4, 2, 0]
    found = reference(program, X, m)
    assert found.out0.tolist() == X[order].tolist()
    assert found.out1.tolist() == m[order].tolist()


# -- numbers -------------------------------------------------------------------------------------


def test_whole_arrays_are_tile_ops():
    program = lift.fun(
        lift.array("N", "M"),
        lift.f32,
        lambda a, alpha: a >> lift.map(lambda row: lift.exp(-row) * alpha + 1.0),
    )
    text = str(program)
    assert "tile.exp" in text and "tile.mul" in text
    a = X.reshape(2, 4) / 10
    np.testing.assert_allclose(reference(program, a, 3.0), np.exp(-a) * 3 + 1, rtol=1e-6)


INTEGERS = np.array([-7, -1, 0, 3, 100], np.int32)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a + 2,
        lambda a: 2 - a,
        lambda a: a * a,
        lambda a: a // 3,
        lambda a: a % 3,
        lambda a: -a,
        abs,
        lambda a: a / 4,
        lambda a: a * 0.5,
        lambda a: (a > 0) & (a < 50),
        lambda a: (a == 0) | (a != 3),
    ],
)
def test_arithmetic_is_that_of_numpy(function):
    program = lift.fun(lift.array("N", lift.i32), lambda x: x >> lift.map(function))
    expected = function(INTEGERS)
    found = reference(program, INTEGERS)
    assert found.dtype == (np.float32 if expected.dtype == np.float64 else expected.dtype)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "name", ["sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "floor", "ceil", "abs"]
)
def test_functions_are_those_of_numpy(name):
    x = np.linspace(0.1, 3, 7)
    program = lift.fun(lift.array("N", lift.f64), lambda v: v >> lift.map(getattr(lift, name)))
    np.testing.assert_allclose(reference(program, x), getattr(np, name)(x), rtol=1e-12)


def test_where_and_casts():
    program = lift.fun(
        lift.array("N", lift.i32),
        lambda x: x >> lift.map(lambda e: lift.where(e < 0, 0.5, lift.cast(e, lift.f64))),
    )
    assert reference(program, INTEGERS).tolist() == [0.5, 0.5, 0, 3, 100]


# -- the front door ------------------------------------------------------------------------------


def test_it_runs(device):
    f = td.compile(
        lift.fun(lift.array("N"), lambda x: x >> lift.map(lambda e: e + 1.0)), device=device
    )
    assert f(X).tolist() == f.reference(X).tolist()
    assert "scf.for" in f.mlir(X)
    outputs, profile = f.profile(X)
    assert outputs.tolist() == f(X).tolist()
    assert len(profile.kernels) == 1


def test_one_kernel_serves_all_sizes(device):
    f = td.compile(
        lift.fun(lift.array("N"), lambda x: x >> lift.map(lambda e: e + 1.0)), device=device
    )
    texts = {f.opencl(np.zeros(n, np.float32)) for n in (1, 100, 1000)}
    assert len(texts) == 1
    assert "int N" in texts.pop()
    for n in (0, 1, 5, 300):
        x = np.arange(n, dtype=np.float32)
        assert f(x).tolist() == (x + 1).tolist()
    assert len(f._program.built) == 1


def test_sizes_that_must_be_numbers_get_them():
    def doubled(row):
        kept = row >> lift.to_private(lift.map_seq(lambda e: 2.0 * e))
        return kept >> lift.slide(2, 1) >> lift.map_seq(lift.reduce_seq(lift.add, 0.0))

    f = td.compile(lift.fun(lift.array("N", "M"), lambda x: x >> lift.map_glb(doubled)))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert f(x).tolist() == (2 * (x[:, 1:] + x[:, :-1])).tolist()
    assert "[3]" in f.opencl(x)


def test_sizes_that_do_not_fit_are_refused():
    f = td.compile(lift.fun(lift.array("N"), lambda x: x >> lift.split(4)))
    with pytest.raises(TileError, match=r"split\(4\) needs 4 to divide"):
        f(np.zeros(6, np.float32))


def test_the_specialized_program_can_be_read():
    f = td.compile(lift.fun(lift.array("N"), lambda x: x >> lift.split(2) >> lift.join))
    assert "lift.split(2) %x : (tensor<8xf32>) -> tensor<4x2xf32>" in f.ir("tile-specialize", X)


def test_inputs_and_outputs_have_names():
    program = lift.fun(lift.array("N"), lift.f32, lambda x, alpha: {"y": x, "beta": alpha})
    f = td.compile(program)
    assert f.inputs == ("x", "alpha")
    assert f.outputs == ("y", "beta")
    assert f.reference(alpha=2.0, x=X).beta == 2


def test_sizes_contradict_each_other():
    f = td.compile(lift.fun(lift.array("N"), lift.array("N"), lambda x, y: lift.concat(x, y)))
    with pytest.raises(TileError, match=r"N is 8 in x \(axis 0\) but 4 in y \(axis 0\)"):
        f.reference(X, X[:4])


def test_functions_can_be_pickled():
    f = td.compile(lift.fun(lift.array("N"), lambda x: x >> lift.map(lambda e: e + 1.0)))
    assert pickle.loads(pickle.dumps(f)).reference(X).tolist() == (X + 1).tolist()


MIXED = """
func.func @f(%A: tensor<?x4xf32, #lift.sizes<N>>, %x: tensor<4xf32>)
    -> tensor<?xf32, #lift.sizes<N>> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %A, %zero : tensor<?x4xf32, #lift.sizes<N>>
  %y = tile.contraction add(%A[i, j] mul %x[j]) -> [i : %n]
       : (tensor<?x4xf32, #lift.sizes<N>>, tensor<4xf32>) -> tensor<?xf32, #lift.sizes<N>>
  %p = lift.pad(1, 1, wrap) %y
       : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %w = lift.slide(3, 1) %p
       : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x3xf32, #lift.sizes<N>>
  %e = tile.exp %w : (tensor<?x3xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N>>
  %m = lift.map(%row in %e)
       : (tensor<?x3xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %i = arith.constant 0 : index
    %first = lift.at %row, %i : (tensor<3xf32>, index) -> f32
    lift.yield %first : f32
  }
  func.return %m : tensor<?xf32, #lift.sizes<N>>
}
"""


def test_a_function_with_ops_of_both_dialects(tmp_path):
    path = tmp_path / "mixed.mlir"
    path.write_text(MIXED)
    a, x = X.reshape(2, 4) / 50, np.float32([1, 0, 2, 0])
    found = td.compile(path).reference(a, x)
    np.testing.assert_allclose(found, np.exp(np.roll(a @ x, 1)), rtol=1e-6)


# -- errors --------------------------------------------------------------------------------------


def wrong(function, *types):
    """The error of a program, and the text that it points at."""
    with pytest.raises(TileError) as caught:
        lift.fun(*types, function)
    span = caught.value.span
    assert span is not None, caught.value
    assert span.filename == __file__
    line = inspect.getsource(inspect.getmodule(wrong)).splitlines()[span.line - 1]
    return caught.value.message, line[span.column - 1 : span.column - 1 + span.length]


N = lift.array("N")


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
        (lambda x: x[0:4:2], "a slice has no step", "x[0:4:2]"),
        (lambda x: lift.where(x[0] > 0, x, x), "where chooses between numbers, not tensor", None),
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
            "what a value is, is not known yet: choose with lift.where",
            "e > 0",
        ),
        (lambda x: list(x), "x is tensor<?xf32, #lift.sizes<N>>, which is no tuple", None),
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
        (max, "it is not known what max takes: give a lambda"),
        (lambda *, x: x, "the inputs of program are given by place, but x is not"),
        (lambda **x: x, r"the inputs of program are given by place, but \*\*x is not"),
    ],
)
def test_what_does_not_fit_is_refused_in_lifts_words(build, words):
    with pytest.raises(TileError, match=words):
        lift.fun(N, build)


def test_fun_takes_functions():
    with pytest.raises(TileError, match="fun takes a function, not None"):
        lift.fun()
    total = td.compile(lift.fun(N, N, lift.add))
    assert total.reference(a=X, b=X).tolist() == (2 * X).tolist()
    roots = lift.map(lift.sqrt) >> lift.map(lift.neg)
    np.testing.assert_allclose(td.compile(lift.fun(N, roots)).reference(X), -np.sqrt(X))


def test_sizes_of_numpy():
    f = td.compile(lift.fun(N, lambda x: x >> lift.split(np.int64(4))))
    assert f.reference(X).shape == (2, 4)


@pytest.mark.parametrize(("size", "words"), [("N / 3", "8 / 3"), ("N - 10", "-2")])
def test_sizes_in_functions_are_checked_for_a_call(size, words):
    """Also those that no array has."""
    f = td.compile(
        lift.fun(N, lambda x: x >> lift.map(lambda e: e + lift.cast(lift.size(size), lift.f32)))
    )
    for run in (f.reference, f):
        with pytest.raises(TileError, match=f"a size is {words}; it must be an integer"):
            run(X)


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
