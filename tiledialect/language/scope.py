"""Scope of the lowering of a function: names, and the sizes of tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias

from xdsl.dialects import tensor
from xdsl.ir import Block, SSAValue

from tiledialect.dialects.tile.base import DYNAMIC_INDEX, shape_of, tensor_type
from tiledialect.errors import SourceSpan, TileError
from tiledialect.ir.names import give_name

from . import ast
from .append import Appender, Size, Value, is_size

Axis: TypeAlias = tuple[SSAValue, int]
"""A dimension that was not asked for yet: an axis of a tensor."""


class Scope(ABC):
    """The names that a statement may use, and where its ops are appended."""

    def __init__(self, appender: Appender):
        self.appender = appender
        self.values: dict[str, Value] = {}
        self.results: dict[str, SSAValue] = {}
        """The outputs' tensors, where an output's name stands for a dimension."""
        self.dims: dict[str, Size | Axis] = {}
        """The dimensions of the header."""
        self.axis_names: dict[Axis, str] = {}
        """Names of axes in headers."""
        self.asked: dict[Axis, SSAValue] = {}
        """The sizes of axes that were asked for."""
        self.known_sizes: dict[SSAValue, tuple[Size | Axis, ...]] = {}
        """The sizes of tensors, where more is known of them than their axes."""
        self.drawn: list[tuple[ast.Expression, SSAValue]] = []
        """The random numbers of the calls of `prng_step` that were used."""

    @abstractmethod
    def value(self, expression: ast.Expression) -> Value:
        """The value of an expression outside of brackets."""

    @abstractmethod
    def statement(self, statement: ast.Statement) -> None:
        """Lower a statement and define its name."""

    @abstractmethod
    def inside(self, block: Block, outputs: set[str]) -> AbstractContextManager[None]:
        """Lower into the body of an op; its definitions are unknown afterwards."""

    def size(self, expression: ast.Expression) -> Size:
        """The value of an expression of dimensions."""
        value = self.value(expression)
        assert isinstance(value, int | SSAValue)
        return value

    def lookup(self, name: str, span: SourceSpan) -> Value:
        """Look up a name; a dimension of the header gets its op when first needed."""
        if name not in self.values:
            self.values[name] = self.axis_size(self.dims[name], span)
        return self.values[name]

    def tensor(self, name: ast.Name) -> SSAValue:
        """The tensor that a name stands for."""
        value = self.lookup(name.text, name.span)
        assert isinstance(value, SSAValue)
        return value

    def names_size(self, name: str) -> bool:
        """Whether ``name`` stands for a dimension."""
        return is_size(self.values[name]) if name in self.values else name in self.dims

    # -- sizes -----------------------------------------------------------------------------

    def sizes_of(self, value: SSAValue) -> list[Size | Axis] | None:
        """The sizes of a tensor, where more is known of them than its axes."""
        shape = shape_of(tensor_type(value))
        if shape is not None and DYNAMIC_INDEX not in shape:
            return list(shape)
        sizes = self.known_sizes.get(value)
        return None if sizes is None else [self._asked(size) for size in sizes]

    def axes_of(self, value: SSAValue, rank: int) -> list[Size | Axis]:
        """The sizes of a tensor of this rank."""
        return self.sizes_of(value) or [self._asked((value, axis)) for axis in range(rank)]

    def _asked(self, size: Size | Axis) -> Size | Axis:
        return self.asked.get(size, size) if isinstance(size, tuple) else size

    def axis_size(self, size: Size | Axis, span: SourceSpan) -> Size:
        """A size, asked for if need be."""
        if not isinstance(size, tuple):
            return size
        if size not in self.asked:
            value, axis = size
            position = self.appender.size(axis, span)
            self.asked[size] = self.appender.add(tensor.DimOp(value, position), span)
            if size in self.axis_names:
                give_name(self.asked[size], self.axis_names[size])
        return self.asked[size]

    def keep_sizes(self, result: SSAValue, operands: Sequence[Value]) -> None:
        """Note the sizes of an elementwise result where every tensor in it has the same."""
        sizes = {
            None if known is None else tuple(known)
            for value in operands
            if isinstance(value, SSAValue) and not is_size(value)
            for known in [self.sizes_of(value)]
            if known != []
        }
        if len(sizes) == 1 and (only := sizes.pop()) is not None:
            self.known_sizes[result] = only

    def literal(self, node: ast.Call, position: int, value: Value) -> int:
        """An argument that must be a number."""
        if isinstance(value, int):
            return value
        raise TileError(
            f"`{node.function}` takes a number here, not a dimension",
            node.arguments[position].span,
        )
