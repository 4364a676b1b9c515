"""Inputs that a graph changes, which kernels write where they are."""

from __future__ import annotations

import copy
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch import graphs  # noqa: E402

DEVICES = pytest.mark.parametrize("device", td.devices(), ids=lambda d: d.id)


pytestmark = pytest.mark.usefixtures("reset")


@pytest.fixture
def plans(monkeypatch):
    """Plans of the functions of graphs, and whether a graph's inputs are changed by PyTorch."""
    found = []
    made = graphs.CompiledGraph._made

    def recorded(*given):
        ready = made(*given)
        found.append(ready)
        return ready

    monkeypatch.setattr(graphs.CompiledGraph, "_made", recorded)
    return found


def compiled(function, device=None):
    options = {"device": device.id if device else None, "strict": True}
    return torch.compile(function, backend="tiledialect", options=options)


def check(function, *inputs, device=None, times=2):
    """Compare outputs and changed inputs with eager PyTorch's, for several calls."""
    own = copy.deepcopy(inputs)
    other = copy.deepcopy(inputs)
    run = compiled(function, device)
    with torch.no_grad():
        for _ in range(times):
            torch.testing.assert_close(run(*own), function(*other), rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-5)


def read_after_write(cache, x, at):
    cache.index_copy_(1, at, x)
    return (cache * 2).sum(1), cache.amax(-1)


def read_before_write(cache, x, at):
    before = cache.sum(1)
    cache.index_copy_(1, at, x)
    return before


def read_before_and_after(cache, x, at):
    before = cache[:, 1:] * 3
    cache.index_copy_(1, at, x)
    return before, cache.sum(1) + before.sum(1)


def two_updates(cache, x, at):
    cache.index_copy_(1, at, x)
    first = cache.sum()
    cache.index_add_(1, at, x)
    cache[:, 0] = 7
    return first, cache.sum(1)


def update_from_itself(cache, x, at):
    cache.copy_(cache.flip(1))
    cache[:, 1:] = cache[:, :-1].clone()
    return x + at.sum()


def old_values_kept(cache, x, at):
    old = cache.clone()
    cache.mul_(0.5).add_(x)
    return old, cache - old


def returned(cache, x, at):
    cache.index_copy_(1, at, x)
    return cache, cache.view(-1)[:3], x


def nothing_returned(cache, x, at):
    cache.add_(x.sum())


def swapped(cache, x, at):
    kept = cache[:, :1].clone()
    cache[:, :1] = x
    x.copy_(kept)
    return at + 1


def counted(cache, x, at):
    cache[0, at] = x[0]
    at.add_(1).remainder_(cache.shape[1])
    return cache[0].sum()


UPDATES = (
    *(read_after_write, read_before_write, read_before_and_after, two_updates),
    *(update_from_itself, old_values_kept, returned, nothing_returned, swapped, counted),
)


def cache_of(*sizes):
    return torch.randn(*sizes), torch.randn(sizes[0], 1, *sizes[2:]), torch.tensor([sizes[1] - 2])


@DEVICES
@pytest.mark.parametrize("update", UPDATES, ids=lambda f: f.__name__)
def test_updates(update, device):
    check(update, *cache_of(2, 5, 3), device=device)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_chains_of_updates(data):
    """Random updates of two tensors, which read one another before and after."""
    steps = data.draw(
        st.lists(
            st.tuples(st.integers(0, 7), st.booleans(), st.integers(0, 3)), min_size=1, max_size=5
        )
    )

    def run(a, b, at):
        found = []
        for kind, turned, row in steps:
            one, two = (b, a) if turned else (a, b)
            match kind:
                case 0:
                    one[row] = two[0]
                case 1:
                    one.mul_(0.5)
                case 2:
                    one.add_(two.sum(0))
                case 3:
                    one.index_copy_(0, at, two[row : row + 1] + 1)
                case 4:
                    found.append(one.t()[row] * 2)
                case 5:
                    one.copy_(two)
                case 6:
                    one[1:] = one[:-1].clone()
                case _:
                    found.append(one[row])
        return tuple(f.clone() for f in found)

    torch.compiler.reset()
    check(run, torch.randn(5, 4), torch.randn(5, 4), torch.tensor([2]))


def test_an_update_that_kernels_can_make_in_place_takes_no_memory(plans):
    check(read_after_write, *cache_of(2, 5, 3))
    (ready,) = plans
    plan = ready.function._last
    cache = plan.updated[0]
    writers = [k for k in plan.launches if cache in k.args]
    assert plan.inputs[cache].shape == (2, 5, 3)
    assert len(plan.outputs) == 2 and not ready.copied
    assert all(slot.nbytes < plan.sizes[cache] for slot in plan.slots) and writers


def test_only_the_changed_elements_are_written(plans):
    """The kernel of an update neither reads nor writes elements that stay."""

    def update(cache, x, at):
        cache.index_copy_(1, at, x)
        return x * 1

    inputs = cache_of(2, 64, 32)
    check(update, *inputs)
    (ready,) = plans
    source = ready.function.opencl()
    (kernel,) = (k for k in source.split("__kernel") if "_new(" in k)
    head, _, body = kernel.partition("{")
    (name,) = re.findall(r"(\w+_new)\b(?!\()", head)
    lines = [line.strip() for line in body.splitlines()]
    stores = [line for line in lines if name in line and not re.search(r"\+ \d+\);$", line)]
    assert len(set(stores)) == 1
    assert "if (" in body.partition(stores[0])[0]
    copied = rf"vstore(\d+)\(vload\1\(0, arg\w+ \+ \w+\), 0, {name} \+ \w+\);"
    assert re.fullmatch(copied, stores[0])


def overlapping(a, b):
    a.mul_(2)
    return a.sum() + b.sum()


def both(a, b):
    a.mul_(2)
    b.add_(1)
    return a + b


def views(whole):
    return [
        (whole[:4], whole[4:]),
        (whole[:4], whole[2:6]),
        (whole[:4], whole[:4]),
        (whole[::2], whole[1::2]),
        (whole[:4], whole[4:]),
    ]


@DEVICES
@pytest.mark.parametrize("function", (overlapping, both))
@pytest.mark.parametrize("pair", range(4))
def test_tensors_that_share_memory(function, pair, device):
    own = torch.arange(8.0)
    other = own.clone()
    run = compiled(function, device)
    with torch.no_grad():
        torch.testing.assert_close(run(*views(own)[pair]), function(*views(other)[pair]))
    torch.testing.assert_close(own, other)


@DEVICES
@pytest.mark.parametrize("function", (overlapping, both))
def test_tensors_that_share_memory_at_a_later_call(function, device):
    """PyTorch does not compile anew, and computes all before it changes a tensor."""
    found = []
    for backend in (compiled, lambda f, _: torch.compile(f, backend="aot_eager")):
        torch.compiler.reset()
        whole = torch.arange(8.0)
        run = backend(function, device)
        with torch.no_grad():
            results = [run(*pair) for pair in views(whole)]
        found.append((*results, whole))
    torch.testing.assert_close(*found)


class Cached(torch.nn.Module):
    """A model with a cache, and another input that may lie in it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.randn(4, 6))

    def forward(self, x):
        self.cache.mul_(0.5)
        return self.cache.sum() + (x * 2).sum()


def test_an_input_of_a_bound_call_that_lies_in_a_changed_buffer():
    model = td.torch.to_device(Cached())
    run = compiled(model)
    with torch.no_grad():
        for row in (None, None, 0, None, 1):
            x = torch.randn(6) if row is None else model.cache[row]
            before = 2 * x.sum()
            expected = 0.5 * model.cache
            torch.testing.assert_close(run(x), expected.sum() + before)
            torch.testing.assert_close(model.cache, expected)


@DEVICES
def test_tensors_that_are_not_dense(device):
    check(
        nothing_returned,
        *(x[:, ::2] for x in (torch.randn(2, 6, 3), torch.randn(2, 6, 3))),
        None,
        device=device,
    )
    check(
        nothing_returned,
        torch.randn(2, 6, 3).permute(2, 0, 1),
        torch.randn(2, 2),
        None,
        device=device,
    )
    cache = torch.randn(2, 6, 6).permute(2, 0, 1)[:, :, ::2]
    check(nothing_returned, cache, torch.randn(2, 2), None, device=device)


@DEVICES
@pytest.mark.parametrize("residence", ("host", "device", "late"))
def test_parameters_that_are_not_dense(device, residence):
    model = torch.nn.Linear(3, 4)
    model.weight = torch.nn.Parameter(torch.randn(3, 4).T)
    model.bias = torch.nn.Parameter(torch.randn(8)[::2])

    def decayed(model, x):
        result = model(x)
        for own in (model.weight, model.bias):
            own.mul_(0.5)
        return result

    other = copy.deepcopy(model)
    run = compiled(decayed, device)
    if residence != "host":
        td.torch.to_device(model, keep_updates=residence == "late")
    with torch.no_grad():
        for k in range(5):
            x = torch.randn(5, 3)
            torch.testing.assert_close(run(model, x), decayed(other, x), rtol=1e-4, atol=1e-5)
            if residence == "late" and k % 2 == 0:
                continue
            torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=1e-4, atol=1e-5)
            for own in (model.weight, other.weight):
                own.add_(1)


@DEVICES
@pytest.mark.parametrize("is_resident", (False, True))
def test_steps_of_an_optimizer_with_channels_last(device, is_resident):
    model = torch.nn.Conv2d(3, 2, 3).to(memory_format=torch.channels_last)
    other = copy.deepcopy(model)
    run = compiled(td.torch.to_device(model) if is_resident else model, device)
    optimizers = [torch.optim.SGD(own.parameters(), 0.1) for own in (model, other)]
    for _ in range(4):
        x = torch.randn(2, 3, 5, 4)
        for call, optimizer in zip((run, other), optimizers, strict=True):
            optimizer.zero_grad()
            call(x).square().mean().backward()
            optimizer.step()
        torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=1e-4, atol=1e-5)


@DEVICES
@pytest.mark.parametrize("is_resident", (False, True))
def test_statistics_of_a_batch_normalization(device, is_resident):
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    other = copy.deepcopy(model)
    run = compiled(td.torch.to_device(model) if is_resident else model, device)
    for _ in range(3):
        x = torch.randn(5, 3)
        torch.testing.assert_close(run(x), other(x), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=1e-4, atol=1e-5)


@DEVICES
@pytest.mark.parametrize("kind", ("SGD", "Adam"))
def test_optimizers(device, kind):
    model = torch.nn.Linear(3, 4)
    other = copy.deepcopy(model)
    options = {"lr": 0.1, **({"momentum": 0.9} if kind == "SGD" else {})}
    steps = [getattr(torch.optim, kind)(m.parameters(), **options) for m in (model, other)]
    run = torch.compile(
        lambda: steps[0].step(), backend="tiledialect", options={"device": device.id}
    )
    for _ in range(3):
        x = torch.randn(5, 3)
        for m, step in ((model, run), (other, steps[1].step)):
            m.zero_grad()
            m(x).square().sum().backward()
            step()
        torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=1e-4, atol=1e-5)


def test_a_profile_changes_inputs_once():
    model, x = Cached(), torch.randn(6)
    other = copy.deepcopy(model)
    run = compiled(model)
    with torch.no_grad():
        found, _ = td.torch.profile(run, x, repeat=3)
        torch.testing.assert_close(found, other(x))
    torch.testing.assert_close(model.cache, other.cache)


def test_updates_beside_operators_that_are_left_to_pytorch():
    def update(cache, x):
        found = torch.view_as_real(torch.fft.fft(cache)).sum()
        cache.add_(x)
        return found + cache.sum()

    cache = torch.randn(6)
    other, x = cache.clone(), torch.randn(6)
    run = torch.compile(update, backend="tiledialect")
    with torch.no_grad(), pytest.warns(td.TileWarning):
        torch.testing.assert_close(run(cache, x), update(other, x))
    torch.testing.assert_close(cache, other)


def test_arrays_on_a_device_wait_for_their_change():
    import numpy as np
    import pyopencl.array as cla

    from tiledialect.lowering.runtime.device.queues import queue_for
    from tiledialect.passes.convert.function_builder import FunctionBuilder

    function = FunctionBuilder()
    a = function.argument(
        "A",
        td.compile("function (A[4]) -> (B) { B = A; }").types((np.zeros(4, np.float32),), {})[0],
    )
    module = function.finished("double", [], updated=[("A", function.b.add(a, a))]).module
    device = td.devices()[-1]
    array = cla.to_device(queue_for(device), np.arange(4, dtype=np.float32))
    double = td.compile(module, device=device)
    for _ in range(9):
        assert double(array) == ()
        assert 1 <= len(array.events) <= 12
    assert np.array_equal(array.get(), 512 * np.arange(4))


@DEVICES
def test_a_cache_without_elements(device):
    check(nothing_returned, torch.randn(0, 5, 3), torch.randn(2), None, device=device)
    check(lambda c: c.add_(1).sum(), torch.randn(0, 3), device=device)


def test_a_normalization_updates_its_statistics_in_its_own_kernel(plans):
    """Backward takes none of the running statistics."""
    model = torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.ReLU())
    expected = copy.deepcopy(model)
    own = compiled(model)
    for _ in range(2):
        x = torch.randn(2, 3, 5, 5)
        torch.testing.assert_close(own(x), expected(x))
        own(x).sum().backward()
        expected(x).sum().backward()
    for name, value in expected.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], value)
    plan = plans[0].function._last
    updated = {plan.inputs[k].shape for k in plan.updated}
    assert updated == {(3,), ()} and len(plan.updated) == 3
    assert len(plan.launches) == 2
    assert not any(slot.nbytes == 12 for slot in plan.slots)
