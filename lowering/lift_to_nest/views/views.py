"""Views: layout patterns as index expressions into memory.

Building a view follows the data flow: a slide of a pad of an input is ``Slide(Pad(Memory))``. Using
one goes the other way: a path, the indices that choose an element from the outermost axis on, turns
from the path into the last view to one into memory, where it is a flat index. So no layout pattern
is ever executed. The same views give the places of results: an array that is joined after it was
computed is written through the split of its place (`output_views`).

Nothing here emits code; the elements of computed views are left open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from typing_extensions import override
from xdsl.ir import Operation

from tiledialect.dialects.lift.attributes import Boundary, IndexMap
from tiledialect.index.integer.expressions import (
    Condition,
    Expr,
    both,
    floordiv,
    less,
    less_equal,
    mod,
    select,
)
from tiledialect.lowering.lift_to_nest.views.paths import (
    Component,
    Path,
    first_component,
    indices,
    one,
    two,
)


class View:
    """Array, tuple or number."""


@dataclass(frozen=True)
class Memory(View):
    """Array of numbers in memory, one row after the other."""

    name: str
    sizes: tuple[Expr, ...]
    buffer: object = None
    """Buffer that code accesses."""
    is_ring: bool = False
    """Whether the first axis selects one of several copies."""

    def address(self, path: Path) -> Expr:
        """Flat index of an element."""
        total = Expr()
        for index, size in zip(indices(path), self.sizes, strict=True):
            total = total * size + index
        return total

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Computed(View):
    """Number that is computed where it is used."""

    value: Callable[[], object]

    def __str__(self) -> str:
        return "computed"


@dataclass(frozen=True)
class Index(View):
    """Number that is an index expression."""

    expr: Expr

    def __str__(self) -> str:
        return str(self.expr)


@dataclass(frozen=True)
class Nowhere(View):
    """Place of a value that nothing needs."""


@dataclass(frozen=True)
class Choice(View):
    """Choice between two views, each at the rest of the path, by a condition."""

    condition: Condition
    yes: tuple[View, Path]
    no: tuple[View, Path]


@dataclass(frozen=True)
class Layout(View, ABC):
    """View of other views."""

    origin: Operation | None = field(default=None, compare=False, kw_only=True)
    """Op of the program that the view is for."""

    @abstractmethod
    def behind(self, path: Path) -> tuple[View, Path]:
        """View behind this one, and the path into that."""


@dataclass(frozen=True)
class ViewAccess(Layout):
    """Element of an array."""

    input: View
    index: Expr

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        return self.input, (self.index, *path)

    def __str__(self) -> str:
        return f"access {self.index}"


@dataclass(frozen=True)
class Held(Layout):
    """Array whose elements are interleaved among the work-items along the outermost axes."""

    input: View
    """Elements of a work-item."""
    axes: tuple[tuple[str, Expr], ...]
    """Axis of the work-items, and their number, for each of the outermost axes."""

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        own = tuple(
            floordiv(index, count) if isinstance(index, Expr) else index
            for index, (_, count) in zip(path, self.axes, strict=False)
        )
        return self.input, (*own, *path[len(own) :])

    def element(self, index: Expr) -> View:
        """An element of the outermost axis."""
        (_, count), *rest = self.axes
        own = ViewAccess(self.input, floordiv(index, count))
        return Held(own, tuple(rest)) if rest else own

    def __str__(self) -> str:
        return f"held by {', '.join(axis for axis, _ in self.axes)}"


@dataclass(frozen=True)
class Ring(Layout):
    """Array from one element on, whose elements take turns in some places."""

    input: View
    start: Expr
    count: int
    owner: tuple[Expr, ...] = ()
    """Indices of the part of a place."""

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        index, rest = one(path)
        return self.input, (mod(self.start + index, self.count), *self.owner, *rest)

    def __str__(self) -> str:
        return f"ring({self.count}) from {self.start}"


@dataclass(frozen=True)
class Get(Layout):
    """Component of a tuple."""

    input: View
    number: int

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        return self.input, (Component(self.number), *path)

    def __str__(self) -> str:
        return f"get {self.number}"


@dataclass(frozen=True)
class Split(Layout):
    """Array in pieces, or vectors, of a size."""

    input: View
    size: Expr

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        outer, inner, rest = two(path)
        return self.input, (outer * self.size + inner, *rest)

    def __str__(self) -> str:
        return f"split({self.size})"


@dataclass(frozen=True)
class Join(Layout):
    """Pieces of a size, or vectors, one after the other."""

    input: View
    size: Expr

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        index, rest = one(path)
        return self.input, (floordiv(index, self.size), mod(index, self.size), *rest)

    def __str__(self) -> str:
        return f"join({self.size})"


@dataclass(frozen=True)
class Transpose(Layout):
    """Array with the outer two axes exchanged."""

    input: View

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        outer, inner, rest = two(path)
        return self.input, (inner, outer, *rest)

    def __str__(self) -> str:
        return "transpose"


@dataclass(frozen=True)
class Slide(Layout):
    """Windows of an array."""

    input: View
    size: Expr
    step: Expr

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        window, element, rest = two(path)
        return self.input, (window * self.step + element, *rest)

    def __str__(self) -> str:
        return f"slide({self.size}, {self.step})"


@dataclass(frozen=True)
class Pad(Layout):
    """Array of ``size`` elements, extended at the ends by its elements."""

    input: View
    left: Expr
    size: Expr
    boundary: Boundary

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        index, rest = one(path)
        return self.input, (BOUNDARIES[self.boundary](index - self.left, self.size), *rest)

    def __str__(self) -> str:
        return f"pad({self.left}, {self.boundary})"


def _clamp(index: Expr, size: Expr) -> Expr:
    inside = select(less(index, size), index, size - 1)
    return select(less_equal(0, index), inside, 0)


def _mirror(index: Expr, size: Expr) -> Expr:
    there_and_back = mod(index, size * 2)
    return select(less(there_and_back, size), there_and_back, size * 2 - 1 - there_and_back)


BOUNDARIES: dict[Boundary, Callable[[Expr, Expr], Expr]] = {
    Boundary.clamp: _clamp,
    Boundary.mirror: _mirror,
    Boundary.wrap: mod,
}
"""Index of the element for an index that may be outside, by boundary."""


@dataclass(frozen=True)
class PadConstant(Layout):
    """Array of ``size`` elements, extended at the ends by a value."""

    input: View
    left: Expr
    size: Expr
    value: View

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        index, rest = one(path)
        inside = index - self.left
        condition = both(less_equal(0, inside), less(inside, self.size))
        return Choice(condition, (self.input, (inside, *rest)), (self.value, rest)), ()

    def __str__(self) -> str:
        return f"pad_constant({self.left})"


@dataclass(frozen=True)
class Reorder(Layout):
    """Elements at the indices of a map."""

    input: View
    map: IndexMap

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        index, rest = one(path)
        return self.input, (self.map.expr.substitute({self.map.variable: index}), *rest)

    def __str__(self) -> str:
        return f"reorder({self.map})"


@dataclass(frozen=True)
class Slice(Layout):
    """Elements from one on."""

    input: View
    start: Expr

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        index, rest = one(path)
        return self.input, (index + self.start, *rest)

    def __str__(self) -> str:
        return f"slice({self.start})"


@dataclass(frozen=True)
class Concat(Layout):
    """Array of ``size`` elements, and the rest after it."""

    first: View
    size: Expr
    rest: View

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        index, rest = one(path)
        after = (index - self.size, *rest)
        return Choice(less(index, self.size), (self.first, path), (self.rest, after)), ()

    def __str__(self) -> str:
        return f"concat({self.size})"


@dataclass(frozen=True)
class TupleView(Layout):
    """View of each component of the tuples in an array, or of one tuple."""

    views: tuple[View, ...]

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        place, number = first_component(path)
        return self.views[number], (*path[:place], *path[place + 1 :])

    def __str__(self) -> str:
        return "zip"


@dataclass(frozen=True)
class Within(Layout):
    """Place of an array that becomes a component of tuples in an array."""

    input: View
    number: int

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        index, rest = one(path)
        return self.input, (index, Component(self.number), *rest)

    def __str__(self) -> str:
        return f"component {self.number}"


@dataclass(frozen=True)
class Only(Layout):
    """Place of a tuple of which one component is needed."""

    input: View
    number: int

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        place, number = first_component(path)
        if number != self.number:
            return Nowhere(), ()
        return self.input, (*path[:place], *path[place + 1 :])

    def __str__(self) -> str:
        return f"only {self.number}"


@dataclass(frozen=True)
class Everywhere(Layout):
    """Array, of any shape, of one number."""

    value: View

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        return self.value, ()

    def __str__(self) -> str:
        return "everywhere"


@dataclass(frozen=True)
class Mapped(Layout):
    """Array of a function's results for the elements of another."""

    input: View
    function: Callable[[View], View] = field(compare=False)

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        index, rest = one(path)
        return self.function(ViewAccess(self.input, index, origin=self.origin)), rest

    def __str__(self) -> str:
        return "map"


@dataclass(frozen=True)
class Generated(Layout):
    """Array of a function's results for indices along some axes."""

    axes: int
    function: Callable[..., View] = field(compare=False)

    @override
    def behind(self, path: Path) -> tuple[View, Path]:
        return self.function(*indices(path[: self.axes])), path[self.axes :]

    def __str__(self) -> str:
        return "generate"


def made_by(op: Operation, view: View) -> View:
    """Mark a view with the op that it is for."""
    return replace(view, origin=op) if isinstance(view, Layout) and not view.origin else view


Watch = Callable[[View, Path], None]


def resolve(view: View, path: Path, watch: Watch = lambda view, path: None) -> tuple[View, Path]:
    """Resolve a path into a view to a view of no other, and the path into that.

    ``watch`` is called with each view on the way and the path into it.
    """
    while isinstance(view, Layout):
        watch(view, path)
        view, path = view.behind(path)
    watch(view, path)
    return view, path
