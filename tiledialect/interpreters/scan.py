"""Meaning of a scan: one element after another, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES, convert
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.interpreters.agreement import note_terms

Array = npt.NDArray[Any]

AGGREGATE: dict[Aggregation, np.ufunc] = {
    Aggregation.add: np.add,
    Aggregation.mul: np.multiply,
    Aggregation.max: np.maximum,
    Aggregation.min: np.minimum,
}
"""Functions that join a value with the aggregate so far."""


def scan(op: ScanOp, array: Array, start: Array | None = None, keys: Array | None = None) -> Array:
    """The result of ``op``; real numbers are aggregated in float64 and rounded once."""
    element_type = tensor_type(op.result).element_type
    dtype = np.dtype(np.float64) if et.is_float(element_type) else NUMPY_TYPES[element_type]
    aggregate, axis = AGGREGATE[op.aggregation.data], op.along
    rows = np.moveaxis(convert(array, element_type).astype(dtype), axis, 0)
    result = np.empty_like(rows)
    note_terms(op, len(rows))
    block = op.block or len(rows) or 1
    for number, first in enumerate(range(0, len(rows), block)):
        order = slice(None, None, -1 if op.reverse is not None else 1)
        part = rows[first : first + block][order]
        if keys is None:
            total = aggregate.accumulate(part, axis=0, dtype=dtype)
        else:
            total = _in_runs(aggregate, part, np.moveaxis(keys, axis, 0)[order])
        if start is not None:
            total = aggregate(total, np.moveaxis(start, axis, 0)[number].astype(dtype))
        result[first : first + block] = total[order]
    return convert(np.moveaxis(result, 0, axis), element_type)


def _in_runs(aggregate: np.ufunc, part: Array, keys: Array) -> Array:
    """The running aggregates, anew where a key is not the one before."""
    total = part.copy()
    for k in range(1, len(part)):
        goes_on = keys[k] == keys[k - 1]
        total[k] = np.where(goes_on, aggregate(total[k - 1], part[k]), part[k])
    return total
