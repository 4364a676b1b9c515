"""Base of the tile dialect's ops: tensors whose type follows from their operands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.element_types import (
    CONCRETE,
    SHORT_FLOATS,
    any_type,
    is_element_type,
    is_weak,
)
from tiledialect.ir.names import from_hint, with_type

AnyTensor = TensorType[Attribute] | UnrankedTensorType[Attribute]
Shape = tuple[int, ...]
"""The sizes of a tensor's axes; ``DYNAMIC_INDEX`` where one is not known yet."""


def tensor_type(value: SSAValue) -> AnyTensor:
    """The type of a value that must be a tensor."""
    t = value.type
    if not isinstance(t, TensorType | UnrankedTensorType):
        raise VerifyException(f"{name_of(value)} is of type {t}, not a tensor")
    if not is_element_type(t.element_type):
        raise VerifyException(f"{name_of(value)}: {t.element_type} is not an element type")
    return t


def shape_of(t: AnyTensor) -> Shape | None:
    """The shape of a tensor type, or None if not even the rank is known."""
    return t.get_shape() if isinstance(t, TensorType) else None


def size_of(value: SSAValue) -> int:
    """Number of elements of a tensor of known shape."""
    return prod(shape_of(tensor_type(value)) or ())


def make_type(shape: Shape | None, element_type: Attribute) -> AnyTensor:
    """The tensor type with this shape (None: unranked)."""
    if shape is None:
        return UnrankedTensorType(element_type)
    return TensorType(element_type, shape)


def name_of(value: SSAValue) -> str:
    """Name of a value for users."""
    return from_hint(value.name_hint) if value.name_hint else "an operand"


def format_shape(shape: Shape) -> str:
    """A shape as text, such as ``2x9x?``; ``scalar`` without axes."""
    return "x".join("?" if d == DYNAMIC_INDEX else str(d) for d in shape) or "scalar"


def broadcast_shape(values: Sequence[SSAValue]) -> Shape | None:
    """The shape of an elementwise result: axes aligned at the right, 1 stretched to fit.

    Raises a VerifyException that names the operands if the shapes do not fit.
    """
    shapes = [shape_of(tensor_type(v)) for v in values]
    if None in shapes:
        return None
    result: list[int] = []
    for axis in range(1, 1 + max((len(s) for s in shapes if s is not None), default=0)):
        sizes = {s[-axis] for s in shapes if s is not None and axis <= len(s)} - {1}
        known = sizes - {DYNAMIC_INDEX}
        if len(known) > 1:
            described = " and ".join(
                f"{name_of(v)} ({format_shape(s)})"
                for v, s in zip(values, shapes, strict=True)
                if s is not None
            )
            raise VerifyException(f"the shapes of {described} do not broadcast together")
        result.insert(0, min(known or sizes or {1}))
    return tuple(result)


def refines(declared: Attribute, inferred: AnyTensor) -> bool:
    """Whether a declared type says the same as the inferred one, or more."""
    if not isinstance(declared, TensorType | UnrankedTensorType):
        return False
    if any_type not in (inferred.element_type, declared.element_type) and (
        declared.element_type != inferred.element_type
    ):
        return False
    known, found = shape_of(declared), shape_of(inferred)
    if known is None or found is None:
        return True
    return len(known) == len(found) and all(
        DYNAMIC_INDEX in (a, b) or a == b for a, b in zip(known, found, strict=True)
    )


def declared_wide(result: SSAValue, own: Attribute) -> bool:
    """Whether a result is declared f32 that would be of a type ``own`` of 16 bits."""
    t = result.type
    is_f32 = isinstance(t, TensorType | UnrankedTensorType) and t.element_type == CONCRETE["f32"]
    return is_f32 and own in SHORT_FLOATS


class TileOp(IRDLOperation, ABC):
    """An op with one tensor result, the type of which follows from the operands."""

    @abstractmethod
    def inferred_type(self) -> AnyTensor:
        """The type of the result, as far as the operands' types determine it.

        Raises a VerifyException, in the user's names, if the operands do not fit together.
        """

    @classmethod
    def make(
        cls,
        *operands: SSAValue,
        attributes: dict[str, Attribute] | None = None,
        properties: dict[str, Attribute] | None = None,
    ):
        """The op on these operands, which determine the result's type."""
        op = cls.create(
            operands=operands,
            result_types=[any_type],
            attributes=attributes or {},
            properties=properties or {},
        )
        try:
            inferred = op.inferred_type()
        except VerifyException:
            if op.parent is not None:  # An implicit builder has inserted it.
                op.detach()
            op.erase()
            raise
        with_type(op.results[0], inferred)
        return op

    def verify_(self) -> None:
        """Check the operands and that the result's type is the inferred one."""
        for value in (*self.operands, *self.results):
            check_weak_is_scalar(value)
        inferred = self.inferred_type()
        (result,) = self.results
        if not refines(result.type, inferred):
            raise VerifyException(
                f"the result {name_of(result)} has type {result.type}, "
                f"but the operands make it {inferred}"
            )


def check_positions(value: SSAValue, shape: Shape | None) -> None:
    """Refuse a tensor of which i32 does not hold all sizes and positions."""
    for axis, size in enumerate(shape or ()):
        if size >= 2**31:
            raise VerifyException(f"axis {axis} of {name_of(value)} is {size}, more than i32 holds")


def check_weak_is_scalar(value: SSAValue) -> None:
    """Refuse a tensor with axes of an element type that has no width."""
    t = value.type
    if isinstance(t, TensorType) and is_weak(t.element_type) and t.get_shape():
        raise VerifyException(f"{name_of(value)}: only a scalar can be of type {t.element_type}")
