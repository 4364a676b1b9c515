"""Compiled models in files."""

from __future__ import annotations

import copy
import gc
import importlib
import pickle
import subprocess
import sys
from pathlib import Path
from weakref import WeakSet

import pytest

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch import backend, graphs, saved_graphs  # noqa: E402
from tiledialect.torch.unwritten_guards import value_text  # noqa: E402

pytestmark = pytest.mark.usefixtures("reset")


class Layers(torch.nn.Module):
    """A layer, and a function that is chosen when the model is made."""

    def __init__(self, activation=torch.relu):
        super().__init__()
        self.linear = torch.nn.Linear(6, 4)
        self.activation = activation

    def forward(self, x):
        return self.activation(self.linear(x)) * SCALE


SCALE = 2.0


class Spectrum(torch.nn.Module):
    """An operator that is left to PyTorch between others."""

    def forward(self, x):
        return torch.view_as_real(torch.fft.fft(x.cos())).sum(-1).sin()


class Scaled(torch.nn.Module):
    """Reads a dictionary of the module, whose name ends as Dynamo's for arguments."""

    def forward(self, x):
        return x * SCALES_OF_ALL["x"]


SCALES_OF_ALL = {"x": 2.0}


class Table(torch.nn.Module):
    """Adds a tensor of the module."""

    def forward(self, x):
        return x + TABLE


TABLE = torch.ones(3)


class Printing(torch.nn.Module):
    """A number that Python asks for."""

    def forward(self, x):
        print(x.sum().item())
        return x


class Counting(torch.nn.Module):
    """A buffer that changes, and an output that is a view of an input."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x):
        self.total.add_(x.sum(0))
        return self.total * 2, x.T


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.bin"


@pytest.fixture
def no_trace(monkeypatch):
    """Calls that do not trace or compile: to be used after a model is saved."""

    def refuse(*_, **__):
        raise AssertionError("traced")

    def use():
        torch.compiler.reset()
        monkeypatch.setattr(backend, "tiledialect", refuse)
        monkeypatch.setattr(backend, "_compiled", refuse)

    return use


def check(run, expected, *inputs):
    torch.testing.assert_close(run(*inputs), expected(*inputs), rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_saved_models_are_read(path, no_trace):
    model, x = Layers(), torch.randn(5, 6)
    check(td.torch.save(model, path, x), model, x)
    no_trace()
    check(td.torch.load(model, path), model, x)
    # Parameters are the model's.
    other = Layers()
    run = td.torch.load(other, path)
    check(run, other, x)
    other.linear.weight.mul_(3)
    check(run, other, x)


@torch.no_grad()
def test_graphs_whose_conversion_is_not_kept(path, monkeypatch, tmp_path):
    model, x = Layers(), torch.randn(5, 6)
    td.torch.save(model, path, x)
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path / "empty")
    written = []
    graph_of = saved_graphs._module
    monkeypatch.setattr(saved_graphs, "_module", lambda d: written.append(d) or graph_of(d))
    check(td.torch.load(model, path), model, x)
    assert len(written) == 1


@torch.no_grad()
def test_written_graphs_have_what_is_compiled(monkeypatch):
    made = []
    partitioned = backend.partitioned

    def recorded(module, refused, options, role):
        data = saved_graphs.graph_bytes(module, options)
        made.append((saved_graphs._module(data).graph, module.graph))
        return partitioned(module, refused, options, role)

    monkeypatch.setattr(backend, "partitioned", recorded)
    x = torch.randn(2, 6)
    torch.compile(torch.nn.Sequential(Layers(), torch.nn.Softmax(-1)), backend="tiledialect")(x)
    ((written, own),) = made
    assert graphs.Outline.of(written) == graphs.Outline.of(own)
    assert graphs.Outline.of(own).text is not None


@torch.no_grad()
@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
def test_operators_that_are_left_to_pytorch(path, no_trace):
    model, x = Spectrum(), torch.randn(6)
    td.torch.save(model, path, x)
    no_trace()
    check(td.torch.load(model, path), model, x)


@torch.no_grad()
def test_updates_and_views(path, no_trace):
    x = torch.randn(2, 3)
    model, expected = Counting(), Counting()
    td.torch.save(model, path, x)
    no_trace()
    run = td.torch.load(model, path)
    for _ in range(2):
        (found, view), (wanted, _) = run(x), expected(x)
        torch.testing.assert_close(found, wanted)
        assert view.data_ptr() == x.data_ptr()
    torch.testing.assert_close(model.total, expected.total)


def test_training(path, no_trace):
    model, x = Layers(), torch.randn(5, 6)
    td.torch.save(model, path, x)
    no_trace()
    run = td.torch.load(model, path)
    run(x).square().sum().backward()
    found = model.linear.weight.grad.clone()
    model.zero_grad()
    model(x).square().sum().backward()
    torch.testing.assert_close(found, model.linear.weight.grad, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("is_training", [False, True])
def test_compiled_graphs_go_with_their_model(path, is_training):
    """PyTorch has guards on classes, and what they are of, as long as the classes."""

    def alive():
        gc.collect()
        return {own for own in gc.get_objects() if isinstance(own, graphs.CompiledGraph)}

    # Those of other tests may go meanwhile.
    before = WeakSet(alive())
    with torch.set_grad_enabled(is_training):
        model, x = Layers(), torch.randn(5, 6)
        run = td.torch.save(model, path, x)
        check(run, model, x)
        assert alive() - {*before}
        run = td.torch.load(model, path)
        check(run, model, x)
    del run
    assert not alive() - {*before}


@torch.no_grad()
def test_calls_that_the_code_is_not_for(path):
    model, x = Layers(), torch.randn(5, 6)
    td.torch.save(model, path, x)
    run = td.torch.load(model, path)
    with pytest.raises(td.TileError, match=r"for such a call: tensor .* size mismatch"):
        run(torch.randn(4, 6))
    with pytest.raises(td.TileError, match=r"for such a call: len\(inputs\) == 1$"):
        run(x, x)
    with torch.enable_grad(), pytest.raises(td.TileError, match="not saved for such a call"):
        run(x)
    hook = model.linear.register_forward_hook(lambda *_: None)
    with pytest.raises(td.TileError, match="not saved for such a call"):
        run(x)
    hook.remove()
    check(run, model, x)
    hook = torch.nn.modules.module.register_module_forward_hook(lambda *_: None)
    with pytest.raises(td.TileError, match="_global_forward_hooks"):
        run(x)
    hook.remove()


@torch.no_grad()
def test_another_model(path):
    model, x = Layers(), torch.randn(5, 6)
    td.torch.save(model, path, x)
    with pytest.raises(td.TileError, match=r"another model\.activation: save it again"):
        td.torch.load(Layers(torch.sigmoid), path)
    with pytest.raises(td.TileError, match="saved"):
        td.torch.load(torch.nn.Linear(6, 4), path)
    wide = Layers()
    wide.linear = torch.nn.Linear(6, 5)
    with pytest.raises(td.TileError, match="not saved for such a call"):
        td.torch.load(wide, path)(x)


@torch.no_grad()
def test_changes_after_loading(path, monkeypatch):
    model, x = Layers(), torch.randn(5, 6)
    td.torch.save(model, path, x)
    run = td.torch.load(model, path)
    model.activation = torch.sigmoid
    with pytest.raises(td.TileError, match=r"another model\.activation"):
        run(x)
    del model.activation
    with pytest.raises(td.TileError, match=r"another structure: .* no attribute 'activation'"):
        run(x)
    model.activation = torch.relu
    check(run, model, x)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    with pytest.raises(td.TileError, match=r"another .*SCALE"):
        run(x)


@torch.no_grad()
def test_items_of_global_dictionaries(path, monkeypatch):
    model, x = Scaled(), torch.randn(3)
    td.torch.save(model, path, x)
    run = td.torch.load(model, path)
    check(run, model, x)
    monkeypatch.setitem(SCALES_OF_ALL, "x", 3.0)
    with pytest.raises(td.TileError, match=r"another [\w.]+\.SCALES_OF_ALL\['x'\]: save"):
        run(x)
    monkeypatch.setattr(sys.modules[__name__], "SCALES_OF_ALL", None)
    with pytest.raises(td.TileError, match=r"another structure: .* not subscriptable"):
        run(x)


@torch.no_grad()
def test_functions_of_one_name(path):
    """Functions within functions have one qualified name for all texts."""

    def made(is_sum):
        if is_sum:
            return lambda x: x + 1
        return lambda x: x * 3

    model, x = Layers(made(True)), torch.randn(5, 6)
    td.torch.save(model, path, x)
    with pytest.raises(td.TileError, match="save"):
        td.torch.load(Layers(made(False)), path)(x)


@torch.no_grad()
def test_other_versions(path, monkeypatch):
    model, x = Layers(), torch.randn(5, 6)
    td.torch.save(model, path, x)
    with monkeypatch.context() as patch:
        patch.setattr(saved_graphs, "__version__", "9.9")
        with pytest.raises(td.TileError, match=r"saved by tiledialect .*, and this is 9\.9"):
            td.torch.load(model, path)
    monkeypatch.setattr(torch, "__version__", "9.9")
    with pytest.raises(td.TileError, match="different PyTorch version"):
        td.torch.load(model, path)


@torch.no_grad()
def test_changed_sources(tmp_path, monkeypatch, path):
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "import torch\n\n\nclass Own(torch.nn.Module):\n    def forward(self, x):\n"
    file = tmp_path / "own_model_of_a_test.py"
    file.write_text(f"{text}        return x + 1\n")
    module = importlib.import_module("own_model_of_a_test")
    model, x = module.Own(), torch.randn(3)
    td.torch.save(model, path, x)
    file.write_text(f"{text}        return x + 2\n")
    with pytest.raises(td.TileError, match="source of own_model_of_a_test has changed at line 5"):
        td.torch.load(model, path)


@torch.no_grad()
def test_models_that_cannot_be_saved(path):
    class Local(torch.nn.Module):
        def forward(self, x):
            return x + 1

    with pytest.raises(td.TileError, match=r"cannot be saved: .*local scope"):
        td.torch.save(Local(), path, torch.randn(3))
    with pytest.raises(td.TileError, match="TABLE"):
        td.torch.save(Table(), path, torch.randn(3))
    device = td.devices()[0]
    with pytest.raises(td.TileError, match="needs its `device` by an id"):
        td.torch.save(Layers(), path, torch.randn(5, 6), options={"device": device})
    with pytest.raises(td.TileError, match="no option 'fast'"):
        td.torch.save(Layers(), path, torch.randn(5, 6), options={"fast": True})
    with pytest.raises(td.TileError, match=r"cannot be saved: .*builtin"):
        td.torch.save(Printing(), path, torch.randn(3))
    with pytest.raises(td.TileError, match=r"save takes a torch\.nn\.Module, not builtin_function"):
        td.torch.save(torch.relu, path, torch.randn(3))
    assert not path.exists()
    with pytest.raises(td.TileError, match=r"cannot write .*none: No such file"):
        td.torch.save(Layers(), path / "none", torch.randn(5, 6))


@pytest.mark.parametrize("data", [b"", b"text", pickle.dumps((1, 2)), pickle.dumps(3)])
def test_other_files(path, data):
    with pytest.raises(td.TileError, match="cannot be read"):
        td.torch.load(Layers(), path)
    path.write_bytes(data)
    with pytest.raises(td.TileError, match="has no model that `save` has written"):
        td.torch.load(Layers(), path)


@torch.no_grad()
def test_damaged_files(path):
    model, x = Layers(), torch.randn(5, 6)
    td.torch.save(model, path, x)
    with pytest.raises(td.TileError, match=r"load takes a torch\.nn\.Module, not Tensor"):
        td.torch.load(x, path)
    data = path.read_bytes()
    for place in (0, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(td.TileError, match="has no model that `save` has written"):
            td.torch.load(model, path)


@torch.no_grad()
def test_files_are_written_as_a_whole(path, monkeypatch):
    model, x = Layers(), torch.randn(5, 6)
    td.torch.save(model, path, x)

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tiledialect.disk.sealed", fail)
        with pytest.raises(KeyboardInterrupt):
            td.torch.save(model, path, x)
    check(td.torch.load(model, path), model, x)
    assert [*path.parent.iterdir()] == [path]


@torch.no_grad()
def test_arguments(path):
    model, x = Layers(), torch.randn(5, 6)
    compiled = torch.compile(model, backend="tiledialect")
    for call, said in (
        (lambda: td.torch.save(compiled, path, x), "save takes a model itself"),
        (lambda: td.torch.load(compiled, path), "load takes a model itself"),
        (lambda: td.torch.save(model, None, x), "save takes a path, not NoneType"),
        (lambda: td.torch.load(model, 3), "load takes a path, not int"),
        (lambda: td.torch.save(model, path, x, options=3), "`options` must be a mapping"),
        (lambda: td.torch.save(model, path, x, options=None), "`options` must be a mapping"),
    ):
        with pytest.raises(td.TileError, match=said):
            call()
    assert not path.exists()


@torch.no_grad()
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_are_refused(path, copied):
    model, x = Layers(), torch.randn(5, 6)
    saved = td.torch.save(model, path, x)
    with pytest.raises(td.TileError, match="copy the model, and load the file"):
        copied(saved)
    check(td.torch.load(copy.deepcopy(model), path), model, x)


def test_texts_of_constants():
    """Sets have the same text in another order, as they have one in each process."""
    sets = frozenset([0, 8]), frozenset([8, 0])
    assert repr(sets[0]) != repr(sets[1])
    assert len({value_text((1.5, own, b"a")) for own in sets}) == 1
    assert len({*map(value_text, (1, 1.0, True, "1", b"1", (1,), [1], frozenset([1])))}) == 8


@torch.no_grad()
def test_another_process(path):
    """Names that Dynamo numbers are others there."""
    code = (
        "import sys, torch, tiledialect as td\n"
        "torch.manual_seed(0)\n"
        "model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8),\n"
        "                            torch.nn.Hardswish()).eval()\n"
        "x = torch.randn(1, 3, 8, 8)\n"
        "with torch.no_grad():\n"
        "    run = (td.torch.load(model, sys.argv[1]) if sys.argv[2:] else\n"
        "           td.torch.save(model, sys.argv[1], x))\n"
        "    torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-4)\n"
        "print(sum(torch._dynamo.utils.counters['frames'].values()))\n"
    )
    for last in ([], ["load"]):
        command = [sys.executable, "-c", code, str(path), *last]
        found = subprocess.run(command, capture_output=True, text=True, cwd=Path.cwd())
        assert found.returncode == 0, found.stderr
        assert "Exception ignored" not in found.stderr
    assert found.stdout == "0\n"
