"""MLIR text: places of ops, clean errors, no hang."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from mlir_mutations import mutated, pieces, survives
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
)

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.verification import verified


def test_ops_know_their_place() -> None:
    module = parse_mlir('%a = "test.op"() : () -> i32\n  "test.op"() ({\n}) : () -> ()', "x.mlir")
    places = [str(op.location) for op in list(module.walk())[1:]]
    assert places == ['loc("a"("x.mlir":1:6))', 'loc("x.mlir":2:3)']


def test_locations_in_the_text_are_kept() -> None:
    module = parse_mlir('"test.op"() : () -> () loc("y.tile":7:8)', "x.mlir")
    (op,) = module.ops
    assert isinstance(op.location, FileLineColLoc) and op.location.line.data == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"test.op"() ({\n^0:\n}) : () -> ()', "x.mlir:2:1: Invalid Block name format `0`."),
        ('"test.op"() {a = "b, c = 1} : () -> ()', "x.mlir:1:18: this string has no end"),
        ('"test.op() : () -> ()' + " a" * 5000, "x.mlir:1:1: this string has no end"),
        ('"test.op"() {a = @"b} : () -> ()' + "\\n" * 500, "x.mlir:1:19: this string has no end"),
        ('"test.op"(%a) : (i32) -> ()\n', "x.mlir:1:11: %a is not defined"),
        ('"test.op"() {a = ' + "9" * 5000 + "} : () -> ()", "x.mlir:1:18: Exceeds the limit"),
        ('"test.op"() {a = ²} : () -> ()', "x.mlir:1:18: invalid literal for int()"),
        ('"test.op"() ({\n' * 5000, "the text is nested too deeply"),
        ("\0", "x.mlir:1:1: Unexpected character"),
        ("", "x.mlir:1:1: expected an op"),
        ("builtin.module {", "x.mlir:1:17: expected an op or `}`"),
        ("%a = tile.constant 1 : tensor<f33>", "x.mlir:1:"),
        (
            "%a = arith.constant dense<0x10000> : vector<2xf16>",
            "x.mlir:1:27: these are not the bits",
        ),
    ],
)
def test_malformed(text: str, message: str) -> None:
    with pytest.raises(TileError) as caught:
        parse_mlir(text, "x.mlir")
    assert message in str(caught.value)


def test_errors_of_the_verifier_have_a_place(tmp_path: Path) -> None:
    file = tmp_path / "x.mlir"
    file.write_text(
        "func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {\n"
        "  %c = tile.add %a, %b : (tensor<4xf32>, tensor<5xf32>) -> tensor<5xf32>\n"
        "  func.return %c : tensor<5xf32>\n}\n"
    )
    with pytest.raises(TileError) as caught:
        td.compile(file)
    message = "the shapes of a (4) and b (5) do not broadcast together"
    assert str(caught.value).startswith(f"{file}:2:8: {message}\n  %c = tile.add")


def test_damaged_text_is_refused() -> None:
    rng, texts = random.Random(1), pieces()
    for _ in range(200):
        survives(mutated(rng.choice(texts), rng))


def test_undamaged_text_is_read() -> None:
    assert len(pieces()) > 100
    text = "%a = tile.constant 1.0 : tensor<f32>"
    assert verified(parse_mlir(text, "x.mlir")).ops.first is not None


@pytest.mark.parametrize("t", (f16, bf16, f32, f64))
def test_reals_that_are_printed_as_bits(t: AnyFloat) -> None:
    values = (1.5, 8392705.0 if t in (f32, f64) else 513.0, float("inf"), -float("inf"))
    given = DenseIntOrFPElementsAttr.from_list(VectorType(t, [4]), values)
    text = f"%v = arith.constant {given}"
    constant = parse_mlir(text, "x.mlir").body.block.first_op
    assert isinstance(constant, arith.ConstantOp) and constant.value == given, text
