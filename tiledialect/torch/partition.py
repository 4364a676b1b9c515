"""Partition of a graph into parts that are converted, and operators that are left to PyTorch."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from xdsl.dialects.builtin import TensorType

from tiledialect.errors import TileError
from tiledialect.lowering.runtime.program import cache
from tiledialect.passes.convert.aten.graph import (
    MODEL,
    GraphConverter,
    check_on_cpu,
    element_type_of,
    is_update,
    is_view,
    layer_of,
    size_hint,
)
from tiledialect.torch.graphs import CompiledGraph
from tiledialect.torch.kept_graphs import KeptRefusals, graph_text, key
from tiledialect.torch.options import Options
from tiledialect.torch.residence.residence import Counts, on_host
from tiledialect.torch.roles import Role

Node = torch.fx.Node

BY_STRIDES = (torch.ops.aten.as_strided.default, torch.ops.aten.as_strided_scatter.default)
"""Operators that depend on where elements lie: PyTorch makes the views that they read, too."""


def refusals(graph: torch.fx.Graph) -> dict[Node, TileError]:
    """Calls that cannot be converted, and the reasons; sizes that are symbols have their hints."""
    name = key("refusals", graph_text(graph))
    found = cache.kept(KeptRefusals, name, lambda: _tried(graph))
    nodes = {node.name: node for node in graph.nodes}
    return {nodes[name]: TileError(reason) for name, reason in found.reasons}


def _tried(graph: torch.fx.Graph) -> KeptRefusals:
    """Refusals by trying: each call is converted."""
    converter, found = GraphConverter(), {}
    for node in graph.nodes:
        if node.op == "call_function":
            try:
                converter.values[node] = converter.convert(node)
                continue
            except TileError as error:
                found[node] = TileError(f"{error}{_in_module(node)}")
            except Exception as error:
                # PyTorch runs what conversions do not foresee.
                reason = f"{node.target} ({node.name}) cannot be converted: {error}"
                found[node] = TileError(f"{reason}{_in_module(node)}")
        if node.op != "output":
            converter.values[node] = _unknown(converter, node, node.meta.get("val"))
    for node in [own for own in found if own.target in BY_STRIDES]:
        reason = f"{node.target} ({node.name}) reads it by its strides{_in_module(node)}"
        found |= {view: TileError(f"{view.name}: {reason}") for view in _views(node)}
    return KeptRefusals(tuple((node.name, error.message) for node, error in found.items()))


def _views(node: Node) -> Iterator[Node]:
    """Views through which a call reads its first operand, the last one first."""
    source = node.args[0]
    while isinstance(source, Node) and _shares_memory(source):
        yield source
        source = source.args[0]


def _shares_memory(node: Node) -> bool:
    """Whether the results of a call lie in the memory of its first operand."""
    schema = getattr(node.target, "_schema", None)
    aliases = [] if schema is None else [own.alias_info for own in schema.returns]
    return node.target is operator.getitem or any(own is not None for own in aliases)


def _in_module(node: Node) -> str:
    """Module of a model to which a call belongs, for a message; nothing for the model itself."""
    layer = layer_of(node)
    return "" if layer == MODEL else f" (in module {layer})"


def _unknown(converter: GraphConverter, node: Node, value: Any) -> Any:
    """A value of the type of a node's, or the reason why there is none."""
    try:
        if isinstance(value, list | tuple):
            return [_unknown(converter, node, v) for v in value]
        if isinstance(value, torch.Tensor):
            check_on_cpu(node.name, value)
            t = TensorType(element_type_of(value.dtype), [_hint(n) for n in value.shape])
            return converter.function.argument(node.name, t)
        return _hint(value) if isinstance(value, torch.SymInt | int) else value
    except TileError as error:
        return error


def _hint(size: Any) -> int:
    """A size as ``size_hint`` gives it; a TileError if it gives none."""
    hint = size_hint(size)
    if hint is None:
        raise TileError(f"the size {size} depends on the numbers of a tensor")
    return int(hint)


def is_check(node: Node) -> bool:
    """Whether a call has no result, such as an assertion of sizes, or a token alone."""
    found = node.meta.get("val")
    if str(node.target) == "with_effects":
        # The token that orders such calls, and the results.
        return all(value is None for value in found[1:])
    return found is None and not node.users


class _Support(OperatorSupportBase):
    def __init__(self, refused: Mapping[Node, TileError]):
        self._refused = refused

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.op == "call_function" and node not in self._refused


def _is_free(node: Node) -> bool:
    """Whether PyTorch makes the result of a call without a copy."""
    return node.target is operator.getitem or is_view(node) or not _is_tensor(node)


def partitioned(
    module: torch.fx.GraphModule,
    refused: Mapping[Node, TileError],
    options: Options,
    role: Role,
) -> Callable[..., Any]:
    """The graph as calls of compiled parts, as long as can be, and of the refused operators."""
    graph = module.graph
    if not refused and all(n.op != "get_attr" for n in graph.nodes):
        return CompiledGraph(graph, role, options)
    updated = _separate_updates(graph)
    run = _by_parts(module, refused, options, role.name)

    def updating(*inputs: Any) -> Any:
        Counts(inputs, role.counted).tell()
        # PyTorch reads them, too.
        found = run(*map(on_host, inputs))
        outputs = found[: len(found) - len(updated)] if updated else found
        for place, new in zip(updated, found[len(outputs) :], strict=True):
            inputs[place].copy_(new)
        return outputs

    return updating


def _separate_updates(graph: torch.fx.Graph) -> list[int]:
    """Let a graph return what its inputs become, after its outputs; the numbers of these inputs.

    Parts do not run in the order of the graph.
    """
    copies = [n for n in graph.nodes if is_update(n)]
    inputs = [n for n in graph.nodes if n.op == "placeholder"]
    (output,) = (n for n in graph.nodes if n.op == "output")
    places = [inputs.index(n.args[0]) for n in copies]
    new = [n.args[1] for n in copies]
    for node in copies:
        node.replace_all_uses_with(node.args[0])
        graph.erase_node(node)
    output.args = ((*output.args[0], *new),)
    return places


def _by_parts(
    module: torch.fx.GraphModule,
    refused: Mapping[Node, TileError],
    options: Options,
    name: str,
) -> Callable[..., Any]:
    """The graph, without updates of inputs, by parts."""
    partitioner = CapabilityBasedPartitioner(
        module, _Support(refused), allows_single_node_partition=True
    )
    parts = [
        part for part in partitioner.propose_partitions() if not all(map(_is_free, part.nodes))
    ]
    fused = partitioner.fuse_partitions(parts, prefix="tile_")
    for own, part in list(fused.named_children()):
        if own.startswith("tile_"):
            setattr(fused, own, CompiledGraph(part.graph, Role(f"{name}_{own[5:]}"), options))
    fused.recompile()
    return fused


def _is_tensor(node: Node) -> bool:
    """Whether a node gives a tensor, not a size."""
    return not isinstance(node.meta.get("val"), torch.SymInt | int | float | bool)
