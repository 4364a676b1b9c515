"""lift-to-nest: low-level lift programs to nests in a `gpu.module`, and a host function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.context import Context
from xdsl.dialects import func, gpu, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnitAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.lift import layout, reductions, values
from tiledialect.dialects.lift.attributes import expression
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.binding import bind
from tiledialect.dialects.lift.types import all_sizes, is_array_type, names_in, sizes_of
from tiledialect.dialects.tile.base import TileOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.errors import TileError
from tiledialect.index.integer import Condition, Expr, at_least_zero, both, divides, floordiv
from tiledialect.index.ranges import Env
from tiledialect.index.simplify import simplify, simplify_condition
from tiledialect.index.size import Size
from tiledialect.lowering.device_limits import check_fits
from tiledialect.lowering.nest.grid import AXES, ONE, Grid, grid_of, spread
from tiledialect.lowering.nest.index_values import IndexValues
from tiledialect.lowering.nest.kernel import buffer_type
from tiledialect.lowering.nest.lift_code import COMPUTING, KEEPING, LiftCode, Scope, scattered
from tiledialect.lowering.nest.lift_kernel import KernelBuilder, LiftKernel, flat
from tiledialect.lowering.nest.lift_memory import Trace
from tiledialect.lowering.nest.routes import Router, Routes, routes
from tiledialect.lowering.nest.tile_to_nest import HostFunction, kernel_module
from tiledialect.lowering.nest.views import Memory, Parts, Reorder, View


@dataclass
class LiftHost(HostFunction):
    """Builds the host's side of a function with patterns: each that computes is a kernel."""

    local_size: int = 64
    """How many work-items a work-group has at most, where the program leaves it open."""
    tracing: bool = False
    """Whether to note how the accesses of each kernel are found."""
    traces: dict[str, list[Trace]] = field(default_factory=dict[str, "list[Trace]"])

    def __post_init__(self):
        super().__post_init__()
        self.index = IndexValues(self.block)
        self.names = _solvable_names(self.source)
        self.facts = _facts(self.source, self.names)
        self.env = Env(facts=[self.facts])
        self.router = Router(self.env)
        self.views: Scope = {}
        """Where inputs and results of kernels lie."""
        self.shapes: dict[SSAValue, tuple[Expr, ...]] = {}
        self.flats: dict[SSAValue, SSAValue] = {}
        self.own: dict[str, LiftKernel] = {}
        """The kernels of patterns by their texts: those that are alike are there once."""
        for old, new in zip(self.source.body.block.args, self.block.args, strict=True):
            self._adopt(old, new)
        self._find_sizes()

    @property
    def functions(self) -> list[gpu.FuncOp]:
        """The kernels, those of patterns last."""
        return [*super().functions, *(kernel.function for kernel in self.own.values())]

    # -- sizes -----------------------------------------------------------------------------

    def _find_sizes(self) -> None:
        """Compute the sizes that have names from those of the inputs."""
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

    def _adopt(self, value: SSAValue, buffer: SSAValue) -> None:
        """Note where a tensor lies."""
        assert isinstance(value.type, TensorType)
        sizes = tuple(map(expression, sizes_of(value.type)))
        self.shapes[buffer] = sizes
        self.views[value] = Memory(value.name_hint or "input", sizes, buffer)

    def _memory(self, t: Attribute, hint: str, outer: tuple[Expr, ...] = ()) -> View:
        """Buffers for the result of a kernel."""
        if isinstance(t, TupleType):
            return Parts(tuple(self._memory(part, hint, outer) for part in t.types))
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
        """The memref of one axis over a buffer."""
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
        """The host function."""
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
        self.found = routes(self.router, block, self.outs, kept)
        self.done: set[SSAValue] = set()
        for op in block.ops:
            if isinstance(op, KernelOp | ReshapeOp):
                self._tile(op)
            elif self._is_kernel(op, self.found):
                self._compute(op, self.found)
                self.done.add(op.results[0])
        for value in self.outs:
            self._settle(value)
        return self._returned(returned, results)

    def _result(self, k: int, value: SSAValue) -> Memory | None:
        """The place of a result, if it is not one that a kernel of tile has."""
        if isinstance(value.owner, KernelOp | ReshapeOp):
            return None
        place = self._memory(value.type, self._result_name(k, value))
        assert isinstance(place, Memory)
        self.outs.setdefault(value, []).append(place)
        return place

    def _operand(self, value: SSAValue) -> None:
        """Give what a kernel of tile takes from a pattern a place in memory."""
        owner = value.owner
        if value in self.buffers or not isinstance(owner, LiftOp | tensor.FromElementsOp):
            return
        place = self._memory(value.type, _hint(value))
        assert isinstance(place, Memory) and isinstance(place.buffer, SSAValue)
        self.outs.setdefault(value, []).append(place)
        self.buffers[value] = place.buffer

    def _settle(self, value: SSAValue) -> None:
        """See to it that a value is in its places."""
        for origin, _ in self.router.origins(value, self.source.body.block):
            if origin not in self.done:
                self.done.add(origin)
                self._copy(origin, self.found.places[origin])

    def _is_kernel(self, op: Operation, found: Routes) -> bool:
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
        """A kernel of tile, whose operands are made to lie in memory."""
        for value in op.operands:
            if value in self.outs:
                self._settle(value)
        if isinstance(op, KernelOp):
            self._kernel(op)
        else:
            self._reshape(op)
        for value in op.results:
            self._adopt(value, self.buffers[value])

    def _compute(self, op: Any, found: Routes) -> None:
        """A pattern that computes, as a kernel."""
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

        self._launch_lift(emit, grid_of(op, self.local_size), _hint(value))

    def _copy(self, value: SSAValue, places: Sequence[View]) -> None:
        """A view as an array of its own."""
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
        """What a kernel knows of the values around its pattern: views, and numbers anew."""
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
        everything = Routes(read={r for op in needed for r in op.results})
        for op in self.source.body.block.ops:
            if op in needed:
                code.op(op, scope, everything)
        return scope

    def _launch_lift(self, emit: Any, grid: Grid, hint: str) -> None:
        """Add a kernel, unless the same is there already, and launch it."""
        name, found = self.kernel_name(hint), list[Trace]()
        builder = KernelBuilder([*self.names], self.facts, grid, found if self.tracing else None)
        kernel = builder.build(emit, name)
        self.traces[name] = found
        for op in kernel.function.walk():
            op.location = self.source.location
        same = self.own.setdefault(_text(kernel.function), kernel)
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
        name = attrs.get("tile.name")
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


def _users(value: SSAValue) -> Iterator[Operation]:
    """What uses a buffer, also as a memref of another shape."""
    for use in value.uses:
        yield use.operation
        if isinstance(use.operation, memref.ReinterpretCastOp):
            yield from _users(use.operation.results[0])


def _hint(value: SSAValue) -> str:
    if value.name_hint:
        return value.name_hint
    return getattr(value.owner, "name", "value").rpartition(".")[2]


def _text(function: gpu.FuncOp) -> str:
    """What tells kernels apart: all but names."""
    plain = function.clone()
    plain.sym_name = StringAttr("kernel")
    for op in plain.walk():
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*op.results, *arguments):
            value.name_hint = None
    return str(plain)


def _captured(op: Operation) -> list[SSAValue]:
    """The values from around an op that its regions use."""
    return [
        v
        for inner in op.walk()
        if inner is not op
        for v in inner.operands
        if not op.is_ancestor(v.owner)
    ]


# -- sizes ---------------------------------------------------------------------------------------


def _solvable_names(function: func.FuncOp) -> dict[str, tuple[int, int, Expr]]:
    """Each name of a size, the axis of an input that tells it, and it in terms of `axis`."""
    found: dict[str, tuple[int, int, Expr]] = {}
    axes = [
        (size, number, axis)
        for number, t in enumerate(function.function_type.inputs)
        if isinstance(t, TensorType)
        for axis, size in enumerate(sizes_of(t))
    ]
    # Plain names first; of `2*N + 1`, N is (axis - 1) / 2.
    for size, number, axis in sorted(axes, key=lambda entry: len(entry[0].terms)):
        unknown = size.names - found.keys()
        if len(unknown) != 1:
            continue
        (name,) = unknown
        constant = Size(tuple(t for t in size.terms if name not in dict(t[0])))
        factor = (size - constant) / Size.of(name)
        if name not in factor.names:
            top, bottom = (expression(part) for part in factor.fraction)
            value = floordiv((Expr.var("axis") - expression(constant)) * bottom, top)
            found[name] = (number, axis, value)
    for op in function.walk():
        for t in (*op.result_types, *op.operand_types):
            if missing := names_in(t) - found.keys() - _local(op):
                raise TileError.at(op, f"no input tells what size {min(missing)} is")
    return found


def _local(op: Operation) -> frozenset[str]:
    """Names that only iterations around an op know."""
    found: frozenset[str] = frozenset()
    outer: Operation | None = op
    while outer is not None:
        if isinstance(outer, reductions.IterateOp):
            found |= names_in(outer.block.args[0].type)
        outer = outer.parent_op()
    return found


def _facts(function: func.FuncOp, names: Iterable[str]) -> Condition:
    """What is known about sizes: arrays have no less than 0 elements, quotients are exact."""
    known = {*names}
    found: dict[Condition, None] = dict.fromkeys(at_least_zero(Expr.var(n)) for n in names)
    for op in function.walk():
        for t in (
            *op.result_types,
            *(a.type for r in op.regions for b in r.blocks for a in b.args),
        ):
            for size in all_sizes(t):
                if size.names and size.names <= known:
                    top, bottom = (expression(part) for part in size.fraction)
                    found[at_least_zero(top)] = None
                    if bottom.value != 1:
                        found[divides(bottom, top)] = None
    return simplify_condition(both(*found))


# -- the pass ------------------------------------------------------------------------------------


def expand(function: func.FuncOp) -> None:
    """Write out iterations and lets around kernels, so that each step can be a kernel."""
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
            raise TileError.at(
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


def has_patterns(function: func.FuncOp) -> bool:
    """Whether a function has ops of lift, or inputs whose sizes have names."""
    has_names = any(names_in(t) for t in function.function_type.inputs if is_array_type(t))
    return has_names or any(isinstance(op, LiftOp) for op in function.walk())


def views_text(traces: Mapping[str, Sequence[Trace]]) -> str:
    """How the accesses of some kernels are found, as comments of MLIR."""
    texts = [
        text
        for name, found in traces.items()
        for text in (f"In {name}", *dict.fromkeys(map(str, found)))
    ]
    return "\n".join(f"// {line}" for text in texts for line in text.splitlines())


@dataclass(frozen=True)
class LiftToNestPass(ModulePass):
    """Lowers functions with patterns to nests in `gpu.module`s, and host functions.

    Each pattern that computes becomes a kernel, in which layout patterns are index expressions;
    maps whose functions compute nothing are layout, too. Names of sizes become arguments of the
    kernels. With `print_views` it is shown, before the module, how each access of an array is
    found: the views from the last one to memory, and the indices into each.
    """

    name = "lift-to-nest"

    local_size: int = 64
    """How many work-items a work-group has at most, where the program leaves it open."""

    index_width: int | None = None
    """The bits of the index arithmetic; by default 64 if a size is open."""

    print_views: bool | None = False
    """Whether to show the views of every access; `print-views` alone says so, too."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function that has patterns."""
        for function in [f for f in op.walk() if isinstance(f, func.FuncOp)]:
            if not has_patterns(function):
                continue
            region_dce(function.body)
            expand(function)
            host = LiftHost(
                function,
                f"{function.sym_name.data}_kernels",
                local_size=self.local_size,
                tracing=self.print_views is not False,
            )
            host_function = host.build()
            if host.tracing:
                print(views_text(host.traces))
            module = kernel_module(host, self.index_width or index_width(function))
            for kernel in host.functions:
                check_fits(op, kernel)
            Rewriter.replace_op(function, [module, host_function], [])
            op.attributes["gpu.container_module"] = UnitAttr()


SAFE = 2**30
"""Sizes below this leave room for sums of a few of them in 32 bits."""


def index_width(function: func.FuncOp) -> int:
    """The bits that the index arithmetic of a function of patterns takes."""
    return 32 if largest(function) < SAFE else 64


def is_open(function: func.FuncOp) -> bool:
    """Whether a function is of patterns alone, and leaves sizes of its inputs open."""
    types = function.function_type.inputs.data
    return (
        has_patterns(function)
        and not any(isinstance(op, TileOp) for op in function.walk())
        and any(names_in(t) for t in types)
    )


def largest(function: func.FuncOp) -> int:
    """The number of elements of the largest array; of one that is open it is not known."""
    most = 0
    for op in function.walk():
        for t in (*op.result_types, *op.operand_types):
            total = 1
            for size in all_sizes(t):
                total *= SAFE if size.value is None else max(1, size.value)
            most = max(most, total)
    return most
