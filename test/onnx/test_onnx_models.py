"""Models of ONNX as functions: calls, gradients, shapes, and errors."""

# pyright: basic

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiledialect as td

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from onnx_models import onnx_model  # noqa: E402


def _dense() -> tuple[Any, np.ndarray, np.ndarray]:
    r = np.random.default_rng(0)
    w, c = r.standard_normal((3, 4)).astype("f4"), r.standard_normal(4).astype("f4")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "c"], ["s"]),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    return onnx_model(nodes, [("x", ["n", 3])], [("y", ["n", 4])], w=w, c=c), w, c


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
    model = td.onnx.load(onnx_model([empty, node], [("x", [2, 3])], [("y", None)]))
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


def test_cotangents_by_name():
    step = td.onnx.load(_dense()[0]).gradient("c")
    x, dy = np.ones((2, 3), "f4"), np.ones((2, 4), "f4")
    assert np.array_equal(step.reference(x, Dy=dy), step.reference(x, dy))
    with pytest.raises(td.TileError, match="has no input Dz; it takes x"):
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


def test_profile_gives_sequences():
    node = helper.make_node("SplitToSequence", ["x"], ["s"], axis=1)
    proto = onnx_model([node], [("x", [4, 3])], [])
    proto.graph.output.append(helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None))
    outputs, _ = td.onnx.load(proto).profile(np.arange(12, dtype="f4").reshape(4, 3))
    assert isinstance(outputs, list) and [a.shape for a in outputs] == [(4, 1)] * 3


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
    proto = onnx_model([node], [("x", [2, 6])], [("y", None)])
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
    proto = onnx_model([helper.make_node("Neg", ["i"], ["y"])], [], [("y", None)])
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
    function, arrays = td.onnx.load(onnx_model(nodes, *ends)).bind(
        np.float32([5, 7]), np.ones(2, "f4")
    )
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
    proto = onnx_model([helper.make_node(kind, [*inputs], ["y"])], [("x", None)], [("y", None)])
    with pytest.raises(td.TileError, match=message):
        td.onnx.load(proto).reference(np.ones((2, 3), "f4"))


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (
            helper.make_node("Tile", ["x", "axes"], ["y"]),
            "its inputs or attributes do not fit: zip",
        ),
        (
            helper.make_node("RandomNormal", [], ["y"], shape=[2], dtype=0),
            "Invalid tensor data type",
        ),
        (
            helper.make_node("SequenceMap", [], ["y"], body=helper.make_graph([], "body", [], [])),
            "do not fit: Expected 1 or more",
        ),
        (helper.make_node("LRN", ["x"], ["y"], size=0), "do not fit: float division by zero"),
        (helper.make_node("Unsqueeze", ["x", "axes"], ["y"]), r"axes \[0, 0\] name one twice"),
    ],
)
def test_nodes_that_nothing_checks_before_conversions(node: Any, message: str):
    proto = onnx_model([node], [("x", [1, 2, 3])], [("y", None)], axes=np.array([0, 0]))
    with pytest.raises(td.TileError, match=f"{node.op_type} of y cannot be converted: .*{message}"):
        td.onnx.load(proto).function(np.ones((1, 2, 3), "f4"))


def test_empty_sequence_has_no_type_to_fit():
    empty = helper.make_node("SequenceEmpty", [], ["e"])
    insert = helper.make_node("SequenceInsert", ["e", "x"], ["s"])
    length = helper.make_node("SequenceLength", ["s"], ["y"])
    model = td.onnx.load(onnx_model([empty, insert, length], [("x", [2])], [("y", [])]))
    assert model.reference(np.ones(2, "f4")) == 1


def test_two_results_of_one_name():
    nodes = [helper.make_node(kind, ["x"], ["y"]) for kind in ("Relu", "Tanh")]
    with pytest.raises(td.TileError, match="two nodes of the graph have a result y"):
        td.onnx.load(onnx_model(nodes, [("x", [2])], [("y", [2])])).reference(np.ones(2, "f4"))


def test_model_without_outputs():
    with pytest.raises(td.TileError, match="the model has no outputs"):
        td.onnx.load(onnx.ModelProto())


@pytest.mark.parametrize(
    ("wrt", "message"),
    (
        ("v", "net has no input or initializer v; there is x, w, c"),
        (5, "must name inputs or initializers of net"),
    ),
)
def test_unknown_gradient(wrt: Any, message: str):
    with pytest.raises(td.TileError, match=message):
        td.onnx.load(_dense()[0]).gradient(wrt)


def test_operators_that_are_refused_are_named():
    nodes = [helper.make_node("NonZero", ["x"], ["y"], name="places")]
    proto = onnx_model(nodes, [("x", [4])], [("y", None)])
    message = "NonZero places cannot be converted: the size of its result depends on numbers"
    with pytest.raises(td.TileError, match=message):
        td.onnx.load(proto).reference(np.zeros(4, "f4"))


def test_given_models_with_wrong_types():
    proto = _dense()[0]
    proto.graph.initializer[0].dims[0] = 63
    with pytest.raises(td.TileError, match="the model cannot be read: cannot reshape"):
        td.onnx.load(proto)
    proto = _dense()[0]
    proto.graph.input[0].type.tensor_type.elem_type = 99
    with pytest.raises(td.TileError, match="no element type of number 99 in ONNX"):
        td.onnx.load(proto)(np.ones((2, 3), "f4"))


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
    assert backend.supports_device("CPU") and not backend.supports_device("FPGA")
    with pytest.raises(td.TileError, match="there is no OpenCL device for FPGA"):
        backend.prepare(proto, "FPGA")
    with pytest.raises(td.TileError, match="net takes x, each once; 2 were given"):
        backend.run_model(proto, [x, x])


def test_backend_runs_nodes():
    from tiledialect.onnx import backend

    node = helper.make_node("TopK", ["x", "k"], ["v", "i"], largest=0)
    found, _ = backend.run_node(node, [np.float32([[3, 1, 2]]), np.array([2])])
    assert np.array_equal(found, [[1, 2]])


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
    model = td.onnx.load(onnx_model([node], [*shapes.items()], [("Y", None)], **known))
    with pytest.raises(td.TileError, match=message):
        model(*(np.zeros(s, np.float32) for s in shapes.values()))
