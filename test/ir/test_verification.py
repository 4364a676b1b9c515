"""Values are used only where they are defined."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.verification import immediate_dominators, verify

USE = '"test.op"(%a) : (i32) -> ()'
DEFINITION = '%a = "test.op"() : () -> i32'
RETURN = "func.return"


def function(*lines: str) -> ModuleOp:
    return parse_mlir("\n".join(["func.func @f(%x: i32) {", *lines, "}"]), "x.mlir")


BRANCH = '"test.termop"() [^bb1, ^bb2] : () -> ()'
TO_3 = '"test.termop"() [^bb3] : () -> ()'


@pytest.mark.parametrize(
    "lines",
    [
        (DEFINITION, USE, RETURN),
        (DEFINITION, '"test.op"() ({', USE.replace(".op", ".termop"), "}) : () -> ()", RETURN),
        (DEFINITION, BRANCH, "^bb1:", USE, TO_3, "^bb2:", TO_3, "^bb3:", USE, RETURN),
        # What is never reached may use anything.
        ("cf.br ^bb2", "^bb1:", USE, TO_3, "^bb2:", DEFINITION, TO_3, "^bb3:", RETURN),
        # In a loop, the block before dominates the one after.
        ("cf.br ^bb1", "^bb1:", DEFINITION, "cf.br ^bb2", "^bb2:", USE, "cf.br ^bb1"),
    ],
)
def test_good(lines: tuple[str, ...]) -> None:
    verify(function(*lines))


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ((USE, DEFINITION, RETURN), 2),
        (('"test.op"() ({', USE, "}) : () -> ()", DEFINITION, RETURN), 3),
        (('"test.op"() ({', DEFINITION, "}) : () -> ()", USE, RETURN), 5),
        (('%a = "test.op"(%a) : (i32) -> i32', RETURN), 2),
        (('%a = "test.op"() ({', USE, "}) : () -> i32", RETURN), 3),
        ((BRANCH, "^bb1:", DEFINITION, TO_3, "^bb2:", TO_3, "^bb3:", USE, RETURN), 9),
        ((BRANCH, "^bb1:", DEFINITION, TO_3, "^bb2:", USE, TO_3, "^bb3:", RETURN), 7),
        (("cf.br ^bb1", "^bb1:", USE, "cf.br ^bb2", "^bb2:", DEFINITION, "cf.br ^bb1"), 4),
    ],
)
def test_bad(lines: tuple[str, ...], line: int) -> None:
    with pytest.raises(TileError) as caught:
        verify(function(*lines))
    assert str(caught.value).startswith(f"x.mlir:{line}:")


def test_two_of_one_name() -> None:
    text = "func.func @f() {\n  func.return\n}\nfunc.func @f() {\n  func.return\n}"
    with pytest.raises(TileError, match=r"^x\.mlir:4:1: there is a @f before it"):
        verify(parse_mlir(text, "x.mlir"))


def test_tables_of_symbols_without_regions() -> None:
    with pytest.raises(TileError, match=r"^x\.mlir:1:1: Expected 1 region, but got 0"):
        verify(parse_mlir('"gpu.module"() <{sym_name = "f"}> : () -> ()', "x.mlir"))


def test_both_lines_are_named() -> None:
    with pytest.raises(TileError, match=r"x\.mlir:2:1: %a is used .*; its definition is in line 3"):
        verify(function(USE, DEFINITION, RETURN))


def test_modules_are_graphs() -> None:
    verify(parse_mlir(f"{USE}\n{DEFINITION}", "x.mlir"))


@pytest.mark.parametrize("first", ["%a = tile.neg %b", "%a = tile.neg %a"])
def test_tensors_are_computed_in_order_in_modules_too(first: str) -> None:
    type_ = ": (tensor<4xf32>) -> tensor<4xf32>"
    module = parse_mlir(f"{first} {type_}\n%b = tile.neg %a {type_}", "x.mlir")
    with pytest.raises(TileError, match=r"x\.mlir:1:6: %. is used where it is not defined yet"):
        verify(module)


def test_an_op_without_a_place_is_named() -> None:
    module = ModuleOp([FuncOp("f", ((), ()))])
    with pytest.raises(TileError, match=r"the module is malformed, at func\.func: .* empty block"):
        verify(module)


def test_dominators_of_many_blocks() -> None:
    n = 2000
    blocks = [f"^bb{k}:\ncf.br ^bb{k + 1}" for k in range(1, n)]
    module = function("cf.br ^bb1", *blocks, f"^bb{n}:", RETURN)
    (function_op,) = module.ops
    region = function_op.regions[0]
    immediate = immediate_dominators(region)
    for before, block in zip(region.blocks, list(region.blocks)[1:], strict=False):
        assert immediate[block] is before
