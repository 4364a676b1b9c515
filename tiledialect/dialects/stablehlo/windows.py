"""Ops of StableHLO over windows: convolutions, reductions, selections."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Data
from xdsl.irdl import (
    IRDLOperation,
    SameVariadicOperandSize,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from tiledialect.dialects.stablehlo.structure import parse_integers

Integers = DenseArrayBase.constr(i64)
Labels = tuple[str | int, ...]
"""Roles of a tensor's axes: a letter, or the number of a spatial axis."""


@irdl_attr_definition
class ConvDimensionsAttr(Data[tuple[Labels, Labels, Labels]]):
    """`#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`: roles of the axes of a convolution."""

    name = "stablehlo.conv"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Labels, Labels, Labels]:
        """Parse ``<[b, 0, f]x[0, i, o]->[b, 0, f]>``."""
        with parser.in_angle_brackets():
            return cls.parse_labels(parser)

    @classmethod
    def parse_labels(cls, parser: AttrParser) -> tuple[Labels, Labels, Labels]:
        """Parse ``[b, 0, f]x[0, i, o]->[b, 0, f]``."""
        lhs = _labels(parser)
        parser.parse_characters("x")
        rhs = _labels(parser)
        parser.parse_punctuation("->")
        return lhs, rhs, _labels(parser)

    def text(self) -> str:
        """The text without brackets around it."""
        lhs, rhs, out = (f"[{', '.join(map(str, labels))}]" for labels in self.data)
        return f"{lhs}x{rhs}->{out}"

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<[b, 0, f]x[0, i, o]->[b, 0, f]>``."""
        printer.print_string(f"<{self.text()}>")


def _labels(parser: AttrParser) -> Labels:
    def label() -> str | int:
        number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        return parser.parse_identifier() if number is None else number

    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, label))


def pairs(attribute: DenseIntOrFPElementsAttr | None, rank: int) -> list[tuple[int, int]]:
    """Padding before and after each of ``rank`` axes; none by default."""
    if attribute is None:
        return [(0, 0)] * rank
    numbers = [n for n in attribute.get_values() if isinstance(n, int)]
    numbers = numbers * (2 * rank) if len(numbers) == 1 else numbers
    return [(numbers[2 * k], numbers[2 * k + 1]) for k in range(rank)]


def numbers(attribute: DenseArrayBase[I64] | None, rank: int, default: int = 1) -> list[int]:
    """Numbers of an attribute, one for each of ``rank`` axes."""
    return [default] * rank if attribute is None else [int(n) for n in attribute.get_values()]


WINDOW_LISTS = {
    "stride": "window_strides",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
}


@irdl_op_definition
class ConvolutionOp(IRDLOperation):
    """A convolution of a tensor with a kernel."""

    name = "stablehlo.convolution"

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    dimension_numbers = prop_def(ConvDimensionsAttr)
    window_strides = opt_prop_def(Integers)
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    lhs_dilation = opt_prop_def(Integers)
    rhs_dilation = opt_prop_def(Integers)
    window_reversal = opt_prop_def(DenseArrayBase.constr(i1))
    feature_group_count = prop_def(IntegerAttr[I64])
    batch_group_count = prop_def(IntegerAttr[I64])
    precision_config = opt_prop_def(ArrayAttr)
    result = result_def(TensorType)

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `(%x, %k) dim_numbers = …, window = {…} {…} : (types) -> type`."""
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        parser.parse_characters("dim_numbers")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {
            "dimension_numbers": ConvDimensionsAttr(ConvDimensionsAttr.parse_labels(parser))
        }
        parser.parse_punctuation(",")
        parser.parse_characters("window")
        parser.parse_punctuation("=")
        parser.parse_comma_separated_list(
            parser.Delimiter.BRACES, lambda: properties.update(cls._parse_window(parser))
        )
        attributes = parser.parse_optional_attr_dict()
        known = cls.get_irdl_definition().properties
        properties |= {k: v for k, v in attributes.items() if k in known}
        parser.parse_punctuation(":")
        position = parser.pos
        t = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands(operands, t.inputs.data, position),
            result_types=list(t.outputs.data),
            properties=properties,
            attributes={k: v for k, v in attributes.items() if k not in known},
        )

    @classmethod
    def _parse_window(cls, parser: Parser) -> dict[str, Attribute]:
        word = parser.parse_identifier()
        parser.parse_punctuation("=")
        if word in WINDOW_LISTS:
            return {WINDOW_LISTS[word]: parse_integers(parser)}
        if word == "reverse":
            flags = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: int(parser.parse_boolean())
            )
            return {"window_reversal": DenseArrayBase.from_list(i1, flags)}
        if word != "pad":
            parser.raise_error(f"a window has no {word}")

        def numbers() -> list[int]:
            return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)

        rows = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, numbers)
        t = TensorType(i64, [len(rows), 2])
        return {"padding": DenseIntOrFPElementsAttr.from_list(t, [n for r in rows for n in r])}

    def print(self, printer: Printer) -> None:
        """Print `(%x, %k) dim_numbers = …, window = {…} {…} : (types) -> type`."""
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_ssa_value)
        window: list[str] = []
        for word, name in WINDOW_LISTS.items():
            if (given := getattr(self, name)) is not None:
                window.append(f"{word} = {list(given.get_values())}")
        if self.padding is not None:
            window.append(f"pad = {[list(p) for p in pairs(self.padding, self.rank)]}")
        if self.window_reversal is not None:
            flags = ", ".join("true" if f else "false" for f in self.reversal)
            window.append(f"reverse = [{flags}]")
        text = f" dim_numbers = {self.dimension_numbers.text()}, window = {{{', '.join(window)}}}"
        printer.print_string(text)
        kept = ("feature_group_count", "batch_group_count", "precision_config")
        printer.print_op_attributes(
            {k: v for k, v in self.properties.items() if k in kept} | self.attributes
        )
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    @property
    def rank(self) -> int:
        """Number of spatial axes."""
        return len(self.dimension_numbers.data[0]) - 2

    @property
    def reversal(self) -> Sequence[bool]:
        """Whether the kernel is read backwards, for each spatial axis."""
        given = self.window_reversal
        return [False] * self.rank if given is None else [bool(f) for f in given.get_values()]


@irdl_op_definition
class ReduceWindowOp(IRDLOperation):
    """Windows of tensors, each reduced to an element."""

    name = "stablehlo.reduce_window"

    inputs = var_operand_def(TensorType)
    init_values = var_operand_def(TensorType)
    window_dimensions = prop_def(Integers)
    window_strides = opt_prop_def(Integers)
    base_dilations = opt_prop_def(Integers)
    window_dilations = opt_prop_def(Integers)
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    body = region_def("single_block")
    result = var_result_def(TensorType)

    irdl_options = (SameVariadicOperandSize(),)


@irdl_op_definition
class SelectAndScatterOp(IRDLOperation):
    """Elements added at the place that each window of a tensor selects."""

    name = "stablehlo.select_and_scatter"

    operand = operand_def(TensorType)
    source = operand_def(TensorType)
    init_value = operand_def(TensorType)
    window_dimensions = opt_prop_def(Integers)
    window_strides = opt_prop_def(Integers)
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    select = region_def("single_block")
    scatter = region_def("single_block")
    result = result_def(TensorType)
