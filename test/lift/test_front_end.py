"""Writing Lift programs in Python: the slides' examples, and all that they are made of."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tiledialect as td
from tiledialect import TileError, lift

N = lift.array("N")
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
    with pytest.raises(TileError, match=r"what size v is: bind it, as Derivation\.bind\(v=4\)"):
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
    """Places that are computed are brought into the array's range."""
    program = lift.fun(
        lift.array("N"),
        lambda x: (
            x
            >> lift.map(lambda e: e + x[lift.cast(e, lift.i32) + 100])
            >> lift.let(lambda y: lift.concat(y, y))
        ),
    )
    assert reference(program, X).tolist() == [*(X + 49), *(X + 49)]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:-1],
        lambda x: x[-2:],
        lambda x: x[1:-1],
        lambda x: x[-3:-1],
        lambda x: x[-2],
        lambda x: x[np.int64(-1)],
    ],
)
def test_places_are_counted_from_the_end(function):
    assert reference(lift.fun(N, function), X).tolist() == function(X).tolist()


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


def test_windows_and_counts_that_must_be_numbers_get_them(device):
    sums = lift.reduce_seq(lift.add, 0.0)
    windows = td.compile(
        lift.fun(
            lift.array("N"), lift.array("M"), lambda x, y: x >> lift.map_seq_slide(sums, "M", "M")
        ),
        device=device,
    )
    again = td.compile(
        lift.fun(
            lift.array("N"),
            lift.array("M"),
            lambda x, y: x >> lift.iterate("M", lift.map(lambda e: e + 1.0)),
        ),
        device=device,
    )
    for m in (2, 4):
        assert windows(X, X[:m]).tolist() == X.reshape(-1, m).sum(1).tolist()
        assert again(X, X[:m]).tolist() == (X + m).tolist()


def test_patterns_alone_have_no_schedules(device):
    program = lift.fun(lift.array("N"), lambda x: x >> lift.map(lambda e: e + 1.0))
    f = td.compile(program, device=device)
    no_schedules = "of Lift's patterns alone, whose kernels have no schedules"
    for other in (f.with_schedules({"A": "<serial i : 8>"}), f.with_fusion(apart="A")):
        with pytest.raises(TileError, match=no_schedules):
            other(X)
    with pytest.warns(td.TileWarning, match=no_schedules):
        assert td.compile(program, device=device, tune=2)(X).tolist() == (X + 1).tolist()


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


def test_explanation():
    windows = lift.pad(1, 1, lift.clamp) >> lift.slide(3, 1)
    program = lift.fun(N, lambda x: x >> windows >> lift.map(lift.reduce(lift.add, 0.0)))
    text = td.compile(program).explanation(np.ones(1000, np.float32))
    assert "    reduce_seq at map/reduce\n    map_glb(dim=0) at map\n" in text
    assert "16 groups of 64 work-items" in text and "    pad(1, clamp)" in text
