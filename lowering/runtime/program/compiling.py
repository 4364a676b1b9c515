"""Compilation of programs.

The imports take longer to load than a plan that is kept on disk: callers that find one there do
without them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from tiledialect.analysis.layer_operations import layer_operations
from tiledialect.caches import compilation
from tiledialect.dialects.tile.global_stage import copies_of
from tiledialect.dialects.tile.schedule_text import named_kernels
from tiledialect.errors import TileError
from tiledialect.ir.launch_labels import labels
from tiledialect.ir.signature import find_function
from tiledialect.lowering.compilation import (
    OPEN_PASSES,
    close,
    compile_module,
    compile_open,
    run_between,
    warnings_of,
)
from tiledialect.lowering.given_passes import GivenPasses
from tiledialect.lowering.host.given_kernels import lowered_kernels
from tiledialect.lowering.lift_to_nest.lift_to_nest import LiftToNestPass
from tiledialect.lowering.lift_to_nest.sizes import (
    OpenSizeError,
    index_width,
    is_open,
)
from tiledialect.lowering.nest.nest_barriers import DivergenceError
from tiledialect.lowering.pipeline import local_size_of, pipeline
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.lowering.runtime.program.early_builds import Builder
from tiledialect.lowering.runtime.program.kernel_reuse import plan_of_nests
from tiledialect.lowering.runtime.program.plan import Plan
from tiledialect.lowering.runtime.program.plan_building import make_plan
from tiledialect.lowering.runtime.program.processes import helping
from tiledialect.lowering.runtime.program.program import Program, Types
from tiledialect.lowering.tile_to_nest.tile_to_nest import Labels
from tiledialect.passes.algebra.tile_merge_products import TileMergeProductsPass
from tiledialect.passes.algebra.tile_winograd import TileWinogradPass
from tiledialect.passes.fuse.tile_fuse import TileFusePass
from tiledialect.passes.lift.lift_lower import LiftLowerPass
from tiledialect.passes.normalize.tile_bounds import TileBoundsPass
from tiledialect.passes.schedule.tile_loop_tiling import TileLoopTilingPass
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.passes.split.tile_split_reduction import TileSplitReductionPass
from tiledialect.schedule.default_schedule import LOCAL_SIZE
from tiledialect.schedule.search.budget import limited
from tiledialect.schedule.search.size_transfer import transferring

if TYPE_CHECKING:
    from tiledialect.lowering.lift_to_nest.view_drawing import Views


@compilation()
def compiled(
    program: Program, types: Types, device: Device, builder: Builder | None = None
) -> Plan:
    """The plan for inputs of these types on a device.

    Kernels that are printed before others are lowered are given to ``builder``.
    """
    if program.is_lowered or leaves_sizes_open(program):
        module = lowered(program, types, device)
        plan = make_plan(module, program.result_name)
    else:
        with helping(device, program.budget) as others:
            module = lowered(program, types, device, LiftToNestPass.name)
            given = module, program.result_name, _labels(module)
            horizontal = GivenPasses(program.passes).horizontal()
            plan = plan_of_nests(*given, builder=builder, others=others, horizontal=horizontal)
    return replace(plan, warnings=warnings_of(module))


def _labels(module: ModuleOp) -> Labels:
    """Name and layers of each scheduled kernel of a program; of a copy of an operand those of the
    kernel that reads it."""
    kernels = named_kernels(module)
    readers = {copy: name for name, kernel in kernels.items() for copy in copies_of(kernel)}
    names = {kernel: readers.get(kernel, name) for name, kernel in kernels.items()}
    return {k: labels(name, layer_operations(kernels[name])) for k, name in names.items()}


def lowered(program: Program, types: Types, device: Device, after: str | None = None) -> ModuleOp:
    """A program's module for inputs of these types on a device, after a pass: by default the last.

    That gives kernels and the host function. Kernels of patterns serve all sizes that the
    function leaves open.
    """
    target = target_system_spec(device)
    if program.is_lowered:
        return lowered_kernels(program.module, program.name, types, target)
    if program.is_chosen and not program.is_scheduled:
        raise TileError(
            f"{program.name} is of Lift's patterns alone, whose kernels have no schedules and are "
            "not fused: rewrite rules decide their mapping, see docs/rewriting.md"
        )
    if leaves_sizes_open(program) and (after is None or after in OPEN_PASSES):
        found = _opened(program, types, target, after)
        if found is not None:
            return found if after is not None else close(found, program.name, types)
    given = program.module, program.name, types, target, program.transforms, after
    chosen = program.schedules, program.fusion, program.passes
    # A budget cuts decisions short, which others are not to take over.
    kept = program.kept_modules if program.budget is None else None
    others = helping(device, program.budget)
    with transferring(program.known_schedules), limited(program.budget), others:
        return compile_module(*given, *chosen, kept)


@compilation()
def lowered_with_constants(
    program: Program, types: Types, device: Device, constants: Collection[str]
) -> ModuleOp:
    """A program's module of fused kernels, with products by constants merged where that pays."""
    names = [p.name for p in pipeline(LOCAL_SIZE)]
    module = lowered(program, types, device, names[names.index(TileBoundsPass.name) - 1])
    if program.is_lowered:
        return module
    chosen = program.schedules, program.fusion, program.passes
    others = helping(device, program.budget)
    with transferring(program.known_schedules), limited(program.budget), others:
        TileMergeProductsPass(tuple(constants)).merge(module)
        run_between(module, TileBoundsPass.name, TileFusePass.name, *chosen)
    return module


@compilation()
def explained(program: Program, types: Types, device: Device) -> str:
    """Explanation of a program's kernels and schedules on a device."""
    names = [p.name for p in pipeline(LOCAL_SIZE)]
    first = names.index(TileWinogradPass.name)
    module = lowered(program, types, device, names[first - 1])
    reasons: list[str] = []
    with transferring(program.known_schedules):
        _explain(module, program, reasons, first)
    return "\n".join(reasons) or f"{program.name} has no kernels to schedule"


def _explain(module: ModuleOp, program: Program, reasons: list[str], first: int) -> None:
    """Run the passes that choose, from one on, and note their reasons."""
    chosen = program.schedules, program.fusion, program.passes
    for step in pipeline(local_size_of(module), *chosen)[first:]:
        match step:
            case TileWinogradPass(contraction=None) | TileSplitReductionPass(index=None):
                reasons += replace(step, explain=True).choose(module)
            case TileFusePass():
                replace(step, explain=True).apply(Context(), module)
            case TileLoopTilingPass():
                reasons += replace(step, explain=True).schedule(module)
            case LiftLowerPass():
                step.apply(Context(), module)
                from tiledialect.lowering.lift_to_nest.explanation import patterns_explained

                reasons += patterns_explained(module, local_size_of(module))
                break
            case _:
                step.apply(Context(), module)


def leaves_sizes_open(program: Program) -> bool:
    """Whether the patterns of a program leave sizes open."""
    return not program.is_scheduled and is_open(find_function(program.module, program.name))


def views(program: Program, types: Types | None, device: Device) -> Views:
    """Accesses to memory of the kernels of patterns; for all sizes if there are no types."""
    from tiledialect.lowering.lift_to_nest.view_drawing import views_of

    target = target_system_spec(device)
    if types is None:
        module = compile_open(program.module, program.name, 64, target, "lift-lower")
        return views_of(module, local_size_of(module))
    module = lowered(program, types, device, "lift-lower")
    try:
        return views_of(module, local_size_of(module))
    except OpenSizeError:
        given = program.module, program.name, types, target, program.transforms, "lift-lower"
        module = compile_module(*given, program.schedules, program.fusion)
        return views_of(module, local_size_of(module))


def _opened(
    program: Program, types: Types, target: Attribute, after: str | None
) -> ModuleOp | None:
    """The module for inputs of all sizes, if there is one."""
    checked = find_function(program.module, program.name).clone()
    specialize(checked, types)
    key = target, index_width(checked), after
    if key not in program.opened:
        try:
            program.opened[key] = compile_open(
                program.module, program.name, index_width(checked), target, after
            )
        except (OpenSizeError, DivergenceError):
            # Of sizes that are known it may be, too, that all work-items come to a barrier.
            program.opened[key] = None
    return program.opened[key]
