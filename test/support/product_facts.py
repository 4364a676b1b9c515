"""Facts of products whose schedules are searched for."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, f32

from tiledialect.analysis.kernel_facts import contraction_facts
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.ir.ops_in import ops_of
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.search import ahead

SIZES = (64, 96, 128, 160, 192, 224)
"""Sizes of products with as many schedules: enough for others to be asked."""
PRODUCTS = "function (A[L, L], B[L, N]) -> (C) { C[i, j: L, N] = +(A[i, k] * B[k, j]); }"


def product_facts() -> list[Facts]:
    """Facts of products of several sizes."""
    found: list[Facts] = []
    for n in SIZES:
        types = [TensorType(f32, (n, n)), TensorType(f32, (n, 4 * n))]
        module = compile_module(load(PRODUCTS), None, types, after="tile-defract")
        found += [contraction_facts(op) for op in ops_of(module, ContractionOp)]
    assert len(found) >= ahead.LEAST
    return found
