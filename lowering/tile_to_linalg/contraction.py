"""Contractions as loop nests of linalg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.aggregation import accumulator_type, neutral
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.index.integer.expressions import Condition, Expr, both, less, less_equal, mod
from tiledialect.index.sets import Guard, GuardKind
from tiledialect.lowering.tile_to_linalg.nests import Access, Loop, Point
from tiledialect.lowering.tile_to_linalg.values import Values
from tiledialect.lowering.tile_to_nest.accumulators import AGGREGATE, combined, neutral_operands


def contraction(values: Values, op: ContractionOp) -> SSAValue:
    """The result of a contraction."""
    space = op.space()
    ranges = sets.ranges(space) if op.domain is None else op.domain.ranges
    default = _default(values, op)
    if sets.is_empty(space) or any(r.extent == 0 for r in ranges.values()):
        return default
    return _Contraction(values, op, ranges).result(default)


def _default(values: Values, op: ContractionOp) -> SSAValue:
    """The elements on which nothing lands."""
    t = tensor_type(op.result)
    if op.default is not None and constant_of(op.default) is None:
        return values.converted(op.default, t.element_type)
    constant = None if op.default is None else constant_of(op.default)
    number = 0 if constant is None else constant.number
    return values.linalg.filled(number, shape_of(t) or (), t.element_type)


def _is_zero(op: ContractionOp) -> bool:
    """Whether elements on which nothing lands are 0."""
    return op.default is None


class _Contraction:
    """Loop nest of a contraction that has points."""

    def __init__(self, values: Values, op: ContractionOp, ranges: Mapping[str, Range]):
        self.values = values
        self.op = op
        self.space = op.space()
        self.aggregation = op.aggregation.data
        self.t = accumulator_type(op)
        self.shape = shape_of(tensor_type(op.result)) or ()
        self.ranges = ranges
        self.shifts = {name: IndexExpr.of(name) + r.lower for name, r in ranges.items()}
        self.loops = [Loop(name, r.extent) for name, r in ranges.items()]
        self.guards = list(sets.guards(self.space, ranges))
        self.box = [self._interval(e, "writes to") for e in op.output.data]
        """The part of each axis that the loops reach; it may leave the result."""
        self.inner = [
            Range(max(0, r.lower), min(n, r.upper))
            for r, n in zip(self.box, self.shape, strict=True)
        ]
        """The part of the box in the result."""
        pairs = zip(op.output.data, self.box, strict=True)
        self.output = [e.substitute(self.shifts) - r.lower for e, r in pairs]

    def _interval(self, e: IndexExpr, verb: str) -> Range:
        if e.denominator != 1:
            raise TileError.at(self.op, f"no affine map of linalg {verb} [{e}]")
        least, greatest = sets.interval(e, self.ranges)
        return Range(least, greatest + 1)

    def inputs(self) -> list[tuple[SSAValue, Access]]:
        """The tensors that are read: padded where the loops leave them, and their parts."""
        neutrals = neutral_operands(self.op)
        found: list[tuple[SSAValue, Access]] = []
        first = len(self.op.output.data)
        for k, (value, access) in enumerate(zip(self.op.inputs, self.op.accesses, strict=True)):
            shape = shape_of(tensor_type(value)) or ()
            reached = [self._interval(e, "reads") for e in access.data]
            low = [max(0, -r.lower) for r in reached]
            high = [max(0, r.upper - n) for r, n in zip(reached, shape, strict=True)]
            made = self.values.of(value)
            if any((*low, *high)):
                number = neutrals[k] if k < len(neutrals) else None
                t = tensor_type(value).element_type
                made = self.values.linalg.padded(made, low, high, number or 0, t)
                if number is not None and len(self.op.inputs) == 1:
                    # The padding itself changes nothing.
                    own = range(first, first + len(shape))
                    self.guards = [g for g in self.guards if g.source not in own or _divides(g)]
            shifted = [e.substitute(self.shifts) + n for e, n in zip(access.data, low, strict=True)]
            found.append(self._part(made, shifted, reached, low))
            first += len(shape)
        return found

    def _part(
        self,
        value: SSAValue,
        access: Sequence[IndexExpr],
        reached: Sequence[Range],
        low: Sequence[int],
    ) -> tuple[SSAValue, Access]:
        """The part of a tensor along axes that are loops themselves, which linalg reads whole."""
        shape = shape_of(tensor_type(value)) or ()
        cut = [
            Range(r.lower + n, r.upper + n) if (e + -r.lower - n).variable else Range(0, size)
            for e, r, n, size in zip(access, reached, low, shape, strict=True)
        ]
        if all(r == Range(0, n) for r, n in zip(cut, shape, strict=True)):
            return value, access
        moved = [e - r.lower for e, r in zip(access, cut, strict=True)]
        return self.values.linalg.part(value, cut), moved

    def result(self, default: SSAValue) -> SSAValue:
        """The aggregates; elsewhere the default."""
        linalg, assigns = self.values.linalg, self.aggregation is Aggregation.assign
        inputs = self.inputs()
        sizes = [r.extent for r in self.box]
        is_whole = self.inner == [Range(0, n) for n in self.shape]
        is_inside = self.inner == self.box
        is_full = sets.covers_output(self.space) if is_whole else self._fills_box()
        before = default if is_whole or is_full else linalg.part(default, self.inner)
        if not is_inside:
            before = self._surrounded(before)
        t = tensor_type(self.op.result).element_type
        if not assigns:
            initial = linalg.filled(neutral(self.aggregation, self.t), sizes, self.t)
        elif is_full and not self.guards:
            initial = linalg.empty(sizes, et.storage_type(t))
        else:
            initial = before
        made = linalg.nest(self.loops, inputs, (initial, self.output), self._body)
        made = self.values.with_type(made, self.t, t)
        is_sum = self.aggregation is Aggregation.add and _is_zero(self.op)
        if not (assigns or is_full or is_sum):
            made = self._where_landed(made, before)
        if not is_inside:
            pairs = zip(self.inner, self.box, strict=True)
            made = linalg.part(
                made, [Range(r.lower - b.lower, r.upper - b.lower) for r, b in pairs]
            )
        return made if is_whole else linalg.with_part(default, made, self.inner)

    def _surrounded(self, value: SSAValue) -> SSAValue:
        """A tensor of the box around one in the result."""
        pairs = list(zip(self.inner, self.box, strict=True))
        low, high = [r.lower - b.lower for r, b in pairs], [b.upper - r.upper for r, b in pairs]
        t = tensor_type(self.op.result).element_type
        return self.values.linalg.padded(value, low, high, 0, t)

    def _fills_box(self) -> bool:
        """Whether a point lands on each element that the loops reach."""
        return (
            self.inner == self.box
            and all(e.is_constant or e.variable for e in self.output)
            and sets.is_full(self.space)
        )

    def _body(
        self, point: Point, elements: Sequence[SSAValue], indices: Mapping[str, Expr]
    ) -> Sequence[SSAValue]:
        old = elements[-1]
        value = combined(self.op, point.scalars, self.t, lambda k: elements[k])
        new = AGGREGATE[self.aggregation](point.scalars, self.t, old, value)
        if not self.guards:
            return [new]
        return [point.scalars.select(point.test(self._condition(indices)), new, old)]

    def _condition(self, indices: Mapping[str, Expr]) -> Condition:
        place = {name: indices[name] + r.lower for name, r in self.ranges.items()}
        return both(*(_holds(guard, place) for guard in self.guards))

    def _where_landed(self, made: SSAValue, default: SSAValue) -> SSAValue:
        """The result where a point landed, else the default."""
        linalg = self.values.linalg
        # All guards count here, also those that padding makes needless.
        self.guards = list(sets.guards(self.space, self.ranges))
        none = linalg.filled(0, [r.extent for r in self.box], i1)

        def lands(
            point: Point, elements: Sequence[SSAValue], indices: Mapping[str, Expr]
        ) -> Sequence[SSAValue]:
            if not self.guards:
                return [point.scalars.constant(1, i1)]
            hit = point.test(self._condition(indices))
            return [point.scalars.emit(arith.OrIOp(elements[-1], hit))]

        landed = linalg.nest(self.loops, [], (none, self.output), lands)
        return self.values.elementwise(
            [landed, made, default],
            made.type,
            lambda point, elements: point.scalars.select(*elements),
        )


def _divides(guard: Guard) -> bool:
    return guard.kind is GuardKind.DIVISIBLE


def _holds(guard: Guard, place: Mapping[str, Expr]) -> Condition:
    expr = Expr.of(guard.expr).substitute(place)
    if guard.kind is GuardKind.LOWER:
        return less_equal(0, expr)
    if guard.kind is GuardKind.UPPER:
        return less(expr, guard.bound)
    return less(mod(expr, guard.bound), 1)
