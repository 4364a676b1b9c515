"""Texts of a function's programs: Tile, IR, schedules and OpenCL C."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from tiledialect.api.compiled_function import CompiledFunction
from tiledialect.api.error_boundary import front_door
from tiledialect.api.inputs import Types
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import print_module

if TYPE_CHECKING:
    from tiledialect.lowering.lift_to_nest.view_drawing import Views


class PrintedFunction(CompiledFunction):
    """Function whose programs are printed at each level of the compiler."""

    def _repr_html_(self) -> str:
        """Header and Tile text for notebooks."""
        try:
            text = self.tile
        except TileError as error:
            text = f"// {error.message}"
        return f"<code>{html.escape(repr(self)[1:-1])}</code><pre>{html.escape(text)}</pre>"

    @property
    @front_door
    def tile(self) -> str:
        """The function as Tile text, gradients too; a TileError if Tile cannot say it.

        Patterns of Lift, and functions of batches, have such a form for the sizes of the last call.
        """
        from tiledialect.language.printer import print_tile
        from tiledialect.passes.lift.lift_to_tile import has_lift_ops
        from tiledialect.passes.transform.transforms import Vmap, transformed

        self._check_tensors("Tile text")
        with self._source.error_context():
            module, name = self._source.module, self._base_name
            is_bound = any(isinstance(step, Vmap) for step in self._transforms)
            types = self._known() if is_bound or has_lift_ops(self._function) else ()
            return print_tile(transformed(module, name, self._transforms, types))

    @front_door
    def schedules(self, *args: Any, **named: Any) -> dict[str, str]:
        """The schedule of each kernel for these inputs, as text; inputs as for ``opencl``.

        A kernel has the name of its result.
        """
        from tiledialect.dialects.tile.schedule_text import named_kernels, schedule_text
        from tiledialect.lowering.runtime.program.compiling import lowered

        self._check_tensors("a schedule")
        types = self._types_or_last(args, named)
        with self._source.error_context():
            program = self._program_for(types, self.device)
            module = lowered(program, types, self.device, "tile-loop-tiling")
            return {name: schedule_text(k) for name, k in named_kernels(module).items()}

    @front_door
    def explanation(self, *args: Any, **named: Any) -> str:
        """Reasons for the kernels of these inputs: the splits, the fusion, and the schedules that
        the cost model weighed against one another for the device; inputs as for ``opencl``.

        docs/schedule-choice.md says how to read it.
        """
        from tiledialect.lowering.runtime.program.compiling import explained

        self._check_tensors("an explanation")
        types = self._types_or_last(args, named)
        with self._source.error_context():
            return explained(self._program_for(types, self.device), types, self.device)

    @front_door
    def ir(self, after: str, /, *args: Any, **named: Any) -> str:
        """The IR after the compiler's pass ``after``, such as ``tile-bounds``, as MLIR.

        Inputs are given as for ``opencl``.
        """
        from tiledialect.lowering.runtime.program.compiling import lowered

        self._check_tensors("IR after a pass")
        types = self._types_or_last(args, named)
        with self._source.error_context():
            program = self._program_for(types, self.device)
            return print_module(lowered(program, types, self.device, str(after)))

    @front_door
    def views(self, *args: Any, **named: Any) -> Views:
        """The views through which the patterns of Lift access memory; inputs as for ``opencl``.

        Without any they are those for all sizes that the function leaves open. As text they are
        printed, ``svg`` draws them, and a notebook shows the drawing.
        """
        from tiledialect.lowering.runtime.program.compiling import leaves_sizes_open, views

        self._check_tensors("a view")
        types: Types | None = None
        if args or named or not leaves_sizes_open(self._program):
            types = self.types(args, named)
        with self._source.error_context():
            program = self._program if types is None else self._program_for(types, self.device)
            return views(program, types, self.device)

    @front_door
    def opencl(self, *args: Any, **named: Any) -> str:
        """The OpenCL C text of the kernels for these inputs.

        An input is an array, a pair of shape and element type, such as ``((2, 9), "f32")``, or a
        text such as ``2x9xf32``. Without any they are the types of the last call, else the
        explored or the declared ones.
        """
        return self._specialize(self._types_or_last(args, named), self.device).plan.source

    @front_door
    def mlir(self, *args: Any, **named: Any) -> str:
        """The kernels and the host function for these inputs, as MLIR; inputs as for ``opencl``."""
        from tiledialect.lowering.runtime.program.compiling import lowered

        types = self._types_or_last(args, named)
        with self._source.error_context():
            return print_module(lowered(self._program_for(types, self.device), types, self.device))
