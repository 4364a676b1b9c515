"""``torch.compile(model, backend="tiledialect")`` against eager PyTorch."""

from __future__ import annotations

import copy
import re
import warnings
from pathlib import Path

import pytest

import tiledialect as td
from tiledialect.api.function import Function
from tiledialect.ir.target_spec import precision_of

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
PAGE = Path(__file__).parents[2] / "docs" / "torch-compile.md"

from tiledialect.torch.options import Options  # noqa: E402
from tiledialect.torch.roles import Role  # noqa: E402

nn, F = torch.nn, torch.nn.functional


@pytest.fixture(autouse=True)
def fresh(reset):
    """Nothing compiled, or warned of, by another test."""
    torch._dynamo.utils.counters.clear()
    torch.manual_seed(0)


@pytest.fixture
def by_reference(monkeypatch):
    """Functions run by the reference semantics, which takes no compilation."""
    monkeypatch.setattr(Function, "__call__", Function.reference)


def compiled(model, **options):
    return torch.compile(model, backend="tiledialect", options={"strict": True, **options})


def agree(found, expected):
    # Sums are in another order than eager's: some roundings of f32.
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def check(model, *inputs, **options):
    """Compare outputs, gradients and buffers of one step of training."""
    other = copy.deepcopy(model)
    expected, found = model(*inputs), compiled(other, **options)(*inputs)
    agree(found, expected)
    weights = torch.randn_like(expected)
    (expected * weights).sum().backward()
    (found * weights).sum().backward()
    for p, own in zip(model.parameters(), other.parameters(), strict=True):
        agree(own.grad, p.grad)
    for v, own in zip(model.buffers(), other.buffers(), strict=True):
        agree(own, v)


def test_perceptron(device: td.Device):
    check(
        nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)),
        torch.randn(3, 8),
        device=device.id,
    )


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 4, 3, stride=2, groups=2)
        self.last = nn.Linear(4, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        return self.last(F.adaptive_avg_pool2d(F.silu(self.second(x)), 1).flatten(1))


@pytest.mark.usefixtures("by_reference")
def test_convolutions():
    """Batch normalization updates its statistics."""
    check(Convolutions(), torch.randn(2, 3, 10, 10))


@pytest.mark.usefixtures("by_reference")
def test_convolutions_in_inference():
    model = Convolutions().eval()
    with torch.no_grad():
        x = torch.randn(2, 3, 10, 10)
        agree(compiled(model)(x), model(x))


@pytest.mark.usefixtures("by_reference")
def test_channels_last():
    model = Convolutions().to(memory_format=torch.channels_last)
    x = torch.randn(2, 3, 10, 10).to(memory_format=torch.channels_last)
    found = compiled(model.first)(x)
    agree(found, model.first(x))
    assert found.stride() == model.first(x).stride()


@pytest.mark.usefixtures("by_reference")
def test_transformer_block():
    block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    check(block, torch.randn(2, 5, 8))


class Words(nn.Module):
    """Cross entropy of embeddings, some of whose places are padding."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, 6, padding_idx=0)
        self.last = nn.Linear(6, 7)

    def forward(self, words, next_words):
        scores = self.last(self.table(words))
        return F.cross_entropy(scores.flatten(0, 1), next_words.flatten(), ignore_index=0)


@pytest.mark.usefixtures("by_reference")
def test_embedding_and_cross_entropy():
    check(Words(), torch.randint(0, 7, (2, 5)), torch.randint(0, 7, (2, 5)))


@pytest.mark.usefixtures("by_reference")
@pytest.mark.usefixtures("by_reference")
class Decomposed(nn.Module):
    """Operators that are no core ones of PyTorch: it decomposes them."""

    def __init__(self):
        super().__init__()
        self.linear = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))

    def forward(self, x):
        rows = F.normalize(self.linear(x)).unfold(1, 2, 1)
        spread, mean = torch.std_mean(rows, 0)
        return F.pad(rows - mean / spread, (2, 1), mode="replicate") + x.norm()


def test_decomposed_operators(by_reference):
    check(Decomposed(), torch.randn(5, 4))


def test_windows_of_a_part_of_a_tensor():
    def windows(x):
        return (x + 1)[:, ::2].t().unfold(1, 2, 3)

    x = torch.randn(5, 7)
    assert torch.equal(compiled(windows)(x), windows(x))


def test_copies_have_memory_of_their_own():
    def both(x):
        y = x + 1
        return y, y.clone(), y

    first, second, third = compiled(both)(torch.zeros(3))
    first += 4
    assert torch.equal(second, torch.ones(3))
    assert torch.equal(third, first)


def test_dropout():
    """Backward takes the mask of forward; the seed of PyTorch decides it."""
    x = torch.ones(400, requires_grad=True)
    dropout = compiled(nn.Dropout(0.25))
    torch.manual_seed(5)
    first = dropout(x)
    first.sum().backward()
    assert torch.equal(x.grad, first)
    # Five deviations of a mean of 400 numbers.
    assert abs(first.mean() - 1) < 0.15
    torch.manual_seed(5)
    assert torch.equal(dropout(x), first)
    assert not torch.equal(dropout(x), first)


@pytest.mark.usefixtures("by_reference")
def test_views_and_buffers_are_changed_in_place():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", torch.zeros(4, 3))

        def forward(self, x):
            self.kept[1:3] += x
            return self.kept.t()[0]

    model, other = Counter(), Counter()
    with torch.no_grad():
        found = compiled(model)
        for x in (torch.ones(3), torch.arange(3.0)):
            assert torch.equal(found(x), other(x))
            assert torch.equal(model.kept, other.kept)


@pytest.mark.usefixtures("by_reference")
@pytest.mark.parametrize("dtype", (torch.bfloat16, torch.float64, torch.int32, torch.bool))
def test_element_types(dtype):
    def f(x, y):
        return torch.where(x > y, x, y), x * y, (x == y).sum(0)

    x, y = (torch.randint(0, 3, (2, 3)).to(dtype) for _ in range(2))
    for own, other in zip(compiled(f)(x, y), f(x, y), strict=True):
        assert own.dtype == other.dtype
        assert torch.equal(own, other)


@pytest.mark.usefixtures("by_reference")
def test_empty_tensors():
    def f(x):
        return x.relu(), x.sum()

    x = torch.empty(0, 3)
    assert [v.shape for v in compiled(f)(x)] == [(0, 3), ()]


@pytest.mark.usefixtures("by_reference")
def test_dynamic_shapes():
    """A single graph serves all sizes; its functions are compiled for each."""

    def f(x):
        return (x.reshape(-1, 2) * x.shape[0]).softmax(0).sum(1) + torch.arange(x.shape[0])

    run = torch.compile(f, backend="tiledialect", dynamic=True, options={"strict": True})
    for n in (4, 6, 4, 9):
        x = torch.randn(n, 2)
        agree(run(x), x.reshape(-1, 2).mul(n).softmax(0).sum(1) + torch.arange(n))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@pytest.mark.usefixtures("by_reference")
def test_views_of_inputs_are_not_copied():
    from tiledialect.torch.graphs import CompiledGraph

    graph = torch.fx.symbolic_trace(lambda x, n: (x, x, n)).graph
    x, n, output = graph.nodes
    with graph.inserting_before(output):
        turned = graph.call_function(torch.ops.aten.permute.default, (x, [1, 0]))
        part = graph.call_function(torch.ops.aten.slice.Tensor, (turned, 0, n))
        total = graph.call_function(torch.ops.aten.sum.default, (part,))
        total.meta["val"] = torch.tensor(1.0)
    output.args = ((x, part, total, n),)
    tensor = torch.randn(3, 4).t().contiguous().t()
    own, view, found, number = CompiledGraph(graph, Role("views"), Options())(tensor, 1)
    assert own is tensor
    assert view.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
    assert torch.equal(view, tensor.t()[1:])
    agree(found, tensor.t()[1:].sum())
    assert number == 1


@pytest.mark.usefixtures("by_reference")
def test_constants():
    """Tensors of the program itself are inputs of the function."""

    def f(x):
        return x * torch.tensor([1.0, 2.0, 3.0]) + torch.eye(3)

    x = torch.randn(3)
    agree(compiled(f)(x), f(x))


@pytest.mark.usefixtures("by_reference")
def test_complex_tensors_are_given_back():
    def f(x, y):
        return x.exp(), y

    x, y = torch.randn(3), torch.randn(3) + 1j
    assert torch.equal(compiled(f)(x, y)[1], y)


@pytest.mark.usefixtures("by_reference")
def test_sizes_of_results_that_depend_on_numbers():
    """PyTorch makes the tensor, and checks its size; what is computed of it is compiled."""

    def f(x):
        return x[x > 0].exp() * 2

    x = torch.randn(8)
    with (
        torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True),
        pytest.warns(td.TileWarning, match="left to PyTorch"),
    ):
        agree(torch.compile(f, backend="tiledialect", fullgraph=True)(x), f(x))


# -- operators that are left to PyTorch ------------------------------------------------------------


def partly_complex(x):
    y = torch.view_as_real(torch.fft.fft(x.cos())).sum(-1)
    return y.sin() * x


@pytest.mark.usefixtures("by_reference")
def test_operators_are_left_to_pytorch():
    x = torch.randn(6, requires_grad=True)
    run = torch.compile(partly_complex, backend="tiledialect")
    with pytest.warns(td.TileWarning, match=r"left to PyTorch: .*fft") as told:
        found = run(x)
    assert all(re.search(r"\baten\.\w+", str(warning.message)) for warning in told)
    expected = partly_complex(x)
    agree(found, expected)
    agree(*(torch.autograd.grad(v.sum(), x)[0] for v in (found, expected)))
    with warnings.catch_warnings():
        # Each operator is named once.
        warnings.simplefilter("error", td.TileWarning)
        run(torch.randn(6))


@pytest.mark.usefixtures("by_reference")
def test_parts_are_as_long_as_can_be():
    from tiledialect.torch.graphs import CompiledGraph

    calls = []
    forward = CompiledGraph.forward

    def counted(self, *values):
        calls.append(self._role.name)
        return forward(self, *values)

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", td.TileWarning)
        patch.setattr(CompiledGraph, "forward", counted)
        torch.compile(partly_complex, backend="tiledialect")(torch.randn(6))
    assert len(calls) == 2


@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
@pytest.mark.parametrize("given, wanted", (("cpu", "meta"), ("meta", "meta")))
def test_tensors_on_other_devices_are_left_to_pytorch(given: str, wanted: str):
    def f(x, **options):
        own = {"options": options}
        return torch.compile(lambda x: (x + 1).to(wanted) * 2, backend="tiledialect", **own)(x)

    x = torch.ones(3, device=given)
    assert f(x).device.type == wanted
    with pytest.raises(td.TileError, match="is on meta: move it to the CPU first"):
        f(x, strict=True)


@pytest.mark.usefixtures("by_reference")
def test_breaks_of_the_graph():
    def f(x):
        y = x.exp()
        torch._dynamo.graph_break()
        return y.sum()

    x = torch.randn(3)
    agree(compiled(f)(x), x.exp().sum())


def test_modules_of_operators_that_are_left():
    class Spectrum(torch.nn.Module):
        def forward(self, x):
            return torch.view_as_real(torch.fft.fft(x))

    model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sequential(Spectrum()))
    with pytest.raises(td.TileError, match=r"complex tensors \(in module 1\.0\)$"):
        compiled(model)(torch.randn(6))


def test_strict():
    with pytest.raises(td.TileError, match=r"no conversion of aten\.\w*fft"):
        compiled(partly_complex)(torch.randn(6))


@pytest.mark.usefixtures("by_reference")
def test_checks_of_an_operator_are_left_silently(monkeypatch):
    """`inv` and the check that it has worked, which has no result."""
    monkeypatch.setattr("tiledialect.torch.backend._warned", set())
    x = torch.eye(3) + 0.1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", td.TileWarning)
        run = torch.compile(lambda x: torch.linalg.inv(x) + 1, backend="tiledialect")
        agree(run(x), torch.linalg.inv(x) + 1)
    assert ["inv_ex" in str(w.message) for w in told] == [True]
    with pytest.raises(RuntimeError, match="singular"):
        run(torch.zeros(3, 3))


WRONG = {
    "no mapping": (["strict"], r"`options` must be a mapping of names, got \['strict'\]"),
    "name": ({"devise": 1}, "no option 'devise'; there is device"),
    "strict": ({"strict": 1}, "`strict` must be a bool"),
    "device": ({"device": "nowhere"}, "nowhere"),
    "precision": ({"precision": "f8"}, "f8"),
    "tune": ({"tune": -1}, "`tune`"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options(name):
    options, message = WRONG[name]
    run = torch.compile(torch.relu, backend="tiledialect", options=options)
    with pytest.raises(td.TileError, match=message):
        run(torch.randn(3))


def test_no_modes():
    run = torch.compile(torch.relu, backend="tiledialect", mode="max-autotune")
    with pytest.raises(td.TileError, match="no mode 'max-autotune'"):
        run(torch.randn(3))


NAN = float("nan")


@pytest.mark.usefixtures("by_reference")
@pytest.mark.parametrize(
    ("call", "numbers"),
    [
        (
            lambda x: F.max_pool2d(x.reshape(1, 1, 2, 4), 2, return_indices=True),
            [1, 2, 3, 4, 5, NAN, 7, 8],
        ),
        (torch.digamma, [0.0, -0.0, -1.0, 2.5]),
        (lambda x: x.sort(stable=True), [0.0, -0.0, NAN, -1.0, 0.0]),
        (lambda x: x.sort(stable=True, descending=True), [0.0, -0.0, NAN, -1.0, -0.0]),
    ],
)
def test_special_numbers(call, numbers):
    x = torch.tensor(numbers)
    for found, wanted in zip(tensors(compiled(call)(x)), tensors(call(x)), strict=True):
        torch.testing.assert_close(found, wanted, equal_nan=True)
        if found.is_floating_point():
            assert torch.equal(found.signbit() & ~found.isnan(), wanted.signbit() & ~wanted.isnan())


def tensors(found):
    return [found] if isinstance(found, torch.Tensor) else [*found]


def test_options_reach_the_compiler():
    seen = []

    def kept(source, name, device, choices):
        precision = precision_of(source.header), precision_of(source.module)
        seen.append((name, device, choices.tune, *precision))
        return td.compile("function (X) -> (Y) { Y = X; }")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiledialect.torch.graphs.Function", kept)
        compiled(torch.relu, precision="exact", tune=3)(torch.randn(3))
    assert seen == [("model", None, 3, "exact", "exact")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "f16"}, "there is no precision 'f16'"),
        ({"tune": -1}, "`tune` must be a number of schedules"),
        ({"device": "nowhere"}, "nowhere"),
    ],
)
def test_wrong_values_of_options(options, message):
    for _ in range(2):
        torch.compiler.reset()
        with pytest.raises(td.TileError, match=message):
            compiled(lambda x: x + 1, **options)(torch.randn(3))


@pytest.mark.usefixtures("by_reference")
def test_page():
    """The examples of the page run, and print what they say."""
    names: dict[str, object] = {}
    printed: list[object] = []
    names["print"] = printed.append
    for block in re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(), re.M | re.S):
        exec(block, names)
    assert printed.pop(4), "the loss falls"
    *sizes, layers, told = printed
    assert sizes == [torch.Size(s) for s in ([16, 8], [3, 4], [3, 4], [8], [3, 4], [3, 4])] and told
    assert [t.layer for t in layers.layers] == ["0", "1", "2"]


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_samples_at_places_that_the_graph_computes(mode, aligned):
    """The number of an element and its weight come from the same whole place."""
    n = 16
    first = torch.stack(torch.meshgrid(*[torch.arange(float(n))] * 2, indexing="xy"), -1)
    near = torch.stack(torch.meshgrid(*[torch.arange(-3.0, 4.0)] * 2, indexing="ij"), -1)

    def sampled(x, places):
        places = places.reshape(n * n, 1, 1, 2) + near
        grid = 2 * places / (n - 1) - 1 if aligned else (2 * places + 1) / n - 1
        return F.grid_sample(x, grid, mode=mode, align_corners=aligned)

    x = torch.randn(n * n, 1, n, n, requires_grad=True)
    found, expected = compiled(sampled)(x, first), sampled(x, first)
    agree(found, expected)
    weights = torch.randn_like(expected)
    agree(*[torch.autograd.grad(o, x, weights)[0] for o in (found, expected)])
