"""The algorithm of a Tile program as a part of a search: the passes before schedules.

Sums are split among work-groups or kept whole, windows of 3 x 3 have Winograd's method or not, and
ops share kernels or are kept apart. Each decision is an option of a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.base import TileOp
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import named_kernels
from tiledialect.errors import TileError
from tiledialect.exploration.implementation import PASSES, Implementation
from tiledialect.exploration.parts import Candidate
from tiledialect.ir.mlir_text import print_module
from tiledialect.ir.names import given_name
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.target_spec import precision_of
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.program.compiling import lowered
from tiledialect.lowering.runtime.program.program import Program, Types
from tiledialect.passes.algebra.rewrites.winograd import SlidingSum
from tiledialect.passes.algebra.tile_split_product import TileSplitProductPass
from tiledialect.passes.algebra.tile_winograd import TileWinogradPass
from tiledialect.passes.fuse.options import FLAGS
from tiledialect.passes.fuse.tile_fuse import TileFusePass
from tiledialect.passes.schedule.tile_loop_tiling import best_candidate
from tiledialect.passes.split.rewrites.reduction_split import split_obstacle
from tiledialect.passes.split.tile_split_reduction import TileSplitReductionPass
from tiledialect.schedule.cost.device import device_of
from tiledialect.schedule.search.decisions import Chooser, DeadEndError, Decisions, made

CHOSEN = "chosen"
"""Word for what the cost model chooses: the first option of every decision."""
WHOLE, APART = "whole", "apart"
TRUE, FALSE = "true", "false"
MOST_CONTRACTIONS, MOST_APART = 4, 8
"""Contractions that are split otherwise, those of most points, and results that are kept apart."""
WORTH = 2.0
"""Most time of a seed by the cost model, in multiples of the default's."""
MOST_PARTS, LEAST_PART = 64, 4
"""Most parts of a sum, and least terms of a part."""


class ProgramPart:
    """A Tile program whose passes are searched."""

    name = PASSES
    mutations = 4
    least_seeds = 4
    awaited_seeds = 4
    least = 0.0

    def __init__(self, program: Program, types: Types, device: Device):
        self._program, self._types, self._device = program, types, device
        self._known: dict[tuple[str, ...], Candidate | str] = {}
        self._first: dict[str, Candidate] = {}
        """Candidates by the programs that they make."""

    @property
    def weight(self) -> float:
        """Seconds of the default by the cost model."""
        return self._made(()).estimate

    @cached_property
    def decisions(self) -> dict[str, list[str]]:
        """Options of each decision, the cost model's choice first."""
        module = self._lowered((), TileSplitProductPass.name)
        named = [(n, op) for op in ops_of(module, ContractionOp) if (n := given_name(op.result))]
        largest = sorted(named, key=lambda pair: -_points(pair[1]))[:MOST_CONTRACTIONS]
        found: dict[str, list[str]] = {}
        for name, op in largest:
            if parts := [*_splits(op)]:
                found[f"split {name}"] = [CHOSEN, WHOLE, *parts]
            if precision_of(module) == "f32" and SlidingSum.of(op) is not None:
                found[f"winograd {name}"] = [CHOSEN, FALSE, TRUE]
        kernels = [*named_kernels(self._lowered((), TileFusePass.name)).values()]
        inner = dict.fromkeys(n for kernel in kernels for n in _joined(kernel))
        if len(kernels) > 1 or inner:
            found |= {f"fuse {flag}": [CHOSEN, FALSE, TRUE] for flag in FLAGS}
        return found | {f"fuse {name}": [CHOSEN, APART] for name in [*inner][:MOST_APART]}

    def passes(self, chooser: Chooser) -> tuple[str, ...]:
        """Texts of the passes that decisions make."""
        words = {n: str(chooser.choose(n, own, own)) for n, own in self.decisions.items()}
        return passes_text({n: word for n, word in words.items() if word != CHOSEN})

    def candidate(self, chooser: Chooser) -> Candidate:
        """The passes that decisions make, with the estimate of the program's kernels."""
        return self._made(self.passes(chooser))

    def seeds(self) -> Iterator[Decisions]:
        """The cost model's choices, and those that differ in one and may be as fast."""
        yield {}
        longest = max(map(len, self.decisions.values()), default=0)
        for number in range(1, longest):
            for name, options in self.decisions.items():
                own = {name: options[number]} if number < len(options) else {}
                with suppress(DeadEndError):
                    if own and made(self.candidate, own)[1].estimate < WORTH * self.weight:
                        yield own

    def printed(self, most: int) -> Iterator[str]:
        """Programs after their passes, fused and not scheduled, as MLIR after the passes' texts;
        the best by the cost model first, at most so many."""
        found: dict[str, float] = {}
        for decisions in self.seeds():
            candidate = made(self.candidate, decisions)[1]
            found.setdefault(candidate.text, candidate.estimate)
        for text in sorted(found, key=found.__getitem__)[:most]:
            steps = "".join(f"// {line}\n" for line in text.splitlines())
            yield steps + print_module(self._lowered(tuple(text.splitlines()), TileFusePass.name))

    def _made(self, passes: tuple[str, ...]) -> Candidate:
        if passes not in self._known:
            self._known[passes] = self._weighed(passes)
        found = self._known[passes]
        if isinstance(found, str):
            raise DeadEndError(found)
        return found

    def _weighed(self, passes: tuple[str, ...]) -> Candidate | str:
        """The candidate of passes, or of those before that make the same program; or an error."""
        try:
            module = self._lowered(passes, "tile-join-axes")
            device = device_of(module)
            assert device is not None
            kernels = named_kernels(module).values()
            each = [best_candidate(kernel, device) for kernel in kernels]
        except (TileError, VerifyException) as error:
            return str(error)
        seconds = sum(candidate.estimate.seconds for candidate in each)
        own = Candidate("\n".join(passes), seconds)
        return self._first.setdefault(print_module(module), own)

    def _lowered(self, passes: tuple[str, ...], after: str) -> ModuleOp:
        program = Implementation(passes=passes).applied(self._program, self._types, self._device)
        return lowered(program, self._types, self._device, after)


def passes_text(decisions: dict[str, str]) -> tuple[str, ...]:
    """Passes that decisions other than the cost model's make."""
    found: list[str] = []
    fusion: dict[str, list[str]] = {}
    for name, word in decisions.items():
        kind, what = name.split(" ", 1)
        found += [KINDS[kind](what, word)] if kind in KINDS else []
        if kind == "fuse":
            option, value = ("apart", what) if word == APART else (what, word)
            fusion.setdefault(option, []).append(value)
    options = " ".join(f"{option}={','.join(values)}" for option, values in fusion.items())
    return (*found, *([f"{TileFusePass.name}{{{options}}}"] if options else []))


def _split_text(name: str, word: str) -> str:
    if word == WHOLE:
        return f"{TileSplitReductionPass.name}{{keep={name}}}"
    index, parts = word.split(" ")
    return f"{TileSplitReductionPass.name}{{contraction={name} index={index} parts={parts}}}"


def _winograd_text(name: str, word: str) -> str:
    return f"{TileWinogradPass.name}{{{'contraction' if word == TRUE else 'keep'}={name}}}"


KINDS: dict[str, Callable[[str, str], str]] = {"split": _split_text, "winograd": _winograd_text}
"""Text of a pass by the kind of a decision."""


def _points(op: ContractionOp) -> int:
    return 0 if op.domain is None else prod(r.extent for r in op.domain.ranges.values())


def _splits(op: ContractionOp) -> Iterator[str]:
    """Splits of a contraction: an index and a number of parts."""
    if op.domain is None:
        return
    for index, extent in ((n, r.extent) for n, r in op.domain.ranges.items()):
        parts = 2
        while split_obstacle(op, index) is None and parts <= min(extent // LEAST_PART, MOST_PARTS):
            yield f"{index} {parts}"
            parts *= 2


def _joined(kernel: KernelOp) -> Iterator[str]:
    """Names of results that a later op of their kernel takes."""
    for op in kernel.body.block.ops:
        taken = any(isinstance(use.operation, TileOp) for r in op.results for use in r.uses)
        if isinstance(op, TileOp) and taken and (name := given_name(op.results[0])):
            yield name
