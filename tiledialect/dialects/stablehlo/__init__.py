"""The StableHLO dialect of xdsl-jax with the ops that it lacks, and the ops of CHLO of JAX.

Text of JAX in, verified ops out. Read `upstream` first, then `corrected`.
"""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl_jax.dialects.stablehlo import StableHLO

from tiledialect.dialects.stablehlo.batch_norm import (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
from tiledialect.dialects.stablehlo.chlo import CHLO_OPS
from tiledialect.dialects.stablehlo.composite import CompositeOp
from tiledialect.dialects.stablehlo.corrected import CompareOp, CustomCallOp
from tiledialect.dialects.stablehlo.reduction import ReduceOp
from tiledialect.dialects.stablehlo.structure import (
    DynamicUpdateSliceOp,
    GetTupleElementOp,
    PadOp,
    ReverseOp,
    RngBitGeneratorOp,
    SortOp,
    TupleOp,
)
from tiledialect.dialects.stablehlo.windows import (
    ConvDimensionsAttr,
    ConvolutionOp,
    ReduceWindowOp,
    SelectAndScatterOp,
)

ADDED = (
    *(ConvolutionOp, ReduceWindowOp, SelectAndScatterOp),
    *(DynamicUpdateSliceOp, ReverseOp, RngBitGeneratorOp, SortOp, TupleOp, GetTupleElementOp),
    *(BatchNormInferenceOp, BatchNormTrainingOp, BatchNormGradOp),
    *(CompareOp, CompositeOp, CustomCallOp, PadOp, ReduceOp),
)
"""Ops that xdsl-jax lacks, or reads in some of their forms alone, or otherwise than upstream."""

_names = {op.name for op in ADDED}

Stablehlo = Dialect(
    "stablehlo",
    [*(op for op in StableHLO.operations if op.name not in _names), *ADDED],
    [*StableHLO.attributes, ConvDimensionsAttr],
)

Chlo = Dialect("chlo", list(CHLO_OPS), [])
