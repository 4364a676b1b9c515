"""Bodies of structured ops: the values that they compute at each point of the loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import affine, arith, linalg, math, tensor
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, TensorType, i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile import elementwise as ew
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.dialects.tile.special import GatherOp, ReshapeOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.convert.linalg.elements import (
    Element,
    Space,
    filled,
    loops_of,
    sizes_of,
)
from tiledialect.passes.convert.linalg.scalar_ops import EMITTERS, emit, unsigned


def affine_expr(expr: AffineExpr, names: Sequence[IndexExpr], op: Operation) -> IndexExpr:
    """An expression of MLIR's dimensions and symbols as an index expression."""
    match expr:
        case AffineConstantExpr():
            return IndexExpr.of(expr.value)
        case AffineDimExpr() | AffineSymExpr():
            return names[expr.position]
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            return affine_expr(expr.lhs, names, op) + affine_expr(expr.rhs, names, op)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul):
            a, b = affine_expr(expr.lhs, names, op), affine_expr(expr.rhs, names, op)
            if a.is_constant or b.is_constant:
                return a * b
        case _:
            pass
    raise TileError.at(op, f"the index expression {expr} of {op.name} is not affine")


@dataclass
class Body:
    """Evaluation of the body of an op, or of scalars outside of one."""

    space: Space
    op: Operation
    """Op that is converted."""
    elements: dict[SSAValue, Element] = field(default_factory=dict[SSAValue, Element])
    """Values of the body's arguments, and those computed so far."""

    @property
    def builder(self) -> TensorBuilder:
        """The builder of the ops."""
        return self.space.builder

    def element(self, value: SSAValue) -> Element:
        """The element that a scalar value is at each point."""
        pending = [value]
        while pending:
            current = pending[-1]
            if current in self.elements:
                pending.pop()
            elif missing := [v for v in self._needed(current) if v not in self.elements]:
                pending += missing
            else:
                self.elements[current] = self._compute(current)
        return self.elements[value]

    def _needed(self, value: SSAValue) -> Sequence[SSAValue]:
        op = value.owner
        if isinstance(op, Block):
            return ()
        if isinstance(op, tensor.ExtractOp):
            return () if self._affine_places(op) is not None else op.indices
        if op.name in EMITTERS or isinstance(op, affine.ApplyOp):
            return op.operands
        return ()

    def _compute(self, value: SSAValue) -> Element:
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr | FloatAttr):
            return Element(self.builder.insert(constant(op.value)))
        if isinstance(op, linalg.ops.IndexOp):
            return self.position(tuple(self.space.ranges)[op.dim.value.data])
        if isinstance(op, tensor.ExtractOp):
            return self._extracted(op)
        if isinstance(op, affine.ApplyOp):
            operands = [self.elements[v] for v in op.operands]
            dims = op.map.data.num_dims
            return self._applied(op, op.map.data.results[0], operands[:dims], operands[dims:])
        if isinstance(op, Operation) and op.name in EMITTERS:
            return emit(self.space, op, [self.elements[v] for v in op.operands])
        if isinstance(value.type, IndexType):
            return Element(self.builder.insert(ew.SizeOp.of(value)))
        name = f"{op.name} in {self.op.name}" if isinstance(op, Operation) else "an argument"
        at = op if isinstance(op, Operation) else self.op
        raise TileError.at(at, f"{name} gives a scalar that the tile dialect cannot compute")

    def position(self, loop: str) -> Element:
        """The position along a loop; a tensor that has this axis gives it."""
        for element in self.elements.values():
            loops = loops_of(element.access)
            if loops is not None and loop in loops:
                made = ew.IndexOp.along(element.value, loops.index(loop))
                return Element(self.builder.insert(made), element.access)
        zero = Element(self.builder.number(0))
        line = self.builder.insert(ew.CastOp.to(zero.value, et.CONCRETE["i32"]))
        access = (IndexExpr.of(loop),)
        value = self.space.place(
            *(Element(line), access, [self.space.ranges[loop]], et.CONCRETE["i32"], None)
        )
        return Element(self.builder.insert(ew.IndexOp.along(value, 0)), access)

    def _affine_places(self, op: tensor.ExtractOp) -> list[IndexExpr] | None:
        places = [self.affine(v) for v in op.indices]
        return None if None in places else [p for p in places if p is not None]

    def affine(self, value: SSAValue) -> IndexExpr | None:
        """An index as an affine expression of the loops; None if it is none."""
        op = value.owner
        if (number := constant_integer(value)) is not None:
            return IndexExpr.of(number)
        if isinstance(op, linalg.ops.IndexOp):
            return IndexExpr.of(tuple(self.space.ranges)[op.dim.value.data])
        if isinstance(op, affine.ApplyOp):
            found = [self.affine(v) for v in op.operands]
            names = [e for e in found if e is not None]
            if len(names) == len(found):
                try:
                    dims = op.map.data.num_dims
                    expr = op.map.data.results[0].replace_dims_and_symbols(
                        [AffineExpr.dimension(k) for k in range(dims)],
                        [AffineExpr.dimension(dims + k) for k in range(len(found) - dims)],
                    )
                    return affine_expr(expr, names, op)
                except TileError:
                    return None
        if isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp):
            a, b = self.affine(op.lhs), self.affine(op.rhs)
            if a is None or b is None:
                return None
            if isinstance(op, arith.AddiOp):
                return a + b
            if isinstance(op, arith.SubiOp):
                return a - b
            return a * b if a.is_constant or b.is_constant else None
        return None

    def _extracted(self, op: tensor.ExtractOp) -> Element:
        """An element of a whole tensor; where the place is computed, by a gather."""
        places = self._affine_places(op)
        if places is not None:
            return Element(op.tensor, tuple(places))
        sizes = sizes_of(self.builder, op.tensor)
        if any(not isinstance(s, int) for s in sizes[1:]):
            raise TileError.at(
                op, "tensor.extract at computed places needs a tensor of known shape"
            )
        place = Element(self.builder.number(0))
        for size, index in zip(sizes, op.indices, strict=True):
            scaled = self.space.apply(ew.MulOp, place, size) if isinstance(size, int) else place
            place = self.space.apply(ew.AddOp, scaled, self.elements[index])
        place = self.space.cast(place, et.CONCRETE["i32"])
        flat = op.tensor
        if len(sizes) != 1:
            count = 1
            for size in sizes:
                count = count * size if isinstance(size, int) else count
            flat = self.builder.insert(ReshapeOp.of(flat, [count]))
        return Element(self.builder.insert(GatherOp.make(flat, place.value)), place.access)

    def _applied(
        self,
        op: Operation,
        expr: AffineExpr,
        dims: Sequence[Element],
        symbols: Sequence[Element],
    ) -> Element:
        """An affine expression of computed indices."""
        match expr:
            case AffineConstantExpr():
                return Element(self.builder.number(expr.value))
            case AffineDimExpr():
                return dims[expr.position]
            case AffineSymExpr():
                return symbols[expr.position]
            case AffineBinaryOpExpr():
                a = self._applied(op, expr.lhs, dims, symbols)
                b = self._applied(op, expr.rhs, dims, symbols)
                return self._binary(expr.kind, a, b)
            case _:
                raise TileError.at(op, f"{op.name} has no counterpart in the tile dialect")

    def _binary(self, kind: AffineBinaryOpKind, a: Element, b: Element) -> Element:
        apply = self.space.apply
        if kind is AffineBinaryOpKind.Add:
            return apply(ew.AddOp, a, b)
        if kind is AffineBinaryOpKind.Mul:
            return apply(ew.MulOp, a, b)
        # Divisors are positive.
        rest = apply(ew.RemOp, a, b)
        below = apply(ew.CmpLtOp, rest, 0)
        if kind is AffineBinaryOpKind.Mod:
            return apply(ew.SelectOp, below, apply(ew.AddOp, rest, b), rest)
        quotient = apply(ew.DivOp, a, b)
        if kind is AffineBinaryOpKind.FloorDiv:
            return apply(ew.SelectOp, below, apply(ew.SubOp, quotient, 1), quotient)
        above = apply(ew.CmpGtOp, rest, 0)
        return apply(ew.SelectOp, above, apply(ew.AddOp, quotient, 1), quotient)


def constant(value: IntegerAttr | FloatAttr[et.Attribute], t: Attribute | None = None):  # pyright: ignore[reportInvalidTypeArguments]
    """A number of IR as a constant; an index has no width."""
    t = value.type if t is None else t
    number = value.value.data
    if t == i1:
        number = int(number != 0)
    return ew.ConstantOp.of(number, None if isinstance(t, IndexType) else t)


# -- aggregation ---------------------------------------------------------------------------------


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
    """Value that is aggregated: a product of factors, maybe negated."""

    factors: tuple[SSAValue, ...]
    is_negated: bool = False


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
        while value is not self.accumulator:
            op = value.owner
            if not isinstance(op, Operation):
                return None
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
            terms.append(term)
        if len(kinds) != 1:
            return None
        return Reduction(kinds.pop(), tuple(reversed(terms)))

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
        if predicate[0] not in ("o" if is_real else "su") or predicate[1:3] not in (
            "gt",
            "ge",
            "lt",
            "le",
        ):
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
    total = None if _is_neutral(initial, kind) else Element(initial, access)
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


def _is_neutral(initial: SSAValue, kind: Aggregating) -> bool:
    number = filled(initial)
    t = tensor_type(initial).element_type
    return number is not None and not kind.is_unsigned and number.number == kind.neutral(t)


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
    is_filled = space.covers(output, shape) and all(
        isinstance(size, int) and size > 0 for size in space.ranges.values()
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
        is_wide=is_wide,
    )


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


def is_tensor(value: SSAValue) -> bool:
    """Whether a value is a tensor of known rank."""
    return isinstance(value.type, TensorType)
