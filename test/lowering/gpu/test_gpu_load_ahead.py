"""gpu-load-ahead leaves loops whose ops must stand in the order in which they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.instruction import InstructionOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.gpu.gpu_count_copies import GpuCountCopiesPass
from tiledialect.lowering.gpu.gpu_load_ahead import GpuLoadAheadPass
from tiledialect.lowering.nest.nest_barriers import NestBarriersPass
from tiledialect.lowering.nest.nest_pipeline import NestPipelinePass
from tiledialect.lowering.nest.nest_vectorize import NestVectorizePass
from tiledialect.lowering.nest_to_gpu.nest_to_gpu import NestToGpuPass
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass

PRODUCT = Path(__file__).parents[3] / "examples" / "load_ahead.mlir"
BEFORE = (
    TileToNestPass(),
    NestPipelinePass(),
    NestVectorizePass(),
    NestBarriersPass(),
    NestToGpuPass(),
    GpuCountCopiesPass(),
)


@pytest.mark.parametrize("taken", (None, 0, -1), ids=("nothing", "first", "last"))
def test_what_takes_sums_stays_behind_them(taken: int | None):
    """Nothing else than instructions may need what one of them computes."""
    module = parse_mlir(PRODUCT.read_text(), PRODUCT.name)
    for before in BEFORE:
        before.apply(Context(), module)
    (loop,) = ops_of(module, scf.ForOp)
    if taken is not None:
        instruction = ops_of(loop, InstructionOp)[taken]
        Rewriter.insert_op(arith.NegfOp(instruction.totals[0]), InsertPoint.after(instruction))
    GpuLoadAheadPass().apply(Context(), module)
    module.verify()
    assert (loop in ops_of(module, scf.ForOp)) is (taken is not None)
