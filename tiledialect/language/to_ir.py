"""A Tile function to IR: a `func.func` with ops of the `tile` dialect."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..dialects.tile.base import DYNAMIC_INDEX, make_type, shape_of, tensor_type
from ..dialects.tile.element_types import any_type
from ..dialects.tile.elementwise import ConstantOp
from ..errors import SourceSpan, TileError
from ..names import to_hint
from . import ast
from .check import check
from .contractions import lower_contraction
from .custom_gradients import lower_custom_gradient
from .emit import Emitter, Size, Value, is_size, reckon
from .expand import Expander
from .functions import FUNCTIONS, is_assertion
from .parser import parse
from .special import SPECIAL, assertion

_PRIME = "'"

DEFAULT_NAME = "main"
"""The symbol of a function that has no name."""


def load(text: str, filename: str = "<tile>", name: str | None = None) -> ModuleOp:
    """The module with the function that ``text`` holds.

    The function's symbol is the name in the text, else ``name`` with what a name cannot hold
    replaced, else ``main``. Raises TileError, at the place in ``text``, for whatever is wrong.
    """
    function = parse(text, filename)
    check(function)
    if function.name is not None:
        symbol = function.name.text
    else:
        symbol = re.sub(r"\W", "_", name or "", flags=re.ASCII)
        symbol = symbol if symbol[:1].isalpha() else DEFAULT_NAME
    return ModuleOp([Lowering(function, filename).function_op(symbol)])


class Lowering:
    """Lowers one function, which has passed `check`, statement by statement."""

    def __init__(self, function: ast.Function, filename: str):
        self.function = function
        self.block = Block()
        self.emitter = Emitter(self.block, filename)
        self.values: dict[str, Value] = {}
        self.target = ""
        """The name that the current statement defines."""
        self.outputs = {output.text for output in function.outputs}
        self.results: dict[str, SSAValue] = {}
        """The outputs' tensors, where an output's name stands for a dimension."""
        self.taken = set(ast.targets(function.body)) | {
            name.text for i in function.inputs for name in (i.name, *(i.dims or ()))
        }
        self.dims: dict[str, tuple[SSAValue, int]] = {}
        """Where each dimension of the header comes from: an input and its axis."""
        self.known_sizes: dict[SSAValue, tuple[Size | str, ...]] = {}
        """The sizes of tensors, in dimensions of the header (by name) and values."""
        self.drawn: list[tuple[ast.Expression, SSAValue]] = []
        """The random numbers of the calls of `prng_step` that were used."""
        self.expander = Expander(self.names_size, self.fresh, self.lower, self.outputs)

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
                DictionaryAttr({"tile.name": StringAttr(o.text)}) for o in self.function.outputs
            ),
        )
        self.emitter.locate(op, self.function.span)
        return op

    def argument(self, parameter: ast.Input) -> DictionaryAttr:
        """Add the block argument of an input; the attributes that hold its names."""
        name, dims = parameter.name.text, parameter.dims
        shape = None if dims is None else (DYNAMIC_INDEX,) * len(dims)
        argument = self.block.insert_arg(make_type(shape, any_type), len(self.block.args))
        argument.name_hint = to_hint(name)
        self.values[name] = argument
        attributes: dict[str, Attribute] = {"tile.name": StringAttr(name)}
        if dims is not None:
            attributes["tile.dims"] = ArrayAttr(StringAttr(dim.text) for dim in dims)
            for axis, dim in enumerate(dims):
                self.dims.setdefault(dim.text, (argument, axis))
            self.known_sizes[argument] = tuple(dim.text for dim in dims)
        return DictionaryAttr(attributes)

    def result(self, output: ast.Name) -> SSAValue:
        """The tensor that an output returns."""
        name = output.text
        if name in self.results:
            return self.results[name]
        value = self.values[name]
        assert isinstance(value, SSAValue)
        return value

    # -- names -----------------------------------------------------------------------------

    def lookup(self, name: str, span: SourceSpan) -> Value:
        """What a name stands for; a dimension of the header is asked for when first needed."""
        if name not in self.values:
            argument, axis = self.dims[name]
            position = self.emitter.size(axis, span)
            dim = self.emitter.add(tensor.DimOp(argument, position), span)
            dim.name_hint = to_hint(name)
            self.values[name] = dim
        return self.values[name]

    def names_size(self, name: str) -> bool:
        """Whether ``name`` stands for a dimension."""
        return is_size(self.values[name]) if name in self.values else name in self.dims

    def fresh(self, suffix: str) -> str:
        """A name for a part of what the current statement defines."""
        name = f"{self.target.rstrip(_PRIME)}_{suffix}"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def sizes_of(self, value: SSAValue) -> list[Size | str] | None:
        """The sizes of a tensor, where they are known: a name stands for a dimension of the
        header that was not needed so far."""
        if shape_of(tensor_type(value)) == ():
            return []
        sizes = self.known_sizes.get(value)
        if sizes is None:
            return None
        return [self.values.get(size, size) if isinstance(size, str) else size for size in sizes]

    # -- statements ------------------------------------------------------------------------

    def statement(self, statement: ast.Statement) -> None:
        """Lower a statement and define its name."""
        self.target = statement.target.text
        self.expander.expand(statement)

    @contextmanager
    def inside(self, block: Block, outputs: set[str]) -> Generator[None]:
        """Lower into the body of an op; what is defined there is not known afterwards."""
        target, values, results = self.target, self.values, self.results
        drawn, meanings, outer = self.drawn, self.expander.meanings, self.outputs
        self.values, self.results, self.drawn = dict(values), {}, list(drawn)
        self.expander.meanings, self.outputs = dict(meanings), outputs
        self.expander.outputs = outputs
        with self.emitter.inside(block):
            yield
        self.target, self.values, self.results = target, values, results
        self.drawn, self.expander.meanings, self.outputs = drawn, meanings, outer
        self.expander.outputs = outer

    def lower(self, statement: ast.Statement) -> None:
        """Lower a statement that is expanded."""
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
        if isinstance(value.owner, Operation) and value.name_hint == to_hint(name):
            value.owner.attributes["tile.hints"] = _hints(statement.attributes)

    def bind(self, target: ast.Name, value: Value) -> None:
        """Define ``target`` as ``value``, and name the value so if it has no name."""
        name = target.text
        if is_size(value):
            if name in self.outputs:
                self.results[name] = self.emitter.tensor(value, target.span)
                self.results[name].name_hint = to_hint(name)
            elif isinstance(value, SSAValue) and value.name_hint is None:
                value.name_hint = to_hint(name)
        elif isinstance(value, SSAValue):
            if value.name_hint is not None:
                copy = self.emitter.elementwise("ident", [value], target.span)
                self.keep_sizes(copy, [value])
                value = copy
            value.name_hint = to_hint(name)
        self.values[name] = value

    # -- expressions -----------------------------------------------------------------------

    def value(self, expression: ast.Expression) -> Value:
        """The value of an expression outside of brackets."""
        return ast.evaluate(expression, self._visit, _is_leaf)

    def size(self, expression: ast.Expression) -> Size:
        """The value of an expression of dimensions."""
        value = self.value(expression)
        assert isinstance(value, int | SSAValue)
        return value

    def _visit(self, node: ast.Expression, arguments: list[Value]) -> Value:
        match node:
            case ast.Integer():
                return node.value
            case ast.Real():
                return self.emitter.add(ConstantOp.of(node.value), node.span)
            case ast.Variable():
                return self.lookup(node.name, node.span)
            case ast.Call(arguments=(ast.Real(value=number),)) if _is_negative_literal(node):
                return self.emitter.add(ConstantOp.of(-number), node.span)
            case ast.Call():
                return self._call(node, arguments)

    def _call(self, node: ast.Call, arguments: list[Value]) -> Value:
        name = node.function
        if is_assertion(name):
            return assertion(self, node, arguments[0])
        if name in SPECIAL:
            return SPECIAL[name](self, node, arguments)
        if FUNCTIONS[name].of_dims and all(map(is_size, arguments)):
            return reckon(self.emitter, name, arguments, node.span)
        result = self.emitter.elementwise(name, arguments, node.span)
        self.keep_sizes(result, arguments)
        return result

    def keep_sizes(self, result: SSAValue, operands: list[Value]) -> None:
        """Note the sizes of an elementwise result where they are those of every tensor in it."""
        sizes = {
            None if known is None else tuple(known)
            for value in operands
            if isinstance(value, SSAValue) and not is_size(value)
            for known in [self.sizes_of(value)]
            if known != []
        }
        if len(sizes) == 1 and (only := sizes.pop()) is not None:
            self.known_sizes[result] = only


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
