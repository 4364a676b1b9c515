"""Page of the ops that are converted to the tile dialect, and from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.arith import Arith
from xdsl.dialects.math import Math
from xdsl.dialects.tensor import Tensor
from xdsl.ir import Operation

from tiledialect.dialects.linalg.dialect import Linalg
from tiledialect.dialects.stablehlo import Chlo, Stablehlo
from tiledialect.dialects.tile import Tile
from tiledialect.dialects.tile.constants import ConstantOp, SizeOp
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.ops import ElementwiseOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import (
    GatherOp,
    PrngStateOp,
    PrngValueOp,
    ReshapeOp,
    ScatterOp,
    ShapeOp,
    SumToOp,
)
from tiledialect.lowering.tile_to_linalg.convert_tile_to_linalg import LOWERINGS
from tiledialect.passes.convert.linalg.scalar_ops import EMITTERS
from tiledialect.passes.convert.linalg.tensor_ops import CONVERSIONS
from tiledialect.passes.convert.stablehlo.functions import CONVERSIONS as STABLEHLO

INTRODUCTION = """
What [`convert-linalg-to-tile`, `convert-stablehlo-to-tile`](passes/convert.md) and
[`convert-tile-to-linalg`](passes/tile-to-linalg.md) do with each op. An op that is not converted is
an error that names it, or stays as it is with `convert-linalg-to-tile{partial=true}`.
"""

IN_BODIES = (
    *("linalg.index", "linalg.yield", "tensor.yield", "tensor.extract"),
    *("stablehlo.return", "stablehlo.tuple", "stablehlo.get_tuple_element", "stablehlo.composite"),
)
"""Ops that are parts of others, or give numbers for them."""
AS_THEY_ARE = ("tensor.dim", "tensor.cast", "arith.constant")
"""Ops that need no conversion: sizes, types, and constants that stay in memory."""

BECOMES: dict[type[Operation], str] = {
    ContractionOp: "`linalg.generic`, with `tensor.pad` and `arith.select` at the edges",
    ScanOp: "`scf.for` that carries tensors",
    ScatterOp: "`scf.for` that carries a tensor",
    ReshapeOp: "`tensor.collapse_shape`, `tensor.expand_shape`",
    GatherOp: "`linalg.generic` with `tensor.extract`",
    PrngValueOp: "`linalg.generic` with the rounds of Philox",
    PrngStateOp: "`linalg.generic`",
    ShapeOp: "`linalg.generic`",
    SumToOp: "`linalg.generic`, by way of a contraction",
    CustomGradientOp: "its value",
    ConstantOp: "`arith.constant`",
    SizeOp: "a number",
}


def conversions_page() -> Iterator[str]:
    """Generate the page."""
    yield "# Ops that are converted"
    yield INTRODUCTION
    yield "## To the tile dialect"
    known = {op.name for op in (*Linalg.operations, *CONVERSIONS, *STABLEHLO)} | EMITTERS.keys()
    rows = ["| dialect | ops |", "| --- | --- |"]
    for dialect in (Linalg, Tensor, Arith, Math, Stablehlo, Chlo):
        name, names = dialect.name, sorted({op.name for op in dialect.operations})
        used = [n for n in names if n in (*IN_BODIES, *AS_THEY_ARE)]
        converted = [n for n in names if n in known and n not in used]
        others = [n for n in names if n not in (*used, *converted)]
        rows.append(f"| `{name}`, converted | {_listed(converted)} |")
        if used:
            rows.append(f"| `{name}`, as part of others | {_listed(used)} |")
        if others:
            rows.append(f"| `{name}`, not converted | {_listed(others)} |")
    yield "\n".join(rows)
    yield "## From the tile dialect"
    yield "\n".join(["| op | becomes |", "| --- | --- |", *_lowered(list(Tile.operations))])


def _listed(names: Iterable[str]) -> str:
    return " ".join(f"`{name.partition('.')[2]}`" for name in names)


def _lowered(ops: Sequence[type[Operation]]) -> Iterator[str]:
    special = (*LOWERINGS, CustomGradientOp, ConstantOp, SizeOp, SumToOp)
    plain = [op.name for op in ops if issubclass(op, ElementwiseOp) and op not in special]
    for op in ops:
        if op in BECOMES:
            yield f"| `{op.name}` | {BECOMES[op]} |"
    yield f"| {_listed(plain)} | `linalg.generic` with ops of `arith` and `math` |"
    known = {op.name for op in BECOMES} | set(plain)
    rest = [op.name for op in ops if op.name not in known]
    yield f"| {_listed(rest)} | not converted |"
