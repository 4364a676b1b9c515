"""Choice of the contractions to split: those with few results and long sums."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tiledialect.analysis.kernel_facts import contraction_facts
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import shape_of, size_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp
from tiledialect.errors import TileError
from tiledialect.passes.split.rewrites.part_counts import (
    CHUNK,
    RESULTS_PER_GROUP,
    is_matrix,
    multiple_of,
    splits_of,
)
from tiledialect.passes.split.rewrites.reduction_split import ReductionSplit, split_obstacle
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.estimate import in_sequence, least_seconds
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.search.ahead import search_ahead
from tiledialect.schedule.search.choice import best, best_seconds
from tiledialect.schedule.search.tensor_cores import (
    SPLIT_GAIN,
    parts_on_tensor_cores,
    tensor_core_schedule,
)

MIN_POINTS = 1 << 17
"""Minimum points of a split contraction: fewer are done before a second kernel has begun."""
MIN_CPU_POINTS = 1 << 20
"""Points below which CPUs gain by a split only with less than a vector of results for each core."""
MORE_PARTS = 0.98
"""Maximum share of another split's time that more parts of sums of a GPU's columns may take: they
have more groups, which read more places of memory at a time.
"""
MIN_TILE = 16 * 16
"""Minimum results of a group that has a tile of a product."""
BUSY_GROUPS = 8
"""Groups for each unit of a GPU with which none is idle, and nothing is split."""


@dataclass(frozen=True)
class WeighedSplit:
    """Estimated time of a split."""

    index: str
    parts: int
    seconds: float
    """Time, or a lower bound of it."""
    is_known: bool
    """Whether `seconds` is its time."""

    def __str__(self) -> str:
        least = "" if self.is_known else "at least "
        return f"  {self.index} in {self.parts} parts: {least}{self.seconds * 1e6:.1f} us"


@dataclass(frozen=True)
class Weighed:
    """Estimated times of the splits of a contraction."""

    whole: float
    """Seconds without a split."""
    splits: tuple[WeighedSplit, ...]
    chosen: WeighedSplit | None
    """The best split; None if the contraction is better as it is."""
    split: ReductionSplit | None
    """The same as a rewrite."""

    @property
    def seconds(self) -> float:
        """Seconds with the best split, or without one."""
        return self.whole if self.chosen is None else self.chosen.seconds

    def __str__(self) -> str:
        whole = f"  whole: {self.whole * 1e6:.1f} us"
        return "\n".join([whole, *map(str, self.splits)])


@dataclass(frozen=True)
class SettledSplit:
    """A split that is made without a comparison of times."""

    split: ReductionSplit
    reason: str


class SplitChoice:
    """Choice of splits for a device, and for a precision of products on tensor cores."""

    def __init__(self, device: Device, precision: str):
        self.device = device
        self.precision = precision
        self._kernels: dict[Hashable, tuple[Facts, ...]] = {}
        """Kernels of splits: equal contractions, as those of equal layers, have equal ones."""

    def search_ahead(self, ops: Iterable[ContractionOp], *, every: bool = False) -> None:
        """Search for the schedules of contractions and of their splits at once, if there is a way
        to; with ``every`` for those of contractions without splits, too.

        Some of the splits that this is done for are not weighed to the end.
        """
        aggregates = (
            op for op in ops if op.domain and op.aggregation.data is not Aggregation.assign
        )
        wanted: list[tuple[ContractionOp, Facts]] = []

        def wholes() -> Iterator[Facts]:
            for op in aggregates:
                facts = contraction_facts(op)
                is_open = not self._plain_reason(op, facts)
                if is_open:
                    wanted.append((op, facts))
                if is_open or every:
                    yield facts

        def pieces() -> Iterator[Facts]:
            for op, facts in wanted:
                if not self._groups_reason(facts):
                    enough = self._enough(facts)
                    for index, parts in splits_of(op, facts, self.device):
                        kernels = self._kernels_of(op, facts, index, parts)
                        if _least(kernels, self.device) < enough:
                            yield from kernels

        search_ahead(wholes(), self.device)
        search_ahead(pieces(), self.device)

    def weighed(self, op: ContractionOp) -> Weighed | SettledSplit | str:
        """Estimated times of the splits of a contraction, a split that is settled, or the reason
        why none was weighed."""
        if op.domain is None:
            return "the ranges of its indices are not known yet"
        facts = contraction_facts(op)
        if (settled := self._row_sums(op, facts) or self._on_tensor_cores(op, facts)) is not None:
            return settled
        if reason := self._plain_reason(op, facts) or self._groups_reason(facts):
            return reason
        return self._compared(op, facts) or "it has no sum that can be split"

    def _compared(self, op: ContractionOp, facts: Facts) -> Weighed | None:
        """Comparison of the splits of a contraction; None if it has none."""
        device, least = self.device, self._enough(facts)
        are_columns = (
            device.traits.interleaves_groups
            and facts.results >= device.compute_units
            and not facts.is_product
        )
        splits, chosen = list[WeighedSplit](), None
        for index, parts in splits_of(op, facts, device):
            if kernels := self._kernels_of(op, facts, index, parts):
                enough = MORE_PARTS * least if chosen is not None and are_columns else least
                own = WeighedSplit(index, parts, *_seconds(enough, kernels, device))
                splits.append(own)
                if own.seconds < enough:
                    chosen, least = own, own.seconds
        if not splits:
            return None
        split = None if chosen is None else _in_parts(op, facts, chosen.index, chosen.parts)
        return Weighed(best_seconds(facts, device), tuple(splits), chosen, split)

    def _enough(self, facts: Facts) -> float:
        """Seconds of a split from which on the contraction is better as it is."""
        launch = self.device.launch_seconds
        return launch + SPLIT_GAIN * (best_seconds(facts, self.device) - launch)

    def _kernels_of(
        self, op: ContractionOp, facts: Facts, index: str, parts: int
    ) -> tuple[Facts, ...]:
        """The kernels of a split, the last one first; none if it is refused."""
        types = tuple(v.type for v in (*op.operands, op.result))
        key = facts, types, tuple(sorted(op.properties.items())), index, parts
        if key not in self._kernels:
            split = _in_parts(op, facts, index, parts)
            made = [] if split is None else split.ops()
            # A contraction that fills a tensor with one number is fused away, or short.
            self._kernels[key] = tuple(
                contraction_facts(x)
                for x in reversed(made)
                if isinstance(x, ContractionOp) and x.aggregation.data is not Aggregation.assign
            )
            for unused in reversed(made):
                unused.erase()
        return self._kernels[key]

    def _row_sums(self, op: ContractionOp, facts: Facts) -> SettledSplit | None:
        """Split into the sums of rows, where summed elements need other aggregates of their row.

        As in a cross entropy: a row kernel then reads each row once, and its elements are never
        written.
        """
        # A core reads rows again from its caches.
        if not self.device.traits.interleaves_groups or (index := _row_index(op)) is None:
            return None
        rows = facts.extents[index]
        if not self.device.is_busy_with(rows):
            return None
        split = _split(op, index, rows, each=True)
        reason = f"each {index} has a sum of its own, for which its elements are never written"
        return None if split is None else SettledSplit(split, reason)

    def _on_tensor_cores(self, op: ContractionOp, facts: Facts) -> SettledSplit | None:
        """Split into products that tensor cores compute at the same time: a product of few tiles
        leaves units idle."""
        device = self.device
        found = parts_on_tensor_cores(facts, device, self.precision)
        split = None if found is None else _split(op, found.index, found.count, 2 * CHUNK)
        if found is None or split is None:
            return None
        if tensor_core_schedule(facts, device, self.precision) is None:
            # Without parts it is computed elsewhere, by one kernel.
            seconds = found.seconds + device.launch_seconds
            if seconds > SPLIT_GAIN * best_seconds(facts, device):
                return None
        reason = f"{found.count} parts of {found.index} have tiles for more of the tensor cores"
        return SettledSplit(split, reason)

    def _plain_reason(self, op: ContractionOp, facts: Facts) -> str:
        """Reason for which no split of a contraction can gain, by its sizes; empty if one may."""
        device, outputs = self.device, facts.results
        if tensor_core_schedule(facts, device, self.precision) is not None:
            return "tensor cores compute it"
        if _begins_rows(op) and device.is_busy_with(outputs):
            return "its input is read again with its results, for which one kernel is best"
        if facts.points < MIN_POINTS:
            return f"its {facts.points} points are too few for a second kernel"
        units = device.compute_units
        largest = RESULTS_PER_GROUP[-1 if device.traits.interleaves_groups else 1]
        if outputs > 2 * units * largest:
            return f"its {outputs} results fill the {units} compute units"
        lanes = units * device.native_vector_width
        if device.traits.has_vectors and facts.points < MIN_CPU_POINTS and outputs > lanes:
            return f"its {outputs} results are a vector or more for each of {units} compute units"
        return ""

    def _groups_reason(self, facts: Facts) -> str:
        """Reason for which no split can gain, by the groups of the best schedule; empty if one
        may."""
        units = self.device.compute_units
        if not self.device.traits.interleaves_groups:
            return ""
        found = best(facts, self.device)
        groups = found.estimate.groups if found is not None else 0
        # Groups whose items share the sums of few results are many where larger ones are too few.
        has_tiles = not is_matrix(facts) or facts.results >= groups * MIN_TILE
        if groups >= BUSY_GROUPS * units and has_tiles:
            return f"its {groups} groups fill the {units} compute units"
        return ""


def _in_parts(op: ContractionOp, facts: Facts, index: str, parts: int) -> ReductionSplit | None:
    return _split(op, index, parts, multiple_of(facts.extents[index], parts))


def _split(
    op: ContractionOp, index: str, parts: int, multiple: int = 1, *, each: bool = False
) -> ReductionSplit | None:
    """Split of a contraction; None if it cannot be split so."""
    if split_obstacle(op, index) is not None:
        return None
    try:
        return ReductionSplit(op, index, parts, multiple, each=each)
    except TileError:
        return None


def _row_index(op: ContractionOp) -> str | None:
    """Index of rows that a sum goes over whose elements need aggregates of their rows."""
    (value, *others), (access, *_) = op.inputs, op.accesses
    names = [e.variable for e in access.data]
    aggregates = [] if others else [v for v in _operands_of(value) if size_of(v) < size_of(value)]
    summed = {n for n in op.index_names if n not in {m for e in op.output.data for m in e.names}}
    for aggregate in aggregates:
        shape = shape_of(tensor_type(aggregate)) or ()
        if len(shape) == len(names) and len(set(names)) == len(names):
            rows = [n for n, size in zip(names, shape, strict=True) if size > 1 and n in summed]
            along = [n for n, size in zip(names, shape, strict=True) if size == 1 and n in summed]
            if len(rows) == 1 and along:
                return rows[0]
    return None


def _operands_of(value: SSAValue) -> list[SSAValue]:
    """Results of contractions that a tensor is computed from elementwise."""
    found, pending, seen = list[SSAValue](), [value], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value.owner, ContractionOp):
            found.append(value)
        elif isinstance(value.owner, ElementwiseOp):
            pending += value.owner.operands
    return found


def _least(kernels: Sequence[Facts], device: Device) -> float:
    """Lower bound of the seconds of some kernels, the last one first, one after the other."""
    return in_sequence((least_seconds(facts, device) for facts in reversed(kernels)), device)


def _seconds(enough: float, kernels: Sequence[Facts], device: Device) -> tuple[float, bool]:
    """Seconds of some kernels, the last one first, one after the other; whether they are exact.

    Splits that take `enough` at least are not weighed to the end: the last kernels, of fewer
    points, show that at little cost.
    """
    seconds = [least_seconds(facts, device) for facts in kernels]
    for k, facts in enumerate(kernels):
        if (least := in_sequence(reversed(seconds), device)) >= enough:
            return least, False
        seconds[k] = best_seconds(facts, device)
    return in_sequence(reversed(seconds), device), True


def _begins_rows(op: ContractionOp) -> bool:
    """Whether the result is combined with each summed element, as in a softmax."""
    users = [use.operation for use in op.result.uses]
    sizes = [size_of(user.res) for user in users if isinstance(user, ElementwiseOp)]
    return len(op.inputs) == 1 and any(size > size_of(op.result) for size in sizes)
