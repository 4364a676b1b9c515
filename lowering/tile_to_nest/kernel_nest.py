"""Construction of the nest of a scheduled `tile.kernel`, by the kind of kernel."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from tiledialect.analysis.normal_form import check_one_owner, check_whole
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.row_axes import Rows
from tiledialect.errors import TileError
from tiledialect.ir.target_spec import entries
from tiledialect.lowering.tile_to_nest.contraction import ContractionNest
from tiledialect.lowering.tile_to_nest.elementwise import elementwise_nest
from tiledialect.lowering.tile_to_nest.kernel import KernelLaunch, KernelNest
from tiledialect.lowering.tile_to_nest.rows.row_kernel import RowNest
from tiledialect.lowering.tile_to_nest.scan import ScanNest
from tiledialect.lowering.tile_to_nest.scatter import ScatterNest
from tiledialect.schedule.loops import Schedule


def kernel_nest(kernel: KernelOp, name: str) -> KernelLaunch:
    """Build the function of a scheduled kernel.

    Its arguments are the inputs that it reads, then the outputs.
    """
    if kernel.schedule is None:
        raise TileError.at(
            kernel, "tile-to-nest works on kernels with a schedule: run tile-loop-tiling"
        )
    for stage in kernel.schedule.data.global_stages:
        operand = name_of(kernel.block.args[stage.operand])
        raise TileError.at(
            kernel, f"{operand} is staged in global memory: run tile-loop-tiling first"
        )
    for op in kernel.contractions:
        check_whole(op)
    if kernel.contraction is not None:
        check_one_owner(kernel.contraction)
    nest = KernelNest(kernel, without_absent_sub_groups(kernel, kernel.schedule.data))
    if kernel.axes is not None:
        rows = Rows.of(kernel.block.ops, kernel.axes.ranges)
        RowNest(nest, rows).build()
    elif kernel.scatter is not None:
        ScatterNest(nest, kernel.scatter).build()
    elif kernel.scan is not None:
        ScanNest(nest, kernel.scan).build()
    elif kernel.contraction is None:
        elementwise_nest(nest)
    else:
        ContractionNest(nest, kernel.contraction).build()
    return nest.finish(name)


def without_absent_sub_groups(kernel: KernelOp, schedule: Schedule) -> Schedule:
    """Drop sub-groups from a schedule if the module's device does not have them."""
    module = kernel.get_toplevel_object()
    given = entries(module) if isinstance(module, ModuleOp) else None
    sizes = (given or {}).get("sub_group_sizes", ())
    if given is None or (isinstance(sizes, tuple) and schedule.sub_groups in sizes):
        return schedule
    return replace(schedule, sub_groups=0)
