"""Constants that are arrays, in programs of all dialects."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
import upstream
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

import tiledialect as td
from tiledialect.ir.dense_constants import dense_array
from tiledialect.ir.mlir_text import parse_mlir, print_module
from tiledialect.ir.ops_in import ops_of

Array = npt.NDArray[Any]

RANDOM = np.random.default_rng(0)
W = RANDOM.normal(size=(8, 5)).astype("f")
X = RANDOM.normal(size=(4, 8)).astype("f")
PLACES = RANDOM.integers(0, 20, size=25)
TRUE = RANDOM.normal(size=30) > 0
BYTES = np.arange(30, dtype=np.uint8) * 8


def dense(array: Array, t: str) -> str:
    shape = "x".join(map(str, array.shape))
    return f'dense<"0x{array.tobytes().hex().upper()}"> : tensor<{shape}x{t}>'


def listed(array: Array, t: str) -> str:
    numbers = ", ".join(str(x).lower() for x in array.tolist())
    return f"dense<[{numbers}]> : tensor<{len(array)}x{t}>"


def product(t: str, dtype: Any, rows: str = "4") -> str:
    whole = f"tensor<{rows}x5x{t}>"
    return f"""func.func @f(%x: tensor<{rows}x8x{t}>) -> {whole} {{
  %w = arith.constant {dense(W.astype(dtype), t)}
  %z = arith.constant 0.0 : {t}
  %c = arith.constant 0 : index
  %n = tensor.dim %x, %c : tensor<{rows}x8x{t}>
  %e = tensor.empty({"%n" if rows == "?" else ""}) : {whole}
  %i = linalg.fill ins(%z : {t}) outs(%e : {whole}) -> {whole}
  %r = linalg.matmul ins(%x, %w : tensor<{rows}x8x{t}>, tensor<8x5x{t}>)
    outs(%i : {whole}) -> {whole}
  func.return %r : {whole}
}}"""


def gathered(t: str) -> str:
    cast = "" if t == "index" else f"%n = arith.index_cast %k : {t} to index"
    return f"""func.func @f(%x: tensor<20xf32>) -> tensor<25xf32> {{
  %c = arith.constant {listed(PLACES, t)}
  %e = tensor.empty() : tensor<25xf32>
  %r = linalg.generic {{
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  }} ins(%c: tensor<25x{t}>) outs(%e: tensor<25xf32>) {{
   ^bb0(%k: {t}, %o: f32):
    {cast}
    %v = tensor.extract %x[{"%k" if t == "index" else "%n"}] : tensor<20xf32>
    linalg.yield %v : f32
  }} -> tensor<25xf32>
  func.return %r : tensor<25xf32>
}}"""


TABLE = f"""func.func @f(%i: tensor<9xi32>) -> tensor<9xf32> {{
  %t = arith.constant {dense(W.reshape(-1), "f32")}
  %e = tensor.empty() : tensor<9xf32>
  %r = linalg.generic {{
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  }} ins(%i: tensor<9xi32>) outs(%e: tensor<9xf32>) {{
   ^bb0(%k: i32, %o: f32):
    %n = arith.index_cast %k : i32 to index
    %v = tensor.extract %t[%n] : tensor<40xf32>
    linalg.yield %v : f32
  }} -> tensor<9xf32>
  func.return %r : tensor<9xf32>
}}"""
RETURNED = f"""func.func @f(%x: tensor<8x5xf32>)
    -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<40xf32>, tensor<8x5xf32>) {{
  %t = arith.constant {dense(W, "f32")}
  %u = arith.constant {dense(W, "f32")}
  %r = tensor.collapse_shape %t [[0, 1]] : tensor<8x5xf32> into tensor<40xf32>
  func.return %t, %t, %r, %u : tensor<8x5xf32>, tensor<8x5xf32>, tensor<40xf32>, tensor<8x5xf32>
}}"""
INSERTED = f"""func.func @f(%x: tensor<2x5xf32>) -> tensor<8x5xf32> {{
  %t = arith.constant {dense(W, "f32")}
  %r = tensor.insert_slice %x into %t[3, 0] [2, 5] [1, 1]
    : tensor<2x5xf32> into tensor<8x5xf32>
  func.return %r : tensor<8x5xf32>
}}"""
TILE = f"""func.func @f(%x: tensor<8x5xf32>) -> tensor<8x5xf32> {{
  %t = arith.constant {dense(W, "f32")}
  %r = tile.add %x, %t : (tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
  func.return %r : tensor<8x5xf32>
}}"""
BOOLEAN = f"""func.func @f(%x: tensor<30xi1>) -> tensor<30xi1> {{
  %t = arith.constant {listed(TRUE, "i1")}
  %r = arith.xori %x, %t : tensor<30xi1>
  func.return %r : tensor<30xi1>
}}"""
NOTHING = """func.func @f(%x: tensor<0xf32>) -> tensor<0xf32> {
  %t = arith.constant dense<> : tensor<0xf32>
  %r = arith.addf %x, %t : tensor<0xf32>
  func.return %r : tensor<0xf32>
}"""
RESOURCE = f"""func.func @f(%x: tensor<8x5xf32>) -> tensor<8x5xf32> {{
  %t = arith.constant dense_resource<weights> : tensor<8x5xf32>
  %r = arith.addf %x, %t : tensor<8x5xf32>
  func.return %r : tensor<8x5xf32>
}}
{{-# dialect_resources: {{ builtin: {{ weights: "0x04000000{W.tobytes().hex()}" }} }} #-}}
"""
STABLEHLO = f"""func.func @f(%x: tensor<30xui8>) -> tensor<30xui8> {{
  %t = stablehlo.constant {dense(BYTES, "ui8")}
  %r = "stablehlo.add"(%x, %t) : (tensor<30xui8>, tensor<30xui8>) -> tensor<30xui8>
  func.return %r : tensor<30xui8>
}}"""
REALS: dict[str, tuple[Any, float]] = {
    "f32": (np.float32, 1e-5),
    "f64": (np.float64, 1e-12),
    "f16": (np.float16, 1e-2),
    "bf16": (ml_dtypes.bfloat16, 3e-2),
}
"""Element types, with the error of a sum of eight products of numbers near 1."""
CASES: dict[str, tuple[str, Array, Any]] = {
    "open": (product("f32", "f", "?"), X, X @ W),
    **{f"places {t}": (gathered(t), np.arange(20, dtype="f"), PLACES) for t in ("i64", "i32")},
    "places index": (gathered("index"), np.arange(20, dtype="f"), PLACES),
    "table": (TABLE, np.arange(9, dtype=np.int32), W.reshape(-1)[:9]),
    "inserted": (INSERTED, W[:2], np.concatenate([W[:3], W[:2], W[5:]])),
    "tile": (TILE, W, W + W),
    "boolean": (BOOLEAN, TRUE[::-1].copy(), TRUE ^ TRUE[::-1]),
    "nothing": (NOTHING, np.zeros(0, "f"), np.zeros(0)),
    "resource": (RESOURCE, W, W + W),
    "stablehlo": (STABLEHLO, BYTES, BYTES + BYTES),
}


@pytest.mark.parametrize("name", CASES)
def test_programs(name: str, device: td.Device) -> None:
    text, x, wanted = CASES[name]
    f = td.compile(parse_mlir(text, "f.mlir"), device=device)
    # Sums of eight products, else no rounding.
    for result in (f(x), f.reference(x), pickle.loads(pickle.dumps(f))(x)):
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("t", REALS)
def test_element_types(t: str, device: td.Device) -> None:
    dtype, error = REALS[t]
    if t == "f64" and not device.fp64:
        pytest.skip("no double precision")
    f = td.compile(parse_mlir(product(t, dtype), "f.mlir"), device=device)
    x = X.astype(dtype)
    wanted = x.astype(np.float64) @ W.astype(dtype).astype(np.float64)
    np.testing.assert_allclose(f(x).astype(np.float64), wanted, rtol=error, atol=error)


def test_returned_constants_are_arrays_of_their_own(device: td.Device) -> None:
    f = td.compile(parse_mlir(RETURNED, "f.mlir"), device=device)
    for result in f(W):
        assert np.array_equal(result.reshape(-1), W.reshape(-1))
        result[:] = 0
    assert all(result.any() for result in f(W))


def test_gradients_go_past_constants(device: td.Device) -> None:
    f = td.compile(parse_mlir(product("f32", "f"), "f.mlir"), device=device)
    cotangent = RANDOM.normal(size=(4, 5)).astype("f")
    # Sums of five products.
    np.testing.assert_allclose(f.gradient()(X, cotangent), cotangent @ W.T, rtol=1e-5, atol=1e-6)


def test_programs_that_are_kept_hold_their_constants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: td.Device
) -> None:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    other = TILE.replace(dense(W, "f32"), dense(2 * W, "f32"))
    for _ in range(2):
        for text, factor in ((TILE, 1), (other, 2)):
            f = td.compile(parse_mlir(text, "f.mlir"), device=device)
            assert np.array_equal(f(W), W + factor * W)


def test_the_kernel_level_is_upstream_s(device: td.Device) -> None:
    f = td.compile(parse_mlir(TABLE, "f.mlir"), device=device)
    i = np.arange(9, dtype=np.int32)
    text = f.mlir(i)
    assert "memref.get_global @f_constant0" in text
    again = td.compile(parse_mlir(text, "kernels.mlir"), device=device)
    for result in (again(i), again.reference(i)):
        assert np.array_equal(result, W.reshape(-1)[:9])
    upstream.mlir_opt(text, "-allow-unregistered-dialect")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((", constant", ""), "@f_constant0 is not constant: the host keeps no arrays"),
        (('sym_name = "f_constant0"', 'sym_name = "other"'), "no memref.global @f_constant0 of"),
    ],
)
def test_arrays_that_are_no_constants(change: tuple[str, str], words: str) -> None:
    x = np.zeros((8, 5), "f")
    text = td.compile(parse_mlir(TILE, "f.mlir")).mlir(x)
    f = td.compile(parse_mlir(text.replace(*change), "f.mlir"))
    for run in (f, f.reference):
        with pytest.raises(td.TileError, match=words):
            run(x)


def test_a_kernel_writes_no_constant() -> None:
    x = np.zeros((8, 5), "f")
    text = td.compile(parse_mlir(TILE, "f.mlir")).mlir(x)
    assert "%x_1, %t_1, %r)" in text
    swapped = text.replace("%x_1, %t_1, %r)", "%x_1, %r, %t_1)")
    with pytest.raises(td.TileError, match="writes a constant"):
        td.compile(parse_mlir(swapped, "f.mlir"))(x)


def constant(text: str) -> Array:
    (op,) = ops_of(parse_mlir(f"%c = arith.constant {text}", "c.mlir"), arith.ConstantOp)
    assert isinstance(op.value, DenseIntOrFPElementsAttr)
    return dense_array(op.value)


def test_booleans_of_upstream_s_text() -> None:
    many = np.resize([True, False, True, True], 240)
    packed = upstream.mlir_opt(f"%c = arith.constant {listed(many, 'i1')}")
    (op,) = ops_of(parse_mlir(packed, "c.mlir"), arith.ConstantOp)
    assert isinstance(op.value, DenseIntOrFPElementsAttr)
    assert np.array_equal(dense_array(op.value), many)


def test_hexadecimal_booleans() -> None:
    assert np.array_equal(constant('dense<"0x05"> : tensor<3xi1>'), [True, False, True])
    assert np.array_equal(constant('dense<"0xFF"> : tensor<2x6xi1>'), np.ones((2, 6), np.bool_))
    assert np.array_equal(constant('dense<"0x000100"> : tensor<3xi1>'), [False, True, False])
    with pytest.raises(td.TileError, match="these are not 3 booleans"):
        constant('dense<"0x0505"> : tensor<3xi1>')
    many = np.resize(TRUE, 120)
    written = parse_mlir(f"%c = arith.constant {listed(many, 'i1')}", "c.mlir")
    text = print_module(written).partition("arith.constant ")[2].partition("\n")[0]
    assert text.startswith('dense<"0x') and np.array_equal(constant(text), many)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('weights: "0x', 'other: "0x', "there is no resource weights"),
        ("0x04000000", "0x0400000000", "resource weights has 161 bytes, which are no tensor"),
    ],
)
def test_resources_that_are_not_there(old: str, new: str, words: str) -> None:
    with pytest.raises(td.TileError, match=words):
        parse_mlir(RESOURCE.replace(old, new), "f.mlir")
