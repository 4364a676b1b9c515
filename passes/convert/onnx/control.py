"""Choices, loops and sequences of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import onnx
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.errors import TileError
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.layout import constant, shape, sliced
from tiledialect.passes.convert.onnx.base import (
    Array,
    Conversion,
    Node,
    Scope,
    UnknownValueError,
    Value,
    axis_of,
    type_of,
)

Values = Sequence[Value]

MOST_ITERATIONS = 4096
"""Most iterations of a loop, which is unrolled."""


def _convert(scope: Scope, graph: onnx.GraphProto) -> list[str]:
    """Convert a graph in a scope that has its inputs; names of its outputs."""
    for initializer in graph.initializer:
        scope.arrays[initializer.name] = onnx.numpy_helper.to_array(initializer)
    scope.convert(graph.node)
    return [output.name for output in graph.output]


def branch_of(node: Node) -> tuple[Scope, list[str]]:
    """The branch that a known condition chooses, converted, and its outputs."""
    branch = "then_branch" if node.known(0).reshape(-1)[0] else "else_branch"
    scope = node.scope.inner()
    return scope, _convert(scope, node.attributes[branch])


def _if(b: TensorBuilder, node: Node) -> Values:
    scope, outputs = branch_of(node)
    return [scope.value(name) for name in outputs]


def _passed(scope: Scope, names: Sequence[str], values: Sequence[Value]) -> None:
    scope.values |= zip(names, values, strict=True)


def _loop(b: TensorBuilder, node: Node) -> Values:
    body: onnx.GraphProto = node.attributes["body"]
    count = int(node.known(0).reshape(-1)[0]) if node.has(0) else None
    goes_on = bool(node.known(1).reshape(-1)[0]) if node.has(1) else True
    inputs = [i.name for i in body.input]
    carried = [node.value(k) for k in range(2, len(node.proto.input))]
    collected: list[list[SSAValue]] = [[] for _ in range(len(body.output) - 1 - len(carried))]
    scope, k = None, 0
    known = _known(node.scope, inputs[2:], node.proto.input[2:], carried)
    while goes_on and (count is None or k < count):
        if k >= MOST_ITERATIONS:
            raise node.refusal(f"it runs more than {MOST_ITERATIONS} times")
        scope = node.scope.inner()
        scope.arrays.update(
            {inputs[0]: np.array(k, np.int64), inputs[1]: np.array(goes_on)} | known
        )
        _passed(scope, inputs[2:], carried)
        results = [scope.value(name) for name in _convert(scope, body)]
        goes_on = bool(scope.known(body.output[0].name).reshape(-1)[0])
        carried, rows = results[1 : 1 + len(carried)], results[1 + len(carried) :]
        outputs = [o.name for o in body.output[1 : 1 + len(carried)]]
        known = _known(scope, inputs[2:], outputs, carried)
        _collect(node, collected, rows)
        k += 1
    # The numbers of a state are known to others as well.
    for name, output in zip(inputs[2:], node.proto.output, strict=False):
        if name in known:
            node.scope.arrays[output] = known[name]
    return [*carried, *(_stacked(b, node, rows, 0) for rows in collected)]


def _known(
    scope: Scope, inputs: Sequence[str], names: Sequence[str], values: Sequence[Value]
) -> dict[str, Array]:
    """Numbers of states that are known beforehand, by the inputs of a body that take them."""
    found: dict[str, Array] = {}
    for taken, name, value in zip(inputs, names, values, strict=True):
        # A sequence is no numbers.
        if not isinstance(value, tuple):
            with suppress(UnknownValueError, TileError):
                found[taken] = scope.known(name)
    return found


def _collect(node: Node, collected: list[list[SSAValue]], results: Sequence[Value]) -> None:
    for rows, value in zip(collected, results, strict=True):
        if isinstance(value, tuple):
            raise node.refusal("its body gives sequences")
        rows.append(value)


def _stacked(b: TensorBuilder, node: Node, rows: Sequence[SSAValue], axis: int) -> SSAValue:
    if not rows:
        raise node.refusal("a loop that does not run has results of an unknown shape")
    sizes = list(shape(rows[0]))
    sizes.insert(axis % (len(sizes) + 1), 1)
    return layout.concatenate(
        b, [layout.reshape(b, v, tuple(sizes)) for v in rows], axis % len(sizes)
    )


def _scan(b: TensorBuilder, node: Node) -> Values:
    body: onnx.GraphProto = node.attributes["body"]
    if node.version < 9:
        raise node.refusal("scans of version 8 are not supported")
    count = node.attributes["num_scan_inputs"]
    given = [node.tensor(k) for k in range(len(node.proto.input))]
    states: list[Value] = [*given[: len(given) - count]]
    scanned = given[len(given) - count :]
    outputs = len(body.output) - len(states)
    axes = node.attribute("scan_input_axes", [0] * count)
    out_axes = node.attribute("scan_output_axes", [0] * outputs)
    ways = node.attribute("scan_input_directions", [0] * count)
    out_ways = node.attribute("scan_output_directions", [0] * outputs)
    times = shape(scanned[0])[axes[0]]
    collected: list[list[SSAValue]] = [[] for _ in range(outputs)]
    names = [i.name for i in body.input]
    for time in range(times):
        scope = node.scope.inner()
        rows = [
            layout.element(
                b, v, axis_of(node, axis, len(shape(v))), times - 1 - time if way else time
            )
            for v, axis, way in zip(scanned, axes, ways, strict=True)
        ]
        _passed(scope, names, [*states, *rows])
        results = [scope.value(name) for name in _convert(scope, body)]
        states = results[: len(states)]
        _collect(node, collected, results[len(states) :])
    whole = [
        _stacked(b, node, rows[::-1] if way else rows, axis)
        for rows, axis, way in zip(collected, out_axes, out_ways, strict=True)
    ]
    return [*states, *whole]


# -- sequences ---------------------------------------------------------------------------------


def _sequence(node: Node) -> tuple[Value, ...]:
    found = node.value(0)
    if not isinstance(found, tuple):
        raise node.refusal(f"{node.proto.input[0]} is no sequence")
    return found


def _place(node: Node, k: int, length: int) -> int:
    place = int(node.known(k).reshape(-1)[0])
    if not -length <= place <= length:
        raise node.refusal(f"there is no place {place} in a sequence of {length}")
    return place % length if place < 0 else place


def _sequence_construct(b: TensorBuilder, node: Node) -> Values:
    return [tuple(node.tensors)]


def _sequence_empty(b: TensorBuilder, node: Node) -> Values:
    type_of(node, node.attribute("dtype", 1))
    return [()]


def _sequence_insert(b: TensorBuilder, node: Node) -> Values:
    parts = [*_sequence(node)]
    parts.insert(_place(node, 2, len(parts)) if node.has(2) else len(parts), node.tensor(1))
    return [tuple(parts)]


def _sequence_erase(b: TensorBuilder, node: Node) -> Values:
    parts = [*_sequence(node)]
    del parts[_place(node, 1, len(parts)) if node.has(1) else -1]
    return [tuple(parts)]


def _sequence_at(b: TensorBuilder, node: Node) -> Values:
    parts = _sequence(node)
    place = _place(node, 1, len(parts))
    if place == len(parts):
        raise node.refusal(f"there is no place {place} in a sequence of {len(parts)}")
    return [parts[place]]


def _optional(b: TensorBuilder, node: Node) -> Values:
    if not node.has(0):
        raise node.refusal("an optional value without one is not supported")
    return [node.value(0)]


def _has_element(b: TensorBuilder, node: Node) -> Values:
    return [constant(b, int(node.has(0)), i1)]


def _get_element(b: TensorBuilder, node: Node) -> Values:
    return [node.value(0)]


def _sequence_length(b: TensorBuilder, node: Node) -> Values:
    return [constant(b, len(_sequence(node)), i64)]


def _concat_from_sequence(b: TensorBuilder, node: Node) -> Values:
    parts = [v for v in _sequence(node) if isinstance(v, SSAValue)]
    if not parts:
        raise node.refusal("the sequence is empty")
    axis = node.attributes["axis"]
    if node.attribute("new_axis", 0):
        return [_stacked(b, node, parts, axis)]
    return [layout.concatenate(b, parts, axis_of(node, axis, len(shape(parts[0]))))]


def _split_to_sequence(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    axis = axis_of(node, node.attribute("axis", 0), len(shape(x)))
    size = shape(x)[axis]
    if not node.has(1):
        ones = [sliced(b, x, axis, slice(k, k + 1)) for k in range(size)]
        if node.attribute("keepdims", 1):
            return [tuple(ones)]
        kept = tuple(n for k, n in enumerate(shape(x)) if k != axis)
        return [tuple(layout.reshape(b, v, kept) for v in ones)]
    given = node.known(1)
    each = int(given) if given.ndim == 0 else 0
    parts = [int(n) for n in given] if each == 0 else [each] * -(-size // each)
    ends = np.cumsum(parts).tolist()
    return [
        tuple(
            sliced(b, x, axis, slice(e - n, min(e, size))) for n, e in zip(parts, ends, strict=True)
        )
    ]


def _identity(b: TensorBuilder, node: Node) -> Values:
    value = node.value(0)
    return [value if isinstance(value, tuple) else b.op(ew.IdentOp, value)]


CONTROL: dict[str, Conversion] = {
    "ConcatFromSequence": _concat_from_sequence,
    "Identity": _identity,
    "If": _if,
    "Loop": _loop,
    "Optional": _optional,
    "OptionalGetElement": _get_element,
    "OptionalHasElement": _has_element,
    "Scan": _scan,
    "SequenceAt": _sequence_at,
    "SequenceConstruct": _sequence_construct,
    "SequenceEmpty": _sequence_empty,
    "SequenceErase": _sequence_erase,
    "SequenceInsert": _sequence_insert,
    "SequenceLength": _sequence_length,
    "SplitToSequence": _split_to_sequence,
}
