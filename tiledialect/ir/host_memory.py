"""Memory of host functions at the kernel level: roots of memrefs, and their sizes."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES

ALIASES = (memref.ReinterpretCastOp, memref.CastOp, memref.CollapseShapeOp, memref.ExpandShapeOp)
"""Ops whose result is the memory that they are given."""


def root(value: SSAValue) -> SSAValue:
    """The argument, the allocation, or the part of one, that is behind reshapes."""
    while isinstance(value.owner, ALIASES):
        value = value.owner.operands[0]
    return value


def nbytes(t: MemRefType[Attribute]) -> int:
    """The size of the elements of a static shape, without gaps."""
    return prod(t.get_shape()) * np.dtype(NUMPY_TYPES[t.element_type].name).itemsize
