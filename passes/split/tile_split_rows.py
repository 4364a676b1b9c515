"""tile-split-rows: aggregates of rows that need one another, of parts of the rows together."""

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
from tiledialect.passes.split.rewrites.partial_merge import Chosen
from tiledialect.passes.split.rewrites.split_choice import results_with, weighed_splits
from tiledialect.passes.split.rewrites.split_row_reductions import (
    Group,
    group_of,
    sources_of,
    split_rows,
)
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device, Kind, device_of

LONGEST = 1 << 14
"""How many elements parts have at most, if there are divisors for that: work-groups keep them."""
WAVES = 8
"""How many parts each unit has at least, which it computes at the same time or in turns."""
MANY = 4
"""So many times as many parts as needed are taken if sums alone would be split into them."""
FAR = 4
"""Numbers of parts that are so many times as many as wanted are not taken, nor half as many."""


@dataclass(frozen=True)
class TileSplitRowsPass(ModulePass):
    """Aggregates parts of rows where some aggregates need others of the same row.

    A variance needs the mean, a sum of exponentials and the place of the maximum need the maximum.
    Each part of a row has a mean or a maximum of its own, and all its aggregates are those for it:
    so a kernel can find all of them at once. What the row's are follows from the parts' and from
    what their means or maxima differ by from the row's. What is summed beside them of the same
    tensors is, too.

    Without `parts` this is done where too few rows would leave units idle, so that the cost model
    splits the sums anyway, and on GPUs where rows are longer than work-groups can keep, and would
    be read again for what is chosen by comparison.
    """

    name = "tile-split-rows"

    parts: int | None = None
    """Into how many parts rows are divided, at the first axis whose size that divides."""
    keep: tuple[str, ...] = ()
    """Results that are left whole, and what they are computed from elementwise."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split all rows that gain by it."""
        if self.parts is not None and self.parts < 2:
            raise TileError(f"{self.parts} are too few parts to split rows into")
        device = device_of(op)
        if self.parts is None and device is None:
            return
        replaced = set[ContractionOp]()
        for contraction in ops_of(op, ContractionOp):
            if contraction in replaced or isinstance(contraction.parent_op(), KernelOp):
                continue
            group = group_of(contraction)
            if group is None or any(not results_with(c).isdisjoint(self.keep) for c in group.ops):
                continue
            if (place := self._place(group, contraction, device, op)) is not None:
                replaced |= group.ops
                split_rows(group, *place)

    def _place(
        self, group: Group, leader: ContractionOp, device: Device | None, module: ModuleOp
    ) -> tuple[int, int] | None:
        """At which axis to split rows, and into how many parts."""
        rows = group.rows
        if self.parts is not None:
            fit = (a for a in rows.summed if rows.shape[a] % self.parts == 0)
            return next(((a, self.parts) for a in fit), None)
        assert device is not None
        if device.kind is Kind.CPU:
            wanted = _as_split(leader, device, precision_of(module))
            return _near(group, *wanted, device) if wanted is not None else None
        if group.is_kept(device):
            return None
        wanted = _as_split(leader, device, precision_of(module))
        if wanted is None:
            wanted = _as_too_long(group, leader, device)
        if wanted is None:
            return None
        axis, parts = wanted
        least = max(
            ceil_div(WAVES * device.compute_units, rows.count), ceil_div(rows.length, LONGEST)
        )
        return _divisor(rows.shape[axis], max(least, min(parts, MANY * least)), axis)


def _as_split(leader: ContractionOp, device: Device, precision: str) -> tuple[int, int] | None:
    """The axis and the number of parts that the cost model splits a sum at, if it does."""
    found = weighed_splits(leader, device, precision)
    if isinstance(found, str) or not found.ops:
        return None
    for unused in reversed(found.ops):
        unused.erase()
    if not found.splits:
        return None
    split = min((s for s in found.splits if s.is_known), key=lambda s: s.seconds)
    names = [e.names[0] for e in leader.accesses.data[0].data]
    return names.index(split.index), split.parts


def _near(group: Group, axis: int, parts: int, device: Device) -> tuple[int, int] | None:
    """The axis and so many parts of rows that a core's second cache holds what is read of one.

    It is read once for the means or maxima, and once for what needs them.
    """
    read = sources_of((v for op in group.ops for v in op.inputs), group.rows)
    size = sum(group.rows.size * element_bytes(tensor_type(v).element_type) for v in read)
    fit = ceil_div(2 * size, device.second_cache)
    return _divisor(group.rows.shape[axis], max(parts, fit), axis)


def _as_too_long(group: Group, leader: ContractionOp, device: Device) -> tuple[int, int] | None:
    """The same where rows would be read from memory once more for what is chosen by comparison."""
    rows = group.rows
    row = rows.length * element_bytes(tensor_type(leader.inputs[0]).element_type)
    is_long = rows.length > device.registers_unit
    is_far = row * device.compute_units > device.cache_sizes[-1]
    is_read_again = any(isinstance(known, Chosen) for known in group.found.values())
    is_many = device.is_busy_with(rows.count)
    if not (is_long and is_far and is_read_again and is_many):
        return None
    axis = max(rows.summed, key=lambda k: rows.shape[k])
    return axis, ceil_div(rows.length, LONGEST)


def _divisor(extent: int, wanted: int, axis: int) -> tuple[int, int] | None:
    """The axis and a number of parts near what is wanted that divides its size."""
    near = range(max(2, ceil_div(wanted, 2)), min(extent, FAR * wanted) + 1)
    fit = [(abs(log(n / wanted)), n) for n in near if extent % n == 0]
    return (axis, min(fit)[1]) if fit else None
