"""Parameters in the memory of a device that does not work in the host's."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from packed_results import compiled_forms

import tiledialect as td
from tiledialect.lowering.runtime.device.queues import queue_for
from tiledialect.schedule.search import choice

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch import bound_calls, graphs, parts  # noqa: E402
from tiledialect.torch.residence import residence  # noqa: E402
from tiledialect.torch.residence.device_tensors import DeviceTensor  # noqa: E402

COPYING = [d for d in td.devices() if not d.uses_host_memory]


pytestmark = pytest.mark.usefixtures("reset")


@pytest.fixture
def uploads(monkeypatch):
    """Numbers of elements of the arrays that are copied to the device."""
    sizes = []

    def counted(queue, array):
        sizes.append(array.size)
        return upload(queue, array)

    def counted_again(queue, array, source, **options):
        sizes.append(source.size)
        return copy(queue, array, source, **options)

    upload, copy = residence.upload, residence.copy_to_device
    for module in (residence, parts):
        monkeypatch.setattr(module, "upload", counted)
    for module in (residence, bound_calls):
        monkeypatch.setattr(module, "copy_to_device", counted_again)
    return sizes


@pytest.fixture
def device():
    if not COPYING:
        pytest.skip("all devices work in the host's memory")
    return COPYING[0].id


def compiled(model, device):
    return torch.compile(model, backend="tiledialect", options={"device": device})


def test_parameters_are_copied_when_they_change(uploads, device):
    model = torch.nn.Linear(3, 4)
    run = compiled(td.torch.to_device(model), device)
    x = torch.rand(2, 3)
    with torch.no_grad():
        torch.testing.assert_close(run(x), model(x))
        assert sorted(uploads) == [4, 6, 12]
        uploads.clear()
        torch.testing.assert_close(run(x), model(x))
        assert uploads == [6]
        uploads.clear()
        model.bias.add_(1)
        torch.testing.assert_close(run(x), model(x))
        assert sorted(uploads) == [4, 6]
        uploads.clear()
        model.bias.data.add_(1)
        td.torch.to_device(model)
        torch.testing.assert_close(run(x), model(x))
        assert sorted(uploads) == [4, 6, 12]


class Counting(torch.nn.Module):
    """A product and the number of its calls, a scalar."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls.add_(1)
        return self.linear(x) * self.calls


def test_scalars_are_copied(device):
    model = td.torch.to_device(Counting())
    run = compiled(model, device)
    x = torch.rand(2, 3)
    with torch.no_grad():
        for k in range(1, 4):
            torch.testing.assert_close(run(x), model.linear(x) * k)


def test_data_of_a_parameter_has_its_changes(device):
    weight = td.torch.to_device(torch.nn.Linear(3, 4)).weight
    parts, whole, x = compiled(torch.sin, device), compiled(torch.mul, device), torch.rand(3)
    with torch.no_grad():
        for _ in range(3):
            weight.add_(1)
            torch.testing.assert_close(parts(weight.data), torch.sin(weight))
            torch.testing.assert_close(whole(weight.data, x), weight * x)


class Aliased(torch.nn.Module):
    """A parameter, and a buffer in its memory whose changes are counted apart."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(4, 3))
        self.register_buffer("first", self.weight.data[:2])

    def forward(self, x):
        return x @ self.weight.T, self.first.T * 3


@pytest.mark.parametrize("own", td.devices(), ids=lambda d: d.id)
def test_buffers_in_the_memory_of_parameters_change_with_these(own):
    model, x = Aliased(), torch.rand(2, 3)
    run = compiled(td.torch.to_device(model), own)
    with torch.no_grad():
        for change in (lambda: None, lambda: model.weight.mul_(2), lambda: model.first.add_(1)):
            change()
            for _ in range(2):
                torch.testing.assert_close(run(x), model(x))


def test_copies_of_earlier_versions_go(device):
    weight = td.torch.to_device(torch.nn.Linear(3, 4)).weight
    run, x = compiled(torch.mul, device), torch.rand(3)
    with torch.no_grad():
        for k in (2, 3, 4):
            torch.testing.assert_close(run(weight[:k], x), weight[:k] * x)
            weight.add_(1)
    assert len(residence._residents[weight.untyped_storage()._cdata].copies) == 1


def test_tensors_whose_changes_are_not_counted(device):
    with torch.inference_mode():
        model, x = td.torch.to_device(torch.nn.Linear(3, 4)), torch.rand(2, 3)
        run = compiled(model, device)
        for _ in range(2):
            torch.testing.assert_close(run(x), model(x))
            model.weight.add_(1)


def test_training_keeps_what_backward_takes(uploads, device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    run = compiled(td.torch.to_device(model), device)
    x = torch.rand(2, 3)
    run(x).sum().backward()
    # The parameters, the input for forward and backward, and the cotangent.
    assert sorted(uploads) == [1, 2, 5, 5, 6, 6, 15]
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    for ours, p in zip(found, model.parameters(), strict=True):
        torch.testing.assert_close(ours, p.grad)
    uploads.clear()
    run(x)
    assert sorted(uploads) == [6]


def test_what_backward_takes_stays_on_the_device(device):
    layer = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    run = compiled(td.torch.to_device(layer), device)
    x = torch.rand(2, 3)
    found = run(x)
    (kept,) = (t for t in found.grad_fn.saved_tensors if isinstance(t, DeviceTensor))
    # The device has the elements until an operator of PyTorch takes them, and may change them.
    assert kept.is_on_device and kept.stride() == (5, 1)
    expected = layer[:2](x).detach()
    torch.testing.assert_close(kept + 0, expected)
    assert not kept.is_on_device
    kept.elements.mul_(0)
    found.sum().backward()
    assert not layer[2].weight.grad.any() and layer[0].weight.grad.any()


PACKING = {
    "clone": (torch.clone, lambda t: t),
    "numpy": (lambda t: t.numpy(force=True), torch.from_numpy),
    "tolist": (lambda t: t.tolist(), torch.tensor),
    "deepcopy": (copy.deepcopy, lambda t: t),
    "pickle": (pickle.dumps, pickle.loads),
    "address": (lambda t: (t, t.data_ptr() != 0 or 1 / 0), lambda pair: pair[0]),
}


@pytest.mark.parametrize("name", PACKING)
def test_what_backward_takes_may_be_packed(device, name):
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    expected = copy.deepcopy(model)
    run = compiled(td.torch.to_device(model), device)
    x = torch.rand(2, 3)
    with torch.autograd.graph.saved_tensors_hooks(*PACKING[name]):
        found = run(x)
    found.sum().backward()
    expected(x).sum().backward()
    for ours, theirs in zip(model.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


def test_axes_of_tensors_on_a_device(device):
    queue = queue_for(next(d for d in td.devices() if d.id == device))
    numbers = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    tensor = DeviceTensor(residence.upload(queue, numbers), (1, 2, 0))
    expected = graphs.ordered(torch.from_numpy(numbers), (1, 2, 0))
    assert tensor.shape == expected.shape and tensor.stride() == expected.stride()
    whole, order = graphs._dense(tensor)
    assert whole.array is tensor.array and order == (1, 2, 0) and tensor.is_on_device
    torch.testing.assert_close(tensor.clone(), expected)
    whole, order = graphs._dense(tensor)
    assert not isinstance(whole, DeviceTensor) and order == (1, 2, 0)
    assert graphs._dense(expected)[1] == order


def test_storages_that_are_gone():
    model = torch.nn.Linear(3, 4)
    td.torch.to_device(model)
    key = model.weight.untyped_storage()._cdata
    kept = residence._residents[key]
    del model
    td.torch.to_device(torch.nn.Linear(1, 1))
    assert residence._residents.get(key) is not kept


def test_other_things_than_modules():
    with pytest.raises(td.TileError, match="to_device takes a"):
        td.torch.to_device(torch.rand(3))


def test_profiles_of_models_with_copies(device):
    model = torch.nn.Linear(3, 4)
    run = compiled(td.torch.to_device(model), device)
    x = torch.rand(2, 3)
    with torch.no_grad():
        found, profile = td.torch.profile(run, x)
        torch.testing.assert_close(found, model(x))
    assert profile.kernels


class Scaled(torch.nn.Linear):
    """Scales its input by what it computes of its weights alone."""

    def forward(self, x):
        return x * self.weight.sum(1) + self.bias


@pytest.mark.parametrize("own", td.devices(), ids=lambda d: d.id)
def test_what_depends_on_parameters_alone_is_kept(own, monkeypatch):
    packings = []

    def packed(*given):
        packings.append(packing_of(*given))
        return packings[-1]

    packing_of = parts.packing_of
    monkeypatch.setattr(parts, "packing_of", packed)
    model = Scaled(48, 32)
    run, x = compiled(td.torch.to_device(model), own.id), torch.rand(8, 32)
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(run(x), model(x))
        plain, given = compiled(Scaled(48, 32), own.id), len(packings)
        launches = [len(td.torch.profile(f, x)[1].kernels) for f in (plain, run)]
        assert launches == [2, 1]
        # Without `to_device` nothing is kept beside the parameters.
        assert len(packings) == given
        kept = packings[-1].packers[0].function
        assert not compiled_forms(kept)
        model.weight.mul_(2)
        torch.testing.assert_close(run(x), model(x))
        # What has changed may change again.
        assert compiled_forms(kept)
        model.weight = torch.nn.Parameter(torch.rand(32, 48))
        torch.testing.assert_close(run(x), model(x))
    run(x).sum().backward()
    torch.testing.assert_close(model.bias.grad, torch.full((32,), 8.0))


class Placed(torch.nn.Linear):
    """Adds what it computes of places alone."""

    def forward(self, x):
        places = torch.arange(x.shape[1]).cumsum(0)
        return x * self.bias + places[None].cumsum(1)


@pytest.mark.parametrize("own", td.devices(), ids=lambda d: d.id)
def test_what_depends_on_nothing_is_kept(own):
    model = Placed(4, 32)
    run, x = compiled(td.torch.to_device(model), own.id), torch.rand(8, 32)
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(run(x), model(x))
        plain = compiled(Placed(4, 32), own.id)
        launches = [len(td.torch.profile(f, x)[1].kernels) for f in (plain, run)]
        assert launches[0] > launches[1] == 1


def test_a_schedule_is_searched_for_once(monkeypatch, tmp_path):
    """Of a kernel for its layout, and then for its part of the graph."""
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    searched = []
    search = choice._fastest

    def counted(facts, device, *args, **options):
        searched.append((facts, device, args, *options.items()))
        return search(facts, device, *args, **options)

    monkeypatch.setattr(choice, "_fastest", counted)
    nn = torch.nn
    layers = [own for _ in range(3) for own in (nn.Conv2d(64, 64, 3, padding=1), nn.ReLU())]
    model, x = nn.Sequential(*layers).eval(), torch.randn(1, 64, 14, 14)
    with torch.no_grad():
        found = torch.compile(td.torch.to_device(model), backend="tiledialect")(x)
        assert torch.allclose(found, model(x), atol=1e-4)
    assert len(searched) > 8
    assert len(searched) == len({*searched})
