"""Fit of the cost model's rates to recorded timings.

Numbers are multiplied by factors, one after the other, as long as that lowers the loss: the squared
differences of logarithms of estimated and measured times, pairs in the wrong order, and the time of
the schedule that would be chosen. Numbers stay near those that they begin at. Left-out programs
judge: the timings of each are estimated by rates that were fitted to other programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import median
from typing import Any

from model_quality import Quality, quality, table
from timings import Kernel

from tiledialect.errors import TileError
from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.estimate import estimated, modelled
from tiledialect.schedule.cost.rates import FOLDER, Rates, load

FACTORS = (0.8, 1.25, 0.5, 2.0)
ROUNDS = 3
"""Number of times that each number has its turn."""
FURTHEST = 4.0
"""Largest ratio of a number to the one that it begins at."""
SHARES = frozenset(
    (
        *("overlap_loss", "barrier", "seen", "copies_seen", "last_wave", "near", "unhidden"),
        *("shared_loss", "reused_share", "uneven"),
    )
)
"""Numbers of at most 1."""
COUNTED = frozenset(("own_registers", "ahead_registers", "test_registers"))
"""Numbers that decide which schedules fit a device: timings do not have the others."""
SQUARES, BIAS, PAIRS, CHOSEN, STAY = 0.25, 0.025, 1.0, 1.0, 0.05
"""Weights of the squared differences around their median, of that median, of pairs in the wrong
order, of the chosen schedule, and of distances from the first numbers."""
MARGIN = 0.05
"""Logarithm of the ratio of times that are taken for different."""
PARTS = 5
"""Number of parts of the programs, each of which is left out once."""

Name = tuple[str, ...]
"""Tables and the name of a number."""


class Sample:
    """Schedules of a kernel with their measured times, to be estimated by any rates."""

    def __init__(self, kernel: Kernel):
        self.name = kernel.program
        self.program = kernel.program.partition("@")[0]
        self.times = [t.seconds for t in kernel.timings]
        self._models = [
            modelled(kernel.facts, schedule, kernel.described) for schedule in kernel.schedules
        ]
        self._known: dict[tuple[float, ...], list[float]] = {}
        first = kernel.described.rates
        # Estimates depend on few of the numbers: others need no new ones.
        plain = [_seconds(m) for m in self._models]
        self._names = [
            name for name, value in numbers(first) if plain != self._at(changed(first, name, value))
        ]

    def _at(self, rates: Rates) -> list[float]:
        return [_seconds(model.at(rates)) for model in self._models]

    def estimates(self, rates: Rates) -> list[float]:
        """Seconds of the schedules without their launches."""
        values = dict(numbers(rates))
        key = tuple(values[name] for name in self._names)
        if key not in self._known:
            self._known[key] = self._at(rates)
        return self._known[key]

    def depends_on(self, name: Name) -> bool:
        """Whether the estimates depend on a number."""
        return name in self._names

    def loss(self, rates: Rates) -> float:
        """Distance of the estimates from the measured times."""
        estimates = self.estimates(rates)
        off = [log(e / t) for e, t in zip(estimates, self.times, strict=True)]
        middle = median(off)
        squares = sum((x - middle) ** 2 for x in off) / len(off)
        pairs = [
            max(0.0, MARGIN + log(a / b))
            for a, s in zip(estimates, self.times, strict=True)
            for b, t in zip(estimates, self.times, strict=True)
            if log(t / s) > MARGIN
        ]
        wrong = sum(pairs) / max(len(pairs), 1)
        chosen = log(self.times[estimates.index(min(estimates))] / min(self.times))
        return SQUARES * squares + BIAS * middle**2 + PAIRS * wrong + CHOSEN * chosen

    def quality(self, rates: Rates) -> Quality:
        """Figures of the estimates."""
        return quality(self.name, self.estimates(rates), self.times)


def _seconds(model: Model) -> float:
    found = estimated(model)
    return found.seconds - found.launch


def numbers(rates: Any, inside: Name = ()) -> Iterator[tuple[Name, float]]:
    """The numbers of a table and of the tables in it."""
    for f in fields(rates):
        value = getattr(rates, f.name)
        if is_dataclass(value):
            yield from numbers(value, (*inside, f.name))
        elif isinstance(value, float):
            yield (*inside, f.name), value


def changed(rates: Any, name: Name, value: float) -> Any:
    """A table with another number; one that it had is made different."""
    first, *rest = name
    old = getattr(rates, first)
    if rest:
        return replace(rates, **{first: changed(old, tuple(rest), value)})
    return replace(rates, **{first: value if value != old else 0.9 * value + 0.01})


def fitted(samples: Sequence[Sample], first: Rates) -> Rates:
    """The rates with least loss near the first ones."""
    found, losses = first, [s.loss(first) for s in samples]
    begin = dict(numbers(first))
    open_ = [
        name
        for name, value in begin.items()
        if value > 0 and name[-1] not in COUNTED and any(s.depends_on(name) for s in samples)
    ]

    def away(value: float, name: Name) -> float:
        return STAY * log(value / begin[name]) ** 2

    for _ in range(ROUNDS):
        before = found
        for name in open_:
            for factor in FACTORS:
                old = dict(numbers(found))[name]
                new = old * factor
                if name[-1] in SHARES:
                    new = min(new, 1.0)
                ratio = max(new / begin[name], begin[name] / new)
                if new == old or ratio > FURTHEST:
                    continue
                tried = changed(found, name, new)
                own = [
                    s.loss(tried) if s.depends_on(name) else loss
                    for s, loss in zip(samples, losses, strict=True)
                ]
                gain = (sum(losses) - sum(own)) / len(samples)
                if gain > away(new, name) - away(old, name):
                    found, losses = tried, own
        if found is before:
            break
    return found


def left_out(samples: Sequence[Sample], first: Rates) -> tuple[list[Quality], list[Quality]]:
    """Figures of programs by the first rates, and by rates that were fitted to others."""
    before, after = list[Quality](), list[Quality]()
    # The same program with other sizes is no other program.
    programs = [*dict.fromkeys(s.program for s in samples)]
    for part in range(PARTS):
        out = programs[part::PARTS]
        rates = fitted([s for s in samples if s.program not in out], first)
        for sample in (s for s in samples if s.program in out):
            before.append(sample.quality(first))
            after.append(sample.quality(rates))
    return before, after


def fit(kernels: Sequence[Kernel], folder: Path = FOLDER, *, write: bool = False) -> None:
    """Fit the rates of the kernels' microarchitecture, print the figures before and after, and
    write what is better."""
    names = {kernel.described.microarchitecture for kernel in kernels}
    if len(names) != 1:
        found = ", ".join(sorted(names)) or "no kernels"
        raise TileError(f"timings of {found} cannot be fitted together")
    path = folder / f"{names.pop()}.toml"
    first = load(path)
    samples = [Sample(kernel) for kernel in kernels]
    before, after = left_out(samples, first)
    print(table("before", before), table("after, left out", after), sep="\n\n")
    rates = fitted(samples, first)
    print("\n" + table("after, all fitted", [s.quality(rates) for s in samples]))
    new = {n: v for n, v in numbers(rates) if v != dict(numbers(first))[n]}
    for name, value in new.items():
        print(f"{'.'.join(name)} = {value:.4g}, not {dict(numbers(first))[name]:.4g}")
    if not write:
        return
    if is_better(after, before):
        path.write_text(rewritten(path, new, source(kernels)))
    else:
        print(f"{path} stays as it is: left-out programs are not estimated better")


def source(kernels: Sequence[Kernel]) -> Mapping[str, str]:
    """The table `source` of rates that were fitted to some kernels."""
    devices = dict.fromkeys(kernel.device for kernel in kernels)
    return {
        "date": max(kernel.date for kernel in kernels)[: len("2000-01")],
        "device": "; ".join(devices),
        "data": ", ".join(dict.fromkeys(kernel.program for kernel in kernels)),
    }


def is_better(after: Sequence[Quality], before: Sequence[Quality]) -> bool:
    """Whether no median is worse, and one is better."""
    ranks, old = (median(q.correlation for q in own) for own in (after, before))
    losses, worse = (median(q.loss for q in own) for own in (after, before))
    return ranks >= old and losses <= worse and (ranks, losses) != (old, worse)


def sections(path: Path) -> dict[Name, list[str]]:
    """The lines of each table of a file, without empty ones; those before the first under no
    name."""
    found: dict[Name, list[str]] = {(): []}
    own = found[()]
    for line in filter(None, path.read_text().splitlines()):
        if line.startswith("["):
            own = found[tuple(line.strip("[]").split("."))] = []
        else:
            own.append(line)
    return found


def comments(path: Path) -> dict[Name, str]:
    """The comment of each number of a file and of those that it extends."""
    tables, found = sections(path), dict[Name, str]()
    for line in tables[()]:
        if line.startswith("extends"):
            found = comments(path.with_stem(line.split('"')[1]))
    for inside, lines in tables.items():
        for before, line in pairwise(lines):
            if before.startswith("#") and " = " in line:
                found[*inside, line.partition(" = ")[0]] = before
    return found


def rewritten(path: Path, new: Mapping[Name, float], source: Mapping[str, str]) -> str:
    """The text of a file with other numbers and the source of them; numbers that it had from
    another file are added."""
    tables, said = sections(path), comments(path)
    # JSON's strings are strings of TOML, too.
    tables["source",] = [f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in source.items()]
    for (*inside, name), value in new.items():
        lines, line = tables.setdefault(tuple(inside), []), f"{name} = {value:.6g}"
        places = [k for k, old in enumerate(lines) if old.startswith(f"{name} = ")]
        if places:
            lines[places[0]] = line
        else:
            lines += [said[*inside, name], line]
    text = "\n".join(tables.pop(()))
    for inside, lines in tables.items():
        text += "\n".join([f"\n\n[{'.'.join(inside)}]", *lines])
    return text + "\n"
