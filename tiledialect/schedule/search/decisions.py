"""Spaces of decisions: a function that makes a value by choosing, enumerated, drawn and mutated.

A space asks a `Chooser` for every decision by a name, among options that may depend on the earlier
ones. So conditions are a part of the space: no value that violates them is made and rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, log
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")

Option = int | str
"""A number, as of steps, or a word."""
Decisions = Mapping[str, Option]
"""Options by the names of decisions, in the order in which they were made."""


class DeadEndError(Exception):
    """Decisions after which no option is left."""


class Chooser(Protocol):
    """Source of decisions."""

    def choose(self, name: str, options: Sequence[Option], domain: Sequence[str] = ()) -> Option:
        """Choose an option.

        Numbers are in rising order. The words among which a name ever has options are its
        ``domain``, if these are not always the same. Raises a ``DeadEndError`` if there are none.
        """
        ...


Space = Callable[[Chooser], T]
"""Function that makes a value by decisions. The same decisions make an equal value."""


def nearest(wanted: Option | None, options: Sequence[Option], domain: Sequence[str] = ()) -> Option:
    """The option that is wanted, else the number nearest to it by ratio, or the next word of the
    domain; the first one where nothing is near."""
    if wanted is not None and wanted in options:
        return wanted
    if isinstance(wanted, str) and wanted in domain:
        first = domain.index(wanted)
        return next(w for w in (*domain[first:], *domain[:first]) if w in options)

    def distance(option: Option) -> float:
        if not isinstance(option, int) or not isinstance(wanted, int):
            return inf
        return abs(log((abs(option) + 1) / (abs(wanted) + 1)))

    return min(options, key=distance)


class Drawn:
    """Chooser at random; decisions that are given are kept as far as there are such options."""

    def __init__(
        self, random: Random, given: Decisions | None = None, changed: Decisions | None = None
    ):
        self.made: dict[str, Option] = {}
        """Decisions so far."""
        self._random = random
        self._given = given or {}
        self._changed = changed or {}
        """Decisions to be made otherwise."""

    def choose(self, name: str, options: Sequence[Option], domain: Sequence[str] = ()) -> Option:
        """A given option, or any."""
        if not options:
            raise DeadEndError(name)
        if name in self._changed:
            others = [option for option in options if option != self._changed[name]]
            self.made[name] = self._random.choice(others or options)
        elif name in self._given:
            self.made[name] = nearest(self._given[name], options, domain)
        else:
            self.made[name] = self._random.choice(options)
        return self.made[name]


class Fixed:
    """Chooser of given decisions; the first option where there is none."""

    def __init__(self, given: Decisions):
        self.made: dict[str, Option] = {}
        """Decisions so far."""
        self._given = given

    def choose(self, name: str, options: Sequence[Option], domain: Sequence[str] = ()) -> Option:
        """A given option, or the nearest."""
        if not options:
            raise DeadEndError(name)
        self.made[name] = nearest(self._given.get(name), options, domain)
        return self.made[name]


class _Walk:
    """Chooser by positions of options, and the first one past these."""

    def __init__(self, positions: Sequence[int]):
        self.made: dict[str, Option] = {}
        self.positions = list(positions)
        self.counts: list[int] = []

    def choose(self, name: str, options: Sequence[Option], domain: Sequence[str] = ()) -> Option:
        """The option at the next position."""
        del domain
        if not options:
            raise DeadEndError(name)
        depth = len(self.counts)
        if depth == len(self.positions):
            self.positions.append(0)
        self.made[name] = options[self.positions[depth]]
        # Options may be found as they are asked for.
        self.counts.append(len(options))
        return self.made[name]


def enumerated(space: Space[T], tries: float = inf) -> Iterator[tuple[Decisions, T]]:
    """All values of a space with their decisions, in the order of the options; with ``tries``, the
    first of them, where dead ends count, too."""
    positions: list[int] | None = []
    while positions is not None and tries > 0:
        tries -= 1
        walk = _Walk(positions)
        try:
            value = space(walk)
            yield walk.made, value
        except DeadEndError:
            pass
        positions = walk.positions[: len(walk.counts)]
        while positions and positions[-1] + 1 == walk.counts[len(positions) - 1]:
            positions.pop()
        if positions:
            positions[-1] += 1
        else:
            positions = None


def drawn(space: Space[T], random: Random, tries: int = 100) -> tuple[Decisions, T]:
    """A value of a space at random with its decisions.

    Raises a ``DeadEndError`` after some tries.
    """
    return _made(space, lambda: Drawn(random), tries)


def mutated(
    space: Space[T], decisions: Decisions, random: Random, tries: int = 100
) -> tuple[Decisions, T]:
    """A value whose decisions differ in one, and in what depends on it.

    Raises a ``DeadEndError`` after some tries.
    """
    names = [*decisions]

    def chooser() -> Drawn:
        name = random.choice(names)
        return Drawn(random, decisions, {name: decisions[name]})

    return _made(space, chooser, tries)


def made(space: Space[T], decisions: Decisions) -> tuple[Decisions, T]:
    """The value that decisions make, or the one nearest to it."""
    chooser = Fixed(decisions)
    return chooser.made, space(chooser)


def _made(space: Space[T], chooser: Callable[[], Drawn], tries: int) -> tuple[Decisions, T]:
    end = DeadEndError("tries")
    for _ in range(tries):
        choices = chooser()
        try:
            return choices.made, space(choices)
        except DeadEndError as error:
            end = error
    raise end
