"""Functions of a program: the user's own, compositions, and what patterns apply."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import TupleType

from tiledialect.errors import SourceSpan, TileError, count
from tiledialect.ir.names import to_hint
from tiledialect.lift import values
from tiledialect.lift.tracing import place
from tiledialect.lift.values import Value, to_value


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
        """How many values it takes; None if that is open."""
        self.parameters = parameters
        """What the user calls the values that it takes, if that is known."""

    def __call__(self, *args: Any) -> Value:
        """What the function gives; a tuple is taken apart if it takes several values."""
        where = self._where or place()
        if len(args) == 1 and self.arity not in (1, None):
            (pair,) = args
            if isinstance(pair, Value) and isinstance(pair.type, TupleType):
                args = tuple(pair)
                for value, hint in zip(args, self.parameters, strict=False):
                    value.ssa.name_hint = to_hint(hint)
        if self.arity is not None and self.arity != len(args):
            takes = count(self.arity, "value", "values")
            raise TileError(f"{self.name} takes {takes}, not {len(args)}", where)
        return to_value(self._apply(*args), None, where)

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
    if not callable(function):
        raise TileError(f"{function!r} is no function", place())
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = None
    needed = [
        p
        for p in parameters or ()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    variable = parameters is None or any(p.kind == p.VAR_POSITIONAL for p in parameters)
    name = getattr(function, "__name__", "the function")
    names = [p.name for p in needed]
    return Function(name, function, None, None if variable else len(needed), names)


def compose(*functions: Callable[..., Any]) -> Function:
    """The functions one after the other, the last first: ``compose(f, g)(x)`` is ``f(g(x))``.

    Example: ``lift.compose(lift.join, lift.map(lift.map(lift.neg)))(A)``
    """
    if not functions:
        raise TileError("compose takes at least one function", place())
    *outer, inner = [as_function(f) for f in functions]

    def apply(*args: Value) -> Value:
        value = inner(*args)
        for function in reversed(outer):
            value = function(value)
        return value

    name = " @ ".join(f.name for f in (*outer, inner))
    return Function(name, apply, None, inner.arity, inner.parameters)


def _binary(name: str, doc: str) -> Function:
    def apply(a: Any, b: Any) -> Value:
        return values.binary(name, a, b)

    return Function(name, apply, None, 2, ("a", "b"), doc)


def _unary(name: str, doc: str) -> Function:
    def apply(a: Any) -> Value:
        return values.unary(name, a)

    return Function(name, apply, None, 1, ("a",), doc)


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
