"""Views of a Lift program as SVG: their construction, and the paths of accesses through them.

As in the slides: the patterns of the program in the order of the data, each beside its view, and
beside that the indices and the components with which the view is accessed. Data goes down, from
memory to the use of an element; an access goes up, from there to the flat index.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from tiledialect.errors import TileError
from tiledialect.ir.signature import find_function
from tiledialect.lowering.lift_to_nest.lift_to_nest import (
    LiftToNestPass,
    functions_of_patterns,
    host_builder,
)
from tiledialect.lowering.lift_to_nest.views.view_traces import Trace, Traces, ViewStep, views_text
from tiledialect.passes.lift.render.svg import Node, Table, page


@dataclass(frozen=True)
class Views:
    """Views through which the kernels of a program access memory: printed, text; or a drawing.

    A notebook shows the drawing.
    """

    kernels: Traces
    """Accesses of each kernel, by the name of the kernel."""

    def __str__(self) -> str:
        return views_text(self.kernels)

    @property
    def svg(self) -> str:
        """Draw each access."""
        drawings = (
            (f"{kernel}: {trace.title}", [_table(trace)])
            for kernel, traces in self.kernels.items()
            for trace in dict.fromkeys(traces)
        )
        return page(list(drawings))

    def _repr_svg_(self) -> str:
        return self.svg


def views_of(module: ModuleOp, local_size: int) -> Views:
    """Views of the functions of a module that have low-level patterns."""
    traces: dict[str, list[Trace]] = {}
    for function in functions_of_patterns(module.clone()):
        host = host_builder(function, local_size, tracing=True)
        host.build()
        traces |= host.traces
    if not traces:
        raise TileError("there are no views, as the program has no patterns of lift")
    return Views(traces)


def _table(trace: Trace) -> Table:
    """Table of an access: memory at the top, the accessed view at the bottom."""
    head = [Node(name, "head") for name in ("program", "view", "indices", "components")]
    rows = [_row(step) for step in reversed(trace.steps)]
    if not trace.is_choice:
        rows[0][0] = Node(trace.memory, "input")
        rows[0][1] = Node("memory")
    for above, below in pairwise(rows):
        for column in (2, 3):
            above[column].changed = above[column].label != below[column].label
    end = f"where {trace.end}" if trace.is_choice else f"{trace.memory}[{trace.end}]"
    top = [Node(""), Node(""), Node(end, "input"), Node("")]
    if not any(step.components for step in trace.steps):
        for row in (head, top, *rows):
            row.pop()
    down = ([r[0] for r in rows if r[0].label], [r[1] for r in rows])
    up = [r[2] for r in (*reversed(rows), top)]
    return Table([head, top, *rows], [edge for path in (*down, up) for edge in pairwise(path)])


def _row(step: ViewStep) -> list[Node]:
    paths = (step.indices, step.components)
    stacks = [Node(f"[{', '.join(path)}]" if path else "[ ]") for path in paths]
    return [Node(step.pattern), Node(step.view), *stacks]


@dataclass(frozen=True)
class LiftViewsTarget(Target):
    """Views of a low-level Lift program as SVG, as `lift-to-nest` makes and uses them."""

    name = "lift-views"

    function: str | None = None
    """Name of the function; all, if left out."""
    local_size: int = LiftToNestPass.local_size
    """As for `lift-to-nest`."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Draw the views."""
        if self.function is not None:
            module = ModuleOp([find_function(module, self.function).clone()])
        output.write(views_of(module, self.local_size).svg)
