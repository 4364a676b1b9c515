"""Canonicalization patterns of the tile dialect."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, inf

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import HasCanonicalizationPatternsTrait

from tiledialect.dialects.tile.attributes import Aggregation, Combination, symbol, symbol_number
from tiledialect.dialects.tile.base import Shape, shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_integer, constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import is_float
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.unit_axes import ComputeUnitAxes
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.names import from_hint, keep_origin, take_name


@dataclass(frozen=True)
class NeutralOperand:
    """A constant that changes nothing as an operand of an op."""

    value: int | float
    side: int
    for_reals: bool = True
    """Whether it changes nothing for reals too: x + 0 is not x where x is -0."""

    def matches(self, number: int | float) -> bool:
        """Whether ``number`` is this one; -0.0 is not 0, as x - (-0.0) is not x where x is -0."""
        return number == self.value and copysign(1, number) == copysign(1, self.value)


NEUTRAL: dict[type[Operation], tuple[NeutralOperand, ...]] = {
    ew.AddOp: (NeutralOperand(0, 0, False), NeutralOperand(0, 1, False)),
    ew.SubOp: (NeutralOperand(0, 1),),
    ew.MulOp: (NeutralOperand(1, 0), NeutralOperand(1, 1)),
    ew.DivOp: (NeutralOperand(1, 1),),
    ew.PowOp: (NeutralOperand(1, 1),),
    ew.MaxOp: (NeutralOperand(-inf, 0), NeutralOperand(-inf, 1)),
    ew.MinOp: (NeutralOperand(inf, 0), NeutralOperand(inf, 1)),
    ew.BitOrOp: (NeutralOperand(0, 0), NeutralOperand(0, 1)),
    ew.BitXorOp: (NeutralOperand(0, 0), NeutralOperand(0, 1)),
    ew.BitLeftOp: (NeutralOperand(0, 1),),
    ew.BitRightOp: (NeutralOperand(0, 1),),
}


class DropNeutralOperand(RewritePattern):
    """`x * 1` is `x`, and the like, where that leaves the type as it is."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by its other operand."""
        for neutral in NEUTRAL.get(type(op), ()):
            constant = constant_of(op.operands[neutral.side])
            other = op.operands[1 - neutral.side]
            if constant is None or not neutral.matches(constant.number):
                continue
            if other.type != op.results[0].type:
                continue
            if neutral.for_reals or not is_float(tensor_type(other).element_type):
                drop(op, other, rewriter)
                return


MOST_FACTORS = 4
"""Largest exponent of a power that is multiplied out: three roundings, fewer than a power has."""


class MultiplyOut(RewritePattern):
    """`pow(x, 2)` is `x * x`, and so with other small integers; `pow(x, -1)` is `1 / x`.

    Functions of math libraries take as long for these as for any power, and for negative bases
    often much longer.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ew.PowOp, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by products of its base, or by its reciprocal."""
        base, exponent = op.operands[0], constant_of(op.operands[1])
        if exponent is None or base.type != op.res.type:
            return
        if exponent.number in range(2, MOST_FACTORS + 1):
            new = _products(base, int(exponent.number))
        elif exponent.number == -1 and is_float(tensor_type(base).element_type):
            new = [ew.RecipOp.make(base)]
        else:
            return
        keep_origin(new, op)
        rewriter.replace(op, new)


def _products(base: SSAValue, factors: int) -> list[Operation]:
    """The ops that multiply two to four times the same number."""
    square = ew.MulOp.make(base, base)
    if factors == 2:
        return [square]
    (value,) = square.results
    return [square, ew.MulOp.make(value, base if factors == 3 else value)]


INVOLUTIONS: tuple[type[Operation], ...] = (ew.NegOp, ew.BitNotOp)
"""Ops that undo themselves."""

IDEMPOTENT: tuple[type[Operation], ...] = (ew.AbsOp, ew.ReluOp, ew.CeilOp, ew.FloorOp, ew.RoundOp)
"""Ops that are the identity on their own results."""


class DropRepetition(RewritePattern):
    """`-(-x)` is `x`, and `abs(abs(x))` is `abs(x)`."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by its operand, or by that one's operand."""
        if not isinstance(op, (*INVOLUTIONS, *IDEMPOTENT)):
            return
        inner = op.operands[0].owner
        if not isinstance(inner, type(op)):
            return
        value = inner.operands[0] if isinstance(op, INVOLUTIONS) else inner.results[0]
        if value.type == op.results[0].type:
            drop(op, value, rewriter)


class DropReshape(RewritePattern):
    """A reshape to the operand's own static shape is the operand; one of a reshape skips that."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by its operand, or take the operand's operand."""
        t = op.operand.type
        if t == op.result.type and isinstance(t, TensorType) and t.has_static_shape():
            drop(op, op.operand, rewriter)
        elif isinstance(op.operand.owner, ReshapeOp):
            op.operands[0] = op.operand.owner.operand
            rewriter.notify_op_modified(op)


class SubstituteSymbols(RewritePattern):
    """Symbols that are constant, repeated or unused leave a contraction's operands."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContractionOp, rewriter: PatternRewriter) -> None:
        """Rebuild ``op`` with the symbols it needs."""
        used = {
            k
            for e in (*op.all_exprs, *(c.data.bound for c in op.constraints))
            for name in e.names
            if (k := symbol_number(name)) is not None
        }
        kept: list[SSAValue] = []
        values: dict[str, IndexExpr] = {}
        for k, operand in enumerate(op.symbols):
            constant = constant_integer(operand)
            if constant is not None:
                values[symbol(k)] = IndexExpr.of(constant)
            elif k in used:
                if operand not in kept:
                    kept.append(operand)
                values[symbol(k)] = IndexExpr.of(symbol(kept.index(operand)))
        if len(kept) < len(op.symbols):
            rewriter.replace(op, substituted(op, values, kept))


class DropIdentityContraction(RewritePattern):
    """A contraction that copies every element to its own place is its input."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContractionOp, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by its input, if no schedule is over its indices."""
        kernel = op.parent_op()
        if isinstance(kernel, KernelOp) and kernel.schedule is not None:
            return
        names = [e.variable for e in op.output.data]
        if (
            op.combination.data == Combination.none
            and op.is_static
            and not op.constraints
            and op.inputs[0].type == op.result.type
            and op.output.data == op.accesses.data[0].data
            and None not in names
            and len(set(names)) == len(names)
        ):
            drop(op, op.inputs[0], rewriter)


class DropFilledDefault(RewritePattern):
    """A default all of whose elements are a constant is the constant, and none if that is 0."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContractionOp, rewriter: PatternRewriter) -> None:
        """Let the default of ``op`` be the constant that another contraction repeats."""
        start = op.default
        if start is None or start.type != op.result.type or (c := _repeated(start)) is None:
            return
        is_zero = c.number == 0 and copysign(1.0, c.number) > 0
        op.set_default(None if is_zero else c.result)
        rewriter.notify_op_modified(op)


def _repeated(value: SSAValue) -> ew.ConstantOp | None:
    """The constant that a contraction copies to all elements of a tensor."""
    op = value.owner
    if not isinstance(op, ContractionOp) or op.aggregation.data is not Aggregation.assign:
        return None
    constant = constant_of(op.inputs[0])
    if constant is None or len(op.inputs) > 1 or not op.is_static or op.symbols:
        return None
    return constant if sets.covers_output(op.space()) else None


def drop(op: Operation, value: SSAValue, rewriter: PatternRewriter) -> None:
    """Replace an op by a value, which takes its name if it has none."""
    take_name(value, op.results[0])
    rewriter.replace(op, [], [value])


def substituted(
    op: ContractionOp,
    values: dict[str, IndexExpr],
    symbols: list[SSAValue],
    *,
    shape: Shape | None = None,
) -> ContractionOp:
    """``op`` with names replaced in its expressions, on these symbol operands.

    With ``shape``, which must be static, the result gets that shape and no sizes are left. Raises
    a TileError if an index is left in no expression, as then nothing bounds it.
    """
    new = ContractionOp(
        op.aggregation.data,
        op.combination.data,
        [e.substitute(values) for e in op.output.data],
        [
            (value, [e.substitute(values) for e in access.data])
            for value, access in zip(op.inputs, op.accesses, strict=True)
        ],
        [Constraint.substitute(c.data, values) for c in op.constraints],
        shape=(shape_of(tensor_type(op.result)) or ()) if shape is None else shape,
        symbols=symbols,
        sizes=list(op.sizes) if shape is None else (),
        default=op.default,
        domain=op.domain,
        no_defract=op.no_defract is not None,
        attributes=dict(op.attributes),
        is_wide=op.is_wide,
    )
    keep_origin([new], op)
    for name in op.index_names:
        if name not in new.index_names:
            raise TileError.at(op, f"nothing bounds the index {from_hint(name)}")
    return new


class CanonicalizeElementwise(HasCanonicalizationPatternsTrait):
    """The canonicalization patterns of the elementwise ops."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """The patterns."""
        return DropNeutralOperand(), DropRepetition(), MultiplyOut()


class CanonicalizeReshape(HasCanonicalizationPatternsTrait):
    """The canonicalization patterns of the reshape."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """The patterns."""
        return DropReshape(), ComputeUnitAxes()


class CanonicalizeContraction(HasCanonicalizationPatternsTrait):
    """The canonicalization patterns of the contraction."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """The patterns."""
        return SubstituteSymbols(), DropIdentityContraction(), DropFilledDefault()
