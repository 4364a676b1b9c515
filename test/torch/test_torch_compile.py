"""``torch.compile(model, backend="tiledialect")`` against eager PyTorch."""

from __future__ import annotations

import pytest

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
nn = torch.nn


@pytest.fixture(autouse=True)
def fresh():
    """Nothing compiled by another test."""
    torch._dynamo.reset()
    torch.manual_seed(0)


def compiled(model, device, **options):
    return torch.compile(
        model, backend="tiledialect", options={"device": device.id, "strict": True, **options}
    )


def agree(found, expected):
    # Sums are in another order than eager's: a few roundings of f32.
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def check(model, *inputs, device):
    """Compare outputs and gradients."""
    expected = model(*inputs)
    expected.square().sum().backward()
    gradients = {k: p.grad.clone() for k, p in model.named_parameters()}
    model.zero_grad()
    found = compiled(model, device)(*inputs)
    agree(found, expected)
    found.square().sum().backward()
    for name, p in model.named_parameters():
        agree(p.grad, gradients[name])


def test_perceptron(device: td.Device):
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))
    check(model, torch.randn(3, 8), device=device)
