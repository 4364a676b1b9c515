"""Attributes of the lift dialect: sizes, boundaries, index functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.str_enum import StrEnum

from tiledialect import caches
from tiledialect.dialects.index_syntax import parse_index
from tiledialect.dialects.quoted import parse_quotable, quotable
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Atom, Expr, Quotient, Remainder, parts_of
from tiledialect.index.integer.magnitude import magnitude
from tiledialect.index.integer.polynomial import Variable, product_of
from tiledialect.index.size import Size


def parse_size(parser: AttrParser) -> Size:
    """Parse a size such as ``(N + 2) / 4``."""
    total = -_parse_product(parser) if parser.parse_optional_punctuation("-") else None
    total = _parse_product(parser) if total is None else total
    while True:
        if parser.parse_optional_punctuation("+"):
            total += _parse_product(parser)
        elif parser.parse_optional_punctuation("-"):
            total -= _parse_product(parser)
        else:
            return total


def _parse_product(parser: AttrParser) -> Size:
    product = _parse_factor(parser)
    while True:
        if parser.parse_optional_punctuation("*"):
            product *= _parse_factor(parser)
        elif parser.parse_optional_punctuation("/"):
            try:
                product /= _parse_factor(parser)
            except (ValueError, ZeroDivisionError) as error:
                parser.raise_error(str(error))
        else:
            return product


def _parse_factor(parser: AttrParser) -> Size:
    if parser.parse_optional_punctuation("("):
        inner = parse_size(parser)
        parser.parse_punctuation(")")
        return inner
    number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    return Size.of(parser.parse_identifier(" of a size") if number is None else number)


def size_of(text: str) -> Size:
    """The size that the text is; ``N // 4`` is the same as ``N / 4``."""
    text = text.replace("//", "/")
    parser = Parser(Context(), text)
    try:
        size = parse_size(parser)
        if parser.pos != len(text):
            parser.raise_error("expected the end of the size")
    except ParseError as error:
        raise TileError(f"{text!r} is no size: {error.msg}") from None
    return size


@irdl_attr_definition
class SizesAttr(Data[tuple[Size, ...]]):
    """`#lift.sizes<N + 2, M>`: the sizes of a tensor's open axes, in order, as its encoding.

    `tensor<?x3xf32, #lift.sizes<N>>` is an array of N arrays of 3 numbers. A size is a sum of
    products and exact quotients of names: `N / 4` states that 4 divides N. A name means the same
    number throughout a function.
    """

    name = "lift.sizes"

    def __init__(self, sizes: Sequence[Size]):
        super().__init__(tuple(sizes))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Size, ...]:
        """Parse ``<size, …>``."""
        sizes = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: parse_size(parser)
        )
        return tuple(sizes)

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<size, …>``."""
        with printer.in_angle_brackets():
            printer.print_list(self.data, lambda size: printer.print_string(str(size)))


@irdl_attr_definition
class SizeAttr(Data[Size]):
    """`#lift.size<N / 4>`: a number that a pattern takes, such as the length of its pieces."""

    name = "lift.size"

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> SizeAttr:
        """Parse a size."""
        return cls(parse_size(parser))

    def print_bare(self, printer: Printer) -> None:
        """Print the size."""
        printer.print_string(str(self.data))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Size:
        """Parse ``<size>``."""
        with parser.in_angle_brackets():
            return parse_size(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<size>``."""
        with printer.in_angle_brackets():
            self.print_bare(printer)


@irdl_attr_definition
class OrdinalAttr(Data[int]):
    """`#lift.ordinal<0>`: which dimension of the NDRange, or which component of a tuple."""

    name = "lift.ordinal"

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> OrdinalAttr:
        """Parse a number."""
        return cls(parser.parse_integer(allow_boolean=False, allow_negative=False))

    def print_bare(self, printer: Printer) -> None:
        """Print the number."""
        printer.print_string(str(self.data))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        """Parse ``<number>``."""
        with parser.in_angle_brackets():
            return cls.parse_bare(parser).data

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<number>``."""
        with printer.in_angle_brackets():
            self.print_bare(printer)


class Boundary(StrEnum):
    """Elements beyond the ends of an array."""

    clamp = "clamp"
    """The outermost element, again and again."""
    mirror = "mirror"
    """The array backwards: the outermost element comes first, and then there."""
    wrap = "wrap"
    """The array's other end."""


@irdl_attr_definition
class BoundaryAttr(EnumAttribute[Boundary], SpacedOpaqueSyntaxAttribute):
    """`#lift<boundary clamp>`: elements that a `lift.pad` puts at the ends; or `mirror`, or
    `wrap`."""

    name = "lift.boundary"

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> BoundaryAttr:
        """Parse the word."""
        return cls(cls.parse_parameter(parser))

    def print_bare(self, printer: Printer) -> None:
        """Print the word."""
        self.print_parameter(printer)


class Order(StrEnum):
    """In which order an array is searched."""

    binary = "binary"
    """By halves."""
    linear = "linear"
    """First element to last."""


@irdl_attr_definition
class OrderAttr(EnumAttribute[Order], SpacedOpaqueSyntaxAttribute):
    """`#lift<order binary>`: in which order a `lift.search` goes; or `linear`."""

    name = "lift.order"

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> OrderAttr:
        """Parse the word."""
        return cls(cls.parse_parameter(parser))

    def print_bare(self, printer: Printer) -> None:
        """Print the word."""
        self.print_parameter(printer)


CHUNK = 1 << 20
"""So many indices of a map are checked at once."""


def _all_atoms(expr: Expr) -> Iterator[Atom]:
    for atom in expr.atoms:
        yield atom
        for part in parts_of(atom):
            yield from _all_atoms(part)


@dataclass(frozen=True)
class IndexMap:
    """A function from an index to an index; its expression may have names of sizes, too."""

    variable: str
    expr: Expr

    @staticmethod
    def of(function: Callable[[Expr], Expr | int], variable: str = "i") -> IndexMap:
        """The map that ``function`` computes."""
        return IndexMap(variable, Expr.of(function(Expr.var(variable))))

    def evaluate(self, index: int) -> int:
        """The index for an index, if there are no names of sizes."""
        return self.expr.evaluate({self.variable: index})

    @caches.INDEX_MAPS
    def fault(self, size: int, *, permutes: bool) -> str | None:
        """Fault of the map for an array of a size; None if there is none.

        It must stay inside; that it takes no index twice is only asked for where it ``permutes``.
        """
        if (most := magnitude(self.expr, {self.variable: size})) >= 2**63:
            return f"is computed from numbers of up to {most}, which do not fit 64 bits"
        seen = np.zeros(size if permutes else 0, bool)
        for start in range(0, size, CHUNK):
            indices = range(start, min(start + CHUNK, size))
            try:
                places = self._evaluate_all(indices)
            except ZeroDivisionError as error:
                return f"divides by 0 where {self.variable} = {error}"
            outside = np.flatnonzero((places < 0) | (places >= size))
            if len(outside):
                k = outside[0]
                return (
                    f"is {places[k]} for the index {start + k}, "
                    f"outside of an array of {size} elements"
                )
            if permutes:
                ordered = np.sort(places)
                twice = [*ordered[1:][ordered[1:] == ordered[:-1]], *places[seen[places]]]
                if twice:
                    return f"writes the element {twice[0]} more than once"
                seen[places] = True
        return None

    def _evaluate_all(self, indices: range) -> npt.NDArray[np.int64]:
        """The indices for some indices. Raises ``ZeroDivisionError`` with the index it is for."""
        if all(isinstance(a, Variable | Quotient | Remainder) for a in _all_atoms(self.expr)):
            with suppress(FloatingPointError, ZeroDivisionError), np.errstate(divide="raise"):
                found = self.expr.evaluate({self.variable: np.arange(indices.start, indices.stop)})  # pyright: ignore[reportArgumentType]
                return np.broadcast_to(np.asarray(found), len(indices))
        places: list[int] = []
        for index in indices:
            try:
                places.append(self.evaluate(index))
            except ZeroDivisionError:
                raise ZeroDivisionError(index) from None
        return np.array(places)

    def substitute(self, sizes: Mapping[str, Size | int]) -> IndexMap:
        """The map with sizes replaced."""
        values = {n: expression(Size.of(s)) for n, s in sizes.items() if n != self.variable}
        return IndexMap(self.variable, self.expr.substitute(values))

    def __str__(self) -> str:
        return f"{self.variable} -> {self.expr}"


def expression(size: Size) -> Expr:
    """The size in address arithmetic."""
    numerator, denominator = map(_polynomial, size.fraction)
    return numerator // denominator


def _polynomial(size: Size) -> Expr:
    return Expr.collect(
        (product_of(Variable(name) for name, power in powers for _ in range(power)), int(c))
        for powers, c in size.terms
    )


@irdl_attr_definition
class IndexMapAttr(Data[IndexMap]):
    """`#lift.index_map<i -> N - 1 - i>`: where `lift.gather` reads and `lift.scatter` writes."""

    name = "lift.index_map"

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> IndexMapAttr:
        """Parse ``i -> expression``."""
        variable = parser.parse_identifier(" of an index")
        parser.parse_punctuation("->")
        return cls(IndexMap(variable, parse_index(parser)))

    def print_bare(self, printer: Printer) -> None:
        """Print ``i -> expression``."""
        printer.print_string(str(self.data))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> IndexMap:
        """Parse ``<i -> expression>``, or the same in quotes."""
        with parser.in_angle_brackets():
            return parse_quotable(parser, cls.parse_bare).data

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<i -> expression>``, in quotes where the expression compares."""
        with printer.in_angle_brackets():
            printer.print_string(quotable(str(self.data)))
