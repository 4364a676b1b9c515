"""Constants of host functions that are arrays in memory."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.element_types import concrete
from tiledialect.dialects.tile.elementwise import numeric
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.ir.dense_constants import stored
from tiledialect.lowering.names import sanitized
from tiledialect.lowering.tile_to_nest.kernel import buffer_type


class GlobalArrays:
    """Constants of a host function that are arrays of the module, each kept once."""

    def __init__(self, function: str):
        self.function = function
        self.kept: dict[DenseIntOrFPElementsAttr, memref.GlobalOp] = {}

    def get(self, numbers: DenseIntOrFPElementsAttr, builder: Builder, value: SSAValue) -> SSAValue:
        """The memory of a constant."""
        t = buffer_type(value.type)
        if (kept := self.kept.get(numbers)) is None:
            name = sanitized(f"{self.function}_constant{len(self.kept)}")
            data = stored(numbers, t.element_type)
            kept = memref.GlobalOp.get(StringAttr(name), t, data, constant=UnitAttr())
            self.kept[numbers] = kept
        buffer = builder.insert(memref.GetGlobalOp(kept.sym_name.data, t)).memref
        buffer.name_hint = value.name_hint
        return buffer


def dense_of(op: ConstantOp) -> DenseIntOrFPElementsAttr:
    """The number of a constant as a tensor's."""
    t = concrete(tensor_type(op.result).element_type)
    data = BytesAttr(numeric.number(op.number, t).tobytes())
    return DenseIntOrFPElementsAttr(TensorType(t, ()), data)  # pyright: ignore[reportArgumentType]
