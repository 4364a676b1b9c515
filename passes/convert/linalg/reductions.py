"""Reductions: bodies that aggregate into the element that they write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.index.expr import IndexExpr
from tiledialect.passes.convert.linalg.bodies import Body
from tiledialect.passes.convert.linalg.elements import Element, Space, filled
from tiledialect.passes.convert.linalg.scalar_ops import unsigned


@dataclass(frozen=True)
class Aggregating:
    """Aggregation by a scalar op: the aggregation, the op on whole tensors, the neutral number."""

    aggregation: Aggregation
    op: type[ew.ElementwiseOp]
    is_unsigned: bool = False
    skips_nan: bool = False

    def neutral(self, t: Attribute) -> int | float:
        """The number that changes nothing."""
        if self.aggregation in (Aggregation.add, Aggregation.mul):
            number = int(self.aggregation is Aggregation.mul)
            return float(number) if et.is_float(t) else number
        is_max = self.aggregation is Aggregation.max
        if et.is_float(t):
            return float("-inf") if is_max else float("inf")
        return et.limits(t)[0 if is_max else 1]


AGGREGATING: dict[str, Aggregating] = {
    "arith.addf": Aggregating(Aggregation.add, ew.AddOp),
    "arith.addi": Aggregating(Aggregation.add, ew.AddOp),
    "arith.mulf": Aggregating(Aggregation.mul, ew.MulOp),
    "arith.muli": Aggregating(Aggregation.mul, ew.MulOp),
    "arith.maximumf": Aggregating(Aggregation.max, ew.MaxOp),
    "arith.maxsi": Aggregating(Aggregation.max, ew.MaxOp),
    "arith.maxui": Aggregating(Aggregation.max, ew.MaxOp, is_unsigned=True),
    "arith.maxnumf": Aggregating(Aggregation.max, ew.MaxOp, skips_nan=True),
    "arith.minimumf": Aggregating(Aggregation.min, ew.MinOp),
    "arith.minsi": Aggregating(Aggregation.min, ew.MinOp),
    "arith.minui": Aggregating(Aggregation.min, ew.MinOp, is_unsigned=True),
    "arith.minnumf": Aggregating(Aggregation.min, ew.MinOp, skips_nan=True),
}
OF_BOOLS: dict[str, Aggregating] = {
    "arith.ori": AGGREGATING["arith.maxsi"],
    "arith.andi": AGGREGATING["arith.minsi"],
    "arith.muli": AGGREGATING["arith.minsi"],
    "arith.maxui": AGGREGATING["arith.maxsi"],
    "arith.minui": AGGREGATING["arith.minsi"],
    "arith.maxsi": AGGREGATING["arith.minsi"],
    "arith.minsi": AGGREGATING["arith.maxsi"],
}
"""Aggregations of bools, which are 0 and -1 to ops on signed integers."""

FLOAT_CASTS = (arith.ExtFOp, arith.TruncFOp)


@dataclass(frozen=True)
class Term:
    """Value that is aggregated: a product of factors, maybe negated, where conditions hold."""

    factors: tuple[SSAValue, ...]
    is_negated: bool = False
    conditions: tuple[SSAValue, ...] = ()


@dataclass(frozen=True)
class Reduction:
    """Aggregation of terms into an accumulator."""

    kind: Aggregating
    terms: tuple[Term, ...]


class Accumulation:
    """Use of an accumulator in a body."""

    def __init__(self, accumulator: BlockArgument):
        self.accumulator = accumulator
        self.known: dict[SSAValue, bool] = {accumulator: True}

    def uses(self, value: SSAValue) -> bool:
        """Whether a value depends on the accumulator."""
        pending = [value]
        while pending:
            current = pending[-1]
            op = current.owner
            operands = op.operands if isinstance(op, Operation) else ()
            missing = [v for v in operands if v not in self.known]
            if current not in self.known and missing:
                pending += missing
                continue
            pending.pop()
            self.known.setdefault(current, any(self.known[v] for v in operands))
        return self.known[value]

    def reduction(self, value: SSAValue) -> Reduction | None:
        """The reduction that a yielded value is, if it is one."""
        terms: list[Term] = []
        kinds: set[Aggregating] = set()
        conditions: tuple[SSAValue, ...] = ()
        while value is not self.accumulator:
            op = value.owner
            if not isinstance(op, Operation):
                return None
            if self._is_guard(op):
                conditions, value = (*conditions, op.operands[0]), op.operands[1]
                continue
            used = [v for v in op.operands if self.uses(v)]
            if len(used) != 1:
                step = self._selected(op)
                if step is None:
                    return None
                kind, term, value = step
            elif isinstance(op, FLOAT_CASTS):
                (value,) = used
                continue
            else:
                found = self._step(op, used[0])
                if found is None:
                    return None
                kind, term = found
                (value,) = used
            kinds.add(kind)
            terms.append(replace(term, conditions=conditions))
        if len(kinds) != 1:
            return None
        return Reduction(kinds.pop(), tuple(reversed(terms)))

    def _is_guard(self, op: Operation) -> bool:
        """Whether an op chooses the accumulator where a condition does not hold."""
        if not isinstance(op, arith.SelectOp) or op.rhs is not self.accumulator:
            return False
        return not self.uses(op.cond) and self.uses(op.lhs)

    def _step(self, op: Operation, used: SSAValue) -> tuple[Aggregating, Term] | None:
        if isinstance(op, arith.SubfOp | arith.SubiOp) and op.lhs is used and op.lhs.type != i1:
            return AGGREGATING["arith.addf"], Term((op.rhs,), is_negated=True)
        if isinstance(op, math.FmaOp) and op.c is used:
            return AGGREGATING["arith.addf"], Term((op.a, op.b))
        kind = (OF_BOOLS if used.type == i1 else AGGREGATING).get(op.name)
        if kind is None:
            return None
        (other,) = (v for v in op.operands if v is not used)
        return kind, Term(_factors(other))

    def _selected(self, op: Operation) -> tuple[Aggregating, Term, SSAValue] | None:
        """A choice of the larger or smaller of a value and the accumulator."""
        if not isinstance(op, arith.SelectOp):
            return None
        compared = op.cond.owner
        if not isinstance(compared, arith.CmpfOp | arith.CmpiOp):
            return None
        is_real = isinstance(compared, arith.CmpfOp)
        names = arith.CMPF_COMPARISON_OPERATIONS if is_real else arith.CMPI_COMPARISON_OPERATIONS
        predicate = names[compared.predicate.value.data]
        signs = "o" if is_real else "su"
        if predicate[0] not in signs or predicate[1:] not in ("gt", "ge", "lt", "le"):
            return None
        chosen, other, pair = op.lhs, op.rhs, (compared.lhs, compared.rhs)
        is_more = predicate[1] == "g"
        if pair == (other, chosen):
            is_more = not is_more
        elif pair != (chosen, other):
            return None
        value, used = (chosen, other) if self.uses(other) else (other, chosen)
        # A comparison with a NaN does not hold: the other one of the two is taken.
        if self.uses(value) or (is_real and used is not other):
            return None
        kind = "numf" if is_real else predicate[0] + "i"
        return AGGREGATING[f"arith.{'max' if is_more else 'min'}{kind}"], Term((value,)), used


def _factors(value: SSAValue) -> tuple[SSAValue, ...]:
    """The factors of a product, at most three."""
    op = value.owner
    if not isinstance(op, arith.MulfOp | arith.MuliOp) or value.type == i1:
        return (value,)
    left = _factors(op.lhs)
    return (*left, op.rhs) if len(left) < 3 else (value,)


def aggregate(
    body: Body,
    reduction: Reduction,
    output: tuple[IndexExpr, ...],
    initial: SSAValue,
) -> SSAValue:
    """The tensor of an initial value and the terms of a reduction."""
    space, kind = body.space, reduction.kind
    shape, t = space.shape(initial), tensor_type(initial).element_type
    access = tuple(IndexExpr.of(f"axis{k}") for k in range(len(shape)))
    number = filled(initial)
    total = None
    if not _is_neutral(number, kind, t):
        total = Element(initial, access) if number is None else Element(number)
    if total is not None and kind.is_unsigned:
        total = unsigned(space, total)
    for term in reduction.terms:
        part = Element(_contraction(body, kind, term, output, shape, t), access)
        if total is None:
            total = space.apply(ew.NegOp, part) if term.is_negated else part
        else:
            total = space.apply(ew.SubOp if term.is_negated else kind.op, total, part)
    assert total is not None
    return space.cast(total, t).value


def _is_neutral(number: SSAValue | None, kind: Aggregating, t: Attribute) -> bool:
    constant = None if number is None else constant_of(number)
    return constant is not None and not kind.is_unsigned and constant.number == kind.neutral(t)


def _contraction(
    body: Body,
    kind: Aggregating,
    term: Term,
    output: tuple[IndexExpr, ...],
    shape: Sequence[int | SSAValue],
    t: Attribute,
) -> SSAValue:
    """The aggregate of a term over the loops that an output lacks."""
    space = body.space
    values = _stripped(term.factors, t)
    elements = [body.element(v) for v in values]
    constraints, others = body.constraints(term.conditions)
    if others:
        elements = [_where(body, others, elements, kind.neutral(t))]
    # A number is no tensor of a product.
    numbers = [e for e in elements if not e.access]
    elements = [e for e in elements if e.access]
    for number in numbers:
        first = elements[0] if elements else None
        elements[:1] = [space.apply(ew.MulOp, number, first) if first else number]
    short = [e.element_type in et.SHORT_FLOATS for e in elements]
    is_wide = all(short) and t == et.CONCRETE["f32"]
    if not is_wide:
        elements = [space.cast(e, t) for e in elements]
    if kind.is_unsigned:
        elements = [unsigned(space, e) for e in elements]
    own = elements[0].element_type
    if kind.skips_nan:
        elements = [_without_nan(space, e, kind.neutral(own)) for e in elements]
    loops = [name for name, size in space.ranges.items() if size != 1]
    used = {name for e in elements for expr in e.access for name in expr.names}
    is_filled = (
        not constraints
        and space.covers(output, shape)
        and all(isinstance(size, int) and size > 0 for size in space.ranges.values())
    )
    needs_default = not is_filled and kind.aggregation is not Aggregation.add
    default = None
    if needs_default:
        default = space.builder.insert(ew.ConstantOp.of(kind.neutral(own), own))
    is_idempotent = kind.aggregation in (Aggregation.max, Aggregation.min)
    return space.contract(
        kind.aggregation,
        Combination.mul if len(elements) > 1 else Combination.none,
        *(output, shape, elements),
        default=default,
        loops=[n for n in loops if n in used or not (is_idempotent and is_filled)],
        constraints=constraints,
        is_wide=is_wide,
    )


def _where(
    body: Body, conditions: Sequence[SSAValue], factors: Sequence[Element], number: int | float
) -> Element:
    """A product where conditions hold, else a number."""
    apply = body.space.apply
    product, *rest = factors
    for factor in rest:
        product = apply(ew.MulOp, product, factor)
    for condition in conditions:
        t = product.element_type
        product = apply(ew.SelectOp, body.element(condition), product, number)
        product = body.space.cast(product, t)
    return product


def _without_nan(space: Space, element: Element, number: int | float) -> Element:
    is_nan = space.apply(ew.CmpNeOp, element, element)
    return space.cast(space.apply(ew.SelectOp, is_nan, number, element), element.element_type)


def _stripped(factors: Sequence[SSAValue], t: Attribute) -> Sequence[SSAValue]:
    """Factors of 16 bits, which a contraction widens itself."""
    sources: list[SSAValue] = []
    for value in factors:
        op = value.owner
        if t != et.CONCRETE["f32"] or not isinstance(op, arith.ExtFOp):
            return factors
        sources.append(op.input)
    return sources if len({v.type for v in sources}) == 1 else factors
