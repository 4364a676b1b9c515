"""Windows of 3 x 3 with fewer products mean what they meant, in both gradients, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from running import Array, reference, run
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

import tiledialect as td
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.algebra.tile_winograd import TileWinogradPass

CHANNELS_FIRST = """function (I[N, CI, H, W], K[CO, CI, KH, KW]) -> (O) {{
  O[n, co, y, x: N, CO, {height}, {width}] = +(I[n, ci, y + j{top}, x + i{left}] * K[co, ci, j, i]);
}}"""
CHANNELS_LAST = """function (I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {{
  O[n, y, x, co: N, {height}, {width}, CO] = +(I[n, y + j{top}, x + i{left}, ci] * K[j, i, ci, co]);
}}"""
FLIPPED = """function (I[N, CI, H, W], K[CO, CI, KH, KW]) -> (O) {{
  O[n, co, y, x: N, CO, {height}, {width}] = +(I[n, ci, y - j + 2{top}, x + i{left}] * K[co, ci, j, i]);
}}"""
SINGLE = """function (I[CI, H, W], K[CI, CO, KH, KW]) -> (O) {{
  O[y, co, x: {height}, CO, {width}] = +(I[ci, y + j{top}, x + i{left}] * K[ci, co, j, i]);
}}"""
SAME = {"height": "H", "width": "W", "top": " - 1", "left": " - 1"}
VALID = {"height": "H - 2", "width": "W - 2", "top": "", "left": ""}
UNEVEN = {"height": "H - 1", "width": "W + 2", "top": " - 1", "left": " - 2"}
PROGRAMS = {
    "channels first": (CHANNELS_FIRST, SAME, [(2, 3, 6, 8), (5, 3, 3, 3)]),
    "odd": (CHANNELS_FIRST, SAME, [(3, 2, 7, 5), (4, 2, 3, 3)]),
    "channels last": (CHANNELS_LAST, SAME, [(2, 6, 7, 3), (3, 3, 3, 4)]),
    "valid": (CHANNELS_LAST, VALID, [(2, 9, 8, 3), (3, 3, 3, 4)]),
    "uneven": (CHANNELS_FIRST, UNEVEN, [(2, 3, 7, 6), (4, 3, 3, 3)]),
    "flipped": (FLIPPED, SAME, [(2, 3, 6, 7), (4, 3, 3, 3)]),
    "one picture": (SINGLE, SAME, [(3, 7, 6), (3, 4, 3, 3)]),
}


LARGE = CHANNELS_FIRST, SAME, [(32, 128, 14, 14), (256, 128, 3, 3)]


def in_normal_form(name: str, wrt: str | None) -> tuple[ModuleOp, list[Array]]:
    """A convolution or a gradient in normal form, and whole numbers for it."""
    return normal_form_of(*PROGRAMS[name], wrt)


def normal_form_of(
    source: str, sizes: Mapping[str, str], shapes: Sequence[tuple[int, ...]], wrt: str | None
) -> tuple[ModuleOp, list[Array]]:
    """A program or its gradient in normal form, and whole numbers for it."""
    function = td.compile(source.format(**sizes))
    random = np.random.default_rng(0)
    inputs = [random.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
    if wrt is not None:
        (result,) = reference(source.format(**sizes), inputs)
        inputs.append(random.integers(-4, 5, result.shape).astype(np.float32))
        function = function.gradient(wrt=(wrt,))
    program = function._program  # pyright: ignore[reportPrivateUsage]
    types = [TensorType(f32, x.shape) for x in inputs]
    after = "tile-split-product"
    return compile_module(program.module, None, types, None, program.transforms, after), inputs


def rewritten(module: ModuleOp) -> ModuleOp:
    """The module with fewer products in its contraction."""
    made = module.clone()
    (op,) = ops_of(made, ContractionOp)
    TileWinogradPass(contraction=op.result.name_hint).apply(Context(), made)
    made.verify()
    return made


@pytest.mark.covering(1)
@pytest.mark.parametrize("wrt", [None, "I", "K"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_means_the_same(name: str, wrt: str | None) -> None:
    module, inputs = in_normal_form(name, wrt)
    made = rewritten(module)
    assert len([*ops_of(made, ContractionOp)]) == 5
    (expected,), (found,) = reference(module, inputs), reference(made, inputs)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.covering(1)
@pytest.mark.parametrize("wrt", [None, "I", "K"])
@pytest.mark.parametrize("name", ["odd", "channels last"])
def test_on_devices(device: td.Device, name: str, wrt: str | None) -> None:
    module, inputs = in_normal_form(name, wrt)
    (expected,), (found,) = reference(module, inputs), run(rewritten(module), inputs, device)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("wrt", [None, "I", "K"])
def test_large_ones_on_gpus(device: td.Device, wrt: str | None) -> None:
    if device.type != "gpu":
        pytest.skip("too slow on other devices")
    module, inputs = normal_form_of(*LARGE, wrt)
    exact = td.compile(module, device=device, precision="exact")
    np.testing.assert_array_equal(run(rewritten(module), inputs, device)[0], exact(*inputs))
