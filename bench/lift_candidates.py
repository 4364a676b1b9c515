"""Candidates of high-level Lift programs beside our scheduler's kernels: estimates and times.

`python bench/lift_candidates.py product --proposals 20` measures the first candidates that the cost
model proposes, in turns with the scheduled program of `lift_exploration.py`. `--given FILE` takes
those of a file instead: derivations, with an empty line between them, or decisions in JSON, one
candidate a line, whose `program` is a rule of the program's derivation. `--texts` writes OpenCL C.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import nan
from pathlib import Path
from statistics import median

import numpy as np
from lift_exploration import PAIRS, Array, Pair

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.exploration.lift.patterns import LiftPart
from tiledialect.exploration.lift.space import PROGRAM, estimate
from tiledialect.exploration.subject import Case, Subject
from tiledialect.passes.lift import replay
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.schedule.search.decisions import Decisions, made

PROGRAMS = 120
"""Most programs among which a rule is looked for."""


@dataclass(frozen=True)
class Candidate:
    """A derivation by its decisions or its last steps."""

    label: str
    derivation: Derivation
    seconds: float
    """Estimate."""


def inputs_of(pair: Pair, device: td.Device) -> list[Array]:
    """Inputs as large as the device's kind has them."""
    return pair.inputs(2 if device.type == "gpu" else 1)


def part_of(pair: Pair, device: td.Device) -> LiftPart:
    """Space of a program's derivations."""
    program = td.compile(pair.lift.module, device=device)._program  # pyright: ignore[reportPrivateUsage]
    return LiftPart.of(Subject(program, device, [Case(inputs_of(pair, device), [])]))


def proposals(part: LiftPart, count: int) -> Iterator[Candidate]:
    """The first candidates by the cost model."""
    found = (decisions for decisions in part.seeds() if decisions is not None)
    for decisions in islice(found, count):
        yield _of_decisions(part, decisions)


def given(part: LiftPart, path: Path) -> Iterator[Candidate]:
    """Candidates of a file."""
    for text in path.read_text().split("\n\n"):
        if text.lstrip().startswith("{"):
            for line in text.splitlines():
                decisions = json.loads(line)
                decisions[PROGRAM] = _word(part, decisions[PROGRAM])
                yield _of_decisions(part, decisions)
        elif text.strip():
            derivation = replay(part.start, text)
            label = "; ".join(text.strip().splitlines())
            yield Candidate(label, derivation, estimate(derivation, part.target, part.device))


def _word(part: LiftPart, rule: str) -> str:
    """The first program whose derivation has a rule."""
    for word in islice(part.programs.all(), PROGRAMS):
        if rule in part.programs.program(word).text:
            return word
    raise TileError(f"no program has {rule}")


def _of_decisions(part: LiftPart, decisions: Decisions) -> Candidate:
    found, derivation = made(part.derivation, decisions)
    steps = part.programs.program(str(found[PROGRAM])).steps[1:]
    shown = {name: option for name, option in found.items() if name != PROGRAM}
    label = f"{'; '.join(map(str, steps))} {json.dumps(shown)}"
    return Candidate(label, derivation, estimate(derivation, part.target, part.device))


def measured(
    pair: Pair, device: td.Device, candidates: Iterator[Candidate], options: argparse.Namespace
) -> Iterator[str]:
    """A line for the scheduled program, and one for each candidate."""
    arrays = inputs_of(pair, device)
    scheduled = td.compile(pair.tile, device=device)
    expected = scheduled(*arrays)
    functions, lines = {0: scheduled}, {0: "scheduled"}
    for number, candidate in enumerate(candidates, 1):
        lines[number] = f"{candidate.seconds * 1e6:10.1f} us  {candidate.label}"
        try:
            function = td.compile(candidate.derivation.module, device=device)
            if not _agree(function(*arrays), expected):
                lines[number] += " WRONG"
            if options.texts:
                path = options.texts / f"{options.program}_{number}.cl"
                path.write_text(function.opencl(*arrays))
            functions[number] = function
        except TileError as error:
            lines[number] += " " + error.message.splitlines()[0]
    times: dict[int, list[float]] = {number: [] for number in functions}
    for _ in range(options.rounds):
        for number, function in functions.items():
            times[number].append(function.profile(*arrays)[1].seconds)
    for number, text in lines.items():
        seconds = median(times.get(number, [nan]))
        ratio = median(times[0]) / seconds
        yield f"{number:3} {ratio:5.2f} {seconds * 1e6:9.1f} us {text}"


def _agree(found: object, expected: object) -> bool:
    pairs = zip(_arrays(found), _arrays(expected), strict=True)
    return all(np.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in pairs)


def _arrays(result: object) -> list[Array]:
    if isinstance(result, dict):
        return [*result.values()]
    return [*result] if isinstance(result, tuple) else [np.asarray(result)]


def main() -> None:
    """Print the ratio, the time and the estimate of each candidate, in the order of proposals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=PAIRS)
    parser.add_argument("--device", default="")
    parser.add_argument("--proposals", type=int, default=20)
    parser.add_argument("--given", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--texts", type=Path, help="folder for the OpenCL C of each")
    options = parser.parse_args()
    device = next(d for d in td.devices() if options.device in d.id)
    pair = PAIRS[options.program]
    part = part_of(pair, device)
    found = given(part, options.given) if options.given else proposals(part, options.proposals)
    print(f"{device}: {options.program}")
    for line in measured(pair, device, found, options):
        print(line, flush=True)


if __name__ == "__main__":
    main()
