"""Operators without a conversion that are decomposed into others, against eager PyTorch."""

from __future__ import annotations

import pytest

from tiledialect.api.function import Function

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
nn, F = torch.nn, torch.nn.functional


@pytest.fixture(autouse=True)
def by_reference(monkeypatch, reset):
    """Functions run by the reference semantics, which takes no compilation."""
    monkeypatch.setattr(Function, "__call__", Function.reference)
    torch._dynamo.utils.counters.clear()
    torch.manual_seed(0)


def agree(function, *inputs, **named):
    """Compare results and gradients with eager PyTorch's."""
    compiled = torch.compile(function, backend="tiledialect", options={"strict": True})
    found, expected = compiled(*inputs, **named), function(*inputs, **named)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    places = [x for x in inputs if x.requires_grad]
    if places:
        weights = torch.randn_like(expected)
        own = torch.autograd.grad((found * weights).sum(), places)
        others = torch.autograd.grad((expected * weights).sum(), places)
        torch.testing.assert_close(own, others, rtol=1e-5, atol=1e-5)
    return found


PADDING = torch.tensor([[False] * 3 + [True] * 2, [False] * 5])
CAUSAL = nn.Transformer.generate_square_subsequent_mask(5)


@pytest.mark.covering(1)
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize(
    "masks",
    [{}, {"src_mask": CAUSAL}, {"src_key_padding_mask": PADDING}, {"src_mask": CAUSAL > -1}],
    ids=["none", "causal", "padding", "bools"],
)
@torch.no_grad()
def test_encoder_layer_in_inference(norm_first, activation, masks):
    """PyTorch computes a layer by one operator then."""
    named = {"norm_first": norm_first, "activation": activation, "batch_first": True}
    layer = nn.TransformerEncoderLayer(8, 2, 16, **named).eval()
    if "src_mask" in masks and masks["src_mask"].dtype == torch.bool:
        # What is true is left out.
        masks = {"src_mask": ~masks["src_mask"]}
    agree(layer, torch.randn(2, 5, 8), **masks)


@pytest.mark.parametrize(
    "named",
    [{}, {"average_attn_weights": False}, {"need_weights": False}, {"key_padding_mask": PADDING}],
    ids=["averages", "heads", "no_weights", "padding"],
)
@torch.no_grad()
def test_attention_in_inference(named):
    attention = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    x = torch.randn(2, 5, 8)
    agree(lambda x: attention(x, x, x, **named), x)


@pytest.mark.parametrize("sizes", [(1, 1), (3, 4), (9, 5)])
def test_adaptive_maxima(sizes):
    """Windows are of one size or of two, and may overlap."""
    agree(lambda x: F.adaptive_max_pool2d(x, sizes), torch.randn(2, 3, 7, 6, requires_grad=True))


def test_places_of_adaptive_maxima():
    x = torch.randn(2, 3, 7, 6)
    agree(lambda x: F.adaptive_max_pool2d(x, (3, 4), return_indices=True), x)


def test_adaptive_maxima_of_other_ranks():
    agree(lambda x: F.adaptive_max_pool1d(x, 3), torch.randn(2, 3, 7))
    picture = torch.randn(2, 4, 3, 5, requires_grad=True)
    agree(lambda x: F.adaptive_max_pool3d(x, (2, 1, 3)), picture)


def test_bilinear():
    layer = nn.Bilinear(4, 3, 5)
    inputs = (torch.randn(2, n, requires_grad=True) for n in (4, 3))
    agree(layer, *inputs)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@torch._dynamo.config.patch(allow_rnn=True)
def test_recurrent_layers(kind):
    """PyTorch traces them where it is told to; an LSTM by an operator of its own in inference."""
    layer = kind(4, 3, batch_first=True, bidirectional=True)
    agree(lambda x: layer(x)[0], torch.randn(2, 3, 4, requires_grad=True))
    torch._dynamo.reset()
    with torch.no_grad():
        agree(layer, torch.randn(2, 3, 4))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] > 0


def test_products():
    x, y, v = torch.randn(3, 4), torch.randn(2, 3, 5), torch.randn(3)
    agree(lambda x, y: x.addbmm(y, torch.ones(2, 5, 4), beta=0.5, alpha=2), x, y)
    agree(lambda x, v: torch.addmv(v, x, torch.ones(4), beta=2, alpha=0.5), x, v)


def test_rounding_to_decimals():
    x = torch.randn(20) * 30
    agree(lambda x: [torch.round(x, decimals=n) for n in (0, 2, -1)], x)


def test_draws():
    """Numbers have the distributions' medians."""

    def drawn(x):
        return x.clone().cauchy_(0.3), x.clone().log_normal_(), x.clone().geometric_(0.4)

    compiled = torch.compile(drawn, backend="tiledialect", options={"strict": True})
    cauchy, log_normal, geometric = (x.median() for x in compiled(torch.zeros(1000)))
    assert abs(cauchy - 0.3) < 0.2 and abs(log_normal.log() - 1) < 0.3 and geometric == 2


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amax", "amin"])
def test_scatters_in_the_place_of_elements(reduce):
    """Only elements that something is added to lose what they were."""
    x, places = torch.randn(5, 3), torch.randint(0, 4, (6, 3))
    for dtype in (torch.float32, torch.int64):
        own, source = (x * 4).to(dtype), (torch.randn(6, 3) * 9).to(dtype)

        def scattered(own, source, places):
            named = {"reduce": reduce, "include_self": False}
            return own.scatter_reduce(0, places, source, **named)

        agree(scattered, own, source, places)


def test_means_of_scattered_elements():
    x, places = torch.randn(5, 3), torch.randint(0, 4, (6, 3))
    agree(lambda x: x.scatter_reduce(0, places, torch.ones(6, 3), "mean"), x)
    agree(lambda x: x.scatter(0, places, torch.ones(6, 3), reduce="add"), x)


def test_places_in_sorted_rows():
    borders, values = torch.tensor([[1.0, 2, 2, 5], [0, 0, 3, 4]]), torch.tensor([[2.0, 9], [0, 3]])
    order = torch.tensor([[3, 1, 0, 2], [0, 1, 2, 3]])
    mixed = torch.zeros_like(borders).scatter(-1, order, borders)
    agree(torch.searchsorted, borders, values)
    nothing = torch.full_like(values, torch.nan)
    agree(torch.searchsorted, borders, nothing)
    agree(lambda b, v: torch.searchsorted(b, v, right=True), borders, nothing)
    agree(lambda b, v: torch.searchsorted(b, v, right=True, sorter=order), mixed, values)


@pytest.mark.parametrize("right", [False, True])
def test_searches_for_numbers_alone_and_for_what_is_no_number(right):
    """NaN is behind all elements."""
    borders = torch.tensor([1.0, 2.0, 2.0, 5.0])
    values = torch.tensor([torch.nan, torch.inf, -torch.inf, 2.0])
    agree(lambda b, v: torch.searchsorted(b, v, right=right), borders, values)
    agree(lambda b, v: torch.searchsorted(b, v, right=right), borders, torch.tensor(2.0))
    agree(lambda b, v: torch.searchsorted(b, v, right=right), borders, torch.tensor(torch.nan))


def test_adaptive_maxima_of_no_windows():
    function = F.adaptive_max_pool2d
    agree(lambda x: function(x, (0, 2), return_indices=True), torch.randn(2, 3, 4, 5))


def test_products_of_no_batches():
    agree(torch.addbmm, torch.randn(3, 4), torch.zeros(0, 3, 5), torch.zeros(0, 5, 4))
