"""Bound calls that a graph keeps.

Models of one architecture share a graph, and are called by turns, as is a model with inputs of some
shapes.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ReferenceType

from tiledialect.torch.bound_calls import BoundCall
from tiledialect.torch.residence.residence import Counts
from tiledialect.torch.tensors import Tensor

MOST = 8
"""Bound calls that a graph keeps. Each has what was computed of its parameters, and takes some
microseconds of a call for others."""


class LastCalls:
    """Bound calls, the newest first. That one alone has memory for later results.

    Between any two steps another thread may use them, or a parameter may go: each step is one
    change of the list.
    """

    def __init__(self) -> None:
        self._calls: list[BoundCall] = []

    def outputs(
        self, values: Sequence[Any], counts: Counts
    ) -> tuple[list[Any], Sequence[int]] | None:
        """Outputs by the first call that takes these inputs, and the places of the inputs that the
        last of them are copied to."""
        for own in [*self._calls]:
            outputs = own(values, counts)
            if outputs is not None:
                self._put_first(own)
                return outputs, own.facts.copied
        return None

    def put(self, new: BoundCall, values: Sequence[Any]) -> None:
        """Keep a call for inputs, in the place of those for the same or for memory that is gone."""
        for own in [*self._calls]:
            is_for_these = not own.is_busy and own.facts.inputs.matching(values) is not None
            if is_for_these or not own.facts.inputs.parameters.have_memory:
                self._drop(own)
        self._put_first(new)

    def forget(self, parameter: ReferenceType[Tensor]) -> None:
        """Drop the calls for a parameter that is gone, with what was computed of it."""
        for own in [*self._calls]:
            if any(known is parameter for known in own.facts.inputs.parameters.references):
                self._drop(own)

    def clear(self) -> None:
        """Drop all calls."""
        for own in [*self._calls]:
            self._drop(own)

    def _put_first(self, own: BoundCall) -> None:
        before = self._calls[:1]
        if before == [own]:
            return
        self._remove(own)
        self._calls.insert(0, own)
        del self._calls[MOST:]
        for other in before:
            other.rest()

    def _drop(self, own: BoundCall) -> None:
        self._remove(own)
        own.rest()

    def _remove(self, own: BoundCall) -> None:
        # Another thread may have, and at the end of a process a context manager may be gone.
        try:  # noqa: SIM105
            self._calls.remove(own)
        except ValueError:
            pass
