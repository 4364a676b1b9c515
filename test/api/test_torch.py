"""The bridge to PyTorch, against its own gradients and its numerical check."""

from __future__ import annotations

import copy
import io
import subprocess
import sys
from pathlib import Path

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
    f = td.torch.function(td.compile(source))
    inputs = doubles(*shapes)
    assert torch.autograd.gradcheck(f, inputs)
    assert torch.autograd.gradgradcheck(f, inputs)


def test_a_network_like_torch_s_own():
    convolution = td.torch.function(
        td.compile(
            "function (I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {"
            " O[n, y, x, co: N, H, W, CO] = +(I[n, y + j - 1, x + i - 1, ci] * K[j, i, ci, co]); }",
        )
    )
    pool = td.torch.function(
        td.compile(
            "function (I[N, H, W, C]) -> (O) {"
            " O[n, y, x, c: N, H / 2, W / 2, C] = >(I[n, 2*y + j, 2*x + i, c]), j < 2, i < 2; }",
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


def read_by_torch(pictures, labels, k1, b1, k2, b2, k3, b3, dense, b4):
    """The network of examples/digits.tile, as PyTorch has its parts."""
    x = F.relu(F.conv2d(pictures[:, None], k1.permute(2, 0, 1)[:, None], b1, padding=1))
    x = F.relu(F.conv2d(x, k2.permute(3, 2, 0, 1), b2, padding=2, dilation=2))
    x = F.max_pool2d(x, 2)
    x = F.relu(F.conv2d(x, k3.permute(3, 2, 0, 1), b3, padding=1, stride=2))
    scores = torch.einsum("ncyx,yxck->nk", x, dense) + b4
    hits = (scores.argmax(1) == labels).sum()
    return F.cross_entropy(scores, labels.long()), hits


def test_the_network_that_reads_digits_has_torch_s_gradients():
    source = Path(__file__).parents[2] / "examples" / "digits.tile"
    ours = td.torch.function(td.compile(source))
    shapes = [(3, 3, 2), (2,), (3, 3, 2, 3), (3,), (3, 3, 3, 4), (4,), (2, 2, 4, 10), (10,)]
    pictures, *weights = doubles((5, 8, 8), *shapes)
    labels = torch.tensor([3, 1, 4, 1, 5], dtype=torch.int32)
    results = []
    for network in (ours, read_by_torch):
        loss, hits = network(pictures, labels, *weights)
        slopes = torch.autograd.grad(loss, [pictures, *weights])
        results.append((loss.detach(), hits, *slopes))
    assert not ours(pictures, labels, *weights)[1].requires_grad
    # Sums of at most 640 products in float64.
    for mine, theirs in zip(*results, strict=True):
        torch.testing.assert_close(mine, theirs.to(mine.dtype), rtol=1e-11, atol=1e-11)


def test_only_what_needs_a_gradient_gets_one():
    f = td.torch.function(td.compile("function (V, I) -> (O) { O = gather(V, I); }"))
    table = torch.ones(4, 2, requires_grad=True)
    f(table, torch.tensor([1, 1, 3])).sum().backward()
    assert table.grad.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_outputs_of_integers_have_no_gradient():
    f = td.torch.function(td.compile("function (A) -> (B, C) { B = A > 0; C = A * 2; }"))
    a = torch.tensor([-1.0, 2.0], requires_grad=True)
    signs, doubled = f(A=a)
    assert not signs.requires_grad
    doubled.sum().backward()
    assert a.grad.tolist() == [2, 2]


def test_tensors_of_other_layouts():
    f = td.torch.function(td.compile("function (A) -> (B) { B = A * 2; }"))
    a = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(f(a.T), a.T * 2)
    assert torch.equal(f(torch.tensor([1 + 2j]).conj().imag), torch.tensor([-4.0]))


def test_dense_tensors_are_read_where_they_are():
    a = torch.arange(6.0)[1:]
    assert np.shares_memory(td.torch.tensors.array_of("A", a), a.numpy())


def test_what_is_no_tensor():
    f = td.torch.function(td.compile("function (A, B) -> (C) { C = A * B; }"))
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    frozen = np.broadcast_to(np.float32(3), 2)
    for other in (3, 3.0, [3, 3], frozen, np.array([3, 3], ">f4")):
        (slope,) = torch.autograd.grad(f(a, other).sum(), a)
        assert slope.tolist() == [3, 3]


def test_torch_func():
    f = td.torch.function(td.compile("function (A) -> (B) { B = A * A; }"))
    a = torch.tensor([1.0, 2.0])
    assert torch.func.grad(lambda x: f(x).sum())(a).tolist() == [2, 4]


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((4,), 2.0))
        self.apply_scale = td.torch.function("function (A, S) -> (B) { B = A * S * A; }")

    def forward(self, x):
        return torch.relu(self.apply_scale(x, self.scale)).sum()


def test_a_module_that_holds_one_is_copied_and_saved():
    module, x = Scaled(), torch.arange(12.0).reshape(3, 4)
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    for again in (copy.deepcopy(module), torch.load(file, weights_only=False)):
        assert torch.equal(again(x), module(x))
    state = module.state_dict()
    assert list(state) == ["scale"]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_by_torch(backend: str):
    module, x = Scaled(), torch.arange(12.0).reshape(3, 4)
    (wanted,) = torch.autograd.grad(module(x), module.scale)
    torch._dynamo.reset()
    compiled = torch.compile(module, backend=backend, fullgraph=True)
    for rows in (3, 2):
        assert torch.equal(compiled(x[:rows]), module(x[:rows]))
    (found,) = torch.autograd.grad(compiled(x), module.scale)
    assert torch.equal(found, wanted)


def test_exported_programs_hold_what_they_call():
    module, x = Scaled(), torch.arange(12.0).reshape(3, 4)
    file = io.BytesIO()
    torch.export.save(torch.export.export(module, (x,)), file)
    code = (
        "import io, sys, torch, tiledialect.torch\n"
        "module = torch.export.load(io.BytesIO(sys.stdin.buffer.read())).module()\n"
        "print(module(torch.arange(12.0).reshape(3, 4)).item())\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    result = subprocess.run(command, input=file.getvalue(), capture_output=True)
    assert float(result.stdout) == module(x).item(), result.stderr.decode()


def test_as_an_operator_of_pytorch():
    f = td.torch.function("function (A, B) -> (C, D) { C = A * B; D = A > B; }")
    torch.library.opcheck(torch.ops.tiledialect.call, (f._program, doubles((2, 3), (3,))))
    with pytest.raises(td.TileError, match="not of the form"):
        torch.ops.tiledialect.call("{}", [])


def test_autocast_changes_nothing():
    f = td.torch.function(
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"
    )
    a, b = torch.ones(2, 3), torch.ones(3, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (a @ b).dtype == torch.bfloat16
        assert f(a, b).dtype == torch.float32


def test_what_can_be_read_of_one():
    source = "function square(A) -> (B) { B = A * A; }"
    f = td.torch.function(source)
    assert (f.__name__, f.inputs, f.outputs) == ("square", ("A",), ("B",))
    assert repr(f) == "<TorchFunction of <Function square (A) -> (B)>>"
    assert f.tile == f.function.tile
    assert f.explanation(torch.ones(3)) == f.function.explanation(np.ones(3, np.float32))


def test_writing_to_what_backward_needs_is_noticed():
    f = td.torch.function(td.compile("function (A) -> (B) { B = A * A; }"))
    a = torch.ones(2, requires_grad=True) * 1
    b = f(a).sum()
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        b.backward()


@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_bfloat16(shape: tuple[int, ...]):
    f = td.torch.function("function (A) -> (B) { B = A * A; }")
    a = torch.full(shape, 3, dtype=torch.bfloat16, requires_grad=True)
    b = f(a)
    assert b.dtype == torch.bfloat16 and (b == 9).all()
    b.sum().backward()
    assert a.grad is not None and a.grad.dtype == torch.bfloat16 and (a.grad == 6).all()
    plain = td.compile("function (A) -> (B) { B = A + 1; }")(torch.ones(4, dtype=torch.bfloat16))
    assert plain.dtype == "bfloat16" and (plain == 2).all()


def test_without_pytorch_it_says_what_to_install():
    code = "import sys; sys.modules['torch'] = None; import tiledialect as td; td.torch"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr.strip().endswith(
        "ImportError: td.torch needs PyTorch: pip install 'tiledialect[torch]'"
    )


@pytest.mark.parametrize(
    "tensor, words",
    [
        (torch.zeros(2, device="meta"), "A is on meta: move it to the CPU first"),
        (torch.zeros(2).to_sparse(), "A cannot be read as an array"),
        (torch.zeros(2, dtype=torch.complex64), "A holds complex numbers"),
        ("text", "A is a str, not an array of numbers"),
        ([[1], [1, 2]], "A cannot be made an array"),
    ],
    ids=["meta", "sparse", "complex", "text", "ragged"],
)
def test_what_is_refused(tensor, words):
    f = td.torch.function(td.compile("function (A) -> (B) { B = A * 2; }"))
    with pytest.raises(td.TileError, match=words):
        f(tensor)
    with pytest.raises(td.TileError, match="takes 1 input "):
        f(tensor, tensor)
