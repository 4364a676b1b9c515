"""`td.jax`: functions of JAX against JAX's own results on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tiledialect as td

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("xdsl_jax", reason="xdsl-jax is not installed")

from jax import lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax_functions import GROUPS, RANDOM, W, X, agree, arguments, together  # noqa: E402

ON_DEVICE = ("products",)
"""Groups that run on a device; the others by the reference semantics, which takes less time."""


@pytest.mark.parametrize("group", GROUPS)
def test_functions(group: str) -> None:
    f, given = together(group), arguments(group)
    compiled, wanted = td.jax.compile(f), jax.jit(f)(given)
    if group in ON_DEVICE:
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
    assert first.inputs == ("p_w", "x", "shift", "constant0")


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


def test_refused_ops_are_named_at_their_place() -> None:
    def spectrum(x: Any) -> Any:
        return jnp.fft.fft(x).real

    with pytest.raises(td.TileError, match="there are no tensors of complex<f32>") as error:
        td.jax.compile(spectrum)(X)
    assert error.value.span is not None and error.value.span.filename == __file__
    assert "jnp.fft.fft(x)" in error.value.span.source_line
    with pytest.raises(td.TileError, match="while cannot be converted: the number"):
        td.jax.compile(
            lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: c * 2, jnp.abs(x))
        )(X)
    with pytest.raises(td.TileError, match=r"td\.jax\.compile takes a function"):
        td.jax.compile(3)
