"""Ops of xdsl-jax that are converted, in one place, as it has them in several."""

from xdsl_jax.dialects.stablehlo.control_flow_ops import (
    CaseOp as CaseOp,
)
from xdsl_jax.dialects.stablehlo.control_flow_ops import (
    IfOp as IfOp,
)
from xdsl_jax.dialects.stablehlo.control_flow_ops import (
    OptimizationBarrierOp as OptimizationBarrierOp,
)
from xdsl_jax.dialects.stablehlo.control_flow_ops import (
    WhileOp as WhileOp,
)
from xdsl_jax.dialects.stablehlo.data_movement_ops import (
    BroadcastInDimOp as BroadcastInDimOp,
)
from xdsl_jax.dialects.stablehlo.data_movement_ops import (
    ConcatenateOp as ConcatenateOp,
)
from xdsl_jax.dialects.stablehlo.data_movement_ops import (
    DynamicSliceOp as DynamicSliceOp,
)
from xdsl_jax.dialects.stablehlo.data_movement_ops import (
    GatherOp as GatherOp,
)
from xdsl_jax.dialects.stablehlo.data_movement_ops import (
    ReshapeOp as ReshapeOp,
)
from xdsl_jax.dialects.stablehlo.data_movement_ops import (
    ScatterOp as ScatterOp,
)
from xdsl_jax.dialects.stablehlo.data_movement_ops import (
    SliceOp as SliceOp,
)
from xdsl_jax.dialects.stablehlo.data_movement_ops import (
    TransposeOp as TransposeOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    AddOp as AddOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    AndOp as AndOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    Atan2Op as Atan2Op,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    DivideOp as DivideOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    MaximumOp as MaximumOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    MinimumOp as MinimumOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    MultiplyOp as MultiplyOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    OrOp as OrOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    PowerOp as PowerOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    RemainderOp as RemainderOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    ShiftLeftOp as ShiftLeftOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    ShiftRightArithmeticOp as ShiftRightArithmeticOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    ShiftRightLogicalOp as ShiftRightLogicalOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    SubtractOp as SubtractOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_binary_ops import (
    XorOp as XorOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_other_ops import (
    BitcastConvertOp as BitcastConvertOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_other_ops import (
    ClampOp as ClampOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_other_ops import (
    MapOp as MapOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_other_ops import (
    ReducePrecisionOp as ReducePrecisionOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_other_ops import (
    SelectOp as SelectOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    AbsOp as AbsOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    CbrtOp as CbrtOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    CeilOp as CeilOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    ConvertOp as ConvertOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    CosineOp as CosineOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    CountLeadingZerosOp as CountLeadingZerosOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    ExponentialMinusOneOp as ExponentialMinusOneOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    ExponentialOp as ExponentialOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    FloorOp as FloorOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    IsFiniteOp as IsFiniteOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    LogisticOp as LogisticOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    LogOp as LogOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    LogPlusOneOp as LogPlusOneOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    NegateOp as NegateOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    NotOp as NotOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    PopcntOp as PopcntOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    RoundNearestAfzOp as RoundNearestAfzOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    RoundNearestEvenOp as RoundNearestEvenOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    RsqrtOp as RsqrtOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    SignOp as SignOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    SineOp as SineOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    SqrtOp as SqrtOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    TanhOp as TanhOp,
)
from xdsl_jax.dialects.stablehlo.elementwise_unary_ops import (
    TanOp as TanOp,
)
from xdsl_jax.dialects.stablehlo.miscellaneous_ops import (
    ConstantOp as ConstantOp,
)
from xdsl_jax.dialects.stablehlo.miscellaneous_ops import (
    IotaOp as IotaOp,
)
from xdsl_jax.dialects.stablehlo.modularity_ops import (
    ReturnOp as ReturnOp,
)
from xdsl_jax.dialects.stablehlo.reduction_ops import (
    DotGeneralOp as DotGeneralOp,
)
