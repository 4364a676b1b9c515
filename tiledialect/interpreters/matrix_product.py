"""Sums of products of two tensors as products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp

Array = npt.NDArray[Any]

SHORT = 32
"""Number of multiplications for which calling a product of matrices does not pay."""

EXACT = 1 << 53
"""Integers up to this are float64 numbers."""


def is_product(op: ContractionOp, arrays: Sequence[Array]) -> bool:
    """Whether products of matrices mean the same for these inputs.

    Those of infinite numbers may be NaN in another order.
    """
    sums = op.aggregation.data == Aggregation.add and op.combination.data == Combination.mul
    return sums and len(arrays) == 2 and all(np.isfinite(array).all() for array in arrays)


def is_long(lengths: Sequence[int], shapes: Sequence[Sequence[int]]) -> bool:
    """Whether sums along the dimensions where the result has length 1 are best made by matrices.

    ``lengths`` are the dimensions of all points, ``shapes`` those of the result and the factors.
    """
    dimensions = list(zip(lengths, *shapes, strict=True))
    summed = prod(n for n, k, *_ in dimensions if k == 1)
    return summed > 1 and prod(n for n, *rest in dimensions if min(rest) == 1) >= SHORT


def multiply(factors: Sequence[Array], kept: Sequence[int], lengths: Sequence[int]) -> Array:
    """The sums of products along the dimensions where ``kept`` is 1.

    The factors have a dimension for each of ``lengths``, of length 1 where they are the same
    along it.
    """
    dimensions = range(len(lengths))
    summed = [d for d in dimensions if kept[d] != lengths[d]]
    a, b = (
        np.broadcast_to(x, [lengths[d] if d in summed else x.shape[d] for d in dimensions])
        for x in factors
    )
    others = [d for d in dimensions if d not in summed]
    both = [d for d in others if a.shape[d] > 1 and b.shape[d] > 1]
    rows = [d for d in others if a.shape[d] > 1 and b.shape[d] == 1]
    columns = [d for d in others if a.shape[d] == 1 and b.shape[d] > 1]
    rest = [d for d in others if a.shape[d] == 1 and b.shape[d] == 1]
    batch, m, k, n = (prod(lengths[d] for d in part) for part in (both, rows, summed, columns))
    left = a.transpose(*both, *rows, *summed, *columns, *rest).reshape(batch, m, k)
    right = b.transpose(*both, *summed, *columns, *rows, *rest).reshape(batch, k, n)
    order = [*both, *rows, *columns, *summed, *rest]
    shape = [lengths[d] for d in (*both, *rows, *columns)] + [1] * len(summed + rest)
    return _matmul(left, right).reshape(shape).transpose(np.argsort(order))


def _matmul(a: Array, b: Array) -> Array:
    """The product; integers wrap."""
    if a.dtype.kind == "f" or a.shape[-1] * _largest(a) * _largest(b) > EXACT:
        return np.matmul(a, b)
    # Exact in float64, which is much faster.
    return np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64).astype(a.dtype)


def _largest(a: Array) -> int:
    return max(abs(int(a.min())), abs(int(a.max())))
