"""Backend of ``torch.compile``, which PyTorch finds by its entry point.

AOTAutograd gives a graph of ATen operators for forward and one for backward; `partition` splits
each into parts that are converted and operators that are left to PyTorch, `graphs` runs the parts.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch._functorch.config
from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd

from tiledialect.api.error_boundary import for_user
from tiledialect.errors import TileError, TileWarning
from tiledialect.lowering.runtime.program import cache
from tiledialect.lowering.runtime.program.garbage import no_collection
from tiledialect.torch.decompositions.table import decompositions
from tiledialect.torch.graphs import CompiledGraph
from tiledialect.torch.kept_graphs import Outline
from tiledialect.torch.options import NO_OPTIONS, Options
from tiledialect.torch.partition import is_check, partitioned, refusals
from tiledialect.torch.roles import BACKWARD, FORWARD, INFERENCE, Role
from tiledialect.torch.traced_graphs import is_plain, output_count, traced_key

BATCH_NORM_BACKWARD = torch.ops.aten.native_batch_norm_backward.default
RUNNING, IS_TRAINING = (3, 4), 7
"""Places of its operands: the running statistics, and whether a batch has its own."""


def tiledialect(
    module: torch.fx.GraphModule,
    inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] = NO_OPTIONS,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compile a graph of ``torch.compile``.

    A wrong option is an error at the call, as PyTorch wraps those of backends in its own.
    """
    try:
        if mode is not None:
            raise TileError(f"there is no mode {mode!r}; give `options`")
        own = Options.of(options)
    except TileError as error:
        return _raising(error)
    with no_collection():
        if is_saving():
            return _by_autograd(module, inputs, own, None)
        name = traced_key(module, inputs)
        outline = cache.find(Outline, name)
        if outline is None:
            return _by_autograd(module, inputs, own, name)
        graph = partial(_plain_graph, module)
        return _without_gradients(CompiledGraph(graph, Role(INFERENCE), own, outline))


def _by_autograd(
    module: torch.fx.GraphModule, inputs: Sequence[Any], options: Options, name: str | None
) -> Callable[..., Any]:
    """A graph of Dynamo's by AOTAutograd, for which there may be an entry with a name."""
    count = None if name is None else output_count(module.graph)

    def keep(run: Callable[..., Any]) -> None:
        is_graph = count is not None and isinstance(run, CompiledGraph)
        if is_graph and is_plain(run.outline, inputs, count):
            cache.keep(name, run.outline)

    compiled = partial(_compiled, options=options)
    return _autograd(
        fw_compiler=partial(compiled, name=FORWARD),
        bw_compiler=partial(compiled, name=BACKWARD),
        inference_compiler=partial(compiled, name=INFERENCE, keep=keep),
    )(module, inputs)


def _autograd(**compilers: Callable[..., Any]) -> Callable[..., Any]:
    """AOTAutograd with compilers of its graphs."""
    return aot_autograd(
        **compilers,
        decompositions=decompositions(),
        partition_fn=_parts,
        keep_inference_input_mutations=True,
    )


def _plain_graph(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.fx.Graph:
    """The graph of ATen operators for a plain one of Dynamo's, made after its compilation."""
    found: list[torch.fx.Graph] = []

    def record(made: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        found.append(made.graph)
        return make_boxed_func(made)

    _autograd(fw_compiler=record)(module, inputs)
    return found[0]


def _without_gradients(run: Callable[..., Any]) -> Callable[..., Any]:
    """A graph of inference as a function of its inputs, among which some may want gradients."""
    return torch.no_grad()(run) if torch.is_grad_enabled() else run


def _parts(joint: torch.fx.GraphModule, *given: Any, **options: Any) -> Any:
    """Forward and backward graph of a graph of both.

    Gradients of normalizations by a batch's own statistics take the running ones and read none of
    them: forward has no copies of them for backward. It has none of views, which are read from the
    viewed tensors.
    """
    for node in joint.graph.find_nodes(op="call_function", target=BATCH_NORM_BACKWARD):
        if node.args[IS_TRAINING]:
            node.args = tuple(None if k in RUNNING else v for k, v in enumerate(node.args))
    with torch._functorch.config.patch(recompute_views=True):
        return min_cut_rematerialization_partition(joint, *given, **options)


def _compiled(
    module: torch.fx.GraphModule,
    inputs: Sequence[Any],
    *,
    options: Options,
    name: str,
    keep: Callable[[Callable[..., Any]], None] | None = None,
) -> Callable[..., Any]:
    """A graph of ATen operators as a function of a list of its inputs, which may be kept."""
    try:
        refused = refusals(module.graph)
        by_name = {str(n.target): e for n, e in refused.items() if not is_check(n)}
        if options.strict and by_name:
            raise next(iter(by_name.values()))
        role = Role.of(name)
        compiled = _savable if is_saving() else partitioned
        run = compiled(module, refused, options, role)
    except TileError as error:
        return make_boxed_func(_raising(error))
    _warn(by_name)
    if keep is not None:
        keep(run)
    return run if is_saving() else make_boxed_func(run)


def is_saving() -> bool:
    """Whether PyTorch compiles a function now that it will write to a file."""
    return getattr(torch._functorch.config, "bypass_autograd_cache_key", False)


def _savable(
    module: torch.fx.GraphModule, refused: Mapping[Any, TileError], options: Options, role: Role
) -> Callable[..., Any]:
    """A graph that PyTorch can write."""
    # Older versions of PyTorch have not what it needs.
    from tiledialect.torch.saved_graphs import graph_bytes, saved_graph

    graph = graph_bytes(module, options)
    return saved_graph(partitioned(module, refused, options, role), graph, options, role)


_warned: set[str] = set()
"""Operators that a warning has named."""


def _warn(refused: Mapping[str, TileError]) -> None:
    """Name each operator that is left to PyTorch once."""
    for name, error in refused.items():
        if name not in _warned:
            _warned.add(name)
            warnings.warn(f"left to PyTorch: {error}", TileWarning, stacklevel=2)


def _raising(error: TileError) -> Callable[..., Any]:
    """A function that raises an error; where functions are saved, it is raised now."""
    if is_saving():
        raise for_user(error)

    def call(*_: Any) -> Any:
        raise for_user(error)

    return call
