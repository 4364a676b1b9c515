"""Axes are linked where an index runs through them, and fixed where more depends on them."""

from __future__ import annotations

import pytest
from xdsl.dialects import func

from tiledialect.analysis.linked_axes import LinkedAxes
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of

PROGRAM = """func.func @f(%a: tensor<{}xf32>) -> tensor<{}xf32> {{
  %r = {} : {}
  func.return %r : tensor<{}xf32>
}}"""


def linked(op: str, operand: str, result: str) -> tuple[list[tuple[int, int]], list[int]]:
    """The axes of an operand that are linked with axes of a result, and those that are fixed."""
    given = f"tensor<{operand}xf32>", f"tensor<{result}xf32>"
    types = "{} -> {}".format(*given) if "reshape" in op else "({}) -> {}".format(*given)
    module = parse_mlir(PROGRAM.format(operand, result, op, types, result), "f.mlir")
    (function,) = ops_of(module, func.FuncOp)
    links = LinkedAxes.of(function)
    fixed = {links.root(place) for place in links.fixed}
    argument, last = function.body.block.args[0], function.body.block.last_op
    assert last is not None
    (value,) = last.operands
    ranks = [range(text.count("x") + 1) for text in (operand, result)]
    pairs = [(i, j) for i in ranks[0] for j in ranks[1]]
    return [p for p in pairs if links.root((argument, p[0])) == links.root((value, p[1]))], [
        k for k in ranks[0] if links.root((argument, k)) in fixed
    ]


@pytest.mark.parametrize(
    ("op", "operand", "result", "pairs", "fixed"),
    [
        ("tile.exp %a", "8x4", "8x4", [(0, 0), (1, 1)], []),
        ("tile.reshape %a to []", "8x4x3", "32x3", [(0, 0), (2, 1)], [1]),
        ("tile.reshape %a to []", "32x1x3", "8x4x3", [(0, 0), (2, 2)], [1]),
        ("tile.contraction add(%a[i, j]) -> [i] domain <i = 0 to 8, j = 0 to 4>",
         "8x4", "8", [(0, 0)], []),
        ("tile.contraction add(%a[i, j]) -> [i] where 0 <= j < 3 domain <i = 0 to 8, j = 0 to 3>",
         "8x4", "8", [(0, 0)], [1]),
        ("tile.contraction add(%a[4*i + j]) -> [i] where 0 <= j < 4 domain <i = 0 to 8, j = 0 to 4>",
         "32", "8", [(0, 0)], []),
        ("tile.contraction add(%a[4*i + j]) -> [i] where 0 <= j < 4 domain <i = 0 to 9, j = 0 to 4>",
         "34", "9", [], [0]),
        ("tile.contraction add(%a[i + j]) -> [i] where 0 <= j < 2 domain <i = 0 to 8, j = 0 to 2>",
         "8", "8", [], [0]),
        ("tile.contraction add(%a[7 - i]) -> [i] domain <i = 0 to 8>", "8", "8", [], [0]),
        ("tile.contraction add(%a[i]) -> [i] domain <i = 0 to 8>", "8", "9", [], [0]),
    ],
)  # fmt: skip
def test_axes_of_an_operand(
    op: str, operand: str, result: str, pairs: list[tuple[int, int]], fixed: list[int]
) -> None:
    assert linked(op, operand, result) == (pairs, fixed)
