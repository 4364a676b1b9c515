"""math-polynomial-approximation: functions as arithmetic that loops on vectors keep in line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, VectorType, f16, f32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.lowering.float_arithmetic import FloatArithmetic
from tiledialect.ops_in import ops_of

APPROXIMATES = {"Intel(R) OpenCL": ("erf",), "Portable Computing Language": ("exp", "erf")}
"""Platforms where this is faster than their own functions, which are calls on Intel's CPUs and take
half as long again in PoCL; and the functions of which that holds with halves, too."""

LEAST, MOST = -88.0, 89.0
"""Beyond these ends the exponential of a float is below the least normal number, and infinite."""
LOG2_E = 1.4426950408889634
ROUNDING = 1.5 * 2**23 + 127
"""A float so large that adding it rounds to an integer, which is in the low bits, with the bias of
an exponent added."""
LOG_2 = (0.693359375, -2.1219444005469057e-4)
"""The logarithm of 2 in two parts; products of the first with small integers are exact."""
EXP = (
    *(1.8506775362202038e-03, 7.986101222290570e-03, 4.1774691433508759e-02),
    *(1.6665489456364319e-01, 0.5, 1.0, 1.0),
)
"""The polynomial nearest to exp(r), for its relative error, where 0 <= r <= log(2)."""


def exp(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    """The exponential of floats of 32 bits, to 1.5 units in the last place.

    exp(x) = exp(r) * 2**n with x = r + n * log(2). As r is not negative, all results that are
    normal numbers have a normal 2**n; where it is not, its bits are those of 0 or infinity.
    """
    least, most = f.constant(LEAST), f.constant(MOST)
    # A number that is none fails both comparisons, and goes on.
    x = f.where("olt", x, least, (least, x))
    x = f.where("ogt", x, most, (most, x))
    rounding = f.constant(ROUNDING)
    # To the nearest integer, of half less: downwards.
    biased = f.add(f.add(f.mul(x, f.constant(LOG2_E)), f.constant(-0.5)), rounding)
    n = f.sub(biased, rounding)
    for part in LOG_2:
        x = f.sub(x, f.mul(n, f.constant(part)))
    power = f.from_bits(f.shift_left(f.bits(biased), 23))
    return f.mul(f.polynomial(x, EXP), power)


NEAR = 0.927734375
"""Up to here the error function is a polynomial, beyond it 1 less an exponential of one."""
ERF_NEAR = (
    *(-5.96761703e-4, 4.99119423e-3, -2.67681349e-2),
    *(1.12819925e-1, -3.76125336e-1, 1.28379166e-1),
)
"""The polynomial nearest to erf(x) / x - 1, of x squared."""
ERF_FAR = (
    *(-1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2),
    *(-1.06777877e-1, -6.34846687e-1, -1.28717512e-1),
)
"""The polynomial nearest to log(1 - erf(x)) / x + 1."""


def erf(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    """The error function of floats of 32 bits, to 1.5 units in the last place."""
    size = f.emit(math.AbsFOp(x))
    near = f.add(f.mul(f.polynomial(f.mul(x, x), ERF_NEAR), x), x)
    rest = exp(f, f.sub(f.mul(f.polynomial(size, ERF_FAR), size), size))
    far = f.with_sign_of(x, f.sub(f.constant(1), rest))
    return f.where("ogt", size, f.constant(NEAR), (far, near))


FUNCTIONS: dict[type[Operation], Callable[[FloatArithmetic, SSAValue], SSAValue]] = {
    math.ExpOp: exp,
    math.ErfOp: erf,
}


@dataclass(frozen=True)
class MathPolynomialApproximationPass(ModulePass):
    """Computes `math.exp` and `math.erf` of f32, and of vectors of it, by polynomials.

    The result is at most 1.5 units in the last place off, where OpenCL allows its own 3 and 16;
    infinities and numbers that are none are right, and what is below the least normal number is 0.
    Those of f16 are computed in f32, and rounded.
    """

    name = "math-polynomial-approximation"

    halves: tuple[str, ...] = ("exp", "erf")
    """The functions that are computed so with f16, too."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every such op."""
        for old in ops_of(op, math.ExpOp, math.ErfOp):
            function = FUNCTIONS[type(old)]
            t, builder = old.result.type, Builder(InsertPoint.before(old))
            element = t.element_type if isinstance(t, VectorType) else t
            if element == f32:
                new = function(FloatArithmetic(builder, t), old.operand)
            elif element == f16 and old.name.removeprefix("math.") in self.halves:
                f = FloatArithmetic(builder, FloatArithmetic(builder, t).with_lanes(f32))
                wide = function(f, f.emit(arith.ExtFOp(old.operand, f.type)))
                new = f.emit(arith.TruncFOp(wide, t))
            else:
                continue
            new.name_hint = old.result.name_hint
            Rewriter.replace_op(old, [], [new])
