"""Models of ONNX as functions: calls, gradients, shapes, and errors."""

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

from tiledialect.onnx.initializers import Initializers  # noqa: E402


def _model(nodes: Any, inputs: Any, outputs: Any, **weights: np.ndarray) -> Any:
    def infos(given: Any) -> Any:
        return [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in given]

    initializers = [numpy_helper.from_array(v, k) for k, v in weights.items()]
    graph = helper.make_graph(nodes, "net", infos(inputs), infos(outputs), initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def _dense() -> tuple[Any, np.ndarray, np.ndarray]:
    r = np.random.default_rng(0)
    w, c = r.standard_normal((3, 4)).astype("f4"), r.standard_normal(4).astype("f4")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "c"], ["s"]),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    return _model(nodes, [("x", ["n", 3])], [("y", ["n", 4])], w=w, c=c), w, c


def test_file_runs_for_several_batches(device: td.Device, tmp_path: Path):
    proto, w, c = _dense()
    onnx.save(proto, str(tmp_path / "dense.onnx"))
    model = td.onnx.load(tmp_path / "dense.onnx", device=device)
    assert model.inputs == ("x",) and model.parameters == ("w", "c")
    for count in (2, 5):
        x = np.arange(count * 3, dtype="f4").reshape(count, 3)
        # A sum of three products in f32.
        np.testing.assert_allclose(model(x), np.maximum(x @ w + c, 0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (
            helper.make_node("Constant", [], ["y"]),
            "Constant of y cannot be converted: it has no value",
        ),
        (helper.make_node("Einsum", ["x"], ["y"], equation="ij->iij"), "each axis of the output"),
        (helper.make_node("Einsum", ["x"], ["y"], equation="ij->i..."), "each axis of the output"),
        (helper.make_node("Transpose", ["x"], ["y"], perm=[0]), "is no order of 2 axes"),
        (helper.make_node("ConcatFromSequence", ["none"], ["y"], axis=0), "the sequence is empty"),
    ],
)
def test_nodes_that_do_not_fit(node: Any, words: str):
    empty = helper.make_node("SequenceEmpty", [], ["none"])
    model = td.onnx.load(_model([empty, node], [("x", [2, 3])], [("y", None)]))
    with pytest.raises(td.TileError) as caught:
        model.reference(np.ones((2, 3), "f4"))
    assert words in str(caught.value)


def test_calls_with_arrays_of_one_shape(monkeypatch: pytest.MonkeyPatch):
    """After the first call nothing is bound by name, nor is an initializer looked at; other values
    are."""
    model = td.onnx.load(_dense()[0])
    x = np.ones((2, 3), "f4")
    expected = model(x)
    bound: list[int] = []
    slow = type(model)._bound

    def counted(self: Any, args: Any, named: Any) -> Any:
        bound.append(1)
        return slow(self, args, named)

    monkeypatch.setattr(type(model), "_bound", counted)
    assert np.array_equal(model(x + 0), expected) and not bound
    with monkeypatch.context() as context:
        if model.function(x).device.uses_host_memory:
            context.setattr(td.Function, "__call__", None)
        bound.clear()
        assert np.array_equal(model(2 * x - x), expected) and not bound
    assert np.array_equal(model(x=x), expected) and len(bound) == 1
    assert np.array_equal(model(x.tolist()), expected) and len(bound) == 2
    assert np.array_equal(model(np.asfortranarray(x)), expected) and len(bound) == 3
    assert model(np.ones((1, 3), "f4")).shape == (1, 4) and len(bound) == 4
    with pytest.raises(td.TileError, match="float64 was given"):
        model(np.ones((2, 3)))


def _summed_weights() -> tuple[Any, np.ndarray]:
    w = np.arange(32 * 48, dtype="f4").reshape(32, 48) % 7
    nodes = [
        helper.make_node("ReduceSum", ["w", "axes"], ["s"], keepdims=0),
        helper.make_node("Mul", ["x", "s"], ["p"]),
        helper.make_node("Add", ["p", "c"], ["y"]),
    ]
    weights = {"w": w, "axes": np.array([1]), "c": np.ones(32, "f4")}
    return _model(nodes, [("x", ["n", 32])], [("y", ["n", 32])], **weights), w


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
    """Their numbers are in memory once: those of a group are gone when the next one begins."""
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
    proto = _model(nodes, [("x", ["n", 32])], [(names[-1], ["n", 32])], **given)
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
    onnx.save(_model(nodes, [("x", ["n", 32])], [("y", ["n", 32])], **weights), str(path))
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
    proto = _model(
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
    proto = _model(nodes, [("x", [3, 3])], [("y", [3, 3])], w=w)
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


def test_cotangents_by_name():
    step = td.onnx.load(_dense()[0]).gradient("c")
    x, dy = np.ones((2, 3), "f4"), np.ones((2, 4), "f4")
    assert np.array_equal(step.reference(x, Dy=dy), step.reference(x, dy))
    with pytest.raises(td.TileError, match="has no input Dz"):
        step(x, Dz=dy)
    with pytest.raises(td.TileError, match="net_gradient needs Dy: cotangents of numbers alone"):
        step(x)


def test_profile_by_node():
    proto, _, _ = _dense()
    for node, name in zip(proto.graph.node, ("dense", "", "activation"), strict=True):
        node.name = name
    model = td.onnx.load(proto)
    y, profile = model.profile(np.ones((2, 3), "f4"))
    assert y.shape == (2, 4)
    times = {t.layer: t.seconds for t in profile.layers.layers}
    assert set(times) == {"dense", "Add of s", "activation"}
    # One kernel, the time of which is that of its nodes by their operations.
    assert sum(times.values()) == pytest.approx(profile.seconds)
    assert times["dense"] > times["activation"] > 0
    assert ">Add of s<" in profile.layers.svg and "1 launch" in str(profile.layers)


def test_gradient_by_initializers():
    proto, w, c = _dense()
    step = td.onnx.load(proto).value_and_gradient(["w", "c"])
    x, dy = np.ones((2, 3), "f4"), np.ones((2, 4), "f4")
    y, dw, dc = step.reference(x, dy)
    passes = (x @ w + c > 0).astype("f4")
    np.testing.assert_allclose(y, np.maximum(x @ w + c, 0), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(dw, x.T @ passes, rtol=1e-6)
    np.testing.assert_allclose(dc, passes.sum(0), rtol=1e-6)


def test_shape_that_an_input_tells():
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    proto = _model([node], [("x", [2, 6])], [("y", None)])
    proto.graph.input.append(helper.make_tensor_value_info("s", TensorProto.INT64, [2]))
    model, x = td.onnx.load(proto), np.arange(12, dtype="f4").reshape(2, 6)
    for sizes in ([3, 4], [-1, 2]):
        found = model.reference(x, np.array(sizes))
        assert np.array_equal(found, x.reshape(sizes))


class Unreadable:
    """An array of another library that gives no numbers."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("it needs a gradient")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), r"net needs the input x, float of the shape \(n, 3\)"),
        ((np.zeros((2, 3)),), "input x is of float32, and float64 was given"),
        ((np.zeros((2, 4), "f4"),), r"input x has the shape \(n, 3\), and \(2, 4\) was given"),
        ((np.zeros((2, 3), "f4"), 1), "net takes x, each once; 2 were given"),
        (("x.npy",), "input x is a str, not an array of numbers"),
        ((Unreadable(),), r"input x is a \S*Unreadable that cannot be read: it needs a gradient"),
    ],
)
def test_inputs_that_do_not_fit(given: Any, message: str):
    with pytest.raises(td.TileError, match=message):
        td.onnx.load(_dense()[0])(*given)


@pytest.mark.parametrize("given", [[1, 2.5], [1, 2**40], [[1], [1, 2]]])
def test_lists_of_numbers_that_do_not_fit(given: Any):
    proto = _model([helper.make_node("Neg", ["i"], ["y"])], [], [("y", None)])
    proto.graph.input.append(helper.make_tensor_value_info("i", TensorProto.INT32, None))
    assert td.onnx.load(proto).reference([1, 2]).tolist() == [-1, -2]
    with pytest.raises(td.TileError, match="input i "):
        td.onnx.load(proto)(given)


def test_names_that_would_be_one():
    nodes = [
        helper.make_node("Sub", ["a/b", "a:b"], ["a b"]),
        helper.make_node("Neg", ["a b"], ["a,b"]),
    ]
    ends = [("a/b", [2]), ("a:b", [2])], [("a b", [2]), ("a,b", [2])]
    function, arrays = td.onnx.load(_model(nodes, *ends)).bind(np.float32([5, 7]), np.ones(2, "f4"))
    assert function.inputs == ("a_b", "a_b_1") and function.outputs == ("a_b_2", "a_b_3")
    less, more = function.reference(**arrays)
    assert less.tolist() == [4, 6] and more.tolist() == [-4, -6]


@pytest.mark.parametrize(
    ("kind", "inputs", "message"),
    [
        ("MatMul", "xx", "MatMul of y cannot be converted: Incompatible dimensions"),
        ("Add", "x", "Add of y cannot be converted: .* has input size 1"),
        ("Concat", "x", "Concat of y cannot be converted: Required attribute 'axis' is missing"),
    ],
)
def test_nodes_that_do_not_fit_their_operator(kind: str, inputs: str, message: str):
    proto = _model([helper.make_node(kind, [*inputs], ["y"])], [("x", None)], [("y", None)])
    with pytest.raises(td.TileError, match=message):
        td.onnx.load(proto).reference(np.ones((2, 3), "f4"))


def test_empty_sequence_has_no_type_to_fit():
    empty = helper.make_node("SequenceEmpty", [], ["e"])
    insert = helper.make_node("SequenceInsert", ["e", "x"], ["s"])
    length = helper.make_node("SequenceLength", ["s"], ["y"])
    model = td.onnx.load(_model([empty, insert, length], [("x", [2])], [("y", [])]))
    assert model.reference(np.ones(2, "f4")) == 1


def test_two_results_of_one_name():
    nodes = [helper.make_node(kind, ["x"], ["y"]) for kind in ("Relu", "Tanh")]
    with pytest.raises(td.TileError, match="two nodes of the graph have a result y"):
        td.onnx.load(_model(nodes, [("x", [2])], [("y", [2])])).reference(np.ones(2, "f4"))


def test_model_without_outputs():
    with pytest.raises(td.TileError, match="the model has no outputs"):
        td.onnx.load(onnx.ModelProto())


def test_unknown_gradient():
    with pytest.raises(td.TileError, match="net has no input or initializer v"):
        td.onnx.load(_dense()[0]).gradient("v")


def test_operators_that_are_refused_are_named():
    nodes = [helper.make_node("NonZero", ["x"], ["y"], name="places")]
    proto = _model(nodes, [("x", [4])], [("y", None)])
    message = "NonZero places cannot be converted: the size of its result depends on numbers"
    with pytest.raises(td.TileError, match=message):
        td.onnx.load(proto).reference(np.zeros(4, "f4"))


def test_files_that_are_no_models(tmp_path: Path):
    (tmp_path / "text.onnx").write_text("no model")
    with pytest.raises(td.TileError, match=r"text\.onnx cannot be read: it (is|ends)"):
        td.onnx.load(tmp_path / "text.onnx")


def test_backend():
    from tiledialect.onnx import backend

    proto, w, c = _dense()
    x = np.ones((2, 3), "f4")
    (y,) = backend.run_model(proto, [x])
    np.testing.assert_allclose(y, np.maximum(x @ w + c, 0), rtol=1e-5, atol=1e-5)
    assert backend.supports_device("CPU")


X = (1, 4, 5, 6)
REFUSED = {
    "kernel of other features": (
        "Conv",
        {"X": X, "W": (4, 3, 3, 3)},
        {"group": 2},
        "4 x 3 features",
    ),
    "kernel of one feature": ("Conv", {"X": X, "W": (4, 1, 3, 3)}, {}, "in 1 groups"),
    "no groups": ("Conv", {"X": X, "W": (4, 4, 3, 3)}, {"group": 0}, "0 groups"),
    "deformed kernel": (
        "DeformConv",
        {"X": X, "W": (4, 4, 3, 3), "O": (1, 18, 3, 4)},
        {"group": 2},
        "4 x 4 features in 2 groups does not fit 4",
    ),
    "no groups of offsets": (
        "DeformConv",
        {"X": X, "W": (4, 4, 3, 3), "O": (1, 18, 3, 4)},
        {"offset_group": 0},
        "4 features are not 0 groups",
    ),
    "offsets": ("DeformConv", {"X": X, "W": (4, 4, 3, 3), "O": (1, 17, 3, 4)}, {}, "offset has"),
    "bins": ("RoiAlign", {"X": X, "R": (2, 4)}, {"B": [0, 0], "output_height": -1}, "-1 x 1"),
    "scales": ("Resize", {"X": X}, {"scales": [2.0, 2.0]}, "do not fit 4 axes"),
    "scale of 0": ("Resize", {"X": X}, {"scales": [1.0, 1.0, 0.0, 1.0]}, "do not fit 4 axes"),
    "sizes": ("Resize", {"X": X}, {"sizes": [1, 4, -2, 3]}, "do not fit 4 axes"),
    "nearest": (
        "Resize",
        {"X": X},
        {"sizes": [1, 4, 2, 3], "nearest_mode": "near"},
        "no nearest_mode near",
    ),
    "box": (
        "Resize",
        {"X": X},
        {
            "sizes": [1, 4, 2, 3],
            "coordinate_transformation_mode": "tf_crop_and_resize",
            "roi": [0.0, 1.0],
        },
        "roi",
    ),
}
INPUTS = {"B": np.int64, "roi": np.float32, "scales": np.float32, "sizes": np.int64}


@pytest.mark.parametrize("name", REFUSED)
def test_windows_and_sizes_that_do_not_fit(name: str) -> None:
    op, shapes, attributes, message = REFUSED[name]
    known = {k: np.array(attributes[k], t) for k, t in INPUTS.items() if k in attributes}
    rest = {k: v for k, v in attributes.items() if k not in INPUTS}
    last = {"Resize": ["roi", "scales", "sizes"], "RoiAlign": ["B"]}.get(op, [])
    names = [*shapes, *(k if k in known else "" for k in last)]
    node = helper.make_node(op, names, ["Y"], **rest)
    model = td.onnx.load(_model([node], [*shapes.items()], [("Y", None)], **known))
    with pytest.raises(td.TileError, match=message):
        model(*(np.zeros(s, np.float32) for s in shapes.values()))
