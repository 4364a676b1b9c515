"""Changes of parameters and buffers that stay on a device until they are asked for."""

from __future__ import annotations

import copy
import io

import pytest

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch.residence import residence  # noqa: E402

pytestmark = pytest.mark.usefixtures("reset")


@pytest.fixture(params=["simulator", "copying"])
def device(request, monkeypatch):
    """A simulator, or a device that keeps buffers and takes copies."""
    if request.param == "copying":
        monkeypatch.setattr(td.Device, "uses_host_memory", False)
        return td.devices()[0]
    found = [d for d in td.devices() if not d.uses_host_memory]
    if not found:
        pytest.skip("all devices work in the host's memory")
    return found[0]


@pytest.fixture
def backs(monkeypatch):
    """Names of the parameters that are copied back."""
    found = []
    back = residence.Resident.bring_back

    def told(own):
        if own.ahead is not None:
            found.append(own.name)
        back(own)

    monkeypatch.setattr(residence.Resident, "bring_back", told)
    return found


def compiled(model, device):
    return torch.compile(model, backend="tiledialect", options={"device": device.id})


class Cached(torch.nn.Module):
    """Sums inputs in a buffer."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 4)
        self.register_buffer("cache", torch.rand(3, 4))

    def forward(self, x):
        self.cache.add_(self.linear(x))
        return self.cache * 2


def steps(run, expected, count=4):
    with torch.no_grad():
        for _ in range(count):
            x = torch.rand(3, 6)
            torch.testing.assert_close(run(x), expected(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("back", ["to_host", "state_dict", "save"])
def test_changes_stay_on_the_device_until_asked_for(device, backs, back):
    model = Cached()
    own = td.torch.to_device(copy.deepcopy(model), keep_updates=True)
    before = own.cache.clone()
    run = compiled(own, device)
    steps(run, model)
    assert torch.equal(own.cache, before) and not backs
    if back == "to_host":
        assert td.torch.to_host(own) is own
    elif back == "state_dict":
        own.state_dict()
    else:
        torch.save({"model": own.state_dict()}, io.BytesIO())
    assert backs == ["cache"]
    torch.testing.assert_close(own.cache, model.cache, rtol=1e-4, atol=1e-4)
    # A change of the host's is taken again.
    for module in (own, model):
        module.cache.mul_(0.5)
    steps(run, model)
    td.torch.to_host(td.torch.to_host(own))
    assert backs == ["cache"] * 2
    torch.testing.assert_close(own.cache, model.cache, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("asks", ["call", "to_host", "state_dict"])
def test_changes_on_both_sides(device, asks):
    own = td.torch.to_device(Cached(), keep_updates=True)
    run = compiled(own, device)
    steps(run, copy.deepcopy(own), 3)
    own.cache.zero_()
    with torch.no_grad(), pytest.raises(td.TileError, match=r"^cache has been changed on the host"):
        if asks == "call":
            run(torch.rand(3, 6))
        else:
            td.torch.to_host(own) if asks == "to_host" else own.state_dict()
    # Copying anew forgets what is on the device alone.
    td.torch.to_device(own)
    with torch.no_grad():
        x = torch.rand(3, 6)
        torch.testing.assert_close(run(x), own.linear(x) * 2, rtol=1e-4, atol=1e-4)


def test_views_and_other_operators_see_changes(device):
    model = Cached()
    own = td.torch.to_device(copy.deepcopy(model), keep_updates=True)
    run, row = compiled(own, device), compiled(torch.mul, device)
    spectrum = compiled(lambda x: torch.view_as_real(torch.fft.fft(x.cos())).sum(-1), device)
    shown = compiled(lambda x: (x.add_(1), x[1:])[1], device)
    ours, theirs = own.cache, model.cache
    for _ in range(3):
        steps(run, model, 1)
        with torch.no_grad():
            torch.testing.assert_close(
                row(ours[1], ours[0]), theirs[1] * theirs[0], rtol=1e-4, atol=1e-4
            )
        steps(run, model, 1)
        with torch.no_grad():
            expected = torch.view_as_real(torch.fft.fft(theirs.cos())).sum(-1)
            torch.testing.assert_close(spectrum(ours), expected, rtol=1e-4, atol=1e-4)
            # PyTorch makes a view of its own memory.
            view = shown(ours)
            td.torch.to_host(own)
            torch.testing.assert_close(view, theirs.add_(1)[1:], rtol=1e-4, atol=1e-4)


def test_a_graph_changes_a_view_of_what_is_on_the_device(device):
    model = Cached()
    own = td.torch.to_device(copy.deepcopy(model), keep_updates=True)
    run, change = compiled(own, device), compiled(lambda x: x.add_(1), device)
    for _ in range(3):
        steps(run, model, 1)
        with torch.no_grad():
            change(own.cache[1:])
            model.cache[1:].add_(1)
    steps(run, model, 1)
    td.torch.to_host(own)
    torch.testing.assert_close(own.cache, model.cache, rtol=1e-4, atol=1e-4)


def test_profiles_see_changes(device):
    model = Cached()
    own = td.torch.to_device(copy.deepcopy(model), keep_updates=True)
    run = compiled(own, device)
    steps(run, model, 3)
    x = torch.rand(3, 6)
    with torch.no_grad():
        found, _ = td.torch.profile(run, x, repeat=2)
        torch.testing.assert_close(found, model(x), rtol=1e-4, atol=1e-4)
    steps(run, model, 2)
    td.torch.to_host(own)
    torch.testing.assert_close(own.cache, model.cache, rtol=1e-4, atol=1e-4)


def test_a_training_step_on_the_device(device, backs):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 1)
    )
    own = td.torch.to_device(copy.deepcopy(model), keep_updates=True)
    run = compiled(own, device)
    updates = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (own, model)]
    update = compiled(lambda: updates[0].step(), device)
    for _ in range(3):
        x = torch.rand(4, 3)
        for call, step, optimizer in (
            (run, update, updates[0]),
            (model, updates[1].step, updates[1]),
        ):
            optimizer.zero_grad()
            call(x).square().sum().backward()
            step()
    kept = {name for name, _ in own.named_parameters()} & {*backs}
    assert not kept
    torch.testing.assert_close(own.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)


class Step(torch.nn.Module):
    """A training step with momentum."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.means = torch.nn.ParameterList([torch.zeros_like(p) for p in model.parameters()])

    def forward(self, x):
        parameters, buffers = dict(self.model.named_parameters()), dict(self.model.named_buffers())

        def loss(*own):
            return torch.func.functional_call(self.model, own, x).square().sum()

        gradients, found = torch.func.grad_and_value(loss)(parameters, buffers)
        means = [*self.means]
        torch._foreach_mul_(means, 0.9)
        torch._foreach_add_(means, [*gradients.values()])
        torch._foreach_add_([*parameters.values()], means, alpha=-0.1)
        return found


def test_a_training_step_as_one_graph(device, backs):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 1)
    )
    own = td.torch.to_device(Step(copy.deepcopy(model)), keep_updates=True)
    options = {"device": device.id, "strict": True}
    step = torch.compile(own, backend="tiledialect", options=options, fullgraph=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        x = torch.rand(4, 3)
        with torch.no_grad():
            found = step(x)
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        torch.testing.assert_close(found, loss.detach(), rtol=1e-4, atol=1e-5)
    assert not backs
    torch.testing.assert_close(own.model.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)


def test_changes_by_the_host_after_changes_by_a_graph(device):
    """PyTorch counts the change of a graph before it calls it."""
    norm = torch.nn.BatchNorm1d(4)
    own, x = td.torch.to_device(copy.deepcopy(norm)), torch.rand(3, 4)
    train, infer = compiled(own, device), compiled(torch.mul, device)
    for _ in range(3):
        torch.testing.assert_close(train(x), norm(x), rtol=1e-4, atol=1e-4)
        with torch.no_grad():
            for module in (own, norm):
                module.running_mean.add_(1)
            expected = x * norm.running_mean
            torch.testing.assert_close(infer(x, own.running_mean), expected, rtol=1e-4, atol=1e-4)


def test_errors():
    with pytest.raises(td.TileError, match="to_host takes a"):
        td.torch.to_host(torch.rand(3))
