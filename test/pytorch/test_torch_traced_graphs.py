"""Graphs of Dynamo that another process runs without AOTAutograd."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
from tiledialect.torch import backend  # noqa: E402
from tiledialect.torch.kept_graphs import KeptGraph  # noqa: E402
from tiledialect.torch.traced_graphs import _state_text, traced_key  # noqa: E402

F = torch.nn.functional
pytestmark = pytest.mark.usefixtures("reset", "folder")


@pytest.fixture
def traced(monkeypatch):
    """The graphs that AOTAutograd traces."""
    found, made = [], backend._autograd

    def recorded(**compilers):
        found.append(compilers)
        return made(**compilers)

    monkeypatch.setattr(backend, "_autograd", recorded)
    return found


def called(function, inputs, **options):
    """Outputs of a function that is compiled as in another process, and its inputs after it."""
    torch.compiler.reset()
    torch.manual_seed(1)
    own = [x.clone() for x in inputs]
    call = torch.compile(function, backend="tiledialect", **options)
    return call(*own), own


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.dense = torch.nn.Linear(16, 3)

    def forward(self, x):
        y = F.hardswish(self.norm(self.conv(x.view(1, 1, 4, 4))), inplace=True)
        return self.dense(F.max_pool2d(y, 1).flatten(1)), y.permute(0, 2, 3, 1).contiguous()


def draws(x):
    return F.dropout(x, 0.5) + torch.rand(16)


def casts(x):
    with torch.autocast("cpu", torch.bfloat16):
        y = x.view(4, 4) @ x.view(4, 4)
    return y, y.float() * 2


def inside(x):
    with torch.no_grad():
        return x[..., 3:] * 2 + torch.arange(13)


def updates_its_own(x):
    y = x * 2
    y += 1
    y[2:5].zero_()
    return y


PLAIN = {
    "network": Network().eval(),
    "random numbers": draws,
    "casts": casts,
    "gradients off": inside,
    "updates": updates_its_own,
    "strides": lambda x: (x.view(2, 8) * 2).t(),
    "twice": lambda x: (x + 1, x + 1),
    "result twice": lambda x: (x.exp(),) * 2,
    "input": lambda x: (x, x + 1),
}
MODES = {"no_grad": torch.no_grad, "inference": torch.inference_mode, "grad": torch.enable_grad}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PLAIN)
def test_plain_graphs_are_traced_once(name, mode, traced):
    function, x = PLAIN[name], torch.linspace(-2, 3, 16)
    found = []
    with MODES[mode]():
        for _ in range(2):
            found.append(called(function, [x])[0])
        if name != "random numbers":
            torch.testing.assert_close(found[1], function(x), rtol=1e-2, atol=1e-2)
    is_trained = name == "network" and mode == "grad"
    assert len(traced) == (2 if is_trained else 1)
    torch.testing.assert_close(*found, rtol=0, atol=0)
    for one, other in zip(*map(listed, found), strict=True):
        assert one.stride() == other.stride() and one.requires_grad == other.requires_grad
        assert one.is_inference() == other.is_inference()


def listed(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


def changes(x):
    x.add_(1)
    return x * 2


def writes(x):
    y = x * 2
    y[2:5] = 7
    return y


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count += 1
        return x * self.count


OTHERS = {
    "input that changes": changes,
    "view of an input": lambda x: (x.view(4, 4), x + 1),
    "tensor of a number": writes,
    "statistics": torch.nn.Sequential(torch.nn.Unflatten(0, (4, 4)), torch.nn.BatchNorm1d(4)),
    "buffer": Counter(),
    "left to PyTorch": lambda x: torch.view_as_real(torch.fft.fft(x)).sum(-1) * 2,
}


@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
@pytest.mark.parametrize("name", OTHERS)
def test_other_graphs_are_traced_each_time(name, traced):
    function, x = OTHERS[name], torch.linspace(-2, 3, 16)
    with torch.no_grad():
        expected, after = function(y := x.clone()), y
        for k in range(2):
            if name == "buffer":
                function.count.zero_()
            found, own = called(function, [x])
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(own, [after])
            assert len(traced) == k + 1
            for result, wanted in zip(listed(found), listed(expected), strict=True):
                shares = result.data_ptr() == own[0].data_ptr()
                assert shares == (wanted.data_ptr() == after.data_ptr())


def test_gradients_are_those_of_autograd(traced):
    x = torch.linspace(-2, 3, 16)
    for _ in range(2):
        torch.compiler.reset()
        own = x.clone().requires_grad_()
        call = torch.compile(lambda y: y.square() * 3, backend="tiledialect")
        with torch.no_grad():
            assert not call(own).requires_grad
        call(own).sum().backward()
        torch.testing.assert_close(own.grad, 6 * x)


def test_symbolic_shapes_are_traced_each_time(traced):
    for k in range(2):
        found, _ = called(lambda x: x.exp(), [torch.ones(5)], dynamic=True)
        torch.testing.assert_close(found, torch.ones(5).exp())
        assert len(traced) == k + 1


def test_autocast_around_the_call_is_of_the_key(traced):
    def product(x):
        return x.view(4, 4) @ x.view(4, 4)

    x = torch.linspace(-2, 3, 16)
    for _ in range(2):
        assert called(product, [x])[0].dtype == torch.float32
        with torch.autocast("cpu", torch.bfloat16):
            assert called(product, [x])[0].dtype == torch.bfloat16
    assert len(traced) == 2


def test_constants_with_gradients_on(traced):
    """A parameter in a graph whose outputs want none."""
    weight = torch.nn.Parameter(torch.linspace(-2, 3, 16))
    for _ in range(2):
        found, _ = called(lambda x: x + weight.detach(), [torch.ones(16)])
        assert not found.requires_grad
        torch.testing.assert_close(found, weight.detach() + 1)
    assert len(traced) == 1


def test_a_graph_that_is_gone_from_disk_is_traced_at_the_call(folder, traced, monkeypatch):
    from tiledialect.lowering.runtime.program import cache

    x = torch.linspace(-2, 3, 16)
    with torch.no_grad():
        first, _ = called(PLAIN["network"], [x])
        found = cache.find
        monkeypatch.setattr(
            cache, "find", lambda kind, name: None if kind is KeptGraph else found(kind, name)
        )
        second, _ = called(PLAIN["network"], [x])
        assert len(traced) == 2
        torch.testing.assert_close(first, second, rtol=0, atol=0)


# -- keys ----------------------------------------------------------------------------------------


def key_of(function, *inputs):
    """Key of the graph that Dynamo makes."""
    found = []

    def own(module, given):
        found.append(traced_key(module, given))
        return module.forward

    torch.compiler.reset()
    torch.compile(function, backend=own)(*inputs)
    return found[0]


def test_keys_tell_graphs_apart():
    x, weight = torch.ones(2, 2, 4), torch.nn.Parameter(torch.ones(2, 2, 4))
    keys = {
        "plain": key_of(lambda x: x + 1, x),
        "number": key_of(lambda x: x + 1.0, x),
        "function": key_of(lambda x: x - 1, x),
        "method": key_of(lambda x: x.add(1), x),
        "shape": key_of(lambda x: x + 1, x[0]),
        "strides": key_of(lambda x: x + 1, x.mT),
        "type": key_of(lambda x: x + 1, x.int()),
        "gradients": key_of(lambda x: x + 1, weight),
        "one pool": key_of(lambda x: F.adaptive_max_pool2d(x, 1), x),
        "another pool": key_of(lambda x: F.max_pool2d(x, 1), x),
        "axis": key_of(lambda x: x.sum(0), x),
        "another axis": key_of(lambda x: x.sum(1), x),
    }
    assert None not in keys.values() and len({*keys.values()}) == len(keys)
    assert key_of(lambda x: x + 1, x) == keys["plain"]


class Own(torch.Tensor):
    pass


@torch.library.custom_op("traced_graphs::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


UNKNOWN = {
    "operator of another library": lambda x: torch.ops.traced_graphs.twice(x),
    "number of a tensor": lambda x: x.sum().item() + x,
    "size of a tensor": lambda x: x.nonzero() + 1,
    "cond": lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_graphs_with_something_else_have_no_key(name):
    options = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
    with torch._dynamo.config.patch(options):
        assert key_of(UNKNOWN[name], torch.ones(4)) is None


def test_modules_with_tensors_of_their_own_have_no_key():
    module = torch.fx.symbolic_trace(torch.nn.Linear(2, 2))
    assert traced_key(module, [torch.ones(2)]) is None


def test_tensors_of_other_classes_have_no_key():
    graph = torch.fx.Graph()
    graph.output((graph.placeholder("x"),))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    assert traced_key(module, [torch.ones(2)]) is not None
    assert traced_key(module, [torch.ones(2).as_subclass(Own)]) is None
    assert traced_key(module, [2]) is None


def test_modes_have_no_key():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    graph = torch.fx.Graph()
    graph.output((graph.placeholder("x"),))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    with Mode():
        assert traced_key(module, [torch.ones(2)]) is None


@contextmanager
def changed(setter, value, before):
    setter(value)
    yield
    setter(before)


STATES = {
    "gradients": torch.no_grad,
    "inference": torch.inference_mode,
    "casts": lambda: torch.autocast("cpu", torch.float16),
    "cache of casts": lambda: torch.autocast("cpu", torch.float16, cache_enabled=False),
    "attention": lambda: torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
    "type": lambda: changed(torch.set_default_dtype, torch.float64, torch.float32),
    "order": lambda: changed(torch.use_deterministic_algorithms, True, False),
    "products": lambda: changed(torch.set_float32_matmul_precision, "high", "highest"),
    "library": lambda: changed(torch._C._set_mkldnn_enabled, False, True),
    "tracing": lambda: torch._functorch.config.patch(functionalize_rng_ops=True),
}


def test_states_tell_keys_apart():
    found = {_state_text()}
    for mode in STATES.values():
        with mode():
            found.add(_state_text())
    assert len(found) == len(STATES) + 1
