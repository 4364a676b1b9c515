"""Initializers of models of ONNX: files, memory, and what is computed of them alone."""

# pyright: basic

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest
from packed_results import compiled_forms

import tiledialect as td
from tiledialect.api.packing import constant_groups

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx_models import onnx_model  # noqa: E402

from tiledialect.onnx.initializers import Initializers  # noqa: E402


def _summed_weights() -> tuple[Any, np.ndarray]:
    w = np.arange(32 * 48, dtype="f4").reshape(32, 48) % 7
    nodes = [
        helper.make_node("ReduceSum", ["w", "axes"], ["s"], keepdims=0),
        helper.make_node("Mul", ["x", "s"], ["p"]),
        helper.make_node("Add", ["p", "c"], ["y"]),
    ]
    weights = {"w": w, "axes": np.array([1]), "c": np.ones(32, "f4")}
    return onnx_model(nodes, [("x", ["n", 32])], [("y", ["n", 32])], **weights), w


def test_what_depends_on_initializers_alone_is_computed_once(device: td.Device):
    proto, w = _summed_weights()
    model = td.onnx.load(proto, device=device)
    for k in range(3):
        x = np.full((8, 32), k, "f4")
        # Sums of whole numbers.
        assert np.array_equal(model(x), x * w.sum(1) + 1)
    assert np.array_equal(model(x[:2]), x[:2] * w.sum(1) + 1) and len(model._packed) == 1
    packing = model._bound((x,), {})[0].packing
    assert packing is not None and compiled_forms(packing.rest)
    assert not any(compiled_forms(own.function) for own in packing.packers)
    whole = model.function(x).profile(*model.bind(x)[1].values())[1]
    assert len(whole.kernels) == 2 and len(model.profile(x)[1].kernels) == 1


def test_initializers_are_read_one_group_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Numbers are in memory once: those of a group are gone when the next one begins."""
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    monkeypatch.setattr(constant_groups, "LARGE", 1)
    monkeypatch.setattr(constant_groups, "SMALL", 0)
    weights = {f"w{k}": np.full((32, 1000 + k), k, "f4") for k in range(4)}
    nodes = [helper.make_node("ReduceSum", [w, "axes"], [f"s{w}"], keepdims=0) for w in weights]
    names = ["x", *(f"y{w}" for w in weights)]
    for before, w, after in zip(names, weights, names[1:], strict=False):
        nodes.append(helper.make_node("Mul", [before, f"s{w}"], [f"p{w}"]))
        nodes.append(helper.make_node("Add", [f"p{w}", f"s{w}"], [after]))
    given = {"axes": np.array([1]), **weights}
    proto = onnx_model(nodes, [("x", ["n", 32])], [(names[-1], ["n", 32])], **given)
    path = tmp_path / "sums.onnx"
    onnx.save_model(proto, str(path))
    model = td.onnx.load(path)
    read: list[Any] = []
    most: list[int] = []
    taken = Initializers.taken

    def counted(self: Initializers, name: str) -> np.ndarray:
        array = taken(self, name)
        if name in weights:
            read.append(ref(array))
            most.append(sum(a.nbytes for own in read if (a := own()) is not None))
        return array

    monkeypatch.setattr(Initializers, "taken", counted)
    x = np.zeros((8, 32), "f4")
    first = model(x)
    assert most == [w.nbytes for w in reversed(weights.values())]
    # Functions of other shapes share what is computed.
    assert np.array_equal(model(x[:2]), first[:2])
    assert len(most) == 4


@pytest.mark.parametrize("is_beside", [False, True])
def test_initializers_of_files_are_given_up(tmp_path: Path, is_beside: bool):
    proto, w = _summed_weights()
    path, beside = tmp_path / "sums.onnx", tmp_path / "sums.data"
    options: dict[str, Any] = {"save_as_external_data": is_beside, "size_threshold": 0}
    onnx.save_model(proto, str(path), location=beside.name, **options)
    model = td.onnx.load(path)
    kept = model._initializers._arrays
    x = np.full((8, 32), 2, "f4")
    assert np.array_equal(model(x), x * w.sum(1) + 1)
    # What other kernels read stays.
    assert kept["w"] is None and kept["c"] is not None and kept["axes"] is not None
    # No call needs it again, in any form.
    path.rename(tmp_path / "elsewhere.onnx")
    assert np.array_equal(model(x=x), model(x)) and kept["w"] is None
    with pytest.raises(td.TileError, match=r"sums.onnx cannot be read"):
        model.reference(x)
    (tmp_path / "elsewhere.onnx").rename(path)
    assert np.array_equal(model.reference(x), model(x))
    assert np.array_equal(model.gradient("x")(x, np.ones_like(x)), np.tile(w.sum(1), (8, 1)))
    changed = td.onnx.load(path)
    changed(x)
    (beside if is_beside else path).touch()
    with pytest.raises(td.TileError, match="has changed since it was loaded"):
        changed.reference(x)


def _reads(model: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the initializers that are read from now on."""
    found: list[str] = []
    taken = type(model._initializers).taken

    def told(self: Any, name: str) -> np.ndarray:
        if self._arrays[name] is None:
            found.append(name)
        return taken(self, name)

    monkeypatch.setattr(type(model._initializers), "taken", told)
    return found


def _two_weights(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """A file of a model that sums a large weight, and adds one as it is."""
    w, c = np.ones((48, 32), "f4"), np.arange(4096, dtype="f4").reshape(128, 32)
    nodes = [
        helper.make_node("ReduceSum", ["w", "axes"], ["v"], keepdims=0),
        helper.make_node("Mul", ["x", "v"], ["p"]),
        helper.make_node("Slice", ["c", "begin", "size"], ["d"]),
        helper.make_node("Shape", ["p"], ["size"]),
        helper.make_node("Add", ["p", "d"], ["y"]),
    ]
    nodes[2], nodes[3] = nodes[3], nodes[2]
    weights = {"w": w, "axes": np.array([0]), "c": c, "begin": np.array([0, 0])}
    onnx.save(onnx_model(nodes, [("x", ["n", 32])], [("y", ["n", 32])], **weights), str(path))
    return w, c


def test_initializers_of_files_are_read_when_kernels_need_them(
    device: td.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    w, c = _two_weights(tmp_path / "two.onnx")
    model = td.onnx.load(tmp_path / "two.onnx", device=device)
    reads = _reads(model, monkeypatch)
    for count in (8, 16):
        x = np.full((count, 32), 2, "f4")
        # Sums of whole numbers.
        assert np.array_equal(model(x), x * w.sum(0) + c[:count])
        assert sorted(reads) == ["c", "w"]
    # On a device with memory of its own the host's is needed no more.
    assert (model._initializers._arrays["c"] is None) != device.uses_host_memory


@pytest.mark.parametrize("is_text", (False, True))
def test_numbers_in_any_field_are_read(tmp_path: Path, is_text: bool):
    w = np.arange(5000, dtype="f4").reshape(50, 100)
    proto = onnx_model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [2, 50])], [("y", [2, 100])]
    )
    own = helper.make_tensor("w", TensorProto.FLOAT, w.shape, w.reshape(-1))
    proto.graph.initializer.append(own)
    path = tmp_path / ("net.textproto" if is_text else "net.onnx")
    onnx.save(proto, str(path))
    x = np.ones((2, 50), "f4")
    assert np.array_equal(td.onnx.load(path)(x), x @ w)


def test_files_that_end_early(tmp_path: Path):
    _two_weights(tmp_path / "two.onnx")
    data = (tmp_path / "two.onnx").read_bytes()
    for size in (0, 100, len(data) // 2, len(data) - 1):
        path = tmp_path / f"{size}.onnx"
        path.write_bytes(data[:size])
        with pytest.raises(td.TileError, match=r"onnx cannot be read: "):
            td.onnx.load(path)


def test_constants_of_nodes_may_be_in_files(tmp_path: Path):
    w, c, x = (np.full((3, 3), k, np.float32) for k in (2, 3, 4))
    node = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(c))
    product, total = ("MatMul", ["x", "w"], ["p"]), ("Add", ["p", "c"], ["y"])
    nodes = [node, *(helper.make_node(*own) for own in (product, total))]
    proto = onnx_model(nodes, [("x", [3, 3])], [("y", [3, 3])], w=w)
    path = tmp_path / "net.onnx"
    options: dict[str, Any] = {"size_threshold": 0, "convert_attribute": True}
    onnx.save(proto, str(path), save_as_external_data=True, location="net.data", **options)
    assert np.array_equal(td.onnx.load(path)(x), x @ w + c)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_have_the_numbers(copied: Any, tmp_path: Path):
    _two_weights(tmp_path / "two.onnx")
    model, x = td.onnx.load(tmp_path / "two.onnx"), np.ones((128, 32), "f4")
    found, wanted = copied(model), model.reference(x)
    step = copied(model.gradient("w"))
    (tmp_path / "two.onnx").unlink()
    assert np.array_equal(found.reference(x), wanted)
    assert step.reference(x, np.ones_like(wanted)).shape == (48, 32)


def test_given_models_stay_as_they_are():
    proto, _ = _summed_weights()
    before = proto.SerializeToString()
    model = td.onnx.load(proto)
    x = np.ones((2, 32), "f4")
    model(x)
    assert proto.SerializeToString() == before
    proto.graph.initializer[0].ClearField("raw_data")
    assert np.array_equal(model.reference(x), model(x))
