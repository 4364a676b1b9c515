"""Conversions of ATen's operators, run by the reference semantics, against eager PyTorch."""

from __future__ import annotations

import operator
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)

sys.path.append(str(Path(__file__).parents[1]))

import aten_oracle  # noqa: E402
from aten_cases import BY_FORWARD, BY_PACKAGE, CASES, EMPTY, RANDOM, X, f64, flags, ints, reals  # noqa: E402

from tiledialect.passes.convert.aten.graph import (  # noqa: E402
    SEED,
    Dense,
    Result,
    convert_graph,
    element_type_of,
)
from tiledialect.passes.convert.aten.table import CONVERSIONS, REASONS  # noqa: E402
from tiledialect.torch.graphs import ordered  # noqa: E402
from tiledialect.torch.tensors import array_of, tensor_of  # noqa: E402


def op_of(name):
    namespace, op, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), op), overload)


def copied(graph, node, value):
    if not isinstance(value, torch.Tensor):
        return node
    copy = graph.call_function(torch.ops.aten.clone.default, (node,))
    copy.meta["val"] = value
    return copy


def graph_of(op, arguments, result):
    """The graph of a call, and its tensors by name."""
    graph, tensors = torch.fx.Graph(), {}

    def node_of(value):
        if isinstance(value, torch.Tensor):
            node = graph.placeholder(f"x{len(tensors)}")
            node.meta["val"] = value
            tensors[node.name] = value
            return node
        return [node_of(v) for v in value] if isinstance(value, list) else value

    *given, named = arguments if arguments and isinstance(arguments[-1], dict) else (*arguments, {})
    args, kwargs = tuple(map(node_of, given)), {k: node_of(v) for k, v in named.items()}
    call = graph.call_function(op, args, kwargs)
    call.meta["val"] = result
    count = len(result) if isinstance(result, list | tuple) else 0
    parts = [graph.call_function(operator.getitem, (call, k)) for k in range(count)] or [call]
    # Views of inputs are not computed; what is given out is a copy.
    values = result if count else [result]
    graph.output(tuple(map(partial(copied, graph), parts, values)))
    return graph, tensors


def converted(op, arguments, result, seed=0):
    """Results of a call by the reference semantics."""
    graph, tensors = graph_of(op, arguments, result)
    types = {k: Dense(TensorType(element_type_of(v.dtype), v.shape)) for k, v in tensors.items()}
    made = convert_graph(graph, types, "call")
    results = []
    if any(isinstance(o, Result) for o in made.outputs):
        state = np.array([seed, 0, 0, 0], np.uint32)
        arrays = [state if k == SEED else array_of(k, tensors[k]) for k in made.inputs]
        results = td.compile(made.module).reference(*arrays)
        results = results if isinstance(results, tuple) else (results,)
    return [
        ordered(tensor_of(np.require(results[o.place], requirements="W")), o.order)
        if isinstance(o, Result)
        else o
        for o in made.outputs
    ]


def eager(op, arguments):
    *given, named = arguments if arguments and isinstance(arguments[-1], dict) else (*arguments, {})
    return op(*given, **named)


def agree(found, expected):
    expected = expected if isinstance(expected, list | tuple) else [expected]
    assert len(found) == len(expected)
    for own, other in zip(found, expected, strict=True):
        if other is None:
            assert own is None
            continue
        assert own.dtype == other.dtype
        # Elementary functions of NumPy and of PyTorch differ by some units in the last place, and
        # those of f32 are computed in f32.
        tight = other.dtype == f64
        torch.testing.assert_close(
            own, other, rtol=1e-9 if tight else 1e-5, atol=1e-9 if tight else 1e-6, equal_nan=True
        )


@pytest.mark.parametrize("name", CASES)
def test_operator(name):
    op = op_of(name)
    for arguments in CASES[name]:
        expected = eager(op, arguments)
        agree(converted(op, arguments, expected), expected)


def test_all_operators_are_tested():
    assert {*CASES, *EMPTY, *RANDOM, *BY_FORWARD, *BY_PACKAGE} == set(CONVERSIONS)


@pytest.mark.parametrize("name", EMPTY)
def test_empty(name):
    (found,) = converted(op_of(name), EMPTY[name], eager(op_of(name), EMPTY[name]))
    assert found.shape == (2, 3)


@pytest.mark.parametrize("name", RANDOM)
def test_random(name):
    """Results depend on the seed alone."""
    op = op_of(name)
    expected = eager(op, RANDOM[name])
    first, again, other = (converted(op, RANDOM[name], expected, seed)[0] for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert first.shape == expected.shape if isinstance(expected, torch.Tensor) else (3, 4)


def test_permutation():
    (found,) = converted(torch.ops.aten.randperm.default, (50,), torch.randperm(50))
    assert torch.equal(found.sort().values, torch.arange(50))


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
def test_random_numbers_are_less_than_one(dtype):
    kind = {"dtype": dtype}
    found = converted(
        torch.ops.aten.rand.default, ([20000], kind), torch.empty(20000, dtype=dtype)
    )[0]
    assert 0 <= found.min() < 0.01
    assert 0.99 < found.max() < 1


def test_distributions():
    normal = converted(torch.ops.aten.randn.default, ([4000],), torch.empty(4000))[0]
    # Five deviations of a mean of 4000 numbers, and of their variance.
    assert abs(normal.mean()) < 0.08
    assert abs(normal.var() - 1) < 0.12
    ones = torch.ones(4000)
    kept, mask = converted(
        torch.ops.aten.native_dropout.default, (ones, 0.25, True), (ones, ones > 0)
    )
    assert abs(mask.double().mean() - 0.75) < 0.035
    assert torch.equal(kept, mask / 0.75)


@pytest.mark.parametrize("rank", (2, 3))
def test_gradient_of_max_pool(rank):
    aten = torch.ops.aten
    forward = getattr(aten, f"max_pool{rank}d_with_indices").default
    backward = getattr(aten, f"max_pool{rank}d_with_indices_backward").default
    x, taps = reals(*[1, 2, 4, 5, 4][: rank + 2]), [2] * rank
    result, places = forward(x, taps, [1] * rank)
    arguments = (reals(*result.shape), x, taps, [1] * rank, [0] * rank, [1] * rank, False, places)
    expected = eager(backward, arguments)
    agree(converted(backward, arguments, expected), expected)


@pytest.mark.parametrize("mask", (None, reals(1, 1, 3, 3)))
@pytest.mark.parametrize("heads", (2, 6))
def test_gradient_of_attention(mask, heads):
    aten = torch.ops.aten
    forward = aten._scaled_dot_product_flash_attention_for_cpu.default
    backward = aten._scaled_dot_product_flash_attention_for_cpu_backward.default
    q, k, v = reals(1, heads, 3, 4), reals(1, 2, 3, 4) + 0.1, reals(1, 2, 3, 4) - 0.3
    result, sums = forward(q, k, v, 0.0, mask is None, attn_mask=mask)
    arguments = (
        *(reals(1, heads, 3, 4) * 2, q, k, v, result, sums, 0.0, mask is None),
        {"attn_mask": mask},
    )
    expected = eager(backward, arguments)
    agree(converted(backward, arguments, expected), expected)


REFUSED = {
    "mean of scattered elements": (
        "aten.scatter_reduce.two",
        (X, 0, ints(2, 4, low=0, high=3), reals(2, 4), "mean"),
        "mean is none of amax, amin, prod, sum",
    ),
    "other elements alone": (
        "aten.scatter_reduce.two",
        (X, 0, ints(2, 4, low=0, high=3), reals(2, 4), "sum", {"include_self": False}),
        "sum without the tensor's own elements",
    ),
    "bools choose": ("aten.index.Tensor", (X, [flags(3)]), "bools that a call computes"),
    "too long": ("aten.sort.default", (reals(9000),), "too long"),
    "complex": ("aten.mul.Tensor", (X, X + 1j), "complex128"),
    "outside": ("aten.as_strided.default", (X[:1], [3], [4]), "does not have"),
    "part": ("aten.as_strided.default", (X[1:], [3], [1]), "part of another"),
    "dropout": (
        "aten._scaled_dot_product_flash_attention_for_cpu.default",
        (*[reals(1, 2, 3, 4)] * 3, 0.5, False),
        "dropout",
    ),
    "unknown": ("aten.nonzero.default", (X,), "no conversion of aten.nonzero.default"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    op, arguments, reason = REFUSED[name]
    result = X[0] if name == "dropout" else eager(op_of(op), arguments)
    with pytest.raises(td.TileError, match=reason):
        converted(op_of(op), arguments, result)


def test_result_of_another_shape():
    with pytest.raises(td.TileError, match=r"aten\.relu\.default gives 3x4 in the place of 4"):
        converted(torch.ops.aten.relu.default, (X,), X[0])
    with pytest.raises(td.TileError, match="gives 2 results in the place of 1"):
        converted(torch.ops.aten.sort.default, (X,), (X,))


def test_page():
    page = (Path(__file__).parents[2] / "docs" / "aten-operators.md").read_text()
    version = ".".join(torch.__version__.split(".")[:2])
    if f"PyTorch {version} " not in page:
        pytest.skip("the page is of another version of PyTorch")
    assert "\n".join(aten_oracle.page()) + "\n" == page


def test_reasons_are_of_operators_without_a_conversion():
    assert not REASONS.keys() & CONVERSIONS.keys()
