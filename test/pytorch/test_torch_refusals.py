"""Calls of operators that are refused for their arguments."""

# pyright: basic

from __future__ import annotations

import pytest

import tiledialect as td

torch = pytest.importorskip("torch")
aten = torch.ops.aten


def rows():
    return [torch.randn(1, 2, 4, 8) for _ in range(3)]


REFUSED = {
    "dropout of attention is not supported": lambda: (
        lambda q, k, v: aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.5)[0],
        rows(),
    ),
    "views as elements of another width are not supported": lambda: (
        lambda x: x.view(torch.int16),
        [torch.randn(4)],
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_calls_that_are_refused(message: str):
    function, inputs = REFUSED[message]()
    torch.compiler.reset()
    run = torch.compile(function, backend="tiledialect", options={"strict": True})
    with pytest.raises(td.TileError, match=f"cannot be converted: {message}"):
        run(*inputs)


STRIDED = {
    "slice": lambda x: (x + 1)[:, ::2].as_strided((2, 2), (1, 6)),
    "slice of a transpose": lambda x: (x + 1).t()[1:].as_strided((2, 2), (1, 3), 2) * 2,
    "split": lambda x: (x + 1).split(2, 1)[1].as_strided((2, 2), (6, 1)),
    "input": lambda x: x[1:].as_strided((3, 2), (6, 1)) + 1,
}


@pytest.mark.parametrize("function", STRIDED.values(), ids=STRIDED)
@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
def test_refused_calls_that_depend_on_strides_read_views_of_whole_tensors(function):
    x = torch.arange(24.0).reshape(4, 6)
    torch.compiler.reset()
    run = torch.compile(function, backend="tiledialect")
    torch.testing.assert_close(run(x), function(x))
