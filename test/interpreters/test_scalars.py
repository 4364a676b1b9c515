"""The reference semantics of `arith` and `math` against Python's own arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func
from xdsl.dialects import math as math_dialect
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions
from xdsl.parser import Parser

from tiledialect.interpreters.scalars import FUNCTIONS, ScalarFunctions


def run(text: str, *arguments: Any) -> Any:
    """The result of a function."""
    context = Context()
    for dialect in (arith.Arith, builtin.Builtin, func.Func, math_dialect.Math):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    interpreter = Interpreter(module)
    interpreter.register_implementations(ScalarFunctions())
    interpreter.register_implementations(FuncFunctions())
    return interpreter.call_op("f", arguments)[0]


def apply(op: str, t: str, *operands: Any, to: str | None = None) -> Any:
    """The result of an op, written as its dialects write it."""
    names = [f"%x{k}" for k in range(len(operands))]
    arguments = ", ".join(f"{name}: {t}" for name in names)
    types = f"{t} to {to}" if to else t
    return run(
        f"func.func @f({arguments}) -> {to or t} {{\n"
        f"  %r = {op} {', '.join(names)} : {types}\n"
        f"  func.return %r : {to or t}\n}}",
        *operands,
    )


INTEGERS = [
    ("arith.addi", (2**31 - 1, 1), -(2**31)),
    ("arith.subi", (-(2**31), 1), 2**31 - 1),
    ("arith.muli", (-7, 3), -21),
    ("arith.divsi", (-7, 2), -3),
    ("arith.divsi", (7, 0), 0),
    ("arith.divui", (-1, 2), 2**31 - 1),
    ("arith.floordivsi", (-7, 2), -4),
    ("arith.ceildivsi", (7, 2), 4),
    ("arith.ceildivsi", (-7, 2), -3),
    ("arith.remsi", (-7, 2), -1),
    ("arith.remui", (-1, 10), 5),
    ("arith.minsi", (-7, 2), -7),
    ("arith.maxsi", (-7, 2), 2),
    ("arith.minui", (-7, 2), 2),
    ("arith.maxui", (-7, 2), -7),
    ("arith.andi", (6, 3), 2),
    ("arith.ori", (6, 3), 7),
    ("arith.xori", (6, 3), 5),
    ("arith.shli", (3, 2), 12),
    ("arith.shrsi", (-8, 1), -4),
    ("arith.shrui", (-8, 1), 2**31 - 4),
    ("math.absi", (-7,), 7),
    ("math.ipowi", (-2, 3), -8),
]


@pytest.mark.parametrize(("op", "operands", "expected"), INTEGERS)
def test_integers(op: str, operands: tuple[int, ...], expected: int):
    found = apply(op, "i32", *map(np.int32, operands))
    assert found.dtype == np.int32
    assert found == expected


REALS = [
    ("arith.addf", (1.5, 2.0), 3.5),
    ("arith.subf", (1.5, 2.0), -0.5),
    ("arith.mulf", (1.5, 2.0), 3.0),
    ("arith.divf", (3.0, 0.0), math.inf),
    ("arith.negf", (1.5,), -1.5),
    ("arith.minimumf", (1.5, math.nan), math.nan),
    ("arith.maximumf", (1.5, 2.0), 2.0),
    ("arith.minnumf", (1.5, math.nan), 1.5),
    ("arith.maxnumf", (math.nan, 2.0), 2.0),
    ("math.absf", (-1.5,), 1.5),
    ("math.copysign", (1.5, -2.0), -1.5),
    ("math.fma", (2.0, 3.0, 1.0), 7.0),
    ("math.powf", (2.0, 0.5), 2**0.5),
    ("math.rsqrt", (4.0,), 0.5),
    ("math.round", (2.5,), 3.0),
    ("math.roundeven", (2.5,), 2.0),
    ("math.trunc", (-2.5,), -2.0),
    ("math.ceil", (-2.5,), -2.0),
    ("math.floor", (-2.5,), -3.0),
    ("math.cbrt", (27.0,), 3.0),
    ("math.exp2", (3.0,), 8.0),
    ("math.log2", (8.0,), 3.0),
    ("math.log10", (100.0,), 2.0),
    ("math.atan2", (1.0, -1.0), math.atan2(1, -1)),
    *(
        (f"math.{name}", (0.7,), getattr(math, name)(0.7))
        for name in (
            *("acos", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp"),
            *("expm1", "log", "log1p", "sin", "sinh", "sqrt", "tan", "tanh"),
        )
    ),
    ("math.acosh", (1.7,), math.acosh(1.7)),
]


@pytest.mark.parametrize(("op", "operands", "expected"), REALS)
def test_reals(op: str, operands: tuple[float, ...], expected: float):
    found = apply(op, "f64", *map(np.float64, operands))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-14)


CONVERSIONS = [
    ("arith.sitofp", "i8", -3, "f32", -3.0),
    ("arith.uitofp", "i8", -3, "f32", 253.0),
    ("arith.uitofp", "i1", True, "f32", 1.0),
    ("arith.fptosi", "f32", -2.7, "i32", -2),
    ("arith.fptoui", "f32", 2.7, "i32", 2),
    ("arith.extf", "f16", 0.5, "f64", 0.5),
    ("arith.truncf", "f64", 1 / 3, "f32", np.float32(1 / 3)),
    ("arith.extsi", "i8", -3, "i32", -3),
    ("arith.extsi", "i1", True, "i32", -1),
    ("arith.extui", "i8", -3, "i32", 253),
    ("arith.trunci", "i32", 259, "i8", 3),
    ("arith.index_cast", "index", 5, "i32", 5),
    ("arith.index_cast", "i32", -5, "index", -5),
    ("arith.bitcast", "f32", 1.0, "i32", 0x3F800000),
]


@pytest.mark.parametrize(("op", "source", "value", "target", "expected"), CONVERSIONS)
def test_conversions(op: str, source: str, value: Any, target: str, expected: Any):
    assert apply(op, source, value, to=target) == expected


def test_every_op_is_tested():
    tested = {row[0] for row in (*INTEGERS, *REALS, *CONVERSIONS)} | {"arith.select"}
    assert {op.name for op in FUNCTIONS} <= tested


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        *(("eq", 0), ("ne", 1), ("slt", 1), ("sle", 1), ("sgt", 0), ("sge", 0)),
        *(("ult", 0), ("ule", 0), ("ugt", 1), ("uge", 1)),
    ],
)
def test_comparisons_of_integers(predicate: str, expected: int):
    text = f"""func.func @f(%a: i32, %b: i32) -> i1 {{
      %r = arith.cmpi {predicate}, %a, %b : i32
      func.return %r : i1
    }}"""
    found = run(text, np.int32(-1), np.int32(2))
    assert found.dtype == bool and found == expected


@pytest.mark.parametrize(
    ("name", "holds"),
    [("eq", "="), ("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="), ("ne", "<>")],
)
@pytest.mark.parametrize("pair", [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (1.0, math.nan)])
@pytest.mark.parametrize("unordered", [False, True])
def test_comparisons_of_reals(name: str, holds: str, pair: tuple[float, float], unordered: bool):
    text = f"""func.func @f(%a: f32, %b: f32) -> i1 {{
      %r = arith.cmpf {"u" if unordered else "o"}{name}, %a, %b : f32
      func.return %r : i1
    }}"""
    a, b = pair
    sign = "=" if a == b else "<" if a < b else ">"
    expected = unordered if math.isnan(b) else sign in holds
    assert run(text, np.float32(a), np.float32(b)) == expected


@pytest.mark.parametrize("predicate", ["false", "true", "ord", "uno"])
def test_comparisons_that_ask_for_nan(predicate: str):
    text = f"""func.func @f(%a: f32, %b: f32) -> i1 {{
      %r = arith.cmpf {predicate}, %a, %b : f32
      func.return %r : i1
    }}"""
    found = [bool(run(text, np.float32(1), np.float32(b))) for b in (2, math.nan)]
    assert (
        found
        == {
            "false": [False, False],
            "true": [True, True],
            "ord": [True, False],
            "uno": [False, True],
        }[predicate]
    )


def test_vectors_and_constants():
    text = """func.func @f(%a: vector<4xf32>, %c: i1) -> vector<4xf32> {
      %b = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
      %s = arith.addf %a, %b : vector<4xf32>
      %r = arith.select %c, %s, %a : vector<4xf32>
      func.return %r : vector<4xf32>
    }"""
    a = np.arange(4, dtype=np.float32)
    assert run(text, a, np.bool_(True)).tolist() == [1, 3, 5, 7]
    assert run(text, a, np.bool_(False)).tolist() == [0, 1, 2, 3]
