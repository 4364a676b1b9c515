"""Graphs of ONNX as functions of tile ops, for inputs of given shapes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import onnx
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES, NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.layout import element_type, literal, shape
from tiledialect.passes.convert.function_builder import FunctionBuilder, name_result
from tiledialect.passes.convert.onnx.base import (
    Node,
    UnknownValueError,
    Value,
    label,
    numpy_type,
)
from tiledialect.passes.convert.onnx.bodies import body_of, mismatch, with_attributes
from tiledialect.passes.convert.onnx.control import branch_of
from tiledialect.passes.convert.onnx.table import CONVERSIONS, REASONS

Array = npt.NDArray[Any]

DEFAULT_DOMAINS = ("", "ai.onnx")


def _domain(name: str) -> str:
    """Name of a domain, that of the default one being empty."""
    return "" if name in DEFAULT_DOMAINS else name


NOT_FITTING = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)
"""Errors of conversions for nodes that do not fit their operator: ONNX's inference of types, which
comes before, checks few numbers and shapes."""


def _reason(node: Node, error: Exception) -> TileError:
    """Reason for which a node has no values."""
    if isinstance(error, TileError):
        return error
    reason = str(error) or type(error).__name__
    return node.refusal(f"its inputs or attributes do not fit: {reason}")


@dataclass
class GraphScope:
    """Names of a graph, or of the body of a node, with their values; converts its nodes.

    A value is a tensor of the function that is made, or numbers that are known beforehand, or
    both: constants become tensors where a node takes them as such.
    """

    b: TensorBuilder
    versions: Mapping[str, int]
    """Version of each domain's operator set."""
    values: dict[str, Value | TileError] = field(default_factory=dict[str, "Value | TileError"])
    """Tensors by name; in the place of one that cannot be made, the reason."""
    arrays: MutableMapping[str, Array] = field(default_factory=dict[str, Array])
    """Numbers that are known by name."""
    dynamic: frozenset[str] = frozenset()
    """Inputs whose numbers a call gives."""
    outer: GraphScope | None = None
    functions: Mapping[tuple[str, str], onnx.FunctionProto] = field(
        default_factory=dict[tuple[str, str], onnx.FunctionProto]
    )
    """Definitions of operators in the model itself, by domain and name."""
    producers: dict[str, Node] = field(default_factory=dict[str, Node])
    is_named: bool = False
    """Whether results of nodes get the graph's names."""

    def value(self, name: str) -> Value:
        """The tensor, or the sequence, of a name."""
        if name in self.values:
            found = self.values[name]
            if isinstance(found, TileError):
                raise found
            return found
        if name in self.arrays:
            made = self.values[name] = literal(self.b, _supported(name, self.arrays[name]))
            return made
        if self.outer is not None:
            return self.outer.value(name)
        raise TileError(f"the graph has no value {name}")

    def is_literal(self, name: str) -> bool:
        """Whether the numbers of a name are known here, and not those of an argument: initializers
        of files would be read again."""
        return name in self.arrays and not isinstance(self.values.get(name), BlockArgument)

    def known(self, name: str) -> Array:
        """Numbers of a name, computed by ONNX's own evaluator from those that are known.

        Raises ``UnknownValueError`` where they depend on an input's.
        """
        if name in self.arrays:
            return self.arrays[name]
        if name in self.dynamic:
            raise UnknownValueError(name)
        node = self.producers.get(name)
        if node is None:
            if self.outer is not None:
                return self.outer.known(name)
            raise TileError(f"the numbers of {name} must be known")
        for output, array in zip(node.proto.output, self._evaluated(node), strict=False):
            self.arrays[output] = array
        return self.arrays[name]

    def _evaluated(self, node: Node) -> Sequence[Array]:
        """Outputs of a node whose inputs are known; of those that only tell shapes, always."""
        if node.op in ("Shape", "Size") and isinstance(x := self._known_shape(node), tuple):
            if node.op == "Size":
                return [np.array(int(np.prod(x)), np.int64)]
            start, end = node.attribute("start", 0), node.attribute("end", len(x))
            return [np.array(x[slice(start, end)], np.int64)]
        if node.op == "SequenceLength" and isinstance(x := node.value(0), tuple):
            return [np.array(len(x), np.int64)]
        if node.op == "If":
            scope, outputs = branch_of(node)
            return [scope.known(name) for name in outputs]
        if any(a.type in (a.GRAPH, a.GRAPHS) for a in node.proto.attribute):
            raise node.refusal("its result must be known beforehand")
        given = {name: node.scope.known(name) for name in node.proto.input if name}
        evaluator = ReferenceEvaluator(node.proto, opsets={**self.versions})
        try:
            return [*map(np.asarray, evaluator.run(None, given))]
        except Exception as error:
            # The evaluator checks little; what it raises depends on the operator.
            raise node.refusal(f"its result cannot be computed beforehand: {error}") from None

    def _known_shape(self, node: Node) -> tuple[int, ...] | None:
        name = node.proto.input[0]
        if node.scope.is_literal(name):
            return node.scope.arrays[name].shape
        return tuple(shape(node.tensor(0)))

    def convert(self, nodes: Iterable[onnx.NodeProto]) -> None:
        """Convert nodes in order. One that cannot be is refused where its result is needed."""
        for proto in nodes:
            node = Node(proto, self, self._version(proto))
            for name in filter(None, proto.output):
                if name in self.producers:
                    raise TileError(f"two nodes of the graph have a result {name}")
                self.producers[name] = node
            if node.op == "Constant" and proto.domain in DEFAULT_DOMAINS:
                self._keep_constant(node)
                continue
            try:
                found = self._converted(node)
            except (TileError, *NOT_FITTING) as error:
                found = [_reason(node, error)] * len(proto.output)
            self.values |= zip(proto.output, found, strict=False)
            if self.is_named:
                for name, value in zip(proto.output, found, strict=False):
                    name_result(value, name)

    def _version(self, proto: onnx.NodeProto) -> int:
        return self.versions.get(_domain(proto.domain), 0)

    def _keep_constant(self, node: Node) -> None:
        name = node.proto.output[0]
        if not node.attributes:
            self.values[name] = node.refusal("it has no value")
        elif "sparse_value" in node.attributes:
            self.values[name] = node.refusal("sparse constants are not supported")
        elif any("string" in key for key in node.attributes):
            self.values[name] = node.refusal("there are no tensors of strings")
        else:
            (self.arrays[name],) = self._evaluated(node)

    def _converted(self, node: Node) -> Sequence[Value | TileError]:
        proto = node.proto
        domain = _domain(proto.domain)
        conversion = CONVERSIONS.get(f"{domain}.{node.op}" if domain else node.op)
        if conversion is not None:
            if (reason := self._mismatch(node)) is not None:
                raise node.refusal(reason)
            try:
                with self.b.of_layer(proto.name or label(proto)):
                    return list(conversion(self.b, node))
            except VerifyException as error:
                raise node.refusal(str(error)) from None
        if (body := self._body(node)) is not None:
            return self._inlined(node, body)
        raise node.refusal(REASONS.get(node.op, "there is no conversion of this operator"))

    def _mismatch(self, node: Node) -> str | None:
        """Reason for which a node does not fit its operator's schema, as far as types are known."""
        try:
            types = [self._type_proto(name) for name in node.proto.input]
        except TileError:
            return None
        return mismatch(node.proto, types, node.version)

    def _body(self, node: Node) -> onnx.FunctionProto | None:
        """Definition of a node's operator by others: the model's, or ONNX's own."""
        own = self.functions.get((node.proto.domain, node.op))
        if own is not None:
            return with_attributes(own, node.proto)
        types = [self._type_proto(name) for name in node.proto.input]
        return body_of(node.proto, types, node.version)

    def _type_proto(self, name: str) -> onnx.TypeProto:
        """Type of a name; empty where there is none."""
        if not name:
            return onnx.TypeProto()
        if self.is_literal(name):
            return _proto_of(self.arrays[name].dtype, self.arrays[name].shape)
        value = self.value(name)
        if not isinstance(value, tuple):
            return _proto_of(NUMPY_TYPES[element_type(value)], shape(value))
        leaves = _leaves(value)
        if not leaves:
            raise TileError(f"{name} is an empty sequence, whose type is not known")
        own = _proto_of(NUMPY_TYPES[element_type(leaves[0])], None)
        return onnx.helper.make_sequence_type_proto(own)

    def _inlined(self, node: Node, body: onnx.FunctionProto) -> Sequence[Value | TileError]:
        versions = {_domain(o.domain): o.version for o in body.opset_import} or self.versions
        inner = GraphScope(self.b, versions, functions=self.functions)
        for formal, name in zip(body.input, node.proto.input, strict=False):
            inner.take(formal, name, self)
        inner.convert(body.node)
        return [inner.result(name) for name in body.output]

    def inner(self) -> GraphScope:
        """GraphScope of a body, which may use all names around it."""
        return GraphScope(self.b, self.versions, outer=self, functions=self.functions)

    def take(self, formal: str, name: str, outer: GraphScope) -> None:
        """Let a name of this scope be one of another, which may be empty."""
        if not name:
            return
        self.producers[formal] = Node(
            onnx.helper.make_node("Identity", [name], [formal]), outer, self.versions.get("", 0)
        )
        if outer.is_literal(name):
            self.arrays[formal] = outer.arrays[name]
        else:
            self.values[formal] = outer.value(name)

    def result(self, name: str) -> Value | TileError:
        """The value of an output, or the reason why there is none."""
        try:
            return self.value(name)
        except TileError as error:
            return error


def _proto_of(dtype: np.dtype[Any], sizes: Sequence[int] | None) -> onnx.TypeProto:
    number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return onnx.helper.make_tensor_type_proto(number, sizes)


def _supported(name: str, array: Array) -> Array:
    if array.dtype not in ELEMENT_TYPES:
        raise TileError(f"{name}: there are no tensors of {array.dtype}")
    return array


# -- whole models --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Converted:
    """A model as a function of tile ops."""

    module: ModuleOp
    inputs: tuple[str, ...]
    """Inputs and initializers that the function takes, by their names in the model."""
    counts: tuple[int | None, ...]
    """Number of tensors of each output that is a sequence; None for a tensor."""


def convert_model(
    model: onnx.ModelProto,
    types: Mapping[str, TensorType[Any] | Sequence[TensorType[Any]]],
    known: Mapping[str, Array],
    initializers: Mapping[str, Array],
    name: str,
) -> Converted:
    """A model as a function of its inputs, of given types, and of the initializers in use, of which
    only those are read whose numbers are parts of the program.

    ``known`` are inputs whose numbers are parts of the program. Raises ``UnknownValueError`` for
    an input that has to be one, and a TileError for a node that cannot be converted.
    """
    function = FunctionBuilder()
    versions = {_domain(o.domain): o.version for o in model.opset_import}
    scope = GraphScope(
        function.b,
        versions,
        arrays=ChainMap({**known}, cast("MutableMapping[str, Array]", initializers)),
        dynamic=frozenset(types),
        functions={(f.domain, f.name): f for f in model.functions},
        is_named=True,
    )
    flat = {key: t for name, given in types.items() for key, t in _flat(name, given)}
    taken = {**flat, **parameter_types(model)}
    for key, t in taken.items():
        scope.values[key] = function.argument(key, t)
    for key, given in types.items():
        if not isinstance(given, TensorType):
            scope.values[key] = tuple(scope.value(k) for k, _ in _flat(key, given))
    scope.convert(model.graph.node)
    results: list[tuple[str, SSAValue]] = []
    counts: list[int | None] = []
    for output in model.graph.output:
        found = scope.value(output.name)
        counts.append(None if isinstance(found, SSAValue) else len(_leaves(found)))
        for k, value in enumerate(_leaves(found)):
            results.append((output.name if counts[-1] is None else f"{output.name}.{k}", value))
    built = function.finished(name, results, flat)
    return Converted(built.module, built.inputs, tuple(counts))


def _flat(
    name: str, given: TensorType[Any] | Sequence[TensorType[Any]]
) -> Iterable[tuple[str, TensorType[Any]]]:
    """Names and types of an input's tensors, of which a sequence has several."""
    if isinstance(given, TensorType):
        return [(name, given)]
    return [(f"{name}.{k}", t) for k, t in enumerate(given)]


def _leaves(value: Value) -> list[SSAValue]:
    if isinstance(value, SSAValue):
        return [value]
    return [leaf for part in value for leaf in _leaves(part)]


def parameter_types(model: onnx.ModelProto) -> dict[str, TensorType[Any]]:
    """Types of the initializers that are arguments of the function, not parts of the program."""
    found: dict[str, TensorType[Any]] = {}
    for t in model.graph.initializer:
        dtype = numpy_type(t.data_type)
        if dtype in ELEMENT_TYPES and t.dims and dtype.kind not in "iub":
            found[t.name] = TensorType(ELEMENT_TYPES[dtype], t.dims)
    return found
