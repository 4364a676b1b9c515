"""Loads and stores of the elements of views in a nest."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    TensorType,
    TupleType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiledialect.dialects.discardable import DOUBLE
from tiledialect.dialects.lift.attributes import expression
from tiledialect.dialects.lift.base import label
from tiledialect.dialects.lift.types import array, element_of, leading, sizes_of
from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.index.integer.expressions import (
    Comparison,
    Condition,
    Expr,
    Junction,
    Truth,
    both,
    equal,
    less,
    negate,
)
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import (
    is_multiple,
    operations,
    prove,
    simplify,
    simplify_condition,
)
from tiledialect.index.size import Size
from tiledialect.lowering.lift_to_nest.grid import AXES, ONE, Grid, axes_of
from tiledialect.lowering.lift_to_nest.sizes import OpenSizeError
from tiledialect.lowering.lift_to_nest.views.paths import Path, indices
from tiledialect.lowering.lift_to_nest.views.view_traces import Trace, ViewStep
from tiledialect.lowering.lift_to_nest.views.views import (
    Choice,
    Computed,
    Get,
    Held,
    Index,
    Layout,
    Memory,
    Nowhere,
    Ring,
    TupleView,
    View,
    ViewAccess,
    resolve,
)
from tiledialect.lowering.nest.utils.builder import LOCAL, PRIVATE, NestBuilder
from tiledialect.passes.diagnostics.reporting import placed
from tiledialect.rounding import ceil_div
from tiledialect.schedule.loops import Role

SERIAL, UNROLL, VECTOR = (LoopRole(role) for role in (Role.SERIAL, Role.UNROLL, Role.VECTOR))


class LiftMemory(NestBuilder):
    """Emits a nest whose loads and stores are at the elements of views."""

    def __init__(self, block: Block, env: Env, grid: Grid = ONE):
        super().__init__(block)
        self.env = env
        self.grid = grid
        self.guard: Condition = ALWAYS
        """Condition under which the values being computed are used."""
        self.free: dict[str, Expr] = {}
        """Numbers of the work-groups and work-items that do the same so far, by the axis."""
        self.taken: dict[str, Expr] = {}
        """Numbers of the work-groups and work-items that share out a map around."""
        self.steps: list[tuple[Expr, Expr]] = []
        """Indices and extents of the maps around that are shared out."""
        self.scratch: dict[SSAValue, bool] = {}
        """Global memory of this kernel alone, and whether the work-items of a group share it."""
        self.before = self.after = 0
        """Numbers of index operations of all accesses, as views compose them and simplified."""
        self.traces: list[Trace] | None = None
        """Trace of each access, if requested."""
        self.lanes: list[Expr] = []
        """Indices of the loops around that become vectors."""
        self.warnings: dict[str, None] = {}
        """Warnings of unexpected properties of the kernel."""

    def warn(self, op: Operation, text: str) -> None:
        """Warn the user about the lowering of an op."""
        self.warnings[placed(op, text)] = None

    # -- loops -----------------------------------------------------------------------------

    @contextmanager
    def span(
        self,
        role: LoopRole,
        upper: Expr,
        hint: str,
        *,
        lower: Expr | int = 0,
        step: Expr | int = 1,
    ) -> Generator[Expr]:
        """Build a loop, or a branch or nothing where there is at most one step; yield its index."""
        lower, upper, step = (simplify(e, self.env) for e in (lower, upper, step))
        outer = self.env
        if role != VECTOR and self.env.at_least(lower + step, upper):
            with self.when(less(lower, upper)):
                yield lower
            return
        if role == UNROLL and (upper - lower).value is None:
            raise OpenSizeError(f"a loop of {upper} steps is unrolled: {upper} must be a number")
        op = ForOp(self.names, role, upper, lower=lower, step=step)
        self.builder.insert(op)
        index = self.named(op.index, hint)
        (name,) = index.names
        self.env = self.env.with_range(name, lower, upper, step)
        self.lanes += [index] if role == VECTOR else []
        with self.inside(op.block):
            yield index
        del self.lanes[len(self.lanes) - (role == VECTOR) :]
        self.env = outer

    @contextmanager
    def shared(self, axes: Sequence[str], upper: Expr, hint: str) -> Generator[Expr]:
        """Build a loop that free work-groups or work-items share out; yield its index."""
        first, step = Expr(), Expr.const(1)
        for axis in axes:
            number, count = self.free[axis], self.counts[axis]
            first, step = first * count + number, step * count
        taken = {axis: self.free.pop(axis) for axis in axes}
        self.taken.update(taken)
        if step.value is not None and is_multiple(upper, step, self.env) and "group" not in axes[0]:
            # All work-items run as many steps, so that there may be barriers in them.
            with self.span(SERIAL, upper, "part", step=step) as part:
                yield self._enter_step(part + first, upper)
        else:
            with self.span(SERIAL, upper, hint, lower=first, step=step) as index:
                yield self._enter_step(index, upper)
        self.steps.pop()
        for axis in axes:
            self.free[axis] = self.taken.pop(axis)

    def _enter_step(self, index: Expr, upper: Expr) -> Expr:
        self.steps.append((index, upper))
        return index

    @property
    def counts(self) -> dict[str, Expr]:
        """Number of work-groups and work-items along each axis."""
        return self._counts

    def open_grid(self, counts: dict[str, Expr]) -> None:
        """Note the numbers of the work-groups and work-items that are free."""
        self._counts = counts

    # -- memory ----------------------------------------------------------------------------

    def allocate(self, t: Attribute, space: IntegerAttr, hint: str, copies: int = 1) -> View:
        """Allocate memory for values of a type: local memory for each owner of a map around.

        The part that the rest of the group shares is theirs alone.
        """
        owners = self._owners() if space == LOCAL else []
        outer = tuple(self.counts[a] for a in owners)
        view = self._allocate(t, outer, space, hint, copies=copies)
        for axis in owners:
            view = ViewAccess(view, self.taken[axis])
        return view

    def allocate_ring(self, t: Attribute, count: int, hint: str) -> Ring:
        """Allocate local memory in which values of a type take turns in so many places."""
        owners = self._owners()
        outer = (Expr.const(count), *(self.counts[a] for a in owners))
        view = self._allocate(t, outer, LOCAL, hint, is_ring=True)
        return Ring(view, Expr(), count, tuple(self.taken[a] for a in owners))

    def _owners(self) -> list[str]:
        """Axes of work-items that share out a map around."""
        items = [a for a in self.taken if not a.startswith("group")]
        return [a for a in items if self.counts[a].value != 1]

    def _allocate(
        self,
        t: Attribute,
        outer: tuple[Expr, ...],
        space: IntegerAttr,
        hint: str,
        *,
        is_ring: bool = False,
        copies: int = 1,
    ) -> View:
        again = partial(self._allocate, space=space, hint=hint, is_ring=is_ring, copies=copies)
        match t:
            case TupleType():
                return TupleView(tuple(again(part, outer) for part in t.types))
            case TensorType():
                sizes = tuple(simplify(expression(s), self.env) for s in sizes_of(t))
                return again(t.element_type, (*outer, *sizes))
            case VectorType():
                lanes = Expr.const(t.get_shape()[0])
                return again(t.element_type, (*outer, lanes))
            case _:
                shape = [size.value for size in outer]
                total = 1
                for size, number in zip(outer, shape, strict=True):
                    if number is None:
                        raise OpenSizeError(
                            f"{hint} is kept in the memory of a kernel, so that {size} must be "
                            "a number"
                        )
                    total *= number
                flat = [total] if outer else []
                if not is_ring:
                    return Memory(hint, outer, self.buffer(t, flat, space, hint, copies))
                count = shape[0] or 1
                buffer = self.buffer(t, [count, total // count], space, hint)
                assert isinstance(buffer.owner, Operation)
                buffer.owner.attributes[DOUBLE] = IntegerAttr(count, i64)
                return Memory(hint, outer, buffer, is_ring)

    def allocate_held(self, shared_by: Sequence[Operation], t: Attribute, hint: str) -> View:
        """Allocate private memory of each work-item for its elements of an array."""
        assert isinstance(t, TensorType)
        axes = tuple((axis, self.counts[axis]) for op in shared_by for axis in axes_of(op))
        sizes = sizes_of(t)
        own: list[Size] = []
        for size, (_, count) in zip(sizes, axes, strict=False):
            if size.value is None or count.value is None:
                raise OpenSizeError(f"work-items hold an array of {size}, which must be a number")
            own.append(Size.of(ceil_div(size.value, count.value)))
        kept = array((*own, *sizes[len(own) :]), t.element_type)
        return Held(self.allocate(kept, PRIVATE, hint), axes)

    def allocate_global(self, t: Attribute, hint: str, axes: Sequence[str], shared: bool) -> View:
        """Allocate global memory for values of a type, for each step of the maps around.

        Work-items that do the same, along some axes, have memory of their own.
        """
        groups = {f"group.{name}": axis.groups for name, axis in zip(AXES, self.grid, strict=True)}
        own = [(self.free[a], groups.get(a, self.counts[a])) for a in axes]
        apart = [*self.steps, *((i, size) for i, size in own if size.value != 1)]
        view = self.on_host(t, hint, tuple(simplify(size, self.env) for _, size in apart))
        self.scratch |= dict.fromkeys(_buffers(view), shared)
        for index, _ in apart:
            view = ViewAccess(view, index)
        return view

    def on_host(self, t: Attribute, hint: str, outer: tuple[Expr, ...]) -> View:
        """Allocate memory on the host for arrays of values of a type."""
        raise NotImplementedError

    # -- views -----------------------------------------------------------------------------

    def find(self, view: View, path: Path, kind: str) -> tuple[View, Path]:
        """Resolve a path into a view behind all layout, and trace it."""
        if self.traces is None:
            return resolve(view, path)
        steps: list[ViewStep] = []

        def watch(view: View, path: Path) -> None:
            shown = (simplify(s, self.env) if isinstance(s, Expr) else s for s in path)
            origin = view.origin if isinstance(view, Layout) else None
            pattern = "" if origin is None else label(origin)
            steps.append(ViewStep(str(view), tuple(shown), pattern))

        leaf, rest = resolve(view, path, watch)
        if isinstance(leaf, Memory) and (rest or len(steps) > 1):
            flat = simplify(leaf.address(rest), self.env)
            self.traces.append(Trace(leaf.name, kind, tuple(steps), flat))
        elif isinstance(leaf, Choice):
            test = simplify_condition(leaf.condition, self.env)
            self.traces.append(Trace("one of two", kind, tuple(steps[:-1]), test))
        return leaf, rest

    # -- reading ---------------------------------------------------------------------------

    def read(self, view: View, path: Path = ()) -> SSAValue:
        """Read the number at a path."""
        leaf, rest = self.find(view, path, "read")
        match leaf:
            case Memory():
                return self._load(leaf, rest, self.guard)
            case Computed(value):
                found = value()
                assert isinstance(found, SSAValue)
                return found
            case Index(expr):
                return self.index(expr)
            case Choice():
                return self._choose(leaf)
            case _:
                raise AssertionError(f"{leaf} has no elements")

    def _load(
        self,
        memory: Memory,
        path: Path,
        condition: Condition,
        default: SSAValue | None = None,
    ) -> SSAValue:
        env, self.env = self.env, self.env.assume(self.guard)
        access = self._address(memory, path)
        self.env = env
        value = self.load(self.memory_of(memory), access, condition, default)
        value.name_hint = value.name_hint or memory.name
        return value

    def _address(self, memory: Memory, path: Path) -> list[Expr]:
        written = [memory.address(path)]
        if memory.is_ring:
            rest = replace(memory, sizes=memory.sizes[1:])
            written = [*indices(path[:1]), rest.address(path[1:])]
        access = [simplify(e, self.env) for e in written]
        self.before += sum(map(operations, written))
        self.after += sum(map(operations, access))
        t = self.memory_of(memory).type
        return access if isinstance(t, MemRefType) and t.get_num_dims() else []

    def memory_of(self, memory: Memory) -> SSAValue:
        """Memory that the nest accesses."""
        assert isinstance(memory.buffer, SSAValue)
        return memory.buffer

    def _choose(self, choice: Choice) -> SSAValue:
        here = self.env.assume(self.guard)
        condition = simplify_condition(choice.condition, here)
        if isinstance(condition, Truth):
            return self.read(*(choice.yes if condition.value else choice.no))
        view, path = self.find(*choice.yes, "read")
        no = self._number(*choice.no)
        if isinstance(view, Choice) and no is not None and self._number(*view.no) == no:
            return self._choose(replace(view, condition=both(condition, view.condition)))
        if isinstance(view, Memory):
            with self.guarded(negate(condition)):
                default = self.read(*choice.no)
            with self.guarded(condition):
                return self._load(view, path, self.guard, default)
        with self.guarded(condition):
            yes = self.read(*choice.yes)
        with self.guarded(negate(condition)):
            no = self.read(*choice.no)
        return self.scalars.select(self.truth(condition), yes, no)

    def _number(self, view: View, path: Path) -> SSAValue | Attribute | None:
        """Number at a path, or its value if that is constant; None if it is in memory."""
        leaf, _ = resolve(view, path)
        if not isinstance(leaf, Computed):
            return None
        found = leaf.value()
        assert isinstance(found, SSAValue)
        return found.owner.value if isinstance(found.owner, arith.ConstantOp) else found

    @contextmanager
    def guarded(self, condition: Condition) -> Generator[None]:
        """Restrict the computed values' uses to a condition."""
        outer, self.guard = self.guard, both(self.guard, condition)
        yield
        self.guard = outer

    def truth(self, condition: Condition) -> SSAValue:
        """Emit the value of a condition on indices."""
        match condition:
            case Truth(value):
                return self.scalars.constant(int(value), i1)
            case Comparison(_, kind):
                left, sign, right = condition.sides
                name = {"<": "slt", "<=": "sle"}.get(sign, "ne" if kind == "!=" else "eq")
                return self.emit(arith.CmpiOp(self.index(left), self.index(right), name))
            case Junction(kind, parts):
                op = arith.AndIOp if kind == "and" else arith.OrIOp
                first, *rest = map(self.truth, parts)
                for part in rest:
                    first = self.emit(op(first, part))
                return first

    # -- writing ---------------------------------------------------------------------------

    def write(self, value: SSAValue, places: Sequence[View], path: Path = ()) -> None:
        """Write a number to its places."""
        for place in places:
            leaf, rest = self.find(place, path, "written")
            if isinstance(leaf, Nowhere):
                continue
            assert isinstance(leaf, Memory)
            buffer = self.memory_of(leaf)
            t = buffer.type
            assert isinstance(t, MemRefType)
            condition = self._one_of_all(leaf, t.memory_space)
            value.name_hint = value.name_hint or leaf.name
            self.store(value, buffer, self._address(leaf, rest), condition)

    def _one_of_all(self, memory: Memory, space: Attribute) -> Condition:
        """Condition that this is the first of the work-items that do the same in one memory."""
        shared = self.scratch.get(memory.buffer)  # pyright: ignore[reportArgumentType]
        if space == PRIVATE or shared is False:
            return ALWAYS
        local = space == LOCAL or shared
        free = [e for axis, e in self.free.items() if not (local and axis.startswith("group"))]
        return both(*(equal(number, 0) for number in free))

    def copy(
        self,
        view: View,
        places: Sequence[View],
        t: Attribute,
        path: Path = (),
        role: LoopRole = SERIAL,
    ) -> None:
        """Copy a whole value."""
        match t:
            case TupleType():
                for k, part in enumerate(t.types):
                    self.copy(Get(view, k), [Get(p, k) for p in places], part, path, role)
            case TensorType() if t.get_num_dims():
                held = next((v for v in (view, *places) if isinstance(v, Held)), None)
                size = expression(leading(t))
                axis = None if held is None else held.axes[0][0]
                loop = self.shared((axis,), size, axis[-1]) if axis else self.span(role, size, "i")
                with loop as i:
                    inner = [_element(p, i) for p in places]
                    self.copy(_element(view, i), inner, element_of(t), path, role)
            case VectorType():
                with self.span(VECTOR, Expr.const(t.get_shape()[0]), "lane") as lane:
                    inner = [ViewAccess(p, lane) for p in places]
                    self.copy(ViewAccess(view, lane), inner, t.element_type, path, role)
            case _:
                self.write(self.read(view, path), places, path)

    # -- indices that are data ---------------------------------------------------------------

    def as_index(self, view: View, t: Attribute) -> Expr:
        """Integer as an index expression."""
        leaf, _ = resolve(view, ())
        if isinstance(leaf, Index):
            return leaf.expr
        value = self.read(view)
        if not isinstance(t, IndexType):
            value = self.emit(arith.IndexCastOp(value, IndexType()))
        return self.named(value, "at")

    def known(self, condition: Condition) -> bool:
        """Whether a condition is known to hold."""
        return prove(condition, self.env) is True


def _element(view: View, index: Expr) -> View:
    return view.element(index) if isinstance(view, Held) else ViewAccess(view, index)


def _buffers(view: View) -> Iterator[SSAValue]:
    """Buffers of a view of memory."""
    if isinstance(view, TupleView):
        for part in view.views:
            yield from _buffers(part)
    elif isinstance(view, Memory):
        assert isinstance(view.buffer, SSAValue)
        yield view.buffer


__all__ = ["AXES", "LiftMemory"]
