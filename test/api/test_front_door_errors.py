"""Arguments that compile and the functions that it makes refuse."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_door import PRODUCT, A, B

import tiledialect as td


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.tile", None, "cannot read .*missing.tile: No such file"),
        ("missing.mlir", None, "cannot read .*missing.mlir: No such file"),
        ("binary.tile", b"\xff\xfe\x00", "binary.tile is not a text file"),
        ("a.txt", b"", "a.txt is neither a .tile nor a .mlir file"),
        ("a.onnx", b"", "nor a .mlir file; `td.onnx.load` takes models of ONNX"),
        ("bad.tile", b"function (A[N]) -> (B) { B = ; }", r"bad.tile:1:3\d: (.|\n)*\^"),
        ("bad.mlir", b"func.func @f(%A: tensor<3xf32>", r"bad.mlir:1:\d+: (.|\n)*\^"),
        ("odd.mlir", b'"no.such_op"() : () -> ()', r"odd.mlir:1:\d+: .*no.such_op"),
        ("empty.mlir", b"builtin.module {}", "there is no function here"),
    ],
)
def test_files_that_are_no_programs(tmp_path: Path, name: str, content: bytes | None, words: str):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(td.TileError, match=words):
        td.compile(path)


def test_what_is_no_source():
    for source in (3, None, b"function"):
        with pytest.raises(td.TileError, match="a program is Tile text, a path or a ModuleOp"):
            td.compile(source)  # pyright: ignore[reportArgumentType]
    with pytest.raises(td.TileError):
        td.compile("")


def test_an_unknown_device():
    with pytest.raises(td.TileError, match="no OpenCL device 'nowhere'"):
        td.compile(PRODUCT, device="nowhere")


@pytest.mark.parametrize("name", [5, ["f"], b"f"])
def test_a_name_is_text(name: Any):
    with pytest.raises(td.TileError, match="`name` must be a text, got "):
        td.compile(PRODUCT, name=name)


@pytest.mark.parametrize(("args", "named"), [(None, {}), (3, {}), ("AB", {}), ([A, B], None)])
def test_what_is_no_list_of_inputs(args: Any, named: Any):
    f = td.compile(PRODUCT)
    for take in (f.bind, f.types):
        with pytest.raises(td.TileError, match="inputs of main are given in a list"):
            take(args, named)


@pytest.mark.parametrize(
    ("args", "named", "words"),
    [
        ((A,), {}, "main takes 2 inputs (A, B), but 1 was given; B is missing"),
        ((A, B, B), {}, "main takes 2 inputs (A, B), but 3 were given"),
        ((), {"A": A}, "but 1 was given; B is missing"),
        ((A, B), {"C": B}, "main has no input C; it takes A, B"),
        ((A, B), {"B": B}, "B is given twice, by place and by name"),
        ((A, A), {}, "dimension K is 4 in A (axis 1) but 3 in B (axis 0)"),
        ((A[0], B), {}, "A has 2 dimensions in the header (M, K), but the one given has 1"),
        (([1.0, 2.0], B), {}, "A has 2 dimensions in the header (M, K), but the one given has 1"),
        ((A, None), {}, "B is a NoneType, not an array of numbers"),
        ((A, B.astype(complex)), {}, "B holds complex numbers"),
    ],
)
def test_wrong_inputs(args: tuple[Any, ...], named: dict[str, Any], words: str):
    f = td.compile(PRODUCT)
    for call in (f, f.opencl, f.mlir, f.reference):
        with pytest.raises(td.TileError, match=re.escape(words)):
            call(*args, **named)


def test_no_inputs():
    f = td.compile(PRODUCT)
    for call in (f, f.reference):
        with pytest.raises(td.TileError, match="main takes 2 inputs"):
            call()
    for read in (f.opencl, f.mlir):
        with pytest.raises(td.TileError, match="the shapes of A, B are not known yet"):
            read()


def test_errors_of_a_specialization_show_the_source():
    f = td.compile("function (A[N]) -> (B) {\n  B[i: N - 5] = +(A[i]);\n}")
    with pytest.raises(td.TileError) as caught:
        f(np.zeros(3, np.float32))
    assert "B[i: N - 5]" in str(caught.value) and "^" in str(caught.value)


def test_results_larger_than_the_device():
    f = td.compile("function (A[N]) -> (B) { B[i, j, k: N, N, N] = +(A[i]); }")
    with pytest.raises(td.TileError, match=r"B: float32\[20000, .*at most"):
        f(np.zeros(20000, np.float32))


@pytest.mark.parametrize(
    ("pair", "text"),
    [
        (((3, 4), "f32"), "3x4xf32"),
        (([3, 4], "float32"), "3x4xf32"),
        (((3, 4), np.int64), "3x4xi64"),
        (((3, 4), "i8"), "3x4xi8"),
        (((3, 4), "bf16"), "3x4xbf16"),
    ],
)
def test_pairs_of_shape_and_element_type(pair: Any, text: str):
    f = td.compile(PRODUCT)
    assert f.types((pair, pair), {}) == f.types((text, text), {})


def test_pairs_that_say_no_type():
    wrong = (
        ((3, 4), "f33"),
        (("N", 4), "f32"),
        ((-3, 4), "f32"),
        ((1.5, 4), "f32"),
        ((3, 4), "c8"),
    )
    for pair in wrong:
        with pytest.raises(td.TileError, match="is no pair of a shape and an element type"):
            td.compile(PRODUCT).opencl(pair, pair)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: td.compile("function (A[N]) -> (B) { B = ; }"),
        lambda: td.compile(PRODUCT)(A, A),
        lambda: td.compile(PRODUCT).opencl(A, A),
        lambda: td.compile(PRODUCT).reference(A, A),
        lambda: td.compile(PRODUCT).profile(A, A),
        lambda: td.compile(PRODUCT).gradient(wrt="X"),
        lambda: td.compile(PRODUCT).ir("tile-bounds", A, A),
    ],
)
def test_tracebacks_end_at_the_front_door(wrong: Callable[[], Any]):
    with pytest.raises(td.TileError) as caught:
        wrong()
    frames = traceback.extract_tb(caught.value.__traceback__)
    own = [f for f in frames if f.filename != __file__]
    assert len(own) <= 1 and caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_numbers_that_are_no_tensors(tmp_path: Path):
    path = tmp_path / "f.mlir"
    path.write_text("func.func @f(%a: f32) -> f32 { func.return %a : f32 }")
    with pytest.raises(td.TileError, match=r"a of f is declared as f32, .* is a tensor<f32>"):
        td.compile(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func private @g(tensor<4xf32>) -> tensor<4xf32>", "g is only declared here"),
        (
            """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
              cf.br ^b
            ^b:
              func.return %a : tensor<4xf32>
            }""",
            "f has 2 blocks, where a tensor program has one",
        ),
        ("func.func @f(%a: vector<4xf32>) { func.return }", "vector<4xf32>, not as a tensor$"),
    ],
)
def test_functions_that_are_no_tensor_programs(text: str, message: str, tmp_path: Path):
    path = tmp_path / "f.mlir"
    path.write_text(text)
    with pytest.raises(td.TileError, match=message):
        td.compile(path)


def test_declared_sizes_are_told_before_their_names(tmp_path: Path):
    path = tmp_path / "f.mlir"
    path.write_text(
        """func.func @f(%A: tensor<64x?xf32> {tile.dims = ["N", "K"]}) -> tensor<64x?xf32> {
          func.return %A : tensor<64x?xf32>
        }"""
    )
    with pytest.raises(td.TileError, match="A is 64 x K, but 3x4 was given"):
        td.compile(path)(A)
