"""Memory of host functions at the kernel level: roots of memrefs, and their sizes."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.ir.dense_constants import Array, dense_array

ALIASES = (memref.ReinterpretCastOp, memref.CastOp, memref.CollapseShapeOp, memref.ExpandShapeOp)
"""Ops whose result is the memory that they are given."""


def root(value: SSAValue) -> SSAValue:
    """The argument, the allocation, or the part of one, that is behind reshapes."""
    while isinstance(value.owner, ALIASES):
        value = value.owner.operands[0]
    return value


def whole(value: SSAValue) -> SSAValue | None:
    """The memory that begins where a root begins; None if it is a part that begins further on."""
    if not isinstance(value.owner, memref.ViewOp):
        return value
    shift = value.owner.byte_shift.owner
    is_none = isinstance(
        shift, arith.ConstantOp
    ) and shift.value == IntegerAttr.from_index_int_value(0)
    return value.owner.source if is_none else None


def nbytes(t: MemRefType[Attribute] | TensorType[Attribute]) -> int:
    """The size of the elements of a static shape, without gaps."""
    return prod(t.get_shape()) * NUMPY_TYPES[t.element_type].itemsize


def globals_of(module: ModuleOp) -> dict[str, memref.GlobalOp]:
    """Arrays of a module by their names."""
    return {op.sym_name.data: op for op in module.ops if isinstance(op, memref.GlobalOp)}


def constant_array(op: memref.GetGlobalOp, kept: Mapping[str, memref.GlobalOp]) -> Array:
    """The numbers of an array of the module; a TileError unless they are constants."""
    name = op.name_.root_reference.data
    if (found := kept.get(name)) is None or found.type != op.memref.type:
        raise TileError.at(op, f"there is no memref.global @{name} of type {op.memref.type}")
    if found.constant is None or not isinstance(found.initial_value, DenseIntOrFPElementsAttr):
        raise TileError.at(op, f"@{name} is not constant: the host keeps no arrays between calls")
    return dense_array(found.initial_value)
