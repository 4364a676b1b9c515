"""Changes of parameters and buffers that PyTorch does not count."""

from __future__ import annotations

import copy
import pickle

import pytest

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
pytestmark = pytest.mark.usefixtures("reset")
OPTIMIZERS = {"SGD": torch.optim.SGD, "AdamW": torch.optim.AdamW}


@pytest.fixture(params=[True, False], ids=["in host", "copies"])
def device(request, monkeypatch):
    """A device, as one that takes copies, too."""
    if not request.param:
        monkeypatch.setattr(td.Device, "uses_host_memory", False)
    return td.devices()[0].id


def compiled(function, device):
    return torch.compile(function, backend="tiledialect", options={"device": device})


def check(run, model, x):
    with torch.no_grad():
        torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("is_compiled", [False, True], ids=["step", "compiled step"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_fused_optimizers(device, name, is_compiled):
    model = td.torch.to_device(torch.nn.Linear(64, 64))
    optimizer = OPTIMIZERS[name](model.parameters(), lr=0.1, fused=True)
    run, x = compiled(model, device), torch.rand(3, 64)
    step = compiled(optimizer.step, device) if is_compiled else optimizer.step
    for _ in range(3):
        check(run, model, x)
        model(x).sum().backward()
        step()
    check(run, model, x)


@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
def test_statistics_of_batches_in_eager_mode(device):
    model = torch.nn.Sequential(torch.nn.Conv1d(2, 3, 1), torch.nn.BatchNorm1d(3))
    model = pickle.loads(pickle.dumps(td.torch.to_device(model)))
    model = copy.deepcopy(td.torch.to_device(model))
    run, x = compiled(td.torch.to_device(model), device), torch.rand(4, 2, 5)
    for _ in range(3):
        check(run, model.eval(), x)
        model.train()(5 * x)
    check(run, model.eval(), x)
    assert len(model[1]._forward_hooks) == 1
