"""Conversion of the users' arrays to arrays that the runtime takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import numpy.typing as npt

from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES, kind_of
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call.dlpack import from_dlpack

if TYPE_CHECKING:
    import pyopencl as cl
    import pyopencl.array as cla

    from tiledialect.lowering.runtime.device.device import Device

Array = npt.NDArray[Any]

DTYPES = frozenset(NUMPY_TYPES[t] for t in CONCRETE.values())
"""The element types that tensors can have, in the computer's own byte order."""

WEAK_DTYPES = {"f": np.dtype("float32"), "i": np.dtype("int32"), "b": np.dtype("bool")}
"""Types for Python's own numbers, by kind."""

RANKS = {"b": 0, "i": 1, "u": 1, "f": 2}
"""Rank of each kind: numbers can stand for numbers of a higher rank."""

KINDS = {
    "c": "complex numbers",
    "O": "Python objects",
    "S": "bytes",
    "U": "text",
    "T": "text",
    "M": "dates",
    "m": "time spans",
    "V": "records",
}


NUMPY_AXES = 64
"""Most axes of NumPy's arrays."""


def check_shape(name: str, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
    """Raise a TileError if NumPy has no array of this shape."""
    if len(shape) > NUMPY_AXES:
        raise TileError(f"{name} has {len(shape)} axes; arrays have at most {NUMPY_AXES}")
    # An axis of size 0 does not help.
    if prod(max(1, n) for n in shape) * dtype.itemsize >= 2**63:
        raise TileError(f"{name}: {dtype}{list(shape)} is larger than any array can be")


def is_device_array(value: object) -> TypeGuard[cla.Array]:
    """Whether a value is a ``pyopencl.array.Array``."""
    # Nobody has one who has not imported the module.
    module = sys.modules.get("pyopencl.array")
    return module is not None and isinstance(value, module.Array)


def is_python(value: object) -> bool:
    """Whether a value is made of Python's own numbers, which have no width."""
    if isinstance(value, np.ndarray | np.generic) or is_device_array(value):
        return False
    return not any(
        hasattr(value, name) for name in ("__dlpack__", "__array__", "__array_interface__")
    )


def as_array(name: str, value: object, declared: np.dtype[Any] | None = None) -> Array | cla.Array:
    """``value`` as a contiguous array of numbers in native byte order.

    A ``pyopencl.array.Array`` stays on its device. Anything with ``__dlpack__`` or ``__array__``
    keeps its element type; numbers of Python, alone or in lists, get the ``declared`` one, else
    float32, int32 (int64 if one does not fit) or bool. Raises a TileError that calls the input
    ``name``.
    """
    if is_device_array(value):
        return _device_array(name, value)
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise TileError(f"{name} has masked elements; fill them first: {name}.filled(0)")
        array = np.asarray(value)
    elif isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
    elif (foreign := _foreign(name, value)) is not None:
        array = foreign
    else:
        array = from_python(name, value, declared)
    return _plain(name, array)


def _plain(name: str, array: Array) -> Array:
    """The array without gaps, in native byte order; a TileError if it does not hold numbers."""
    # Text of NumPy's newer kind has no byte order to ask for.
    dtype = array.dtype.newbyteorder("=") if array.dtype.kind in "biuf" else array.dtype
    if dtype not in DTYPES:
        raise _not_numbers(name, array.dtype)
    try:
        return array.astype(dtype, order="C", copy=not array.flags.c_contiguous)
    except MemoryError as error:
        # As where few elements are broadcast to many.
        raise TileError(f"{name} cannot be copied: {error}") from None


def _not_numbers(name: str, dtype: np.dtype[Any]) -> TileError:
    held = KINDS.get(dtype.kind, f"{dtype.name} numbers")
    return TileError(f"{name} holds {held} ({dtype}), which Tile has no type for")


def _foreign(name: str, value: object) -> Array | None:
    """Array of another library's object; None if the object is no array."""
    readers: list[Callable[[], Array]] = []
    if hasattr(value, "__dlpack__"):
        readers.append(lambda: from_dlpack(value))
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        readers.append(lambda: np.asarray(value))
    reason = ""
    for read in readers:
        try:
            return read()
        except Exception as error:
            # Other libraries raise any error; the last reason is reported.
            reason = str(error).partition("\n")[0]
    if readers:
        raise TileError(f"{name} is a {_type_name(value)} that cannot be read: {reason}")
    return None


def from_python(name: str, value: object, declared: np.dtype[Any] | None) -> Array:
    """Array of Python's numbers, in the declared element type; a TileError if they do not fit."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise TileError(f"{name} cannot be made an array: {error}") from None
    kind = array.dtype.kind
    if kind in "fO" and _are_integers(value, array):
        raise TileError(f"{name} has integers that do not fit one type of 64 bits")
    if kind not in RANKS:
        held = KINDS.get(kind, str(array.dtype))
        what = f"is a {_type_name(value)}" if array.ndim == 0 else f"holds {held}"
        raise TileError(f"{name} {what}, not an array of numbers")
    if declared is None:
        weak = WEAK_DTYPES.get(kind, array.dtype)
        return array.astype(weak) if _fits(array, weak) else array
    if RANKS[kind] > RANKS[kind_of(declared)] or not _fits(array, declared):
        raise TileError(
            f"{name} has values that are no {declared}, the type that it takes here; "
            "give it as an array of another type"
        )
    return array.astype(declared)


def _are_integers(value: object, array: Array) -> bool:
    """Whether all numbers are integers, though no integer type of NumPy holds them."""
    if array.dtype.kind == "f" and not (np.abs(array) >= 2**63).any():
        return False
    numbers = np.asarray(value, object).flat
    return array.size > 0 and all(isinstance(number, int) for number in numbers)


def _fits(array: Array, dtype: np.dtype[Any]) -> bool:
    """Whether ``dtype`` holds the numbers, if they are integers."""
    if not array.size or array.dtype.kind not in "iu" or dtype.kind not in "iu":
        return True
    limits = np.iinfo(dtype)
    return bool(array.min() >= limits.min and array.max() <= limits.max)


def _type_name(value: object) -> str:
    t = type(value)
    return t.__qualname__ if t.__module__ == "builtins" else f"{t.__module__}.{t.__qualname__}"


def _device_array(name: str, value: cla.Array) -> cla.Array:
    """The array, without gaps and from the start of its buffer."""
    if value.dtype not in DTYPES:
        raise _not_numbers(name, value.dtype)
    if value.offset == 0 and value.flags.c_contiguous:
        return value
    return _packed(name, value)


def _packed(name: str, value: cla.Array) -> cla.Array:
    """A view as an array of its own; one with gaps goes through the host."""
    import pyopencl as cl
    import pyopencl.array as cla

    from tiledialect.lowering.runtime.call.copies import copy_bytes

    queue = value.queue
    if queue is None:
        raise TileError(f"{name} is a view of a device array without a queue; pass a copy of it")
    if not value.size:
        return cla.empty(queue, value.shape, value.dtype)
    value.finish()
    base: Any = value.base_data
    is_buffer: bool = isinstance(value.base_data, cl.MemoryObjectHolder)
    if value.flags.c_contiguous and is_buffer:
        whole = cla.empty(queue, value.shape, value.dtype)
        whole.add_event(copy_bytes(queue, whole.data, base, whole.nbytes, 0, value.offset))
        return whole
    steps = [(n - 1) * s for n, s in zip(value.shape, value.strides, strict=True)]
    # Shared virtual memory can only be copied from its start.
    first = value.offset + sum(s for s in steps if s < 0) if is_buffer else 0
    last = value.offset + sum(s for s in steps if s > 0) + value.dtype.itemsize
    raw = np.empty(last - first, np.uint8)
    options: dict[str, Any] = {"src_offset": first} if is_buffer else {}
    cl.enqueue_copy(queue, raw, base, **options)
    view = np.ndarray(value.shape, value.dtype, raw, value.offset - first, value.strides)
    return cla.to_device(queue, np.array(view, order="C"))


def placed(device: Device, array: Any) -> Any:
    """An array in the memory of a device: itself where the device computes in the host's."""
    if device.uses_host_memory:
        return array
    from tiledialect.lowering.runtime.device.queues import queue_for

    return upload(queue_for(device), array)


def upload(queue: cl.CommandQueue, array: Any) -> cla.Array:
    """A copy of an array in a device's memory."""
    import pyopencl.array as cla

    # `ascontiguousarray` makes a scalar an array of one axis.
    made = cla.to_device(queue, np.asarray(array, order="C"))
    # The copy is done, and its event would keep the memory of the host.
    made.events.clear()
    return made


def room(queue: cl.CommandQueue, shape: Sequence[int], dtype: np.dtype[Any]) -> cla.Array:
    """An array in a device's memory without numbers yet."""
    import pyopencl.array as cla

    return cla.empty(queue, tuple(shape), dtype)


def common_queue(name: str, arrays: Sequence[cla.Array]) -> cl.CommandQueue:
    """The queue of the first array that has one; all inputs of ``name`` must be of one context."""
    queue = arrays[0].queue
    if queue is not None and all(a.queue is queue for a in arrays):
        return queue
    from pyopencl import CommandQueue

    contexts = {a.context for a in arrays if a.context is not None}
    if len(contexts) != 1:
        raise TileError(f"the inputs of {name} are arrays of different OpenCL contexts")
    (context,) = contexts
    return next((a.queue for a in arrays if a.queue is not None), None) or CommandQueue(context)
