"""Emission of the patterns of a low-level lift program in a nest."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from typing_extensions import override
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    TensorType,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiledialect.dialects.lift import layout, maps, reductions, values
from tiledialect.dialects.lift.attributes import Order, expression
from tiledialect.dialects.lift.base import FunctionOp, LiftOp, YieldOp
from tiledialect.dialects.lift.binding import bind
from tiledialect.dialects.lift.sharing import SHARED, holders, maps_own
from tiledialect.dialects.lift.types import as_array, leading
from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.tile.base import TileOp
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Expr, floordiv, maximum, minimum
from tiledialect.index.integer.ranges import Env
from tiledialect.lowering.lift_to_nest.grid import ONE, Grid, axes_of
from tiledialect.lowering.lift_to_nest.memory import SERIAL, UNROLL, VECTOR
from tiledialect.lowering.lift_to_nest.results import (
    computes_vectors,
    copies_of,
    is_compound,
    is_elementwise,
    require_visible,
    space_of,
    writes_vectors,
)
from tiledialect.lowering.lift_to_nest.sizes import OpenSizeError
from tiledialect.lowering.lift_to_nest.sliding import LiftWindows
from tiledialect.lowering.lift_to_nest.views import views
from tiledialect.lowering.lift_to_nest.views.layout import LAYOUTS, Scope, scattered
from tiledialect.lowering.lift_to_nest.views.output_views import (
    OutputViews,
    PlaceResolver,
    output_views,
)
from tiledialect.lowering.lift_to_nest.views.views import View, ViewAccess, made_by
from tiledialect.lowering.nest.utils.builder import GLOBAL, PRIVATE

MAX_UNROLLED_ITERATIONS = 8
"""Maximum number of iterations of one type that are unrolled; more are a loop."""


class LiftCode(LiftWindows):
    """Emits one kernel."""

    def __init__(self, block: Block, env: Env, grid: Grid = ONE):
        super().__init__(block, env, grid)
        self.resolver = PlaceResolver(env)
        self.places: dict[SSAValue, list[View]] = {}
        """Places of the values that are being computed."""

    # -- blocks ----------------------------------------------------------------------------

    def run(
        self,
        block: Block,
        scope: Scope,
        outs: Mapping[SSAValue, Sequence[View]],
        wanted: Sequence[SSAValue] = (),
    ) -> Scope:
        """Emit the ops of a block; values with places are written there, others are read."""
        found = output_views(self.resolver, block, outs, wanted)
        outer, self.places = self.places, {}
        for op in block.ops:
            if isinstance(op, YieldOp | func.ReturnOp):
                break
            self.op(op, scope, found)
        done, self.places = self.places, outer
        rest = [(v, places) for v, places in found.places.items() if v not in done]
        # Numbers are all read before the first is written: they may be old values of accumulators.
        numbers = [(self.read(scope[v]), places) for v, places in rest if not is_compound(v.type)]
        for value, places in numbers:
            self.write(value, places)
        for v, places in rest:
            if is_compound(v.type):
                self.copy(scope[v], places, v.type)
        return scope

    def op(self, op: Operation, scope: Scope, found: OutputViews) -> None:
        """Emit an op of a block, or note its view."""
        if not any(r in found.read or r in found.places for r in op.results):
            return
        try:
            self._op(op, scope, found)
        except OpenSizeError as error:
            if error.span is not None:
                raise
            raise OpenSizeError.at(op, error.message) from None

    def _op(self, op: Operation, scope: Scope, found: OutputViews) -> None:
        result = op.results[0]
        if isinstance(op, layout.ScatterOp) and (view := scattered(self, op, scope)) is not None:
            scope[result] = made_by(op, view)
        elif type(op) in KEEPING:
            scope[result] = KEEPING[type(op)](self, op, scope)
        elif type(op) in COMPUTING or writes_vectors(op, found):
            self.compute(op, scope, found)
        elif (view := LAYOUTS.get(type(op))) is not None:
            scope[result] = made_by(op, view(self, op, scope))
        elif isinstance(op, TileOp):
            scope[result] = made_by(op, self.pointwise(op, scope))
        elif op.regions or isinstance(op, LiftOp):
            raise TileError.at(op, f"{op.name} cannot be part of a kernel")
        else:
            self.scalar(op, scope)

    def compute(self, op: Any, scope: Scope, found: OutputViews) -> None:
        """Emit a pattern that goes through arrays itself, and writes its result."""
        result = op.results[0]
        places = list(found.places.get(result, ()))
        if result in found.read:
            require_visible(op)
            scope[result] = self.keep(op, result.type, result.name_hint or op.pattern())
            places.append(scope[result])
        COMPUTING.get(type(op), LiftCode.map_seq)(self, op, scope, places)
        self.places[result] = places

    def keep(self, op: Any, t: Attribute, hint: str) -> View:
        """Allocate memory for the result of an op."""
        space = space_of(op)
        if space == PRIVATE and (shared_by := holders(op)):
            return self.allocate_held(shared_by, t, hint)
        if space != GLOBAL:
            return self.allocate(t, space, hint, copies_of(op))
        alone = maps_own(op)
        shared = not alone and any(isinstance(x, SHARED) for x in op.walk())
        out = axes_of(op) if alone else ()
        axes = [a for a in self.free if a not in out and not (shared and a[:5] != "group")]
        return self.allocate_global(t, hint, axes, shared)

    @override
    def body(
        self, op: FunctionOp, scope: Scope, arguments: Sequence[View], places: Sequence[View] = ()
    ) -> View:
        """Emit a function; its result is written to places if there are any."""
        inner = {**scope, **dict(zip(op.block.args, arguments, strict=True))}
        if places:
            self.run(op.block, inner, {op.yielded: places})
            return views.Nowhere()
        self.run(op.block, inner, {}, [op.yielded])
        return inner[op.yielded]

    def compute_to(self, op: Any, scope: Scope, places: Sequence[View]) -> None:
        """Emit a pattern that computes, and write its result."""
        if type(op) in KEEPING:
            self.copy(KEEPING[type(op)](self, op, scope), places, op.results[0].type)
        else:
            COMPUTING[type(op)](self, op, scope, places)

    def function(self, op: FunctionOp, scope: Scope) -> Callable[..., View]:
        """Function of a pattern, emitted where it is applied."""
        return lambda *arguments: self.body(op, scope, arguments)

    # -- maps ------------------------------------------------------------------------------

    def map_by(self, op: Any, scope: Scope, places: Sequence[View]) -> None:
        """Emit a map that work-groups or work-items share out."""
        axes = axes_of(op)
        if missing := [axis for axis in axes if axis not in self.free]:
            raise TileError.at(
                op, f"{op.pattern()} stands in a map that shares out {missing[0]} already"
            )
        size = expression(leading(as_array(op.input, op.pattern())))
        with self.shared(axes, size, axes[0][-1]) as i:
            self._step(op, scope, places, i)

    def map_seq(
        self, op: Any, scope: Scope, places: Sequence[View], role: LoopRole = SERIAL
    ) -> None:
        """Emit a map by one work-item."""
        size = expression(leading(as_array(op.input, op.pattern())))
        with self.span(role, size, "i") as i:
            self._step(op, scope, places, i)

    def map_unroll(self, op: Any, scope: Scope, places: Sequence[View]) -> None:
        """Emit an unrolled map."""
        self.map_seq(op, scope, places, UNROLL)

    def map_vec(self, op: maps.MapVecOp, scope: Scope, places: Sequence[View]) -> None:
        """Emit a map by vector instructions."""
        assert isinstance(op.input.type, VectorType)
        with self.span(VECTOR, Expr.const(op.input.type.get_shape()[0]), "lane") as lane:
            self._step(op, scope, places, lane)

    def _step(self, op: FunctionOp, scope: Scope, places: Sequence[View], i: Expr) -> None:
        element = ViewAccess(scope[op.operands[0]], i, origin=op)
        self.body(op, scope, [element], [ViewAccess(place, i, origin=op) for place in places])

    # -- reductions ------------------------------------------------------------------------

    def reduce(self, op: Any, scope: Scope) -> View:
        """Emit a reduction by one work-item, in an accumulator."""
        if self.lanes:
            self.warn(
                op,
                f"{op.pattern()} is done separately for each number of a vector; map_seq in place "
                "of the map around it keeps its result",
            )
        role = UNROLL if isinstance(op, reductions.ReduceSeqUnrollOp) else SERIAL
        t = op.initial.type
        require_visible(op)
        total = self.keep(op, t, "acc")
        self.copy(scope[op.initial], [total], t)
        with self.elements(op, scope, role) as element:
            arguments = [total, element]
            if self._may_overwrite(op):
                self.body(op, scope, arguments, [total])
            else:
                new = self.keep(op, t, "next")
                self.body(op, scope, arguments, [new])
                self.copy(new, [total], t)
        return total

    @contextmanager
    def elements(self, op: Any, scope: Scope, role: LoopRole) -> Generator[View]:
        """Build the loop over the elements to reduce; a map's vectors are computed once each."""
        numbers = op.input.owner
        made = numbers.input.owner if isinstance(numbers, layout.AsScalarOp) else None
        if made is None or not computes_vectors(made) or made.result not in scope:
            with self.span(role, expression(leading(as_array(op.input, op.pattern()))), "k") as k:
                yield ViewAccess(scope[op.input], k, origin=op)
            return
        t = as_array(made.result, op.pattern())
        assert isinstance(t.element_type, VectorType)
        with self.span(role, expression(leading(t)), "k") as k:
            lanes = self.allocate(t.element_type, PRIVATE, "lanes")
            self.body(made, scope, [ViewAccess(scope[made.input], k, origin=op)], [lanes])
            with self.span(UNROLL, Expr.const(t.element_type.get_shape()[0]), "lane") as lane:
                yield ViewAccess(lanes, lane, origin=op)

    def _may_overwrite(self, op: Any) -> bool:
        """Whether a reduction may change its accumulator while it computes the next one.

        Numbers are all read before one is written; an array must be mapped element by element.
        """
        total = op.block.args[0]
        if isinstance(total.type, TensorType):
            return all(is_elementwise(use.operation, op.yielded) for use in total.uses)
        origins = self.resolver.origins(op.yielded, op.block)
        return not any(is_compound(origin.type) for origin, _ in origins)

    def iterate(self, op: reductions.IterateOp, scope: Scope, places: Sequence[View]) -> None:
        """Emit a function applied again and again."""
        value, count = scope[op.initial], op.count.data.value
        steps = list(op.steps())
        if not steps and (count is None or count > MAX_UNROLLED_ITERATIONS):
            self._iterate_in_loop(op, scope, places)
            return
        t = op.initial.type
        found: list[tuple[Mapping[str, Any], Attribute]] = [*steps] or [({}, t)] * (count or 0)
        for k, (sizes, t) in enumerate(found):
            bound = op.clone()
            bind(bound, sizes)
            last = k + 1 == len(found)
            to = list(places) if last else [self.keep(op, t, "iterated")]
            self.body(bound, scope, [value], to)
            value = to[0]
        if not found:
            self.copy(value, places, t)

    def _iterate_in_loop(
        self, op: reductions.IterateOp, scope: Scope, places: Sequence[View]
    ) -> None:
        t = op.initial.type
        now, new = (self.keep(op, t, hint) for hint in ("iterated", "next"))
        self.copy(scope[op.initial], [now], t)
        with self.span(SERIAL, expression(op.count.data), "time"):
            self.body(op, scope, [now], [new])
            self.copy(new, [now], t)
        self.copy(now, places, t)

    def search(self, op: reductions.SearchOp, scope: Scope) -> View:
        """Emit a search by halves or from the first element on, until the function gives 0."""
        t = as_array(op.input, "search")
        size = expression(leading(t))
        low, high, found = (self.allocate(i32, PRIVATE, h) for h in ("low", "high", "found"))
        for place, start in ((low, Expr()), (high, size), (found, Expr.const(-1))):
            self.write(self._as_i32(start), [place])
        binary = op.order.data == Order.binary
        steps = Expr.const(size.value.bit_length() if size.value is not None else 32)
        with (
            self.span(SERIAL, steps if binary else size, "step"),
            self.where(self._is_less(self.read(low), self.read(high))),
        ):
            at = self.as_index(low, i32)
            if binary:
                at = floordiv(at + self.as_index(high, i32), 2)
            inside = maximum(0, minimum(at, size - 1))
            side = self.read(self.body(op, scope, [ViewAccess(scope[op.input], inside, origin=op)]))
            zero = self.scalars.constant(0, side.type)
            after = self._as_i32(at + 1)
            is_here = self.emit(arith.CmpiOp(side, zero, "eq"))
            is_after = self.emit(arith.CmpiOp(side, zero, "sgt"))
            here = self._as_i32(at)
            choose = self.scalars.select
            self.write(choose(is_here, here, self.read(found)), [found])
            new_low = choose(is_here, self.read(high), choose(is_after, after, self.read(low)))
            self.write(
                choose(is_after, self.read(high), choose(is_here, self.read(high), here)), [high]
            )
            self.write(new_low, [low])
        result = self.allocate(op.result.type, PRIVATE, "result")
        self.copy(scope[op.default], [result], op.result.type)
        with self.where(self._is_less(self._as_i32(Expr.const(-1)), self.read(found))):
            at = self.as_index(found, i32)
            self.copy(ViewAccess(scope[op.input], at), [result], op.result.type)
        return result

    def _as_i32(self, expr: Expr) -> SSAValue:
        return self.emit(arith.IndexCastOp(self.index(expr), i32))

    def _is_less(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(arith.CmpiOp(a, b, "slt"))

    def let(self, op: values.LetOp, scope: Scope, places: Sequence[View]) -> None:
        """Emit a function applied to a value."""
        self.body(op, scope, [scope[op.value]], places)

    def scatter(self, op: layout.ScatterOp, scope: Scope, places: Sequence[View]) -> None:
        """Emit a permutation whose inverse is no index expression."""
        to = [views.Reorder(place, op.map.data) for place in places]
        self.copy(scope[op.input], to, op.input.type)


COMPUTING: dict[type[Operation], Callable[[LiftCode, Any, Scope, Sequence[View]], None]] = {
    **dict.fromkeys((maps.MapGlbOp, maps.MapWrgOp, *SHARED), LiftCode.map_by),
    maps.MapSeqOp: LiftCode.map_seq,
    maps.MapSeqUnrollOp: LiftCode.map_unroll,
    maps.MapVecOp: LiftCode.map_vec,
    maps.MapSeqSlideOp: LiftCode.slide,
    reductions.IterateOp: LiftCode.iterate,
    values.LetOp: LiftCode.let,
    layout.ScatterOp: LiftCode.scatter,
}
"""Emission of ops that write their results."""

KEEPING: dict[type[Operation], Callable[[LiftCode, Any, Scope], View]] = {
    **dict.fromkeys(reductions.REDUCE_OPS, LiftCode.reduce),
    reductions.SearchOp: LiftCode.search,
}
"""Emission of ops that keep their results in memory of their own."""
