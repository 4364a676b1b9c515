"""`td.jax`: functions of JAX against JAX's own results on the CPU."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

import tiledialect as td

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("xdsl_jax", reason="xdsl-jax is not installed")

from jax import lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax_functions import (  # noqa: E402
    GROUPS,
    NHWC,
    RANDOM,
    W,
    X,
    agree,
    arguments,
    attention,
    together,
)

ON_DEVICE = ("products",)
"""Groups that run on a device; the others by the reference semantics, which takes less time, but
with `make jax`."""


@pytest.fixture
def is_whole(request: pytest.FixtureRequest) -> bool:
    """Whether all is to be run, as by `make jax`."""
    options = request.config.option
    return (options.every_case, options.left_out) != (None, None)


@pytest.mark.parametrize("group", GROUPS)
def test_functions(group: str, is_whole: bool) -> None:
    f, given = together(group), arguments(group)
    compiled, wanted = td.jax.compile(f), jax.jit(f)(given)
    if is_whole or group in ON_DEVICE:
        agree(compiled(given), wanted)
    else:
        found = compiled.function(given).reference(*jax.tree_util.tree_leaves(given))
        agree([*found], jax.tree_util.tree_leaves(wanted))


def test_trees_static_arguments_and_closed_arrays() -> None:
    table = RANDOM.standard_normal((8, 5)).astype(np.float32)

    def f(p: Any, x: Any, scale: int = 2, *, shift: float) -> Any:
        return {"y": (x @ p["w"] * scale + shift, table.sum(0) + x.sum())}, x @ table

    compiled = td.jax.compile(f, static_argnames="scale")
    for scale in (2, 3):
        agree(compiled({"w": W}, X, scale, shift=0.5), f({"w": W}, X, scale, shift=0.5))
    # One function for each static value, and no more.
    first = compiled.function({"w": W}, X, 2, shift=0.5)
    assert compiled.function({"w": W}, X, scale=2, shift=1.5) is not None
    assert first is compiled.function({"w": W}, X, 2, shift=1.5)
    assert first.inputs == ("p_w", "x", "shift")


def test_arrays_of_numpy_give_arrays_of_numpy() -> None:
    double = td.jax.compile(lambda x: x * 2)
    assert type(double(np.ones(3, np.float32))) is np.ndarray
    assert isinstance(double(jnp.ones(3)), jax.Array)
    # JAX computes in f32, and so do we.
    assert double(np.ones(3)).dtype == np.float32


def test_gradients_of_ours_are_those_of_jax() -> None:
    def loss(p: Any, x: Any) -> Any:
        return (jnp.tanh(x @ p["w"] + p["b"]) ** 2).mean()

    p = {"w": W, "b": jnp.ones(5)}
    compiled = td.jax.compile(loss)
    agree(compiled.gradient()(p, X), jax.grad(loss)(p, X))
    agree(compiled.value_and_gradient((0, 1))(p, X), jax.value_and_grad(loss, argnums=(0, 1))(p, X))
    with pytest.raises(td.TileError, match="loss has no argument 2 to differentiate by"):
        compiled.gradient(2)(p, X)
    with pytest.raises(td.TileError, match="several results"):
        td.jax.compile(lambda x: (x, x)).gradient()(X)


def doubled(x: Any) -> Any:
    return 2 * x


def test_functions_are_pickled() -> None:
    again = pickle.loads(pickle.dumps(td.jax.compile(doubled)))
    assert np.array_equal(again(X), 2 * X)


def test_refused_ops_are_named_at_their_place() -> None:
    def spectrum(x: Any) -> Any:
        return jnp.fft.fft(x).real

    with pytest.raises(td.TileError, match="there are no tensors of complex<f32>") as error:
        td.jax.compile(spectrum)(X)
    assert error.value.span is not None and error.value.span.filename == __file__
    assert "jnp.fft.fft(x)" in error.value.span.source_line
    with pytest.raises(td.TileError, match=r"td\.jax\.compile takes a function"):
        td.jax.compile(3)


KERNELS = {
    "convolution": (
        lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=NHWC),
        "function f(X[N, H, W, C], K[KH, KW, C, D]) -> (O) {"
        " O[n, y, x, d: N, H, W, D] = +(X[n, y + j - 1, x + i - 1, c] * K[j, i, c, d]); }",
        ((2, 16, 16, 8), (3, 3, 8, 16)),
    ),
    "product": (
        jnp.matmul,
        "function f(A[I, K], B[K, J]) -> (C) { C[i, j: I, J] = +(A[i, k] * B[k, j]); }",
        ((64, 32), (32, 48)),
    ),
    "softmax": (
        jax.nn.softmax,
        "function f(X[I, J]) -> (R) { M[i, 0: I, 1] = >(X[i, j]); E = exp(X - M);"
        " S[i, 0: I, 1] = +(E[i, j]); R = E / S; }",
        ((64, 500),),
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_those_of_tile_text(name: str) -> None:
    f, text, shapes = KERNELS[name]
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    ours = td.jax.compile(f).function(*arrays).opencl(*arrays)
    assert skeleton(ours) == skeleton(td.compile(text).opencl(*arrays))


def skeleton(code: str) -> str:
    """OpenCL C with the names of values and kernels left out, which alone differ."""
    return re.sub(r"\b[A-Za-z_]\w*\b(?!\()|\b\w+(?=\(\n)", "_", code)


def convolutional(p: Any, x: Any) -> Any:
    h = jax.nn.relu(lax.conv_general_dilated(x, p["k"], (1, 1), "SAME", dimension_numbers=NHWC))
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return h.reshape(x.shape[0], -1) @ p["w"] + p["b"]


def transformer(p: Any, x: Any) -> Any:
    def norm(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    h = p["e"][x]
    q, k, v = (norm(h) @ p[name] for name in ("q", "k", "v"))
    q, k, v = (a.reshape(*a.shape[:2], 2, -1) for a in (q, k, v))
    h = h + attention(q, k, v).reshape(h.shape) @ p["o"]
    h = h + jax.nn.gelu(norm(h) @ p["u"]) @ p["d"]
    return norm(h).mean(1) @ p["w"]


MODELS = {
    "convolutional": (
        convolutional,
        {"k": (3, 3, 1, 4), "w": (64, 3), "b": (3,)},
        lambda: RANDOM.standard_normal((8, 8, 8, 1)).astype(np.float32),
    ),
    "transformer": (
        transformer,
        {"e": (11, 8), **dict.fromkeys("qkvo", (8, 8)), "u": (8, 16), "d": (16, 8), "w": (8, 3)},
        lambda: RANDOM.integers(0, 11, (8, 6)).astype(np.int32),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_training_gives_the_losses_of_jax(name: str, is_whole: bool) -> None:
    if name == "transformer" and not is_whole:
        pytest.skip("left to `make jax`, as its kernels take long to build")
    model, shapes, draw = MODELS[name]

    def loss(p: Any, x: Any, y: Any) -> Any:
        logs = jax.nn.log_softmax(model(p, x))
        return -jnp.take_along_axis(logs, y[:, None], 1).mean()

    def step(p: Any, x: Any, y: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(p, x, y)
        return value, jax.tree_util.tree_map(lambda a, d: a - 0.1 * d, p, slopes)

    p = {n: RANDOM.standard_normal(s).astype(np.float32) * 0.3 for n, s in shapes.items()}
    x, y = draw(), RANDOM.integers(0, 3, 8).astype(np.int32)
    compiled, jitted = td.jax.compile(step), jax.jit(step)
    ours, theirs = p, p
    losses: list[tuple[float, float]] = []
    for _ in range(5):
        (a, ours), (b, theirs) = compiled(ours, x, y), jitted(theirs, x, y)
        losses.append((float(a), float(b)))
    # The steps add up what sums in another order are off by.
    np.testing.assert_allclose(*zip(*losses, strict=True), rtol=1e-4)
    assert losses[-1][0] < losses[0][0]


def test_random_numbers_are_those_of_jax() -> None:
    def draw(key: Any, x: Any) -> Any:
        return jax.random.uniform(key, (5,)), jax.random.truncated_normal(key, -1, 1, (5,)), x.sum()

    key = jax.random.key(3)
    compiled = td.jax.compile(draw)
    found = compiled.function(key, X).reference(jax.random.key_data(key), X)
    agree([*found], [*draw(key, X)])
    with pytest.raises(td.TileError, match="gives keys"):
        td.jax.compile(jax.random.split)(key)


def test_arrays_of_jax_are_taken_where_they_are() -> None:
    x = jnp.arange(4096, dtype=jnp.float32)
    compiled = td.jax.compile(lambda x: x * 2)
    (taken,) = compiled.function(x)._inputs.arrays((x,))
    assert isinstance(taken, np.ndarray)
    assert taken.__array_interface__["data"][0] == x.unsafe_buffer_pointer()


def recurrent(w: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = jnp.tanh(h @ w + x)
        return h, h.sum()

    return lax.scan(step, jnp.zeros(4), xs)


def newton(a: Any) -> Any:
    def improved(s: Any) -> Any:
        return 0.5 * (s[0] + a / s[0]), s[1] + 1

    return lax.while_loop(lambda s: abs(s[0] * s[0] - a) > 1e-5 * a, improved, (a, 0))


def collatz(n: Any) -> Any:
    def following(s: Any) -> Any:
        return jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1

    return lax.while_loop(lambda s: s[0] != 1, following, (n, 0))


def switched(k: Any, x: Any, n: Any) -> Any:
    def doubled(x: Any) -> Any:
        return lax.fori_loop(0, n, lambda i, y: y * 2 + i, x)

    return lax.switch(k, [lambda x: x, doubled, lambda x: -x], x)


def branching(x: Any, n: Any) -> Any:
    """A loop of branches, which take what the loop carries from around them."""

    def step(i: Any, y: Any) -> Any:
        def inner() -> Any:
            return lax.fori_loop(0, i, lambda _, z: z + y, x)

        return lax.cond(y[0] > 0, lambda: y - 1, inner)

    return lax.fori_loop(0, n, step, x)


STEPS = RANDOM.standard_normal((300, 4)).astype(np.float32)
SQUARE = (RANDOM.standard_normal((4, 4)) / 3).astype(np.float32)
LOOPS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "scan": (recurrent, (SQUARE, STEPS)),
    "gradient of a scan": (
        jax.grad(lambda w, xs: recurrent(w, xs)[1].mean()),
        (SQUARE, STEPS),
    ),
    "newton": (newton, (np.float32(37),)),
    "collatz": (jax.vmap(collatz), (np.arange(1, 30, dtype=np.int32),)),
    "branches": (branching, (np.array([1, 2], np.float32), np.int32(6))),
    **{f"switch {k}": (switched, (np.int32(k), STEPS[0], np.int32(3))) for k in (-1, 0, 1, 2, 5)},
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str) -> None:
    f, given = LOOPS[name]
    agree(td.jax.compile(f)(*given), jax.jit(f)(*given))


def test_loops_that_data_end_have_no_gradient_of_ours() -> None:
    with pytest.raises(td.TileError, match=r"scf\.while has no gradient: data decide"):
        td.jax.compile(lambda a: newton(a)[0]).gradient()(np.float32(3))
