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
