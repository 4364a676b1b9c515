"""Arrays of other libraries through DLPack, also of bfloat16, which NumPy's own reader refuses."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import bf16

from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES

Array = npt.NDArray[Any]

UINT, BFLOAT = 1, 4
"""Type codes of DLPack for unsigned integers and bfloat16."""


class _Tensor(ctypes.Structure):
    """The head of a DLTensor, with which a capsule of the first version of DLPack begins."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    )


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


class _AsIntegers:
    """Exporter of the bits of another exporter's bfloat16."""

    def __init__(self, value: Any, capsule: Any):
        self.value, self.capsule = value, capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> Any:
        return self.value.__dlpack_device__()


def from_dlpack(value: Any) -> Array:
    """The array behind an object with ``__dlpack__``, without a copy; any exception if it fails."""
    try:
        return np.from_dlpack(value)
    except Exception:
        # NumPy does not say that the type is the reason in a way that could be asked for.
        capsule = value.__dlpack__()
        tensor = _Tensor.from_address(_pointer(capsule, b"dltensor"))
        if (tensor.code, tensor.bits, tensor.lanes) != (BFLOAT, 16, 1):
            raise
        # The capsule is ours: nobody else sees its contents.
        tensor.code = UINT
        return np.from_dlpack(_AsIntegers(value, capsule)).view(NUMPY_TYPES[bf16])
