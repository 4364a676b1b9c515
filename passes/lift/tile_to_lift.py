"""tile-to-lift: contractions as compositions of patterns, for Lift's rules to optimise."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, and_, mul, or_
from typing import Any

from xdsl.builder import ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness, i1
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from tiledialect import lift
from tiledialect.dialects.tile.aggregation import neutral
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import name_of, shape_of, tensor_type
from tiledialect.dialects.tile.combinations import COMPARED, PRODUCTS, compared_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.names import keep_name, keep_place
from tiledialect.ir.ops_in import ops_of
from tiledialect.lift.tracing import fresh_names, unplaced
from tiledialect.lift.values import Value, as_tensor, to_value
from tiledialect.passes.lift.access_layouts import (
    Array,
    Axis,
    Ranges,
    Term,
    in_order,
    mapped,
    over_indices,
)

Combine = Callable[[Sequence[Value]], Value]
"""Function that makes one value of a point's operands, and then of the indices that are tested."""
AGGREGATE: dict[Aggregation, Callable[[Value, Value], Value]] = {
    Aggregation.add: lift.add,
    Aggregation.mul: lift.mul,
    Aggregation.max: lift.max,
    Aggregation.min: lift.min,
}
OF_BOOLS = {Aggregation.max: or_, Aggregation.min: and_}
"""Functions of bools, which are no numbers."""
PADDED = (Combination.none, Combination.mul)
"""Combinations that are 0 where an operand is 0 because it is read beyond its edges."""


@dataclass(frozen=True)
class Nest:
    """Maps over the indices of the output around reductions over the others."""

    ranges: Ranges
    outputs: Sequence[str]
    combine: Combine
    aggregate: tuple[Callable[[Value, Value], Value], Any]
    as_it_is: bool = False
    """Whether the combined value is one element alone."""

    def compute(self, arrays: Sequence[Array], indices: Sequence[str]) -> Value:
        """Array over the remaining indices of the output, of sums over the others."""
        if not indices:
            return self.combine([x for x, _ in arrays])
        index, *rest = indices
        having = [k for k, (_, names) in enumerate(arrays) if names[:1] == (index,)]

        def inner(elements: Sequence[Value]) -> Value:
            taken = dict(zip(having, elements, strict=True))
            return self.compute(
                [(taken[k], a[1][1:]) if k in taken else a for k, a in enumerate(arrays)], rest
            )

        if self.as_it_is and not rest and having:
            values = arrays[0][0]
        else:
            values = self._over(index, [arrays[k][0] for k in having], inner)
        if index in self.outputs:
            return values
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


AGAIN = " again"


@dataclass(frozen=True)
class BoundsCheck:
    """Condition on the indices of a point: ``0 <= expr < bound``."""

    expr: IndexExpr
    bound: int

    def holds(self, indices: dict[str, Value]) -> Value:
        """Emit the condition for values of the indices."""
        coefficients = {name: int(self.expr.coefficient(name)) for name in self.expr.names}
        terms = [indices[n] if c == 1 else indices[n] * c for n, c in coefficients.items()]
        value = reduce(add, terms)
        value = value + int(self.expr.constant) if self.expr.constant else value
        return (value >= 0) & (value < self.bound)


def all_hold(tests: Sequence[BoundsCheck], names: Sequence[str], indices: Sequence[Value]) -> Value:
    """Emit the condition that a point is one of the contraction's."""
    known = dict(zip(names, indices, strict=True))
    return reduce(lambda a, b: a & b, (test.holds(known) for test in tests))


def numbers(extent: Range) -> Value:
    """Values of an index, one after the other."""
    return lift.generate(extent.extent, lambda i: i + extent.lower if extent.lower else i)


def elementwise(f: Callable[..., Value], arrays: Sequence[Value], rank: int) -> Value:
    """Function on the elements of arrays of a rank."""
    if not rank:
        return f(*arrays)
    return lift.zip(*arrays) >> lift.map(lambda t: elementwise(f, [*t], rank - 1))


def combination(op: ContractionOp) -> Combine:
    """Combination of the operands' elements."""
    kind = op.combination.data
    together: Callable[[Any, Any], Any] = mul if kind in PRODUCTS else add
    compared, count = COMPARED.get(kind, 0), len(op.inputs)
    t = tensor_type(op.result).element_type

    def combined(values: Sequence[Value]) -> Value:
        if not compared:
            return reduce(together, values[:count])
        equal = reduce(together, values[: compared - 1]) == values[compared - 1]
        if compared == count:
            return lift.cast(equal, t)
        return lift.where(equal, reduce(mul, values[compared:count]), to_value(0, t, None))

    return combined


def refuse(op: ContractionOp, why: str) -> TileError:
    """Error that a contraction cannot be expressed as patterns."""
    return TileError.at(op, f"{name_of(op.result)} cannot be expressed as patterns: {why}")


def to_lift(op: ContractionOp) -> Value:
    """Express a contraction as patterns, where the implicit builder stands."""
    ranges, tests = _ranges(op), list[BoundsCheck]()
    axes = _outputs(op, ranges, tests)
    # An axis of one element that no index numbers has an index of its own.
    named = [[t.name for t in axis.terms] or [f"axis {k}"] for k, axis in enumerate(axes)]
    ranges.update({names[0]: Range(0, 1) for names in named if names[0] not in ranges})
    _add_tests(op, ranges, tests)
    outputs = [name for names in named for name in names]
    tested = sorted({name for test in tests for name in test.expr.names})
    order = [*outputs, *(name for name in op.index_names if name not in outputs)]
    indices: list[Array] = [(numbers(ranges[name]), (name,)) for name in tested]
    t = tensor_type(op.result).element_type
    count = len(op.inputs)
    combine, start = combination(op), neutral(op.aggregation.data, t)

    def masked(values: Sequence[Value]) -> Value:
        found = combine(values)
        if not tests:
            return found
        return lift.where(all_hold(tests, tested, values[count:]), found, to_value(start, t, None))

    # An assignment has one value at most for each element: the sum of it and zeros.
    if t == i1:
        known, start = OF_BOOLS, bool(start)
    else:
        known = AGGREGATE
    aggregate = known.get(op.aggregation.data, lift.add), start
    arrays = [in_order(a, order) for a in _operands(op, ranges)]
    as_it_is = count == 1 and not tests
    nest = Nest(ranges, outputs, masked, aggregate, as_it_is)
    result = nest.compute([*arrays, *indices], order)
    result = _laid_out(op, result, axes, named)
    if not _is_masked(op, tests, axes):
        return result if axes else as_tensor(result, None)

    def reached(values: Sequence[Value]) -> Value:
        is_one = all_hold(tests, tested, values) if tests else to_value(True, i1, None)
        return lift.cast(is_one, lift.i32)

    nest = Nest(ranges, outputs, reached, (lift.max, 0))
    own = [name for name in order if name in outputs or name in tested]
    points = _laid_out(op, nest.compute(indices, own), axes, named)
    others = [_default(op, ranges)] if op.default is not None else []

    def chosen(value: Value, points: Value, other: Value | int = 0) -> Value:
        return lift.where(points > 0, value, to_value(other, t, None))

    result = elementwise(chosen, [result, points, *others], len(axes))
    return result if axes else as_tensor(result, None)


def _is_masked(op: ContractionOp, tests: Sequence[BoundsCheck], axes: Sequence[Axis]) -> bool:
    """Whether elements without points differ from the aggregate there, which is neutral."""
    if op.default is not None:
        return bool(tests) or not _covers(op, axes)
    return bool(tests) and op.aggregation.data not in (Aggregation.add, Aggregation.assign)


def _default(op: ContractionOp, ranges: Ranges) -> Value:
    """Elements of the default; a number where there is one."""
    assert op.default is not None
    t, default = tensor_type(op.result).element_type, Value(op.default)
    default = default if tensor_type(op.default).element_type == t else lift.cast(default, t)
    return default if shape_of(tensor_type(op.result)) else over_indices(default, (), ranges)[0]


def _operands(op: ContractionOp, ranges: Ranges) -> list[Array]:
    """Operands over the indices, in the types in which they are combined."""
    t, values = tensor_type(op.result).element_type, list(op.inputs)
    compared = COMPARED.get(op.combination.data, 0)
    types = [compared_type(op.combination.data, values)] * compared if compared else []
    types += [t] * (len(values) - compared)
    found: list[Array] = []
    for wanted in types:
        if isinstance(wanted, IntegerType) and wanted.signedness.data != Signedness.SIGNLESS:
            raise refuse(op, f"patterns have no numbers of type {wanted}")
    for value, wanted, access in zip(values, types, op.accesses, strict=True):
        x = Value(value)
        x = x if tensor_type(value).element_type == wanted else lift.cast(x, wanted)
        found.append(over_indices(x, access.data, ranges))
    return found


def _laid_out(
    op: ContractionOp, x: Value, axes: Sequence[Axis], named: Sequence[Sequence[str]]
) -> Value:
    """Lay out an array over the indices over the axes of the output."""
    for k, (axis, names) in enumerate(zip(axes, named, strict=True)):
        for _ in names[1:]:
            x = x >> mapped(lift.join, k)
        x = _fitted(x, axis, (shape_of(tensor_type(op.result)) or ())[k], k)
    return x


def _covers(op: ContractionOp, axes: Sequence[Axis]) -> bool:
    """Whether the points reach every element of the output, if nothing is tested."""
    shape = shape_of(tensor_type(op.result)) or ()
    return all(
        axis.least <= 0 and axis.least + axis.span >= size
        for axis, size in zip(axes, shape, strict=True)
    )


def _outputs(op: ContractionOp, ranges: Ranges, tests: list[BoundsCheck]) -> list[Axis]:
    """Axes of the output, all of whose elements have a place.

    An index that stands for two axes becomes two, which are tested to be equal; elements that are
    left out between two have an index of their own, which is tested to be 0.
    """
    axes: list[Axis] = []
    taken: set[str] = set()
    for k, expr in enumerate(op.output.data):
        terms: list[Term] = []
        stride = 1
        for term in reversed(Axis.of(expr, ranges).terms):
            if term.coefficient < stride or term.coefficient % stride:
                raise refuse(op, f"the output's index {expr} reaches elements twice")
            if term.coefficient > stride:
                gap = Term(f"gap {k} {stride}", stride, Range(0, term.coefficient // stride))
                tests.append(BoundsCheck(IndexExpr.of(gap.name), 1))
                ranges[gap.name] = gap.range
                terms.append(gap)
            if term.name in taken:
                again = term.name + AGAIN * len(taken)
                tests.append(BoundsCheck(IndexExpr.of(term.name) - IndexExpr.of(again), 1))
                ranges[again] = term.range
                term = replace(term, name=again)
            taken.add(term.name)
            terms.append(term)
            stride = term.coefficient * term.range.extent
        least = int(expr.constant) + sum(t.least for t in terms)
        axes.append(Axis(least, tuple(reversed(terms))))
    return axes


def _fitted(x: Value, axis: Axis, size: int, depth: int) -> Value:
    """Extend and cut an array along an axis of the output, with 0 at elements without points."""
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
    return dict(op.domain.ranges)


def _add_tests(op: ContractionOp, ranges: Ranges, tests: list[BoundsCheck]) -> None:
    """Add the conditions of a point that the ranges do not imply."""
    for constraint in op.constraints:
        expr, bound = constraint.data.expr, int(constraint.data.bound.constant)
        if not Axis.of(expr, ranges).within(bound):
            tests.append(BoundsCheck(expr, bound))
    is_sum = op.aggregation.data == Aggregation.add and op.default is None
    if not is_sum or op.combination.data not in PADDED:
        for value, access in zip(op.inputs, op.accesses, strict=True):
            for expr, size in zip(access.data, shape_of(tensor_type(value)) or (), strict=True):
                if not Axis.of(expr, ranges).within(size or 0):
                    tests.append(BoundsCheck(expr, size or 0))
    if not all(test.expr.names for test in tests):
        raise refuse(op, "it has no points")


@dataclass(frozen=True)
class TileToLiftPass(ModulePass):
    """Expresses contractions as patterns, for Lift's rewrite rules.

    Each operand is padded, sliced, slid over and transposed to an array with an axis for each
    index; maps over the output's indices go around reductions over the others. A contraction needs
    ranges and integer coefficients, as `tile-bounds`, `tile-reduce` and `tile-defract` make them.
    Constraints that its ranges do not imply are tested at each point. Beyond its edges an operand
    of a sum is 0, so that a point that Tile leaves out adds a product with 0: it is the same for
    finite elements. Contractions that patterns do not express stay as they are; named, they are an
    error.
    """

    name = "tile-to-lift"

    tensors: tuple[str, ...] = ()
    """Names of the contractions' results; all, if left out."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Express every contraction that can be."""
        found = ops_of(op, ContractionOp)
        names = [name_of(x.result) for x in found]
        for name in self.tensors:
            if name not in names:
                raise TileError(f"there is no contraction {name}; there is {', '.join(names)}")
        refused: list[TileError] = []
        for contraction, name in zip(found, names, strict=True):
            if self.tensors and name not in self.tensors:
                continue
            try:
                _replace(contraction)
            except TileError as error:
                if self.tensors:
                    raise
                refused.append(error)
        if refused and len(refused) == len(found):
            raise refused[0]


def _replace(op: ContractionOp) -> None:
    if isinstance(op.parent_op(), KernelOp):
        raise refuse(op, "it is in a kernel; run tile-to-lift before tile-fuse")
    block = Block()
    try:
        with unplaced(), fresh_names(), ImplicitBuilder(block):
            value = to_lift(op).ssa
        for new in block.walk():
            new.verify(verify_nested_ops=False)
        if value.type != op.result.type:
            raise VerifyException(f"the patterns give {value.type}, not {op.result.type}")
    except VerifyException as error:
        block.erase(safe_erase=False)
        raise refuse(op, str(error)) from None
    except TileError:
        block.erase(safe_erase=False)
        raise
    for new in block.walk():
        keep_place(new, op)
    Rewriter.inline_block(block, InsertPoint.before(op))
    keep_name(value, op.result)
    op.result.replace_all_uses_with(value)
    op.detach()
    op.erase()
