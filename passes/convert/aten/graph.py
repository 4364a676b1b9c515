"""Graphs of ATen operators as functions of tile ops, for inputs of given shapes."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import format_shape
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.errors import TileError
from tiledialect.operators.layout import literal, shape, transpose
from tiledialect.passes.convert.aten.base import Call, Memory
from tiledialect.passes.convert.aten.table import CONVERSIONS, REASONS
from tiledialect.passes.convert.function_builder import FunctionBuilder, name_result

FxNode = Any
"""Node of a graph of ``torch.fx``; this module does not import PyTorch."""

Value = Any
"""Value of a node: a tensor as an ``SSAValue``, a number, a list of values, None."""

SEED = "random seed"
"""Name of the input that holds the state of the generator."""


def element_type_of(dtype: object) -> Attribute:
    """Element type of a ``torch.dtype``."""
    name = str(dtype).removeprefix("torch.")
    if name == "bfloat16":
        return et.CONCRETE["bf16"]
    try:
        return ELEMENT_TYPES[np.dtype(name)]
    except (TypeError, KeyError):
        raise TileError(f"there are no tensors of {name}") from None


@dataclass
class GraphConverter:
    """Values of a graph's nodes, made one by one."""

    function: FunctionBuilder = field(default_factory=FunctionBuilder)
    values: dict[FxNode, Value | TileError] = field(default_factory=dict[Any, Any])
    """Values by node; in the place of one that cannot be made, the reason."""
    _draws: int = 0

    def __post_init__(self):
        self._seed: SSAValue | None = None

    def convert(self, node: FxNode) -> Value:
        """The value of a call; raises a TileError if it cannot be made."""
        target = node.target
        try:
            arguments = self._arguments(node)
        except TileError as error:
            raise TileError(f"{target} ({node.name}) cannot be converted: {error}") from None
        if target is operator.getitem:
            return arguments[0][arguments[1]]
        name = "aten.copy.default" if is_update(node) else str(target)
        if name in SIZES:
            return SIZES[name](*arguments)
        conversion = CONVERSIONS.get(name)
        if conversion is None:
            if _is_number(node.meta.get("val")) and _are_numbers(arguments):
                return target(*arguments)
            reason = f": {REASONS[name]}" if name in REASONS else ""
            raise TileError(f"there is no conversion of {name}{reason}")
        call = Call(
            node.name,
            name,
            _types(node),
            self._random_state,
            _memory(node.args[0] if node.args else None),
        )
        try:
            with self.function.b.of_layer(layer_of(node)):
                made = conversion(self.function.b, call, *arguments)
        except (TileError, VerifyException) as error:
            raise TileError(f"{name} ({node.name}) cannot be converted: {error}") from None
        if isinstance(made, SSAValue):
            name_result(made, node.name)
        else:
            made = [*made]
        _check_results(name, made, node.meta.get("val"))
        return made

    def value(self, node: FxNode) -> Value:
        """The value of a node that has been converted."""
        found = self.values[node]
        if isinstance(found, TileError):
            raise found
        return found

    def _arguments(self, node: FxNode) -> list[Value]:
        """Arguments of a call in the order of its operator's schema."""
        given = [self._argument(x) for x in node.args]
        named = {k: self._argument(v) for k, v in node.kwargs.items()}
        schema = getattr(node.target, "_schema", None)
        if schema is None:
            return given
        for k in range(len(given), len(schema.arguments)):
            own = schema.arguments[k]
            given.append(named.get(own.name, own.default_value))
        return given

    def _argument(self, value: Any) -> Value:
        if hasattr(value, "all_input_nodes"):
            return self.value(value)
        if isinstance(value, list | tuple):
            return [self._argument(v) for v in value]
        return element_type_of(value) if type(value).__name__ == "dtype" else value

    def _random_state(self) -> SSAValue:
        """State of the generator for a draw: the call's seed, and the draw's number."""
        b = self.function.b
        if self._seed is None:
            self._seed = self.function.argument(SEED, TensorType(et.ui32, (4,)))
        self._draws += 1
        return b.add(self._seed, literal(b, np.array([0, 0, 0, self._draws], np.uint32)))


MODEL = "model"
"""Layer of operators that are in no module of a model."""


def layer_of(node: FxNode) -> str:
    """Module of a model to which a node belongs, forward or backward, without the model's name."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    path = next((path for path, *_ in reversed([*stack.values()])), "")
    parts = re.findall(r"[\w-]+", path.replace("._modules", ""))
    return ".".join(parts[2:]) or MODEL


def check_on_cpu(name: str, tensor: Any) -> None:
    """Refuse a tensor in memory that is not the host's."""
    if tensor.device.type != "cpu":
        raise TileError(f"{name} is on {tensor.device}: move it to the CPU first")


def _check_results(name: str, made: Value, known: Any) -> None:
    """Refuse results of other shapes than PyTorch's, where these are no symbols, and those on other
    devices."""
    if isinstance(made, list) and isinstance(known, list | tuple):
        if len(made) != len(known):
            raise TileError(f"{name} gives {len(made)} results in the place of {len(known)}")
        for value, own in zip(made, known, strict=True):
            _check_results(name, value, own)
    elif isinstance(made, SSAValue) and hasattr(known, "shape"):
        check_on_cpu(f"the result of {name}", known)
        sizes = tuple(known.shape)
        if all(type(n) is int for n in sizes) and sizes != shape(made):
            own, wanted = format_shape(shape(made)), format_shape(sizes)
            raise TileError(f"{name} gives {own} in the place of {wanted}")


def _is_number(value: object) -> bool:
    """Whether a value in a graph is a number, or a symbol of one."""
    return isinstance(value, int | float) or type(value).__name__ in SYMBOLS


def _are_numbers(values: Sequence[Value]) -> bool:
    return all(
        _are_numbers(v) if isinstance(v, list) else isinstance(v, int | float) for v in values
    )


SYMBOLS = ("SymInt", "SymFloat", "SymBool")


def _types(node: FxNode) -> tuple[Attribute | None, ...]:
    """Element types of a node's results."""
    value = node.meta.get("val")
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(map(_type_or_none, values))


def _memory(first: object) -> Memory | None:
    """Place in memory of the tensor of a node; None if it is not known."""
    value: Any = getattr(first, "meta", {}).get("val")
    if not hasattr(value, "stride"):
        return None
    hints = [size_hint(n) for n in (value.storage_offset(), *value.stride())]
    numbers = [n for n in hints if n is not None]
    if len(numbers) < len(hints):
        return None
    return Memory(tuple(numbers[1:]), numbers[0])


def size_hint(size: Any) -> int | None:
    """A size, or the one that a symbol had when the graph was made; None if it had none."""
    return size if isinstance(size, int) else size.node.hint


def _type_or_none(value: Any) -> Attribute | None:
    if not hasattr(value, "dtype"):
        return None
    try:
        return element_type_of(value.dtype)
    except TileError:
        return None


def _size(x: SSAValue, axis: int) -> int:
    return shape(x)[axis]


def _count(x: SSAValue) -> int:
    return prod(shape(x))


SIZES: Mapping[str, Callable[..., int]] = {
    "aten.sym_size.int": _size,
    "aten.sym_numel.default": _count,
}
"""Operators that give a number of a shape."""


@dataclass(frozen=True)
class Result:
    """Output that is a result of the function."""

    place: int
    order: tuple[int, ...] | None = None
    """Axes of the output in the order that the result has them; None if it is the same."""


def _memory_order(node: FxNode) -> tuple[int, ...] | None:
    """Axes of an output from the slowest to the fastest in memory, if that is another order.

    PyTorch takes views of outputs by the strides that they have in the graph.
    """
    memory = _memory(node)
    sizes = node.meta["val"].shape if memory is not None else ()
    if memory is None or 0 in memory.strides or 0 in sizes:
        return None
    order = sorted(range(len(sizes)), key=lambda k: -memory.strides[k])
    return None if order == sorted(order) else tuple(order)


@dataclass(frozen=True)
class Dense:
    """Input whose elements are dense in memory."""

    type: TensorType[Any]
    """Element type, and sizes in memory."""
    order: tuple[int, ...] | None = None
    """Axes of the input in the order that they have in memory; None if it is the same."""


@dataclass(frozen=True)
class View:
    """Output that is a view of an input, or the input itself."""

    node: FxNode


VIEWS = (
    *("alias", "detach", "expand", "permute", "select", "slice", "squeeze", "t", "transpose"),
    *("unsqueeze", "view"),
)
"""Operators whose results are views of their first operand."""


def is_view(node: FxNode) -> bool:
    """Whether a call gives a view of its first operand."""
    name = str(node.target).split(".")
    return name[0] == "aten" and name[1] in VIEWS and name[-1] != "dtype"


def is_update(node: FxNode) -> bool:
    """Whether a node copies a tensor to an input, at the end of a graph."""
    return str(node.target) == "aten.copy_.default"


def updates_of(graph: Any) -> dict[str, FxNode]:
    """Inputs that a graph changes, by name, and what they become."""
    copies = [node for node in graph.nodes if is_update(node)]
    for node in copies:
        if node.args[0].op != "placeholder":
            raise TileError(f"{node.target} ({node.name}) changes {node.args[0].name}, no input")
    return {node.args[0].name: node.args[1] for node in copies}


def _is_of_input(node: FxNode, updated: Collection[str]) -> bool:
    """Whether a node is an input after the call, or a view of one."""
    while node.op == "call_function" and is_view(node):
        node = node.args[0]
    if node.op == "placeholder":
        return node.name not in updated
    return is_update(node)


@dataclass(frozen=True)
class Converted:
    """A graph as a function of tile ops."""

    module: ModuleOp
    inputs: tuple[str, ...]
    """Names of the placeholders that the function takes, and of the seed."""
    outputs: tuple[Result | View | Value, ...]
    """Outputs; those that are no tensors are given as they are. At the end, where the function does
    not change them itself, what inputs become."""


def convert_graph(
    graph: Any, given: Mapping[str, Dense | Value], name: str, *, in_place: bool = False
) -> Converted:
    """A graph as a function of its placeholders, of given types, or numbers.

    With ``in_place`` the function changes the inputs that the graph changes. Raises a TileError for
    a node that cannot be converted.
    """
    converter = GraphConverter()
    returned: Sequence[Any] = ()
    for node in graph.nodes:
        match node.op:
            case "placeholder":
                converter.values[node] = _input(converter, node.name, given[node.name])
            case "call_function":
                converter.values[node] = converter.convert(node)
            case "output":
                returned = node.args[0] if isinstance(node.args[0], list | tuple) else node.args
            case _:
                raise TileError(f"{node.op} ({node.name}) is no call of an operator")
    # Outputs of several nodes have memory of their own, though their values are the same.
    results: dict[FxNode, tuple[int, SSAValue]] = {}
    outputs: list[Any] = []
    updated = updates_of(graph)
    for node in returned if in_place else (*returned, *updated.values()):
        value = converter.value(node) if hasattr(node, "all_input_nodes") else node
        if not isinstance(value, SSAValue):
            # A tensor that the function cannot take is another one at each call.
            outputs.append(View(node) if getattr(node, "op", "") == "placeholder" else value)
        elif _is_of_input(node, updated):
            outputs.append(View(node))
        else:
            order = _memory_order(node)
            if order is not None:
                value = transpose(converter.function.b, value, order)
            place, _ = results.setdefault(node, (len(results), value))
            outputs.append(Result(place, order))
    named = [(node.name, value) for node, (_, value) in results.items()]
    changed = [(k, _in_order(converter, given[k], v)) for k, v in updated.items()]
    built = converter.function.finished(name, named, updated=changed if in_place else ())
    return Converted(built.module, built.inputs, tuple(outputs))


def _in_order(converter: GraphConverter, given: Dense | Value, node: FxNode) -> SSAValue:
    """New value of an input, with its axes in the order of its memory."""
    value = converter.value(node)
    order = given.order if isinstance(given, Dense) else None
    return value if order is None else transpose(converter.function.b, value, order)


def _input(converter: GraphConverter, name: str, given: Dense | Value) -> Value:
    if not isinstance(given, Dense):
        return given
    argument = converter.function.argument(name, given.type)
    if given.order is None:
        return argument
    back = [given.order.index(k) for k in range(len(given.order))]
    return transpose(converter.function.b, argument, back)
