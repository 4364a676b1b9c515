"""Arithmetic in functions of patterns as elementwise ops of tensors, and arithmetic on indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerAttr, VectorType
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import take_name
from tiledialect.ir.tensor_builder import Origins, TensorBuilder
from tiledialect.passes.lift.to_tile.elements import (
    AffineIndex,
    Array,
    Element,
    NotCombiningError,
    Running,
    Value,
    each,
)
from tiledialect.passes.lift.to_tile.layouts import (
    plus,
    times,
)
from tiledialect.passes.lift.to_tile.numbers import constant, maker
from tiledialect.passes.lift.to_tile.tensors import Tensors

COMBINES: dict[type[Operation], Aggregation] = {
    arith.AddfOp: Aggregation.add,
    arith.AddiOp: Aggregation.add,
    arith.MulfOp: Aggregation.mul,
    arith.MuliOp: Aggregation.mul,
    arith.MaximumfOp: Aggregation.max,
    arith.MaxSIOp: Aggregation.max,
    arith.MinimumfOp: Aggregation.min,
    arith.MinSIOp: Aggregation.min,
    ew.AddOp: Aggregation.add,
    ew.MulOp: Aggregation.mul,
    ew.MaxOp: Aggregation.max,
    ew.MinOp: Aggregation.min,
}
"""Ops of aggregations."""

PLACES: dict[type[Operation], Callable[[Tensors, Element, Element], Element]] = {
    arith.AddiOp: plus,
    arith.SubiOp: lambda m, a, b: plus(m, a, times(m, AffineIndex(IndexExpr.of(-1)), b)),
    arith.MuliOp: times,
}
"""Arithmetic on indices."""


@dataclass
class Arithmetic:
    """Evaluates arithmetic on numbers and arrays; new ops are put before one."""

    before: Operation
    found: dict[SSAValue, Value] = field(default_factory=dict[SSAValue, Value])
    origins: Origins = field(default_factory=Origins)

    def __post_init__(self):
        self.builder = TensorBuilder(self.before, None, origins=self.origins)
        self.m = Tensors(self.builder)

    # -- values ----------------------------------------------------------------------------

    def value(self, value: SSAValue) -> Value:
        """Evaluated value; an input, or the result of an op of tile, is a tensor."""
        if value not in self.found:
            self.found[value] = self.m.loaded(value)
        return self.found[value]

    def array(self, value: SSAValue) -> Array:
        """Value that is no tuple."""
        found = self.value(value)
        assert isinstance(found, Array)
        return found

    def tensor(self, value: SSAValue) -> SSAValue:
        """Value as a tensor of its type."""
        if value not in self.found:
            return value
        made = self.m.whole(self.array(value))
        own = tensor_type(value).element_type
        if tensor_type(made).element_type != own:
            made = self.builder.insert(ew.CastOp.to(made, own))
        if isinstance(made.owner, Operation):
            take_name(made, value)
        return made

    # -- numbers ---------------------------------------------------------------------------

    def constant(self, op: arith.ConstantOp) -> Value:
        """Evaluate a number, or a vector of one number."""
        t = op.result.type
        if isinstance(t, IndexType):
            assert isinstance(op.value, IntegerAttr)
            return Array((), AffineIndex(IndexExpr.of(op.value.value.data)))
        if isinstance(t, VectorType) and isinstance(op.value, DenseIntOrFPElementsAttr):
            numbers = list(op.value.get_values())
            if len(set(numbers)) == 1 and isinstance(numbers[0], int | float):
                one = ew.ConstantOp.of(numbers[0], t.element_type)
                return self.m.number(one).over(self.m.axis(len(numbers)))
        made = constant(op)
        if made is None:
            raise TileError.at(op, f"{op.name} of {t} has no form in Tile, and so no gradient")
        return self.m.number(made)

    def numbers(self, op: Operation) -> Value:
        """Evaluate an op on numbers, or on whole arrays and vectors of such."""
        if isinstance(op, arith.SelectOp) and isinstance(self.value(op.lhs), tuple):
            condition = self.array(op.cond)
            choose = partial(self._choice, condition)
            return each(choose, self.value(op.lhs), self.value(op.rhs))
        return self.elementwise(op, [self.array(v) for v in op.operands])

    def _choice(self, condition: Array, yes: Array, no: Array) -> Array:
        return self._over(
            [condition, yes, no], lambda e: self.m.elementwise(self._make(ew.SelectOp), e)
        )

    def _make(self, op: type[ElementwiseOp]) -> Callable[[Sequence[SSAValue]], SSAValue]:
        return lambda v: self.builder.op(op, *v)

    def elementwise(self, op: Operation, arrays: Sequence[Array]) -> Array:
        """Evaluate the op on the elements of arrays, which are broadcast as in NumPy."""
        return self._over(arrays, lambda elements: self._element(op, elements))

    def _over(self, arrays: Sequence[Array], apply: Callable[[list[Element]], Element]) -> Array:
        arrays = [self.m.plain(a) for a in arrays]
        rank = max(len(a.axes) for a in arrays)
        axes: list[str] = []
        for k in range(-rank, 0):
            own = [a.axes[k] for a in arrays if len(a.axes) >= -k]
            axes.append(next((name for name in own if self.m.sizes[name] != 1), own[0]))
        elements: list[Element] = []
        for a in arrays:
            common = axes[rank - len(a.axes) :]
            same = zip(a.axes, common, strict=True)
            places = {
                name: IndexExpr.of(new if self.m.sizes[name] == self.m.sizes[new] else 0)
                for name, new in same
            }
            elements.append(a.element.at(places))
        return Array(tuple(axes), apply(elements))

    def _element(self, op: Operation, elements: list[Element]) -> Element:
        if isinstance(op, math.FmaOp):
            a, b, c = elements
            return self.m.combined(Aggregation.add, self.m.times(a, b), c)
        if all(isinstance(e, AffineIndex) for e in elements):
            if (on_places := PLACES.get(type(op))) is not None:
                return on_places(self.m, *elements)
            if isinstance(op, arith.IndexCastOp) and isinstance(op.result.type, IndexType):
                return elements[0]
        if any(isinstance(e, Running) for e in elements):
            if isinstance(op, arith.SubfOp | arith.SubiOp | ew.SubOp):
                less = self.m.elementwise(lambda v: self.builder.neg(v[0]), elements[1:])
                return self.m.combined(Aggregation.add, elements[0], less)
            if type(op) not in COMBINES:
                raise NotCombiningError
            return self.m.combined(COMBINES[type(op)], *elements)
        if isinstance(op, arith.MulfOp | ew.MulOp):
            return self.m.combined(Aggregation.mul, *elements)
        if isinstance(op, ElementwiseOp):
            return self.m.elementwise(partial(self._again, op), elements)
        make = maker(op)
        if make is None:
            raise TileError.at(op, f"{op.name} has no form in Tile, and so no gradient")
        return self.m.elementwise(partial(make, self.builder, op), elements)

    def _again(self, op: ElementwiseOp, operands: Sequence[SSAValue]) -> SSAValue:
        if isinstance(op, ew.CastOp):
            return self.builder.insert(
                ew.CastOp.to(operands[0], tensor_type(op.result).element_type)
            )
        return self.builder.insert(type(op).make(*operands, properties=dict(op.properties)))
