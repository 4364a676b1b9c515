"""Functions of a program: the user's own, compositions, and scalar functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tiledialect.errors import SourceSpan, TileError
from tiledialect.lift import values
from tiledialect.lift.signatures import Signature, signature_of
from tiledialect.lift.tracing import place
from tiledialect.lift.values import Value, apply


class Function:
    """A function of values that can be composed: ``f >> g`` does ``f`` first, ``f @ g`` does ``g``.

    ``x >> f``, ``f @ x`` and ``f(x)`` apply it.

    Example:
    ```python
    sums = lift.slide(2, 1) >> lift.map(lift.reduce(lift.add, 0.0))
    both = lift.fun(lift.array("N"), lambda x: x >> sums >> sums)
    assert td.compile(both).reference(np.float32([1, 2, 3])).tolist() == [8]
    ```
    """

    def __init__(
        self,
        name: str,
        apply: Callable[..., Any],
        where: SourceSpan | None = None,
        arity: int | None = 1,
        parameters: Sequence[str] = (),
        doc: str | None = None,
    ):
        self.name = name
        self.__doc__ = doc
        self._apply = apply
        self._where = where
        self.arity = arity
        """Number of values; None if that is open."""
        self.parameters = parameters
        """The user's names of the values, where known."""

    def __call__(self, *args: Any) -> Value:
        """Apply the function; a tuple is taken apart if it takes several values."""
        signature = Signature(self.name, self.arity, self.parameters)
        return apply(self._apply, signature, args, self._where or place())

    def __rshift__(self, after: Callable[..., Any]) -> Function:
        return compose(after, self)

    def __matmul__(self, before: Any) -> Any:
        return self(before) if isinstance(before, Value) else compose(self, before)

    def __rmatmul__(self, after: Callable[..., Any]) -> Function:
        return compose(after, self)

    def __rrshift__(self, before: Callable[..., Any]) -> Function:
        return compose(self, before)

    def __repr__(self) -> str:
        return f"<lift function {self.name}>"


def as_function(function: Callable[..., Any]) -> Function:
    """The user's function, or pattern, as one that can be composed."""
    if isinstance(function, Function):
        return function
    signature = signature_of(function)
    return Function(signature.name, function, None, signature.arity, signature.parameters)


def compose(*functions: Callable[..., Any]) -> Function:
    """The functions one after the other, the last first: ``compose(f, g)(x)`` is ``f(g(x))``.

    Example: ``lift.compose(lift.join, lift.map(lift.map(lift.neg)))(A)``
    """
    if not functions:
        raise TileError("compose takes at least one function", place())
    *outer, inner = [as_function(f) for f in functions]

    def composed(*args: Value) -> Value:
        value = inner(*args)
        for function in reversed(outer):
            value = function(value)
        return value

    name = " @ ".join(f.name for f in (*outer, inner))
    return Function(name, composed, None, inner.arity, inner.parameters)


def _binary(name: str, doc: str) -> Function:
    def operation(a: Any, b: Any) -> Value:
        return values.binary(name, a, b)

    return Function(name, operation, None, 2, ("a", "b"), doc)


def _unary(name: str, doc: str) -> Function:
    def operation(a: Any) -> Value:
        return values.unary(name, a)

    return Function(name, operation, None, 1, ("a",), doc)


def _identity(a: Any) -> Any:
    return a


add = _binary("add", "The sum.")
sub = _binary("sub", "The difference.")
mul = _binary("mul", "The product.")
div = _binary("div", "The quotient, of integers in f32.")
min = _binary("min", "The smaller of two numbers.")
max = _binary("max", "The larger of two numbers.")
pow = _binary("pow", "A power.")
neg = _unary("neg", "The number with the other sign.")
abs = _unary("abs", "The absolute value.\n\nExample: ``lift.abs(x - 3)``")
sqrt = _unary("sqrt", "The square root.")
rsqrt = _unary("rsqrt", "The reciprocal of the square root.")
exp = _unary("exp", "The exponential function.")
expm1 = _unary("expm1", "``exp(a) - 1``, exact near 0.")
log = _unary("log", "The natural logarithm.")
log1p = _unary("log1p", "``log(1 + a)``, exact near 0.")
sin = _unary("sin", "The sine.")
cos = _unary("cos", "The cosine.")
tan = _unary("tan", "The tangent.")
tanh = _unary("tanh", "The hyperbolic tangent.")
erf = _unary("erf", "The error function.")
floor = _unary("floor", "The number rounded down.\n\nExample: ``lift.floor(x / 2)``")
ceil = _unary("ceil", "The number rounded up.\n\nExample: ``lift.ceil(x / 2)``")
id = Function("id", _identity, None, 1, ("a",), "The value itself.")
