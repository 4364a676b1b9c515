"""The bridge to PyTorch, against its own gradients and its numerical check."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
F = torch.nn.functional

PROGRAMS = {
    "product": (
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        [(2, 3), (3, 4)],
    ),
    "elementwise": (
        "function (A, B) -> (C) { C = exp(A) * tanh(B) / (2 + sin(A * B)); }",
        [(2, 3), (3,)],
    ),
    "pool": ("function (A[N]) -> (O) { O[i: N / 2] = >(A[2*i + j]), j < 2; }", [(6,)]),
    "factorial": ("function (A[N, M]) -> (O) { O[i: N] = *(A[i, j]); }", [(2, 3)]),
    "tropical": (
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = >(A[i, k] + B[k, j]); }",
        [(2, 3), (3, 2)],
    ),
    "softmax": ("function (X[N, M]) -> (O) { O = builtin_softmax(X, N, M); }", [(2, 4)]),
    "reshape": ("function (X) -> (O) { O = reshape(X * X, 6); }", [(2, 3)]),
    "strided": (
        "function (I[N, L, CI], K[LK, CI, CO]) -> (O) {"
        " O[n, x, co: N, (L + 1) / 2, CO] = +(I[n, 2*x + 3*k - 2, ci] * K[k, ci, co]); }",
        [(1, 7, 2), (3, 2, 2)],
    ),
    "two outputs": ("function (A, B) -> (C, D) { C = A * B; D = A - B * B; }", [(3,), (3,)]),
    "power": ("function (A, B) -> (C) { C = pow(A * A + 1, B); }", [(3,), (3,)]),
    "scalar": ("function (A[N], S[]) -> (O) { T[] = +(A[i] * A[i]); O = T * S; }", [(4,), ()]),
    "default": ("function (A[N], T) -> (O) { O[2*i: 2*N] = +(A[i]) default T; }", [(3,), (6,)]),
}


def doubles(*shapes):
    generator = np.random.default_rng(7)
    return [torch.tensor(generator.standard_normal(s), requires_grad=True) for s in shapes]


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_and_second_derivatives(name):
    source, shapes = PROGRAMS[name]
    f = td.torch.function(td.compile(source, device="pocl"))
    inputs = doubles(*shapes)
    assert torch.autograd.gradcheck(f, inputs)
    assert torch.autograd.gradgradcheck(f, inputs)


def test_a_network_like_torch_s_own():
    convolution = td.torch.function(
        td.compile(
            "function (I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {"
            " O[n, y, x, co: N, H, W, CO] = +(I[n, y + j - 1, x + i - 1, ci] * K[j, i, ci, co]); }",
            device="pocl",
        )
    )
    pool = td.torch.function(
        td.compile(
            "function (I[N, H, W, C]) -> (O) {"
            " O[n, y, x, c: N, H / 2, W / 2, C] = >(I[n, 2*y + j, 2*x + i, c]), j < 2, i < 2; }",
            device="pocl",
        )
    )
    image, kernel = doubles((2, 6, 6, 3), (3, 3, 3, 4))
    (pool(convolution(image, kernel)) ** 2).sum().backward()
    ours = image.grad.clone(), kernel.grad.clone()
    image.grad = kernel.grad = None
    theirs = F.max_pool2d(
        F.conv2d(image.permute(0, 3, 1, 2), kernel.permute(3, 2, 0, 1), padding=1), 2
    )
    (theirs**2).sum().backward()
    # Both sum some 30 products in float64.
    for mine, reference in zip(ours, (image.grad, kernel.grad), strict=True):
        torch.testing.assert_close(mine, reference, rtol=1e-12, atol=1e-12)


def test_only_what_needs_a_gradient_gets_one():
    f = td.torch.function(td.compile("function (V, I) -> (O) { O = gather(V, I); }", device="pocl"))
    table = torch.ones(4, 2, requires_grad=True)
    f(table, torch.tensor([1, 1, 3])).sum().backward()
    assert table.grad.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_outputs_of_integers_have_no_gradient():
    f = td.torch.function(
        td.compile("function (A) -> (B, C) { B = A > 0; C = A * 2; }", device="pocl")
    )
    a = torch.tensor([-1.0, 2.0], requires_grad=True)
    signs, doubled = f(A=a)
    assert not signs.requires_grad
    doubled.sum().backward()
    assert a.grad.tolist() == [2, 2]


def test_tensors_of_other_layouts():
    f = td.torch.function(td.compile("function (A) -> (B) { B = A * 2; }", device="pocl"))
    a = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(f(a.T), a.T * 2)
    assert torch.equal(f(torch.tensor([1 + 2j]).conj().imag), torch.tensor([-4.0]))


@pytest.mark.parametrize(
    "tensor, words",
    [
        (torch.zeros(2, device="meta"), "A is on meta: move it to the CPU first"),
        (torch.zeros(2, dtype=torch.bfloat16), "A cannot be read as an array"),
        (torch.zeros(2).to_sparse(), "A cannot be read as an array"),
    ],
    ids=["meta", "bfloat16", "sparse"],
)
def test_what_is_refused(tensor, words):
    f = td.torch.function(td.compile("function (A) -> (B) { B = A * 2; }", device="pocl"))
    with pytest.raises(td.TileError, match=words):
        f(tensor)
    with pytest.raises(td.TileError, match="takes 1 inputs"):
        f(tensor, tensor)
