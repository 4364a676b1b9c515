"""Arrays as tensor types: their sizes, their elements, and values for names of sizes.

An array of numbers is a tensor; an array of arrays is a tensor of higher rank; pairs are builtin
tuples, and vectors builtin vectors. The sizes of open axes are the tensor's encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    IndexType,
    IntegerType,
    NoneAttr,
    TensorType,
    TupleType,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift.attributes import SizesAttr
from tiledialect.dialects.tile.element_types import CONCRETE, FLOATS
from tiledialect.errors import count
from tiledialect.index.size import Size
from tiledialect.ir.names import from_hint

Array = TensorType[Attribute]


def describe(value: SSAValue) -> str:
    """The user's name of a value, or the op of which it is the result."""
    if value.name_hint:
        return from_hint(value.name_hint)
    name = getattr(value.owner, "name", "")
    return f"the result of {name.partition('.')[2] or name}" if name else "an argument"


def is_number(t: Attribute) -> bool:
    """Whether ``t`` is the type of one number."""
    return t in CONCRETE.values() or isinstance(t, IndexType)


def is_integer(t: Attribute) -> bool:
    """Whether ``t`` is the type of one integer that can be an index."""
    return isinstance(t, IndexType | IntegerType)


def is_real(t: Attribute) -> bool:
    """Whether ``t`` is the type of one real number."""
    return t in FLOATS


def sizes_of(t: Array) -> tuple[Size, ...]:
    """The sizes of all axes. Raises a VerifyException if an open axis has no size."""
    encoding = t.encoding
    if not isinstance(encoding, NoneAttr | SizesAttr):
        raise VerifyException(f"the encoding of {t} is no #lift.sizes")
    named = list(encoding.data) if isinstance(encoding, SizesAttr) else []
    shape = t.get_shape()
    if shape.count(DYNAMIC_INDEX) != len(named):
        has = count(shape.count(DYNAMIC_INDEX), "open axis", "open axes")
        raise VerifyException(f"{t} has {has}, but names {count(len(named), 'size', 'sizes')}")
    return tuple(named.pop(0) if n == DYNAMIC_INDEX else Size.of(n) for n in shape)


def array(sizes: Sequence[Size], element: Attribute) -> Array:
    """The array with these axes around an element that may have axes itself."""
    if isinstance(element, TensorType):
        sizes, element = (*sizes, *sizes_of(element)), element.element_type
    for size in sizes:
        number = size.number
        if number is not None and (number < 0 or number.denominator != 1):
            raise VerifyException(f"an array cannot have {size} elements")
    numbers = [size.value for size in sizes]
    named = [size for size, number in zip(sizes, numbers, strict=True) if number is None]
    shape = [DYNAMIC_INDEX if number is None else number for number in numbers]
    return TensorType(element, shape, SizesAttr(named) if named else NoneAttr())


def tuple_of(types: Iterable[Attribute]) -> TupleType:
    """The tuple of these types."""
    return TupleType(ArrayAttr(cast(Iterable[TypeAttribute], types)))


def as_array(value: SSAValue, what: str) -> Array:
    """Type of an array; a VerifyException that names the pattern for other values."""
    if isinstance(value.type, TensorType) and value.type.get_num_dims():
        return value.type
    raise VerifyException(f"{what} takes an array, but {describe(value)} is {value.type}")


def element_of(t: Array) -> Attribute:
    """Type of an array's elements: a number, a vector, a tuple, or an array."""
    inner = sizes_of(t)[1:]
    return array(inner, t.element_type) if inner else t.element_type


def leading(t: Array) -> Size:
    """Number of elements of an array."""
    return sizes_of(t)[0]


def is_array_type(t: Attribute) -> bool:
    """Whether ``t`` is a type of the dialect's values; sizes are not looked at."""
    match t:
        case TensorType():
            return is_array_type(t.element_type) and not isinstance(t.element_type, TensorType)
        case TupleType():
            return all(map(is_array_type, t.types))
        case VectorType():
            return is_number(t.element_type)
        case _:
            return is_number(t)


# -- names of sizes ------------------------------------------------------------------------------


def all_sizes(t: Attribute) -> Iterator[Size]:
    """Sizes in a type, and in the types of components and elements."""
    if isinstance(t, TensorType):
        yield from sizes_of(t)
        yield from all_sizes(t.element_type)
    elif isinstance(t, TupleType):
        for part in t.types:
            yield from all_sizes(part)


NO_NAMES: frozenset[str] = frozenset()


def names_in(t: Attribute) -> frozenset[str]:
    """The names of sizes in a type."""
    match t:
        case TensorType():
            is_closed = isinstance(t.encoding, NoneAttr)
            if is_closed and not isinstance(t.element_type, TensorType | TupleType):
                return NO_NAMES
        case TupleType():
            pass
        case _:
            return NO_NAMES
    return frozenset(name for size in all_sizes(t) for name in size.names)


def substituted(t: Attribute, values: Mapping[str, Size | int]) -> Attribute:
    """The type with names of sizes replaced."""
    if isinstance(t, TensorType):
        sizes = [size.substitute(values) for size in sizes_of(t)]
        return array(sizes, substituted(t.element_type, values))
    if isinstance(t, TupleType):
        return tuple_of(substituted(part, values) for part in t.types)
    return t


class MismatchError(Exception):
    """Mismatch of a size with the expected one."""


@dataclass
class SizeSolver:
    """Solver of equations between sizes for the names in them."""

    values: dict[str, Size] = field(default_factory=dict[str, Size])
    """Values found so far."""
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """Descriptions of the values' origins."""
    open: list[tuple[Size, Size, str]] = field(default_factory=list[tuple[Size, Size, str]])
    """Equations not used yet, each with a description of its size."""

    def equate(self, size: Size, known: Size, where: str) -> None:
        """State that ``size`` is ``known``, which is the size of ``where``."""
        self.open.append((size, known, where))

    def solve(self) -> dict[str, Size]:
        """The values of all names; raises a ``MismatchError`` if there are none or several."""
        while self.open:
            found = next((e for e in self.open if self._learn(*e)), None)
            if found is None:
                size, _, where = self.open[0]
                raise MismatchError(f"the size of {where} does not determine the names in {size}")
            self.open.remove(found)
        return self.values

    def _learn(self, size: Size, known: Size, where: str) -> bool:
        """Use an equation; a ``MismatchError`` if a size in it cannot have its value."""
        try:
            return self._use(size, known, where)
        except (ZeroDivisionError, ValueError) as error:
            raise MismatchError(f"{where} cannot be {known}: {error}") from None

    def _use(self, size: Size, known: Size, where: str) -> bool:
        """Learn from an equation, if at most one name is unknown in it, and that linear."""
        unknown = size.names - self.values.keys()
        if not unknown:
            if size.substitute(self.values) != known:
                raise MismatchError(self._contradiction(size, known, where))
            return True
        if len(unknown) > 1:
            return False
        (name,) = unknown
        rest = size.substitute(self.values)
        constant = Size(tuple(t for t in rest.terms if name not in dict(t[0])))
        factor = (rest - constant) / Size.of(name)
        if name in factor.names or not factor.terms:
            return False
        value = (known - constant) / factor
        number = value.number
        if number is not None and (number.denominator != 1 or number < 0):
            raise MismatchError(f"{where} is {known}, which is not {size} for any {name}")
        self.values[name], self.sources[name] = value, where
        return True

    def _contradiction(self, size: Size, known: Size, where: str) -> str:
        found = size.substitute(self.values)
        if size.name is not None:
            return f"{size} is {found} in {self.sources[size.name]} but {known} in {where}"
        return (
            f"{size} is {found}, but {where} is {known}"
            if size.names
            else (f"{where} is {known}, not {size}")
        )
