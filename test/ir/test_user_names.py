from io import StringIO

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.printer import Printer

from tiledialect.dialects.tile.elementwise.ops import ExpOp
from tiledialect.ir.common_subexpressions import NamingCsePass
from tiledialect.ir.mlir_text import parse_mlir, print_module
from tiledialect.ir.names import give_name, given_name, keep_name, place_of, take_name
from tiledialect.ir.ops_in import ops_of
from tiledialect.language.to_ir import load

TEXT = """
func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tile.exp %A : (tensor<4xf32>) -> tensor<4xf32>
  %T = tile.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %U:2 = "test.op"(%T) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %U#1 : tensor<4xf32>
}
"""


def test_ssa_names_of_a_text_are_names() -> None:
    module = parse_mlir(TEXT, "f.mlir")
    unnamed, named = ops_of(module, ExpOp)
    (function,) = ops_of(module, func.FuncOp)
    assert (given_name(unnamed.res), given_name(named.res)) == (None, "T")
    assert given_name(function.body.block.args[0]) == "A"
    named.res.name_hint = "other"
    assert given_name(named.res) == "T"
    place = place_of(named)
    assert place is not None and place.line.data == 4


def test_names_are_printed_with_locations() -> None:
    module = load("function (A[N]) -> (C) { T' = exp(A); C = exp(T'); }", filename="f.tile")
    for op in ops_of(module, ExpOp):
        op.res.name_hint = None
    text = print_module(module, locations=True)
    again = parse_mlir(text, "f.mlir")
    assert [given_name(op.res) for op in ops_of(again, ExpOp)] == ["T'", "C"]


def test_several_results_have_a_name_each() -> None:
    module = parse_mlir(TEXT, "f.mlir")
    op = next(op for op in module.walk() if len(op.results) == 2)
    give_name(op.results[0], None)
    give_name(op.results[1], "V")
    stream = StringIO()
    Printer(stream).print_attribute(op.location)
    assert '"V"(' in stream.getvalue() and "fused[" in stream.getvalue()
    assert [*map(given_name, op.results)] == [None, "V"]
    place = place_of(op)
    assert place is not None and place.line.data == 5


def test_values_keep_and_take_names() -> None:
    module = parse_mlir(TEXT, "f.mlir")
    first, second = (op.res for op in ops_of(module, ExpOp))
    take_name(first, second)
    assert given_name(first) == "T"
    give_name(second, "U")
    take_name(first, second)
    assert given_name(first) == "T"
    keep_name(first, second)
    assert given_name(first) == first.name_hint == "U"


def test_merged_ops_take_the_name() -> None:
    text = TEXT.replace("%T = tile.exp %0", "%T = tile.exp %A")
    module = parse_mlir(text, "f.mlir")
    NamingCsePass().apply(Context(), module)
    (op,) = ops_of(module, ExpOp)
    assert given_name(op.res) == "T"
