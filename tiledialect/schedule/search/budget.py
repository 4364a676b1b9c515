"""Budget of a compilation in seconds, after which schedules are no longer searched for."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.search.candidate import Candidate

MOST_NAMES = 8
"""Most kernels that a warning names."""


@dataclass(eq=False)
class _Budget:
    """Seconds of a compilation from a time on, and what was settled without a search after them."""

    seconds: float
    began: float
    settled: dict[Facts, Candidate | None] = field(default_factory=dict[Facts, Candidate | None])


_current: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def limited(seconds: float | None) -> Generator[None]:
    """Search for schedules no longer than these seconds; None: as long as it takes."""
    token = _current.set(None if seconds is None else _Budget(seconds, time.monotonic()))
    try:
        yield
    finally:
        _current.reset(token)


def is_spent() -> bool:
    """Whether the seconds of the running compilation are over."""
    own = _current.get()
    return own is not None and time.monotonic() - own.began >= own.seconds


def settled(facts: Facts, choose: Callable[[], Candidate | None]) -> Candidate | None:
    """The choice for a kernel without a search, made once in a compilation with a budget."""
    own = _current.get()
    assert own is not None
    if facts not in own.settled:
        own.settled[facts] = choose()
    return own.settled[facts]


def warnings(kernels: Iterable[tuple[str, Facts]]) -> list[str]:
    """A warning that names the kernels whose schedules were not searched for, if there are any."""
    own = _current.get()
    names = [name for name, facts in kernels if facts in own.settled] if own is not None else []
    if own is None or not names:
        return []
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return [
        f"the compile budget of {own.seconds:g} s was spent before schedules were searched for: "
        f"{', '.join(names[:MOST_NAMES])}{more}; the first schedule that fits is taken"
    ]
