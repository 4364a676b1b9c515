"""arith-share-reciprocals: one reciprocal for all divisions of a loop by the same number."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, math, scf, vector
from xdsl.dialects.builtin import ModuleOp, VectorType, f16, f32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.common_subexpression_elimination import cse
from xdsl.transforms.loop_invariant_code_motion import move_loop_invariant_code

from tiledialect.ir.ancestors import ancestors, nearest
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.gpu.utils.float_arithmetic import FloatArithmetic
from tiledialect.lowering.gpu.utils.loops import steps_of

SHORT, FEW = 8, 4
"""Lanes that are divided in 5 cycles, not 16, as fast as by a product and its correction; and
steps of a loop that are too few to make good the time of the reciprocal."""

SMALL, LARGE, SCALE = 2.0**-104, 2.0**104, 2.0**24
"""Bounds of divisors that are not scaled, and the scale of divisors and dividends beyond them:
reciprocals might not be normal. Quotients that scaling makes over- or underflow do so anyway."""


@dataclass(frozen=True)
class Divisor:
    """A scalar that is divided by, scaled; its reciprocal; and the scale."""

    value: SSAValue
    reciprocal: SSAValue
    scale: SSAValue

    @staticmethod
    def of(value: SSAValue) -> Divisor:
        """Operands of divisions by a value, computed after its definition."""
        f = FloatArithmetic(Builder(_after(value)), value.type)
        size, one = f.emit(math.AbsFOp(value)), f.constant(1)
        scale = f.where("ogt", size, f.constant(LARGE), (f.constant(1 / SCALE), one))
        scale = f.where("olt", size, f.constant(SMALL), (f.constant(SCALE), scale))
        scaled = f.mul(value, scale)
        reciprocal = f.emit(arith.DivfOp(one, scaled))
        scale.name_hint, scaled.name_hint, reciprocal.name_hint = "scale", "divisor", "reciprocal"
        return Divisor(scaled, reciprocal, scale)

    def quotient(self, f: FloatArithmetic, dividend: SSAValue) -> SSAValue:
        """Quotient of a vector: the product with the reciprocal, corrected by the remainder.

        The quotient is the nearest float, where products are added without being rounded. There is
        no correction where it has no meaning: at infinities, and zeros, whose signs are right.
        """
        value, reciprocal, scale = (
            f.emit(vector.BroadcastOp(v, f.type))  # pyright: ignore[reportArgumentType]
            for v in (self.value, self.reciprocal, self.scale)
        )
        dividend = f.mul(dividend, scale)
        first = f.mul(dividend, reciprocal)
        missing = f.sub(dividend, f.mul(first, value))
        corrected = f.add(first, f.mul(missing, reciprocal))
        size = f.emit(math.AbsFOp(corrected))
        return f.where("ogt", size, f.constant(0), (corrected, first))


@dataclass(frozen=True)
class HalfDivisor:
    """The reciprocal of a half that is divided by, in f32."""

    reciprocal: SSAValue

    @staticmethod
    def of(value: SSAValue) -> HalfDivisor:
        """Operands of divisions by a value, computed after its definition."""
        f = FloatArithmetic(Builder(_after(value)), f32)
        reciprocal = f.emit(arith.DivfOp(f.constant(1), f.emit(arith.ExtFOp(value, f32))))
        reciprocal.name_hint = "reciprocal"
        return HalfDivisor(reciprocal)

    def quotient(self, f: FloatArithmetic, dividend: SSAValue) -> SSAValue:
        """Quotient of a vector of halves: the product in f32, rounded.

        It is less than 2**-23 off, and no quotient of two halves, which have 11 bits, comes so near
        to the middle between two others that are normal numbers.
        """
        wide = FloatArithmetic(f.builder, f.with_lanes(f32))
        product = wide.mul(
            f.emit(arith.ExtFOp(dividend, wide.type)),
            f.emit(vector.BroadcastOp(self.reciprocal, wide.type)),  # pyright: ignore[reportArgumentType]
        )
        return f.emit(arith.TruncFOp(product, f.type))


def _after(value: SSAValue) -> InsertPoint:
    """Place after the definition of a value."""
    owner = value.owner
    return InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)


@dataclass
class Sharing:
    """Replaces the divisions of a module."""

    divisors: dict[SSAValue, Divisor | HalfDivisor] = field(
        default_factory=dict[SSAValue, Divisor | HalfDivisor]
    )

    def share(self, op: arith.DivfOp) -> None:
        """Multiply by the reciprocal."""
        value = _broadcast(op)
        if value not in self.divisors:
            of = HalfDivisor.of if value.type == f16 else Divisor.of
            self.divisors[value] = of(value)
        self.rewrite(op)

    def rewrite(self, op: arith.DivfOp) -> None:
        """Multiply by the reciprocal, if there is one."""
        value = _broadcast(op)
        if value not in self.divisors:
            return
        f = FloatArithmetic(Builder(InsertPoint.before(op)), op.result.type)
        new = self.divisors[value].quotient(f, op.lhs)
        new.name_hint = op.result.name_hint
        Rewriter.replace_op(op, [], [new])


def _home(value: SSAValue) -> Block | None:
    """The block where a value is defined."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


def _broadcast(op: arith.DivfOp) -> SSAValue:
    """The scalar that a vector is divided by."""
    assert isinstance(op.rhs.owner, vector.BroadcastOp)
    return op.rhs.owner.source


def _divides_a_row(op: Operation) -> bool:
    """Whether an op divides a vector of f32 or f16 by a scalar."""
    if not isinstance(op, arith.DivfOp) or not isinstance(op.rhs.owner, vector.BroadcastOp):
        return False
    return _broadcast(op).type in (f16, f32)


def _divisions(op: Operation) -> list[tuple[arith.DivfOp, scf.ForOp | None]]:
    """Divisions of vectors of f32 or f16 by a scalar, and the loops around that gain by it."""
    found = [(x, nearest(scf.ForOp, x)) for x in ops_of(op, arith.DivfOp) if _divides_a_row(x)]
    return [(x, loop if loop is not None and _gains(x, loop) else None) for x, loop in found]


def _is_ready(division: arith.DivfOp, loop: scf.ForOp) -> bool:
    """Whether the divisor comes from outside the loop."""
    home = _home(_broadcast(division))
    return home is not None and home.is_ancestor(loop)


def _is_long(division: arith.DivfOp) -> bool:
    """Whether a division has more lanes than are divided as fast as multiplied."""
    t = division.result.type
    return not isinstance(t, VectorType) or t.element_count() > SHORT


def _gains(division: arith.DivfOp, loop: scf.ForOp) -> bool:
    """Whether a reciprocal is faster: not on short vectors, where it is needed a few times only."""
    if _is_long(division):
        return True
    if isinstance(_broadcast(division).owner, arith.ConstantOp):
        return False
    steps = steps_of(loop)
    return steps is None or steps > FEW


class ArithShareReciprocalsPass(ModulePass):
    """Divides vectors of f32 or f16 by a scalar from outside the loop by means of its reciprocal.

    Loop-invariant ops of the loops with such divisions are moved before the loops. Long vectors
    that are divided by the same scalar elsewhere have its reciprocal, too.
    The quotients are the same as of `arith.divf`, but perhaps for the last bit: of f32 where
    products are rounded before they are added, of f16 where they are no normal numbers.
    """

    name = "arith-share-reciprocals"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the divisions of every function."""
        divisions = [x for x in ops_of(op, arith.DivfOp) if _divides_a_row(x)]
        for function in dict.fromkeys(map(_function, divisions)):
            _share(function)


def _function(op: Operation) -> Operation:
    """Function that an op is in, or its outermost ancestor."""
    around = list(ancestors(op))
    return next((x for x in around if isinstance(x, func.FuncOp | gpu.FuncOp)), around[-1])


def _share(function: Operation) -> None:
    """Rewrite the divisions of a function."""
    divisions = _divisions(function)
    for loop in dict.fromkeys(loop for _, loop in divisions if loop is not None):
        move_loop_invariant_code(loop)
    outside = [x for x, loop in divisions if loop is None or not _is_ready(x, loop)]
    if len(divisions) > len(outside) > 0 and any(map(_is_long, outside)):
        # The divisor is computed in the loop and outside until now.
        cse(function)
        divisions = _divisions(function)
    sharing = Sharing()
    for division, loop in divisions:
        if loop is not None and _is_ready(division, loop):
            sharing.share(division)
    for division, _ in _divisions(function):
        if _is_long(division):
            sharing.rewrite(division)
