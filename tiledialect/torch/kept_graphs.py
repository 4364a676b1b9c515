"""Converted graphs kept on disk, so that another process reads what it would convert.

A graph's text has all that conversions look at. A graph with something else in it has none, and is
converted in each process.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
import torch

from tiledialect.api.kept_function import KeptFunction
from tiledialect.ir.signature import type_text
from tiledialect.lowering.runtime.program import cache
from tiledialect.passes.convert.aten.graph import Dense, Result, layer_of, size_hint, updates_of

Node = torch.fx.Node
LIBRARIES = ("_operator", "builtins", "math", "torch")
"""Modules of functions in graphs whose code is of PyTorch's version, or Python's."""
NAMESPACES = ("aten", "prim", "prims")
"""Namespaces of PyTorch's own operators."""


class UnknownError(Exception):
    """Something has no text that tells what it is."""


@dataclass(frozen=True)
class ViewOf:
    """Output that is the value of a node with this name: a view of an input, or the input."""

    name: str


KeptOutput: TypeAlias = "Result | ViewOf | int | float | bool | None"


@dataclass(frozen=True)
class KeptGraph:
    """A converted graph."""

    function: KeptFunction | None
    """None if nothing is computed."""
    inputs: tuple[str, ...]
    outputs: tuple[KeptOutput, ...]


@dataclass(frozen=True)
class Outline:
    """Facts about a graph that its calls need, without its operators."""

    inputs: tuple[str, ...]
    updated: tuple[int, ...]
    """Places of the inputs that a call changes."""
    is_single: bool
    """Whether the output is none of a list."""
    text: str | None
    """Digest of its text; None if it has none."""

    @classmethod
    def of(cls, graph: torch.fx.Graph) -> Outline:
        """Outline of a graph of ATen operators."""
        inputs = tuple(n.name for n in graph.nodes if n.op == "placeholder")
        (output,) = (n for n in graph.nodes if n.op == "output")
        text = graph_text(graph)
        return cls(
            inputs,
            tuple(map(inputs.index, updates_of(graph))),
            not isinstance(output.args[0], list | tuple),
            None if text is None else sha256(text.encode()).hexdigest(),
        )


@dataclass(frozen=True)
class KeptRefusals:
    """Nodes of a graph that have no conversion, and the reasons."""

    reasons: tuple[tuple[str, str], ...]


def key(kind: str, text: str | None, *parts: str | None) -> str | None:
    """Name of the entry for a graph of this text; None: it is not kept."""
    given = [part for part in (text, *parts) if part is not None]
    if len(given) <= len(parts):
        return None
    return cache.key(kind, torch.__version__, np.__version__, *given)


def graph_text(graph: torch.fx.Graph) -> str | None:
    """Text of all that conversions look at in a graph; None if it has something else."""
    try:
        return "\n".join(map(_node_text, graph.nodes))
    except UnknownError:
        return None


def _node_text(node: Node) -> str:
    return node_text(node, _target(node), node.meta.get("val"))


def node_text(node: Node, target: str, value: Any) -> str:
    """Text of a node whose target has a text, and of whose value something is known."""
    call = f"{node.op} {node.name} {target}{_text(node.args)}{_text(node.kwargs)}"
    users = "" if node.users else " unused"
    return f"{call} -> {_known_text(value)} in {layer_of(node)}{users}"


def _target(node: Node) -> str:
    target = node.target
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload):
        if target.namespace in NAMESPACES:
            return str(target)
        # Of other libraries the code is not known: conversions call it where it gives a number.
        if isinstance(node.meta.get("val"), torch.Tensor | list | tuple):
            return str(target._schema)
        raise UnknownError
    if module_of(target).split(".")[0] not in LIBRARIES:
        raise UnknownError
    return function_text(target)


def module_of(function: Any) -> str:
    """Name of the module of a function; an empty one if it is not known."""
    return getattr(function, "__module__", None) or ""


def function_text(function: Any) -> str:
    """Name of a function with its module."""
    return f"{module_of(function)}.{getattr(function, '__qualname__', None) or function}"


def given_text(given: Any) -> str | None:
    """Text of an input for a conversion; None for one that is not kept."""
    if isinstance(given, Dense):
        return f"{type_text(given.type)} {given.order}"
    return repr(given) if type(given) in PLAIN else None


def _sizes(tensor: torch.Tensor) -> str:
    if tensor.layout is not torch.strided:
        raise UnknownError
    numbers = (tensor.shape, tensor.stride(), (tensor.storage_offset(),))
    return " ".join(",".join(map(_size, own)) for own in numbers)


def _size(n: Any) -> str:
    return str(n) if type(n) is int else f"{n}={size_hint(n)}"


def _sequence(values: Any) -> str:
    return f"({', '.join(map(_text, values))})"


PLAIN = (int, float, bool, str, complex, type(None))
TEXTS: Mapping[type, Callable[[Any], str]] = {
    **dict.fromkeys((*PLAIN, torch.dtype, torch.device, torch.layout, torch.memory_format), repr),
    **dict.fromkeys((torch.SymInt, torch.SymFloat, torch.SymBool), _size),
    Node: lambda n: f"%{n.name}",
    type(Ellipsis): repr,
    slice: lambda s: f"slice{_sequence((s.start, s.stop, s.step))}",
    list: _sequence,
    tuple: _sequence,
    dict: lambda d: f"{{{', '.join(f'{k}: {_text(v)}' for k, v in d.items())}}}",
}
"""Texts of arguments in a graph by their classes; tensors are none."""


def _known_text(value: Any) -> str:
    """Text of what is known of a node's value before a call."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {value.device} {_sizes(value)}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_known_text, value))})"
    return _text(value)


def _text(value: Any) -> str:
    """Text of an argument; an `UnknownError` if it has none."""
    for kind in type(value).__mro__:
        if kind in TEXTS:
            return TEXTS[kind](value)
    raise UnknownError
