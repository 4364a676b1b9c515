"""`bench/models.py` on a small model, by the reference semantics."""

from __future__ import annotations

import argparse
import copy
import sys
from pathlib import Path

import pytest

from tiledialect.api.function import Function

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import models  # noqa: E402


@pytest.mark.parametrize("kind", models.KINDS)
@pytest.mark.parametrize("plain", (False, True), ids=("resident", "plain"))
@pytest.mark.covering(1)
def test_line(monkeypatch, kind, plain):
    to_device, moved = models.td.torch.to_device, []
    monkeypatch.setattr(
        models.td.torch, "to_device", lambda m, **own: moved.append(m) or to_device(m, **own)
    )
    monkeypatch.setattr(Function, "__call__", Function.reference)
    monkeypatch.setitem(
        models.MODELS,
        "tiny",
        lambda batch, is_small: (torch.nn.Linear(4, 3), (torch.ones(batch, 4),)),
    )
    given = dict.fromkeys(("onnx", "kernels", "cuda"), False)
    options = argparse.Namespace(
        device=None, peers=["eager"], rounds=1, small=True, plain=plain, **given
    )
    text = models.line("tiny", 2, options, kind)
    assert text.startswith("tiny")
    assert "first call" in text
    assert "eager" in text
    assert bool(moved) != plain


def test_a_step_is_that_of_an_optimizer():
    torch.manual_seed(0)
    model, x = torch.nn.Linear(4, 3), torch.randn(2, 4)
    step = models.Step(models.Loss(copy.deepcopy(model)))
    optimizer = torch.optim.SGD(model.parameters(), step.RATE, step.MOMENTUM)
    for _ in range(3):
        with torch.no_grad():
            found = step(x)
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        torch.testing.assert_close(found, loss.detach())
    torch.testing.assert_close(step.loss.model.state_dict(), model.state_dict())


def test_results_of_layers_that_begin_with_zeros_are_compared():
    layer = torch.nn.Linear(4, 3)
    for parameter in layer.parameters():
        torch.nn.init.zeros_(parameter)
    assert all(p.any() for p in models._without_zeros(layer).parameters())


def test_export_of_differences_and_running_sums():
    onnx = pytest.importorskip("onnx")
    reference = pytest.importorskip("onnx.reference")

    class Ends(torch.nn.Module):
        def forward(self, x):
            return (torch.diff(x, prepend=x[:, :1] - 1, dim=-1) != 1).cumsum(-1)

    x = torch.tensor([[0, 1, 2, 0, 1, 5]])
    file = onnx.load_from_string(models.exported(Ends(), (x,)))
    (found,) = reference.ReferenceEvaluator(file).run(None, {file.graph.input[0].name: x.numpy()})
    assert found.tolist() == Ends()(x).tolist() == [[0, 0, 0, 1, 1, 2]]


def test_a_graph_that_cannot_be_exported_is_not_printed(capfd):
    pytest.importorskip("onnxruntime")

    class Factors(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.qr(x)[0]

    assert models._by_onnxruntime(Factors(), (torch.ones(2, 2),)) is None
    assert capfd.readouterr().out.count("\n") == 1
