"""Copies that are needless where source and result share memory."""

from __future__ import annotations

import pytest
from xdsl.dialects import func

from tiledialect.analysis.adjacent_parts import needless_copies
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.names import given_name
from tiledialect.ir.ops_in import ops_of

PART = "tensor<2x32xf32>"


def square(name: str, source: str) -> str:
    """A kernel whose result has memory of its own."""
    return f"""
  %{name} = tile.kernel @{name}(%x = %{source} : {PART}) -> {PART} {{
    %y = tile.mul %x, %x : ({PART}, {PART}) -> {PART}
    tile.yield %y : {PART}
  }}"""


def joined(first: str, second: str, place: int = 2) -> str:
    """A kernel that copies two parts into a result, by rows."""
    t = f"tensor<{place + 2}x32xf32>"
    return f"""
  %J = tile.kernel @J(%p = %{first} : {PART}, %q = %{second} : {PART}) -> {t} {{
    %a = tile.contraction assign(%p[i, j]) -> [i, j] domain <i = 0 to 2, j = 0 to 32> : ({PART}) -> {t}
    %b = tile.contraction assign(%q[i - {place}, j]) -> [i, j] default %a domain <i = {place} to {place + 2}, j = 0 to 32> : ({PART}, {t}) -> {t}
    tile.yield %b : {t}
  }}
  %Y = tile.kernel @Y(%x = %J : {t}) -> {t} {{
    %y = tile.add %x, %x : ({t}, {t}) -> {t}
    tile.yield %y : {t}
  }}"""


def piece(domain: str, access: str, size: str) -> str:
    """A kernel that copies a piece of a square."""
    t = f"tensor<{size}xf32>"
    return f"""
  %J = tile.kernel @J(%x = %A : {PART}) -> {t} {{
    %e = tile.contraction assign(%x[{access}]) -> [i, j] domain <{domain}> : ({PART}) -> {t}
    tile.yield %e : {t}
  }}
  %Y = tile.kernel @Y(%x = %J : {t}) -> {t} {{
    %y = tile.add %x, %x : ({t}, {t}) -> {t}
    tile.yield %y : {t}
  }}"""


SQUARES = square("A", "X") + square("B", "X")
CASES = {
    "side by side": (SQUARES + joined("A", "B"), "Y : tensor<4x32xf32>", [0, 64]),
    # A row between them has no owner, so that the result is no copy of the parts.
    "gap": (SQUARES + joined("A", "B", 3), "Y : tensor<5x32xf32>", None),
    "twice the same": (SQUARES + joined("A", "A"), "Y : tensor<4x32xf32>", None),
    "argument": (SQUARES + joined("A", "X"), "Y : tensor<4x32xf32>", None),
    "returned": (SQUARES + joined("A", "B"), "J : tensor<4x32xf32>", None),
    "row": (
        SQUARES + piece("i = 0 to 1, j = 0 to 32", "i + 1, j", "1x32"),
        "Y : tensor<1x32xf32>",
        [-32],
    ),
    # It begins in the middle of what devices align.
    "unaligned": (
        SQUARES + piece("i = 0 to 1, j = 0 to 16", "i, j + 16", "1x16"),
        "Y : tensor<1x16xf32>",
        None,
    ),
    # Its rows are apart in the source.
    "columns": (
        SQUARES + piece("i = 0 to 2, j = 0 to 16", "i, j", "2x16"),
        "Y : tensor<2x16xf32>",
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_needless_copies(case: str):
    text, result, expected = CASES[case]
    value, _, t = result.partition(" : ")
    source = f"""
func.func @f(%X: {PART} {{tile.name = "X"}}) -> ({t} {{tile.name = "R"}}) {{{text}
  func.return %{value} : {t}
}}"""
    (function,) = ops_of(parse_mlir(source, "f"), func.FuncOp)
    found = {given_name(op.outputs[0]): places for op, places in needless_copies(function).items()}
    assert found == ({} if expected is None else {"J": expected})
