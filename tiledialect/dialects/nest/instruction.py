"""Ops of the table's instructions: execution on values, and loads of operands."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    VectorType,
    i16,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.nest.attributes import ExprsAttr
from tiledialect.dialects.nest.indexed import (
    IndexedOp,
    Names,
    Syntax,
    bind,
    parse_place,
    print_place,
)
from tiledialect.dialects.tile.element_types import CONCRETE, SHORT_FLOATS
from tiledialect.index.integer.expressions import Expr
from tiledialect.schedule.instructions import Fragment, Instruction, RowLoad, find
from tiledialect.schedule.loops import ScheduleError


def _entry(name: StringAttr) -> Instruction:
    try:
        return find(name.data)
    except ScheduleError as e:
        raise VerifyException(str(e)) from None


def element_type(fragment: Fragment) -> Attribute:
    """The type of an element in a register: the bits of an f16 or a bf16 are an i16."""
    t = CONCRETE[fragment.stored]
    if t in SHORT_FLOATS:
        return i16
    return IntegerType(t.width.data) if isinstance(t, IntegerType) else t


def register_types(fragment: Fragment) -> list[Attribute]:
    """The types of an operand's registers."""
    t = element_type(fragment)
    if fragment.packed > 1:
        t = VectorType(t, [fragment.packed])
    return [t] * fragment.registers


@irdl_op_definition
class InstructionOp(IRDLOperation):
    """Adds a box of products, as an instruction of the table `tiledialect.schedule.instructions`.

    Several work-items execute it together; each gives its registers of the sums so far and of the
    operands, and gets the registers of the sums. Their types are in the table: the bits of an f16
    are an i16, and a register that holds several elements is a vector.

    Example:

    ```mlir
    %e:4 = nest.instruction mma_m16n8k8_tf32(%c, %c, %c, %c)(%a, %a, %a, %a, %b, %b)
    ```
    """

    name = "nest.instruction"

    instruction = prop_def(StringAttr)
    sums = var_operand_def(AnyAttr())
    factors = var_operand_def(AnyAttr())
    totals = var_result_def(AnyAttr())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(self, name: str, sums: Sequence[SSAValue], factors: Sequence[SSAValue]):
        """Add the products of ``factors``, the registers of all operands, to ``sums``."""
        super().__init__(
            operands=[sums, factors],
            properties={"instruction": StringAttr(name)},
            result_types=[[v.type for v in sums]],
        )

    @property
    def entry(self) -> Instruction:
        """The entry of the table."""
        return _entry(self.instruction)

    def verify_(self) -> None:
        """Check the registers against the table."""
        sums = register_types(self.entry.result)
        factors = [t for f in self.entry.operands for t in register_types(f)]
        for given, wanted in (
            (self.sums.types, sums),
            (self.totals.types, sums),
            (self.factors.types, factors),
        ):
            if list(given) != wanted:
                raise VerifyException(
                    f"{self.instruction.data} has registers {', '.join(map(str, wanted))}, "
                    f"not {', '.join(map(str, given))}"
                )

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(f" {self.instruction.data}")
        for values in (self.sums, self.factors):
            with printer.in_parens():
                printer.print_list(values, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> InstructionOp:
        """Parse the form shown in the class's example."""
        position = parser.pos
        name = parser.parse_identifier(" of an instruction")
        try:
            entry = find(name)
        except ScheduleError as e:
            parser.raise_error(str(e), position, parser.pos)
        groups: list[Sequence[SSAValue]] = []
        for fragments in ([entry.result], entry.operands):
            types = [t for f in fragments for t in register_types(f)]
            names = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_unresolved_operand
            )
            groups.append(parser.resolve_operands(names, types, position))
        op = cls(name, *groups)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op


@irdl_op_definition
class FragmentOp(IndexedOp):
    """The registers of an instruction's operand, loaded by all its work-items together.

    Each of them names where in local memory a row of the operand's box begins, along one of its
    axes; which, the table says. Rows begin at multiples of their length.

    Example:

    ```mlir
    %a:4 = nest.fragment mma_m16n8k8_tf32 operand 0 along k %A[%row, 4*%half]
         : memref<16x8xf32, 3 : i32>
    ```
    """

    name = "nest.fragment"

    instruction = prop_def(StringAttr)
    operand = prop_def(IntegerAttr)
    axis = prop_def(StringAttr)
    memory = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    access = prop_def(ExprsAttr)
    registers = var_result_def(AnyAttr())

    def __init__(
        self,
        names: Names,
        instruction: str,
        number: int,
        axis: str,
        memory: SSAValue,
        access: Sequence[Expr],
    ):
        """The registers of an operand, whose row of this work-item begins at ``access``."""
        operands, exprs, _ = bind(names, access)
        super().__init__(
            operands=[memory, operands],
            properties={
                "instruction": StringAttr(instruction),
                "operand": IntegerAttr(number, i64),
                "axis": StringAttr(axis),
                "access": ExprsAttr(exprs),
            },
            result_types=[register_types(find(instruction).operands[number])],
        )

    @property
    def entry(self) -> Instruction:
        """The entry of the table."""
        return _entry(self.instruction)

    @property
    def number(self) -> int:
        """Number of the instruction's operand."""
        return self.operand.value.data

    @property
    def rows(self) -> RowLoad:
        """The rows that are loaded."""
        return _rows(self.entry, self.number, self.axis.data)

    def verify_(self) -> None:
        """Check the operand against the table."""
        self.verify_names(self.access)
        _rows(self.entry, self.number, self.axis.data)
        t = self.memory.type
        assert isinstance(t, MemRefType)
        fragment = self.entry.operands[self.number]
        if list(self.registers.types) != register_types(fragment):
            raise VerifyException(f"{self.instruction.data} has other registers")
        if t.element_type != element_type(fragment) or len(self.access.data) != t.get_num_dims():
            raise VerifyException(f"nest.fragment cannot read {t} so")

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(
            f" {self.instruction.data} operand {self.number} along {self.axis.data} "
        )
        print_place(printer, self, self.memory, self.access)

    @classmethod
    def parse(cls, parser: Parser) -> FragmentOp:
        """Parse the form shown in the class's example."""
        position = parser.pos
        name = parser.parse_identifier(" of an instruction")
        parser.parse_keyword("operand")
        number = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_keyword("along")
        axis = parser.parse_identifier(" of an axis")
        try:
            entry = find(name)
            _rows(entry, number, axis)
        except (ScheduleError, VerifyException) as e:
            parser.raise_error(str(e), position, parser.pos)
        syntax = Syntax(parser)
        memory, access, attributes = parse_place(parser, syntax, cls.name)
        op = cls.build(
            operands=[memory, syntax.indices],
            properties={
                "instruction": StringAttr(name),
                "operand": IntegerAttr(number, i64),
                "axis": StringAttr(axis),
                "access": access,
            },
            result_types=[register_types(entry.operands[number])],
        )
        op.attributes.update(attributes)
        return op


def _rows(entry: Instruction, number: int, axis: str) -> RowLoad:
    operands = entry.operands[number : number + 1]
    rows = operands[0].rows_along(axis) if operands else None
    if rows is None:
        raise VerifyException(
            f"{entry.name} has no operand {number} that is loaded by rows along {axis}"
        )
    return rows
