"""Aggregation of a contraction: accumulator type and initial value."""

from __future__ import annotations

from math import inf

from xdsl.ir import Attribute

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.scan import ScanOp


def accumulator_type(op: ContractionOp | ScanOp) -> Attribute:
    """The element type in which an op aggregates: sums and products of 16 bits are kept in
    f32."""
    t = tensor_type(op.result).element_type
    aggregates = op.aggregation.data in (Aggregation.add, Aggregation.mul)
    return et.CONCRETE["f32"] if aggregates and t in et.SHORT_FLOATS else t


def neutral(aggregation: Aggregation, t: Attribute) -> float | int:
    """The number with which an aggregation starts, as it changes nothing."""
    match aggregation:
        case Aggregation.mul:
            return 1
        case Aggregation.max:
            return -inf if et.is_float(t) else et.limits(t)[0]
        case Aggregation.min:
            return inf if et.is_float(t) else et.limits(t)[1]
        case _:
            return 0
