"""tile-split-scatter: one scatter of many indices into scatters of parts, and their sum."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, size_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import give_name, given_name, keep_origin
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.cost.estimate import estimate
from tiledialect.schedule.cost.scatters import ScatterWork
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import PARALLEL, Role
from tiledialect.schedule.scatters import row_index, scatter_schedule

MIN_INDICES = {Kind.CPU: 1 << 8, Kind.GPU: 1 << 12}
"""Minimum indices of a part: on GPUs fewer are one block, which a group's work-items search at
once.
"""


def parts_for(op: ScatterOp, device: Device) -> int:
    """Number of parts to divide the indices into.

    Groups share out rows and parts. With more parts each searches fewer indices, and rows are
    added to at more places at the same time; but the results of all parts must be summed.
    """
    t = tensor_type(op.result)
    shape = shape_of(t) or ()
    indices = size_of(op.indices)

    def seconds(parts: int) -> float:
        levels = scatter_schedule((parts, *shape), 1, device).levels
        rows = [level for level in levels if level.index == row_index(1) and level.role in PARALLEL]
        groups = prod(level.extent for level in levels if level.role is Role.GROUP)
        slabs = prod(level.extent for level in rows)
        nbytes = prod(shape) * element_bytes(t.element_type)
        return estimate(ScatterWork(indices, parts, groups, slabs, nbytes), device).seconds

    most = max(1, indices // MIN_INDICES[device.kind])
    return min((1 << k for k in range(most.bit_length())), key=seconds)


def split(op: ScatterOp, parts: int) -> list[Operation]:
    """The scatter in parts, and their sum, which is the scatter's result."""
    made = ScatterOp.make(*op.operands, properties={"parts": IntegerAttr(parts, IndexType())})
    shape = shape_of(tensor_type(op.result)) or ()
    places = [IndexExpr.of(f"i{axis}") for axis in range(len(shape))]
    total = ContractionOp(
        Aggregation.add,
        Combination.none,
        places,
        [(made.result, [IndexExpr.of("part"), *places])],
        shape=shape,
    )
    set_domain(total, total.space())
    keep_origin([made, total], op)
    give_name(made.result, f"{given_name(op.result) or 'sums'}_parts")
    return [made, total]


@dataclass(frozen=True)
class TileSplitScatterPass(ModulePass):
    """Splits scatters of many indices to few rows into parts of the indices, and sums the parts.

    Each work-group adds to rows of its own, and so searches all indices of its part. In the sum the
    parts follow one another, so the result is the same at every run. Without `parts`, scatters are
    split where that is faster on the module's device.
    """

    name = "tile-split-scatter"

    parts: int | None = None
    """Number of parts that the indices are divided into."""
    keep: tuple[str, ...] = ()
    """Results that are left whole."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split every scatter that gains by it."""
        if self.parts is not None and self.parts < 1:
            raise TileError(f"`parts` must be at least 1, got {self.parts}")
        device = device_of(op)
        for scatter in ops_of(op, ScatterOp):
            kept = scatter.parts is not None or given_name(scatter.result) in self.keep
            if kept or isinstance(scatter.parent_op(), KernelOp):
                continue
            parts = self.parts or 1
            if self.parts is None and device is not None:
                parts = parts_for(scatter, device)
            if parts > 1:
                made = split(scatter, parts)
                Rewriter.replace_op(scatter, made, [made[-1].results[0]])
