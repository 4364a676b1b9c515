"""tile-to-lift: contractions as compositions of patterns, for Lift's rules to optimise."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.builder import ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect import lift
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import name_of, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.lift.tracing import fresh_names, unplaced
from tiledialect.lift.values import Value, as_tensor
from tiledialect.ops_in import ops_of

Ranges = dict[str, Range]
Array = tuple[Value, tuple[str, ...]]
"""An array, and the index that each of its axes stands for."""

COMBINE: dict[Combination, Callable[[Value, Value], Value]] = {
    Combination.none: lambda a, b: a,
    Combination.mul: lambda a, b: a * b,
    Combination.add: lambda a, b: a + b,
}
AGGREGATE: dict[Aggregation, tuple[Callable[[Value, Value], Value], float]] = {
    Aggregation.add: (lift.add, 0),
    Aggregation.mul: (lift.mul, 1),
}


@dataclass(frozen=True)
class Term:
    """An index in an expression: its coefficient and its range."""

    name: str
    coefficient: int
    range: Range

    @property
    def stride(self) -> int:
        """How far apart neighbours are."""
        return abs(self.coefficient)

    @property
    def least(self) -> int:
        """The least that it contributes."""
        first, last = self.range.lower, self.range.upper - 1
        return self.coefficient * (first if self.coefficient > 0 else last)


@dataclass(frozen=True)
class Axis:
    """An index expression: its least value, and its terms from the largest stride on."""

    least: int
    terms: tuple[Term, ...]

    @staticmethod
    def of(expr: IndexExpr, ranges: Ranges) -> Axis:
        """The expression over the indices' ranges."""
        terms = [Term(n, int(expr.coefficient(n)), ranges[n]) for n in expr.names]
        terms.sort(key=lambda term: -term.stride)
        return Axis(int(expr.constant) + sum(t.least for t in terms), tuple(terms))

    @property
    def span(self) -> int:
        """How many integers lie between its least and its greatest value, both included."""
        return 1 + sum(t.stride * (t.range.extent - 1) for t in self.terms)


def mapped(function: lift.Function, depth: int) -> lift.Function:
    """The function on the elements so many axes further in."""
    return reduce(lambda f, _: lift.map(f), range(depth), function)


# -- operands as arrays over indices ---------------------------------------------------------------


def over_indices(x: Value, access: Sequence[IndexExpr], ranges: Ranges) -> Array:
    """The operand as an array with an axis for each index, padded with 0 beyond its edges."""
    names: tuple[str, ...] = ()
    for k, expr in reversed([*enumerate(access)]):
        axis = Axis.of(expr, ranges)
        (size, *_) = x.array_type("operand").get_shape()[k:]
        for function, depth in _steps(axis, size):
            x = x >> mapped(function, k + depth)
        names = (*(t.name for t in axis.terms), *names)
    return x, names


def _steps(axis: Axis, size: int) -> list[tuple[lift.Function, int]]:
    """What makes an axis one for each index, each with how many axes further in it is done."""
    found: list[tuple[lift.Function, int]] = []
    left, right = max(0, -axis.least), max(0, axis.least + axis.span - size)
    if left or right:
        found.append((lift.pad_constant(left, right, 0), 0))
    start = axis.least + left
    if (start, axis.span) != (0, left + size + right):
        found.append((lift.slice(start, start + axis.span), 0))
    if not axis.terms:
        return [*found, (lift.at(0), 0)]
    rest = axis.span
    for depth, term in enumerate(axis.terms):
        rest -= term.stride * (term.range.extent - 1)
        if (rest, term.stride) != (1, 1) or term is not axis.terms[-1]:
            found.append((lift.slide(rest, term.stride), depth))
    if axis.terms[-1].stride != 1:
        found.append((lift.join, len(axis.terms) - 1))
    backwards = [depth for depth, term in enumerate(axis.terms) if term.coefficient < 0]
    return [*found, *((lift.gather(lift.reverse), depth) for depth in backwards)]


def in_order(array: Array, order: Sequence[str]) -> Array:
    """The array with its axes in an order, by transposes of neighbours."""
    x, names = array[0], [*array[1]]
    for end in range(len(names) - 1, 0, -1):
        for k in range(end):
            if order.index(names[k]) > order.index(names[k + 1]):
                x = x >> mapped(lift.transpose, k)
                names[k : k + 2] = names[k + 1], names[k]
    return x, tuple(names)


# -- the computation -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nest:
    """Maps over the indices of the output around reductions over the others."""

    ranges: Ranges
    outputs: Sequence[str]
    combine: Callable[[Value, Value], Value]
    aggregate: tuple[Callable[[Value, Value], Value], float] | None

    def compute(self, arrays: Sequence[Array], indices: Sequence[str]) -> Value:
        """The array over the indices of the output that are left, of sums over the others."""
        if not indices:
            return reduce(self.combine, (x for x, _ in arrays))
        index, *rest = indices
        having = [k for k, (_, names) in enumerate(arrays) if names[:1] == (index,)]

        def inner(elements: Sequence[Value]) -> Value:
            taken = dict(zip(having, elements, strict=True))
            return self.compute(
                [(taken[k], a[1][1:]) if k in taken else a for k, a in enumerate(arrays)], rest
            )

        if not rest and len(arrays) == len(having) == 1:
            values = arrays[0][0]
        else:
            values = self._over(index, [arrays[k][0] for k in having], inner)
        if index in self.outputs:
            return values
        assert self.aggregate is not None
        return values >> lift.reduce(*self.aggregate)

    def _over(
        self, index: str, arrays: Sequence[Value], inner: Callable[[Sequence[Value]], Value]
    ) -> Value:
        match arrays:
            case []:
                return lift.generate(self.ranges[index].extent, lambda i: inner([]))
            case [x]:
                return x >> lift.map(lambda e: inner([e]))
            case _:
                return lift.zip(*arrays) >> lift.map(lambda t: inner([*t]))


# -- contractions ----------------------------------------------------------------------------------


def refuse(op: ContractionOp, why: str) -> TileError:
    """Why a contraction cannot be expressed as patterns."""
    return TileError.at(op, f"{name_of(op.result)} cannot be expressed as patterns: {why}")


def to_lift(op: ContractionOp) -> Value:
    """The contraction as patterns, where the implicit builder stands."""
    ranges = _ranges(op)
    _check(op, ranges)
    axes = [Axis.of(expr, ranges) for expr in op.output.data]
    # An axis of one element that no index numbers has an index of its own.
    named = [[t.name for t in axis.terms] or [f"axis {k}"] for k, axis in enumerate(axes)]
    ranges = {**{f"axis {k}": Range(0, 1) for k in range(len(axes))}, **ranges}
    outputs = [name for names in named for name in names]
    reduced = [name for name in op.index_names if name not in outputs]
    order = [*outputs, *reduced]
    t = tensor_type(op.result).element_type
    arrays: list[Array] = []
    for value, access in zip(op.inputs, op.accesses, strict=True):
        x = Value(value)
        x = x if tensor_type(value).element_type == t else lift.cast(x, t)
        arrays.append(in_order(over_indices(x, access.data, ranges), order))
    nest = Nest(ranges, outputs, COMBINE[op.combination.data], AGGREGATE.get(op.aggregation.data))
    result = nest.compute(arrays, order)
    if not axes:
        return as_tensor(result, None)
    for k, (axis, names) in enumerate(zip(axes, named, strict=True)):
        for _ in names[1:]:
            result = result >> mapped(lift.join, k)
        result = _fitted(result, axis, (shape_of(tensor_type(op.result)) or ())[k], k)
    return result


def _fitted(x: Value, axis: Axis, size: int | None, depth: int) -> Value:
    """What is computed of an axis, with 0 where nothing is, and without what is outside."""
    assert size is not None
    below, above = max(0, -axis.least), max(0, axis.least + axis.span - size)
    if below or above:
        x = x >> mapped(lift.slice(below, axis.span - above), depth)
    before, after = max(0, axis.least), max(0, size - axis.least - axis.span)
    return x >> mapped(lift.pad_constant(before, after, 0), depth) if before or after else x


def _ranges(op: ContractionOp) -> Ranges:
    if not op.is_static:
        raise refuse(op, "its shapes are not known; run tile-specialize first")
    if op.domain is None:
        raise refuse(op, "its indices have no ranges; run tile-bounds first")
    if any(expr.denominator != 1 for expr in op.all_exprs):
        raise refuse(op, "its indices have fractions; run tile-reduce and tile-defract first")
    return op.domain.ranges


def _check(op: ContractionOp, ranges: Ranges) -> None:
    """Refuse what patterns do not express, or not exactly."""
    aggregation, combination = op.aggregation.data, op.combination.data
    if combination not in COMBINE:
        raise refuse(op, "it compares elements")
    if aggregation not in (*AGGREGATE, Aggregation.assign):
        raise refuse(op, f"{aggregation} has no neutral element")
    written = [name for expr in op.output.data for name in expr.names]
    if aggregation == Aggregation.assign and (
        over := [name for name in op.index_names if name not in written]
    ):
        raise refuse(op, f"it assigns what it finds at some {over[0]}")
    if op.default is not None:
        raise refuse(op, "it has a default")
    for constraint in op.constraints:
        axis, bound = Axis.of(constraint.data.expr, ranges), int(constraint.data.bound.constant)
        if axis.least < 0 or axis.least + axis.span > bound:
            raise refuse(op, f"the constraint {constraint.data} is not what its ranges say")
    for access in (op.output, *op.accesses):
        names = [name for expr in access.data for name in expr.names]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise refuse(op, f"{twice} is an index of two axes of one tensor")
    for expr in op.output.data:
        if not _is_mixed_radix(Axis.of(expr, ranges)):
            raise refuse(op, f"the output's index {expr} leaves elements out")
    if aggregation != Aggregation.add or combination == Combination.add:
        for value, access in zip(op.inputs, op.accesses, strict=True):
            for expr, size in zip(access.data, shape_of(tensor_type(value)) or (), strict=True):
                axis = Axis.of(expr, ranges)
                if axis.least < 0 or axis.least + axis.span > (size or 0):
                    raise refuse(op, f"{expr} goes beyond the edges of {name_of(value)}")


def _is_mixed_radix(axis: Axis) -> bool:
    """Whether every integer between its least and its greatest value is one of its values, once."""
    stride = 1
    for term in reversed(axis.terms):
        if term.coefficient != stride:
            return False
        stride *= term.range.extent
    return True


@dataclass(frozen=True)
class TileToLiftPass(ModulePass):
    """Expresses contractions as patterns, for Lift's rewrite rules.

    Each operand is padded, sliced, slid over and transposed to an array with an axis for each
    index; maps over the output's indices go around reductions over the others. A contraction needs
    ranges and integer coefficients, as `tile-bounds`, `tile-reduce` and `tile-defract` make them,
    and constraints that its ranges imply. Beyond its edges an operand is 0, so that a point that
    Tile leaves out of a sum adds a product with 0: it is the same for finite elements.
    """

    name = "tile-to-lift"

    tensors: tuple[str, ...] = ()
    """Which contractions, by the names of their results; all, if left out."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Express every contraction."""
        found = ops_of(op, ContractionOp)
        names = [name_of(x.result) for x in found]
        for name in self.tensors:
            if name not in names:
                raise TileError(f"there is no contraction {name}; there is {', '.join(names)}")
        for contraction, name in zip(found, names, strict=True):
            if not self.tensors or name in self.tensors:
                _replace(contraction)


def _replace(op: ContractionOp) -> None:
    block = Block()
    with unplaced(), fresh_names(), ImplicitBuilder(block):
        value = to_lift(op).ssa
    for new in block.walk():
        new.location = op.location
    Rewriter.inline_block(block, InsertPoint.before(op))
    assert isinstance(value.type, TensorType) and value.type == op.result.type
    value.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(value)
    op.detach()
    op.erase()
