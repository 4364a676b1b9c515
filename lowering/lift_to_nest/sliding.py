"""Emission of windows that slide over an array, of which only the new elements are loaded."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import TensorType

from tiledialect.dialects.lift import maps
from tiledialect.dialects.lift.attributes import expression
from tiledialect.dialects.lift.base import FunctionOp
from tiledialect.dialects.lift.sharing import local_elements, shared_by
from tiledialect.dialects.lift.types import as_array, element_of, is_number, leading
from tiledialect.index.integer.expressions import Expr, less
from tiledialect.lowering.lift_to_nest.grid import axes_of, extent
from tiledialect.lowering.lift_to_nest.memory import SERIAL, UNROLL
from tiledialect.lowering.lift_to_nest.scalar_code import LiftScalars
from tiledialect.lowering.lift_to_nest.sizes import OpenSizeError
from tiledialect.lowering.lift_to_nest.views.layout import Scope
from tiledialect.lowering.lift_to_nest.views.views import Ring, TupleView, View, ViewAccess
from tiledialect.lowering.nest.utils.builder import PRIVATE


@dataclass(frozen=True)
class Slide:
    """Windows to emit."""

    op: maps.MapSeqSlideOp
    scope: Scope
    places: Sequence[View]
    size: int
    step: int

    @property
    def kept(self) -> int:
        """Number of elements that a window has in common with the next."""
        return max(0, self.size - self.step)

    @property
    def count(self) -> Expr:
        """Number of windows."""
        assert isinstance(self.op.result.type, TensorType)
        return expression(leading(self.op.result.type))


@dataclass(frozen=True)
class Elements:
    """Elements of windows that a group keeps in local memory."""

    made: maps.MapOp
    """Map that makes them."""
    source: View
    ring: Ring


class LiftWindows(LiftScalars):
    """Emits the windows that ``map_seq_slide`` goes through."""

    def body(
        self, op: FunctionOp, scope: Scope, arguments: Sequence[View], places: Sequence[View] = ()
    ) -> View:
        """Emit a function; its result is written to places if there are any."""
        raise NotImplementedError

    def slide(self, op: maps.MapSeqSlideOp, scope: Scope, places: Sequence[View]) -> None:
        """Emit the function of every window."""
        size, step = op.size.data.value, op.step.data.value
        if size is None or step is None:
            raise OpenSizeError.at(
                op,
                f"map_seq_slide({op.size.data}, {op.step.data}) keeps its windows in the memory of "
                f"a kernel, so that {op.size.data if size is None else op.step.data} must be a "
                "number",
            )
        slide = Slide(op, scope, places, size, step)
        if made := local_elements(op):
            self._by_group(slide, made)
        else:
            self._by_item(slide)

    def _on_window(self, slide: Slide, window: View, i: Expr) -> None:
        places = [ViewAccess(place, i, origin=slide.op) for place in slide.places]
        self.body(slide.op, slide.scope, [window], places)

    # -- in registers ----------------------------------------------------------------------

    def _by_item(self, slide: Slide) -> None:
        """Emit windows that move through the registers of a work-item."""
        op, source = slide.op, slide.scope[slide.op.input]
        (argument,) = op.block.args
        window = self.allocate(argument.type, PRIVATE, argument.name_hint or "window")
        element = element_of(as_array(op.input, "map_seq_slide"))

        def load(numbers: range, base: Expr) -> None:
            for k in numbers:
                place = ViewAccess(window, Expr.const(k), origin=op)
                self.copy(ViewAccess(source, base + k, origin=op), [place], element, role=UNROLL)

        load(range(slide.kept), Expr())
        with self.span(SERIAL, slide.count, "i") as i:
            load(range(slide.kept, slide.size), i * slide.step)
            self._on_window(slide, window, i)
            for k in range(slide.kept):
                moved = ViewAccess(window, Expr.const(k + slide.step))
                self.copy(moved, [ViewAccess(window, Expr.const(k))], element, role=UNROLL)

    # -- in local memory -------------------------------------------------------------------

    def _by_group(self, slide: Slide, made: Sequence[maps.MapOp]) -> None:
        """Emit windows whose elements take turns in the places of a ring in local memory.

        There is a place for every element of a window and for those that are new in the next, so
        that work-items write none that others still read: one barrier a step is enough.
        """
        parts: list[Elements] = []
        for m in made:
            ring = self.allocate_ring(m.yielded.type, slide.size + slide.step, "window")
            parts.append(Elements(m, slide.scope[m.input], replace(ring, origin=slide.op)))
        ahead = all(map(self._have_one_each, made))
        new = range(slide.kept, slide.size)
        self._make_elements(parts, slide, range(slide.size if ahead else slide.kept), Expr())
        with self.span(SERIAL, slide.count, "i") as i, ExitStack() as last:
            first = i * slide.step
            if ahead:
                last.enter_context(self._fetched(parts, slide, new, i))
            else:
                self._make_elements(parts, slide, new, first)
            windows = tuple(replace(part.ring, start=first) for part in parts)
            self._on_window(slide, windows[0] if len(made) == 1 else TupleView(windows), i)

    def _have_one_each(self, made: maps.MapOp) -> bool:
        """Whether work-items make the parts of an element all at once, each a number."""
        shared = shared_by(made.yielded)
        at_once = all(
            self.env.at_least(self.counts[axis], extent(m.input))
            for m in shared
            for axis in axes_of(m)
        )
        return at_once and len(shared) > 0 and is_number(shared[-1].yielded.type)

    @contextmanager
    def _fetched(
        self, parts: Sequence[Elements], slide: Slide, new: range, i: Expr
    ) -> Generator[None]:
        """Make the new elements of the next window before what is done with one, and keep them in
        registers until after it."""
        first, more = (i + 1) * slide.step, less(i + 1, slide.count)
        held = [
            (part, k, self.allocate_held(shared_by(t), t.type, "fetched"))
            for part in parts
            for t in [part.made.yielded]
            for k in new
        ]
        with self.when(more):
            for part, k, registers in held:
                source = ViewAccess(part.source, first + k, origin=part.made)
                self.body(part.made, slide.scope, [source], [registers])
        yield
        with self.when(more):
            for part, k, registers in held:
                place = ViewAccess(part.ring, first + k, origin=part.made)
                self.copy(registers, [place], part.made.yielded.type)

    def _make_elements(
        self, parts: Sequence[Elements], slide: Slide, numbers: range, first: Expr
    ) -> None:
        """Make some elements of the window that begins at one."""
        for part in parts:
            for k in numbers:
                new = ViewAccess(part.source, first + k, origin=part.made)
                place = ViewAccess(part.ring, first + k, origin=part.made)
                self.body(part.made, slide.scope, [new], [place])
