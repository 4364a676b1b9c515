"""The kernel op: a group of ops that becomes one OpenCL kernel, with its schedule."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.attributes import ScheduleAttr, parse_schedule, print_schedule
from tiledialect.dialects.tile.base import name_of, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.yielding import EndsInYield, YieldOp
from tiledialect.index.expr import Range
from tiledialect.schedule.leaves import LoopIndex, ScheduleError, check


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A group of tile ops that runs as one kernel.

    The body sees the operands as its arguments and yields the results. The schedule, once there,
    says which loops run over the indices, in which order, and what runs each: see
    `#tile.schedule`. The indices are those of the body's contraction, of which there is one at
    most; a body without has `d0, d1, …`, the axes of its results. The results are of one shape.

    Example:

    ```mlir
    %O = tile.kernel(%x = %X : tensor<8xf32>) -> tensor<8xf32> schedule <local.x d0 : 8> {
      %e = tile.exp %x : (tensor<8xf32>) -> tensor<8xf32>
      tile.yield %e : tensor<8xf32>
    }
    ```
    """

    name = "tile.kernel"

    inputs = var_operand_def(AnyAttr())
    outputs = var_result_def(AnyAttr())
    schedule = opt_prop_def(ScheduleAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), Pure(), EndsInYield())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        body: Region,
        schedule: ScheduleAttr | None = None,
    ):
        """Make a kernel; ``body`` has an argument for each input and ends in a `tile.yield`."""
        super().__init__(
            operands=[inputs],
            result_types=[result_types],
            properties={"schedule": schedule},
            regions=[body],
        )

    @property
    def block(self) -> Block:
        """The body's block."""
        return self.body.block

    @property
    def yield_op(self) -> YieldOp:
        """The body's terminator."""
        last = self.block.last_op
        assert isinstance(last, YieldOp)
        return last

    @property
    def contraction(self) -> ContractionOp | None:
        """The body's contraction, if there is one."""
        return next((op for op in self.block.ops if isinstance(op, ContractionOp)), None)

    @property
    def indices(self) -> tuple[LoopIndex, ...]:
        """What the loops run over; those of a contraction are known once it has a domain."""
        op = self.contraction
        if op is not None:
            ranges = op.domain.data if op.domain is not None else ()
            output = {name for e in op.output.data for name in e.names}
            return tuple(LoopIndex(name, r, name in output) for name, r in ranges)
        shape = shape_of(tensor_type(self.outputs[0])) or ()
        return tuple(LoopIndex(f"d{k}", Range(0, size), True) for k, size in enumerate(shape))

    def verify_(self) -> None:
        """Check that arguments match operands, yielded values results, and loops indices."""
        if self.block.arg_types != tuple(self.operand_types):
            raise VerifyException("the arguments of a tile.kernel must match its operands")
        if tuple(self.yield_op.operand_types) != tuple(self.result_types):
            raise VerifyException("the values a tile.kernel yields must match its results")
        for value in (*self.operands, *self.results):
            if not (isinstance(value.type, TensorType) and value.type.has_static_shape()):
                raise VerifyException(f"a tile.kernel works on static shapes, not {value.type}")
        self._verify_results()
        if self.schedule is not None:
            self._verify_schedule(self.schedule)

    def _verify_results(self) -> None:
        contractions = [op for op in self.block.ops if isinstance(op, ContractionOp)]
        if len(contractions) > 1:
            names = " and ".join(name_of(op.result) for op in contractions)
            raise VerifyException(f"a tile.kernel has one contraction at most, not {names}")
        if not self.outputs:
            raise VerifyException("a tile.kernel has a result")
        values = (*(op.result for op in contractions), *self.yield_op.values)
        for value in values[1:]:
            if shape_of(tensor_type(value)) != shape_of(tensor_type(values[0])):
                raise VerifyException(
                    "what a tile.kernel computes is of one shape, unlike "
                    f"{name_of(values[0])} ({values[0].type}) and {name_of(value)} ({value.type})"
                )

    def _verify_schedule(self, schedule: ScheduleAttr) -> None:
        op = self.contraction
        if op is not None and op.domain is None:
            raise VerifyException(f"{name_of(op.result)} is scheduled, but has no domain")
        ranks = [len(shape_of(tensor_type(v)) or ()) for v in self.inputs]
        try:
            check(self.indices, schedule.data, ranks)
        except ScheduleError as e:
            raise VerifyException(str(e)) from None

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""

        def argument(pair: tuple[SSAValue, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])
            printer.print_string(" : ")
            printer.print_attribute(pair[1].type)

        with printer.in_parens():
            printer.print_list(zip(self.block.args, self.inputs, strict=True), argument)
        printer.print_string(" -> ")
        if len(self.results) == 1:
            printer.print_attribute(self.results[0].type)
        else:
            with printer.in_parens():
                printer.print_list(self.result_types, printer.print_attribute)
        if self.schedule is not None:
            printer.print_string(" schedule ")
            print_schedule(
                printer,
                self.schedule.data,
                lambda k: printer.print_ssa_value(self.block.args[k]),
            )
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        """Parse the form shown in the class's example."""

        def argument() -> tuple[Parser.UnresolvedArgument, SSAValue]:
            name = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            t = parser.parse_type()
            return name, parser.resolve_operand(value, t)

        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
        parser.parse_punctuation("->")
        types = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        if types is None:
            types = [parser.parse_type()]
        numbers = {name.name.text[1:]: k for k, (name, _) in enumerate(pairs)}

        def operand() -> int | None:
            name = parser.parse_optional_unresolved_operand()
            if name is None:
                return None
            if name.operand_name not in numbers:
                parser.raise_error(f"%{name.operand_name} is no argument of this kernel", name.span)
            return numbers[name.operand_name]

        schedule = None
        if parser.parse_optional_keyword("schedule"):
            schedule = ScheduleAttr(parse_schedule(parser, operand))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        arguments = [name.resolve(value.type) for name, value in pairs]
        body = parser.parse_region(arguments)
        op = cls([value for _, value in pairs], types, body, schedule)
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op


KERNEL_OPS: tuple[type[Operation], ...] = (KernelOp, YieldOp)
"""All ops of this file."""
