"""Views of layout patterns, and expressions of arithmetic on indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from xdsl.dialects import arith, tensor
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.lift import layout, maps, memory, values
from tiledialect.dialects.lift.attributes import expression
from tiledialect.dialects.lift.base import FunctionOp
from tiledialect.dialects.lift.types import as_array, element_of, leading
from tiledialect.index.integer.expressions import Expr, maximum, minimum
from tiledialect.lowering.lift_to_nest.views import views
from tiledialect.lowering.lift_to_nest.views.index_maps import inverse
from tiledialect.lowering.lift_to_nest.views.output_views import PlaceResolver, inner_size
from tiledialect.lowering.lift_to_nest.views.views import Index, View, ViewAccess

Scope = dict[SSAValue, View]
"""Views of values."""


class Emitter(Protocol):
    """Builder of a kernel."""

    resolver: PlaceResolver

    def as_index(self, view: View, t: Attribute) -> Expr:
        """Integer as an index expression."""
        ...

    def function(self, op: FunctionOp, scope: Scope) -> Callable[..., View]:
        """Function of a pattern, emitted where it is applied."""
        ...


def _size(op: Any) -> Expr:
    return expression(leading(as_array(op.input, op.pattern())))


def _pad_constant(code: Emitter, op: layout.PadConstantOp, scope: Scope) -> View:
    value = scope[op.value]
    if op.value.type != element_of(as_array(op.input, "pad_constant")):
        value = views.Everywhere(value)
    return views.PadConstant(scope[op.input], expression(op.left.data), _size(op), value)


def _concat(code: Emitter, op: layout.ConcatOp, scope: Scope) -> View:
    *first, last = op.inputs
    view = scope[last]
    for value in reversed(first):
        view = views.Concat(scope[value], expression(leading(as_array(value, "concat"))), view)
    return view


def _at(code: Emitter, op: values.AtOp, scope: Scope) -> View:
    index = code.as_index(scope[op.index], op.index.type)
    inside = maximum(0, minimum(index, _size(op) - 1))
    return ViewAccess(scope[op.input], inside)


def _generate(code: Emitter, op: values.GenerateOp, scope: Scope) -> View:
    function = code.function(op, scope)
    return views.Generated(len(op.block.args), lambda *at: function(*map(Index, at)))


def _extract(code: Emitter, op: tensor.ExtractOp, scope: Scope) -> View:
    view = scope[op.tensor]
    for index in op.indices:
        view = ViewAccess(view, code.as_index(scope[index], index.type))
    return view


def scattered(code: Emitter, op: layout.ScatterOp, scope: Scope) -> View | None:
    """View of a scatter's result, if its map has an inverse."""
    back = inverse(op.map.data, _size(op), code.resolver.env)
    return None if back is None else views.Reorder(scope[op.input], back)


LAYOUTS: dict[type[Operation], Callable[[Emitter, Any, Scope], View]] = {
    layout.SplitOp: lambda c, op, s: views.Split(s[op.input], expression(op.size.data)),
    layout.AsVectorOp: lambda c, op, s: views.Split(s[op.input], expression(op.size.data)),
    layout.JoinOp: lambda c, op, s: views.Join(s[op.input], inner_size(op)),
    layout.AsScalarOp: lambda c, op, s: views.Join(s[op.input], inner_size(op)),
    layout.TransposeOp: lambda c, op, s: views.Transpose(s[op.input]),
    layout.SlideOp: lambda c, op, s: views.Slide(
        s[op.input], expression(op.size.data), expression(op.step.data)
    ),
    layout.PadOp: lambda c, op, s: views.Pad(
        s[op.input], expression(op.left.data), _size(op), op.boundary.data
    ),
    layout.PadConstantOp: _pad_constant,
    layout.GatherOp: lambda c, op, s: views.Reorder(s[op.input], op.map.data),
    layout.SliceOp: lambda c, op, s: views.Slice(s[op.input], expression(op.start.data)),
    layout.ConcatOp: _concat,
    values.ZipOp: lambda c, op, s: views.TupleView(tuple(s[v] for v in op.inputs)),
    values.TupleOp: lambda c, op, s: views.TupleView(tuple(s[v] for v in op.components)),
    values.GetOp: lambda c, op, s: views.Get(s[op.input], op.index.data),
    values.AtOp: _at,
    values.SizeOp: lambda c, op, s: Index(expression(op.size.data)),
    values.GenerateOp: _generate,
    maps.MapOp: lambda c, op, s: views.Mapped(s[op.input], c.function(op, s)),
    tensor.ExtractOp: _extract,
    tensor.FromElementsOp: lambda c, op, s: s[op.elements[0]],
    **dict.fromkeys(memory.MEMORY_OPS, lambda c, op, s: s[op.input]),
}
"""Views by the type of op."""

INDEX_ARITHMETIC: dict[type[Operation], Callable[[Expr, Expr], Expr]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.MinSIOp: lambda a, b: minimum(a, b),
    arith.MaxSIOp: lambda a, b: maximum(a, b),
}
"""Functions of the ops on indices."""
