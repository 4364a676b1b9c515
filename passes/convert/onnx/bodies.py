"""ONNX's own definitions of operators by other operators."""

# ONNX's schemas have no types.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import re
from collections.abc import Sequence

import onnx
from onnx import AttributeProto, checker, defs, shape_inference


def body_of(
    node: onnx.NodeProto, types: Sequence[onnx.TypeProto], version: int
) -> onnx.FunctionProto | None:
    """Definition of a node's operator, with the node's attributes in place; None without one."""
    try:
        schema = defs.get_schema(node.op_type, version, node.domain)
    except defs.SchemaError:
        return None
    if schema.has_function:
        body = schema.function_body
    elif schema.has_context_dependent_function:
        text = schema.get_context_dependent_function(
            node.SerializeToString(), [t.SerializeToString() for t in types]
        )
        body = onnx.FunctionProto()
        body.ParseFromString(text)
    else:
        return None
    return with_attributes(body, node)


def with_attributes(body: onnx.FunctionProto, node: onnx.NodeProto) -> onnx.FunctionProto:
    """A definition whose references to attributes are a node's, or their defaults."""
    given = {a.name: a for a in node.attribute}
    for default in body.attribute_proto:
        given.setdefault(default.name, default)
    for name, default in _defaults(node).items():
        given.setdefault(name, default)
    result = onnx.FunctionProto()
    result.CopyFrom(body)
    for inner in result.node:
        _resolve(inner, given)
    return result


def mismatch(node: onnx.NodeProto, types: Sequence[onnx.TypeProto], version: int) -> str | None:
    """Reason for which a node and its inputs do not fit the operator's schema; None if they do."""
    if any(a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for a in node.attribute):
        # Names of the graph around are none of the node's inputs.
        return None
    given = {name: t for name, t in zip(node.input, types, strict=True) if name}
    try:
        schema = defs.get_schema(node.op_type, version, node.domain)
        shape_inference.infer_node_outputs(schema, node, given)
    except defs.SchemaError:
        return None
    except (shape_inference.InferenceError, checker.ValidationError, ValueError) as error:
        return re.sub(r"\[\w+\] ", "", str(error)).splitlines()[0]
    return None


def _defaults(node: onnx.NodeProto) -> dict[str, onnx.AttributeProto]:
    """Default attributes of an operator by its schema."""
    if not defs.has(node.op_type, domain=node.domain):
        return {}
    attributes = defs.get_schema(node.op_type, domain=node.domain).attributes
    return {k: a.default_value for k, a in attributes.items() if a.default_value.name}


def _resolve(node: onnx.NodeProto, given: dict[str, onnx.AttributeProto]) -> None:
    for k in reversed(range(len(node.attribute))):
        attribute = node.attribute[k]
        if attribute.ref_attr_name:
            name = attribute.name
            del node.attribute[k]
            if attribute.ref_attr_name in given:
                made = node.attribute.add()
                made.CopyFrom(given[attribute.ref_attr_name])
                made.name = name
        elif attribute.type == attribute.GRAPH:
            for inner in attribute.g.node:
                _resolve(inner, given)
