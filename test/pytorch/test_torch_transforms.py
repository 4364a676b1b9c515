"""PyTorch's function transforms of Tile functions, against the same of PyTorch's own operators."""

from __future__ import annotations

import pytest

import tiledialect as td
from tiledialect.api.function import Function

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from torch.func import (  # noqa: E402
    functional_call,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

OURS = td.torch.function(
    td.compile("function (X[N], W[N, M]) -> (Y) { P[m: M] = +(X[n] * W[n, m]); Y = tanh(P) * P; }")
)
LOSS = td.torch.function(td.compile("function (X, T) -> (L) { D = X - T; L[] = +(D[n] * D[n]); }"))


def theirs(x, w):
    p = x @ w
    return torch.tanh(p) * p


def our_loss(x, w):
    return LOSS(OURS(x, w), torch.ones(2, dtype=x.dtype))


def their_loss(x, w):
    return ((theirs(x, w) - 1) ** 2).sum()


def doubles(*shapes):
    generator = torch.Generator().manual_seed(3)
    return [torch.rand(s, dtype=torch.float64, generator=generator) for s in shapes]


X, W = doubles((3,), (3, 2))
XS, WS = doubles((4, 3), (3, 2, 4))
T, V = doubles((3,), (3, 2))

TRANSFORMED = {
    "vmap": lambda f, g: vmap(f, (0, None))(XS, W),
    "vmap of both": lambda f, g: vmap(f, (0, -1), 1)(XS, WS),
    "vmap of vmap": lambda f, g: vmap(vmap(f, (None, -1)), (0, None))(XS, WS),
    "jvp": lambda f, g: jvp(f, (X, W), (T, V)),
    "vmap of grad": lambda f, g: vmap(grad(g, (0, 1)), (0, None))(XS, W),
    "grad of vmap": lambda f, g: grad(lambda w: vmap(g, (0, None))(XS, w).sum())(W),
    "jacfwd": lambda f, g: jacfwd(f, (0, 1))(X, W),
    "jacrev": lambda f, g: jacrev(f, (0, 1))(X, W),
    "hessian": lambda f, g: hessian(g)(X, W),
    "reverse over reverse": lambda f, g: jacrev(jacrev(g))(X, W),
    "vjp of jvp": lambda f, g: vjp(lambda x: jvp(f, (x, W), (T, V))[1], X)[1](
        torch.ones(2).double()
    ),
    "jvp of vmap": lambda f, g: jvp(vmap(f, (0, None)), (XS, W), (XS, V)),
}


@pytest.fixture
def by_reference(monkeypatch):
    """Functions run by the reference semantics, which takes no compilation."""
    monkeypatch.setattr(Function, "__call__", Function.reference)


@pytest.mark.usefixtures("by_reference")
@pytest.mark.parametrize("name", TRANSFORMED)
def test_transforms(name):
    ours, wanted = TRANSFORMED[name](OURS, our_loss), TRANSFORMED[name](theirs, their_loss)
    # Sums of a few products in float64.
    torch.testing.assert_close(ours, wanted, rtol=1e-11, atol=1e-12)


def test_dual_numbers():
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(X, T)
        ours = torch.autograd.forward_ad.unpack_dual(OURS(x, W)).tangent
        wanted = torch.autograd.forward_ad.unpack_dual(theirs(x, W)).tangent
    torch.testing.assert_close(ours, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.usefixtures("by_reference")
def test_forward_mode_by_torch_s_numerical_check():
    x, w = (t.clone().requires_grad_() for t in (X, W))
    assert torch.autograd.gradcheck(OURS, (x, w), check_forward_ad=True)


@pytest.mark.usefixtures("by_reference")
def test_outputs_of_integers():
    f = td.torch.function(
        td.compile("function (X[N]) -> (Y, B, I) { Y = X * X; B = X > 1; I = index(X, 0); }")
    )
    y, b, i = vmap(f)(XS)
    assert torch.equal(y, XS * XS) and torch.equal(b, XS > 1) and i.shape == (4, 3)
    with torch.autograd.forward_ad.dual_level():
        results = f(torch.autograd.forward_ad.make_dual(X, T))
        tangents = [torch.autograd.forward_ad.unpack_dual(r).tangent for r in results]
    torch.testing.assert_close(tangents[0], 2 * X * T)
    assert tangents[1] is None and tangents[2] is None


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(3, 2))

    def forward(self, x):
        return OURS(x, self.weight)


def test_ensembles_of_modules():
    models = [Layer() for _ in range(2)]
    parameters, buffers = stack_module_state(models)
    x = torch.rand(3)
    found = vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(parameters, buffers)
    torch.testing.assert_close(found, torch.stack([m(x) for m in models]))


def test_compiled():
    compiled = torch.compile(vmap(OURS, (0, None)), fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(XS, W), vmap(theirs, (0, None))(XS, W))


def test_training_on_second_derivatives():
    """Of a network's residual: PyTorch's graph has zeros without memory."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    points = torch.rand(7, 2)

    def loss(points):
        curvature = vmap(hessian(lambda p: net(p)[0]))(points)
        return (curvature[:, 0, 0] - vmap(grad(lambda p: net(p)[0]))(points)[:, 1]).square().mean()

    parameters = [*net.parameters()]
    expected = torch.autograd.grad(loss(points), parameters, allow_unused=True)
    compiled = torch.compile(loss, backend="tiledialect", options={"strict": True})
    for _ in range(2):
        found = torch.autograd.grad(compiled(points), parameters, allow_unused=True)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_batches_of_older_transforms_are_refused():
    x, w = torch.ones(3), torch.ones(3, 2)
    with pytest.raises(td.TileError, match=r"DY is a batch of .* use torch\.vmap"):
        torch.autograd.functional.jacobian(lambda x: OURS(x, w), x, vectorize=True)
