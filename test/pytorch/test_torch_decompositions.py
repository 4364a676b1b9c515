"""Operators without a conversion that are decomposed into others, against eager PyTorch."""

from __future__ import annotations

import pytest

from tiledialect.api.function import Function

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch.decompositions import lists  # noqa: E402

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
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5, equal_nan=True)
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


@torch.no_grad()
def test_encoder_layer_under_autocast():
    """Autocast gives the layer bf16, and leaves its parameters in f32."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = torch.randn(2, 5, 8).bfloat16()

    def under_autocast(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return layer(x)

    found = torch.compile(under_autocast, backend="tiledialect", options={"strict": True})(x)
    # Sums of bf16 are rounded at other places.
    torch.testing.assert_close(found, under_autocast(x), rtol=2e-2, atol=4e-2)


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


PLACES, OFFSETS = torch.tensor([2, 0, 1, 2, 4, 4, 1]), torch.tensor([0, 2, 2, 6])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("named", [{}, {"padding_idx": 2}, {"include_last_offset": True}])
def test_bags(mode, named):
    """One bag is empty; with ``include_last_offset`` the last offset is an end."""

    def bags(table):
        return F.embedding_bag(PLACES[:6], table, OFFSETS, mode=mode, **named)

    agree(bags, torch.randn(5, 3, requires_grad=True))
    torch._dynamo.reset()
    with torch.no_grad():
        agree(bags, torch.randn(5, 3))


def test_places_behind_the_last_bag():
    def bags(table):
        ends = torch.tensor([0, 2, 5])
        return F.embedding_bag(PLACES, table, ends, mode="sum", include_last_offset=True)

    agree(bags, torch.randn(5, 3))
    table = torch.randn(5, 3, requires_grad=True)
    torch.compile(bags, backend="tiledialect")(table).sum().backward()
    counts = PLACES[:5].bincount(minlength=5)
    torch.testing.assert_close(table.grad, counts[:, None].expand(5, 3).float())


def test_maxima_of_bags_with_nan():
    table = torch.randn(5, 3)
    table[0] = torch.nan
    agree(lambda t: F.embedding_bag(PLACES.view(1, -1)[:, 1:4], t, mode="max"), table)


def test_bags_of_weighted_rows():
    def bags(table, weights):
        return F.embedding_bag(PLACES, table, OFFSETS, mode="sum", per_sample_weights=weights)

    agree(bags, torch.randn(5, 3, requires_grad=True), torch.randn(7, requires_grad=True))


@pytest.mark.parametrize("power", [0.0, 1.0, 1.5, 2.0, 3.0, torch.inf])
def test_gradients_of_distances(power):
    x = torch.randn(2, 4, 3)
    # One distance is 0.
    y = torch.cat([x[:, 1:2], torch.randn(2, 4, 3)], 1).requires_grad_()
    named = {"p": power, "compute_mode": "donot_use_mm_for_euclid_dist"}
    agree(lambda x, y: torch.cdist(x, y, **named), x.requires_grad_(), y)
    torch._dynamo.reset()
    agree(lambda x: F.pdist(x, power), torch.randn(5, 3, requires_grad=True))


@pytest.mark.parametrize("reduce", ["mean", "prod", "amax", "amin"])
@pytest.mark.parametrize("include_self", [False, True])
def test_slices_combined(reduce, include_self):
    x, places, source = torch.randn(2, 5, 3), torch.tensor([1, 3, 1, 0]), torch.randn(2, 4, 3)

    def combined(x, source):
        return x.index_reduce(1, places, source, reduce, include_self=include_self)

    inputs = [v.requires_grad_(reduce != "prod") for v in (x, source)]
    agree(combined, *inputs)


def test_elements_by_their_number():
    x = torch.tensor([[2.0, 1, 2, 1, 3], [5, 4, 4, 4, 0]])
    agree(torch.mode, x)
    agree(lambda x: x.mode(0, keepdim=True)[0], x)
    agree(lambda x: x.long().mode(1), x)


@pytest.mark.parametrize("named", [{"dim": 1}, {"dim": 0, "keepdim": True}])
def test_medians_of_numbers(named):
    nan = torch.nan
    x = torch.tensor([[2.0, nan, 1, 4, 3], [5, 4.5, nan, 6, 0], [nan, nan, 7, 8, 9]])
    agree(lambda x: x.nanmedian(**named), x)
    agree(torch.nanmedian, x)
    agree(torch.nanmedian, torch.full((2,), nan))
    agree(torch.nanmedian, torch.empty(0))


def test_scatters_of_numbers_and_by_masks():
    x, places = torch.randn(5, 3), torch.randint(0, 5, (6, 3))
    agree(lambda x: x.scatter(0, places, 2.0, reduce="multiply"), x)
    agree(lambda x: x.put(torch.tensor([[3, -1]]), torch.ones(2), accumulate=True), x)
    agree(lambda x: torch.searchsorted(torch.arange(4.0), 2.5), x)
    agree(lambda x: torch.searchsorted(torch.arange(4), 2.5), x)
    agree(lambda x: torch.searchsorted(torch.arange(4), 2, right=True), x)
    mask = torch.tensor([[True], [False], [True]])
    source = torch.randn(9, requires_grad=True)
    agree(lambda x, s: x.masked_scatter(mask, s), torch.zeros(3, 4), source)


def test_more_draws():
    """Numbers are as frequent as they are to be."""

    def drawn(x, shares):
        pairs = shares.expand(1000, 4)
        return (
            torch.bernoulli(x),
            torch.multinomial(shares, 2000, replacement=True),
            torch.multinomial(pairs, 2),
            torch.randint_like(x, 3, 7),
            x.clone().uniform_(2, 3),
        )

    compiled = torch.compile(drawn, backend="tiledialect", options={"strict": True})
    shares = torch.tensor([0.1, 0.0, 0.3, 0.0])
    ones, places, pairs, integers, uniform = compiled(torch.full((2000,), 0.3), shares)
    assert abs(ones.mean() - 0.3) < 0.06
    assert set(places.tolist()) == {0, 2} and abs((places == 0).float().mean() - 0.25) < 0.06
    assert all({0, 2} == set(row) for row in pairs.tolist())
    assert abs((pairs[:, 0] == 0).float().mean() - 0.25) < 0.08
    assert set(integers.tolist()) == {3, 4, 5, 6}
    assert uniform.min() >= 2 and uniform.max() < 3 and abs(uniform.mean() - 2.5) < 0.05


def test_experts_of_transformers():
    """Products of groups by an operator of the package."""
    pytest.importorskip("transformers.integrations.moe")
    ends = torch.tensor([1, 1, 4], dtype=torch.int32)
    product = torch.ops.transformers.grouped_mm_fallback
    inputs = (torch.randn(*sizes, requires_grad=True) for sizes in ((4, 3), (3, 3, 5)))
    agree(lambda x, y: product(x, y, ends), *inputs)


@pytest.mark.parametrize("offset", [-2, 0, 3])
def test_diagonals_replaced(offset):
    x = torch.randn(3, 2, 5, requires_grad=True)
    count = x[:, 0].diagonal(offset).shape[-1]
    source = torch.randn(2, count, requires_grad=True)
    agree(lambda x, y: torch.diagonal_scatter(x, y, offset, 0, 2), x, source)


@pytest.mark.parametrize("size", [2, 12])
def test_first_places_of_elements_that_are_not_zero(size):
    x = torch.randn(3, 4) > 0.3
    agree(lambda x: torch.nonzero_static(x, size=size), x)


def test_random_slopes():
    """Slopes are drawn: each element has its own, within limits, and backward uses it."""
    x = torch.randn(50, requires_grad=True)
    agree(lambda x: F.rrelu(x, 0.2, 0.4), x)
    options = {"strict": True}
    compiled = torch.compile(
        lambda x: F.rrelu(x, 0.2, 0.4, True), backend="tiledialect", options=options
    )
    found = compiled(x)
    (slope,) = torch.autograd.grad(found.sum(), x)
    torch.testing.assert_close(found, x * slope)
    assert torch.equal(slope == 1, x > 0)
    below = slope[x <= 0]
    assert 0.2 <= below.min() < below.max() <= 0.4


def _operand(argument):
    """An operand for lists of two tensors of positive numbers."""
    kind = str(argument.type)
    tensors = [torch.rand(2, 3) + 0.5, torch.rand(2, 3).T.contiguous() + 0.5]
    if kind == "List[Tensor]":
        return tensors
    if argument.name == "scalars" and kind == "Tensor":
        return torch.tensor([0.5, 2.0])
    return {"List[number]": [0.5, 2.0], "Tensor": torch.tensor(0.7), "number": 0.7}[kind]


OF_LISTS = sorted(map(str, lists.decompositions()))


def test_operators_of_lists_are_found():
    assert {"aten._foreach_add.List", "aten._foreach_norm.Scalar"} <= {*OF_LISTS}


@pytest.mark.covering(7)
@pytest.mark.parametrize("name", OF_LISTS)
def test_operator_of_lists(name):
    name, overload = name.removeprefix("aten.").split(".")
    operator = getattr(getattr(torch.ops.aten, name), overload)
    operands = [_operand(a) for a in operator._schema.arguments if not a.has_default_value()]
    if name == "_foreach_mm":
        operands = [[torch.rand(2, 2), torch.rand(3, 3)] for _ in operands]
    if name in ("_foreach_addcdiv", "_foreach_addcmul") and overload == "Tensor":
        # PyTorch cannot trace it.
        found = lists.decompositions()[operator](*operands)
    else:
        found = torch.compile(operator, backend="tiledialect", options={"strict": True})(*operands)
    torch.testing.assert_close(found, operator(*operands), rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda xs, _: torch._foreach_norm(xs, 1, dtype=torch.float64),
        lambda xs, _: torch.ops.aten._foreach_powsum(xs, 3, torch.float64),
        lambda _, ns: torch._foreach_addcmul(ns, ns, ns, value=1.7),
        lambda _, ns: torch._foreach_addcmul(ns, ns, ns, [1.7, -0.5]),
    ],
    ids=["norm", "powsum", "addcmul", "addcmul-list"],
)
def test_operators_of_lists_with_types(call):
    operands = [torch.rand(3), torch.rand(2, 2)], [torch.arange(4), torch.arange(3)]
    found = torch.compile(call, backend="tiledialect", options={"strict": True})(*operands)
    torch.testing.assert_close(found, call(*operands))


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "NAdam", "Adagrad"])
def test_steps_of_optimizers_by_lists_are_not_left_to_pytorch(name):
    models = [nn.Linear(3, 2), nn.Linear(3, 2)]
    models[1].load_state_dict(models[0].state_dict())
    own, other = (getattr(torch.optim, name)(m.parameters(), 0.01, foreach=True) for m in models)
    step = torch.compile(own.step, backend="tiledialect", options={"strict": True})
    for _ in range(3):
        x = torch.randn(4, 3)
        for model in models:
            model.zero_grad()
            model(x).square().mean().backward()
        step()
        other.step()
    torch.testing.assert_close(models[0].state_dict(), models[1].state_dict())
