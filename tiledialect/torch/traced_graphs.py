"""Graphs that Dynamo traces, known on disk: another process needs no AOTAutograd for them.

A plain graph is of inference, has static shapes, changes no input, and gives tensors that share no
memory with its inputs or one another. What AOTAutograd does at each call is nothing then, and what
it does before is to make the graph of ATen operators, which `kept_graphs` keeps converted. A graph
with anything else in it goes through AOTAutograd in each process.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import BuiltinFunctionType
from typing import Any

import torch
import torch._functorch.config
from torch._subclasses import FakeTensor

from tiledialect.torch.kept_graphs import (
    NAMESPACES,
    Outline,
    UnknownError,
    function_text,
    key,
    module_of,
    node_text,
)

Node = torch.fx.Node
Tensor = torch.Tensor

NOTHING_LEFT: Mapping[str, Any] = {
    "num_mutated_inp_runtime_indices": 0,
    "num_mutated_graph_handled_indices": 0,
    "num_outputs_aliased": 0,
    "num_intermediate_bases": 0,
    "dynamic_outputs": False,
    "grad_enabled_mutation": None,
    "is_rng_op_functionalized": False,
    "tokens": {},
}
"""Findings of AOTAutograd for a graph that leaves nothing to do at a call."""
BUILTINS = ("_operator", "torch", "torch._C._nn", "torch._C._linalg", "torch._C._special")
"""Modules of functions in C that compute tensors of their arguments alone."""
FUNCTIONS = ("torch.nn.functional", "torch.functional")
"""Modules of such functions in Python."""
OTHERS = (
    torch._C._set_grad_enabled,
    torch.amp.autocast_mode._enter_autocast,
    torch.amp.autocast_mode._exit_autocast,
)
"""Functions that change what later ones do, within a graph."""
TENSORS = (Tensor, torch.nn.Parameter, FakeTensor)
DEVICES = ("cpu", "cuda", "xpu", "mps")
"""Types of devices that casts may be for."""


def traced_key(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> str | None:
    """Name of the entry for a graph of Dynamo's; None if it has something that is not known."""
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return None
    if [*module.parameters(), *module.buffers()] or not all(type(x) in TENSORS for x in inputs):
        return None
    try:
        nodes = "\n".join(map(_text, module.graph.nodes))
        return key("traced", nodes, *map(_input_text, inputs), _state_text())
    except UnknownError:
        return None


def is_plain(outline: Outline, inputs: Sequence[Any], outputs: int) -> bool:
    """Whether a graph of AOTAutograd's is all that is to do for a graph of Dynamo's, with so many
    outputs. It is asked while AOTAutograd compiles."""
    context = torch._guards.TracingContext.try_get()
    metadata = getattr(context, "fw_metadata", None)
    return (
        metadata is not None
        and all(
            getattr(metadata, name, metadata) == wanted for name, wanted in NOTHING_LEFT.items()
        )
        and len(outline.inputs) == len(inputs)
        and metadata.num_outputs == outputs
        and not outline.is_single
        and not outline.updated
        and outline.text is not None
    )


def output_count(graph: torch.fx.Graph) -> int | None:
    """Number of the outputs of a graph of Dynamo's; None if one is no result of a call."""
    (output,) = (n for n in graph.nodes if n.op == "output")
    given = output.args[0]
    if not isinstance(given, list | tuple) or not all(isinstance(n, Node) for n in given):
        return None
    return len(given)


def _text(node: Node) -> str:
    value = node.meta.get("example_value")
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        raise UnknownError
    if isinstance(value, Tensor):
        _check_static(value)
    return node_text(node, _target(node), value)


def _check_static(value: Tensor) -> None:
    """Refuse a tensor of a class of its own, or of a shape that is not known."""
    if type(value) not in TENSORS or not all(type(n) is int for n in value.shape):
        raise UnknownError


def _target(node: Node) -> str:
    target = node.target
    match node.op:
        case "placeholder" | "output":
            return str(target)
        case "call_method" if isinstance(_value(node.args[0]), Tensor):
            return f"method {target}"
        case "call_function" if isinstance(target, torch._ops.OpOverload):
            if target.namespace in NAMESPACES:
                return str(target)
        case "call_function" if target in OTHERS:
            return function_text(target)
        case "call_function" if isinstance(target, BuiltinFunctionType):
            if module_of(target) in BUILTINS:
                return function_text(target)
        case "call_function" if module_of(target) in FUNCTIONS:
            # Those that choose one of two by a bool have one qualified name.
            name = getattr(target, "__name__", "")
            if getattr(sys.modules[module_of(target)], name, None) is target:
                return f"{module_of(target)}.{name}"
    raise UnknownError


def _value(argument: Any) -> Any:
    return argument.meta.get("example_value") if isinstance(argument, Node) else argument


def _input_text(given: Tensor) -> str:
    """Text of an input, beside its shape and element type, which those of the graph have."""
    kinds = given.requires_grad, given.is_inference(), given.is_conj(), given.is_neg()
    return f"{type(given).__name__} {given.dtype} {given.device} {given.layout} {kinds}"


def _state_text() -> str:
    """Text of what PyTorch's functions look at beside their arguments: what Dynamo's guards and
    AOTAutograd's own cache compare, and the kernels that an attention may have."""
    casts = [d for d in DEVICES if torch.is_autocast_enabled(d)]
    state = (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        [(d, torch.get_autocast_dtype(d)) for d in casts],
        torch.is_autocast_cache_enabled(),
        torch.get_default_dtype(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
        torch.backends.mkldnn.enabled,
        torch.backends.cuda.flash_sdp_enabled(),
        torch.backends.cuda.mem_efficient_sdp_enabled(),
        torch.backends.cuda.math_sdp_enabled(),
        torch._functorch.config.get_hash(),
    )
    return repr(state)
