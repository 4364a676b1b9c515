"""Buffers, loads and stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect import caches
from tiledialect.dialects.nest.attributes import (
    ConditionAttr,
    ExprsAttr,
)
from tiledialect.dialects.nest.indexed import (
    ALWAYS,
    IndexedOp,
    Names,
    Syntax,
    bind,
    parse_access,
    print_access,
)
from tiledialect.dialects.nest.lanes import vector_of
from tiledialect.index.integer.expressions import Condition, Expr


@irdl_op_definition
class BufferOp(IRDLOperation):
    """Memory that a kernel keeps something in, for as long as the enclosing loop's step lasts.

    The memory space of its type says where: 3 is local memory, one for a work-group, and 5
    private memory, one for each work-item. A private buffer that is accessed at unrolled places
    alone becomes registers. Strides give padding. With `copies 2` the next contents are fetched
    while the present ones are used (`nest-pipeline`). What is loaded from global memory to be
    stored in an `async` one may get there at any time before the `nest.wait` for it.

    Example:

    ```mlir
    %tile = nest.buffer copies 2 : memref<16x128xf32, strided<[132, 1]>, 3 : i32>
    %next = nest.buffer async copies 3 : memref<16x128xf32, 3 : i32>
    ```
    """

    name = "nest.buffer"

    copies = opt_prop_def(IntegerAttr)
    asynchronous = opt_prop_def(UnitAttr)
    result = result_def(AnyAttr())

    def __init__(self, t: MemRefType[Attribute], copies: int = 1, *, asynchronous: bool = False):
        """A buffer of this type."""
        super().__init__(
            result_types=[t],
            properties={
                "copies": IntegerAttr(copies, i64) if copies > 1 else None,
                "asynchronous": UnitAttr() if asynchronous else None,
            },
        )

    @property
    def number_of_copies(self) -> int:
        """Number of copies."""
        return 1 if self.copies is None else self.copies.value.data

    def verify_(self) -> None:
        """Check the type."""
        if not isinstance(self.result.type, MemRefType):
            raise VerifyException("a nest.buffer is a memref")

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        if self.asynchronous is not None:
            printer.print_string(" async")
        if self.copies is not None:
            printer.print_string(f" copies {self.number_of_copies}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> BufferOp:
        """Parse the form shown in the class's example."""
        copies = 1
        asynchronous = parser.parse_optional_keyword("async") is not None
        if parser.parse_optional_keyword("copies"):
            copies = parser.parse_integer(allow_boolean=False, allow_negative=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        t = parser.parse_type()
        if not isinstance(t, MemRefType):
            parser.raise_error("a nest.buffer is a memref")
        op = cls(t, copies, asynchronous=asynchronous)
        op.attributes.update(attributes)
        return op


def _verify_access(op: IndexedOp, memory: SSAValue, access: ExprsAttr, value: SSAValue) -> None:
    t = memory.type
    if not isinstance(t, MemRefType):
        raise VerifyException(f"{op.name} accesses a memref")
    op.verify_rank(t, access)
    element = value.type.element_type if isinstance(value.type, VectorType) else value.type
    if element != t.element_type:
        raise VerifyException(f"{op.name} of {value.type} on elements of {t.element_type}")


# There are so many loads and stores that they are not made by way of their definitions, which
# xDSL interprets each time.


def _properties(access: Sequence[Expr], condition: Condition) -> dict[str, Attribute]:
    """Properties of an access: place and condition."""
    where: dict[str, Attribute] = {"access": ExprsAttr(access)}
    return where if condition == ALWAYS else {**where, "condition": ConditionAttr(condition)}


@caches.SEGMENTS
def _segments(*sizes: int) -> Mapping[str, Attribute]:
    """Numbers of operands of each kind."""
    return {AttrSizedOperandSegments.attribute_name: DenseArrayBase.from_list(i32, sizes)}


@irdl_op_definition
class LoadOp(IndexedOp):
    """The element of a buffer at index expressions; a vector: so many neighbours from there.

    Where the condition does not hold, nothing is read, and the value is `else` (0 if not given).

    Example:

    ```mlir
    %a = nest.load %A[8*%i + %k, (%j mod 4)] if 0 <= %i - 1 : memref<8x4xf32>
    %b = nest.load %B[4*%i] if %i < 2 else %one : memref<8xf32>, vector<4xf32>
    ```
    """

    name = "nest.load"

    memory = operand_def(AnyAttr())
    indices = var_operand_def(IndexType())
    default = opt_operand_def(AnyAttr())
    access = prop_def(ExprsAttr)
    condition = opt_prop_def(ConditionAttr)
    result = result_def(AnyAttr())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        names: Names,
        memory: SSAValue,
        access: Sequence[Expr],
        condition: Condition = ALWAYS,
        default: SSAValue | None = None,
        *,
        lanes: int = 1,
    ):
        """A load at expressions of ``names``; of a vector if it has several ``lanes``."""
        operands, exprs, own = bind(names, access, condition)
        assert isinstance(memory.type, MemRefType)
        element = memory.type.element_type
        defaults = () if default is None else (default,)
        segments = _segments(1, len(operands), len(defaults))
        Operation.__init__(
            self,
            operands=(memory, *operands, *defaults),
            properties={**_properties(exprs, own), **segments},
            result_types=[element if lanes == 1 else vector_of(element, lanes)],
        )

    def verify_(self) -> None:
        """Check the number of indices and the types."""
        self.verify_names(self.access, self.condition)
        _verify_access(self, self.memory, self.access, self.result)
        if self.default is not None and self.default.type != self.result.type:
            raise VerifyException("the value after `else` has the type of the loaded one")

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(" ")
        print_access(printer, self, self.memory, self.access, self.condition)
        if self.default is not None:
            printer.print_string(" else ")
            printer.print_ssa_value(self.default)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memory.type)
        if isinstance(self.result.type, VectorType):
            printer.print_string(", ")
            printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        """Parse the form shown in the class's example."""
        syntax = Syntax(parser)
        memory, access, condition = parse_access(parser, syntax)
        default = None
        if parser.parse_optional_keyword("else"):
            default = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        t = parser.parse_type()
        if not isinstance(t, MemRefType):
            parser.raise_error("a nest.load reads a memref")
        result = parser.parse_type() if parser.parse_optional_punctuation(",") else t.element_type
        op = cls.build(
            operands=[
                parser.resolve_operand(memory, t),
                syntax.indices,
                None if default is None else parser.resolve_operand(default, result),
            ],
            properties={"access": access, "condition": condition},
            result_types=[result],
        )
        op.attributes.update(attributes)
        return op


@irdl_op_definition
class StoreOp(IndexedOp):
    """Writes an element, or the neighbours of a vector, of a buffer, where the condition holds.

    With the attribute `nontemporal` (`nest-stream-stores`) a vector may go past the caches.

    Example: `nest.store %v, %A[8*%i, %j] if %j < 4 : f32, memref<64x8xf32>`
    """

    name = "nest.store"

    value = operand_def(AnyAttr())
    memory = operand_def(AnyAttr())
    indices = var_operand_def(IndexType())
    access = prop_def(ExprsAttr)
    condition = opt_prop_def(ConditionAttr)

    def __init__(
        self,
        names: Names,
        value: SSAValue,
        memory: SSAValue,
        access: Sequence[Expr],
        condition: Condition = ALWAYS,
    ):
        """A store at expressions of ``names``."""
        operands, exprs, own = bind(names, access, condition)
        Operation.__init__(
            self, operands=(value, memory, *operands), properties=_properties(exprs, own)
        )

    def verify_(self) -> None:
        """Check the number of indices and the types."""
        self.verify_names(self.access, self.condition)
        _verify_access(self, self.memory, self.access, self.value)

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        print_access(printer, self, self.memory, self.access, self.condition)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", ")
        printer.print_attribute(self.memory.type)

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        """Parse the form shown in the class's example."""
        syntax = Syntax(parser)
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        memory, access, condition = parse_access(parser, syntax)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        value_type = parser.parse_type()
        parser.parse_punctuation(",")
        t = parser.parse_type()
        op = cls.build(
            operands=[
                parser.resolve_operand(value, value_type),
                parser.resolve_operand(memory, t),
                syntax.indices,
            ],
            properties={"access": access, "condition": condition},
        )
        op.attributes.update(attributes)
        return op
