"""The functions that an elementwise statement may call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Signature:
    """Signature of a function."""

    minimum: int
    """The least number of arguments."""
    maximum: int | None
    """The greatest number of arguments; None for any."""
    constants: int | None = None
    """The position from which on the arguments are dimensions; None if none need to be."""
    of_dims: bool = False
    """Whether the function of dimensions is a dimension."""

    @property
    def arity(self) -> str:
        """The number of arguments in words."""
        if self.maximum is None:
            return f"at least {_plural(self.minimum)}"
        if self.minimum == self.maximum:
            return _plural(self.minimum)
        return f"{self.minimum} or {_plural(self.maximum)}"

    def accepts(self, count: int) -> bool:
        """Whether the function may be called with ``count`` arguments."""
        return self.minimum <= count and (self.maximum is None or count <= self.maximum)


def _plural(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"


def _same(names: str, signature: Signature) -> Iterable[tuple[str, Signature]]:
    return ((name, signature) for name in names.split())


UNARY_MATH = (
    "acos asin atan ceil cos cosh erf exp expm1 floor log log1p recip relu round sigmoid sin sinh "
    "sqrt tan tanh"
)
COMPARISONS = "cmp_eq cmp_ne cmp_lt cmp_le cmp_gt cmp_ge"

FUNCTIONS: dict[str, Signature] = dict(
    (
        *_same(UNARY_MATH, Signature(1, 1)),
        *_same("abs ident neg", Signature(1, 1, of_dims=True)),
        *_same("add sub mul div rem max min", Signature(2, 2, of_dims=True)),
        *_same(COMPARISONS, Signature(2, 2, of_dims=True)),
        *_same("cond select", Signature(3, 3, of_dims=True)),
        *_same("bit_and bit_or bit_xor bit_left bit_right pow", Signature(2, 2)),
        *_same("bit_not", Signature(1, 1)),
        *_same("as_float as_bfloat as_int as_uint", Signature(2, 2, constants=1)),
        *_same("as_bool", Signature(1, 2, constants=1)),
        *_same("index", Signature(2, 2, constants=1)),
        *_same("gather", Signature(2, 2)),
        *_same("scatter", Signature(3, 3)),
        *_same("sum_to", Signature(2, 2)),
        *_same("stop_gradient", Signature(1, 1)),
        *_same("reshape", Signature(1, None, constants=1)),
        *_same("shape", Signature(1, 1)),
        *_same("dim softmax logsoftmax", Signature(2, 2, constants=1)),
        *_same("builtin_softmax builtin_logsoftmax", Signature(3, 3, constants=1)),
        *_same("builtin_binary_crossentropy", Signature(3, 3)),
        *_same("tuple", Signature(1, None)),
        *_same("element", Signature(2, 2, constants=1)),
        *_same("prng_step", Signature(1, None, constants=1)),
        *_same("prng_state prng_value", Signature(1, 1)),
    )
)


def is_assertion(function: str) -> bool:
    """Whether ``function`` is one of the ``assert_...`` functions, which check dimensions."""
    return function.startswith("assert_")
