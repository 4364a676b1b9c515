"""Functions of the `tile` dialect back to Tile text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.discardable import DIMS, HINTS, NAME, UPDATES
from tiledialect.dialects.tile import special as ops
from tiledialect.dialects.tile.attributes import symbol_number
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.element_types import index
from tiledialect.dialects.tile.elementwise.base import CompareOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, IdentOp, SizeOp
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import from_hint
from tiledialect.ir.signature import check_block

from .functions import FUNCTIONS
from .op_text import Printed, is_operand, text_of
from .text import AGGREGATIONS, SEPARATORS, Text
from .to_ir import DEFAULT_NAME


def print_tile(op: ModuleOp | func.FuncOp) -> str:
    """The Tile text of a function, or of every function of a module.

    Reading the text back gives the same function. Raises TileError if Tile cannot say it.
    """
    if isinstance(op, func.FuncOp):
        return FunctionText(op).text()
    functions = [f for f in op.body.ops if isinstance(f, func.FuncOp)]
    return "\n".join(FunctionText(f).text() for f in functions)


class FunctionText(Printed):
    """Prints one function, an op after the other.

    An op that is used once, and has no name, becomes part of the statement that uses it.
    """

    def __init__(self, function: func.FuncOp):
        super().__init__()
        check_block(function)
        self.function = function
        self.dim_names: dict[str, str] = {}
        """Names in the text of dimensions, by their names in the IR."""

    def text(self) -> str:
        """The text of the function."""
        inputs = [self.input(k, value) for k, value in enumerate(self.function.args)]
        outputs = self.outputs()
        self.name_statements()
        for op in self.function.body.block.ops:
            self.op(op)
        returned = self.function.get_return_op()
        for name, value in zip(outputs, returned.operands if returned else (), strict=True):
            if self.named.get(value) != name:
                self.lines.append(f"{name} = {self.texts[value]};")
        symbol = self.function.sym_name.data
        is_name = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*'?", symbol) and symbol != DEFAULT_NAME
        header = f"function {symbol if is_name else ''}({', '.join(inputs)})"
        body = _indented(self.lines)
        return f"{header} -> ({', '.join(outputs)}) {{{body}}}\n"

    # -- names -----------------------------------------------------------------------------

    def input(self, position: int, value: SSAValue) -> str:
        """Name an input and its dimensions; its text in the header."""
        attributes = _dictionary(self.function.arg_attrs, position)
        name = self.names.reserve(_string(attributes.get(NAME)) or _hint(value) or "A")
        self.named[value], self.texts[value] = name, Text(name)
        dims = attributes.get(DIMS)
        if isinstance(dims, ArrayAttr):
            known = [self.dim_name(_string(dim) or "N") for dim in dims]
        else:
            known = self.new_dims(name, value)
            if known is None:
                return name
        self.dims |= {(value, axis): dim for axis, dim in enumerate(known)}
        return f"{name}[{', '.join(known)}]"

    def dim_name(self, name: str) -> str:
        """Name of a dimension, as it is if it can be; a number stays one."""
        if name not in self.dim_names:
            self.dim_names[name] = name if name.isdigit() else self.names.reserve(name)
        return self.dim_names[name]

    def new_dims(self, name: str, value: SSAValue) -> list[str] | None:
        """Names for the dimensions of an input without, if the function asks for them."""
        shape = shape_of(tensor_type(value))
        if shape is None or not any(isinstance(u.operation, tensor.DimOp) for u in value.uses):
            return None
        return [self.names.reserve(f"{name}_{axis}") for axis in range(len(shape))]

    def outputs(self) -> list[str]:
        """Name the outputs and, where each is a value of its own, the value."""
        returned = self.function.get_return_op()
        if returned is None:
            raise TileError("a function that returns nothing has no Tile text")
        names: list[str] = []
        for k, value in enumerate(returned.operands):
            attributes = _dictionary(self.function.res_attrs, k)
            if (changed := _string(attributes.get(UPDATES))) is not None:
                raise TileError.at(self.function, f"Tile has no form for the update of {changed}")
            name = self.names.reserve(_string(attributes.get(NAME)) or _hint(value) or "O")
            names.append(name)
            if value not in self.named:
                self.named[value] = name
        return names

    def name_statements(self) -> None:
        """Name the values that need a statement, first the values with a name in the IR."""
        inside = [op for op in self.function.walk() if op is not self.function]
        for op in inside:
            if isinstance(op, CustomGradientOp):
                self.named[op.cotangent] = self.names.reserve(_hint(op.cotangent) or "D")
                self.texts[op.cotangent] = Text(self.named[op.cotangent])
        values = [r for op in inside for r in op.results if not self.is_inline(op)]
        for value in values:
            if value not in self.named and (hint := _hint(value)):
                self.named[value] = self.names.reserve(hint)
        for value in values:
            if value not in self.named and self.needs_name(value):
                self.named[value] = self.names.reserve("T")

    def is_inline(self, op: Operation) -> bool:
        """Whether an op is so simple that its text may be repeated."""
        if isinstance(op, SizeOp | ConstantOp):
            (value,) = op.results
            return _hint(value) is None and not is_operand(value)
        return isinstance(op, arith.ConstantOp | tensor.DimOp)

    def needs_name(self, value: SSAValue) -> bool:
        """Whether a value without a name must have one, to be used where only a name may be
        or to be used again."""
        uses = [u for u in value.uses if not isinstance(u.operation, ops.PrngStateOp)]
        return (
            len(uses) > 1
            or isinstance(value.owner, ContractionOp)
            or (isinstance(value.owner, CustomGradientOp) and len(value.owner.inputs) > 0)
            or HINTS in getattr(value.owner, "attributes", {})
            or any(_takes_names(u.operation, value) for u in uses)
        )

    # -- statements ------------------------------------------------------------------------

    def op(self, op: Operation) -> None:
        """Print the op, or keep its text for the op that uses it."""
        if isinstance(op, func.ReturnOp):
            return
        if len(op.results) != 1:
            raise TileError.at(op, f"Tile has no form for {op.name}")
        (value,) = op.results
        if self.reads_as_size(op):
            self.of_sizes.add(value)
        if isinstance(op, ContractionOp):
            self.contraction(op)
        elif isinstance(op, CustomGradientOp) and op.inputs:
            self.custom_gradient(op)
        elif value in self.named:
            self.statement(op, str(self.whole(op)))
        else:
            self.texts[value] = text_of(self, op)

    def whole(self, op: Operation) -> Text:
        """The text of an op that is a statement: `A = B` is a copy if B is a tensor with a name."""
        if not isinstance(op, IdentOp) or isinstance(op.operand.owner, SizeOp):
            return text_of(self, op)
        return self.texts[op.operand] if op.operand in self.named else text_of(self, op)

    def reads_as_size(self, op: Operation) -> bool:
        """Whether an op that makes a tensor has the text of a dimension."""
        if isinstance(op, ConstantOp):
            return tensor_type(op.result).element_type == index
        function = FUNCTIONS.get(op.name.removeprefix("tile."))
        of_dims = function is not None and function.of_dims and not isinstance(op, CompareOp)
        return isinstance(op, SizeOp) or (of_dims and self.of_sizes.issuperset(op.operands))

    def statement(self, op: Operation, value: str, indices: str = "") -> None:
        """Print a statement that defines the op's result."""
        (result,) = op.results
        name = self.named[result]
        self.texts[result] = Text(name)
        if isinstance(op, SizeOp) and op.size not in self.named:
            # The name stands for the dimension as well.
            self.texts[op.size] = Text(name)
        self.lines.append(f"{_hints(op)}{name}{indices} = {value};")

    def contraction(self, op: ContractionOp) -> None:
        """Print a contraction."""

        def access(indices: tuple[IndexExpr, ...]) -> str:
            return ", ".join(self.index(op, index) for index in indices)

        shape = shape_of(tensor_type(op.result)) or ()
        sizes = ", ".join(str(size) for size in self.sizes(shape, op.sizes))
        output = f"{access(op.output.data)}: {sizes}" if shape else ""
        operands = [
            f"{self.texts[value]}[{access(indices.data)}]"
            for value, indices in zip(op.inputs, op.accesses, strict=True)
        ]
        separators = SEPARATORS[op.combination.data]
        combined = operands[0] + "".join(
            separator + operand
            for separator, operand in zip(separators, operands[1:], strict=False)
        )
        text = f"{AGGREGATIONS[op.aggregation.data]}({combined})"
        for constraint in op.constraints:
            bound = self.bound(op, constraint.data.bound)
            text += f", {self.index(op, constraint.data.expr)} < {bound}"
        if op.default is not None:
            text += f" default {self.default(op.default, len(shape), sizes)}"
        if op.no_defract is not None:
            text += " no_defract"
        self.statement(op, text, f"[{output}]")

    def default(self, value: SSAValue, rank: int, sizes: str) -> str:
        """Name of a default; a number gets a statement first, as a Tile default has all
        elements."""
        if not rank or shape_of(tensor_type(value)) != ():
            return str(self.texts[value])
        name = self.names.reserve("Start")
        indices = ", ".join(f"i{axis}" for axis in range(rank))
        self.lines.append(f"{name}[{indices}: {sizes}] = =({self.texts[value]}[]);")
        return name

    def custom_gradient(self, op: CustomGradientOp) -> None:
        """Print a custom gradient, the statements of its body further in."""
        outer, self.lines = self.lines, []
        for inner in op.body.block.ops:
            if inner.results:
                self.op(inner)
        gradients: list[str] = []
        for value in op.yielded:
            if value not in self.named:
                # A number.
                self.named[value] = self.names.reserve("D")
                self.lines.append(f"{self.named[value]} = {self.texts[value]};")
            gradients.append(self.named[value])
        body = _indented(self.lines)
        self.lines = outer
        inputs = ", ".join(str(self.texts[value]) for value in op.inputs)
        head = f"custom_gradient({self.texts[op.value]}, {inputs})"
        cotangents = f"({self.named[op.cotangent]}) -> ({', '.join(gradients)})"
        self.statement(op, f"{head} {cotangents} {{{body}}}")

    def index(self, op: ContractionOp, expr: IndexExpr) -> str:
        """The text of an index expression."""

        def name_of(name: str) -> str:
            number = symbol_number(name)
            if number is None:
                return index_text(name)
            return self.texts[op.symbols[number]].within(11)

        return expr.to_string(name_of)

    def bound(self, op: ContractionOp, bound: IndexExpr) -> str:
        """The text of a constraint's bound, where `/` rounds."""
        if bound.is_constant:
            return str(math.ceil(bound.constant))
        if bound.denominator != 1:
            raise TileError.at(op, f"Tile has no form for the bound {bound}")
        number = symbol_number(bound.variable or "")
        return self.index(op, bound) if number is None else str(self.texts[op.symbols[number]])


def _indented(lines: Sequence[str]) -> str:
    """Lines for between braces; a line may have line ends inside."""
    return "".join(f"\n{line}".replace("\n", "\n  ") for line in lines) + "\n" * bool(lines)


def _takes_names(op: Operation, value: SSAValue) -> bool:
    """Whether ``op`` uses ``value`` where Tile takes a name and no expression."""
    if isinstance(op, CustomGradientOp):
        return value in op.inputs
    if isinstance(op, YieldOp):
        return True
    if not isinstance(op, ContractionOp):
        return False
    if value in op.inputs or value == op.default:
        return True
    # In brackets `/` does not round: the same expression has another value outside.
    numbers = (symbol_number(name) for expr in op.all_exprs for name in expr.names)
    is_symbol = any(op.symbols[k] == value for k in numbers if k is not None)
    return is_symbol and not _rounds_nowhere(value)


def _rounds_nowhere(value: SSAValue) -> bool:
    """Whether the text of ``value`` means the same in brackets: see `IndexReader`."""
    owner = value.owner
    if isinstance(owner, arith.DivSIOp):
        return constant_integer(owner.rhs) is None
    return isinstance(owner, arith.RemSIOp | arith.MaxSIOp | arith.MinSIOp)


def index_text(name: str) -> str:
    """The name of an index in Tile for its name in IR."""
    name = re.sub(r"[^A-Za-z0-9_']", "_", name.replace(".prime", "'"))
    return name if name[:1].islower() else f"i_{name}"


def _hints(op: Operation) -> str:
    hints = op.attributes.get(HINTS)
    if not isinstance(hints, DictionaryAttr):
        return ""
    words: list[str] = []
    for name, arguments in hints.data.items():
        given = arguments if isinstance(arguments, ArrayAttr) else ()
        listed = ", ".join(_string(argument) or "" for argument in given)
        words.append(f"[[{name}({listed})]] " if listed else f"[[{name}]] ")
    return "".join(words)


def _hint(value: SSAValue) -> str | None:
    return None if value.name_hint is None else from_hint(value.name_hint)


def _dictionary(attrs: ArrayAttr[DictionaryAttr] | None, position: int) -> dict[str, Attribute]:
    return dict(attrs.data[position].data) if attrs is not None else {}


def _string(attribute: Attribute | None) -> str | None:
    return attribute.data if isinstance(attribute, StringAttr) else None
