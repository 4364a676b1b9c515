"""Converted graphs that are kept on disk, for other processes."""

from __future__ import annotations

import operator
import warnings

import pytest

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch import backend, graphs, partition  # noqa: E402
from tiledialect.torch.kept_graphs import given_text, graph_text, key  # noqa: E402

aten = torch.ops.aten
pytestmark = pytest.mark.usefixtures("reset", "folder")


@pytest.fixture
def converted(monkeypatch):
    """Calls of conversions, and of searches for refusals."""
    found = []

    def record(module, name):
        made = getattr(module, name)

        def recorded(*given, **options):
            found.append(name)
            return made(*given, **options)

        monkeypatch.setattr(module, name, recorded)

    record(graphs, "convert_graph")
    record(partition, "_tried")
    return found


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)

    def forward(self, x):
        return self.norm(self.conv(x)).relu()


def block():
    return Block(), (torch.randn(2, 3, 6, 6),)


def views():
    def call(x, y):
        return (x * 2).permute(2, 0, 1), y.view(2, -1), y.sum(), x.shape[0]

    return call, (torch.randn(2, 3, 4), torch.randn(4, 3))


def draws():
    return lambda x: torch.nn.functional.dropout(x) + 1, (torch.ones(64),)


def nothing():
    return lambda x: x.view(-1), (torch.randn(2, 3),)


def updates():
    def call(x, y):
        x.add_(y)
        return x * y

    return call, (torch.randn(3), torch.randn(3))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("made", [block, views, draws, nothing, updates])
def test_another_process_converts_nothing(made, dynamic, converted):
    torch.manual_seed(0)
    function, inputs = made()
    found = []
    for _ in range(2):
        torch.compiler.reset()
        torch.manual_seed(1)
        own = [x.clone().requires_grad_(made is block) for x in inputs]
        call = torch.compile(
            function, backend="tiledialect", options={"strict": True}, dynamic=dynamic
        )
        outputs = call(*own)
        if made is block:
            outputs.sum().backward()
            outputs = outputs.detach(), own[0].grad
        found.append((outputs, [x.detach() for x in own]))
        count = len(converted)
    assert len(converted) == count > 0
    torch.testing.assert_close(*found, rtol=0, atol=0)
    if made is not draws:
        plain = function(*(x.clone() for x in inputs))
        first = found[0][0][0] if made is block else found[0][0]
        torch.testing.assert_close(first, plain, rtol=1e-4, atol=1e-5)


def test_refusals_are_kept_with_their_reasons(converted):
    def spectrum(x):
        return torch.view_as_real(torch.fft.fft(x.cos())).sum(-1).sin()

    x, told = torch.randn(6), []
    for _ in range(2):
        torch.compiler.reset()
        backend._warned.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", td.TileWarning)
            found = torch.compile(spectrum, backend="tiledialect")(x)
        told.append([str(w.message) for w in caught])
        torch.testing.assert_close(found, spectrum(x), rtol=1e-4, atol=1e-5)
    assert told[0] == told[1] and told[0]
    assert converted.count("_tried") == 1


def test_options_and_shapes_are_of_the_key(converted):
    x = torch.randn(8, 8)
    calls = [(x, "f32"), (x[:4], "f32"), (x, "exact"), (x.T, "f32"), (x.half(), "f32")]
    for k, (own, precision) in enumerate(calls):
        torch.compiler.reset()
        options = {"precision": precision}
        call = torch.compile(lambda y: y @ y.mT, backend="tiledialect", options=options)
        expected = (own @ own.mT).float()
        torch.testing.assert_close(call(own).float(), expected, rtol=2e-3, atol=2e-3)
        assert converted.count("convert_graph") == k + 1


# -- texts of graphs -----------------------------------------------------------------------------


def graph(target=aten.add.Tensor, args=(1,), value=None, given=None, stack=None):
    """A graph of a call with an input and other arguments."""
    made = torch.fx.Graph()
    x = made.placeholder("x")
    x.meta["val"] = torch.empty(2, 3) if given is None else given
    node = made.call_function(target, (x, *args))
    node.meta["val"] = torch.empty(2, 3) if value is None else value
    node.meta["nn_module_stack"] = {"m": (f"L['self'].{stack}", object)} if stack else {}
    made.output((node,))
    return made


DIFFERENT = {
    "plain": graph(),
    "operator": graph(aten.sub.Tensor),
    "overload": graph(aten.add.Scalar),
    "number": graph(args=(2,)),
    "real": graph(args=(1.0,)),
    "boolean": graph(args=(True,)),
    "list": graph(args=([1],)),
    "text": graph(args=("1",)),
    "type": graph(args=(torch.int64,)),
    "two": graph(args=(1, 1)),
    "shape": graph(given=torch.empty(3, 2)),
    "strides": graph(given=torch.empty(3, 2).T),
    "offset": graph(given=torch.empty(3, 3)[1:]),
    "element type": graph(given=torch.empty(2, 3, dtype=torch.int32)),
    "result": graph(value=torch.empty(3, 2).T),
    "results": graph(value=[torch.empty(2, 3)]),
    "layer": graph(stack="conv"),
    "function": graph(operator.getitem),
}


def test_texts_tell_graphs_apart():
    texts = {name: graph_text(own) for name, own in DIFFERENT.items()}
    assert None not in texts.values()
    assert len({*texts.values()}) == len(texts)
    assert graph_text(graph()) == texts["plain"]


@torch.library.custom_op("kept_graphs::count", mutates_args=())
def count(x: torch.Tensor) -> int:
    return 3


@torch.library.custom_op("kept_graphs::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


UNKNOWN = {
    "tensor as an argument": graph(args=(torch.ones(3),)),
    "number of another library": graph(torch.ops.kept_graphs.count.default, value=3),
    "function of another library": graph(lambda x, _: x),
    "object": graph(args=(object(),)),
    "sparse tensor": graph(given=torch.empty(2, 3).to_sparse()),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_graphs_with_something_else_have_no_text(name):
    assert graph_text(UNKNOWN[name]) is None


def test_schema_of_another_library():
    text = graph_text(graph(torch.ops.kept_graphs.twice.default))
    assert text is not None and "kept_graphs::twice(Tensor x) -> Tensor" in text


def test_keys():
    assert key("graph", None, "x") is None and key("graph", "x", None) is None
    assert len({key("graph", "x", "y"), key("refusals", "x", "y"), key("graph", "x y")}) == 3
    assert given_text(torch.ones(3)) is None
    assert len({*map(given_text, (1, 1.0, True, "1", None))}) == 5


@pytest.mark.parametrize("beside", [False, True])
def test_inputs_without_a_type_are_given_back_as_they_are(beside):
    """Cotangents of complex tensors are the gradients."""

    def call(x, y):
        return (x.clone(), y + 1) if beside else (x.clone(),)

    compiled = torch.compile(call, backend="tiledialect")
    for _ in range(3):
        x = torch.randn(3, dtype=torch.complex64, requires_grad=True)
        y = torch.randn(3, requires_grad=True)
        cotangents = [torch.randn(3, dtype=torch.complex64), torch.randn(3)]
        outputs = compiled(x, y)
        torch.autograd.backward(outputs, cotangents[: len(outputs)])
        assert torch.equal(x.grad, cotangents[0])
        assert not beside or torch.equal(y.grad, cotangents[1])
