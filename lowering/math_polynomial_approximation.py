"""math-polynomial-approximation: exponentials as arithmetic that loops on vectors keep in line."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import math
from xdsl.dialects.builtin import ModuleOp, VectorType, f32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.lowering.float_arithmetic import FloatArithmetic
from tiledialect.ops_in import ops_of

APPROXIMATES = ("Intel(R) OpenCL", "Portable Computing Language")
"""Platforms where this is faster than their own functions: those are calls on Intel's CPUs, and
take half as long again in PoCL."""

LEAST, MOST = -105.0, 89.0
"""Beyond these ends the exponential of a float is 0 and infinite."""
HALF_LOG2_E = 0.72134752044448170
ROUNDING = 1.5 * 2**23 + 127
"""A float so large that adding it rounds to an integer, which is in the low bits, with the bias of
an exponent added."""
LOG_4 = (1.38671875, -4.2438888e-4)
"""The logarithm of 4 in two parts; products of the first with small integers are exact."""
EXP = (
    *(2.451688822739552e-05, 2.0128848048670507e-04, 1.38931918898182e-03, 8.332357425338386e-03),
    *(4.1666531364061156e-02, 1.6666678415197247e-01, 5.000000113372651e-01, 1.0, 1.0),
)
"""The polynomial nearest to exp(r), for its relative error, where abs(r) <= log(2)."""


def exp(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    """The exponential of floats of 32 bits, to 1.5 units in the last place.

    exp(x) = exp(r) * 2**n * 2**n with x = r + n * log(4). As 2**n is always a normal
    number, the last product alone may over- or underflow, and is rounded once.
    """
    least, most = f.constant(LEAST), f.constant(MOST)
    # A number that is none fails both comparisons, and goes on.
    x = f.where("olt", x, least, (least, x))
    x = f.where("ogt", x, most, (most, x))
    rounding = f.constant(ROUNDING)
    biased = f.add(f.mul(x, f.constant(HALF_LOG2_E)), rounding)
    n = f.sub(biased, rounding)
    for part in LOG_4:
        x = f.sub(x, f.mul(n, f.constant(part)))
    power = f.from_bits(f.shift_left(f.bits(biased), 23))
    return f.mul(f.mul(f.polynomial(x, EXP), power), power)


@dataclass(frozen=True)
class MathPolynomialApproximationPass(ModulePass):
    """Computes `math.exp` of f32, and of vectors of it, by a polynomial.

    The result is at most 1.5 units in the last place off, where OpenCL allows its own 3;
    infinities, numbers that are none and denormal results are right.
    """

    name = "math-polynomial-approximation"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every exponential."""
        for old in ops_of(op, math.ExpOp):
            t = old.result.type
            if (t.element_type if isinstance(t, VectorType) else t) == f32:
                arithmetic = FloatArithmetic(Builder(InsertPoint.before(old)), t)
                new = exp(arithmetic, old.operand)
                new.name_hint = old.result.name_hint
                Rewriter.replace_op(old, [], [new])
