"""Kernels that read constants in blocks, against the reference, on every device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from packed_results import packed_results

import tiledialect as td
from tiledialect.api.packing.packing import packing_of
from tiledialect.passes.schedule import tile_block_constants

SIZE, CHANNELS, FEATURES = 8, 64, 5


def layer(window: str, size: int, weights: str = "K[o, c, j, i]") -> str:
    return f"""function (X[C, H, W], K, B[O, 1, 1], R) -> (Y) {{
      S[o, y, x: {CHANNELS}, {size}, {size}] = +(X[c, {window}] * {weights});
      Y = relu(S + B + R);
    }}"""


CASES = {
    "padded": (layer("y + j - 1, x + i - 1", SIZE), SIZE, (CHANNELS, FEATURES, 3, 3)),
    "strided": (layer("2*y + j, 2*x + i", 3), 3, (CHANNELS, FEATURES, 3, 3)),
    "product": (layer("y + j, x + i", SIZE), SIZE, (CHANNELS, FEATURES, 1, 1)),
    "last": (layer("y + j, x + i", SIZE, "K[j, i, c, o]"), SIZE, (1, 1, FEATURES, CHANNELS)),
    "inner": (layer("y + j, x + i", SIZE, "K[c, o, j, i]"), SIZE, (FEATURES, CHANNELS, 1, 1)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("device", td.devices(), ids=lambda d: d.id)
def test_blocked_layers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: td.Device, case: str
):
    # All that can be blocked is, whatever the estimate.
    monkeypatch.setattr(tile_block_constants, "COPY_GAIN", np.inf)
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    text, size, weights = CASES[case]
    f = td.compile(text, device=device.id)
    generator = np.random.default_rng(0)
    shapes = (FEATURES, SIZE, SIZE), weights, (CHANNELS, 1, 1), (CHANNELS, size, size)
    arrays = [generator.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
    packing = packing_of(f, f.types(arrays, {}), ["K", "B"])
    if device.type != "cpu":
        assert packing is None
        return
    assert packing is not None
    values = dict(zip(f.inputs, arrays, strict=True))
    packed = packed_results(packing, values)
    lengths = {np.shape(a)[-1] for a in packed}
    assert lengths & {8, 16, 32}
    found = packing.rest(*packing.arguments(values, packed))
    assert np.array_equal(found, f.reference(*arrays))
