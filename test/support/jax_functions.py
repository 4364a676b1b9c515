"""Functions of JAX, of which tiledialect must give the results that JAX gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

RANDOM = np.random.default_rng(0)


def reals(*shape: int) -> Any:
    return jnp.asarray(RANDOM.standard_normal(shape), jnp.float32)


def conv(dimensions: Sequence[str], **options: Any) -> Callable[..., Any]:
    return lambda x, k: lax.conv_general_dilated(x, k, dimension_numbers=dimensions, **options)


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


X, Y, W, V, Q = reals(6, 8), reals(6, 8), reals(8, 5), reals(8), reals(2, 7, 3, 4)
I = jnp.arange(6) % 4  # noqa: E741
IM, K = reals(1, 7, 7, 4), reals(3, 3, 4, 6)
NHWC, NCHW = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")


def pool_max(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def squares(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: (f(*args) ** 2).sum()


def rnn(x: Any) -> Any:
    return lax.scan(lambda c, a: (jnp.tanh(c + a), c * a), jnp.zeros(8), x)


Case = tuple[Callable[..., Any], tuple[Any, ...]]

GROUPS: dict[str, list[Case]] = {
    "elementwise": [
        (lambda x, v: x * v + 1, (X, V)),
        (lambda x: jnp.exp2(x) + jnp.log2(jnp.abs(x)) + jnp.expm1(x), (X,)),
        (lambda x: jnp.sin(x) + jnp.arctan2(x, x + 1) + jnp.sinh(x) + jnp.arcsinh(x), (X,)),
        (lambda x: jnp.sign(x) + jnp.round(x) + jnp.trunc(x) + jnp.floor(x), (X,)),
        (lambda x: x**3 + jnp.abs(x) ** 0.5 + lax.rsqrt(jnp.abs(x) + 1) + jnp.cbrt(x), (X,)),
        (lambda x, y: jnp.floor_divide(x, y) + jnp.mod(x, y), (X, Y)),
        (lambda i: ((i << 2) ^ (i & 3) | ~i >> 1) + (i - 3) // 2 + (i - 3) % 3, (I,)),
        (lambda i: lax.population_count(i) + lax.clz(i), (I,)),
        (lambda x: jnp.where(x > 0, x, jnp.clip(x, -0.5, 0.5)), (X,)),
        (lambda x: lax.erf_inv(jnp.tanh(x)), (X,)),
        (lambda x, y: lax.lgamma(x) + lax.digamma(x) + lax.nextafter(x, y), (X, Y)),
        (jax.nn.gelu, (X,)),
        (lambda x: jax.nn.gelu(x, approximate=False), (X,)),
        (lambda x: jax.nn.silu(x) + jax.nn.elu(x) + jax.nn.selu(x) + jax.nn.softplus(x), (X,)),
        (lambda x: jnp.nan_to_num(jnp.log(x)), (X,)),
    ],
    "reductions": [
        (lambda x: (x.mean(1), x.var(0), x.std(1, keepdims=True), jnp.prod(x, 1)), (X,)),
        (lambda x: (x.max(), jnp.argmax(x, 1), jnp.argmin(x, 0)), (X,)),
        (lambda x: (jnp.any(x > 1, 1), jnp.all(x > -1, 0)), (X,)),
        (jax.nn.softmax, (X,)),
        (jax.nn.log_softmax, (X,)),
        (lambda x: jax.nn.logsumexp(x, 1), (X,)),
        (jax.nn.standardize, (X,)),
        (lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, axis=1)), (X,)),
        (pool_max, (IM,)),
        (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), (IM,)),
        (lambda x: lax.associative_scan(jnp.add, x, axis=1), (X,)),
        (lambda x: jnp.linalg.norm(x, axis=1), (X,)),
        (lambda i: lax.reduce(i, np.int32(0), lax.bitwise_xor, (0,)), (I,)),
        (lambda x: lax.reduce(x > 0, np.bool_(False), lax.bitwise_xor, (0,)), (X,)),
        (lax.composite(lambda x: (x.sum(0), x * 2), name="test.both"), (X,)),
    ],
    "places": [
        (lambda x: x[1:5:2, ::-1].T.reshape(4, 4), (X,)),
        (lambda x, y: (jnp.concatenate([x, y], 1), jnp.stack([x, y])), (X, Y)),
        (lambda x: jnp.pad(x, ((1, 2), (0, 1)), constant_values=3.0), (X,)),
        (lambda x: jnp.pad(x, 1, mode="reflect"), (X,)),
        (lambda x: (jnp.roll(x, 2, 1), jnp.tile(x, (2, 1)), jnp.repeat(x, 2, 0)), (X,)),
        (lambda x: (jnp.tril(x), jnp.diag(x[:, :6]), x + jnp.linspace(0, 1, 8)), (X,)),
        (lambda x, i: x[i], (X, I)),
        (lambda x, i: jnp.take_along_axis(x, i[:, None], 1), (X, I)),
        (lambda x, i: lax.dynamic_slice(x, (i[1], i[2]), (2, 3)), (X, I)),
        (lambda x, i: lax.dynamic_update_slice(x, x[:2, :3] * 0, (i[1], i[2])), (X, I)),
        (lambda x, i: (x.at[i].set(x + 1), x.at[i].add(1.0), x.at[i].max(0.3)), (X, I)),
        (lambda x, i: jax.ops.segment_sum(x, i, 4), (X, I)),
        (lambda x: (jnp.sort(x, 1), jnp.argsort(x, 0), lax.top_k(x, 3)), (X,)),
        (lambda x: (jnp.sort(jnp.log(x), 1), jnp.argsort(0.0 / x - x, 0)), (X,)),
        (lambda x: (jnp.median(x, 1), jax.nn.one_hot(jnp.argmax(x, 1), 8)), (X,)),
        (jax.vmap(lambda x, i: x[i]), (X, I)),
    ],
    "products": [
        (jnp.matmul, (X, W)),
        (lambda x, y: jnp.einsum("ij,kj->ik", x, y), (X, Y)),
        (jax.vmap(lambda x, y: x @ y), (X, Y)),
        (lambda x, y: (jnp.outer(x, y), jnp.kron(x[:2], y[:3])), (V, V)),
        (conv(NHWC, window_strides=(2, 1), padding="SAME"), (IM, K)),
        (
            conv(
                NHWC,
                window_strides=(1, 1),
                padding=((2, 1), (0, 3)),
                rhs_dilation=(2, 1),
                lhs_dilation=(1, 2),
            ),
            (IM, K),
        ),
        (
            conv(NCHW, window_strides=(1, 1), padding="VALID"),
            (IM.transpose(0, 3, 1, 2), K.transpose(3, 2, 0, 1)),
        ),
        (
            conv(NHWC, window_strides=(1, 1), padding="SAME", feature_group_count=2),
            (IM, reals(3, 3, 2, 6)),
        ),
        (
            conv(NHWC, window_strides=(1, 1), padding="SAME", feature_group_count=4),
            (IM, reals(3, 3, 1, 4)),
        ),
        (lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=NHWC), (IM, K)),
        (jax.vmap(lambda x, k: jnp.convolve(x, k, mode="valid"), (0, None)), (X, V[:3])),
        (attention, (Q, Q + 1, Q * 2)),
    ],
    "gradients and loops": [
        (jax.grad(lambda x: jax.nn.softmax(x)[0, 1] * 2), (X,)),
        (
            jax.grad(squares(conv(NHWC, window_strides=(2, 2), padding="SAME")), argnums=(0, 1)),
            (IM, K),
        ),
        (jax.grad(squares(pool_max)), (IM,)),
        (jax.grad(squares(attention), argnums=(0, 1, 2)), (Q, Q + 1, Q * 2)),
        (jax.hessian(lambda v: jnp.sum(v**3) * v[0]), (V[:4],)),
        (lambda x, y: jax.jvp(jnp.tanh, (x,), (y,)), (X, Y)),
        (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), (X,)),
        (rnn, (X,)),
        (jax.grad(lambda x: rnn(x)[1].sum()), (X,)),
        (lambda x: lax.fori_loop(0, 4, lambda i, c: c * 0.5 + i, x), (X,)),
        (lambda x: lax.cond(x[0, 0] > 0, lambda x: x * 2, lambda x: x - 1, x), (X,)),
        (lambda i, x: lax.switch(i[1], [lambda x: x, lambda x: x * 2, lambda x: -x], x), (I, X)),
        (lambda x: lax.map(lambda v: v.sum() * v, x), (X,)),
    ],
}
"""Functions, those of a group in one program."""


def together(group: str) -> Callable[[Sequence[Any]], list[Any]]:
    """The functions of a group as one."""

    def call(arguments: Sequence[Any]) -> list[Any]:
        return [f(*args) for (f, _), args in zip(GROUPS[group], arguments, strict=True)]

    return call


def arguments(group: str) -> list[tuple[Any, ...]]:
    """The arguments of a group's functions."""
    return [args for _, args in GROUPS[group]]


def agree(got: Any, wanted: Any, tolerance: float = 1e-4) -> None:
    """Whether two trees are the same, up to sums in another order and functions of other
    libraries."""
    assert jax.tree_util.tree_structure(got) == jax.tree_util.tree_structure(wanted)
    for a, b in zip(*map(jax.tree_util.tree_leaves, (got, wanted)), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        scale = max(
            1.0,
            float(np.abs(np.nan_to_num(b.astype(np.float64), posinf=0, neginf=0)).max(initial=0)),
        )
        np.testing.assert_allclose(
            a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance * scale
        )
