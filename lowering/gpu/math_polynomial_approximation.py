"""math-polynomial-approximation: functions as arithmetic that loops on vectors keep in line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, VectorType, f16, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import NOT_POSITIVE
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.gpu.utils.float_arithmetic import FloatArithmetic

LEAST, MOST = -88.0, 89.0
"""Bounds beyond which the exponential of a float is below the least normal number, and infinite."""
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
EXP_AROUND_0 = (
    *(1.3814467237e-03, 8.3687808364e-03, 4.1668392718e-02),
    *(1.6666519642e-01, 0.5, 1.0, 1.0),
)
"""The polynomial nearest to exp(r), for its relative error, where -log(2)/2 <= r <= log(2)/2."""


def exp_of_not_positive(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    """The exponential of floats of 32 bits that are not positive, to 1 unit in the last place.

    exp(x) = exp(r) * 2**n with x = r + n * log(2), where n is the nearest integer: as no 2**n is
    too large, r may be negative. Below the last normal 2**n all is 0.
    """
    least = f.constant(LEAST)
    x = f.where("olt", x, least, (least, x))
    return _by_powers_of_2(f, x, f.mul(x, f.constant(LOG2_E)), EXP_AROUND_0)


def exp(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    """The exponential of floats of 32 bits, to 1.5 units in the last place.

    exp(x) = exp(r) * 2**n with x = r + n * log(2). As r is not negative, all results that are
    normal numbers have a normal 2**n; where 2**n is not normal, its bits are of 0 or infinity.
    """
    least, most = f.constant(LEAST), f.constant(MOST)
    # A number that is none fails both comparisons, and goes on.
    x = f.where("olt", x, least, (least, x))
    x = f.where("ogt", x, most, (most, x))
    # To the nearest integer, of half less: downwards.
    return _by_powers_of_2(f, x, f.add(f.mul(x, f.constant(LOG2_E)), f.constant(-0.5)), EXP)


LEAST_HALF, MOST_HALF = -18.0, 12.0
"""Bounds beyond which the exponential is 0, and infinite, as a half."""
EXP_OF_HALF = (4.127775e-2, 1.6753515e-1, 5.0005116e-1, 1.0, 1.0)
"""The polynomial nearest to exp(r), for its relative error, where -log(2)/2 <= r <= log(2)/2."""


def exp_of_half(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    """The exponential of a float that is a half, to 2**-17 of it: all but 1 of 500 round right.

    As all powers of two are normal floats, it is by the nearest one.
    """
    least, most = f.constant(LEAST_HALF), f.constant(MOST_HALF)
    x = f.where("olt", x, least, (least, x))
    x = f.where("ogt", x, most, (most, x))
    return _of_half_in_range(f, x)


def exp_of_half_not_positive(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    """The exponential of halves that are not positive."""
    least = f.constant(LEAST_HALF)
    return _of_half_in_range(f, f.where("olt", x, least, (least, x)))


def _of_half_in_range(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    return _by_powers_of_2(f, x, f.mul(x, f.constant(LOG2_E)), EXP_OF_HALF, (sum(LOG_2),))


def _by_powers_of_2(
    f: FloatArithmetic,
    x: SSAValue,
    n: SSAValue,
    polynomial: Sequence[float],
    log_2: Sequence[float] = LOG_2,
) -> SSAValue:
    """The exponential, by the power of two whose exponent is the integer nearest to n."""
    rounding = f.constant(ROUNDING)
    biased = f.add(n, rounding)
    n = f.sub(biased, rounding)
    for part in log_2:
        x = f.sub(x, f.mul(n, f.constant(part)))
    power = f.from_bits(f.shift_left(f.bits(biased), 23))
    return f.mul(f.polynomial(x, polynomial), power)


NEAR = 0.927734375
"""Bound up to which the error function is a polynomial; beyond, 1 less an exponential of one."""
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


ROOT_HALF = 0x3F3504F3
"""The bits of the root of 1/2."""
MANTISSA, MANTISSA_BITS = 0x7FFFFF, 23
LEAST_NORMAL = 2.0**-126
LOG = (
    *(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
"""The polynomial nearest to (log(1 + r) - r + r**2 / 2) / r**3, where -0.3 < r < 0.42."""


def log(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    """The natural logarithm of floats of 32 bits, to 1 unit in the last place.

    log(x) = log(1 + r) + n * log(2) with x = (1 + r) * 2**n.
    """
    above = f.integer(arith.SubiOp, f.bits(x), ROOT_HALF)
    n = f.from_integer(f.integer(arith.ShRSIOp, above, MANTISSA_BITS))
    mantissa = f.integer(arith.AndIOp, above, MANTISSA)
    r = f.sub(f.from_bits(f.integer(arith.AddiOp, mantissa, ROOT_HALF)), f.constant(1))
    square = f.mul(r, r)
    small = f.add(f.mul(f.mul(f.polynomial(r, LOG), r), square), f.mul(n, f.constant(LOG_2[1])))
    small = f.add(f.mul(square, f.constant(-0.5)), small)
    result = f.add(f.add(r, small), f.mul(n, f.constant(LOG_2[0])))
    # What is infinite, or no number, stays; there are no numbers below the least normal one.
    result = f.where("olt", x, f.constant(inf), (result, x))
    zero = f.where("olt", x, f.constant(0), (f.constant(nan), f.constant(-inf)))
    return f.where("olt", x, f.constant(LEAST_NORMAL), (zero, result))


TANH_NEAR = 0.625
"""Bound up to which the hyperbolic tangent is a polynomial."""
TANH = (
    *(-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2),
    *(1.33314422036e-1, -3.33332819422e-1),
)
"""The polynomial nearest to (tanh(x) / x - 1) / x**2, of x squared."""


def tanh(f: FloatArithmetic, x: SSAValue) -> SSAValue:
    """The hyperbolic tangent of floats of 32 bits, to 2 units in the last place."""
    size, square = f.emit(math.AbsFOp(x)), f.mul(x, x)
    one = f.constant(1)
    # At 0 that is the number itself, with its sign.
    near = f.mul(f.add(f.mul(f.polynomial(square, TANH), square), one), x)
    rest = f.emit(arith.DivfOp(f.constant(2), f.add(exp(f, f.add(size, size)), one)))
    far = f.with_sign_of(x, f.sub(one, rest))
    return f.where("ogt", size, f.constant(TANH_NEAR), (far, near))


Function = Callable[[FloatArithmetic, SSAValue], SSAValue]
FUNCTIONS: dict[type[Operation], Function] = {
    math.ExpOp: exp,
    math.ErfOp: erf,
    math.LogOp: log,
    math.TanhOp: tanh,
}
OF_HALVES: dict[type[Operation], Function] = {**FUNCTIONS, math.ExpOp: exp_of_half}
NOT_POSITIVE_ONES: dict[bool, Function] = {
    False: exp_of_not_positive,
    True: exp_of_half_not_positive,
}
"""Exponentials of no positive numbers: of floats, and of halves."""
LONG = 16
"""Lanes of a vector of the longest registers."""
NAMES = tuple(op.name.removeprefix("math.") for op in FUNCTIONS)


@dataclass(frozen=True)
class MathPolynomialApproximationPass(ModulePass):
    """Computes `math.exp`, `erf`, `log` and `tanh` of f32, and of vectors of it, by polynomials.

    The result is at most 2 units in the last place off, where OpenCL allows its own 3 to 16;
    infinities and NaNs are right, and results below the least normal number are 0, or nearly it. A
    `math.exp` with the attribute `tile.not_positive` takes two operations less. Functions of f16
    are computed in f32, exponentials by fewer operations, and rounded.
    """

    name = "math-polynomial-approximation"

    functions: tuple[str, ...] = NAMES
    """Functions that are computed by polynomials."""

    long_halves: tuple[str, ...] = NAMES
    """Functions that are computed by polynomials with vectors of 16 halves, too."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the ops of every kernel."""
        for old in ops_of(op, *FUNCTIONS):
            t = old.results[0].type
            element = t.element_type if isinstance(t, VectorType) else t
            name = old.name.removeprefix("math.")
            if element not in (f16, f32) or name not in self._approximated(t):
                continue
            f = FloatArithmetic(Builder(InsertPoint.before(old)), t)
            is_half = element == f16
            function = (OF_HALVES if is_half else FUNCTIONS)[type(old)]
            if NOT_POSITIVE in old.attributes:
                function = NOT_POSITIVE_ONES[is_half]
            new = _computed(f, function, old.operands[0], is_half=is_half)
            new.name_hint = old.results[0].name_hint
            Rewriter.replace_op(old, [], [new])

    def _approximated(self, t: Attribute) -> tuple[str, ...]:
        """The functions of a type that are computed by polynomials."""
        if isinstance(t, VectorType):
            is_long_half = t.element_type == f16 and t.element_count() >= LONG
            return self.long_halves if is_long_half else self.functions
        return self.functions


def _computed(f: FloatArithmetic, function: Function, x: SSAValue, *, is_half: bool) -> SSAValue:
    """A function's result: of halves it is computed in f32, and rounded."""
    if not is_half:
        return function(f, x)
    single = FloatArithmetic(f.builder, f.with_lanes(f32))
    wide = function(single, f.emit(arith.ExtFOp(x, single.type)))
    return f.emit(arith.TruncFOp(wide, f.type))
