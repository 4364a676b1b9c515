"""Graphs that PyTorch saves to a file with a model's guards and code, for other processes.

``torch.compile(model, …).aot_compile`` asks AOTAutograd for a function that it can write. It writes
what it does itself at a call, and for each graph that a backend has compiled what is here: the
graph of ATen operators, the options, and facts that make the graph needless where its conversion is
`kept on disk <kept_graphs>`. Parameters are inputs, and no part of it.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Any

import torch
from torch._inductor.output_code import OutputCode
from torch._subclasses import FakeTensorMode
from torch.fx._graph_pickler import GraphPickler
from torch.fx._graph_pickler import Options as PicklerOptions
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from tiledialect import __version__
from tiledialect.errors import TileError
from tiledialect.torch.graphs import CompiledGraph
from tiledialect.torch.kept_graphs import Outline
from tiledialect.torch.options import Options
from tiledialect.torch.partition import partitioned, refusals
from tiledialect.torch.roles import Role

STACKS = ("nn_module_stack", "fwd_nn_module_stack")
"""Entries of nodes about the modules that they belong to."""


def graph_bytes(module: torch.fx.GraphModule, options: Options) -> bytes:
    """A graph of ATen operators, with what conversions look at."""
    if not isinstance(options.device, str | None):
        raise TileError("a model that is saved needs its `device` by an id, or a part of a name")
    graph = copy.deepcopy(module.graph)
    for node in graph.nodes:
        stacks = {k: node.meta[k] for k in STACKS if node.meta.get(k)}
        known = {"val": node.meta["val"]} if "val" in node.meta else {}
        # Classes of modules may be local to a function.
        node.meta = known | {k: {n: own[:1] for n, own in s.items()} for k, s in stacks.items()}
    everything = PicklerOptions(ops_filter=None, node_metadata_key_filter=None)
    return GraphPickler.dumps(torch.fx.GraphModule(module, graph), everything)


def _module(data: bytes) -> torch.fx.GraphModule:
    """The graph that was written."""
    found = GraphPickler.loads(data, FakeTensorMode(shape_env=ShapeEnv()))
    assert isinstance(found, torch.fx.GraphModule)
    return found


class SavedGraph(OutputCode):
    """A compiled graph as a function of a list of its inputs, which PyTorch writes and reads."""

    def __init__(self, run: Callable[..., Any], facts: Sequence[Any]):
        super().__init__()
        # AOTAutograd's wrappers have the attributes of the object.
        self._boxed_call = True
        self._run = run
        self._facts = facts

    def __call__(self, inputs: Sequence[Any]) -> Any:
        """The outputs of the graph."""
        return self._run(*inputs)

    def __reduce__(self) -> tuple[Callable[..., SavedGraph], tuple[Any, ...]]:
        """Written form: values of Python's own types, and who reads them."""
        return _read, (__version__, *self._facts)

    def __copy__(self) -> SavedGraph:
        """The graph itself: it does not change."""
        return self

    def __deepcopy__(self, _: Any) -> SavedGraph:
        """The graph itself: it does not change."""
        return self

    def prepare_for_serialization(self) -> None:
        """Do nothing: the graph can be written as it is."""

    def post_compile(self, *_: Any) -> None:
        """Do nothing: the graph can be called as it is."""

    def set_triton_bundle(self, _: Any) -> None:
        """Do nothing: there are no kernels of Triton."""


def saved_graph(run: Callable[..., Any], graph: bytes, options: Options, role: Role) -> SavedGraph:
    """A compiled graph with what another process needs."""
    outline = astuple(run.outline) if isinstance(run, CompiledGraph) else None
    return SavedGraph(run, (graph, asdict(options), astuple(role), outline))


def _read(
    version: str,
    graph: bytes,
    own: Mapping[str, Any],
    given: Sequence[Any],
    known: Sequence[Any] | None,
) -> SavedGraph:
    """A graph that was written, by a version of this package."""
    if version != __version__:
        raise TileError(
            f"the model was saved by tiledialect {version}, and this is {__version__}: "
            f"compile and save it again"
        )
    options, role = Options(**own), Role(*given)
    if known is None:
        module = _module(graph)
        run = partitioned(module, refusals(module.graph), options, role)
    else:
        run = CompiledGraph(lambda _: _module(graph).graph, role, options, Outline(*known))
    return SavedGraph(run, (graph, own, given, known))
