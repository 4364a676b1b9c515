"""Extremum counting: a maximum or minimum over overlapping windows, in one kernel with its count.

Both read the same windows: the second read hits a cache. Extrema of disjoint windows, and of whole
rows, are row kernels with their other users.
"""

from __future__ import annotations

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.extremum_counts import may_count
from tiledialect.passes.fuse.kernel_merging import merged_if
from tiledialect.passes.fuse.rules.row_kernels import may_have_rows


def fuse_count(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """A kernel of an extremum over windows, and the count of the points that have its value."""
    if first.contraction is None or second.contraction is None:
        return None
    if not may_count(second.contraction, first.contraction) or may_have_rows(first):
        return None
    if first.count is not None or second.count is not None:
        return None
    return merged_if(first, second, lambda kernel: kernel.count is not None)
