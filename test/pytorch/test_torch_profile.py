"""Profiles of compiled models by layer."""

from __future__ import annotations

import pytest

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.own_modules = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(2)])
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x):
        for block in self.own_modules:
            x = torch.relu(block(x))
        return self.norm(x)


def test_layers():
    model, x = Net(), torch.rand(2, 4)
    compiled = torch.compile(model, backend="tiledialect")
    with torch.no_grad():
        y, profile = td.torch.profile(compiled, x, repeat=2)
    torch.testing.assert_close(y, model(x))
    times = {t.layer: t.seconds for t in profile.layers.layers}
    assert {"own_modules.0", "own_modules.1", "norm"} <= set(times) <= {*times, "model"}
    assert sum(times.values()) == pytest.approx(profile.seconds)
    assert "own_modules.0" in str(profile.layers) and ">own_modules.0<" in profile.layers.svg
    _, step = td.torch.profile(lambda: compiled(x).sum().backward())
    assert {k.kernel.split("_")[0] for k in step.kernels} == {"forward", "backward"}
    assert {"own_modules.0", "own_modules.1", "norm"} <= {t.layer for t in step.layers.layers}


def test_profiles_in_profiles():
    compiled = torch.compile(Net(), backend="tiledialect")

    def run():
        with pytest.raises(td.TileError, match="nothing that"):
            td.torch.profile(lambda: None)
        return compiled(torch.rand(2, 4))

    with torch.no_grad():
        assert td.torch.profile(run)[1].kernels


def test_models_that_are_not_compiled():
    with pytest.raises(td.TileError, match="nothing that"):
        td.torch.profile(Net(), torch.rand(2, 4))


def test_other_things_than_calls():
    with pytest.raises(td.TileError, match="not int"):
        td.torch.profile(5)
