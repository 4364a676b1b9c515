"""Models of one architecture, and inputs of several shapes, by turns."""

from __future__ import annotations

import copy
import gc
import weakref
from threading import Thread

import pytest

import tiledialect as td
from tiledialect.api.packing.packing import Packer

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from torch.multiprocessing.reductions import StorageWeakRef  # noqa: E402

from tiledialect.torch import graphs, last_calls, parts  # noqa: E402

HOST, COPYING = "host", "copying"
KINDS = pytest.mark.parametrize("kind", [HOST, COPYING])

pytestmark = pytest.mark.usefixtures("reset")


@pytest.fixture
def device(kind, request):
    """A device that works in the host's memory, or takes copies."""
    return request.getfixturevalue("copying") if kind == COPYING else td.devices()[0]


@pytest.fixture
def made(monkeypatch):
    """The bound calls that were made, by weak references."""
    found = []
    of_call = graphs.bound_call

    def kept(*args):
        own = of_call(*args)
        found.append(weakref.ref(own))
        return own

    monkeypatch.setattr(graphs, "bound_call", kept)
    return found


def alive(made):
    gc.collect()
    return sum(own() is not None for own in made)


class Packed(torch.nn.Module):
    """A product with a parameter, and a factor that is computed of another alone."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 4)
        self.register_buffer("scale", torch.rand(4))

    def forward(self, x):
        return self.linear(x) * self.scale.reshape(2, 2).sum(0).sum()


class Counting(torch.nn.Module):
    """A model that changes a buffer at each call."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 4)
        self.register_buffer("count", torch.rand(4))

    def forward(self, x):
        found = self.linear(x) * self.count
        self.count.add_(1)
        return found


def compiled(model, device):
    return torch.compile(model, backend="tiledialect", options={"device": device.id}, dynamic=True)


def resident(make, count):
    """Models on a device."""
    return [td.torch.to_device(make()) for _ in range(count)]


def by_turns(models, device, rounds, sizes=(3,)):
    """Call models by turns with inputs of some sizes, and compare with PyTorch."""
    with torch.no_grad():
        for _ in range(rounds):
            for size in sizes:
                for model in models:
                    x = torch.rand(size, 6)
                    torch.testing.assert_close(compiled(model, device)(x), model(x))


@KINDS
def test_models_by_turns_are_bound_once_each(made, device):
    by_turns(resident(Packed, 3), device, 4)
    assert len(made) == 3


def test_parameters_that_are_on_no_device(made):
    by_turns([Packed(), Packed()], td.devices()[0], 3)
    assert len(made) == 2


@KINDS
def test_inputs_of_several_shapes_by_turns_are_bound_once_each(made, device):
    by_turns(resident(Packed, 2), device, 3, (3, 5, 2))
    assert len(made) == 6


@KINDS
def test_the_calls_that_are_kept_are_few(made, device, monkeypatch):
    monkeypatch.setattr(last_calls, "MOST", 2)
    models = resident(Packed, 3)
    by_turns(models, device, 2)
    # Of three by turns the next one is always the one that was dropped.
    assert len(made) == 6 and alive(made) == 2
    by_turns(models[:2], device, 2)
    assert len(made) == 8


@KINDS
def test_the_newest_call_stays(made, device, monkeypatch):
    monkeypatch.setattr(last_calls, "MOST", 2)
    first, second, third = resident(Packed, 3)
    by_turns([first, second, first, third, first], device, 1)
    assert len(made) == 3


@KINDS
def test_weights_that_change_between_turns(made, device):
    models = resident(Packed, 2)
    for changed in ((), *([own] for own in models), models):
        for model in changed:
            with torch.no_grad():
                for own in (*model.parameters(), model.scale):
                    own.add_(1)
        by_turns(models, device, 2)
    # Each time that something was computed of other numbers, in the place of the call before.
    assert len(made) == 6 and alive(made) == 2


@KINDS
def test_weights_in_other_memory_between_turns(made, device):
    models = resident(Packed, 2)
    for _ in range(4):
        by_turns(models, device, 2)
        models[0].scale.data = torch.rand(4)
        td.torch.to_device(models[0])
    # Nobody has the memory that the calls before were for.
    assert len(made) == 5 and alive(made) == 2


@KINDS
@pytest.mark.parametrize("keep_updates", [False, True])
def test_buffers_that_models_change_by_turns(made, device, keep_updates):
    models = [Counting() for _ in range(2)]
    own = [td.torch.to_device(copy.deepcopy(m), keep_updates=keep_updates) for m in models]
    with torch.no_grad():
        for size in (3, 5) * 3:
            for ours, theirs in zip(own, models, strict=True):
                x = torch.rand(size, 6)
                torch.testing.assert_close(compiled(ours, device)(x), theirs(x))
        for ours, theirs in zip(own, models, strict=True):
            torch.testing.assert_close(ours.state_dict(), theirs.state_dict())
    assert len(made) == 4


@KINDS
@pytest.mark.parametrize("keep_updates", [False, True])
def test_training_by_turns(made, device, keep_updates):
    def network():
        layers = torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Tanh()
        return torch.nn.Sequential(*layers, torch.nn.Linear(8, 2))

    models = [network() for _ in range(2)]
    own = [td.torch.to_device(copy.deepcopy(m), keep_updates=keep_updates) for m in models]
    pairs = [*zip(own, models, strict=True)]
    optimizers = [[torch.optim.SGD(m.parameters(), lr=0.1) for m in pair] for pair in pairs]
    curves = [], []
    for size in (4, 7) * 3:
        for (ours, theirs), both in zip(pairs, optimizers, strict=True):
            x = torch.rand(size, 6)
            for run, rate, curve in zip(
                (compiled(ours, device), theirs), both, curves, strict=True
            ):
                rate.zero_grad()
                loss = run(x).square().sum()
                loss.backward()
                rate.step()
                curve.append(loss.item())
    # Sums in another order, through three steps each.
    torch.testing.assert_close(*curves, rtol=1e-4, atol=1e-5)
    for ours, theirs in pairs:
        state = td.torch.to_host(ours).state_dict()
        torch.testing.assert_close(state, theirs.state_dict(), rtol=1e-4, atol=1e-4)
    # Forward and backward of two models with two sizes.
    assert len(made) == 8


@KINDS
def test_losses_of_two_models_at_once(made, device):
    def network():
        return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    models = [network() for _ in range(2)]
    own = [td.torch.to_device(copy.deepcopy(model)) for model in models]
    for _ in range(3):
        x = torch.rand(4, 6)
        for run in ([compiled(m, device) for m in own], models):
            (run[0](x) * run[1](x)).sum().backward()
    for ours, theirs in zip(own, models, strict=True):
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)
    assert len(made) == 4


def test_what_is_computed_of_parameters_is_shared_by_shapes(monkeypatch):
    runs = []
    results = Packer.results
    monkeypatch.setattr(Packer, "results", lambda *args: runs.append(1) or results(*args))
    first, second = resident(Packed, 2)
    device = td.devices()[0]
    by_turns([first], device, 1)
    count = len(runs)
    by_turns([second, first, second], device, 2, (3, 5))
    assert count and len(runs) == 2 * count


@KINDS
def test_nothing_is_kept_of_a_model_that_is_gone(made, device):
    models = resident(Packed, 2)
    before = {*parts._shared.values()}
    by_turns(models, device, 2, (3, 5))
    of_models = weakref.WeakSet({*parts._shared.values()} - before)
    assert len(of_models) == 2 and alive(made) == 4
    gone = [*map(weakref.ref, (*models[1].parameters(), *models[1].buffers()))]
    storages = [StorageWeakRef(own().untyped_storage()) for own in gone]
    del before, models[1]
    gc.collect()
    assert not any(own() is not None for own in gone)
    assert all(own.expired() for own in storages)
    assert len(of_models) == 1 and alive(made) == 2
    # The other model has its calls.
    by_turns(models, device, 1, (3, 5))
    assert len(made) == 4
    models.clear()
    gc.collect()
    assert not of_models and not alive(made)


def test_kernels_hold_no_memory_of_a_model_that_is_gone(made, copying):
    (model,) = models = resident(Packed, 1)
    by_turns(models, copying, 2)
    executable = made[0]()._executable
    assert any(executable.last_given)
    del model
    models.clear()
    gc.collect()
    assert not any(executable.last_given)


@KINDS
def test_the_newest_call_alone_has_memory_for_results(made, device):
    (model,) = resident(Packed, 1)
    run = compiled(model, device)
    with torch.no_grad():
        for size in (3, 5, 3, 5):
            found = StorageWeakRef(run(torch.rand(size, 6)).untyped_storage())
            run(torch.rand(size, 6))
            assert not found.expired()
            run(torch.rand(2, 6))
            assert found.expired()
    assert len(made) == 3


def test_threads_with_models_and_shapes(made):
    models, device = resident(Packed, 2), td.devices()[0]
    by_turns(models, device, 1, (3, 5))
    wrong = []

    def call(model, size):
        for _ in range(50):
            x = torch.rand(size, 6)
            with torch.no_grad():
                if not torch.allclose(compiled(model, device)(x), model(x), rtol=1e-4, atol=1e-5):
                    wrong.append(size)

    threads = [Thread(target=call, args=(m, size)) for m in models for size in (3, 3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and alive(made) <= last_calls.MOST
