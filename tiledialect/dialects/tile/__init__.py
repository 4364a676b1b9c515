"""The tile dialect: contractions, elementwise ops, and the kernels they become.

Text of MLIR in, verified ops out. Read `contraction` first, then `elementwise/ops` and `kernel`.
"""

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Dialect, Operation

from tiledialect.dialects.tile.attributes import (
    AccessAttr,
    AggregationAttr,
    AnyType,
    CombinationAttr,
    ConstraintAttr,
    DomainAttr,
    RealType,
    ScheduleAttr,
)
from tiledialect.dialects.tile.canonicalization import (
    CanonicalizeContraction,
    CanonicalizeElementwise,
    CanonicalizeReshape,
)
from tiledialect.dialects.tile.constants import ConstantOp
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.folding import FoldElementwise
from tiledialect.dialects.tile.elementwise.ops import ELEMENTWISE_OPS, ElementwiseOp
from tiledialect.dialects.tile.kernel import KERNEL_OPS
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import SPECIAL_OPS, ReshapeOp


class TileConstantMaterialization(ConstantMaterializationInterface):
    """Makes `tile.constant` from folded elementwise ops."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        """The constant op with this value and type."""
        if not isinstance(value, IntegerAttr | FloatAttr):
            return None
        return ConstantOp.create(result_types=[type], properties={"value": value})


# The ops do not know their rewrites.
for _op in ELEMENTWISE_OPS:
    if issubclass(_op, ElementwiseOp):
        _op.traits.add_trait(FoldElementwise())
        _op.traits.add_trait(CanonicalizeElementwise())
ReshapeOp.traits.add_trait(CanonicalizeReshape())
ContractionOp.traits.add_trait(CanonicalizeContraction())

Tile = Dialect(
    "tile",
    [ContractionOp, ScanOp, *ELEMENTWISE_OPS, *SPECIAL_OPS, CustomGradientOp, *KERNEL_OPS],
    [
        AnyType,
        RealType,
        AggregationAttr,
        CombinationAttr,
        AccessAttr,
        ConstraintAttr,
        DomainAttr,
        ScheduleAttr,
    ],
    [TileConstantMaterialization()],
)
