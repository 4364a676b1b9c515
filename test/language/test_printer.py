"""Tile text of IR that did not come from Tile text."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.tensor import Tensor
from xdsl.parser import Parser

from tiledialect.dialects.tile import Tile
from tiledialect.errors import TileError
from tiledialect.language.printer import print_tile
from tiledialect.language.to_ir import load


def module(header: str, body: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Arith, Tensor, Tile):
        context.load_dialect(dialect)
    parsed = Parser(context, f"func.func @main({header} {{\n{body}\n}}").parse_module()
    parsed.verify()
    return parsed


F32 = "tensor<4xf32>"

CASES = [
    (
        "names are made up for what is used twice",
        f"%0: {F32}) -> {F32}",
        f"""%1 = tile.exp %0 : ({F32}) -> {F32}
        %2 = tile.mul %1, %1 : ({F32}, {F32}) -> {F32}
        func.return %2 : {F32}""",
        ["function (A) -> (O) {", "T = exp(A);", "O = T * T;", "}"],
    ),
    (
        "names that Tile does not take are made to fit, and stay apart",
        f"%x: {F32}, %X: {F32}) -> {F32}",
        f"""%x.y = tile.add %x, %X : ({F32}, {F32}) -> {F32}
        %_ = tile.mul %x.y, %x : ({F32}, {F32}) -> {F32}
        %x_y = tile.sub %x.y, %_ : ({F32}, {F32}) -> {F32}
        func.return %x_y : {F32}""",
        [
            "function (X, X2) -> (X_y) {",
            "X_y2 = X + X2;",
            "T_ = X_y2 * X;",
            "X_y = X_y2 - T_;",
            "}",
        ],
    ),
    (
        "names of dimensions that Tile does not take are made to fit, and stay apart",
        f'%A: {F32} {{tile.dims = ["n"]}}, %B: {F32} {{tile.dims = ["N"]}}, %C: {F32} {{tile.dims = ["A"]}}) -> {F32}',
        f"func.return %A : {F32}",
        ["function (A[N], B[N2], C[A2]) -> (A3) {", "A3 = A;", "}"],
    ),
    (
        "a number that is the default of all elements is written out",
        f"%A: {F32}) -> tensor<7x2xf32>",
        f"""%z = tile.constant 7 : tensor<f32>
        %B = tile.contraction add(%A[i]) -> [2*i, j] default %z : ({F32}, tensor<f32>) -> tensor<7x2xf32>
        func.return %B : tensor<7x2xf32>""",
        [
            "function (A) -> (B) {",
            "Z = as_float(7, 32);",
            "Start[i0, i1: 7, 2] = =(Z[]);",
            "B[2*i, j: 7, 2] = +(A[i]) default Start;",
            "}",
        ],
    ),
    (
        "inputs and repeated values may be returned",
        f'%A: {F32} {{tile.name = "A"}}) -> ({F32} {{tile.name = "O"}}, {F32} {{tile.name = "P"}}, {F32})',
        f"""%B = tile.neg %A : ({F32}) -> {F32}
        func.return %A, %B, %B : {F32}, {F32}, {F32}""",
        ["function (A) -> (O, P, B) {", "P = -A;", "O = A;", "B = P;", "}"],
    ),
    (
        "dimensions get names where they are asked for",
        "%A: tensor<?x?xf32>) -> tensor<?xf32>",
        """%0 = arith.constant 1 : index
        %1 = tensor.dim %A, %0 : tensor<?x?xf32>
        %2 = arith.addi %1, %0 : index
        %S = tile.contraction add(%A[i, j]) -> [j : %2] : (tensor<?x?xf32>) -> tensor<?xf32>
        %3 = arith.constant 0 : index
        %4 = tensor.dim %S, %3 : tensor<?xf32>
        %5 = tile.size %4 : tensor<index>
        %6 = tile.mul %S, %5 : (tensor<?xf32>, tensor<index>) -> tensor<?xf32>
        func.return %6 : tensor<?xf32>""",
        [
            "function (A[A_0, A_1]) -> (O) {",
            "S[j: A_1 + 1] = +(A[i, j]);",
            "O = S * (A_1 + 1);",
            "}",
        ],
    ),
    (
        "what a contraction reads has a name",
        f"%A: {F32}) -> tensor<f32>",
        f"""%0 = tile.exp %A : ({F32}) -> {F32}
        %1 = tile.contraction add(%0[i]) -> [] where 0 <= 1/2*i + 1/3 < 7/2 : ({F32}) -> tensor<f32>
        func.return %1 : tensor<f32>""",
        ["function (A) -> (O) {", "T = exp(A);", "O[] = +(T[i]), 1/2*i + 1/3 < 4;", "}"],
    ),
    (
        "a size that rounds has a name where indices are exact",
        '%A: tensor<?xf32> {tile.dims = ["N"]}) -> tensor<?xf32>',
        """%0 = arith.constant 0 : index
        %1 = tensor.dim %A, %0 : tensor<?xf32>
        %2 = arith.constant 2 : index
        %3 = arith.divsi %1, %2 : index
        %4 = tile.contraction add(%A[i + %3]) -> [i : %1] : (tensor<?xf32>) -> tensor<?xf32>
        func.return %4 : tensor<?xf32>""",
        ["function (A[N]) -> (O) {", "T = N / 2;", "O[i: N] = +(A[i + T]);", "}"],
    ),
    (
        "numbers with a type of their own, and those that are not finite",
        "%A: tensor<f16>) -> tensor<f32>",
        """%0 = tile.constant 2.5 : tensor<f32>
        %1 = tile.constant 1 : tensor<i1>
        %2 = tile.constant -inf : tensor<!tile.real>
        %3 = tile.constant nan : tensor<!tile.real>
        %4 = tile.select %1, %0, %2 : (tensor<i1>, tensor<f32>, tensor<!tile.real>) -> tensor<f32>
        %5 = tile.pow %4, %3 : (tensor<f32>, tensor<!tile.real>) -> tensor<f32>
        %6 = tile.add %5, %A : (tensor<f32>, tensor<f16>) -> tensor<f32>
        func.return %6 : tensor<f32>""",
        [
            "function (A) -> (O) {",
            "O = pow(as_bool(1) ? as_float(2.5, 32) : -1.0 / 0.0, 0.0 / 0.0) + A;",
            "}",
        ],
    ),
    (
        "comparisons of numbers stay bools",
        "%A: tensor<4xi1>) -> tensor<4xi1>",
        """%0 = tile.constant 2 : tensor<index>
        %1 = tile.cmp_lt %0, %0 : (tensor<index>, tensor<index>) -> tensor<i1>
        %2 = tile.bit_and %1, %A : (tensor<i1>, tensor<4xi1>) -> tensor<4xi1>
        func.return %2 : tensor<4xi1>""",
        ["function (A) -> (O) {", "O = as_bool(2 < 2) & A;", "}"],
    ),
    (
        "index names are made to fit",
        f"%A: {F32}) -> {F32}",
        f"""%0 = tile.contraction max(%A[I + j.prime]) -> [I] where 0 <= j.prime < 2 : ({F32}) -> {F32}
        func.return %0 : {F32}""",
        ["function (A) -> (O) {", "O[i_I: 4] = >(A[i_I + j']), j' < 2;", "}"],
    ),
]


@pytest.mark.parametrize(
    ("header", "body", "lines"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_text(header: str, body: str, lines: list[str]):
    text = print_tile(module(header, body))
    assert [line.strip() for line in text.splitlines()] == lines
    load(text).verify()


def test_modules_print_all_their_functions():
    first = load("function f (A) -> (O) { O = A; }")
    second = load("function g (A) -> (O) { O = -A; }").body.block.first_op
    assert second is not None
    second.detach()
    first.body.block.add_op(second)
    assert print_tile(first).count("function") == 2


@pytest.mark.parametrize(
    ("header", "body", "said"),
    [
        (
            f"%A: {F32}) -> {F32}",
            f"""%k = tile.kernel(%x = %A : {F32}) -> {F32} schedule <serial d0 : 4> {{
              %e = tile.exp %x : ({F32}) -> {F32}
              tile.yield %e : {F32}
            }}
            func.return %k : {F32}""",
            "Tile has no form for tile.kernel",
        ),
        (
            f"%A: {F32}, %I: tensor<4xi32>) -> tensor<2x4xf32>",
            f"""%0 = tile.scatter %A, %I, %A parts 2
              : ({F32}, tensor<4xi32>, {F32}) -> tensor<2x4xf32>
            func.return %0 : tensor<2x4xf32>""",
            "Tile has no form for a scatter in parts",
        ),
        (
            "%A: tensor<4xui32>, %B: tensor<4xf32>) -> tensor<4xui32>",
            """%0 = tile.prng_state %A, %B : (tensor<4xui32>, tensor<4xf32>) -> tensor<4xui32>
            func.return %0 : tensor<4xui32>""",
            "Tile has no form for a random state that is not after a step",
        ),
        (
            '%A: tensor<?xf32> {tile.dims = ["N"]}) -> tensor<index>',
            """%0 = arith.constant 0 : index
            %1 = tensor.dim %A, %0 : tensor<?xf32>
            %2 = arith.xori %1, %0 : index
            %3 = tile.size %2 : tensor<index>
            func.return %3 : tensor<index>""",
            "Tile has no form for arith.xori",
        ),
    ],
)
def test_what_tile_cannot_say(header: str, body: str, said: str):
    with pytest.raises(TileError, match=said):
        print_tile(module(header, body))
