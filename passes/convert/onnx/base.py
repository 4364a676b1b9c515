"""Nodes of a graph as their conversions see them: operands, attributes, numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import onnx
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.errors import TileError
from tiledialect.ir.tensor_builder import TensorBuilder

Array = npt.NDArray[Any]
T = TypeVar("T")

Parts: TypeAlias = "tuple[Value, ...]"
Value: TypeAlias = "SSAValue | Parts"
"""A tensor, or a sequence of them."""


class UnknownValueError(Exception):
    """A shape depends on the numbers of an input, which must be known."""

    def __init__(self, name: str):
        super().__init__(name)
        self.name = name


class Scope(Protocol):
    """Names of a graph, or of a body, with their values."""

    values: dict[str, Value | TileError]
    """Tensors by name; in the place of one that cannot be made, the reason."""
    arrays: MutableMapping[str, Array]
    """Numbers that are known by name."""

    def value(self, name: str) -> Value:
        """The tensor, or the sequence, of a name."""
        ...

    def known(self, name: str) -> Array:
        """Numbers of a name; raises ``UnknownValueError`` where they depend on an input's."""
        ...

    def is_literal(self, name: str) -> bool:
        """Whether the numbers of a name are known, and not those of an argument."""
        ...

    def convert(self, nodes: Iterable[onnx.NodeProto]) -> None:
        """Convert nodes in order."""
        ...

    def inner(self) -> Scope:
        """Scope of a body, which may use all names around it."""
        ...


@dataclass(frozen=True)
class Node:
    """A node of a graph in a scope."""

    proto: onnx.NodeProto
    scope: Scope
    version: int
    """Version of its operator set."""

    @property
    def op(self) -> str:
        """Name of its operator."""
        return self.proto.op_type

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """Attributes in Python's types."""
        found = {a.name: onnx.helper.get_attribute_value(a) for a in self.proto.attribute}
        return {k: v.decode() if isinstance(v, bytes) else v for k, v in found.items()}

    def attribute(self, name: str, default: T) -> T:
        """An attribute, or its default."""
        return self.attributes.get(name, default)

    def refusal(self, reason: str) -> TileError:
        """Error that the node cannot be converted."""
        return TileError(f"{label(self.proto)} cannot be converted: {reason}")

    def has(self, k: int) -> bool:
        """Whether input ``k`` is given."""
        return k < len(self.proto.input) and bool(self.proto.input[k])

    def value(self, k: int) -> Value:
        """Input ``k``: a tensor, or a sequence."""
        if not self.has(k):
            raise self.refusal(f"it has no input {k}")
        return self.scope.value(self.proto.input[k])

    def tensor(self, k: int) -> SSAValue:
        """Input ``k``, a tensor."""
        found = self.value(k)
        if isinstance(found, tuple):
            raise self.refusal(f"{self.proto.input[k]} is a sequence, not a tensor")
        return found

    def optional(self, k: int) -> SSAValue | None:
        """Input ``k``; None if it is not given."""
        return self.tensor(k) if self.has(k) else None

    @property
    def tensors(self) -> list[SSAValue]:
        """All inputs that are given."""
        return [self.tensor(k) for k in range(len(self.proto.input)) if self.has(k)]

    def known(self, k: int) -> Array:
        """Numbers of input ``k``, on which shapes depend."""
        return self.scope.known(self.proto.input[k])

    def numbers(self, name: str, k: int | None = None) -> list[int] | None:
        """Integers of an attribute, or of input ``k``, as versions differ; None if not given."""
        if name in self.attributes:
            found = self.attributes[name]
            return [found] if isinstance(found, int) else [int(n) for n in found]
        if k is None or not self.has(k):
            return None
        return [int(n) for n in self.known(k).reshape(-1)]

    def number(self, name: str, k: int, default: T) -> int | float | T:
        """Number of an attribute, or of input ``k``; a default if neither is given."""
        if name in self.attributes:
            return self.attributes[name]
        return self.known(k).reshape(-1)[0].item() if self.has(k) else default


Conversion: TypeAlias = Callable[[TensorBuilder, Node], Sequence[Value]]
"""Makes the outputs of a node."""


def label(proto: onnx.NodeProto) -> str:
    """Name of a node for people: its operator, its name, its first output."""
    domain = f"{proto.domain}." if proto.domain else ""
    outputs = [name for name in proto.output if name]
    name = proto.name or (f"of {outputs[0]}" if outputs else "")
    return f"{domain}{proto.op_type} {name}".strip()


def axis_of(node: Node, axis: int, rank: int) -> int:
    """An axis counted from the first one."""
    if not -rank <= axis < rank:
        raise node.refusal(f"axis {axis} is none of {rank}")
    return axis % rank


def numpy_type(number: int) -> np.dtype[Any]:
    """NumPy's element type for a number of ONNX's enumeration."""
    try:
        return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number))
    except KeyError:
        raise TileError(f"there is no element type of number {number} in ONNX") from None


def type_of(node: Node, dtype: int) -> Attribute:
    """Element type for a number of ONNX's enumeration."""
    name = onnx.TensorProto.DataType.Name(dtype)
    if dtype == onnx.TensorProto.STRING:
        raise node.refusal("there are no tensors of strings")
    found = ELEMENT_TYPES.get(numpy_type(dtype))
    if found is None or name in UNSUPPORTED:
        raise node.refusal(f"there are no tensors of {name}")
    return found


UNSUPPORTED = ("INT4", "UINT4", "INT2", "UINT2")
