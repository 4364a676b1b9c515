"""Names of pieces of contractions, by which schedules say that one is split, or left whole."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp
from tiledialect.ir.names import given_name

PIECES = ("parts", "products", "factor")
"""Ends of the names of kernels that passes make of a contraction: partial results, products of
Winograd's windows, the first of two products."""


def piece_name(op: ContractionOp, piece: str) -> str:
    """Name of a piece: after the contraction, or the first elementwise function of it."""
    return f"{next(iter(_results_with(op)), 'result')}_{piece}"


def is_kept(ops: Collection[ContractionOp], keep: Collection[str]) -> bool:
    """Whether contractions that are split together are left whole, as results are to be kept.

    Names are those of contractions, or else of elementwise functions of them. A kept part of one
    says that it is split.
    """
    if not keep:
        return False
    own = {name for op in ops if (name := given_name(op.result)) is not None}
    if not own.isdisjoint(keep):
        return True
    if any(piece_name(op, piece) in keep for op in ops for piece in PIECES):
        return False
    return any(name in keep for op in ops for name in _results_with(op))


def _results_with(op: ContractionOp) -> list[str]:
    """Names of the results of a contraction's kernel: its own, and elementwise functions of it."""
    found: dict[SSAValue, None] = {op.result: None}
    pending: list[SSAValue] = [op.result]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, ElementwiseOp) and user.res not in found:
                found[user.res] = None
                pending.append(user.res)
    return [name for name in map(given_name, found) if name is not None]
