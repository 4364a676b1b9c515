"""Gradients of common operations, as PyTorch has them, where that is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from compare import LARGEST, assert_close
from gradients.elementwise import integers, reals

import tiledialect as td

torch = pytest.importorskip("torch")
F: Any = torch.nn.functional


@dataclass(frozen=True)
class Operation:
    name: str
    source: str
    inputs: tuple[Any, ...]
    like: Callable[..., Any]

    def __str__(self) -> str:
        return self.name


def _last(x: Any, rank: int) -> Any:
    """Channels first to channels last."""
    return x.permute(0, *range(2, rank + 2), 1)


def _first(x: Any, rank: int) -> Any:
    return x.permute(0, rank + 1, *range(1, rank + 1))


def _conv(stride: int, padding: int, dilation: int) -> Operation:
    size = f"({{}} + {2 * padding} - {dilation} * ({{}} - 1) - 1) / {stride} + 1"
    place = f"{stride}*{{}} + {dilation}*{{}} - {padding}"
    source = (
        "function (I[N, H, W, CI], K[KH, KW, CI, CO], B[CO]) -> (O) {"
        f"T[n, y, x, co: N, {size.format('H', 'KH')}, {size.format('W', 'KW')}, CO] ="
        f" +(I[n, {place.format('y', 'j')}, {place.format('x', 'i')}, ci] * K[j, i, ci, co]);"
        "O = T + B; }"
    )

    def like(image: Any, kernel: Any, bias: Any) -> Any:
        options = {"stride": stride, "padding": padding, "dilation": dilation}
        return _last(F.conv2d(_first(image, 2), kernel.permute(3, 2, 0, 1), bias, **options), 2)

    inputs = (reals(2, 8, 7, 3), reals(3, 2, 3, 4), reals(4))
    return Operation(f"conv2d_{stride}_{padding}_{dilation}", source, inputs, like)


OPERATIONS = [
    *(_conv(*o) for o in ((1, 0, 1), (1, 1, 1), (2, 1, 1), (3, 0, 2), (2, 2, 3))),
    Operation(
        "grouped_conv",
        """function (I[N, H, G, CI], K[KH, G, CI, CO]) -> (O) {
             O[n, y, g, co: N, H, G, CO] = +(I[n, y + j - 1, g, ci] * K[j, g, ci, co]); }""",
        (reals(2, 6, 2, 3), reals(3, 2, 3, 2)),
        lambda i, k: (
            F.conv1d(
                i.permute(0, 2, 3, 1).reshape(2, 6, 6),
                k.permute(1, 3, 2, 0).reshape(4, 3, 3),
                padding=1,
                groups=2,
            )
            .reshape(2, 2, 2, 6)
            .permute(0, 3, 1, 2)
        ),
    ),
    Operation(
        "transposed_conv",
        """function (I[N, L, CI], K[LK, CI, CO]) -> (O) {
             O[n, 2*x + k - 1, co: N, 2*L, CO] = +(I[n, x, ci] * K[k, ci, co]); }""",
        (reals(2, 5, 3), reals(3, 3, 2)),
        lambda i, k: F.conv_transpose1d(
            i.permute(0, 2, 1), k.permute(1, 2, 0), stride=2, padding=1, output_padding=1
        ).permute(0, 2, 1),
    ),
    Operation(
        "max_pool",
        """function (I[N, H, W, C]) -> (O) {
             O[n, y, x, c: N, (H+1)/2, (W+1)/2, C] = >(I[n, 2*y + j - 1, 2*x + i - 1, c]),
               j < 3, i < 3; }""",
        (reals(2, 7, 6, 3),),
        lambda i: _last(F.max_pool2d(_first(i, 2), 3, 2, 1), 2),
    ),
    Operation(
        "mean_pool",
        """function (I[N, L, C]) -> (O) {
             S[n, x, c: N, L/2, C] = +(I[n, 2*x + j, c]), j < 2; O = S / 2; }""",
        (reals(2, 8, 3),),
        lambda i: _last(F.avg_pool1d(_first(i, 1), 2), 1),
    ),
    Operation(
        "softmax",
        "function (X[N, M]) -> (O) { O = builtin_softmax(X, N, M); }",
        (reals(3, 5),),
        lambda x: F.softmax(x, 1),
    ),
    Operation(
        "cross_entropy",
        """function (X[N, M], T[N]) -> (L) {
             P = builtin_logsoftmax(X, N, M); Class[n, 0: N, 1] = =(T[n]);
             Q = index(P, 1) == Class ? P : 0; S[] = +(Q[n, m]); L = -S / N; }""",
        (reals(4, 5), integers(4, high=5)),
        lambda x, t: F.cross_entropy(x, t.long()),
    ),
    Operation(
        "layer_norm",
        """function (X[N, M], G[M], B[M]) -> (O) {
             S[n, 0: N, 1] = +(X[n, m]); C = X - S / M; Q = C * C; V[n, 0: N, 1] = +(Q[n, m]);
             O = C / sqrt(V / M + 0.00001) * G + B; }""",
        (reals(3, 5), reals(5), reals(5)),
        lambda x, g, b: F.layer_norm(x, (5,), g, b),
    ),
    Operation(
        "batch_norm",
        """function (X[N, M], G[M], B[M]) -> (O) {
             S[m: M] = +(X[n, m]); C = X - S / N; Q = C * C; V[m: M] = +(Q[n, m]);
             O = C / sqrt(V / N + 0.00001) * G + B; }""",
        (reals(6, 3), reals(3), reals(3)),
        lambda x, g, b: F.batch_norm(x, None, None, g, b, training=True),
    ),
    Operation(
        "embedding",
        "function (T[V, D], I) -> (O) { O = gather(T, I); }",
        (reals(5, 3), integers(2, 6, high=5)),
        lambda t, i: F.embedding(i.long(), t),
    ),
    Operation(
        "attention",
        """function (Q[N, D], K[M, D], V[M, E]) -> (O) {
             S[i, j: N, M] = +(Q[i, d] * K[j, d]); Scaled = S / sqrt(1.0 * D);
             P = builtin_softmax(Scaled, N, M); O[i, e: N, E] = +(P[i, j] * V[j, e]); }""",
        (reals(3, 4), reals(5, 4), reals(5, 2)),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    ),
    Operation(
        "gelu",
        "function (X) -> (O) { O = X * 0.5 * (1 + erf(X / sqrt(2.0))); }",
        (reals(7),),
        lambda x: F.gelu(x),
    ),
    Operation(
        "product",
        "function (X[N, M]) -> (O) { O[n: N] = *(X[n, m]); }",
        (reals(3, 4) * np.array([[1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]]),),
        lambda x: x.prod(1),
    ),
    Operation(
        "power",
        "function (X, E) -> (O) { O = pow(X, E); }",
        (np.array([0.5, 1.5, 0.0, 2.0]), np.array([2.0, -1.5, 2.0, 0.0])),
        lambda x, e: x**e,
    ),
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_as_pytorch(operation: Operation):
    tensors = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in operation.inputs]
    output = operation.like(*tensors)
    cotangent = torch.tensor(reals(*output.shape))
    output.backward(cotangent)
    real = [k for k, t in enumerate(tensors) if t.requires_grad]
    f = td.compile(operation.source)
    gradient = f.gradient([f.inputs[k] for k in real], with_outputs=True)
    found = gradient(*operation.inputs, cotangent.numpy())
    wanted = [output.detach(), *(tensors[k].grad for k in real)]
    for name, a, b in zip(gradient.outputs, found, wanted, strict=True):
        assert_close(a, b.numpy(), length=64, ulps=200, scale=LARGEST, what=name)
