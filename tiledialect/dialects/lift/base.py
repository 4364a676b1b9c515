"""Base classes of the lift dialect's ops: parameters, functions as regions, inferred types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import ClassVar, Protocol, TypeVar, cast

from xdsl.dialects.builtin import FunctionType, NoneAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift.types import describe, is_array_type, sizes_of
from tiledialect.dialects.operand_syntax import parse_operands_and_type, print_operands_and_type
from tiledialect.index.size import Size
from tiledialect.ir.names import take_name, with_type

Op = TypeVar("Op", bound=Operation)


class Parameter(Protocol):
    """An attribute that an op's syntax shows between parentheses, without its own brackets."""

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> Attribute:
        """Parse the attribute."""
        ...

    def print_bare(self, printer: Printer) -> None:
        """Print the attribute."""
        ...


class CanonicalizeLift(HasCanonicalizationPatternsTrait):
    """The canonicalization patterns of the dialect."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """Replacement by existing values, the one pattern."""
        return (ReplaceByExistingValue(),)


class ReplaceByExistingValue(RewritePattern):
    """Replace an op by its `existing_value`.

    Only replacements that shorten every program belong there. The rest are rewrite rules, for
    the user.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace ``op``."""
        value = op.existing_value() if isinstance(op, LiftOp) else None
        if value is not None:
            take_name(value, op.results[0])
            rewriter.replace(op, [], [value])


class LiftOp(IRDLOperation, ABC):
    """A pattern: an op with one result, the type of which follows from everything else."""

    result = result_def(AnyAttr())

    traits = traits_def(Pure(), CanonicalizeLift())

    @abstractmethod
    def inferred_type(self) -> Attribute:
        """The type of the result.

        Raises a VerifyException, in the user's names, if the operands do not fit the pattern.
        """

    def existing_value(self) -> SSAValue | None:
        """Value of the program that equals the result; None if none is known."""
        return None

    @classmethod
    def pattern(cls) -> str:
        """Name of the pattern for users."""
        return cls.name.removeprefix("lift.")

    @classmethod
    def make(cls, *operands: SSAValue, body: Region | None = None, **properties: Attribute):
        """The op; everything else determines the result's type."""
        regions = () if body is None else (body,)
        # Any type will do until the op can say which it is.
        op = cls.create(
            operands=operands, result_types=[NoneAttr()], properties=properties, regions=regions
        )
        with_type(op.results[0], op.inferred_type())
        return op

    def verify_(self) -> None:
        """Check the operands, and that the result's type is the inferred one."""
        for value in self.operands:
            check_type(value)
        inferred = self.inferred_type()
        if self.results[0].type != inferred:
            raise VerifyException(
                f"{self.pattern()} gives {inferred} here, not {self.results[0].type}"
            )

    @classmethod
    def parameters(cls) -> dict[str, type[Parameter]]:
        """The properties, which stand in parentheses after the op's name."""
        found: dict[str, type[Parameter]] = {}
        for name, definition in cls.get_irdl_definition().properties.items():
            (found[name],) = cast(set[type[Parameter]], definition.constr.get_bases())
        return found

    @classmethod
    def parse_parameters(cls, parser: Parser) -> dict[str, Attribute]:
        """Parse ``(parameter, …)``, if the op has any."""
        properties: dict[str, Attribute] = {}
        for k, (name, kind) in enumerate(cls.parameters().items()):
            parser.parse_punctuation("," if k else "(")
            properties[name] = kind.parse_bare(parser)
        if properties:
            parser.parse_punctuation(")")
        return properties

    def print_parameters(self, printer: Printer) -> None:
        """Print ``(parameter, …)``, if the op has any."""
        if self.properties:
            with printer.in_parens():
                parameters = [cast(Parameter, self.properties[name]) for name in self.parameters()]
                printer.print_list(parameters, lambda parameter: parameter.print_bare(printer))

    def print_function_type(self, printer: Printer) -> None:
        """Print ``: (operand types) -> result type``."""
        printer.print_string(" : ")
        t = FunctionType.from_lists(list(self.operand_types), list(self.result_types))
        printer.print_attribute(t)


class PlainOp(LiftOp, ABC):
    """A pattern without a function."""

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `(parameters) %operands : (types) -> type`."""
        properties = cls.parse_parameters(parser)
        operands, result_types, attributes = parse_operands_and_type(parser)
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `(parameters) %operands : (types) -> type`."""
        self.print_parameters(printer)
        print_operands_and_type(printer, self)


class ArrayOp(PlainOp, ABC):
    """A pattern that takes one array."""

    input = operand_def(AnyAttr())


class FunctionOp(LiftOp, ABC):
    """A pattern with a function: a region whose arguments range over the operands."""

    body = region_def("single_block")

    KEYWORDS: ClassVar[tuple[str, ...]] = ("in",)
    """For each argument of the function, the word between it and its operand."""

    LAST_KEYWORD: ClassVar[str | None] = None
    """The word before a last operand that belongs to no argument."""

    @classmethod
    @abstractmethod
    def argument_types(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> tuple[Attribute, ...]:
        """The types of the function's arguments. Raises a VerifyException."""

    @classmethod
    def of_function(
        cls,
        operands: Sequence[SSAValue],
        function: Callable[..., SSAValue],
        **properties: Attribute,
    ):
        """The op with the function that ``function`` builds, given the arguments.

        Its ops must be inserted by itself, for example by an ``ImplicitBuilder``.
        """
        from xdsl.builder import ImplicitBuilder

        block = Block(arg_types=cls.argument_types(operands, properties))
        with ImplicitBuilder(block):
            YieldOp(function(*block.args))
        return cls.make(*operands, body=Region(block), **properties)

    @property
    def block(self) -> Block:
        """The function's block."""
        return self.body.block

    @property
    def yielded(self) -> SSAValue:
        """Result of the function."""
        last = self.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"the function of {self.pattern()} ends in a lift.yield")
        return last.value

    def verify_(self) -> None:
        """Check the function's arguments and result, too."""
        for argument in self.block.args:
            check_type(argument)
        wanted = self.argument_types(self.operands, self.properties)
        if self.block.arg_types != wanted:
            found = ", ".join(map(str, self.block.arg_types))
            raise VerifyException(
                f"the function of {self.pattern()} takes {', '.join(map(str, wanted))} here, "
                f"not {found or 'nothing'}"
            )
        check_type(self.yielded)
        super().verify_()

    # -- syntax ----------------------------------------------------------------------------

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `(parameters)(%argument in %operand, …) : (types) -> type {…}`."""
        properties = cls.parse_parameters(parser)
        names: list[Parser.UnresolvedArgument] = []
        unresolved: list[UnresolvedOperand] = []
        position = parser.pos
        parser.parse_punctuation("(")
        for keyword in cls.KEYWORDS:
            if names:
                parser.parse_punctuation(",")
            names.append(parser.parse_argument(expect_type=False))
            parser.parse_keyword(keyword)
            unresolved.append(parser.parse_unresolved_operand())
        if cls.LAST_KEYWORD is not None:
            parser.parse_keyword(cls.LAST_KEYWORD)
            unresolved.append(parser.parse_unresolved_operand())
        parser.parse_punctuation(")")
        parser.parse_punctuation(":")
        t = parser.parse_function_type()
        operands = parser.resolve_operands(unresolved, t.inputs.data, position)
        try:
            types = cls.argument_types(operands, properties)
        except VerifyException as error:
            parser.raise_error(str(error), position)
        return cls.parse_body(parser, names, types, operands, t, properties)

    @classmethod
    def parse_body(
        cls,
        parser: Parser,
        names: Sequence[Parser.UnresolvedArgument],
        types: Sequence[Attribute],
        operands: Sequence[SSAValue],
        t: FunctionType,
        properties: Mapping[str, Attribute],
    ):
        """Parse the attributes and the function, and make the op."""
        attributes = parser.parse_optional_attr_dict_with_keyword()
        arguments = [name.resolve(t) for name, t in zip(names, types, strict=True)]
        return cls.create(
            operands=operands,
            result_types=t.outputs.data,
            properties=properties,
            attributes=dict(attributes.data) if attributes else {},
            regions=[parser.parse_region(arguments)],
        )

    def print(self, printer: Printer) -> None:
        """Print `(parameters)(%argument in %operand, …) : (types) -> type {…}`."""
        self.print_parameters(printer)
        with printer.in_parens():
            self.print_arguments(printer)
        self.print_body(printer)

    def print_arguments(self, printer: Printer) -> None:
        """Print `%argument in %operand, …`."""
        for k, keyword in enumerate(self.KEYWORDS):
            printer.print_string(", " if k else "")
            printer.print_ssa_value(self.block.args[k])
            printer.print_string(f" {keyword} ")
            printer.print_ssa_value(self.operands[k])
        if self.LAST_KEYWORD is not None:
            printer.print_string(f" {self.LAST_KEYWORD} ")
            printer.print_ssa_value(self.operands[-1])

    def print_body(self, printer: Printer) -> None:
        """Print the types, the attributes and the function."""
        self.print_function_type(printer)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The result of a pattern's function.

    Example:

    ```mlir
    %r = lift.map(%x in %xs) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.addf %x, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.yield"

    value = operand_def(AnyAttr())

    traits = traits_def(IsTerminator())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value])


def defining_op(value: SSAValue, kind: type[Op]) -> Op | None:
    """Op of this kind that defines a value."""
    return value.owner if isinstance(value.owner, kind) else None


def check_type(value: SSAValue) -> None:
    """Refuse a value that is no number, vector, tuple or array of such."""
    if not is_array_type(value.type):
        raise VerifyException(f"{describe(value)} is {value.type}, which is no array and no number")
    if isinstance(value.type, TensorType):
        sizes_of(value.type)


def exact(dividend: Size, divisor: Size, otherwise: str) -> Size:
    """The quotient; a VerifyException that says ``otherwise`` if it is known not to be a size."""
    try:
        quotient = dividend / divisor
    except ZeroDivisionError:
        raise VerifyException(otherwise) from None
    except ValueError as error:
        raise VerifyException(f"{error}: give the divisor a name of its own") from None
    number = quotient.number
    if number is not None and (number < 0 or number.denominator != 1):
        raise VerifyException(otherwise)
    return quotient


def positive(size: Size, what: str) -> None:
    """Refuse a number that is known not to be a positive integer."""
    _at_least(size, 1, what)


def not_negative(size: Size, what: str) -> None:
    """Refuse a number that is known not to be an integer of at least 0."""
    _at_least(size, 0, what)


def _at_least(size: Size, least: int, what: str) -> None:
    number = size.number
    if number is not None and (number < least or number.denominator != 1):
        raise VerifyException(f"{what} is {size}; it must be an integer of at least {least}")
    if number is not None and number >= 2**63:
        raise VerifyException(f"{what} is {size}, which does not fit 64 bits")


def label(op: Operation) -> str:
    """Name of an op with its parameters."""
    if not isinstance(op, LiftOp):
        value = op.properties.get("value")
        return op.name.partition(".")[2] if value is None else str(value).partition(" ")[0]
    stream = StringIO()
    op.print_parameters(Printer(stream))
    return op.pattern() + stream.getvalue()
