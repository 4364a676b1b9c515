"""Graphs of ATen operators as functions of PyTorch's tensors, compiled for the shapes of a call."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from xdsl.dialects.builtin import ModuleOp

from tiledialect.api.error_boundary import front_door, sourced
from tiledialect.api.function import Function
from tiledialect.api.inputs import READY_SHAPES
from tiledialect.api.kept_function import KeptFunction, checked
from tiledialect.api.options import Choices
from tiledialect.caches import compilation
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.program import cache
from tiledialect.lowering.runtime.program.garbage import no_collection
from tiledialect.lru_cache import LruCache
from tiledialect.passes.convert.aten.graph import (
    SEED,
    Dense,
    Result,
    View,
    convert_graph,
)
from tiledialect.torch.bound_calls import Facts, bound_call
from tiledialect.torch.bound_inputs import inputs_of
from tiledialect.torch.kept_graphs import KeptGraph, Outline, ViewOf, given_text, key
from tiledialect.torch.last_calls import LastCalls
from tiledialect.torch.options import Options
from tiledialect.torch.outputs import Outputs, ordered
from tiledialect.torch.parts import Call, Parts
from tiledialect.torch.profiling import recorders
from tiledialect.torch.residence.device_tensors import DeviceTensor
from tiledialect.torch.residence.residence import (
    Argument,
    Counts,
    forget_copies,
    host_results,
    on_host,
    results,
)
from tiledialect.torch.roles import Role
from tiledialect.torch.tensors import (
    Given,
    Tensor,
    can_change,
    dense,
    described,
    tensor_type,
    with_memory,
)


@dataclass(frozen=True)
class Specialized:
    """A graph for tensors of given shapes, and given numbers."""

    function: Function | None
    """Function of the tensors; None if no output is computed."""
    inputs: tuple[tuple[str, int], ...]
    """Name and place among the graph's inputs of each input; the place of the seed is -1."""
    results: Sequence[Any]
    """For each output its ``Result``, its ``View``, or what it is."""
    outputs: Outputs
    parts: Parts | None = None
    """The function by its parts, for inference."""
    copied: tuple[int, ...] = ()
    """Places among the graph's inputs of those that the last outputs are copied to."""


Computed = tuple[list[Any], Sequence[int]]
"""Outputs of a graph, and the places of the inputs that the last of them are copied to."""


class CompiledGraph(torch.nn.Module):
    """A graph whose operators all have a conversion.

    The first call with new shapes compiles, and so does one with other numbers in the place of
    sizes; the latest are kept.
    """

    def __init__(
        self,
        graph: torch.fx.Graph | Callable[[Sequence[Any]], torch.fx.Graph],
        role: Role,
        options: Options,
        outline: Outline | None = None,
    ):
        """A function gives the graph of an outline for inputs, if what is kept does not suffice."""
        super().__init__()
        self._graph = graph
        self.outline = Outline.of(graph) if outline is None else outline
        self._role = role
        self._options = options
        self._inputs = self.outline.inputs
        self._updated = self.outline.updated
        self._ready: LruCache[tuple[Any, ...], Specialized] = LruCache(READY_SHAPES)
        self._bound = LastCalls()
        """The last calls."""

    @front_door
    def forward(self, *values: Any) -> Any:
        """The outputs for tensors, and for numbers in the place of sizes."""
        counts = Counts(values, self._role.counted)
        outputs, copied = self._again(values, counts) or self._results(values, counts)
        count = len(outputs) - len(copied)
        for place, new in zip(copied, outputs[count:], strict=True):
            on_host(values[place]).copy_(new)
        outputs = outputs[:count]
        return outputs[0] if self.outline.is_single else tuple(outputs)

    def _again(self, values: Sequence[Any], counts: Counts) -> Computed | None:
        """Outputs with the parameters of an earlier call; None with others."""
        return None if recorders else self._bound.outputs(values, counts)

    def _results(self, values: Sequence[Any], counts: Counts) -> Computed:
        counts.tell()
        values = [*map(with_memory, values)]
        given = [_dense(v) for v in values]
        in_place = not self._options.tune and can_change(given, self._updated)
        key = (in_place, *map(described, given))
        ready = self._ready.find(key)
        if ready is None:
            # The schedules by which layouts are chosen are those of the parts, too.
            with no_collection(), compilation():
                self._ready.put(key, self._made(given, in_place, partial(self._nodes, values)))
                return self._results(values, counts)
        if ready.function is None:
            return ready.outputs.of((), values), ready.copied
        call = Call(ready.function, self._arguments(ready, given))
        if ready.parts is not None:
            call = ready.parts.of(call.arguments)
        changes = () if ready.copied else self._updated
        if not recorders and (outputs := self._bind(ready, call, values, counts)) is not None:
            return outputs, ready.copied
        arguments = [
            replace(own, value=own.source()) if callable(own.source) else own
            for own in call.arguments
        ]
        if recorders:
            found = host_results(partial(recorders[-1].run, call.function), arguments)
            self._bound.clear()
            for place in changes:
                forget_copies(values[place])
        else:
            updated = {id(given[place][0]) for place in changes}
            function, saved = call.function, self._saved_results(ready)
            found = results(function.call_apart, function.device, arguments, saved, updated)
        made = [ordered(own, ready.outputs.orders.get(k)) for k, own in enumerate(found)]
        return ready.outputs.of(made, values), ready.copied

    def _arguments(self, ready: Specialized, given: Sequence[Given]) -> list[Argument]:
        return [
            Argument(name, NO_SEED, _seed) if place < 0 else Argument(name, given[place][0], place)
            for name, place in ready.inputs
        ]

    def _bind(
        self, ready: Specialized, call: Call, values: Sequence[Any], counts: Counts
    ) -> list[Any] | None:
        """The outputs by a call that is kept for others; None if there is none."""
        if self._options.tune:
            return None
        device = call.function.device
        computed = {own.source for own in call.computed if isinstance(own.source, int)}
        inputs = inputs_of(device, values, computed, self._bound.forget)
        if inputs is None:
            return None
        facts = Facts(
            call.function,
            inputs,
            ready.outputs,
            () if ready.copied else self._updated,
            self._role.counted,
            self._saved_results(ready),
            ready.copied,
            call.packed,
        )
        bound = bound_call(facts, call.arguments)
        outputs = bound(values, counts)
        if outputs is not None:
            self._bound.put(bound, values)
        return outputs

    def _saved_results(self, ready: Specialized) -> set[int]:
        """Numbers of the results that only a backward pass takes."""
        saved = self._role.saved
        if saved is None:
            return set()
        places = [o.place if isinstance(o, Result) else -1 for o in ready.results]
        return {*places[saved:]} - {-1, *places[:saved]}

    def _nodes(self, values: Sequence[Any]) -> torch.fx.Graph:
        """The graph, of which there was an outline alone until now."""
        if not isinstance(self._graph, torch.fx.Graph):
            self._graph = self._graph(values)
        return self._graph

    def _made(
        self, inputs: Sequence[Given], in_place: bool, graph: Callable[[], torch.fx.Graph]
    ) -> Specialized:
        given = {name: _given(*own) for name, own in zip(self._inputs, inputs, strict=True)}
        options = self._options
        fixed = self._role.name, str(in_place), str(options.precision)
        name = key("graph", self.outline.text, *fixed, *map(given_text, given.values()))
        found, module = cache.find(KeptGraph, name), None
        if found is None:
            found, module = self._converted(graph(), given, in_place)
            cache.keep(name, found)
        has_views = any(isinstance(o, ViewOf) for o in found.outputs)
        nodes = {node.name: node for node in graph().nodes} if has_views else {}
        outputs = [View(nodes[o.name]) if isinstance(o, ViewOf) else o for o in found.outputs]
        places = {name: k for k, name in enumerate(self._inputs)} | {SEED: -1}
        own = tuple((name, places[name]) for name in found.inputs)
        made = Outputs(outputs, self._inputs)
        copied = () if in_place else self._updated
        if found.function is None:
            return Specialized(None, (), outputs, made, copied=copied)
        source, choices = found.function.source(module), Choices(tune=options.tune)
        function = Function(source, found.function.name, options.device, choices=choices)
        changing = [self._inputs[place] for place in self._updated]
        is_divided = self._role.is_inference and not options.tune
        parts = Parts(function, changing) if is_divided else None
        return Specialized(function, own, outputs, made, parts, copied)

    def _converted(
        self, graph: torch.fx.Graph, given: Mapping[str, Any], in_place: bool
    ) -> tuple[KeptGraph, ModuleOp | None]:
        """The graph as a function of some inputs, and its module, if something is computed."""
        with sourced():
            made = convert_graph(graph, given, self._role.name, in_place=in_place)
        outputs = [ViewOf(o.node.name) if isinstance(o, View) else o for o in made.outputs]
        is_changing = in_place and self._updated
        if not any(isinstance(o, Result) for o in outputs) and not is_changing:
            return KeptGraph(None, (), tuple(outputs)), None
        module = checked(made.module, self._options.precision)
        return KeptGraph(KeptFunction.of(module), made.inputs, tuple(outputs)), module


def _given(value: Any, order: tuple[int, ...] | None) -> Any:
    """An input for a conversion; a tensor of another element type can only be given back."""
    if not isinstance(value, Tensor):
        return value
    try:
        return Dense(tensor_type(value), order)
    except TileError:
        return value


def _dense(value: Any) -> Given:
    """A tensor with its axes in the order of its memory, or of its array, if they have one."""
    if isinstance(value, DeviceTensor):
        return (value.whole, value.order) if value.is_on_device else dense(value.elements)
    return dense(value)


NO_SEED = np.zeros(4, np.uint32)
"""State of the generator before a call."""


def _seed() -> np.ndarray[Any, Any]:
    """State of the generator for one call, drawn from PyTorch's own: ``manual_seed`` sets it."""
    words = torch.randint(2**32, (2,), dtype=torch.int64)
    return np.array([*words.tolist(), 0, 0], np.uint32)
