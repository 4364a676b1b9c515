"""lift-to-nest: lower low-level lift programs to nests in a `gpu.module`, and a host function.

The builders of nests are imported where there are patterns: most programs have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, UnitAttr
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.discardable import OPERATIONS_AFTER, OPERATIONS_BEFORE
from tiledialect.dialects.lift import reductions, values
from tiledialect.dialects.lift.binding import bind
from tiledialect.dialects.lift.types import is_number
from tiledialect.errors import TileError
from tiledialect.index.size import Size
from tiledialect.ir.ops_in import has_one_block, ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.ir.signature import argument_names, result_names
from tiledialect.ir.target_spec import limit
from tiledialect.lowering.lift_to_nest.fetched_tiles import prepare_fetched_tiles
from tiledialect.lowering.lift_to_nest.register_tiles import unroll_copies
from tiledialect.lowering.lift_to_nest.sizes import OpenSizeError, has_patterns, index_width
from tiledialect.lowering.nest.utils.device_limits import check_fits
from tiledialect.lowering.tile_to_nest.tile_to_nest import kernel_module
from tiledialect.passes.diagnostics.reporting import keep_warnings
from tiledialect.schedule.cost.traits import traits_of
from tiledialect.schedule.default_schedule import LOCAL_SIZE

if TYPE_CHECKING:
    from tiledialect.lowering.lift_to_nest.host import LiftHost


def expand(function: func.FuncOp) -> None:
    """Unroll iterations and lets around kernels, so that each step can be a kernel."""
    block = function.body.block
    while True:
        op = next(
            (x for x in block.ops if isinstance(x, reductions.IterateOp | values.LetOp)), None
        )
        if op is None:
            return
        _write_out(op)


def _write_out(op: reductions.IterateOp | values.LetOp) -> None:
    steps: list[dict[str, Size]] = [{}]
    if isinstance(op, reductions.IterateOp):
        count = op.count.data.value
        if count is None:
            raise OpenSizeError.at(
                op, f"iterate({op.count.data}) around kernels needs a count that is a number"
            )
        steps = [sizes for sizes, _ in op.steps()] or [{}] * count
    value = op.operands[0]
    for sizes in steps:
        bound = op.clone()
        bind(bound, sizes)
        argument = bound.block.args[0]
        argument.replace_all_uses_with(value)
        value = bound.yielded
        for inner in list(bound.block.ops):
            inner.detach()
            if not inner.has_trait(IsTerminator):
                Rewriter.insert_op(inner, InsertPoint.before(op))
            else:
                inner.erase()
    op.results[0].replace_all_uses_with(value)
    op.detach()
    op.erase()


def functions_of_patterns(module: ModuleOp) -> list[func.FuncOp]:
    """Functions that have patterns."""
    found = ops_of(module, func.FuncOp)
    return [f for f in found if has_one_block(f) and has_patterns(f)]


def _check_signature(function: func.FuncOp) -> None:
    """Refuse arguments and results that host functions cannot have."""
    types = function.function_type
    inputs = zip(argument_names(function), types.inputs, strict=True)
    outputs = zip(result_names(function), types.outputs, strict=True)
    for name, t in (*inputs, *outputs):
        if not isinstance(t, TensorType) or not is_number(t.element_type):
            raise TileError.at(
                function,
                f"{name} of {function.sym_name.data} is {t}, but kernels take and give arrays of "
                "numbers: a number is an array without axes (tensor.from_elements), an array of "
                "tuples is one for each component (lift.get)",
            )


def host_builder(function: func.FuncOp, local_size: int, *, tracing: bool) -> LiftHost:
    """Builder of the kernels of a function and of its host's side."""
    from tiledialect.lowering.lift_to_nest.host import LiftHost

    _check_signature(function)
    region_dce(function.body)
    expand(function)
    name = f"{function.sym_name.data}_kernels"
    return LiftHost(
        function,
        name,
        local_size=local_size,
        most_items=most_work_items(function, local_size),
        tracing=tracing,
    )


def most_work_items(function: func.FuncOp, local_size: int) -> int:
    """Most work-items of a group that a program gives: lanes as many as the device allows."""
    module, most = function.get_toplevel_object(), 4 * local_size
    if isinstance(module, ModuleOp) and not traits_of(module).has_vectors:
        return limit(module, "max_work_group_size", most)
    return most


COUNTS = (OPERATIONS_BEFORE, OPERATIONS_AFTER)


@dataclass(frozen=True)
class LiftToNestPass(PassWithFlags):
    """Lowers functions with patterns to nests in `gpu.module`s, and host functions.

    Each pattern that computes becomes a kernel, in which layout patterns are index expressions;
    maps whose functions compute nothing are layout, too. Names of sizes become arguments of the
    kernels. With `print_views` the views of each access of an array are shown, before the module:
    from the last one to memory, with the indices into each.
    """

    name = "lift-to-nest"

    local_size: int = LOCAL_SIZE
    """Maximum number of work-items of a work-group, where the program leaves it open."""

    index_width: int | None = None
    """Number of bits of the index arithmetic; by default 64 if a size is open."""

    count: bool = False
    """Whether to record the numbers of index operations as composed by views, and as left."""

    print_views: bool = False
    """Whether to show the views of every access."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function that has patterns."""
        for function in functions_of_patterns(op):
            host = host_builder(function, self.local_size, tracing=self.print_views)
            host_function = host.build()
            if self.print_views:
                from tiledialect.lowering.lift_to_nest.views.view_traces import views_text

                print(views_text(host.traces))
            keep_warnings(op, host.warnings)
            bits = self.index_width or index_width(function)
            module = kernel_module(host.module_name, host.functions, bits)
            for kernel in host.functions:
                unroll_copies(kernel)
                prepare_fetched_tiles(kernel)
                check_fits(op, kernel)
                if not self.count:
                    for key in COUNTS:
                        kernel.attributes.pop(key, None)
            Rewriter.replace_op(function, [module, host_function], [])
            op.attributes["gpu.container_module"] = UnitAttr()
