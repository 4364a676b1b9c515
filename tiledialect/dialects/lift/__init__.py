"""The lift dialect: programs as compositions of patterns over arrays.

Text of MLIR in, verified ops out. Read `base` first, then `maps` and `layout`.
"""

from xdsl.ir import Dialect

from tiledialect.dialects.lift.attributes import (
    BoundaryAttr,
    IndexMapAttr,
    OrderAttr,
    OrdinalAttr,
    SizeAttr,
    SizesAttr,
)
from tiledialect.dialects.lift.base import YieldOp
from tiledialect.dialects.lift.layout import LAYOUT_OPS
from tiledialect.dialects.lift.maps import MAP_OPS
from tiledialect.dialects.lift.memory import MEMORY_OPS
from tiledialect.dialects.lift.reductions import REDUCTION_OPS
from tiledialect.dialects.lift.values import VALUE_OPS

Lift = Dialect(
    "lift",
    [*MAP_OPS, *REDUCTION_OPS, *LAYOUT_OPS, *VALUE_OPS, *MEMORY_OPS, YieldOp],
    [SizesAttr, SizeAttr, BoundaryAttr, OrderAttr, IndexMapAttr, OrdinalAttr],
)
