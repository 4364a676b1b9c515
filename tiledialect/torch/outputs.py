"""Outputs of a graph: results of its function, views of its inputs, and what is no tensor."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from tiledialect.passes.convert.aten.graph import Result, View, is_update
from tiledialect.torch.residence.device_tensors import DeviceTensor
from tiledialect.torch.tensors import Tensor, permuted

Order = Sequence[int] | None


class Outputs:
    """Outputs of a graph, by the results and the inputs of a call."""

    def __init__(self, outputs: Sequence[Any], inputs: Sequence[str]):
        self._inputs = inputs
        results = [own for own in outputs if isinstance(own, Result)]
        self.orders: dict[int, Order] = {own.place: own.order for own in reversed(results)}
        """Orders of axes in memory that results have in their first outputs, by place."""
        self._picks: list[int] = []
        """For each output its place among results and inputs, or 0."""
        self._others: list[tuple[int, Any]] = []
        """Outputs that are none of these, with their places."""
        for k, own in enumerate(outputs):
            place = self._place(own)
            self._picks.append(place or 0)
            if place is None:
                self._others.append((k, own))

    def _place(self, output: Any) -> int | None:
        """Place of an output among the results, from the end among the inputs."""
        if isinstance(output, Result):
            return output.place if output.order == self.orders[output.place] else None
        node = output.node if isinstance(output, View) else None
        while isinstance(node, torch.fx.Node) and is_update(node):
            node = node.args[0]
        if isinstance(node, torch.fx.Node) and node.op == "placeholder":
            return self._inputs.index(node.name) - len(self._inputs)
        return None

    def of(self, results: Sequence[Tensor], values: Sequence[Any]) -> list[Any]:
        """The outputs of a call; results have the axes of their first outputs."""
        given = [*results, *values] or [None]
        found = [given[place] for place in self._picks]
        if self._others:
            known = dict(zip(self._inputs, values, strict=True))
            for k, own in self._others:
                found[k] = self._other(own, results, known)
        return found

    def _other(self, output: Any, results: Sequence[Tensor], known: Mapping[str, Any]) -> Any:
        if isinstance(output, Result):
            result, before = results[output.place], self.orders[output.place]
            if isinstance(result, DeviceTensor):
                return DeviceTensor(result.array, output.order)
            return permuted(result if before is None else result.permute(*before), output.order)
        return _viewed(output.node, known) if isinstance(output, View) else output


def _viewed(value: Any, known: Mapping[str, Any]) -> Any:
    """A view of an input by PyTorch; a node that changes an input gives it."""
    if isinstance(value, list | tuple):
        return [_viewed(v, known) for v in value]
    if not isinstance(value, torch.fx.Node):
        return value
    if value.op == "placeholder":
        return known[value.name]
    if is_update(value):
        return _viewed(value.args[0], known)
    return value.target(*(_viewed(v, known) for v in value.args), **value.kwargs)


def ordered(result: Tensor, order: Order) -> Tensor:
    """A result whose axes are in an order, with the axes of the output."""
    if isinstance(result, DeviceTensor):
        return result if order is None else DeviceTensor(result.array, tuple(order))
    return permuted(result, order)
