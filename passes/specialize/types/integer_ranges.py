"""Integer ranges: bounds of integers computed from sizes, positions and numbers of the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import IntegerType, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile import special
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import TileOp, name_of, shape_of, size_of, tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.meetings import element_type, lacks_width, meetings
from tiledialect.index import sets
from tiledialect.index.contraction import UnboundedIndexError
from tiledialect.ir.names import keep_place
from tiledialect.passes.diagnostics.reporting import placed

IntegerRange = tuple[int, int]
"""The least and the greatest value."""

LARGE = 2**128
"""Bound beyond which ranges are not followed."""


@dataclass
class IntegerRanges:
    """Gives integers the width that holds them, where their ranges follow from sizes.

    An integer is *open* if it is computed from positions, sizes, numbers of the text and bools
    alone. Its type is i32 if that holds it, else i64. Integers with a type of their own that wrap
    get a warning.
    """

    known: dict[Operation, IntegerRange] = field(default_factory=dict[Operation, IntegerRange])
    """Ranges of the integers that ops compute."""
    open: set[Operation] = field(default_factory=set[Operation])

    def visit(self, op: TileOp, may_widen: bool) -> str | None:
        """Convert the operands of an op to i64, in place, if its integers do not fit their type.

        Operands are converted where the result's type is not declared. Returns a warning where
        integers wrap nevertheless.
        """
        exact = self._range_of_result(op)
        t = _computed_type(op)
        found = meetings(op)
        if not found or t is None:
            self._note(op, exact)
            return None
        (*_, meeting) = found
        if all(lacks_width(v) or v.owner in self.open for v in meeting.values):
            self.open.add(op)
        ranges = [self.range_of(v) for v in meeting.values]
        needed = [r for r in (*ranges, exact) if r is not None]
        may_widen = op in self.open and t == i32 and (may_widen or not meeting.gives_result)
        if may_widen and not all(_fits(i32, r) for r in needed):
            for k in meeting.positions:
                if element_type(op.operands[k]) != et.index:
                    op.operands[k] = self._converted(op.operands[k], op)
            t = i64
        if exact is None or not meeting.gives_result or _fits(t, exact):
            self._note(op, exact)
            return None
        return _wraps(op, t, exact)

    def range_of(self, value: SSAValue) -> IntegerRange | None:
        """Range of an integer, if it follows from sizes."""
        if (constant := constant_of(value)) is not None:
            return (constant.number, constant.number) if isinstance(constant.number, int) else None
        if isinstance(value.owner, Operation) and value.owner in self.known:
            return self.known[value.owner]
        return (0, 1) if element_type(value) == i1 else None

    def _note(self, op: TileOp, found: IntegerRange | None) -> None:
        if found is not None and max(map(abs, found)) < LARGE:
            self.known[op] = found

    def _converted(self, value: SSAValue, before: Operation) -> SSAValue:
        cast = ew.CastOp.to(value, i64)
        keep_place(cast, before)
        Rewriter.insert_op(cast, InsertPoint.before(before))
        self._note(cast, self.range_of(value))
        self.open.add(cast)
        return cast.result

    def _range_of_result(self, op: TileOp) -> IntegerRange | None:
        if isinstance(op, ew.CastOp):
            found, t = self.range_of(op.operand), element_type(op.result)
            return found if found is not None and _fits(t, found) else None
        if isinstance(op, ew.IndexOp):
            shape = shape_of(tensor_type(op.operand)) or ()
            return 0, max(0, shape[op.axis.value.data] - 1)
        if isinstance(op, special.ShapeOp):
            shape = shape_of(tensor_type(op.operand)) or ()
            return min(shape, default=0), max(shape, default=0)
        values = [v for meeting in meetings(op) if meeting.gives_result for v in meeting.values]
        ranges = [r for v in values if (r := self.range_of(v)) is not None]
        if not values or len(ranges) < len(values):
            return None
        if isinstance(op, ContractionOp):
            return _aggregated(op, ranges)
        if isinstance(op, special.ScatterOp):
            return _summed(ranges[0], size_of(op.indices))
        if isinstance(op, special.SumToOp):
            return _summed(ranges[0], size_of(op.operand))
        rule = RULES.get(type(op))
        return rule(*ranges) if rule is not None else None


def _computed_type(op: TileOp) -> Attribute | None:
    """Integer type in which an op is computed; None if there is none."""
    t = op.operand_type() if isinstance(op, ew.ElementwiseOp) else op.inferred_type().element_type
    # Numbers of the text alone are computed in 64 bits.
    t = i64 if t == et.index else t
    return t if isinstance(t, IntegerType) and t != i1 else None


def _fits(t: Attribute, found: IntegerRange) -> bool:
    """Whether an integer type holds a range."""
    if not isinstance(t, IntegerType):
        return False
    return all(et.holds(t, number) for number in found)


def _wraps(op: TileOp, t: Attribute, exact: IntegerRange) -> str:
    (result,) = op.results
    name = name_of(result) if result.name_hint else "an integer here"
    low, high = et.limits(t)
    beyond = exact[1] if exact[1] > high else exact[0]
    wider = "compute it in reals" if t == i64 else "compute it from as_int(…, 64)"
    limit = high if exact[1] > high else low
    return placed(
        op,
        f"{name} is of type {et.type_name(t)} and wraps beyond {limit}, where it may be {beyond}; "
        f"{wider}",
    )


# -- ranges of results ---------------------------------------------------------------------------


def hull(*ranges: IntegerRange) -> IntegerRange:
    """Smallest range that holds others."""
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _around(*numbers: int) -> IntegerRange:
    return min(numbers), max(numbers)


def _product(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    return _around(*(x * y for x in a for y in b))


def _absolute(a: IntegerRange) -> IntegerRange:
    low, high = sorted(map(abs, a))
    return (0 if a[0] <= 0 <= a[1] else low), high


def _quotient(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    most = _absolute(a)[1]
    return (0 if a[0] >= 0 and b[0] >= 0 else -most), most


def _remainder(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    divisor = _absolute(b)
    most = _absolute(a)[1]
    # The remainder of a division by 0 is the dividend.
    most = min(most, divisor[1] - 1) if divisor[0] > 0 else most
    return (-most if a[0] < 0 else 0), (most if a[1] > 0 else 0)


def _power(a: IntegerRange, b: IntegerRange) -> IntegerRange | None:
    if b[0] < 0:
        return None
    if a[0] >= 0:
        return _around(*(_raised(x, y) for x in a for y in b))
    most = max(1, _raised(_absolute(a)[1], b[1]))
    return -most, most


def _raised(number: int, exponent: int) -> int:
    """A power, or `LARGE` if it is larger."""
    return min(LARGE, number ** min(exponent, LARGE.bit_length()))


def _left(a: IntegerRange, b: IntegerRange) -> IntegerRange | None:
    return _product(a, (2 ** b[0], 2 ** b[1])) if b[0] >= 0 and b[1] < 64 else None


def _right(a: IntegerRange, b: IntegerRange) -> IntegerRange | None:
    return hull(a, (0, 0)) if b[0] >= 0 else None


def _bits(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    """The numbers of as many bits as either takes."""
    most = 2 ** max(max(r[1], -1 - r[0]).bit_length() for r in (a, b))
    return (0 if a[0] >= 0 <= b[0] else -most), most - 1


def _common_bits(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    positive = [r[1] for r in (a, b) if r[0] >= 0]
    return (0, min(positive)) if positive else _bits(a, b)


def _summed(a: IntegerRange, count: int) -> IntegerRange:
    """Range of a sum of as many terms, or fewer."""
    return min(0, a[0] * count), max(0, a[1] * count)


def _multiplied(a: IntegerRange, count: int) -> IntegerRange:
    """Range of a product of as many factors, or fewer."""
    most = max(_absolute(a)[1], _raised(_absolute(a)[1], count))
    return (-most if a[0] < 0 else 0), most


def _aggregated(op: ContractionOp, ranges: Sequence[IntegerRange]) -> IntegerRange | None:
    """Range of a contraction of tensors with given ranges; the last one is the default's, if
    any.
    """
    default = ranges[-1] if op.default is not None else (0, 0)
    terms = ranges[: len(op.inputs)]
    if op.combination.data is Combination.mul:
        found = terms[0]
        for term in terms[1:]:
            found = _product(found, term)
    elif op.combination.data in (Combination.none, Combination.add):
        found = sum(low for low, _ in terms), sum(high for _, high in terms)
    else:
        return None
    if op.aggregation.data is Aggregation.mul:
        found = hull((0, 0), _multiplied(found, _most_points(op)))
    if op.aggregation.data is Aggregation.add:
        found = _summed(found, _most_points(op))
    return hull(found, default)


def _most_points(op: ContractionOp) -> int:
    """Upper bound of the points that land on one element: those along all indices that the output
    has not alone.
    """
    try:
        box = sets.ranges(op.space())
    except UnboundedIndexError:
        return 0  # Another pass refuses it.
    alone = {expr.variable for expr in op.output.data}
    return prod(r.extent for name, r in box.items() if name not in alone)


Rule = Callable[..., IntegerRange | None]
"""Range of an op's result, if it did not wrap, by the ranges of its operands."""

UNARY: dict[type[Operation], Callable[[IntegerRange], IntegerRange | None]] = {
    ew.AbsOp: _absolute,
    ew.BitNotOp: lambda a: (-1 - a[1], -1 - a[0]),
    ew.IdentOp: lambda a: a,
    ew.NegOp: lambda a: (-a[1], -a[0]),
    ew.ReluOp: lambda a: (max(0, a[0]), max(0, a[1])),
    special.GatherOp: lambda a: a,
    special.ReshapeOp: lambda a: a,
}
BINARY: dict[type[Operation], Callable[[IntegerRange, IntegerRange], IntegerRange | None]] = {
    ew.AddOp: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ew.BitAndOp: _common_bits,
    ew.BitLeftOp: _left,
    ew.BitOrOp: _bits,
    ew.BitRightOp: _right,
    ew.BitXorOp: _bits,
    ew.DivOp: _quotient,
    ew.MaxOp: lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    ew.MinOp: lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    ew.MulOp: _product,
    ew.PowOp: _power,
    ew.RemOp: _remainder,
    ew.SelectOp: hull,
    ew.SubOp: lambda a, b: (a[0] - b[1], a[1] - b[0]),
}
RULES: dict[type[Operation], Rule] = {**UNARY, **BINARY}
"""Rules of the ops that compute integers from sizes and positions."""
