"""Explanation of the kernels of patterns in words."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tiledialect.dialects.lift.base import LiftOp
from tiledialect.errors import count
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.lift_to_nest.kernel import LiftKernel
from tiledialect.lowering.lift_to_nest.lift_to_nest import functions_of_patterns, host_builder
from tiledialect.lowering.lift_to_nest.views.view_traces import views_text
from tiledialect.passes.lift.lift_rewrite import recorded

OTHERWISE = (
    "to say otherwise: map_wrg, map_lcl, map_glb, map_seq, to_local and the like in the program, "
    "or rewrite rules (docs/derivations.md)"
)


def patterns_explained(module: ModuleOp, local_size: int) -> list[str]:
    """Explain each function of a module whose patterns say who does what."""
    functions = [f for f in functions_of_patterns(module) if ops_of(f, LiftOp)]
    return ["\n".join(_lines(function, local_size)) for function in functions]


def _lines(function: func.FuncOp, local_size: int) -> Iterator[str]:
    texts = recorded(function)
    yield f"{function.sym_name.data}: patterns; each outermost map is a kernel"
    if texts:
        yield "  applied rules, those of lift-lower last:"
        yield from (f"    {text}" for text in texts)
    else:
        yield "  the program itself maps its patterns to work-items"
    host = host_builder(function, local_size, tracing=True)
    host.build()
    for kernel in host.own.values():
        yield _kernel(kernel)
    yield views_text(host.traces).replace("// ", "  ").rstrip()
    yield OTHERWISE


def _kernel(kernel: LiftKernel) -> str:
    name, items = kernel.function.sym_name.data, prod(kernel.block)
    groups = " x ".join(str(e) for e in kernel.grid if e.value != 1) or "1"
    return f"  {name}: {groups} groups of {count(items, 'work-item', 'work-items')}"
