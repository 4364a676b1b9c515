"""Ops of StableHLO that move elements, sort, draw random bits and make tuples."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    I32,
    I64,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    TensorType,
    TupleType,
    i64,
)
from xdsl.dialects.utils import EnumAttribute, StrEnum
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

Integers = DenseArrayBase.constr(i64)


@irdl_op_definition
class DynamicUpdateSliceOp(IRDLOperation):
    """A tensor with a part, from computed places on, replaced by another tensor."""

    name = "stablehlo.dynamic_update_slice"

    operand = operand_def(TensorType)
    update = operand_def(TensorType)
    start_indices = var_operand_def(TensorType)
    result = result_def(TensorType)

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"


def parse_integers(parser: Parser) -> DenseArrayBase[I64]:
    """Parse numbers in square brackets."""
    numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, numbers)


@irdl_op_definition
class ReverseOp(IRDLOperation):
    """A tensor with the elements of some axes in reverse order."""

    name = "stablehlo.reverse"

    operand = operand_def(TensorType)
    dimensions = prop_def(Integers)
    result = result_def(TensorType)

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `%x, dims = [0, 1] : type`."""
        operand = parser.parse_unresolved_operand()
        parser.parse_characters(",")
        parser.parse_characters("dims")
        parser.parse_punctuation("=")
        dimensions = parse_integers(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        t = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(operand, t)],
            result_types=[t],
            properties={"dimensions": dimensions},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `%x, dims = [0, 1] : type`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        printer.print_string(f", dims = [{', '.join(map(str, self.dimensions.get_values()))}]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


PADDING_WORDS = {
    "low": "edge_padding_low",
    "high": "edge_padding_high",
    "interior": "interior_padding",
}


@irdl_op_definition
class PadOp(IRDLOperation):
    """A tensor with elements of a value before, after and between its own.

    xdsl-jax takes no value but one of i32.
    """

    name = "stablehlo.pad"

    operand = operand_def(TensorType)
    padding_value = operand_def(TensorType)
    edge_padding_low = prop_def(Integers)
    edge_padding_high = prop_def(Integers)
    interior_padding = prop_def(Integers)
    result = result_def(TensorType)

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `%x, %v, low = [1], high = [1], interior = [0] : (types) -> type`."""
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {}
        for word, name in PADDING_WORDS.items():
            parser.parse_punctuation(",")
            parser.parse_characters(word)
            parser.parse_punctuation("=")
            properties[name] = parse_integers(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        t = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands([operand, value], t.inputs.data, position),
            result_types=list(t.outputs.data),
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `%x, %v, low = [1], high = [1], interior = [0] : (types) -> type`."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        for word, name in PADDING_WORDS.items():
            numbers: DenseArrayBase[I64] = getattr(self, name)
            printer.print_string(f", {word} = [{', '.join(map(str, numbers.get_values()))}]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    def verify_(self) -> None:
        """Check that the value is a scalar of the operand's element type."""
        operand, value = self.operand.type, self.padding_value.type
        assert isinstance(operand, TensorType) and isinstance(value, TensorType)
        if value != TensorType(operand.element_type, ()):
            raise VerifyException(f"a {operand} is padded with a {value}")


class RngAlgorithm(StrEnum):
    """Algorithm of a generator of random bits."""

    DEFAULT = "DEFAULT"
    THREE_FRY = "THREE_FRY"
    PHILOX = "PHILOX"


@irdl_attr_definition
class RngAlgorithmAttr(EnumAttribute[RngAlgorithm], SpacedOpaqueSyntaxAttribute):
    """Algorithm of a generator of random bits."""

    name = "stablehlo.rng_algorithm"


@irdl_op_definition
class RngBitGeneratorOp(IRDLOperation):
    """Random bits, and the state after they have been drawn."""

    name = "stablehlo.rng_bit_generator"

    initial_state = operand_def(TensorType)
    rng_algorithm = prop_def(RngAlgorithmAttr)
    output_state = result_def(TensorType)
    output = result_def(TensorType)

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `%s, algorithm = THREE_FRY : (type) -> (type, type)`."""
        state = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_characters("algorithm")
        parser.parse_punctuation("=")
        algorithm = RngAlgorithmAttr(parser.parse_str_enum(RngAlgorithm))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        t = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands([state], t.inputs.data, position),
            result_types=list(t.outputs.data),
            properties={"rng_algorithm": algorithm},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `%s, algorithm = THREE_FRY : (type) -> (type, type)`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.initial_state)
        printer.print_string(f", algorithm = {self.rng_algorithm.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)


@irdl_op_definition
class SortOp(IRDLOperation):
    """Tensors sorted together along an axis by a comparison."""

    name = "stablehlo.sort"

    inputs = var_operand_def(TensorType)
    dimension = opt_prop_def(IntegerAttr)
    is_stable = opt_prop_def(BoolAttr)
    comparator = region_def("single_block")
    result = var_result_def(TensorType)


@irdl_op_definition
class TupleOp(IRDLOperation):
    """A tuple of values."""

    name = "stablehlo.tuple"

    val = var_operand_def()
    result = result_def(TupleType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `%a, %b : tuple<types>`."""
        values = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        t = parser.parse_type()
        types = t.types.data if isinstance(t, TupleType) else ()
        return cls.create(
            operands=parser.resolve_operands(values or [], types, position),
            result_types=[t],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `%a, %b : tuple<types>`."""
        printer.print_string(" ")
        printer.print_list(self.val, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class GetTupleElementOp(IRDLOperation):
    """An element of a tuple."""

    name = "stablehlo.get_tuple_element"

    operand = operand_def(TupleType)
    index = prop_def(IntegerAttr[I32])
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `%t[0] : (tuple<types>) -> type`."""
        operand = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = IntegerAttr(parser.parse_integer(), 32)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        t = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands([operand], t.inputs.data, position),
            result_types=list(t.outputs.data),
            properties={"index": index},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `%t[0] : (tuple<types>) -> type`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        printer.print_string(f"[{self.index.value.data}]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    @property
    def element(self) -> SSAValue | None:
        """The value that the tuple was made of, where its making is in sight."""
        made = self.operand.owner
        return made.operands[self.index.value.data] if isinstance(made, TupleOp) else None
