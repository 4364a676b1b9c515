"""Keys of calls; calls of one key share kept results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyopencl as cl

    from tiledialect.lowering.runtime.call.dispatch_tuning import Calls


def signature_of(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Key of a call with these arrays."""
    return tuple(part for a in arrays for part in (a.shape, a.dtype))


def host_signature_of(values: Sequence[Any]) -> tuple[Any, ...] | None:
    """The same, if all values are arrays of NumPy without gaps."""
    found: list[Any] = []
    for value in values:
        if type(value) is not np.ndarray or not value.flags.c_contiguous:
            return None
        found += (value.shape, value.dtype)
    return tuple(found)


def device_signature_of(queue: cl.CommandQueue, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The same of pyopencl arrays without gaps, as their strides say."""
    return (queue, *(part for a in arrays for part in (a.shape, a.dtype, a.strides)))


def extends_given(args: Sequence[Any], arrays: Sequence[Any]) -> bool:
    """Whether the arrays are those given, and after them cotangents that were left out."""
    return len(args) < len(arrays) and all(a is b for a, b in zip(args, arrays, strict=False))


def completed(calls: Calls, missing: Sequence[Any]) -> Calls:
    """Calls that leave out the last arrays, which are the same each time."""
    from tiledialect.lowering.runtime.call.dispatch_tuning import Calls

    return Calls(calls.plan, lambda arrays: calls.run((*arrays, *missing)))
