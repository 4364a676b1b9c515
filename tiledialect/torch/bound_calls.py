"""Calls of a graph with the parameters of the call before: only the other inputs are looked at.

A model may have hundreds of parameters, and looking at each takes microseconds in Python.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, ref

from tiledialect.api.function import Function
from tiledialect.api.spans import Span, overlapping
from tiledialect.torch.residence import Inputs, Resident, argument, bring_back, resident
from tiledialect.torch.tensors import Given, Tensor, dense, described, span


@dataclass(frozen=True)
class Parameter:
    """A resident parameter, or buffer, as it was at a call."""

    place: int
    """Place among the inputs of the graph."""
    reference: ReferenceType[Tensor]
    resident: Resident
    address: int
    version: int | None
    """None where calls change the elements, which lie in the host's memory."""

    def is_same(self, value: Any) -> bool:
        """Whether an input is the parameter, unchanged."""
        return (
            self.reference() is value
            and self.version in (None, value._version)
            and value.data_ptr() == self.address
            and self.resident.is_known
        )

    def has_changed(self, value: Any) -> bool:
        """Whether an input is the parameter, with other elements."""
        return self.reference() is value and self.version not in (None, value._version)


@dataclass(frozen=True)
class Varying:
    """An argument that differs by call."""

    at: int
    """Place among the arguments of the function."""
    place: int
    """Place among the inputs of the graph."""
    name: str


@dataclass(frozen=True)
class Updated:
    """An argument that calls change."""

    at: int
    """Place among the arguments of the function."""
    place: int
    """Place among the inputs of the graph."""
    name: str
    is_counted: bool
    """Whether PyTorch counts the change after the call."""


@dataclass(frozen=True)
class BoundCall:
    """A call of a graph, for later calls with the same parameters."""

    function: Function
    parameters: Sequence[Parameter]
    others: Sequence[tuple[int, Any]]
    """Places of the other inputs, and what calls have in common there."""
    arguments: Sequence[Any]
    """Arguments of the function; None for those that differ by call."""
    varying: Sequence[Varying]
    updated: Sequence[Updated]
    spans: Sequence[Span]
    """Memory of the parameters among the updated ones."""

    def changed(self, values: Sequence[Any]) -> set[int]:
        """Places of the parameters with other elements."""
        return {p.place for p in self.parameters if p.has_changed(values[p.place])}

    def matching(self, values: Sequence[Any]) -> list[Any] | None:
        """The arguments for the inputs of a later call; None if parameters or shapes differ."""
        for parameter in self.parameters:
            if not parameter.is_same(values[parameter.place]):
                return None
        found: dict[int, Any] = {}
        for place, known in self.others:
            given = dense(values[place])
            if described(given) != known:
                return None
            found[place] = given[0]
        if self.updated and not self._are_apart(values):
            return None
        made = list(self.arguments)
        for own in self.varying:
            made[own.at] = argument(self.function.device, own.name, found[own.place])
        return made

    def _are_apart(self, values: Sequence[Any]) -> bool:
        """Whether no tensor that differs by call has memory in common with one that calls change.

        The parameters were apart.
        """
        spans = [
            span(value, place)
            for place, _ in self.others
            if isinstance(value := values[place], Tensor)
        ]
        return overlapping([*spans, *self.spans], {own.place for own in self.updated}) is None

    def bring_back(self, arguments: Sequence[Any], values: Sequence[Any]) -> None:
        """Give the tensors that the call has changed the elements of their copies on a device."""
        if self.function.device.uses_host_memory:
            return
        for own in self.updated:
            array, tensor = arguments[own.at], values[own.place]
            bring_back(array.queue, own.name, tensor, array, is_counted=own.is_counted)


def _parameters(
    function: Function,
    values: Sequence[Any],
    all_dense: Sequence[Given],
    changing: Collection[int],
    updated: Mapping[int, bool],
    forget: Callable[[Any], None],
) -> tuple[list[Parameter], list[tuple[int, Any]]] | None:
    """Resident parameters that stay, and places and descriptions of the other inputs; None if an
    input is a view of a parameter."""
    in_host = function.device.uses_host_memory
    parameters: list[Parameter] = []
    others: list[tuple[int, Any]] = []
    for place, value in enumerate(values):
        own = None if place in changing else resident(value)
        if own is None:
            others.append((place, described(all_dense[place])))
        elif own.parameter is None or own.parameter() is not value:
            return None
        else:
            is_kept = in_host and id(all_dense[place][0]) in updated
            version = None if is_kept else value._version
            made = Parameter(place, ref(value, forget), own, value.data_ptr(), version)
            parameters.append(made)
    return parameters, others


def bound_call(
    function: Function,
    given: Inputs,
    values: Sequence[Any],
    all_dense: Sequence[Given],
    changing: Collection[int],
    updated: Mapping[int, bool],
    forget: Callable[[Any], None],
) -> BoundCall | None:
    """The call of a function with tensors, and arrays among them, for the inputs of its graph.

    Parameters at the places ``changing`` are looked at at each call; those whose identities are in
    ``updated`` the function itself changes. The arguments keep the memory of the others: ``forget``
    is called when one of these is gone. None if no input is a resident parameter that stays, or
    another one shares the memory of any.
    """
    places = {id(d): k for k, (d, _) in enumerate(all_dense) if isinstance(d, Tensor)}
    if len(places) < sum(isinstance(v, Tensor) for v in values):
        return None
    found = _parameters(function, values, all_dense, changing, updated, forget)
    parameters, others = found or ((), ())
    if not parameters:
        return None
    fixed = {p.place for p in parameters}
    varying = [
        Varying(at, places[id(value)], name)
        for at, (name, value) in enumerate(given)
        if places.get(id(value), -1) not in {*fixed, -1}
    ]
    differing = {own.at for own in varying}
    arguments = [
        None if at in differing else argument(function.device, *pair)
        for at, pair in enumerate(given)
    ]
    changed = [
        Updated(at, places[id(value)], name, updated[id(value)])
        for at, (name, value) in enumerate(given)
        if id(value) in updated
    ]
    spans = [span(values[own.place], own.place) for own in changed if own.place in fixed]
    return BoundCall(function, parameters, others, arguments, varying, changed, spans)
