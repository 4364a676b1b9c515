"""MLIR text in and out: xDSL's parser with locations for ops and clean errors, its printer."""

from __future__ import annotations

import re
from bisect import bisect_right
from io import StringIO
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    AnyFloat,
    Builtin,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    IndexType,
    IntAttr,
    IntegerType,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
    UnknownLoc,
    i1,
)
from xdsl.ir import AttributeInvT, Dialect, Operation, SSAValue
from xdsl.parser import AttrParser, Parser, ParserState, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

from tiledialect.errors import SourceSpan, TileError
from tiledialect.ir.dense_constants import take_resources
from tiledialect.ir.names import name_values, place_of, set_place
from tiledialect.ir.verification import explain
from tiledialect.rounding import ceil_div
from tiledialect.universe import full_universe


def parse_mlir(
    text: str, filename: str, context: Context | None = None, implicit_module: bool = True
) -> ModuleOp:
    """The module that MLIR text holds, not verified; a TileError at the place that is wrong.

    Every op without a location in the text gets the place where it stands, and every value without
    a name its SSA name. ``context`` says which dialects there are, by default all; without
    ``implicit_module`` the text must begin with one.
    """
    context = context or all_dialects()
    parser = _PlacingParser(context, filename)
    try:
        parser.start(text)
        module = parser.parse_module(implicit_module)
        take_resources(module, context)
    except ParseError as error:
        raise TileError(*parser.diagnosis(error)) from error
    except TileError:
        raise
    except RecursionError:
        raise TileError("the text is nested too deeply", parser.here()) from None
    except Exception as error:
        # The constructors of ops and attributes, of any dialect, raise any exception.
        raise TileError(explain(error, "parse"), parser.here()) from error
    name_values(module)
    return module


def print_module(module: ModuleOp, locations: bool = False) -> str:
    """Print a module as MLIR text, on request with the ops' locations in the source."""
    stream = StringIO()
    _Printer(stream, print_debuginfo=locations).print_op(module)
    return stream.getvalue() + "\n"


class _Printer(Printer):
    """xDSL's, but for loops, whose location it prints before their regions, too."""

    def print_operation_type(self, op: Operation) -> None:
        """Print the types of an op's operands and results."""
        if isinstance(op, scf.WhileOp):
            self.print_function_type(op.operand_types, op.result_types)
        else:
            super().print_operation_type(op)


def read_text(path: Path) -> str:
    """Read a text file; a TileError if it is no text or not there."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise TileError(f"{path} is not a text file") from None
    except (OSError, ValueError) as error:
        raise TileError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from None


def all_dialects() -> Context:
    """A context that loads any dialect that xDSL can find, when it is used."""
    context = Context()
    for name, dialect in full_universe().all_dialects.items():
        context.register_dialect(name, _builtin if name == Builtin.name else dialect)
    return context


def _builtin() -> Dialect:
    """The builtin dialect without the resources of other texts, which xDSL takes for this one's."""
    given = list(Builtin.operations), list(Builtin.attributes)
    return Dialect(Builtin.name, *given, [OpAsmDialectInterface()])


ElementType: TypeAlias = AnyFloat | IntegerType | IndexType | ComplexType

_PLAINER = {
    "Could not parse entire input!": "expected an op",
    " in block definition": "expected an op or `}`",
}
"""Messages of xDSL, and plainer ones."""


_BOOLEANS = re.compile(r'<\s*"0x((?:[0-9A-Fa-f]{2})+)"\s*>\s*:\s*tensor<((?:\d+x)*)i1>')
"""Hexadecimal text of booleans."""
BITS = 8
"""Bits of a byte."""


class _Lexer(MLIRLexer):
    """xDSL's, but for strings without an end, on which its own takes exponential time."""

    _unescaped_characters_regex = re.compile(
        # Possessive: a failed end of the string is not retried in other pieces.
        r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"'
    )


class _Element(Parser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element of ``dense<…>``. xDSL prints the bits of some reals, and would read a number."""

    def to_type(self, parser: AttrParser, type: ElementType) -> Any:
        """The value that it is in an array of this element type."""
        value = self.value
        if not isinstance(type, AnyFloat) or not self.span.text.startswith(("0x", "0X")):
            return super().to_type(parser, type)
        if not isinstance(value, int) or value >= 1 << 8 * type.compile_time_size or value < 0:
            parser.raise_error(f"these are not the bits of an {type}", at_position=self.span)
        return next(iter(type.iter_unpack(value.to_bytes(type.compile_time_size, "little"))))


class _PlacingParser(Parser):
    """A parser that says of each op, and of each value without a definition, where it stands."""

    _TensorLiteralElement = _Element

    def __init__(self, context: Context, filename: str):
        super().__init__(context, "", filename)
        self._text = Input("", filename)
        self._line_starts = [0]
        self._op_starts: list[int] = []
        self._first_uses: dict[str, Span] = {}
        self._taken = Span(0, 0, self._text)

    def start(self, text: str) -> None:
        """Begin with the text; a ParseError if that is no token."""
        self._text = Input(text, self._text.name)
        self._line_starts += [match.end() for match in re.finditer("\n", text)]
        self._parser_state = ParserState(_Lexer(self._text))

    def _place(self, position: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, position)
        return line, position - self._line_starts[line - 1] + 1

    def _source(self, start: int, end: int) -> SourceSpan:
        line, column = self._place(start)
        return SourceSpan(self._text.content, line, column, self._text.name, max(1, end - start))

    def here(self) -> SourceSpan:
        """Location of the last token that the parser took."""
        return self._source(self._taken.start, self._taken.end)

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None) -> MLIRToken:
        self._taken = self._current_token.span
        return super()._consume_token(expected_kind)

    def diagnosis(self, error: ParseError) -> tuple[str, SourceSpan]:
        """Message and location of a parse error."""
        span, message = error.span, error.msg
        if "closing string literal" in message:
            message = "this string has no end"
        message = _PLAINER.get(message, message)
        for name in self.forward_ssa_references:
            if message.startswith("values used but not defined") and name in self._first_uses:
                span, message = self._first_uses[name], f"%{name} is not defined"
                break
        return message, self._source(span.start, span.end)

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._op_starts.append(self.pos)
        return results

    def parse_operation(self) -> Operation:
        """Parse an op, which gets a location if the text gives it none."""
        op = super().parse_operation()
        line, column = self._place(self._op_starts.pop())
        if place_of(op) is None and isinstance(op.location, UnknownLoc | NameLoc):
            file = StringAttr(self._text.name)
            set_place(op, FileLineColLoc(file, IntAttr(line), IntAttr(column)))
        return op

    def parse_dense_int_or_fp_elements_attr(self, type: Any = None) -> DenseIntOrFPElementsAttr:
        """Parse ``dense<…>``: upstream's hexadecimal text has 8 booleans in a byte, xDSL's one."""
        found = _BOOLEANS.match(self._text.content, self._current_token.span.start)
        if type is not None or found is None:
            return super().parse_dense_int_or_fp_elements_attr(type)
        data = np.frombuffer(bytes.fromhex(found[1]), np.uint8)
        shape = [int(n) for n in found[2].split("x")[:-1]]
        count = prod(shape)
        if len(data) == 1 and count > BITS:
            data = np.broadcast_to(data, shape)
        elif len(data) != count and len(data) == ceil_div(count, BITS):
            data = np.unpackbits(data, bitorder="little")[:count]
        if data.size != count:
            self.raise_error(f"these are not {count} booleans")
        self._resume_from(found.end())
        return DenseIntOrFPElementsAttr(TensorType(i1, shape), BytesAttr(data.tobytes()))

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        """Find a value, which may be defined later."""
        self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)
