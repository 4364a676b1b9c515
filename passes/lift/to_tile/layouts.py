"""Layout patterns on arrays whose elements lie in tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from xdsl.ir import Operation

from tiledialect.dialects.lift import layout
from tiledialect.dialects.lift.attributes import Boundary, IndexMap, SizeAttr
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer.expressions import (
    Atom,
    Expr,
    Extremum,
    Quotient,
    Remainder,
    Selection,
)
from tiledialect.index.integer.polynomial import Variable
from tiledialect.passes.lift.to_tile.elements import (
    AffineIndex,
    Array,
    Element,
    Load,
    Product,
    Running,
)
from tiledialect.passes.lift.to_tile.tensors import Tensors

Pieces = Iterator[tuple[IndexExpr, int, int]]
"""Runs of an array: index of the first element, step from one to the next, length."""


def number(size: SizeAttr) -> int:
    """Number that a size is, by now."""
    value = size.data.value
    assert value is not None
    return value


def split(m: Tensors, op: Any, array: Array) -> Array:
    """Split into pieces, or vectors."""
    size = number(op.size)
    parts = m.parts.get(array.axes[0])
    if parts is not None and m.sizes[parts[1]] == size:
        return Array((*parts, *array.axes[1:]), array.element)
    array = m.plain(array)
    outer, inner = m.axis(m.sizes[array.axes[0]] // size), m.axis(size)
    return array.at(IndexExpr.of(outer) * size + IndexExpr.of(inner)).over(outer, inner)


def slide(m: Tensors, op: Any, array: Array) -> Array:
    """Slide windows."""
    array = m.plain(array)
    size, step = number(op.size), number(op.step)
    outer, inner = m.axis((m.sizes[array.axes[0]] - size) // step + 1), m.axis(size)
    return array.at(IndexExpr.of(outer) * step + IndexExpr.of(inner)).over(outer, inner)


def transpose(m: Tensors, op: Operation, array: Array) -> Array:
    """Transpose the outer two axes."""
    first, second, *rest = array.axes
    return Array((second, first, *rest), array.element)


def join(m: Tensors, op: Operation, array: Array) -> Array:
    """Join pieces, or lanes."""
    outer, inner, *rest = array.axes
    if outer not in m.parts and inner not in m.parts:
        axis = m.axis(m.sizes[outer] * m.sizes[inner])
        if (element := _joined(array.element, outer, inner, m.sizes[inner], axis)) is not None:
            return Array((axis, *rest), element)
    return Array((m.joined(outer, inner), *rest), array.element)


def _joined(element: Element, outer: str, inner: str, size: int, axis: str) -> Element | None:
    """Element by one axis for both, where it depends on ``size*outer + inner`` alone."""
    found = list[IndexExpr]()
    match element:
        case Load() | Running():
            found += element.index
        case AffineIndex():
            found.append(element.expr)
        case Product():
            found += [e for load in element.loads for e in load.index]
    if isinstance(element, Running) and element.terms:
        return None
    if any(e.coefficient(outer) != size * e.coefficient(inner) for e in found):
        return None
    return element.at({outer: IndexExpr.of(0), inner: IndexExpr.of(axis)})


def slice_(m: Tensors, op: layout.SliceOp, array: Array) -> Array:
    """Slice some of the elements."""
    start, stop = number(op.start), number(op.stop)
    axis = m.axis(stop - start)
    return array.at(IndexExpr.of(axis) + start).over(axis)


# -- ends ----------------------------------------------------------------------------------------


def pad(m: Tensors, op: layout.PadOp, array: Array) -> Array:
    """Pad with repeated elements: the array is concatenated from runs of itself."""
    left, right, size = number(op.left), number(op.right), m.sizes[array.axes[0]]
    runs = _clamped if op.boundary.data is Boundary.clamp else _repeated
    mirrors = op.boundary.data is Boundary.mirror
    found = [run for run in runs(left, right, size, mirrors) if run[2]]
    return m.concatenated([_run(m, array, *run) for run in found])


def _run(m: Tensors, array: Array, first: IndexExpr, step: int, length: int) -> Array:
    axis = m.axis(length)
    return array.at(first + IndexExpr.of(axis) * step).over(axis)


def _clamped(left: int, right: int, size: int, mirrors: bool) -> Pieces:
    yield IndexExpr.of(0), 0, left
    yield IndexExpr.of(0), 1, size
    yield IndexExpr.of(size - 1), 0, right


def _repeated(left: int, right: int, size: int, mirrors: bool) -> Pieces:
    """Repeat the array, every other time backwards if it ``mirrors``."""
    for block in range(-left // size, -(-(size + right) // size)):
        start, stop = max(-left, block * size), min(size + right, (block + 1) * size)
        first = start - block * size
        if mirrors and block % 2:
            yield IndexExpr.of(size - 1 - first), -1, stop - start
        else:
            yield IndexExpr.of(first), 1, stop - start


def pad_constant(m: Tensors, op: layout.PadConstantOp, array: Array, value: Array) -> Array:
    """Pad with a value."""
    inner = array.axes[1:]
    ends = [
        Array((m.axis(number(size)), *(inner if not value.axes else value.axes)), value.element)
        for size in (op.left, op.right)
    ]
    pieces = [ends[0], array, ends[1]]
    return m.concatenated([p for p in pieces if m.sizes[p.axes[0]]] or [array])


# -- reordering ----------------------------------------------------------------------------------


def gather(m: Tensors, op: layout.GatherOp, array: Array) -> Array:
    """Gather elements by the map."""
    size = m.sizes[array.axes[0]]
    _check(op, size)
    found = _affine(m, op.map.data, size)
    if found is None:
        axis = m.axis(size)
        places = _computed(m, op.map.data, IndexExpr.of(axis))
        return m.gathered(array, places).over(axis)
    place, axes = found
    taken = array.at(place).over(*axes)
    return taken if len(axes) == 1 else join(m, op, taken)


def scatter(m: Tensors, op: layout.ScatterOp, array: Array) -> Array:
    """Scatter elements by the map, a permutation."""
    size = m.sizes[array.axes[0]]
    _check(op, size)
    around, inner = m.around(array), array.axes[1:]
    found = _affine(m, op.map.data, size)
    axis = m.axis(size)
    index = tuple(map(IndexExpr.of, (*around, axis, *inner)))
    if found is not None:
        place, axes = found
        first = IndexExpr.of(axes[0]) * (m.sizes[axes[1]] if len(axes) > 1 else 1)
        read = first + (IndexExpr.of(axes[1]) if len(axes) > 1 else 0)
        output = [*map(IndexExpr.of, around), place, *map(IndexExpr.of, inner)]
        shape = [m.sizes[name] for name in (*around, axis, *inner)]
        load = m.load(array.at(read).element)
        bounds = [m.bound(name) for name in axes]
        made = m.aggregated(Aggregation.assign, [load], output, shape, bounds)
        return Array((axis, *inner), Load(made.tensor, index))
    source = array.axes[0]
    updates = m.tensor(array.element, (source, *around, *inner))
    places = m.tensor(_computed(m, op.map.data, IndexExpr.of(source)), (source,))
    made = m.builder.insert(ScatterOp.make(updates, places, updates))
    t = tensor_type(updates).element_type
    if tensor_type(made).element_type != t:
        made = m.builder.insert(ew.CastOp.to(made, t))
    order = tuple(map(IndexExpr.of, (axis, *around, *inner)))
    return Array((axis, *inner), Load(made, order))


def _check(op: layout.GatherOp | layout.ScatterOp, size: int) -> None:
    fault = op.map.data.fault(size, permutes=op.PERMUTES)
    if fault is not None:
        raise TileError.at(op, f"{op.pattern()}({op.map.data}) {fault}")


def _affine(m: Tensors, index: IndexMap, size: int) -> tuple[IndexExpr, tuple[str, ...]] | None:
    """Index by a map, affine in one axis, or in two that are joined; None if neither."""
    if any(len(product) > 1 for product, _ in index.expr):
        return None
    divisors = {_divisor(atom, index.variable) for atom in index.expr.atoms} - {1}
    if not divisors:
        axis = m.axis(size)
        return _place(index, {Variable(index.variable): IndexExpr.of(axis)}), (axis,)
    if len(divisors) > 1 or None in divisors:
        return None
    divisor = divisors.pop()
    if not divisor or size % divisor:
        return None
    outer, inner = m.axis(size // divisor), m.axis(divisor)
    q, r = IndexExpr.of(outer), IndexExpr.of(inner)
    values = dict[Atom, IndexExpr]()
    for atom in index.expr.atoms:
        match atom:
            case Quotient():
                values[atom] = q
            case Remainder():
                values[atom] = r
            case _:
                values[atom] = q * divisor + r
    return _place(index, values), (outer, inner)


def _divisor(atom: Atom, variable: str) -> int | None:
    """Divisor of the variable, 1 for itself; None for anything else."""
    if atom == Variable(variable):
        return 1
    if isinstance(atom, Quotient | Remainder) and atom.dividend.atom == Variable(variable):
        return atom.divisor.value
    return None


def _place(index: IndexMap, values: dict[Atom, IndexExpr]) -> IndexExpr:
    total = IndexExpr.of(0)
    for product, coefficient in index.expr:
        factor = IndexExpr.of(coefficient)
        for atom in product:
            factor = factor * values[atom]
        total = total + factor
    return total


def _computed(m: Tensors, index: IndexMap, place: IndexExpr) -> Load:
    """Index by a map, computed."""

    def value(expr: Expr) -> Element:
        total: Element = AffineIndex(IndexExpr.of(0))
        for product, coefficient in expr:
            term: Element = AffineIndex(IndexExpr.of(coefficient))
            for atom in product:
                term = times(m, term, atomic(atom))
            total = plus(m, total, term)
        return total

    def atomic(atom: Atom) -> Element:
        match atom:
            case Variable():
                return AffineIndex(place)
            case Quotient() | Remainder():
                operands = value(atom.dividend), value(atom.divisor)
                return m.elementwise(_floored(m, isinstance(atom, Quotient)), operands)
            case Extremum():
                op = ew.MinOp if atom.kind == "min" else ew.MaxOp
                found = [value(operand) for operand in atom.operands]
                return m.elementwise(lambda v: reduce(partial(m.builder.op, op), v), found)
            case Selection():
                raise TileError(f"an index map with a selection has no form in Tile: {index}")

    return m.load(value(index.expr))


def _floored(m: Tensors, quotient: bool) -> Callable[[Any], Any]:
    b = m.builder

    def make(v: Any) -> Any:
        rest = b.op(ew.RemOp, *v)
        # Rounded down, not toward zero.
        rest = b.op(ew.RemOp, b.add(rest, v[1]), v[1])
        return b.op(ew.DivOp, b.sub(v[0], rest), v[1]) if quotient else rest

    return make


def plus(m: Tensors, a: Element, b: Element) -> Element:
    """Sum of two indices."""
    if isinstance(a, AffineIndex) and isinstance(b, AffineIndex):
        return AffineIndex(a.expr + b.expr)
    return m.elementwise(lambda v: m.builder.add(*v), (a, b))


def times(m: Tensors, a: Element, b: Element) -> Element:
    """Product of two indices."""
    match a, b:
        case AffineIndex(), AffineIndex() if a.expr.is_constant or b.expr.is_constant:
            return AffineIndex(a.expr * b.expr)
        case _:
            return m.elementwise(lambda v: m.builder.mul(*v), (a, b))


def at(m: Tensors, array: Array, index: Element) -> Array:
    """Element at an index, which is clamped into range."""
    last = m.sizes[array.axes[0]] - 1
    if isinstance(index, AffineIndex):
        least, most = _range(m, index.expr)
        if least >= 0 and most <= last:
            return array.at(index.expr)
        if most <= 0 or least >= last:
            return array.at(IndexExpr.of(0 if most <= 0 else last))
    return m.gathered(array, m.load(index))


def _range(m: Tensors, e: IndexExpr) -> tuple[Fraction, Fraction]:
    ends = [(e.coefficient(n) * (m.sizes[n] - 1)) for n in e.names]
    return e.constant + sum(min(x, 0) for x in ends), e.constant + sum(max(x, 0) for x in ends)


AS_IT_IS = (
    layout.SplitOp,
    layout.AsVectorOp,
    layout.JoinOp,
    layout.AsScalarOp,
    layout.TransposeOp,
)
"""Ops that work on arrays with joined axes, too."""

LAYOUT: dict[type[Operation], Callable[[Tensors, Any, Array], Array]] = {
    layout.SplitOp: split,
    layout.AsVectorOp: split,
    layout.JoinOp: join,
    layout.AsScalarOp: join,
    layout.TransposeOp: transpose,
    layout.SlideOp: slide,
    layout.PadOp: pad,
    layout.GatherOp: gather,
    layout.ScatterOp: scatter,
    layout.SliceOp: slice_,
}
"""Ops on one array of numbers; of an array of tuples each component is taken for itself."""
