"""Parameters in a file."""

from __future__ import annotations

import copy
import gc
import io
import mmap
from pathlib import Path

import pytest

import tiledialect as td
from tiledialect.api.packing.packing import Packer

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch.residence import file_memory  # noqa: E402

DEVICES = pytest.mark.parametrize("device", td.devices(), ids=lambda d: d.id)

pytestmark = pytest.mark.usefixtures("reset")


def compiled(model, device):
    return torch.compile(model, backend="tiledialect", options={"device": device.id})


class Scaled(torch.nn.Module):
    """Scales its input by what it computes of a weight alone."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(512, 32))
        self.register_buffer("bias", torch.rand(32))

    def forward(self, x):
        return x * self.weight.sum(0) + self.bias


@pytest.fixture
def packings(monkeypatch):
    """Number of times that something was computed of parameters alone."""
    found = []
    results = Packer.results

    def counted(packer, read):
        found.append(packer)
        return results(packer, read)

    monkeypatch.setattr(Packer, "results", counted)
    return found


def check(run, expected, x):
    with torch.no_grad():
        # Sums of 512 numbers in another order.
        torch.testing.assert_close(run(x), expected(x), rtol=1e-4, atol=1e-4)


@DEVICES
@pytest.mark.parametrize("is_first", [False, True])
def test_results_of_parameters_stay(device, is_first, packings, tmp_path):
    model = Scaled()
    expected = copy.deepcopy(model)
    run = compiled(td.torch.to_device(model), device)
    x = torch.rand(8, 32)
    if not is_first:
        check(run, expected, x)
    assert td.torch.to_disk(model, tmp_path) is model
    for _ in range(2):
        check(run, expected, x)
    assert len(packings) == 1
    with torch.no_grad():
        for own in (model, expected):
            own.weight.add_(1)
    check(run, expected, x)
    assert len(packings) == 2
    # Another shape is compiled anew, and shares the results.
    check(run, expected, x[:4])
    assert len(packings) == 2


def test_parameters_stay_what_they_are(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(300, 200), torch.nn.Linear(200, 300))
    model[1].weight = torch.nn.Parameter(model[0].weight.T)
    own = model[0].weight
    before = {name: value.clone() for name, value in model.state_dict().items()}
    td.torch.to_disk(model, tmp_path)
    assert model[0].weight is own and own.requires_grad
    assert not [*tmp_path.iterdir()]
    key = own.untyped_storage()._cdata
    assert key in file_memory._mappings and model[1].weight.untyped_storage()._cdata == key
    assert model[1].weight.stride() == (1, 300)
    # What few bytes have stays in memory.
    assert model[0].bias.untyped_storage()._cdata not in file_memory._mappings
    with torch.no_grad():
        own.add_(1)
    file_memory.forget_pages(own)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    for name, value in torch.load(file).items():
        assert torch.equal(value, before[name] + name.endswith("weight"))
    model(torch.rand(2, 300)).sum().backward()
    assert own.grad.shape == own.shape
    # A second time nothing is in memory.
    td.torch.to_disk(model, tmp_path)
    assert own.untyped_storage()._cdata == key


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system tells no pages")
def test_memory_is_freed(tmp_path):
    model = Scaled()
    model.weight = torch.nn.Parameter(torch.rand(1 << 16, 32))
    size = model.weight.nbytes
    run = compiled(td.torch.to_device(td.torch.to_disk(model, tmp_path)), td.devices()[0])
    mapped = str(tmp_path)
    assert _resident(mapped) < size / 8
    with torch.no_grad():
        run(torch.rand(8, 32))
    # It was read for what is computed of it, once.
    assert _resident(mapped) < size / 8
    assert model.weight.sum() > 0 and _resident(mapped) > size / 2
    key = model.weight.untyped_storage()._cdata
    del model, run
    torch.compiler.reset()
    gc.collect()
    # The file goes with the parameters.
    assert mapped not in Path("/proc/self/smaps").read_text()
    assert file_memory._mappings[key].reference.expired()
    other = td.torch.to_disk(Scaled(), tmp_path)
    assert other and all(not own.reference.expired() for own in file_memory._mappings.values())


def _resident(folder):
    """Bytes in memory of files in a folder."""
    found, is_own = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split()[0]:
            is_own = folder in line
        elif is_own and line.startswith("Rss:"):
            found += int(line.split()[1]) * 1024
    return found


def test_errors(tmp_path):
    with pytest.raises(td.TileError, match="to_disk takes a"):
        td.torch.to_disk(torch.rand(3))
    with pytest.raises(td.TileError, match="to_disk takes a path, not int"):
        td.torch.to_disk(Scaled(), 3)
    (tmp_path / "file").write_text("")
    with pytest.raises(td.TileError, match=r"the parameters cannot be written to .*file"):
        td.torch.to_disk(Scaled(), tmp_path / "file")
    # A model without parameters needs no file.
    td.torch.to_disk(torch.nn.ReLU(), tmp_path / "file")


def test_tensors_without_memory_of_their_own(tmp_path):
    lazy = torch.nn.Sequential(torch.nn.LazyLinear(4))
    for call in (td.torch.to_device, td.torch.to_disk, td.torch.to_host):
        with pytest.raises(td.TileError, match=r"0\.weight has no shape before the first call"):
            call(lazy)
    model = Scaled()
    model.register_buffer("sparse", torch.eye(300).to_sparse())
    for call in (td.torch.to_device, td.torch.to_disk, td.torch.to_host):
        assert call(model) is model
    with torch.no_grad():
        run = compiled(model, td.devices()[0])
        torch.testing.assert_close(run(torch.ones(4, 32)), model(torch.ones(4, 32)))


def test_parts_have_pages_of_their_own():
    places, size = file_memory._places([1, mmap.PAGESIZE, mmap.PAGESIZE + 1])
    assert [p // mmap.PAGESIZE for p in (*places, size)] == [0, 1, 2, 4]
