"""Calls of a graph with the parameters of the call before: only the other inputs are looked at.

A model may have hundreds of parameters, and looking at each takes microseconds in Python.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from weakref import ReferenceType, ref

import numpy as np

from tiledialect.api.function import Function
from tiledialect.api.spans import Span, overlapping
from tiledialect.torch.residence import (
    Change,
    Inputs,
    Resident,
    argument,
    bring_back,
    resident,
    staying,
    tensors_of,
)
from tiledialect.torch.tensors import Given, Tensor, dense, described, span

VERSION, IS_KNOWN = attrgetter("_version"), attrgetter("is_known")


@dataclass(frozen=True)
class Parameters:
    """Resident parameters, and buffers, as they were at a call; those first whose changes are
    looked for.

    They are compared in columns, without a step of Python for each.
    """

    places: Sequence[int]
    """Places among the inputs of the graph."""
    references: Sequence[ReferenceType[Tensor]]
    """Tell when one is gone, whose identity another one may get then."""
    residents: Sequence[Resident]
    identities: Sequence[int]
    addresses: Sequence[int]
    versions: Sequence[int]
    """Of the first ones: others lie in the host's memory, and calls change their elements."""

    def are_same(self, values: Sequence[Any]) -> bool:
        """Whether inputs are the parameters, unchanged."""
        given = [values[place] for place in self.places]
        return (
            [*map(id, given)] == self.identities
            and [*map(VERSION, given[: len(self.versions)])] == self.versions
            and [*map(Tensor.data_ptr, given)] == self.addresses
            and all(map(IS_KNOWN, self.residents))
        )

    def changed(self, values: Sequence[Any]) -> set[int]:
        """Places of the inputs that are the parameters, with other elements."""
        columns = zip(self.places, self.identities, self.versions, strict=False)
        return {
            place
            for place, identity, version in columns
            if id(values[place]) == identity and values[place]._version != version
        }


@dataclass(frozen=True)
class Argument:
    """An input of the graph that is an argument of the function."""

    at: int
    """Place among the arguments of the function."""
    place: int
    """Place among the inputs of the graph."""
    name: str


@dataclass(frozen=True)
class BoundCall:
    """A call of a graph, for later calls with the same parameters."""

    function: Function
    parameters: Parameters
    others: Sequence[tuple[int, Any]]
    """Places of the other inputs, and what calls have in common there."""
    arguments: Sequence[Any]
    """Arguments of the function; None for those that differ by call."""
    moving: Collection[int]
    """Places of the arguments that differ by call, and are on a device with memory of its own."""
    run: Callable[[Sequence[Any]], Any]
    """Gives the outputs for arguments."""
    varying: Sequence[Argument]
    """Arguments that differ by call."""
    updated: Sequence[Argument]
    """Arguments that calls change."""
    spans: Sequence[Span]
    """Memory of the parameters among the updated ones."""

    def changed(self, values: Sequence[Any]) -> set[int]:
        """Places of the parameters with other elements."""
        return self.parameters.changed(values)

    def matching(self, values: Sequence[Any]) -> list[Any] | None:
        """The arguments for the inputs of a later call; None if parameters or shapes differ."""
        if not self.parameters.are_same(values):
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
            made[own.at] = given = argument(self.function.device, own.name, found[own.place])
            if isinstance(given, np.ndarray) == (own.at in self.moving):
                return None
        return made

    def results(self, arguments: Sequence[Any], values: Sequence[Any]) -> list[Tensor]:
        """The results for arguments; tensors that the call changes among the values have their new
        elements then."""
        found = self.run(arguments)
        self._bring_back(arguments, values)
        return tensors_of(found)

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

    def _bring_back(self, arguments: Sequence[Any], values: Sequence[Any]) -> None:
        """Give the tensors that the call has changed the elements of their copies on a device."""
        changes = [
            Change(own.name, values[own.place], array)
            for own in self.updated
            if not isinstance(array := arguments[own.at], np.ndarray)
        ]
        if changes:
            bring_back(changes[0].array.queue, changes)


def _parameters(
    function: Function,
    values: Sequence[Any],
    all_dense: Sequence[Given],
    changing: Collection[int],
    updated: Collection[int],
    forget: Callable[[Any], None],
) -> tuple[Parameters, list[tuple[int, Any]]] | None:
    """Resident parameters that stay, and places and descriptions of the other inputs; None if an
    input is a view of a parameter."""
    in_host = function.device.uses_host_memory
    found: dict[bool, dict[int, Resident]] = {False: {}, True: {}}
    others: list[tuple[int, Any]] = []
    for place, value in enumerate(values):
        own = None if place in changing else resident(value)
        if own is None:
            others.append((place, described(all_dense[place])))
        elif own.parameter() is not value or own.others:
            return None
        else:
            found[in_host and id(all_dense[place][0]) in updated][place] = own
    counted, places = found[False], [*found[False], *found[True]]
    given = [values[place] for place in places]
    parameters = Parameters(
        places=places,
        references=[ref(value, forget) for value in given],
        residents=[*counted.values(), *found[True].values()],
        identities=[*map(id, given)],
        addresses=[value.data_ptr() for value in given],
        versions=[value._version for value in given[: len(counted)]],
    )
    return parameters, others


def bound_call(
    function: Function,
    given: Inputs,
    values: Sequence[Any],
    all_dense: Sequence[Given],
    changing: Collection[int],
    updated: Collection[int],
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
    parameters, others = _parameters(function, values, all_dense, changing, updated, forget) or (
        None,
        (),
    )
    if parameters is None or not parameters.places:
        return None
    fixed = {*parameters.places}
    varying = [
        Argument(at, places[id(value)], name)
        for at, (name, value) in enumerate(given)
        if places.get(id(value), -1) not in {*fixed, -1}
    ]
    differing = {own.at for own in varying}
    arguments = [
        (argument if at in differing else staying)(function.device, *pair)
        for at, pair in enumerate(given)
    ]
    changed = [
        Argument(at, places[id(value)], name)
        for at, (name, value) in enumerate(given)
        if id(value) in updated
    ]
    spans = [span(values[own.place], own.place) for own in changed if own.place in fixed]
    moving = {at for at in differing if not isinstance(arguments[at], np.ndarray)}
    run = _run(function, arguments, moving)
    kept = [None if at in differing else own for at, own in enumerate(arguments)]
    return BoundCall(function, parameters, others, kept, moving, run, varying, changed, spans)


def _run(
    function: Function, arguments: Sequence[Any], moving: Collection[int]
) -> Callable[[Sequence[Any]], Any]:
    """Function that gives the outputs for arguments of which those beside the moving ones stay, or
    are in the host's memory."""
    if function.device.uses_host_memory:
        return lambda found: function.call_apart(*found)
    return function.with_staying(arguments, moving)
