"""Quality of the cost model as figures, on recorded timings.

For each line and kernel: the rank correlation (Spearman) of estimated and measured times, and the
time of the schedule that the model chose over the best measured one; then the medians. The timings
are those that `bench/cost_model.py --record` keeps, which are estimated anew, or those of
`bench/exploration.py --json`, with the estimates of the search: candidates of the compiler's
families and all that a search tried are judged apart.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

from timings import read

FEWEST = 8
"""Fewest measured candidates of a kernel by which the model is judged."""


@dataclass(frozen=True)
class Quality:
    """Figures for the candidates of one kernel."""

    name: str
    count: int
    correlation: float
    """Rank correlation of estimates and measured times, 1 for the same order."""
    loss: float
    """Time of the candidate of the least estimate over the least time."""

    def __str__(self) -> str:
        return f"{self.name:48} {self.count:6} {self.correlation:8.2f} {self.loss:8.2f}"


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks of values; equal ones share the mean of theirs."""
    order = sorted(values)
    return [order.index(v) + (order.count(v) - 1) / 2 for v in values]


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's rank correlation; 0 where all values of either are equal."""
    x, y = ranks(a), ranks(b)
    middle = (len(x) - 1) / 2
    products = sum((p - middle) * (q - middle) for p, q in zip(x, y, strict=True))
    squares = [sum((p - middle) ** 2 for p in own) for own in (x, y)]
    return products / (squares[0] * squares[1]) ** 0.5 if all(squares) else 0.0


def quality(name: str, estimates: Sequence[float], times: Sequence[float]) -> Quality:
    """Figures for the estimates and the measured times of a kernel's schedules."""
    chosen = times[estimates.index(min(estimates))]
    return Quality(name, len(times), correlation(estimates, times), chosen / min(times))


def explored(recorded: dict[str, Any], sources: Sequence[str]) -> Iterator[Quality]:
    """Figures for every kernel of a search, by candidates of some origins."""
    for line, found in recorded.items():
        trials = [t for t in found["trials"] if isfinite(t["seconds"]) and t["source"] in sources]
        for part in dict.fromkeys(t["part"] for t in trials):
            own = [t for t in trials if t["part"] == part]
            if len(own) >= FEWEST:
                estimates = [t["estimate"] for t in own]
                yield quality(f"{line} {part}", estimates, [t["seconds"] for t in own])


def timed(path: Path) -> Iterator[Quality]:
    """Figures for the recorded timings of a file, by the estimates of today."""
    for kernel in read(path):
        seconds = [e.seconds for e in kernel.estimates()]
        yield quality(kernel.program, seconds, [t.seconds for t in kernel.timings])


def table(title: str, found: Sequence[Quality]) -> str:
    """A table with the medians."""
    lines = [f"{title:48} {'count':>6} {'ranks':>8} {'loss':>8}", *map(str, found)]
    if found:
        ranks_, losses = zip(*((q.correlation, q.loss) for q in found), strict=True)
        lines.append(f"{'median':48} {'':6} {median(ranks_):8.2f} {median(losses):8.2f}")
    return "\n".join(lines)


def main() -> None:
    """Print a table for each file, and for each origin of a search's candidates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        help="of `cost_model.py --record` (.gz), or of a search",
    )
    recorded: dict[str, Any] = {}
    for path in parser.parse_args().files:
        if path.suffix == ".gz":
            print(table(path.name, [*timed(path)]), end="\n\n")
        else:
            recorded |= json.loads(path.read_text())
    tables = {"families": ("seed",), "search": ("seed", "mutation", "sampler", "draw")}
    for title, sources in tables.items() if recorded else ():
        print(table(title, [*explored(recorded, sources)]), end="\n\n")


if __name__ == "__main__":
    main()
