"""tile-split-rows: aggregates of rows that need one another, as merged aggregates of parts."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.errors import TileError
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.target_spec import precision_of
from tiledialect.passes.split.rewrites.partial_merge import Selected
from tiledialect.passes.split.rewrites.piece_names import is_kept
from tiledialect.passes.split.rewrites.split_choice import SplitChoice, Weighed
from tiledialect.passes.split.rewrites.split_row_reductions import (
    RowAggregates,
    group_of,
    sources_of,
    split_rows,
)
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device, device_of

MAX_PART = 1 << 14
"""Maximum elements of parts, if there are divisors for that: work-groups keep them."""
PARTS_PER_UNIT = 8
"""Minimum parts for each unit, which it computes at the same time or interleaved."""
MAX_EXCESS = 4
"""Multiple of the needed parts that is taken if sums alone would be split into them."""
MAX_DISTANCE = 4
"""Multiple of the wanted number of parts, or half, beyond which no number is taken."""


@dataclass(frozen=True)
class TileSplitRowsPass(ModulePass):
    """Aggregates parts of rows where some aggregates need others of the same row.

    A variance needs the mean, a sum of exponentials and the place of the maximum need the maximum.
    Each part of a row has a mean or a maximum of its own, and all its aggregates use that: so one
    kernel can compute all of them at once. The row's aggregates follow from the parts' and from the
    differences of their means or maxima to the row's. Other sums of the same tensors are split,
    too.

    Without `parts` rows are split where too few of them would leave units idle, so that the cost
    model splits the sums anyway, and on GPUs where rows are longer than work-groups can keep, and
    would be read again for selections by comparison.
    """

    name = "tile-split-rows"

    parts: int | None = None
    """Number of parts of rows, at the first axis whose size it divides."""
    keep: tuple[str, ...] = ()
    """Results that are left whole, directly or as elementwise functions of them."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split all rows that gain by it."""
        if self.parts is not None and self.parts < 2:
            raise TileError(f"`parts` must be at least 2, got {self.parts}")
        device = device_of(op)
        if self.parts is None and device is None:
            return
        replaced = set[ContractionOp]()
        for contraction in ops_of(op, ContractionOp):
            if contraction in replaced or isinstance(contraction.parent_op(), KernelOp):
                continue
            group = group_of(contraction)
            if group is None or is_kept(group.ops, self.keep):
                continue
            if (place := self._place(group, contraction, device, op)) is not None:
                replaced |= group.ops
                split_rows(group, *place)

    def _place(
        self, group: RowAggregates, leader: ContractionOp, device: Device | None, module: ModuleOp
    ) -> tuple[int, int] | None:
        """Axis at which to split rows, and the number of parts."""
        rows = group.rows
        if self.parts is not None:
            fit = (a for a in rows.summed if rows.shape[a] % self.parts == 0)
            return next(((a, self.parts) for a in fit), None)
        assert device is not None
        if not device.traits.interleaves_groups:
            wanted = _model_split(leader, device, precision_of(module))
            return _cached_split(group, *wanted, device) if wanted is not None else None
        if group.is_kept(device):
            return None
        wanted = _model_split(leader, device, precision_of(module))
        if wanted is None:
            wanted = _long_row_split(group, leader, device)
        if wanted is None:
            return None
        axis, parts = wanted
        least = max(
            ceil_div(PARTS_PER_UNIT * device.compute_units, rows.count),
            ceil_div(rows.length, MAX_PART),
        )
        return _divisor(rows.shape[axis], max(least, min(parts, MAX_EXCESS * least)), axis)


def _model_split(leader: ContractionOp, device: Device, precision: str) -> tuple[int, int] | None:
    """Axis and number of parts at which the cost model splits a sum, if it does."""
    found = SplitChoice(device, precision).weighed(leader)
    if not isinstance(found, Weighed) or found.chosen is None:
        return None
    names = [e.names[0] for e in leader.accesses.data[0].data]
    return names.index(found.chosen.index), found.chosen.parts


def _cached_split(
    group: RowAggregates, axis: int, parts: int, device: Device
) -> tuple[int, int] | None:
    """Axis, and the parts of rows with which a core's second cache holds the reads of one part.

    A part is read once for the means or maxima, and once for the aggregates that need them.
    """
    read = sources_of((v for op in group.ops for v in op.inputs), group.rows)
    size = sum(group.rows.size * element_bytes(tensor_type(v).element_type) for v in read)
    return _divisor(group.rows.shape[axis], max(parts, device.parts_near(size)), axis)


def _long_row_split(
    group: RowAggregates, leader: ContractionOp, device: Device
) -> tuple[int, int] | None:
    """The same where rows would be read from memory once more for selections by comparison."""
    rows = group.rows
    row = rows.length * element_bytes(tensor_type(leader.inputs[0]).element_type)
    is_long = rows.length > device.registers_unit
    is_far = row * device.compute_units > device.cache_sizes[-1]
    is_read_again = any(isinstance(known, Selected) for known in group.found.values())
    is_many = device.is_busy_with(rows.count)
    if not (is_long and is_far and is_read_again and is_many):
        return None
    axis = max(rows.summed, key=lambda k: rows.shape[k])
    return axis, ceil_div(rows.length, MAX_PART)


def _divisor(extent: int, wanted: int, axis: int) -> tuple[int, int] | None:
    """Axis, and a number of parts near the wanted one that divides its size."""
    near = range(max(2, ceil_div(wanted, 2)), min(extent, MAX_DISTANCE * wanted) + 1)
    fit = [(abs(log(n / wanted)), n) for n in near if extent % n == 0]
    return (axis, min(fit)[1]) if fit else None
