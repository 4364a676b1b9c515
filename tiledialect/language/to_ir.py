"""A Tile function to IR: a `func.func` with ops of the `tile` dialect."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiledialect.dialects.discardable import CONSTANTS, DIMS, HINTS, NAME
from tiledialect.dialects.tile.base import DYNAMIC_INDEX, make_type, shape_of, tensor_type
from tiledialect.dialects.tile.element_types import any_type
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, IdentOp
from tiledialect.errors import SourceSpan, TileError, count
from tiledialect.ir.names import give_name, given_name

from . import ast
from .append import Appender, Size, Value, is_size, size_arithmetic
from .check import check
from .constants import constants_attribute, numbers_of, with_constants
from .contractions import lower_contraction
from .custom_gradients import lower_custom_gradient
from .expand import Expander, Invocation
from .functions import FUNCTIONS, is_assertion
from .library import LIBRARY, library_function
from .parser import parse
from .scope import Axis, Scope
from .special import SPECIAL, assertion

_PRIME = "'"

DEFAULT_NAME = "main"
"""The symbol of a function that has no name."""


MOST_STATEMENTS = 100_000
"""Largest number of statements of a function, with the statements of the functions that it
calls."""


def load(
    text: str,
    filename: str = "<tile>",
    name: str | None = None,
    constants: Mapping[str, Any] | None = None,
) -> ModuleOp:
    """The module with the functions that ``text`` holds.

    ``constants`` are numbers for names that the text uses and does not define; the module has
    them in its attribute ``tile.constants``.

    A function's symbol is its name in the text; that of one without is ``name`` with what a name
    cannot hold replaced, else ``main``. Calls of one another are inlined. Raises TileError,
    at the place in ``text``, for whatever is wrong.
    """
    numbers = numbers_of(constants or {})
    try:
        functions = with_constants(parse(text, filename), numbers)
        named = check(functions, default_symbol(name))
        ops = [Lowering(f, filename, named).function_op(symbol) for symbol, f in named.items()]
    except TileError as error:
        raise error.with_constants(numbers) from error.__cause__
    return ModuleOp(ops, {CONSTANTS: constants_attribute(numbers)} if numbers else {})


def default_symbol(name: str | None) -> str:
    """The symbol of a function that has no name in the text, and is called ``name``."""
    symbol = re.sub(r"\W", "_", name or "", flags=re.ASCII)
    return symbol if symbol[:1].isalpha() else DEFAULT_NAME


class Lowering(Scope):
    """Lowers one function, which has passed `check`, statement by statement."""

    def __init__(self, function: ast.Function, filename: str, functions: dict[str, ast.Function]):
        self.block = Block()
        super().__init__(Appender(self.block, filename))
        self.function = function
        self.functions = functions
        """All functions that may be called."""
        self.statements = 0
        """Number of lowered statements."""
        self.target = ""
        """The name that the current statement defines."""
        self.outputs = {output.text for output in function.outputs}
        self.taken = set(ast.targets(function.body)) | {
            name for i in function.inputs for name in (i.name.text, *i.dim_names)
        }
        self.expander = Expander(self.names_size, self.fresh, self.lower, self.outputs, functions)

    # -- the function ----------------------------------------------------------------------

    def function_op(self, symbol: str) -> func.FuncOp:
        """The whole function."""
        argument_attributes = [self.argument(i) for i in self.function.inputs]
        for statement in self.function.body:
            self.statement(statement)
        results = [self.result(output) for output in self.function.outputs]
        self.block.add_op(func.ReturnOp(*results))
        op = func.FuncOp(
            symbol,
            ([a.type for a in self.block.args], [r.type for r in results]),
            Region(self.block),
            arg_attrs=ArrayAttr(argument_attributes),
            res_attrs=ArrayAttr(
                DictionaryAttr({NAME: StringAttr(o.text)}) for o in self.function.outputs
            ),
        )
        self.appender.locate(op, self.function.span)
        return op

    def argument(self, parameter: ast.Input) -> DictionaryAttr:
        """Add the block argument of an input; the attributes that hold its names."""
        name, dims = parameter.name.text, parameter.dims
        shape = None if dims is None else tuple(_static_size(dim) for dim in dims)
        argument = self.block.insert_arg(make_type(shape, any_type), len(self.block.args))
        give_name(argument, name)
        attributes: dict[str, Attribute] = {NAME: StringAttr(name)}
        if dims is not None:
            attributes[DIMS] = ArrayAttr(StringAttr(dim.text) for dim in dims)
        self.bind_parameter(parameter, argument)
        return DictionaryAttr(attributes)

    def bind_parameter(self, parameter: ast.Input, value: SSAValue) -> None:
        """Define an input's name and, where new, its dimensions' names."""
        self.values[parameter.name.text] = value
        if parameter.dims is None:
            return
        sizes = self.axes_of(value, len(parameter.dims))
        for dim, size in zip(parameter.dims, sizes, strict=True):
            if isinstance(dim, ast.Name) and dim.text not in self.dims:
                self.dims[dim.text] = size
                if isinstance(size, tuple):
                    self.axis_names.setdefault(size, dim.text)
        self.known_sizes.setdefault(
            value,
            tuple(
                self.dims[dim.text] if isinstance(dim, ast.Name) else dim.value
                for dim in parameter.dims
            ),
        )

    def result(self, output: ast.Name) -> SSAValue:
        """The tensor that an output returns."""
        name = output.text
        if name in self.results:
            return self.results[name]
        value = self.values[name]
        assert isinstance(value, SSAValue)
        return value

    # -- names -----------------------------------------------------------------------------

    def fresh(self, suffix: str) -> str:
        """Name for a part of the current statement's result."""
        name = f"{self.target.rstrip(_PRIME)}_{suffix}"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    # -- statements ------------------------------------------------------------------------

    def statement(self, statement: ast.Statement) -> None:
        """Lower a statement and define its name."""
        self.statements += 1
        if self.statements > MOST_STATEMENTS:
            raise TileError(
                f"the calls make more than {MOST_STATEMENTS} statements of this function",
                self.function.span,
            )
        self.target = statement.target.text
        self.expander.expand(statement)

    @contextmanager
    def inside(self, block: Block, outputs: set[str]) -> Generator[None]:
        """Lower into the body of an op; its definitions are unknown afterwards."""
        asked, drawn = self.asked, self.drawn
        self.asked, self.drawn = dict(asked), list(drawn)
        with self.appender.inside(block), self.names(self.values, self.dims, outputs):
            self.expander.meanings = dict(self.expander.meanings)
            yield
        self.asked, self.drawn = asked, drawn

    @contextmanager
    def names(
        self, values: dict[str, Value], dims: dict[str, Size | Axis], outputs: set[str]
    ) -> Generator[None]:
        """Lower where other names are known, and other outputs are to be defined."""
        outer = self.target, self.values, self.results, self.dims, self.outputs
        meanings = self.expander.meanings
        self.values, self.results, self.dims = dict(values), {}, dict(dims)
        self.outputs = self.expander.outputs = outputs
        yield
        self.target, self.values, self.results, self.dims, self.outputs = outer
        self.expander.meanings, self.expander.outputs = meanings, self.outputs

    # -- calls -----------------------------------------------------------------------------

    def invoke(self, statement: Invocation) -> None:
        """Lower the body of the called function, and define the names of its results."""
        call = statement.call
        arguments = [self.value(argument) for argument in call.arguments]
        if call.function in LIBRARY:
            operand = self.appender.tensor(arguments[0], call.span)
            callee = library_function(call, operand, self.literal(call, 1, arguments[1]))
            with self.appender.at(call.span):
                results = self.inlined(callee, [operand], call.span)
        else:
            operands = [self.appender.tensor(argument, call.span) for argument in arguments]
            results = self.inlined(self.functions[call.function], operands, call.span)
        for target, value in zip(statement.targets, results, strict=True):
            # It takes the name that it gets here.
            give_name(value, None)
            self.values[target.text] = value

    def inlined(
        self, function: ast.Function, arguments: Sequence[SSAValue], span: SourceSpan
    ) -> list[SSAValue]:
        """The results of a function, whose statements are lowered."""
        with self.names({}, {}, {output.text for output in function.outputs}):
            self.expander.meanings = {}
            self.taken.update(ast.targets(function.body))
            for parameter, value in zip(function.inputs, arguments, strict=True):
                fitting = self.fitting_argument(function, parameter, value, span)
                self.bind_parameter(parameter, fitting)
            for statement in function.body:
                self.statement(statement)
            return [self.result(output) for output in function.outputs]

    def fitting_argument(
        self, function: ast.Function, parameter: ast.Input, value: SSAValue, span: SourceSpan
    ) -> SSAValue:
        """An argument, which must fit the header of the called function, now or once it can."""
        if parameter.dims is None:
            return value
        callee = function.name.text if function.name is not None else DEFAULT_NAME
        rank, shape = len(parameter.dims), shape_of(tensor_type(value))
        if shape is not None and len(shape) != rank:
            raise TileError(
                f"`{parameter.name.text}` of `{callee}` has "
                f"{count(rank, 'dimension', 'dimensions')}, not {len(shape)}",
                span,
            )
        if shape is None:
            t = make_type((DYNAMIC_INDEX,) * rank, tensor_type(value).element_type)
            ranked = IdentOp.create(operands=[value], result_types=[t])
            value = self.appender.add(ranked, span)
        seen = dict(self.dims)
        for dim, size in zip(parameter.dims, self.axes_of(value, rank), strict=True):
            wanted = dim.value if isinstance(dim, ast.Integer) else seen.setdefault(dim.text, size)
            if wanted != size:
                self.check_equal(f"{dim.text}_of_{callee}_fits", wanted, size, span)
        return value

    def check_equal(self, name: str, a: Size | Axis, b: Size | Axis, span: SourceSpan) -> None:
        """Refuse two sizes that differ, once they are known."""
        first, second = self.axis_size(a, span), self.axis_size(b, span)

        def compute(function: str, *arguments: Size) -> Size:
            return size_arithmetic(self.appender, function, list(arguments), span)

        distance = compute("max", compute("sub", first, second), compute("sub", second, first))
        condition = compute("sub", 1, compute("min", distance, 1))
        assertion(self, ast.Call(span, f"assert_{name}", ()), condition)

    def lower(self, statement: ast.Statement | Invocation) -> None:
        """Lower a statement that is expanded."""
        if isinstance(statement, Invocation):
            self.invoke(statement)
            return
        if isinstance(statement, ast.Contraction):
            value: Value = lower_contraction(self, statement)
        elif isinstance(statement, ast.CustomGradient):
            value = lower_custom_gradient(self, statement)
        else:
            value = self.value(statement.value)
        self.bind(statement.target, value)
        self.hint(statement)

    def hint(self, statement: ast.Statement) -> None:
        """Keep the attributes of a statement in the op that has its name."""
        name = statement.target.text
        value = self.results.get(name, self.values[name])
        if not statement.attributes or not isinstance(value, SSAValue):
            return
        if isinstance(value.owner, Operation) and given_name(value) == name:
            value.owner.attributes[HINTS] = _hints(statement.attributes)

    def bind(self, target: ast.Name, value: Value) -> None:
        """Define ``target`` as ``value``, and name the value so if it has no name."""
        name = target.text
        if is_size(value):
            if name in self.outputs:
                self.results[name] = self.appender.tensor(value, target.span)
                give_name(self.results[name], name)
            elif isinstance(value, SSAValue) and given_name(value) is None:
                give_name(value, name)
        elif isinstance(value, SSAValue):
            if given_name(value) is not None:
                copy = self.appender.elementwise("ident", [value], target.span)
                self.keep_sizes(copy, [value])
                value = copy
            give_name(value, name)
        self.values[name] = value

    # -- expressions -----------------------------------------------------------------------

    def value(self, expression: ast.Expression) -> Value:
        """The value of an expression outside of brackets."""
        return ast.evaluate(expression, self._visit, _is_leaf)

    def _visit(self, node: ast.Expression, arguments: list[Value]) -> Value:
        match node:
            case ast.Integer():
                return node.value
            case ast.Real():
                return self.appender.add(ConstantOp.of(node.value), node.span)
            case ast.Variable():
                return self.lookup(node.name, node.span)
            case ast.Call(arguments=(ast.Real(value=number),)) if _is_negative_literal(node):
                return self.appender.add(ConstantOp.of(-number), node.span)
            case ast.Call():
                return self._call(node, arguments)

    def _call(self, node: ast.Call, arguments: list[Value]) -> Value:
        name = node.function
        if is_assertion(name):
            return assertion(self, node, arguments[0])
        if name in SPECIAL:
            return SPECIAL[name](self, node, arguments)
        if FUNCTIONS[name].of_dims and all(map(is_size, arguments)):
            return size_arithmetic(self.appender, name, arguments, node.span)
        result = self.appender.elementwise(name, arguments, node.span)
        self.keep_sizes(result, arguments)
        return result


def _static_size(dim: ast.Name | ast.Integer) -> int:
    return dim.value if isinstance(dim, ast.Integer) else DYNAMIC_INDEX


def _is_leaf(call: ast.Call) -> bool:
    return _is_negative_literal(call) or call.function in ("prng_value", "prng_state")


def _is_negative_literal(call: ast.Call) -> bool:
    return call.function == "neg" and isinstance(call.arguments[0], ast.Real)


def _hints(attributes: tuple[ast.Attribute, ...]) -> DictionaryAttr:
    """The attributes of a statement as one dictionary of lists of words."""
    hints: dict[str, Attribute] = {}
    for attribute in attributes:
        if attribute.name in hints:
            raise TileError(f"the attribute `{attribute.name}` is given twice", attribute.span)
        hints[attribute.name] = ArrayAttr(StringAttr(word) for word in attribute.arguments)
    return DictionaryAttr(hints)
