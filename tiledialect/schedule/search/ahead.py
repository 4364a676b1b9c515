"""Search ahead: schedules of several kernels are searched for at the same time, in other processes.

A pass chooses one schedule after the other, and each search takes long. So it names the kernels
before, and finds what others have searched for. The result is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.size_transfer import current

LEAST = 6
"""Fewest kernels for which others are asked: they begin as late as a few searches take."""

Search = Callable[[Sequence[Facts], Device], Mapping[Facts, Candidate | None]]
"""Function that searches for the best candidates of kernels; it may leave some out."""


@dataclass(eq=False)
class _Ahead:
    """A way to search for several schedules at once, and what was found in a compilation."""

    search: Search
    found: dict[tuple[Facts, Device], Candidate | None] = field(
        default_factory=dict[tuple[Facts, Device], Candidate | None]
    )


_current: ContextVar[_Ahead | None] = ContextVar("search_ahead", default=None)


@contextmanager
def searching(search: Search) -> Generator[None]:
    """Let ``search`` find the schedules of kernels that passes name before they choose."""
    token = _current.set(_Ahead(search))
    try:
        yield
    finally:
        _current.reset(token)


def search_ahead(wanted: Iterable[Facts], device: Device) -> None:
    """Search for the schedules of kernels at once, if there is a way to.

    Only GPUs have so many candidates. Where the program was compiled for other sizes, its schedules
    are tried first, and few need a search.
    """
    own, known = _current.get(), current()
    if own is None or device.traits.has_vectors or (known is not None and known.searched):
        return
    new = [facts for facts in dict.fromkeys(wanted) if (facts, device) not in own.found]
    if len(new) >= LEAST:
        own.found.update(((k, device), found) for k, found in own.search(new, device).items())


def found_ahead() -> Mapping[tuple[Facts, Device], Candidate | None]:
    """The best candidates that were found ahead, or that there is none."""
    own = _current.get()
    return {} if own is None else own.found
