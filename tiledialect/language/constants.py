"""Numbers in the place of names of a Tile program, given when it is compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import copysign
from operator import index
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, IntegerAttr, ModuleOp, f64

from tiledialect.dialects.discardable import CONSTANTS
from tiledialect.errors import SourceSpan, TileError

from . import ast
from .parser import LARGEST_INTEGER

Number = int | float


NAME = re.compile(r"[A-Z][A-Za-z0-9_]*'?")
"""The names that Tile text may have for dimensions and tensors."""


def numbers_of(constants: Mapping[str, Any]) -> dict[str, Number]:
    """Check the numbers that a user gives by name; a TileError for other values."""
    if not isinstance(constants, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"constants are numbers by name, as {{'STRIDE': 2}}, not {constants!r}")
    return {name: _number(name, value) for name, value in constants.items()}


def constants_attribute(numbers: Mapping[str, Number]) -> DictionaryAttr:
    """The numbers as an attribute: i64 and f64."""
    return DictionaryAttr(
        {
            name: IntegerAttr(value, 64) if isinstance(value, int) else FloatAttr(value, f64)
            for name, value in numbers.items()
        }
    )


def given_constants(module: ModuleOp) -> dict[str, Number]:
    """The numbers that a module has such an attribute of."""
    given = module.attributes.get(CONSTANTS)
    numbers = given.data.items() if isinstance(given, DictionaryAttr) else ()
    return {
        name: number.value.data
        for name, number in numbers
        if isinstance(number, IntegerAttr | FloatAttr)
    }


def with_constants(
    functions: Sequence[ast.Function], numbers: Mapping[str, Number]
) -> tuple[ast.Function, ...]:
    """The functions with numbers in the place of names.

    A name stands for a dimension in a header, and for a number elsewhere. Raises TileError for
    names that the functions define, and for names that they do not use.
    """
    binder = _Binder(numbers)
    bound = tuple(map(binder.function, functions))
    for name in numbers:
        if name not in binder.used:
            raise TileError(f"the constant {name} is used nowhere in the program")
    return bound


def _number(name: str, value: Any) -> Number:
    if not isinstance(name, str) or not NAME.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(
            "the name of a constant must be a capital letter and letters, digits and _ after it, "
            f"got {name!r}"
        )
    number = None if isinstance(value, bool) else _integer(value)
    if number is None and not isinstance(value, bool):
        number = _real(value)
    if number is None or (isinstance(number, int) and abs(number) > LARGEST_INTEGER):
        raise TileError(f"the constant {name} is a number of at most 64 bits, not {value!r}")
    return number


def _integer(value: Any) -> int | None:
    with suppress(TypeError):
        return index(value)
    return None


def _real(value: Any) -> float | None:
    # A text can be read as a number, and is none.
    with suppress(TypeError):
        return float(value) if hasattr(value, "__float__") else None
    return None


class _Binder:
    def __init__(self, numbers: Mapping[str, Number]):
        self.numbers = numbers
        self.used: set[str] = set()

    def function(self, f: ast.Function) -> ast.Function:
        for parameter in f.inputs:
            self._refuse_defined(parameter.name)
        inputs = tuple(replace(i, dims=self._header(i.dims)) for i in f.inputs)
        return replace(f, inputs=inputs, body=self._body(f.body))

    def _refuse_defined(self, name: ast.Name) -> None:
        if name.text in self.numbers:
            raise TileError(f"`{name.text}` is defined here, and is no constant", name.span)

    def _header(
        self, dims: tuple[ast.Name | ast.Integer, ...] | None
    ) -> tuple[ast.Name | ast.Integer, ...] | None:
        return None if dims is None else tuple(map(self._dim, dims))

    def _dim(self, dim: ast.Name | ast.Integer) -> ast.Name | ast.Integer:
        if isinstance(dim, ast.Integer) or dim.text not in self.numbers:
            return dim
        value = self.numbers[dim.text]
        if not isinstance(value, int) or value < 0:
            raise TileError(f"the dimension `{dim.text}` cannot be {value}", dim.span)
        self.used.add(dim.text)
        return ast.Integer(dim.span, value)

    def _body(self, body: Sequence[ast.Statement]) -> tuple[ast.Statement, ...]:
        return tuple(map(self._statement, body))

    def _statement(self, s: ast.Statement) -> ast.Statement:
        self._refuse_defined(s.target)
        match s:
            case ast.Assignment():
                return replace(s, value=self._expression(s.value))
            case ast.CustomGradient():
                self._refuse_defined(s.cotangent)
                return replace(s, value=self._expression(s.value), body=self._body(s.body))
            case ast.Contraction():
                return replace(
                    s,
                    output=self._access(s.output),
                    sizes=None if s.sizes is None else self._expressions(s.sizes),
                    operands=tuple(map(self._access, s.operands)),
                    constraints=tuple(map(self._constraint, s.constraints)),
                )

    def _access(self, access: ast.TensorAccess) -> ast.TensorAccess:
        return replace(access, indices=self._expressions(access.indices))

    def _constraint(self, c: ast.Constraint) -> ast.Constraint:
        return replace(
            c, expression=self._expression(c.expression), bound=self._expression(c.bound)
        )

    def _expressions(self, expressions: Sequence[ast.Expression]) -> tuple[ast.Expression, ...]:
        return tuple(map(self._expression, expressions))

    def _expression(self, expression: ast.Expression) -> ast.Expression:
        return ast.evaluate(expression, self._node)

    def _node(self, node: ast.Expression, arguments: list[ast.Expression]) -> ast.Expression:
        match node:
            case ast.Call():
                return replace(node, arguments=tuple(arguments))
            case ast.Variable(span, name) if name in self.numbers:
                self.used.add(name)
                return _literal(span, self.numbers[name])
            case _:
                return node


def _literal(span: SourceSpan, value: Number) -> ast.Expression:
    """A number as it would be written."""
    is_negative = copysign(1.0, value) < 0
    node = ast.Integer if isinstance(value, int) else ast.Real
    literal = node(span, abs(value))  # pyright: ignore[reportArgumentType]
    return ast.Call(span, "neg", (literal,)) if is_negative else literal
