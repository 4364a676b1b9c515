"""Kernels of tensors in blocks, against the reference, on every device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from packed_results import packed_results

import tiledialect as td
from tiledialect.api.packing.packing import Packing, packing_of
from tiledialect.passes.schedule import tile_block_layouts

CONVOLUTION = "+({x}[n, c, y + j - 1, x + i - 1] * {w}[o, c, j, i])"
FIRST = f"A[n, o, y, x: N, 16, H, W] = {CONVOLUTION.format(x='X', w='K')}; B = relu(A + P);"


def program(text: str, result: str = "Y", given: str = "") -> str:
    inputs = f"X[N, C, H, W], K, P[16, 1, 1], L, Q[16, 1, 1]{given}"
    return f"function ({inputs}) -> ({result}) {{ {FIRST} {text} }}"


CASES = {
    # Two convolutions, the second by sixteen channels of the first; its result is returned.
    "chain": program(f"Y[n, o, y, x: N, 32, H, W] = {CONVOLUTION.format(x='B', w='L')};"),
    "residual": program(
        f"D[n, o, y, x: N, 16, H, W] = {CONVOLUTION.format(x='B', w='L')}; E = relu(D + B);"
        "Y[n, o: N, 16] = +(E[n, o, y, x]);"
    ),
    "depthwise": program(
        "D[n, g, y, x: N, 16, 2, 3] = +(B[n, g, 2*y + j, 2*x + i] * L[g, 0, j, i]);"
        "E[n, g: N, 16] = +(D[n, g, y, x]); Y[n, o: N, 16] = +(E[n, g] * Q[o, 0, 0]);"
    ),
    "pooled": program(
        "D[n, o, y, x: N, 16, 2, 3] = >(B[n, o, 2*y + j, 2*x + i]), j < 3, i < 2;"
        "Y[n, o, y, x: N, 16, 2, 3] = +(D[n, c, y, x] * L[o, c, 0, 0]);"
    ),
    # Means of planes scale them before the next convolution.
    "scaled": program(
        "M[n, c, 0, 0: N, 16, 1, 1] = +(B[n, c, y, x]); E = sigmoid(M); D = B * E;"
        "Y[n, o, y, x: N, 16, H, W] = +(D[n, c, y, x] * L[o, c, 0, 0]);"
    ),
    # Parts of whole blocks lie side by side.
    "joined": program(
        "D[n, o, y, x: N, 32, H, W] = +(B[n, c, y, x] * L[o, c, 0, 0]);"
        "E[n, o, y, x: N, 48, H, W] = +(B[n, o, y, x]);"
        "F[n, o, y, x: N, 48, H, W] = +(D[n, o - 16, y, x]); G = E + F;"
        "Y[n, o, y, x: N, 16, H, W] = +(G[n, c, y, x] * M[o, c]);",
        given=", M[16, 48]",
    ),
    # Rows of each channel.
    "rows": program(
        "M[n, c, 0, 0: N, 16, 1, 1] = +(B[n, c, y, x]); D = 4*B - M;"
        "S[n, c, 0, 0: N, 16, 1, 1] = >(D[n, c, y, x]); E = D - S;"
        "Y[n, o, y, x: N, 16, H, W] = +(E[n, c, y, x] * L[o, c, 0, 0]);"
    ),
    # So does a slice of whole blocks.
    "sliced": program(
        "D[n, o, y, x: N, 32, H, W] = +(B[n, c, y, x] * L[o, c, 0, 0]);"
        "E[n, o, y, x: N, 16, H, W] = +(D[n, o + 16, y, x]); F = E * B;"
        "Y[n, o, y, x: N, 16, H, W] = +(F[n, c, y, x] * M[o, c]);",
        given=", M[16, 16]",
    ),
}
RETURNED = {
    # A tensor that is returned stays as it is, and so do those that are combined with it.
    "returned": program(
        f"Y[n, o, y, x: N, 16, H, W] = {CONVOLUTION.format(x='B', w='L')};", "Y, B"
    ),
    "given": program(
        "D = B * R; Y[n, o, y, x: N, 16, H, W] = +(D[n, c, y, x] * L[o, c, 0, 0]);",
        given=", R[N, 16, H, W]",
    ),
    # Channels are rows of the next sum, or are read next to one another.
    "turned": program("Y[n, y: N, 1] = +(B[n, o, y, x] * B[n, y, o, x]), o < 5, y < 1;"),
    "apart": program(
        "E[n, o, y, x: N, 24, H, W] = +(B[n, o, y, x]);"
        "F[n, o, y, x: N, 24, H, W] = +(R[n, o - 16, y, x]); G = E + F;"
        "Y[n, o, y, x: N, 16, H, W] = +(G[n, c, y, x] * M[o, c]);",
        given=", R[N, 8, H, W], M[16, 24]",
    ),
    # Rows of all channels stay whole.
    "mixed": program(
        "M[n, 0, y, x: N, 1, H, W] = +(B[n, c, y, x]); D = 4*B - M;"
        "S[n, 0, y, x: N, 1, H, W] = >(D[n, c, y, x]); E = D - S;"
        "Y[n, o, y, x: N, 16, H, W] = +(E[n, c, y, x] * L[o, c, 0, 0]);"
    ),
    "shifted": program("Y[n, o, y, x: N, 15, H, W] = +(B[n, o + 1, y, x] * L[0, 0, 0, 0]);"),
}
WINDOWS = {
    "chain": (32, 16, 3, 3),
    "residual": (16, 16, 3, 3),
    "depthwise": (16, 1, 3, 2),
    "joined": (32, 16, 1, 1),
    "sliced": (32, 16, 1, 1),
}
SHAPE = 2, 5, 5, 7
GIVEN = {
    "given": [(2, 16, 5, 7)],
    "joined": [(16, 48)],
    "sliced": [(16, 16)],
    "apart": [(2, 8, 5, 7), (16, 24)],
}
"""Shapes of the arguments after the others."""


def everything(_: object, plain: Sequence[float], __: object) -> Sequence[int]:
    """The numbers of all kernels."""
    return range(len(plain))


def packed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: td.Device, text: str, case: str
) -> tuple[td.Function, list[np.ndarray], Packing | None]:
    # All that can be in blocks is, whatever the estimate.
    monkeypatch.setattr(tile_block_layouts, "gaining", everything)
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    f = td.compile(text, device=device.id)
    generator = np.random.default_rng(0)
    weights = WINDOWS.get(case, (16, 16, 1, 1))
    shapes = [SHAPE, (16, 5, 3, 3), (16, 1, 1), weights, (16, 1, 1)]
    shapes += GIVEN.get(case, [])
    arrays = [generator.integers(-2, 3, shape).astype(np.float32) for shape in shapes]
    used = [n for n in "KPLQM" if n in f.inputs]
    return f, arrays, packing_of(f, f.types(arrays, {}), used)


@pytest.mark.parametrize("case", [*CASES, *RETURNED])
@pytest.mark.parametrize("device", td.devices(), ids=lambda d: d.id)
def test_layers_in_blocks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: td.Device, case: str
):
    text = {**CASES, **RETURNED}[case]
    f, arrays, packing = packed(monkeypatch, tmp_path, device, text, case)
    has_vectors = device.type == "cpu"
    if packing is None:
        assert not has_vectors or case in RETURNED
        return
    # The first convolution's result has a block of its sixteen channels for each pixel.
    assert ("tensor<2x1x5x7x16xf32>" in str(packing.rest.program.text)) == (
        has_vectors and case in CASES
    )
    values = dict(zip(f.inputs, arrays, strict=True))
    weights = packed_results(packing, values)
    found = packing.rest(*packing.arguments(values, weights))
    expected = f.reference(*arrays)
    for ours, theirs in zip(_tuple(found), _tuple(expected), strict=True):
        # Sums of small whole numbers are exact; a sigmoid of them is not.
        assert np.allclose(ours, theirs, rtol=0 if case != "scaled" else 1e-5)


def _tuple(found: object) -> tuple[np.ndarray, ...]:
    return tuple(found) if isinstance(found, tuple) else (found,)  # pyright: ignore[reportReturnType]


def test_estimates_decide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    device = next((d for d in td.devices() if d.type == "cpu"), None)
    if device is None:
        pytest.skip("no device has vectors")
    f = td.compile(PARTED, device=device.id)
    sizes = SHAPE, (16, 5, 3, 3), (16, 1, 1), (16, 16, 1, 1), (16, 1, 1)
    types = f.types([f"{'x'.join(map(str, size))}xf32" for size in sizes], {})
    rows: list[list[float]] = []

    def kept(_: object, *seconds: list[float]) -> set[int]:
        rows[:] = seconds
        return set()

    monkeypatch.setattr(tile_block_layouts, "gaining", kept)
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    packing_of(f, types, ["K", "P", "L"])
    plain, blocked = rows
    assert len(plain) == len(blocked) == 4
    assert all(a != b for a, b in zip(plain[:3], blocked[:3], strict=True))


PARTED = program(
    "D[n, o, y, x: N, 16, H, W] = +(B[n, c, y, x] * L[o, c, 0, 0]); E = relu(D);"
    "F[n, o, y, x: N, 16, H, W] = +(E[n, c + 1, y, x] * L[o, c, 0, 0]);"
    "Y[n, o: N, 16] = +(F[n, o, y, x]);"
)
"""Two pairs of kernels with a tensor in blocks, and one between them whose channels are shifted."""
IN_BLOCKS = re.compile(r"tile\.kernel.*-> tensor<2x1x[0-9x]*x16xf32>")
"""A kernel whose result has a block of all channels for each pixel."""


@pytest.mark.parametrize("chosen", [0, 1])
def test_connected_kernels_have_blocks_by_themselves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chosen: int
):
    device = next((d for d in td.devices() if d.type == "cpu"), None)
    if device is None:
        pytest.skip("no device has vectors")
    given: list[list[Sequence[int]]] = []

    def one(connected: Sequence[Sequence[int]], *_: object) -> Sequence[int]:
        given.append(list(connected))
        return given[0][chosen]

    f, arrays, _ = packed(monkeypatch, tmp_path, device, PARTED, "")
    monkeypatch.setattr(tile_block_layouts, "gaining", one)
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path / "one")
    packing = packing_of(f, f.types(arrays, {}), ["K", "P", "L"])
    assert packing is not None and given == [[[0, 1], [2, 3]]]
    lines = packing.rest.program.text.splitlines()
    in_blocks = [line.split("(")[0][-2:] for line in lines if IN_BLOCKS.search(line)]
    assert in_blocks == [["@B"], ["@F"]][chosen]
    values = dict(zip(f.inputs, arrays, strict=True))
    weights = packed_results(packing, values)
    found = packing.rest(*packing.arguments(values, weights))
    assert np.array_equal(found, f.reference(*arrays))


def test_small_gains_count_beside_clear_ones():
    connected = [[0, 1], [2], [3]]
    plain = [10.0, 10.0, 10.0, 10.0]
    gaining = tile_block_layouts.gaining
    assert gaining(connected, plain, [5.0, 6.0, 11.0, 10.0]) == {0, 1}
    assert gaining(connected, plain, [5.0, 6.0, 9.9, 10.0]) == {0, 1, 2}
    # Of little beside much that hardly gains, the clear gain alone is sure.
    assert gaining([[0], [1]], [1.0, 100.0], [0.5, 99.0]) == {0}
    assert gaining([[0], [1]], [1.0, 100.0], [0.99, 101.0]) == set()
