"""Calls of inference with the parameters of the call before."""

from __future__ import annotations

import copy
import gc
import weakref

import pytest

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch import bound_calls, graphs  # noqa: E402

DEVICES = pytest.mark.parametrize("device", td.devices(), ids=lambda d: d.id)


pytestmark = pytest.mark.usefixtures("reset")


@pytest.fixture
def bound(monkeypatch):
    """Whether each call of a graph took the arguments of the call before."""
    found = []
    again = graphs.CompiledGraph._again

    def recorded(graph, values):
        results = again(graph, values)
        found.append(results is not None)
        return results

    monkeypatch.setattr(graphs.CompiledGraph, "_again", recorded)
    return found


class Scaled(torch.nn.Module):
    """A product with a parameter that is seen as it is, and one that may be packed."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 4)
        self.register_buffer("scale", torch.rand(4))

    def forward(self, x):
        return self.linear(x) * self.scale


def compiled(model, device):
    return torch.compile(model, backend="tiledialect", options={"device": device.id})


def check(run, model, *inputs):
    with torch.no_grad():
        torch.testing.assert_close(run(*inputs), model(*inputs))


@DEVICES
def test_parameters_that_stay_are_bound_once(bound, device):
    model = td.torch.to_device(Scaled())
    run = compiled(model, device)
    for _ in range(3):
        check(run, model, torch.rand(3, 6))
    assert bound == [False, True, True]
    # Another layout is another input, whose address and values are the call's.
    for _ in range(2):
        check(run, model, torch.rand(6, 3).t())
    assert bound == [False, True, True, False, True]


@DEVICES
def test_parameters_that_change_are_bound_anew(bound, device):
    model = td.torch.to_device(Scaled())
    run, x = compiled(model, device), torch.rand(3, 6)

    def in_place():
        model.scale.add_(1)

    def other_memory():
        model.linear.weight.data = torch.rand(4, 6)

    def behind_its_back():
        model.scale.data.add_(1)
        td.torch.to_device(model)

    for change in (in_place, other_memory, behind_its_back):
        check(run, model, x)
        check(run, model, x)
        assert bound[-1]
        change()
        check(run, model, x)
        assert not bound[-1]


@DEVICES
def test_parameters_that_all_change_are_bound_again(bound, device):
    model = td.torch.to_device(Scaled())
    run, x = compiled(model, device), torch.rand(3, 6)
    check(run, model, x)
    with torch.no_grad():
        for own in (*model.parameters(), model.scale):
            own.add_(1)
    for _ in range(3):
        check(run, model, x)
    assert bound == [False, False, True, True]


class Counting(Scaled):
    """A model that changes a buffer at each call, of which more may be computed alone."""

    def __init__(self, is_packed):
        super().__init__()
        self.is_packed = is_packed

    def forward(self, x):
        factor = self.scale.reshape(2, 2).sum(0).sum() if self.is_packed else 1.0
        found = self.linear(x) * self.scale * factor
        self.scale.add_(found[0])
        return found


@DEVICES
@pytest.mark.parametrize("is_packed", [False, True])
def test_buffers_that_a_model_changes_are_bound(bound, device, is_packed):
    model = Counting(is_packed)
    own = td.torch.to_device(copy.deepcopy(model))
    run = compiled(own, device)
    for _ in range(4):
        x = torch.rand(3, 6)
        with torch.no_grad():
            torch.testing.assert_close(run(x), model(x))
            torch.testing.assert_close(own.scale, model.scale)
    # On a device with memory of its own the second call sees that the buffer changes.
    assert bound == [False, device.uses_host_memory, True, True]


@pytest.fixture
def copying(monkeypatch):
    """A device that keeps buffers, and takes copies."""
    monkeypatch.setattr(td.Device, "uses_host_memory", False)
    return td.devices()[0]


@pytest.mark.parametrize("is_packed", [False, True])
def test_buffers_that_a_model_changes_have_copies(bound, copying, is_packed):
    model = Counting(is_packed)
    own = td.torch.to_device(copy.deepcopy(model))
    run = compiled(own, copying)
    for k in range(6):
        x = torch.rand(3, 6)
        with torch.no_grad():
            # Sums that cancel grow with each call.
            torch.testing.assert_close(run(x), model(x), rtol=1e-3, atol=1e-4)
            torch.testing.assert_close(own.scale, model.scale, rtol=1e-3, atol=1e-4)
            if k > 2:
                # The copy is another one.
                new = torch.rand(4)
                own.scale.copy_(new)
                model.scale.copy_(new)
    assert bound == [False, False, True, True, True, True]


def test_calls_of_other_functions_between_calls(copying):
    first, second = (td.torch.to_device(Scaled()) for _ in range(2))
    runs = [compiled(model, copying) for model in (first, second)]
    # Buffers grow with the inputs, and all kernels get the new ones.
    for n in (3, 3, 50, 50):
        for run, model in zip(runs, (first, second), strict=True):
            check(run, model, torch.rand(n, 6))
            check(runs[0], first, torch.rand(3, 6))
            check(runs[0], first, torch.rand(3, 6))


class Sides(torch.nn.Module):
    """Has two results, of which one has no elements for some inputs."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(6))

    def forward(self, x):
        return x * self.scale, x[1:] + self.scale


def test_results_without_elements(bound, copying):
    model = td.torch.to_device(Sides())
    run = compiled(model, copying)
    for n in (1, 1, 0, 0, 4, 4):
        check(run, model, torch.rand(n, 6))
    assert bound[1::2] == [True] * 3


def test_an_input_that_shares_a_parameters_memory_is_not_bound(bound):
    model = td.torch.to_device(torch.nn.Linear(6, 6))
    run = compiled(model, td.devices()[0])
    for _ in range(2):
        check(run, model, model.weight.data)
        with torch.no_grad():
            model.weight.add_(1)
    check(run, model, model.weight.data)
    assert not any(bound)


def test_random_numbers_are_drawn_for_each_call(bound):
    model = td.torch.to_device(torch.nn.Sequential(torch.nn.Linear(6, 64), torch.nn.Dropout()))
    run, x = compiled(model.train(), td.devices()[0]), torch.rand(3, 6)
    with torch.no_grad():
        first, second = run(x), run(x)
    assert not torch.equal(first, second) and not any(bound)


def test_profiles_measure_bound_calls_too():
    model = td.torch.to_device(Scaled())
    run, x = compiled(model, td.devices()[0]), torch.rand(3, 6)
    for _ in range(2):
        check(run, model, x)
    with torch.no_grad():
        assert td.torch.profile(run, x)[1].kernels


def test_memory_of_a_model_that_is_gone_is_freed(monkeypatch):
    made = []
    of_call = bound_calls.bound_call

    def kept(*args):
        found = of_call(*args)
        made.append(weakref.ref(found))
        return found

    monkeypatch.setattr(graphs, "bound_call", kept)
    model = td.torch.to_device(Scaled())
    check(compiled(model, td.devices()[0]), model, torch.rand(3, 6))
    assert made[0]() is not None
    del model
    gc.collect()
    assert made[0]() is None
