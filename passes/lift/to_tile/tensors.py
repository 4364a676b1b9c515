"""Tensors of the elements of arrays: elementwise ops and contractions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, count
from math import prod

from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import GatherOp, ReshapeOp
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.lift.to_tile.elements import (
    COMBINE,
    ZERO,
    AffineIndex,
    Array,
    Element,
    Load,
    NotCombiningError,
    Product,
    Running,
)

INDICES = "ijklmnpqrs"
MAX_FACTORS = 3
"""Maximum number of elements that a contraction combines."""


def short_names() -> Iterator[str]:
    """Names for the indices of a contraction."""
    return chain(INDICES, (f"{INDICES[0]}{k}" for k in count()))


@dataclass
class Tensors:
    """Makes tensors of elements."""

    builder: TensorBuilder
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """Size of each axis, in the order in which the axes were made: outer ones first."""
    parts: dict[str, tuple[str, str]] = field(default_factory=dict[str, "tuple[str, str]"])
    """Axes that an axis joins, the inner one second: elements have these."""

    def axis(self, size: int) -> str:
        """Make a new axis."""
        name = f"i{len(self.sizes)}"
        self.sizes[name] = size
        return name

    # -- joined axes -----------------------------------------------------------------------

    def joined(self, outer: str, inner: str) -> str:
        """Make an axis along two others."""
        name = self.axis(self.sizes[outer] * self.sizes[inner])
        self.parts[name] = outer, inner
        return name

    def leaves(self, *axes: str) -> tuple[str, ...]:
        """Axes of elements that make up axes."""
        return tuple(
            leaf
            for axis in axes
            for leaf in (self.leaves(*self.parts[axis]) if axis in self.parts else (axis,))
        )

    def like(self, axis: str) -> str:
        """Make a new axis that is made up like another."""
        if axis not in self.parts:
            return self.axis(self.sizes[axis])
        outer, inner = self.parts[axis]
        return self.joined(self.like(outer), self.like(inner))

    def place(self, axis: str) -> IndexExpr:
        """Index along an axis."""
        if axis not in self.parts:
            return IndexExpr.of(axis)
        outer, inner = self.parts[axis]
        return self.place(outer) * self.sizes[inner] + self.place(inner)

    def common(self, values: Sequence[Array]) -> str:
        """Make a new axis along which to go through arrays together."""
        axes = [a.axes[0] for a in values]
        return self.like(next((axis for axis in axes if axis in self.parts), axes[0]))

    def along(self, array: Array, axis: str) -> Array:
        """Element of an array at the index along an axis."""
        old, new = self.leaves(array.axes[0]), self.leaves(axis)
        if len(old) == 1:
            return array.at(self.place(axis))
        if [self.sizes[x] for x in old] != [self.sizes[x] for x in new]:
            return self.plain(array).at(self.place(axis))
        places = dict(zip(old, map(IndexExpr.of, new), strict=True))
        return Array(array.axes[1:], array.element.at(places))

    def plain(self, array: Array) -> Array:
        """Array without joined axes: as a tensor, where it has some."""
        if not any(axis in self.parts for axis in array.axes):
            return array
        around = self.around(array)
        whole = self.tensor(array.element, (*around, *array.axes))
        axes = tuple(self.axis(self.sizes[axis]) for axis in array.axes)
        return Array(axes, Load(whole, tuple(map(IndexExpr.of, (*around, *axes)))))

    def loaded(self, tensor: SSAValue) -> Array:
        """Array of a tensor."""
        shape = shape_of(tensor_type(tensor))
        assert shape is not None
        axes = tuple(map(self.axis, shape))
        return Array(axes, Load(tensor, tuple(map(IndexExpr.of, axes))))

    def number(self, constant: ew.ConstantOp) -> Array:
        """Constant as an array."""
        return Array((), Load(self.builder.insert(constant), ()))

    def ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        """Axes in the order in which they were made."""
        found = set(names)
        return tuple(name for name in self.sizes if name in found)

    # -- elements as tensors ---------------------------------------------------------------

    def load(self, element: Element) -> Load:
        """Load of an element, which is put in a tensor if need be."""
        match element:
            case Load():
                return element
            case Product():
                return self.elementwise(lambda v: reduce(self.builder.mul, v), element.loads)
            case AffineIndex():
                return self._place(element.expr)
            case Running():
                raise NotCombiningError

    def _place(self, expr: IndexExpr) -> Load:
        """Integer that is affine in indices, as i64."""
        t, parts = et.CONCRETE["i64"], list[Element]()
        for name in expr.names:
            one = self.builder.insert(ew.ConstantOp.of(1, t))
            row = self.contraction(Aggregation.assign, [Load(one, ())], (name,))
            places = self.builder.insert(ew.IndexOp.along(row.tensor, 0))
            places = self.builder.insert(ew.CastOp.to(places, t))
            factor = self.builder.insert(ew.ConstantOp.of(int(expr.coefficient(name)), t))
            parts.append(Load(self.builder.mul(places, factor), (IndexExpr.of(name),)))
        parts.append(Load(self.builder.insert(ew.ConstantOp.of(int(expr.constant), t)), ()))
        return self.elementwise(lambda v: reduce(self.builder.add, v), parts)

    def covers(self, load: Load) -> bool:
        """Whether every element of the tensor is read, and the axes have one index each."""
        shape = shape_of(tensor_type(load.tensor))
        names = [name for e in load.index for name in e.names]
        if shape is None or len(set(names)) < len(names):
            return False
        return all(self._spans(e, size) for e, size in zip(load.index, shape, strict=True))

    def _spans(self, e: IndexExpr, size: int) -> bool:
        """Whether an expression takes every integer from 0 to a size."""
        least, span = e.constant, 1
        for stride, name in sorted((abs(e.coefficient(n)), n) for n in e.names):
            if stride > span:
                return False
            reach = int(stride) * (self.sizes[name] - 1)
            least += min(0, int(e.coefficient(name))) * (self.sizes[name] - 1)
            span += reach
        return least == 0 and span == size

    def elementwise(
        self, make: Callable[[Sequence[SSAValue]], SSAValue], elements: Sequence[Element]
    ) -> Load:
        """Element of the tensor that ``make`` makes of tensors with these elements.

        Elements at one place of tensors of one shape are computed once for each place.
        """
        loads = [self.load(e) for e in elements]
        places = {(shape_of(tensor_type(x.tensor)), x.index): x for x in loads if x.index}
        if len(places) < 2 and all(map(self.covers, places.values())):
            index = next((x.index for x in places.values()), ())
            return Load(make([x.tensor for x in loads]), index)
        axes = self.ordered(set[str]().union(*(x.names for x in loads)))
        made = make([self._broadcasting(x, axes) for x in loads])
        return Load(made, tuple(map(IndexExpr.of, axes)))

    def _broadcasting(self, load: Load, axes: Sequence[str]) -> SSAValue:
        """Tensor over the axes that the element depends on, which broadcasts to all."""
        names = load.names
        used = [k for k, name in enumerate(axes) if name in names]
        return self.tensor(load, axes[used[0] :] if used else (), spread=False)

    def tensor(self, element: Element, axes: Sequence[str], *, spread: bool = True) -> SSAValue:
        """Tensor over axes; without ``spread``, of size 1 where the element is the same."""
        if any(axis in self.parts for axis in axes):
            parts = self.tensor(element, self.leaves(*axes))
            return self.reshaped(parts, [self.sizes[axis] for axis in axes])
        load = self.load(element)
        names = load.names
        if self._is_tensor(load, axes):
            return load.tensor
        kept = [name if spread or name in names else None for name in axes]
        return self.contraction(Aggregation.assign, [load], kept).tensor

    def _is_tensor(self, load: Load, axes: Sequence[str]) -> bool:
        """Whether an element is one of its tensor at the axes themselves."""
        shape = tuple(self.sizes[name] for name in axes)
        return shape == shape_of(tensor_type(load.tensor)) and load.index == tuple(
            map(IndexExpr.of, axes)
        )

    # -- contractions ----------------------------------------------------------------------

    def contraction(
        self, aggregation: Aggregation, loads: Sequence[Load], axes: Sequence[str | None]
    ) -> Load:
        """Contraction over axes, None for one of size 1, aggregating an element over all others."""
        output = [ZERO if name is None else IndexExpr.of(name) for name in axes]
        shape = [1 if name is None else self.sizes[name] for name in axes]
        names = set[str]().union(*(load.names for load in loads)) - {a for a in axes if a}
        bounds = [self.bound(name) for name in self.ordered(names)]
        return self.aggregated(aggregation, loads, output, shape, bounds)

    def bound(self, name: str) -> Constraint:
        """Range of an axis, as a constraint."""
        return Constraint(IndexExpr.of(name), IndexExpr.of(self.sizes[name]))

    def aggregated(
        self,
        aggregation: Aggregation,
        loads: Sequence[Load],
        output: Sequence[IndexExpr],
        shape: Sequence[int],
        bounds: Sequence[Constraint],
        default: SSAValue | None = None,
    ) -> Load:
        """Element of a contraction; bounds that an axis of a tensor implies are left out."""
        known = {
            Constraint(e, IndexExpr.of(size))
            for load in loads
            for e, size in zip(load.index, shape_of(tensor_type(load.tensor)) or (), strict=True)
        }
        needed = [bound for bound in bounds if bound not in known]
        names = {name for load in loads for name in load.names}
        names |= {name for e in (*output, *(c.expr for c in needed)) for name in e.names}
        short = {
            n: IndexExpr.of(s) for n, s in zip(self.ordered(names), short_names(), strict=False)
        }
        made = ContractionOp(
            aggregation,
            Combination.mul if len(loads) > 1 else Combination.none,
            [e.substitute(short) for e in output],
            [(load.tensor, load.at(short).index) for load in loads],
            [bound.substitute(short) for bound in needed],
            shape=tuple(shape),
            default=default,
        )
        return Load(self.builder.insert(made), tuple(output))

    def reduced(self, aggregation: Aggregation, term: Element, axis: str) -> Load:
        """Aggregate of an element along an axis."""
        loads = list(term.loads) if isinstance(term, Product) else [self.load(term)]
        over = self.leaves(axis)
        rest = self.ordered(set[str]().union(*(load.names for load in loads)) - {*over})
        output, shape = [*map(IndexExpr.of, rest)], [self.sizes[name] for name in rest]
        return self.aggregated(
            aggregation, loads, output, shape, [self.bound(leaf) for leaf in over]
        )

    # -- products and sums -----------------------------------------------------------------

    def times(self, a: Element, b: Element) -> Element:
        """Product of two elements."""
        factors = [
            *(a.loads if isinstance(a, Product) else [self.load(a)]),
            *(b.loads if isinstance(b, Product) else [self.load(b)]),
        ]
        # A number scales the first that is none.
        numbers = [f for f in factors if not f.index]
        others = [f for f in factors if f.index]
        if numbers:
            number = reduce(self.builder.mul, [f.tensor for f in numbers])
            if not others:
                return Load(number, ())
            scaled = others[0], Load(number, ())
            others[0] = self.elementwise(lambda v: self.builder.mul(*v), scaled)
        if len(others) == 1:
            return others[0]
        if len(others) <= MAX_FACTORS:
            return Product(tuple(others))
        return Product((self.load(Product(tuple(others[:-1]))), others[-1]))

    def combined(self, aggregation: Aggregation, a: Element, b: Element) -> Element:
        """Accumulator's element with one more term, or two elements combined."""
        if isinstance(b, Running) and not isinstance(a, Running):
            a, b = b, a
        if isinstance(a, Running):
            if isinstance(b, Running) or a.aggregation not in (None, aggregation):
                raise NotCombiningError
            return Running(a.accumulator, a.index, aggregation, (*a.terms, b))
        if aggregation is Aggregation.mul and et.is_float(self._type(a)):
            return self.times(a, b)
        op = COMBINE[aggregation]
        return self.elementwise(lambda v: self.builder.op(op, *v), (a, b))

    def _type(self, element: Element) -> Attribute:
        if isinstance(element, Product):
            element = element.loads[0]
        load = self.load(element)
        return tensor_type(load.tensor).element_type

    # -- whole arrays ----------------------------------------------------------------------

    def whole(self, array: Array) -> SSAValue:
        """Array as a tensor of its own axes: it depends on no others."""
        return self.tensor(array.element, array.axes)

    def reshaped(self, tensor: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Array of the same elements with other axes."""
        if shape_of(tensor_type(tensor)) == tuple(shape):
            return tensor
        return self.builder.insert(ReshapeOp.of(tensor, list(shape)))

    def around(self, array: Array) -> tuple[str, ...]:
        """Axes of maps around that an array depends on."""
        return self.ordered(array.element.names - {*self.leaves(*array.axes)})

    def concatenated(self, pieces: Sequence[Array]) -> Array:
        """Concatenate arrays along their first axes; all have the same other axes."""
        if len(pieces) == 1:
            return pieces[0]
        inner = tuple(self.axis(self.sizes[a]) for a in pieces[0].axes[1:])
        lengths = [self.sizes[p.axes[0]] for p in pieces]
        places = [self.axis(n) for n in lengths]
        renamed = [
            p.element.at(dict(zip(p.axes, map(IndexExpr.of, (place, *inner)), strict=True)))
            for p, place in zip(pieces, places, strict=True)
        ]
        names = set[str]().union(*(e.names for e in renamed))
        outer = self.ordered(names - {*places, *inner})
        axis, offset, found = self.axis(sum(lengths)), 0, None
        shape = [self.sizes[name] for name in (*outer, axis, *inner)]
        for element, place, length in zip(renamed, places, lengths, strict=True):
            where = IndexExpr.of(place) + offset
            output = [*map(IndexExpr.of, outer), where, *map(IndexExpr.of, inner)]
            if length:
                made = self.aggregated(
                    Aggregation.assign,
                    [self.load(element)],
                    output,
                    shape,
                    [self.bound(place)],
                    found,
                )
                found = made.tensor
            offset += length
        assert found is not None
        axes = (axis, *inner)
        return Array(axes, Load(found, tuple(map(IndexExpr.of, (*outer, *axes)))))

    def gathered(self, array: Array, places: Load) -> Array:
        """Elements at computed indices; those outside become the nearest inside."""
        outer = self.around(array)
        shared = [name for name in outer if name in places.names]
        apart = [name for name in outer if name not in places.names]
        tensor = self.tensor(array.element, (*shared, array.axes[0], *apart, *array.axes[1:]))
        size = self.sizes[array.axes[0]]
        if shared:
            # A place outside of a row is inside of the rows one after the other.
            last = self.builder.insert(ew.ConstantOp.of(size - 1, et.CONCRETE["i64"]))
            least = self.elementwise(lambda v: self.builder.op(ew.MaxOp, v[0], 0), (places,))
            places = self.elementwise(lambda v: self.builder.op(ew.MinOp, v[0], last), (least,))
        for name in reversed(shared):
            step = size * prod(self.sizes[n] for n in shared[shared.index(name) + 1 :])
            row = self._place(IndexExpr.of(name) * step)
            places = self.elementwise(lambda v: self.builder.add(*v), (places, row))
        kept = [self.sizes[name] for name in (*apart, *array.axes[1:])]
        rows = size * prod(self.sizes[name] for name in shared)
        flat = self.reshaped(tensor, (rows, *kept))
        axes = self.ordered(places.names)
        indices = self.tensor(places, axes)
        found = self.builder.insert(GatherOp.make(flat, indices))
        index = (*axes, *apart, *array.axes[1:])
        return Array(array.axes[1:], Load(found, tuple(map(IndexExpr.of, index))))
