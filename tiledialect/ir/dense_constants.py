"""Constants that are arrays: their numbers in NumPy, and those of resources."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    ModuleOp,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.ir.ops_in import ops_of

Array = npt.NDArray[Any]

RESOURCE_HEADER = 4
"""Bytes before the numbers of a resource, which tell their alignment."""


def dense_constant(value: SSAValue) -> DenseIntOrFPElementsAttr | None:
    """The numbers of a constant that is a tensor; None for other values."""
    op = value.owner
    if isinstance(op, ConstantOp) and isinstance(value.type, TensorType):
        return op.value if isinstance(op.value, DenseIntOrFPElementsAttr) else None
    return None


def dense_array(value: DenseIntOrFPElementsAttr) -> Array:
    """Numbers of a constant as an array of its element type."""
    element_type, data = value.get_element_type(), value.data.data
    if element_type == i1:
        # True is any byte but 0.
        return (np.frombuffer(data, np.uint8) != 0).reshape(value.get_shape())
    return np.frombuffer(data, NUMPY_TYPES[element_type]).reshape(value.get_shape())


def dense_of(array: Array, t: Attribute) -> DenseIntOrFPElementsAttr:
    """An array of an element type as the numbers of a constant."""
    return _made(TensorType(t, array.shape), np.ascontiguousarray(array).tobytes())


def dense_numbers(value: DenseIntOrFPElementsAttr) -> list[int | float]:
    """Numbers of a constant in the order of its elements."""
    numbers = dense_array(value).reshape(-1)
    is_real = isinstance(value.get_element_type(), AnyFloat)
    return numbers.astype(np.float64 if is_real else numbers.dtype, copy=False).tolist()


def stored(value: DenseIntOrFPElementsAttr, t: Attribute) -> DenseIntOrFPElementsAttr:
    """Numbers of a constant as ones of another type of as many bits."""
    return _made(TensorType(t, value.get_shape()), value.data.data)


def _made(t: TensorType[Attribute], data: bytes) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr(t, BytesAttr(data))  # pyright: ignore[reportArgumentType]


def splat(value: DenseIntOrFPElementsAttr) -> int | float | None:
    """The number that all elements of a constant are, bit for bit; 0 if there are no elements."""
    data, count = value.data.data, len(value)
    if count == 0:
        return 0
    is_one = data == data[: len(data) // count] * count
    return dense_numbers(value)[0] if is_one else None


def take_resources(module: ModuleOp, context: Context) -> None:
    """Let constants hold the numbers that the text has beside the ops, as resources.

    Raises a TileError for a resource that is missing or of another size.
    """
    for op in ops_of(module, ConstantOp):
        value, t = op.value, op.result.type
        if not isinstance(value, DenseResourceAttr) or not isinstance(t, TensorType):
            continue
        interface = context.get_dialect("builtin").get_interface(OpAsmDialectInterface)
        key = value.resource_handle.data
        text = interface.lookup(key) if interface is not None else None
        if not text:
            raise TileError.at(op, f"there is no resource {key}")
        data = bytes.fromhex(text.removeprefix("0x"))[RESOURCE_HEADER:]
        found = _made(t, data)
        if len(data) != prod(t.get_shape()) * t.element_type.compile_time_size:
            raise TileError.at(op, f"resource {key} has {len(data)} bytes, which are no {t}")
        op.properties["value"] = found
