"""Copies that write every other element of a row, in turns: as the reference, on every device.

Also as compiled for described processors, whose vectors have other lengths.
"""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close
from described import check_as, spec
from xdsl.dialects import gpu, memref, vector
from xdsl.dialects.builtin import DenseArrayBase, i32

import tiledialect as td
from tiledialect.api.inputs import types_of
from tiledialect.lowering.compilation import compile_module

NEAREST = """function (X[N, H, W]) -> (O) {{
  Y[n, {0}*y + a, {0}*x + b: N, {0}*H, {0}*W] = =(X[n, y, x]), a < {0}, b < {0}; O = relu(Y);
}}"""
SHUFFLED = """function (X[N, K, H, W]) -> (O) {{
  O[n, c, {0}*y + a, {0}*x + b: N, K/{1}, {0}*H, {0}*W]
    = =(X[n, {1}*c + {0}*a + b, y, x]), a < {0}, b < {0};
}}"""
UNSHUFFLED = """function (X[N, K, H, W]) -> (O) {{
  O[n, {1}*c + {0}*a + b, y, x: N, {1}*K, H/{0}, W/{0}]
    = =(X[n, c, {0}*y + a, {0}*x + b]), a < {0}, b < {0};
}}"""
PARTED = """function (X[N, H, W, C]) -> (O) {
  O[6*n + 3*y + x, 7*a + b, c: 6*N, 49, C] = =(X[n, 7*y + a, 7*x + b, c]), a < 7, b < 7, x < 3, y < 2;
}"""
CPU = {"type": "cpu", "compute_units": 2, "launch": 0.0, "fp16": False}
TARGETS = {
    "8 lanes": spec("CPU", {**CPU, "native_vector_width": 8}),
    "16 lanes": spec("CPU", {**CPU, "native_vector_width": 16}),
    "a GPU": spec("GPU", {"type": "gpu", "compute_units": 4, "max_work_group_size": 32}),
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("target", ("own", *TARGETS))
@pytest.mark.parametrize("times", (2, 3, 4))
@pytest.mark.parametrize("width", (5, 16, 37))
def test_copies_in_turns(times: int, width: int, target: str, device: td.Device):
    random = np.random.default_rng(0)
    square = times * times
    for source, shape in ((NEAREST, (2, 3, width)), (SHUFFLED, (1, square, 3, width))):
        function = td.compile(source.format(times, square), device=device)
        array = random.uniform(-1, 1, shape).astype(np.float32)
        if target == "own":
            assert_close(function(array), function.reference(array), ulps=0)
        else:
            check_as(function, [array], device, TARGETS[target], ulps=0)


@pytest.mark.parametrize("target", ("own", *TARGETS))
def test_copies_to_places_of_several_digits(target: str, device: td.Device):
    """The digits of an element's place say what is read: nothing is searched for."""
    unshuffled = [(UNSHUFFLED.format(t, t * t), (2, 3, 2 * t, 11 * t)) for t in (2, 3, 4)]
    for source, shape in (*unshuffled, (PARTED, (2, 14, 21, 5))):
        function = td.compile(source, device=device)
        array = np.arange(np.prod(shape)).reshape(shape).astype(np.float32)
        if target == "own":
            assert_close(function(array), function.reference(array), ulps=0)
        else:
            check_as(function, [array], device, TARGETS[target], ulps=0)


ROWS = """function (X[N, M], S[N], T[M]) -> (O) { O = X * reshape(S, N, 1) + T; }"""


@pytest.mark.covering(1)
@pytest.mark.parametrize("target", ("own", *TARGETS))
@pytest.mark.parametrize(("row", "dtype"), [(2, np.float64), (3, np.float32), (3, np.uint8)])
def test_short_rows_with_numbers_of_their_own(
    row: int, dtype: type, target: str, device: td.Device
):
    function = td.compile(ROWS, device=device)
    for rows in (5, 700):
        arrays = [np.arange(n).reshape(s).astype(dtype) for n, s in _sizes(rows, row)]
        if target == "own":
            assert_close(function(*arrays), function.reference(*arrays), ulps=1)
        else:
            check_as(function, arrays, device, TARGETS[target], ulps=1)


def _sizes(rows: int, row: int) -> list[tuple[int, tuple[int, ...]]]:
    return [(rows * row, (rows, row)), (rows, (rows,)), (row, (row,))]


def test_short_rows_are_vectors_of_many_rows():
    """A compiler's own vectors of neighbouring work-items would scatter them, lane by lane."""
    program = td.compile(ROWS)._program  # pyright: ignore[reportPrivateUsage]
    arrays = [np.ones(s, np.float32) for _, s in _sizes(10000, 3)]
    module = compile_module(program.module, program.name, types_of(arrays), TARGETS["16 lanes"])
    assert any(isinstance(op, vector.ShuffleOp) for op in module.walk())


@pytest.mark.parametrize("width", (8, 16))
def test_lanes_in_turns_are_shuffled(width: int):
    """Vectors along pixels fill one another's gaps, and no element is stored by itself."""
    program = td.compile(NEAREST.format(2))._program  # pyright: ignore[reportPrivateUsage]
    arrays = [np.ones((2, 8, 64), np.float32)]
    module = compile_module(
        program.module, program.name, types_of(arrays), TARGETS[f"{width} lanes"]
    )
    stored = [op.value.type for op in module.walk() if isinstance(op, memref.StoreOp)]
    assert not stored and any(isinstance(op, vector.ShuffleOp) for op in module.walk())


MIRRORED = """function (X[N, M, C]) -> (O, P) {
  O[n, m, c: N, M, C] = =(X[n, M - 1 - m, c]);
  Y[n, m, c: N, M, C] = =(X[n, M - 1 - m, c]); P = Y * 2 + X;
}"""

NEAREST_PIXELS = """function (X[H, W, C]) -> (O) {
  O[2*y + a, 2*x + b, c: 2*H, 2*W, C] = =(X[y, x, c]), a < 2, b < 2;
}"""


DTYPES = (np.float32, np.float64, np.int32, np.uint8)


@pytest.mark.covering(1)
@pytest.mark.parametrize("target", ("own", *TARGETS))
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("row", (2, 3, 4, 5))
def test_mirrored_rows_of_short_pixels(row: int, dtype: type, target: str, device: td.Device):
    function = td.compile(MIRRORED, device=device)
    for shape in ((2, 21, row), (3, 64, row)):
        array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        if target == "own":
            for ours, expected in zip(function(array), function.reference(array), strict=True):
                assert_close(ours, expected, ulps=0)
        else:
            check_as(function, [array], device, TARGETS[target], ulps=0)


def test_pixels_of_few_numbers_are_moved_without_scattering():
    """Neither by a compiler's own vectors of neighbouring work-items, nor lane by lane."""
    for source in (MIRRORED, NEAREST_PIXELS):
        program = td.compile(source)._program  # pyright: ignore[reportPrivateUsage]
        arrays = [np.ones((64, 64, 3), np.float32)]
        module = compile_module(program.module, program.name, types_of(arrays), TARGETS["16 lanes"])
        for kernel in (op for op in module.walk() if isinstance(op, gpu.FuncOp)):
            assert kernel.attributes["gpu.known_block_size"] == DenseArrayBase.from_list(
                i32, [1] * 3
            )
            assert not any(isinstance(op, vector.InsertOp) for op in kernel.walk())
