"""Calls of inference and of training with the parameters of the call before."""

from __future__ import annotations

import copy

import pytest

import tiledialect as td
from tiledialect.lowering.runtime.call.launch import Executable
from tiledialect.lowering.runtime.device.queue_state import state_of
from tiledialect.lowering.runtime.device.queues import queue_for

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch import graphs, last_calls  # noqa: E402

DEVICES = pytest.mark.parametrize("device", td.devices(), ids=lambda d: d.id)


pytestmark = pytest.mark.usefixtures("reset")


@pytest.fixture
def bound(monkeypatch):
    """Whether each call of a graph took the arguments of the call before."""
    found = []
    again = graphs.CompiledGraph._again

    def recorded(graph, values, counts):
        results = again(graph, values, counts)
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
def test_functions_without_parameters_are_bound(bound, device):
    run = compiled(torch.sin, device)
    for _ in range(3):
        check(run, torch.sin, torch.rand(3, 6))
    assert bound == [False, True, True]


@DEVICES
def test_bound_calls_that_were_dropped_leave_their_kernels(monkeypatch, device):
    made = []
    kernel_of = Executable.kernel_of

    def counted(own, launch):
        made.append(launch)
        return kernel_of(own, launch)

    monkeypatch.setattr(Executable, "kernel_of", counted)
    monkeypatch.setattr(last_calls, "MOST", 1)
    model = td.torch.to_device(Scaled())
    run = torch.compile(model, backend="tiledialect", options={"device": device.id}, dynamic=True)
    for _ in range(10):
        for rows in (3, 4):
            check(run, model, torch.rand(rows, 6))
    # By the device's threads, and by the caller alone, whose time is compared.
    assert len(made) <= 2 * len({*map(id, made)})


@DEVICES
def test_parameters_in_other_memory_are_bound_anew(bound, device):
    model = td.torch.to_device(Scaled())
    run, x = compiled(model, device), torch.rand(3, 6)

    def other_memory():
        model.linear.weight.data = torch.rand(4, 6)

    def behind_its_back():
        model.scale.data.add_(1)
        td.torch.to_device(model)

    for change in (other_memory, behind_its_back):
        check(run, model, x)
        check(run, model, x)
        assert bound[-1]
        change()
        check(run, model, x)
        assert not bound[-1] or (device.uses_host_memory and change is behind_its_back)


class Packed(Scaled):
    """A model of which a part is computed of parameters alone."""

    def forward(self, x):
        return self.linear(x) * self.scale.reshape(2, 2).sum(0).sum()


@DEVICES
@pytest.mark.parametrize("kind", [Scaled, Packed])
def test_parameters_that_change_stay_bound_if_nothing_is_computed_of_them(bound, device, kind):
    model = td.torch.to_device(kind())
    run, x = compiled(model, device), torch.rand(3, 6)
    for changed in ((), (model.linear.bias,), (*model.parameters(), model.scale)):
        with torch.no_grad():
            for own in changed:
                own.add_(1)
        check(run, model, x)
    assert bound[:2] == [False, True] and (bound[2] or kind is Packed)


class Counting(Scaled):
    """A model that changes a buffer at each call, of which more may be computed alone."""

    def __init__(self, is_packed):
        super().__init__()
        self.is_packed = is_packed
        # No terms cancel, however the numbers grow with each call.
        for parameter in self.linear.parameters():
            parameter.data.abs_()

    def check_as(self, model, run, x):
        """Compare with the model itself: errors of a few ulps double with each call."""
        with torch.no_grad():
            torch.testing.assert_close(run(x), model(x), rtol=1e-5, atol=0)
            torch.testing.assert_close(self.scale, model.scale, rtol=1e-5, atol=0)

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
        own.check_as(model, run, torch.rand(3, 6))
    assert bound == [False, True, True, True]


@pytest.mark.parametrize("is_packed", [False, True])
def test_buffers_that_a_model_changes_have_copies(bound, copying, is_packed):
    model = Counting(is_packed)
    own = td.torch.to_device(copy.deepcopy(model))
    run = compiled(own, copying)
    for k in range(6):
        own.check_as(model, run, torch.rand(3, 6))
        if k > 2:
            # The copy is another one.
            new = torch.rand(4)
            with torch.no_grad():
                own.scale.copy_(new)
                model.scale.copy_(new)
    assert bound == [False] + [True] * 5


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
        assert not torch.equal(first, second) and bound == [False, True]
        drawn = []
        for _ in range(2):
            # The first call and later ones draw the same.
            torch.compiler.reset()
            for _ in range(3):
                torch.manual_seed(0)
                drawn.append(run(x))
        assert all(torch.equal(found, drawn[0]) for found in drawn)
        assert bound[2:] == [False, True, True] * 2


def training(device, keep_updates=False):
    """A model with dropout left out, its copy on a device, and a step of each."""
    model = torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
    )
    own = td.torch.to_device(copy.deepcopy(model), keep_updates=keep_updates)
    run = compiled(own, device)
    rates = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (own, model)]

    def step(x, clears=True):
        for call, rate in zip((run, model), rates, strict=True):
            if clears:
                rate.zero_grad()
            call(x).square().sum().backward()
            rate.step()
        for ours, theirs in zip(own.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-4)
        state = td.torch.to_host(own).state_dict()
        torch.testing.assert_close(state, model.state_dict(), rtol=1e-4, atol=1e-4)

    return own, step


@DEVICES
@pytest.mark.parametrize("keep_updates", [False, True])
def test_training_is_bound(bound, device, keep_updates):
    _, step = training(device, keep_updates)
    for _ in range(3):
        step(torch.rand(4, 6))
    assert bound == [False] * 2 + [True] * 4


@pytest.mark.parametrize("keep_updates", [False, True])
def test_training_on_a_device_that_takes_copies_is_bound(bound, copying, keep_updates):
    _, step = training(copying, keep_updates)
    for _ in range(4):
        step(torch.rand(4, 6))
    # Sums of gradients have memory that no later call gets.
    for _ in range(3):
        step(torch.rand(4, 6), clears=False)
    assert all(bound[2:])


def test_results_that_stay_on_a_device_have_memory_that_serves_again(copying, monkeypatch):
    made, output = [], Executable.output
    monkeypatch.setattr(Executable, "output", lambda *own: made.append(own) or output(*own))
    _, step = training(copying)
    for _ in range(2):
        step(torch.rand(4, 6))
    count = len(made)
    step(torch.rand(4, 6))
    assert len(made) == count > 0


def test_devices_that_take_no_addresses(bound, monkeypatch):
    device = td.devices()[0]
    monkeypatch.setattr(state_of(queue_for(device)), "takes_pointers", False)
    _, step = training(device)
    for _ in range(3):
        step(torch.rand(4, 6))
    assert all(bound[2:])


@DEVICES
def test_memory_of_results_serves_again_when_nobody_has_it(device):
    model = td.torch.to_device(Scaled())
    run = compiled(model, device)
    inputs = [torch.rand(3, 6) for _ in range(5)]
    with torch.no_grad():
        expected = [model(x) for x in inputs]
        first = run(inputs[0])
        place, view = first.data_ptr(), first[1:]
        del first
        # A view, or an array, keeps it.
        second = run(inputs[1]).numpy()
        assert second.__array_interface__["data"][0] != place
        torch.testing.assert_close(view, expected[0][1:])
        del view
        third = run(inputs[2])
        torch.testing.assert_close(torch.from_numpy(second), expected[1])
        torch.testing.assert_close(third, expected[2])
        address = third.data_ptr()
        del third
        fourth = run(inputs[3])
        assert fourth.data_ptr() == address and fourth._version == 0
        if device.uses_host_memory:
            # Others may give it away.
            fourth.untyped_storage().resize_(0)
        del fourth
        torch.testing.assert_close(run(inputs[4]), expected[4])


@DEVICES
def test_memory_of_results_is_kept_by_their_storage(device):
    model = td.torch.to_device(Scaled())
    run, inputs = compiled(model, device), [torch.rand(3, 6) for _ in range(3)]
    with torch.no_grad():
        expected = model(inputs[0])
        storage = run(inputs[0]).untyped_storage()
        for x in inputs[1:]:
            run(x)
        torch.testing.assert_close(torch.empty(0).set_(storage), expected.reshape(-1))


@DEVICES
def test_results_of_inference_mode_are_none_later(device):
    model = td.torch.to_device(Scaled())
    run, x = compiled(model, device), torch.rand(3, 6)
    for mode in (torch.inference_mode, torch.no_grad, torch.inference_mode):
        with mode():
            torch.testing.assert_close(run(x), model(x))
    with torch.no_grad():
        found = run(x)
    assert not found.is_inference()


@DEVICES
def test_inputs_with_gaps_are_bound(bound, device):
    model = td.torch.to_device(Scaled())
    run = compiled(model, device)
    for _ in range(3):
        check(run, model, torch.rand(3, 12)[:, ::2])
    assert bound == [False, True, True]


def test_changed_inputs_that_share_memory_are_told_apart(bound):
    scale = torch.nn.Parameter(torch.rand(4))

    def change(x, y):
        x.mul_(scale)
        return x.flip(0) + y

    run = compiled(change, td.devices()[0])
    with torch.no_grad():
        for start in (4, 4, 2, 0, 4):
            given = torch.rand(8)
            x, y = given[:4], given[start : start + 4]
            # PyTorch's graph has the second input as it was, even if it is part of the first.
            expected = (x * scale).flip(0) + y
            changed = torch.cat([x * scale, given[4:]])
            torch.testing.assert_close(run(x, y), expected)
            torch.testing.assert_close(given, changed)
    assert bound[:3] == [False, True, False]


def test_profiles_measure_bound_calls_too():
    model = td.torch.to_device(Scaled())
    run, x = compiled(model, td.devices()[0]), torch.rand(3, 6)
    for _ in range(2):
        check(run, model, x)
    with torch.no_grad():
        assert td.torch.profile(run, x)[1].kernels


@pytest.mark.parametrize("is_first", [False, True])
def test_zeros_without_memory(is_first, device):
    compiled = torch.compile(Scaled(), backend="tiledialect", options={"device": device})
    zeros = torch._efficientzerotensor((3, 6))
    with torch.no_grad():
        if not is_first:
            compiled(torch.rand(3, 6))
        for _ in range(2):
            assert torch.equal(compiled(zeros), compiled(torch.zeros(3, 6)))
