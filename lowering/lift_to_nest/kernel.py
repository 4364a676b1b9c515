"""Kernel of a lift program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects import gpu
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.traits import Pure

from tiledialect.dialects.discardable import (
    FACTS,
    OPERATIONS_AFTER,
    OPERATIONS_BEFORE,
    SHARED_ARGUMENTS,
    WHOLE,
)
from tiledialect.dialects.lift.attributes import expression
from tiledialect.dialects.lift.types import element_of, leading
from tiledialect.dialects.nest.attributes import ConditionAttr, LoopRole
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.memory import LoadOp
from tiledialect.index.integer.expressions import (
    Condition,
    Expr,
    Junction,
    Truth,
    both,
    expressions_of,
    map_expressions,
)
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import simplify
from tiledialect.lowering.lift_to_nest.grid import AXES, WARP_SIZE, Grid
from tiledialect.lowering.lift_to_nest.pattern_code import LiftCode
from tiledialect.lowering.lift_to_nest.views.view_traces import Trace
from tiledialect.lowering.lift_to_nest.views.views import Memory, View, ViewAccess
from tiledialect.lowering.nest.utils.builder import GLOBAL
from tiledialect.lowering.tile_to_nest.kernel import kernel_function
from tiledialect.schedule.loops import Role

HostMemory = Callable[[Attribute, str, tuple[Expr, ...]], View]
"""Function that allocates memory on the host for arrays of values of a type."""


@dataclass(frozen=True)
class LiftKernel:
    """Kernel, its operands, and the sizes of its grid and its groups."""

    function: gpu.FuncOp
    buffers: tuple[SSAValue, ...]
    """Memrefs of the host."""
    names: tuple[str, ...]
    """Names of the sizes, after the memrefs."""
    grid: tuple[Expr, ...]
    block: tuple[int, ...]


class KernelBuilder(LiftCode):
    """Builds a kernel; the host's memrefs become its arguments when they are used."""

    def __init__(
        self,
        names: Sequence[str],
        facts: Condition,
        grid: Grid,
        traces: list[Trace] | None,
        on_host: HostMemory,
    ):
        self.block = Block()
        self._on_host = on_host
        self.facts = facts
        super().__init__(self.block, Env(facts=[facts]), grid)
        self.traces = traces
        self.arguments: dict[SSAValue, SSAValue] = {}
        for name in names:
            argument = self.block.insert_arg(IndexType(), len(self.block.args))
            argument.name_hint = name
            self.names[name] = argument

    @override
    def on_host(self, t: Attribute, hint: str, outer: tuple[Expr, ...]) -> View:
        """Allocate memory on the host for this kernel."""
        return self._on_host(t, hint, outer)

    @override
    def memory_of(self, memory: Memory) -> SSAValue:
        """Argument of a memref of the host's."""
        buffer = super().memory_of(memory)
        t = buffer.type
        assert isinstance(t, MemRefType)
        if t.memory_space != GLOBAL:
            return buffer
        if buffer not in self.arguments:
            argument = self.block.insert_arg(flat(t), len(self.arguments))
            argument.name_hint = buffer.name_hint
            self.arguments[buffer] = argument
        return self.arguments[buffer]

    def build(self, emit: Callable[[KernelBuilder], None], name: str) -> LiftKernel:
        """Build the kernel of which ``emit`` emits the body."""
        with ExitStack() as loops:
            self._open(loops)
            emit(self)
        _remove_unused(self.block)
        sizes = {v: n for n, v in self.names.items()}
        for argument in [a for a in self.block.args if not a.uses]:
            self.block.erase_arg(argument)
        buffers = [h for h, a in self.arguments.items() if a in self.block.args]
        names = [sizes[a] for a in self.block.args if isinstance(a.type, IndexType)]
        grid = tuple(simplify(axis.groups, Env(facts=[self.facts])) for axis in self.grid)
        block = tuple(axis.items for axis in self.grid)
        numbers = [e.value for e in grid if e.value is not None]
        known = numbers if len(numbers) == len(grid) else None
        function = kernel_function(name, self.block, known, block)
        function.attributes[WHOLE] = UnitAttr()
        if shared := [k for k, b in enumerate(buffers) if self.scratch.get(b)]:
            function.attributes[SHARED_ARGUMENTS] = DenseArrayBase.from_list(i64, shared)
        function.attributes[OPERATIONS_BEFORE] = IntegerAttr(self.before, i64)
        function.attributes[OPERATIONS_AFTER] = IntegerAttr(self.after, i64)
        if facts := facts_about(self.facts, names):
            function.attributes[FACTS] = ConditionAttr(facts)
        return LiftKernel(function, tuple(buffers), tuple(names), grid, block)

    def _open(self, loops: ExitStack) -> None:
        """Enter the loops over work-groups and work-items."""
        counts: dict[str, Expr] = {}
        for k, axis in enumerate(AXES):
            groups = simplify(self.grid[k].groups, self.env)
            if groups.value is None:
                op = gpu.GridDimOp(gpu.DimensionAttr(gpu.DimensionEnum(axis)))
                groups = self.named(self.emit(op), f"groups_{axis}")
                (name,) = groups.names
                self.env = self.env.with_range(name, 1, None)
            self._enter(loops, f"group.{axis}", LoopRole(Role.GROUP, axis), groups, counts)
        for k, axis in enumerate(AXES):
            local, role = self.grid[k], LoopRole(Role.LOCAL, axis)
            if local.warps is not None:
                self._enter(loops, "warp", role, Expr.const(local.warps), counts)
                self._enter(loops, "lane", role, Expr.const(WARP_SIZE), counts)
            else:
                self._enter(loops, f"local.{axis}", role, Expr.const(local.items), counts)
        self.open_grid(counts)

    def _enter(
        self, loops: ExitStack, axis: str, role: LoopRole, count: Expr, counts: dict[str, Expr]
    ) -> None:
        counts[axis] = count
        self.free[axis] = Expr()
        if count.value == 1:
            return
        op = ForOp(self.names, role, count)
        self.builder.insert(op)
        index = self.named(op.index, axis.replace("group.", "g").replace("local.", "l"))
        (name,) = index.names
        self.env = self.env.with_range(name, 0, count)
        self.free[axis] = index
        loops.enter_context(self.inside(op.block))

    def share_out(self, view: View, places: Sequence[View], t: Attribute) -> None:
        """Copy a value; all work-items share out its inner axes."""
        if not isinstance(t, TensorType) or not t.get_num_dims():
            self.copy(view, places, t)
            return
        rank = t.get_num_dims()
        if rank > len(AXES):
            with self.span(LoopRole(Role.SERIAL), expression(leading(t)), "i") as i:
                self.share_out(
                    ViewAccess(view, i), [ViewAccess(p, i) for p in places], element_of(t)
                )
            return
        axis = AXES[rank - 1]
        with self.shared((f"group.{axis}", f"local.{axis}"), expression(leading(t)), axis) as i:
            self.share_out(ViewAccess(view, i), [ViewAccess(p, i) for p in places], element_of(t))


def flat(t: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """Memref of one axis over the same memory."""
    total = 1
    for size in t.get_shape():
        total = DYNAMIC_INDEX if DYNAMIC_INDEX in (size, total) else total * size
    return MemRefType(t.element_type, [total], NoneAttr(), t.memory_space)


def facts_about(facts: Condition, names: Sequence[str]) -> Condition | None:
    """Facts about some sizes alone, in terms of the index arguments of a kernel."""
    parts = facts.parts if isinstance(facts, Junction) else (facts,)
    numbered = {name: Expr.var(f"d{k}") for k, name in enumerate(names)}
    own = [
        map_expressions(part, lambda e: e.substitute(numbered))
        for part in parts
        if all(name in numbered for e in expressions_of(part) for name in e.names)
    ]
    found = both(*own)
    return None if isinstance(found, Truth) else found


def _remove_unused(block: Block) -> None:
    """Erase loads and index values without uses."""
    for op in reversed(list(block.walk())):
        unused = op.results and not any(r.uses for r in op.results)
        if unused and (isinstance(op, LoadOp | IndexOp | gpu.GridDimOp) or op.has_trait(Pure)):
            op.detach()
            op.erase()
