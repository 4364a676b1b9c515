"""Host's side of lift programs: their kernels, and the memory of results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import func, gpu, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnknownLoc,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import NAME
from tiledialect.dialects.lift import layout
from tiledialect.dialects.lift.attributes import expression
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.types import sizes_of
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Expr
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import simplify
from tiledialect.lowering.lift_to_nest.grid import AXES, ONE, Grid, grid_of, spread
from tiledialect.lowering.lift_to_nest.kernel import KernelBuilder, LiftKernel, flat
from tiledialect.lowering.lift_to_nest.pattern_code import COMPUTING, KEEPING, LiftCode
from tiledialect.lowering.lift_to_nest.sizes import facts_of_sizes, solvable_names
from tiledialect.lowering.lift_to_nest.views.layout import Scope, scattered
from tiledialect.lowering.lift_to_nest.views.output_views import (
    OutputViews,
    PlaceResolver,
    output_views,
)
from tiledialect.lowering.lift_to_nest.views.view_traces import Trace
from tiledialect.lowering.lift_to_nest.views.views import Memory, Reorder, TupleView, View
from tiledialect.lowering.nest.utils.index_values import IndexValues
from tiledialect.lowering.tile_to_nest.kernel import buffer_type
from tiledialect.lowering.tile_to_nest.tile_to_nest import HostFunction
from tiledialect.schedule.default_schedule import LOCAL_SIZE


@dataclass
class LiftHost(HostFunction):
    """Builds the host's side of a function with patterns: each that computes is a kernel."""

    local_size: int = LOCAL_SIZE
    most_items: int = 4 * LOCAL_SIZE
    """Maximum number of work-items of a work-group, where the program leaves it open."""
    tracing: bool = False
    """Whether to record the view traces of each kernel."""
    traces: dict[str, list[Trace]] = field(default_factory=dict[str, "list[Trace]"])
    warnings: dict[str, None] = field(default_factory=dict[str, None])
    """Warnings of unexpected properties of the kernels."""

    def __post_init__(self):
        super().__post_init__()
        self.index = IndexValues(self.block)
        self.names = solvable_names(self.source)
        self.facts = facts_of_sizes(self.source, self.names)
        self.env = Env(facts=[self.facts])
        self.resolver = PlaceResolver(self.env)
        self.views: Scope = {}
        """Views of the inputs and of the kernels' results."""
        self.shapes: dict[SSAValue, tuple[Expr, ...]] = {}
        self.flats: dict[SSAValue, SSAValue] = {}
        self.own: dict[str, LiftKernel] = {}
        """Kernels of patterns by their texts: identical ones are there once."""
        for old, new in zip(self.source.body.block.args, self.block.args, strict=True):
            self._bind(old, new)
        self._find_sizes()

    @property
    def functions(self) -> list[gpu.FuncOp]:
        """Kernels, the kernels of patterns last."""
        return [*super().functions, *(kernel.function for kernel in self.own.values())]

    # -- sizes -----------------------------------------------------------------------------

    def _find_sizes(self) -> None:
        """Compute the named sizes from the sizes of the inputs."""
        for name, (number, axis, expr) in self.names.items():
            zero = self.index.constant(axis)
            dim = memref.DimOp(self.block.args[number], zero)
            self.builder.insert(dim)
            own = self.index.variable(dim.result, f"{name}_axis")
            value = self.index.value(expr.substitute({"axis": own}))
            value.name_hint = name
            self.index.variables[name] = value
            self.index.depths[name] = 0

    def _value(self, expr: Expr) -> SSAValue:
        return self.index.value(simplify(expr, self.env))

    # -- memory ----------------------------------------------------------------------------

    def _bind(self, value: SSAValue, buffer: SSAValue) -> None:
        """Note the view of a tensor."""
        assert isinstance(value.type, TensorType)
        sizes = tuple(map(expression, sizes_of(value.type)))
        self.shapes[buffer] = sizes
        self.views[value] = Memory(value.name_hint or "input", sizes, buffer)

    def _memory(self, t: Attribute, hint: str, outer: tuple[Expr, ...] = ()) -> View:
        """Allocate buffers for the result of a kernel, or for its global memory."""
        if isinstance(t, TupleType):
            return TupleView(tuple(self._memory(part, hint, outer) for part in t.types))
        if isinstance(t, TensorType):
            return self._memory(t.element_type, hint, (*outer, *map(expression, sizes_of(t))))
        if isinstance(t, VectorType):
            return self._memory(t.element_type, hint, (*outer, Expr.const(t.get_shape()[0])))
        sizes = [simplify(e, self.env) for e in outer]
        shape = [DYNAMIC_INDEX if e.value is None else e.value for e in sizes]
        open_sizes = [self._value(e) for e in sizes if e.value is None]
        buffer = self.builder.insert(
            gpu.AllocOp(buffer_type(TensorType(t, shape)), open_sizes)
        ).result
        buffer.name_hint = hint
        self.origin[buffer] = buffer
        self.shapes[buffer] = outer
        return Memory(hint, outer, buffer)

    def _flat(self, buffer: SSAValue) -> SSAValue:
        """Memref of one axis over a buffer."""
        if buffer not in self.flats:
            t, total = flat(buffer.type), Expr.const(1)  # pyright: ignore[reportArgumentType]
            if t == buffer.type:
                return buffer
            for size in self.shapes[buffer]:
                total = total * size
            (length,) = t.get_shape()
            size = self._value(total) if length == DYNAMIC_INDEX else length
            cast = memref.ReinterpretCastOp.from_dynamic(buffer, [0], [size], [1], t)
            self.builder.insert(cast)
            cast.results[0].name_hint = buffer.name_hint
            self.flats[buffer] = cast.results[0]
        return self.flats[buffer]

    # -- the ops ---------------------------------------------------------------------------

    def build(self) -> func.FuncOp:
        """Build the host function."""
        block = self.source.body.block
        returned = block.last_op
        if not isinstance(returned, func.ReturnOp):
            raise TileError.at(self.source, "the function does not return")
        self.outs: dict[SSAValue, list[View]] = {}
        results = [self._result(k, v) for k, v in enumerate(returned.operands)]
        for op in block.ops:
            if isinstance(op, KernelOp | ReshapeOp):
                for value in op.operands:
                    self._operand(value)
        kept = [v for v in returned.operands if v not in self.outs]
        self.found = output_views(self.resolver, block, self.outs, kept)
        self.done: set[SSAValue] = set()
        for op in block.ops:
            if isinstance(op, KernelOp | ReshapeOp):
                self._tile(op)
            elif self._is_kernel(op, self.found):
                self._compute(op, self.found)
                self.done.add(op.results[0])
        for value in self.outs:
            self._materialize(value)
        return self._returned(returned, results)

    def _result(self, k: int, value: SSAValue) -> Memory | None:
        """Allocate the memory of a result, unless a kernel of tile has it."""
        if isinstance(value.owner, KernelOp | ReshapeOp):
            return None
        place = self._memory(value.type, self._result_name(k, value))
        assert isinstance(place, Memory)
        self.outs.setdefault(value, []).append(place)
        return place

    def _operand(self, value: SSAValue) -> None:
        """Allocate the memory of a pattern's result that a kernel of tile takes."""
        owner = value.owner
        if value in self.buffers or not isinstance(owner, LiftOp | tensor.FromElementsOp):
            return
        place = self._memory(value.type, _hint(value))
        assert isinstance(place, Memory) and isinstance(place.buffer, SSAValue)
        self.outs.setdefault(value, []).append(place)
        self.buffers[value] = place.buffer

    def _materialize(self, value: SSAValue) -> None:
        """Copy a value to its places, unless a kernel has written it there."""
        for origin, _ in self.resolver.origins(value, self.source.body.block):
            if origin not in self.done:
                self.done.add(origin)
                self._copy(origin, self.found.places[origin])

    def _is_kernel(self, op: Operation, found: OutputViews) -> bool:
        if type(op) not in (*COMPUTING, *KEEPING) or op.results[0] not in (
            *found.places,
            *found.read,
        ):
            return False
        return not (
            isinstance(op, layout.ScatterOp)
            and scattered(LiftCode(self.block, self.env), op, {op.input: Memory("", ())})
        )

    def _tile(self, op: KernelOp | ReshapeOp) -> None:
        """Launch a kernel of tile, whose operands are copied to memory."""
        for value in op.operands:
            if value in self.outs:
                self._materialize(value)
        if isinstance(op, KernelOp):
            self._kernel(op)
        else:
            self._reshape(op)
        for value in op.results:
            self._bind(value, self.buffers[value])

    def _compute(self, op: Any, found: OutputViews) -> None:
        """Launch a pattern that computes, as a kernel."""
        value = op.results[0]
        places = list(found.places.get(value, ()))
        if value in found.read:
            whole = next((p for p in places if isinstance(p, Memory)), None)
            if whole is None:
                whole = self._memory(value.type, _hint(value))
                places.append(whole)
            self.views[value] = whole
        if isinstance(op, layout.ScatterOp):
            self._copy(op.input, [Reorder(place, op.map.data) for place in places])
            return

        def emit(code: KernelBuilder) -> None:
            scope = self._scope(code, [*op.operands, *_captured(op)])
            code.compute_to(op, scope, places)

        self._launch_lift(emit, grid_of(op, self.local_size, self.most_items), _hint(value))

    def _copy(self, value: SSAValue, places: Sequence[View]) -> None:
        """Copy a view to an array of its own."""
        t = value.type
        grid = ONE
        if isinstance(t, TensorType) and t.get_num_dims():
            inner = sizes_of(t)[-len(AXES) :]
            extents = [[expression(size)] for size in reversed(inner)]
            extents += [[] for _ in range(len(AXES) - len(extents))]
            grid = spread(extents, self.local_size)

        def emit(code: KernelBuilder) -> None:
            scope = self._scope(code, [value])
            code.share_out(scope[value], places, t)

        self._launch_lift(emit, grid, _hint(value))

    def _scope(self, code: LiftCode, roots: Iterable[SSAValue]) -> Scope:
        """Scope of a kernel around its pattern: views, and numbers computed anew."""
        scope, needed = dict(self.views), set[Operation]()
        pending = list(roots)
        while pending:
            value = pending.pop()
            op = value.owner
            if value in scope or not isinstance(op, Operation) or op in needed:
                continue
            if op.parent is self.source.body.block:
                needed.add(op)
                pending += [*op.operands, *_captured(op)]
        everything = OutputViews(read={r for op in needed for r in op.results})
        for op in self.source.body.block.ops:
            if op in needed:
                code.op(op, scope, everything)
        return scope

    def _launch_lift(self, emit: Any, grid: Grid, hint: str) -> None:
        """Add a kernel, unless the same is there already, and launch it."""
        name, found = self.kernel_name(hint), list[Trace]()
        traces = found if self.tracing else None
        builder = KernelBuilder([*self.names], self.facts, grid, traces, self._memory)
        kernel = builder.build(emit, name)
        self.traces[name] = found
        self.warnings |= builder.warnings
        for op in kernel.function.walk():
            if isinstance(op.location, UnknownLoc):
                op.location = self.source.location
        same = self.own.setdefault(_structure(kernel.function), kernel)
        operands = [self._flat(b) for b in kernel.buffers]
        operands += [self.index.variables[n] for n in kernel.names]
        self.builder.insert(
            gpu.LaunchFuncOp(
                SymbolRefAttr(self.module_name, [same.function.sym_name.data]),
                [self._value(e) for e in kernel.grid],
                [self.index.constant(n) for n in kernel.block],
                kernelOperands=operands,
            )
        )

    # -- the end ---------------------------------------------------------------------------

    def _result_name(self, k: int, value: SSAValue) -> str:
        attrs = self.source.res_attrs.data[k].data if self.source.res_attrs else {}
        name = attrs.get(NAME)
        return name.data if isinstance(name, StringAttr) else _hint(value)

    def _returned(self, op: func.ReturnOp, results: Sequence[Memory | None]) -> func.FuncOp:
        """Return the results' buffers."""
        buffers: list[SSAValue] = []
        for value, place in zip(op.operands, results, strict=True):
            buffer = place.buffer if place is not None else self.buffers[value]
            assert isinstance(buffer, SSAValue)
            buffers.append(buffer)
        self._free_before_return(buffers)
        return self.finish(buffers)

    def _free_before_return(self, kept: Sequence[SSAValue]) -> None:
        """Free intermediates after their last use."""
        origins = {self.origin.get(b, b) for b in kept}
        for op in list(self.block.ops):
            if isinstance(op, gpu.AllocOp) and op.result not in origins:
                if any(isinstance(u.operation, gpu.DeallocOp) for u in op.result.uses):
                    continue
                users = {u for u in _users(op.result) if not isinstance(u, gpu.DeallocOp)}
                last = [x for x in self.block.ops if x in users]
                if last:
                    free = gpu.DeallocOp(op.result)
                    Rewriter.insert_op(free, InsertPoint.after(last[-1]))
                else:
                    Rewriter.erase_op(op)


def _users(value: SSAValue) -> Iterator[Operation]:
    """Users of a buffer, also as a memref of another shape."""
    for use in value.uses:
        yield use.operation
        if isinstance(use.operation, memref.ReinterpretCastOp):
            yield from _users(use.operation.results[0])


def _hint(value: SSAValue) -> str:
    if value.name_hint:
        return value.name_hint
    return getattr(value.owner, "name", "value").rpartition(".")[2]


def _structure(function: gpu.FuncOp) -> str:
    """Text of a kernel but for names."""
    plain = function.clone()
    plain.sym_name = StringAttr("kernel")
    for op in plain.walk():
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*op.results, *arguments):
            value.name_hint = None
    return str(plain)


def _captured(op: Operation) -> list[SSAValue]:
    """Values from around an op that its regions use."""
    return [
        v
        for inner in op.walk()
        if inner is not op
        for v in inner.operands
        if not op.is_ancestor(v.owner)
    ]
