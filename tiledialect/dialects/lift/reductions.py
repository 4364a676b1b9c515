"""Patterns that go through an array in order: reductions, iteration, search."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, irdl_op_definition, operand_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift.attributes import OrderAttr, SizeAttr
from tiledialect.dialects.lift.base import FunctionOp, not_negative
from tiledialect.dialects.lift.types import (
    MismatchError,
    SizeSolver,
    as_array,
    describe,
    element_of,
    is_integer,
    names_in,
    sizes_of,
    substituted,
)
from tiledialect.index.size import Size


class ReduceBase(FunctionOp, ABC):
    """Combines an accumulator, which begins as the first operand, with every element in order."""

    initial = operand_def(AnyAttr())
    input = operand_def(AnyAttr())

    KEYWORDS: ClassVar = ("from", "in")

    @classmethod
    def argument_types(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> tuple[Attribute, ...]:
        """The accumulator and an element."""
        return operands[0].type, element_of(as_array(operands[1], cls.pattern()))

    def inferred_type(self) -> Attribute:
        """The accumulator's type, which the function gives, too."""
        if self.yielded.type != self.initial.type:
            raise VerifyException(
                f"{self.pattern()} begins with {self.initial.type}, "
                f"but its function gives {self.yielded.type}"
            )
        return self.initial.type


@irdl_op_definition
class ReduceOp(ReduceBase):
    """Combines all elements with an associative function.

    The first operand is a neutral element of the function, from which each part of a reduction
    that is done in parts may begin.

    Example:

    ```mlir
    %r = lift.reduce(%sum from %zero, %x in %xs) : (f32, tensor<8xf32>) -> f32 {
      %y = arith.addf %sum, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.reduce"


@irdl_op_definition
class ReduceSeqOp(ReduceBase):
    """A reduction that one work-item does in a loop, in order: any function will do.

    Example:

    ```mlir
    %r = lift.reduce_seq(%sum from %zero, %x in %xs) : (f32, tensor<8xf32>) -> f32 {
      %y = arith.addf %sum, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.reduce_seq"


@irdl_op_definition
class ReduceSeqUnrollOp(ReduceBase):
    """A reduction that one work-item does without a loop, in order.

    Example:

    ```mlir
    %r = lift.reduce_seq_unroll(%sum from %zero, %x in %xs) : (f32, tensor<3xf32>) -> f32 {
      %y = arith.addf %sum, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.reduce_seq_unroll"


@irdl_op_definition
class IterateOp(FunctionOp):
    """Applies the function `count` times, each time to its last result.

    Where the function changes a size, its argument has a new name in that place, which stands for
    the size that it has each time.

    Example:

    ```mlir
    %r = lift.iterate(3)(%v : tensor<?xf32, #lift.sizes<n>> from %x)
         : (tensor<8xf32>) -> tensor<1xf32> {
      %pairs = lift.split(2) %v : (tensor<?xf32, #lift.sizes<n>>)
               -> tensor<?x2xf32, #lift.sizes<n / 2>>
      %s = lift.map(%pair in %pairs) : (tensor<?x2xf32, #lift.sizes<n / 2>>)
           -> tensor<?xf32, #lift.sizes<n / 2>> {
        %zero = arith.constant 0.0 : f32
        %sum = lift.reduce(%a from %zero, %b in %pair) : (f32, tensor<2xf32>) -> f32 {
          %y = arith.addf %a, %b : f32
          lift.yield %y : f32
        }
        lift.yield %sum : f32
      }
      lift.yield %s : tensor<?xf32, #lift.sizes<n / 2>>
    }
    ```
    """

    name = "lift.iterate"

    initial = operand_def(AnyAttr())
    count = prop_def(SizeAttr)

    @classmethod
    def argument_types(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> tuple[Attribute, ...]:
        """The operand's type, if the function does not change it."""
        return (operands[0].type,)

    def steps(self) -> Iterator[tuple[dict[str, Size], Attribute]]:
        """Values of the names in the function, and the type of its result, for each iteration."""
        count, t = self.count.data, self.initial.type
        if self.yielded.type == self.block.args[0].type == t:
            return
        if count.value is None:
            raise VerifyException(
                f"iterate({count}) gives another type each time: its count must be a number"
            )
        for k in range(count.value):
            values = self._match(t)
            try:
                t = substituted(self.yielded.type, values)
            except VerifyException as error:
                raise VerifyException(
                    f"iterate({count}) makes {t} of {self.initial.type} in {k} steps, "
                    f"but then {error}"
                ) from None
            yield values, t

    def _match(self, t: Attribute) -> dict[str, Size]:
        """Values of the names in the argument's type if the argument is of type ``t``."""
        argument = self.block.args[0].type
        solver = SizeSolver()
        if isinstance(t, TensorType) and isinstance(argument, TensorType):
            same_rank = len(t.get_shape()) == len(argument.get_shape())
            if same_rank and t.element_type == argument.element_type:
                for axis, (size, known) in enumerate(
                    zip(sizes_of(argument), sizes_of(t), strict=True)
                ):
                    solver.equate(size, known, f"axis {axis} of what iterate works on")
                try:
                    return solver.solve()
                except MismatchError as error:
                    raise VerifyException(f"iterate: {error}") from None
        if t == argument:
            return {}
        raise VerifyException(f"the function of iterate takes {argument}, but gets {t}")

    def _check_names(self) -> None:
        """Refuse names of varying sizes that have a meaning outside."""
        found = self._match(self.initial.type)
        changing = {name for name, size in found.items() if size != Size.of(name)}
        outside = [self.initial] + [
            v for op in self.block.walk() for v in op.operands if not self.is_ancestor(v.owner)
        ]
        for value in outside:
            for name in names_in(value.type) & changing:
                raise VerifyException(
                    f"{name} is the name of a size outside of iterate: "
                    "its function needs another name for the size that changes"
                )

    def inferred_type(self) -> Attribute:
        """The function's last result."""
        not_negative(self.count.data, "the count of iterate")
        if self.block.args[0].type != self.initial.type:
            self._check_names()
        return [self.initial.type, *(t for _, t in self.steps())][-1]

    def verify_(self) -> None:
        """Check the function's argument by its first value."""
        if len(self.block.args) != 1:
            raise VerifyException("the function of iterate takes one argument")
        inferred = self.inferred_type()
        if self.result.type != inferred:
            raise VerifyException(f"iterate gives {inferred} here, not {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `(count)(%argument : type from %operand) : (type) -> type {…}`."""
        properties = cls.parse_parameters(parser)
        position = parser.pos
        parser.parse_punctuation("(")
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation(":")
        argument_type = parser.parse_type()
        parser.parse_keyword("from")
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(")")
        parser.parse_punctuation(":")
        t: FunctionType = parser.parse_function_type()
        operands = parser.resolve_operands([operand], t.inputs.data, position)
        return cls.parse_body(parser, [argument], [argument_type], operands, t, properties)

    def print_arguments(self, printer: Printer) -> None:
        """Print `%argument : type from %operand`."""
        (argument,) = self.block.args
        printer.print_ssa_value(argument)
        printer.print_string(" : ")
        printer.print_attribute(argument.type)
        printer.print_string(" from ")
        printer.print_ssa_value(self.initial)

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        return self.initial if self.count.data == Size() else None


@irdl_op_definition
class SearchOp(FunctionOp):
    """The element for which the function gives 0, or else the last operand.

    The function gives a negative integer where the element that is looked for comes before its
    argument, and a positive one where it comes after; so the array must be sorted. It is searched
    by halves (`binary`) or from its first element on (`linear`); if the function gives 0 for
    several elements, either finds any of them.

    Example:

    ```mlir
    %r = lift.search(binary)(%x in %xs else %none) : (tensor<8xi32>, i32) -> i32 {
      %d = arith.subi %key, %x : i32
      lift.yield %d : i32
    }
    ```
    """

    name = "lift.search"

    input = operand_def(AnyAttr())
    default = operand_def(AnyAttr())
    order = prop_def(OrderAttr)
    LAST_KEYWORD: ClassVar = "else"

    @classmethod
    def argument_types(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> tuple[Attribute, ...]:
        """An element."""
        return (element_of(as_array(operands[0], "search")),)

    def inferred_type(self) -> Attribute:
        """The type of an element."""
        element = element_of(as_array(self.input, "search"))
        if self.default.type != element:
            raise VerifyException(
                f"search looks for an element of {describe(self.input)}, which is {element}, "
                f"but else gives {self.default.type}"
            )
        if not is_integer(self.yielded.type):
            raise VerifyException(
                f"the function of search gives {self.yielded.type}, which is no integer"
            )
        return element


REDUCE_OPS = (ReduceOp, ReduceSeqOp, ReduceSeqUnrollOp)
REDUCTION_OPS = (*REDUCE_OPS, IterateOp, SearchOp)
