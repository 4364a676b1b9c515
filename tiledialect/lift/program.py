"""Programs: functions of arrays, traced into the lift dialect."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.discardable import NAME
from tiledialect.dialects.lift.types import array as array_type
from tiledialect.dialects.lift.types import describe, is_number
from tiledialect.errors import SourceSpan, TileError, count
from tiledialect.ir.names import give_name, keep_name
from tiledialect.ir.verification import verify
from tiledialect.lift.functions import Function
from tiledialect.lift.patterns import map
from tiledialect.lift.tracing import emit, fresh_names, place
from tiledialect.lift.values import AnySize, Value, as_tensor, cast, to_size, to_value


def array(*sizes: AnySize | Attribute) -> Any:
    """The type of an input: ``array("N", 3)`` of f32, ``array("N", i32)`` of another type.

    Example:
    ```python
    square = lift.fun(lift.array("N", "N", lift.f64), lambda A: A * A)
    ```
    """
    where = place()
    axes = [size for size in sizes if not isinstance(size, Attribute)]
    element = sizes[-1] if len(axes) < len(sizes) else f32
    if not isinstance(element, Attribute) or len(axes) < len(sizes) - 1:
        raise TileError("give sizes, then the type of the numbers", where)
    if not is_number(element):
        raise TileError(f"an input holds numbers, not {element}", where)
    try:
        return array_type([to_size(size, where) for size in axes], element)
    except VerifyException as error:
        raise TileError(str(error), where) from None


class Program(Function):
    """A traced function: ``module`` is its IR, and ``td.compile`` takes it.

    In another program it can be applied like any function.

    Example:
    ```python
    twice = lift.fun(lift.array("N"), lambda x: x >> halves >> halves)
    assert td.compile(twice).reference(np.float32([4, 8])).tolist() == [1, 2]
    ```
    """

    def __init__(self, name: str, function: Callable[..., Any], module: ModuleOp, arity: int):
        super().__init__(name, function, None, arity)
        self.module = module
        self.__name__ = name
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any) -> Value:
        """Apply the program to values of another program."""
        if not all(isinstance(a, Value) for a in args):
            raise TileError(
                f"compile {self.name} to call it with arrays: td.compile({self.name})(…)", place()
            )
        return super().__call__(*args)

    def __str__(self) -> str:
        return str(self.module)


def fun(*types_and_function: Any) -> Any:
    """A program, of a function whose parameters are annotated with types of inputs.

    Or, without annotations, ``fun(array("N"), lambda x: …)``. The function returns a value, a tuple
    of values, or a dictionary of values with names.

    Example:
    ```python
    @lift.fun
    def halves(x: lift.array("N")):
        return x >> lift.map(lambda a: a / 2)


    assert td.compile(halves).reference(np.float32([2, 4])).tolist() == [1, 2]
    ```
    """
    where = place()
    *types, function = types_and_function or (None,)
    if not callable(function):
        raise TileError(f"fun takes a function, not {function!r}", where)
    name = getattr(function, "__name__", "")
    name = name if name.isidentifier() else "program"
    parameters = _parameters(name, function, where)
    if not types:
        annotations = _annotations(function, where)
        missing = next((p for p in parameters if p not in annotations), None)
        if missing is not None:
            raise TileError(f"give {missing} a type, such as {missing}: lift.array('N')", where)
        types = [annotations[p] for p in parameters]
    if len(types) != len(parameters):
        given = count(len(types), "type", "types")
        inputs = count(len(parameters), "input", "inputs")
        raise TileError(f"fun is given {given} for {inputs}", where)
    module = _traced(name, function, parameters, types, where)
    return Program(name, function, module, len(types))


def _parameters(name: str, function: Callable[..., Any], where: SourceSpan | None) -> Sequence[str]:
    """Names of a program's inputs: parameters without a default."""
    if isinstance(function, Function) and function.parameters:
        return function.parameters
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise TileError(f"the parameters of {name} are not known: give a lambda", where) from None
    open_ended = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    needed = [p for p in found if p.default is p.empty]
    if other := next((p for p in needed if p.kind in open_ended), None):
        raise TileError(f"the inputs of {name} are given by place, but {other} is not", where)
    return [p.name for p in needed]


def _annotations(function: Callable[..., Any], where: SourceSpan | None) -> dict[str, Any]:
    try:
        return inspect.get_annotations(function, eval_str=True)
    except NameError as error:
        # Annotations that are texts see the names of the module alone.
        raise TileError(f"the type of an input cannot be evaluated: {error}", where) from None


def _traced(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[str],
    types: Sequence[Any],
    where: SourceSpan | None,
) -> ModuleOp:
    declared = [_input_type(n, t, where) for n, t in zip(inputs, types, strict=True)]
    block = Block(arg_types=declared)
    with fresh_names(), ImplicitBuilder(block):
        arguments: list[Value] = []
        for argument, hint in zip(block.args, inputs, strict=True):
            give_name(argument, hint)
            arguments.append(_argument(argument))
        try:
            outputs = _outputs(name, function(*arguments), where)
        except RecursionError:
            raise TileError(f"{name} is nested too deeply", where) from None
        values = [_output(n, v, where) for n, v in outputs.items()]
        func.ReturnOp(*(v.ssa for v in values))
    t = FunctionType.from_lists(declared, [v.type for v in values])
    attributes = {
        "arg_attrs": [{NAME: StringAttr(n)} for n in inputs],
        "res_attrs": [{NAME: StringAttr(n)} for n in outputs],
    }
    op = func.FuncOp(name, t, Region(block))
    for key, entries in attributes.items():
        op.properties[key] = ArrayAttr([DictionaryAttr(dict(entry)) for entry in entries])
    module = ModuleOp([op])
    verify(module)
    return module


def _input_type(name: str, t: Any, where: SourceSpan | None) -> TensorType[Attribute]:
    if isinstance(t, TensorType):
        return t
    if isinstance(t, Attribute) and is_number(t):
        return TensorType(t, [])
    raise TileError(f"the type of {name} is {t!r}: give lift.array('N') or lift.f32", where)


def _argument(argument: SSAValue) -> Value:
    """The value of an input; one without axes is a number."""
    t = argument.type
    if not isinstance(t, TensorType) or t.get_num_dims():
        return Value(argument)
    number = emit(lambda: tensor.ExtractOp(argument, [], t.element_type), None)
    keep_name(number, argument)
    return Value(number)


def _outputs(name: str, found: Any, where: SourceSpan | None) -> Mapping[str, Any]:
    if found is None or (isinstance(found, Mapping | list | tuple) and not found):
        raise TileError(f"{name} returns nothing", where)
    if isinstance(found, Mapping):
        for key in found:
            if not isinstance(key, str) or not key.isidentifier():
                raise TileError(
                    f"a result of {name} must have a name of letters, digits and `_`, not {key!r}",
                    where,
                )
        return found
    if isinstance(found, list | tuple):
        return {f"out{k}": v for k, v in enumerate(found)}
    return {"out": found}


def _concrete(value: Value) -> Value:
    """With indices, which have no width of their own, as int32."""
    t = value.type
    if getattr(t, "element_type", t) != IndexType():
        return value

    def convert(e: Value) -> Value:
        return cast(e, i32)

    function = convert
    for _ in range(t.get_num_dims() if isinstance(t, TensorType) else 0):
        function = map(function)
    return function(value)


def _output(name: str, found: Any, where: SourceSpan | None) -> Value:
    value = _concrete(to_value(found, None, where))
    t = value.type
    if is_number(t):
        return as_tensor(value, where)
    if not isinstance(t, TensorType) or not is_number(t.element_type):
        raise TileError(
            f"{describe(value.ssa)} is {t}, but a program returns arrays of numbers: "
            "lift.unzip makes arrays of an array of tuples, lift.as_scalar of vectors",
            where,
        )
    return value
