"""Choice of the contractions to split: those with few results and long sums."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod

from xdsl.ir import Operation, SSAValue

from tiledialect.analysis.kernel_facts import contraction_facts
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import shape_of, size_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp
from tiledialect.errors import TileError
from tiledialect.passes.split.rewrites.reduction_split import ReductionSplit, split_obstacle
from tiledialect.rounding import ceil_div
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
RESULTS_PER_GROUP = (32 * 32, 64 * 64, 128 * 128)
"""Results of a work-group: there are parts for two groups of that size a unit."""
RESULTS_OF_ONE_WAVE, FEW_PARTS = 64 * 128, 8
"""The same for fewer parts than these, but one less where a third group would come after others."""
LONG_PARTS_PER_CORE = 8
"""Minimum long parts for each core of a CPU, where there is one result."""
MIN_LONG_SUM = 1 << 19
"""Minimum points of a sum in long parts."""
MAX_LONG_PART = 1 << 18
"""Maximum length of long parts: the more is added to a number, the more digits of it are lost."""
CHUNK = 16
"""Alignment of long parts, so that they are read in whole vectors."""
MIN_LONG_INDEX = 32
"""Extent of an index that is long enough, as its parts have groups for other indices, too."""
SIDE, MOST_FILLING, FILLED = 64, 16, 0.95
"""Rows and columns of a group's tile of a product, and the most parts with which such groups take
this share of the units at least in each of their rounds."""
EVEN = 1.5
"""Largest ratio of numbers of parts, of which the one is taken whose parts are of the same size."""
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
    ops: list[Operation]
    """Ops of the best split; none if the contraction is better as it is."""
    reason: str = ""
    """Reason for a split that was not weighed."""

    def __str__(self) -> str:
        whole = f"  whole: {self.whole * 1e6:.1f} us"
        return "\n".join([whole, *map(str, self.splits)])


class SplitKernels:
    """The kernels of splits: equal contractions, as those of equal layers, have equal ones."""

    def __init__(self):
        self._known: dict[Hashable, tuple[Facts, ...]] = {}

    def of(self, op: ContractionOp, facts: Facts, index: str, parts: int) -> tuple[Facts, ...]:
        """The kernels of a split, the last one first; none if it is refused."""
        types = tuple(v.type for v in (*op.operands, op.result))
        key = facts, types, tuple(sorted(op.properties.items())), index, parts
        if key not in self._known:
            made = _split(op, facts, index, parts)
            # A contraction that fills a tensor with one number is fused away, or short.
            self._known[key] = tuple(
                contraction_facts(x)
                for x in reversed(made)
                if isinstance(x, ContractionOp) and x.aggregation.data is not Aggregation.assign
            )
            for unused in reversed(made):
                unused.erase()
        return self._known[key]


def _split(op: ContractionOp, facts: Facts, index: str, parts: int) -> list[Operation]:
    """The ops of a split; none if it is refused."""
    try:
        return ReductionSplit(op, index, parts, _multiple(facts.extents[index], parts)).ops()
    except TileError:
        return []


def search_splits_ahead(
    ops: Iterable[ContractionOp],
    device: Device,
    precision: str,
    known: SplitKernels,
    *,
    every: bool = False,
) -> None:
    """Search for the schedules of contractions and of their splits at once, if there is a way to;
    with ``every`` for those of contractions without splits, too.

    Some of the splits that this is done for are not weighed to the end.
    """
    aggregates = (op for op in ops if op.domain and op.aggregation.data is not Aggregation.assign)
    wanted: list[tuple[ContractionOp, Facts, int]] = []

    def wholes() -> Iterator[Facts]:
        for op in aggregates:
            facts = contraction_facts(op)
            outputs = prod(facts.extents[name] for name in facts.output_indices)
            is_open = not _plain_reason(op, facts, outputs, device, precision)
            if is_open:
                wanted.append((op, facts, outputs))
            if is_open or every:
                yield facts

    def pieces() -> Iterator[Facts]:
        for op, facts, outputs in wanted:
            if not _groups_reason(facts, outputs, device):
                for index, parts in _splits(op, facts, outputs, device):
                    yield from known.of(op, facts, index, parts)

    search_ahead(wholes(), device)
    search_ahead(pieces(), device)


def weighed_splits(
    op: ContractionOp, device: Device, precision: str, known: SplitKernels | None = None
) -> Weighed | str:
    """Estimated times of the splits of a contraction, or the reason why none was weighed.

    ``known`` keeps the kernels of splits for other contractions. A product on tensor cores with
    this ``precision`` has parts if its tiles fill too few units.
    """
    if op.domain is None:
        return "the ranges of its indices are not known yet"
    facts = contraction_facts(op)
    if (split := _row_sums(op, facts, device)) is not None:
        return split
    if (split := _on_tensor_cores(op, facts, device, precision)) is not None:
        return split
    outputs = prod(facts.extents[name] for name in facts.output_indices)
    reason = _plain_reason(op, facts, outputs, device, precision)
    if reason := reason or _groups_reason(facts, outputs, device):
        return reason
    known, chosen = known or SplitKernels(), None
    splits: list[WeighedSplit] = []
    whole = best_seconds(facts, device)
    launch = device.launch_seconds
    least = launch + SPLIT_GAIN * (whole - launch)
    are_columns = (
        device.traits.interleaves_groups
        and outputs >= device.compute_units
        and not facts.is_product
    )
    for index, parts in _splits(op, facts, outputs, device):
        if kernels := known.of(op, facts, index, parts):
            enough = MORE_PARTS * least if chosen is not None and are_columns else least
            seconds, is_known = _seconds(enough, kernels, device)
            splits.append(WeighedSplit(index, parts, seconds, is_known))
            if seconds < enough:
                chosen, least = (index, parts), seconds
    if not splits:
        return "it has no sum that can be split"
    return Weighed(whole, tuple(splits), _split(op, facts, *chosen) if chosen is not None else [])


def _row_sums(op: ContractionOp, facts: Facts, device: Device) -> Weighed | None:
    """Split into the sums of rows, where summed elements need other aggregates of their row.

    As in a cross entropy: a row kernel then reads each row once, and its elements are never
    written.
    """
    # A core reads rows again from its caches.
    if not device.traits.interleaves_groups or (index := _row_index(op)) is None:
        return None
    rows = facts.extents[index]
    if not device.is_busy_with(rows) or split_obstacle(op, index) is not None:
        return None
    reason = f"each {index} has a sum of its own, for which its elements are never written"
    return Weighed(0.0, (), ReductionSplit(op, index, rows, each=True).ops(), reason)


def _on_tensor_cores(
    op: ContractionOp, facts: Facts, device: Device, precision: str
) -> Weighed | None:
    """Split into products that tensor cores compute at the same time."""
    found = parts_on_tensor_cores(facts, device, precision)
    if found is None or split_obstacle(op, found.index) is not None:
        return None
    if tensor_core_schedule(facts, device, precision) is None:
        # Without parts it is computed elsewhere, by one kernel.
        seconds = found.seconds + device.launch_seconds
        if seconds > SPLIT_GAIN * best_seconds(facts, device):
            return None
    reason = f"{found.count} parts of {found.index} have tiles for more of the tensor cores"
    return Weighed(0.0, (), ReductionSplit(op, found.index, found.count, 2 * CHUNK).ops(), reason)


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


def _plain_reason(
    op: ContractionOp, facts: Facts, outputs: int, device: Device, precision: str
) -> str:
    """Reason for which no split of a contraction can gain, by its sizes; empty if one may."""
    if tensor_core_schedule(facts, device, precision) is not None:
        return "tensor cores compute it"
    if _begins_rows(op) and device.is_busy_with(outputs):
        return "its input is read again with its results, for which one kernel is best"
    if facts.points < MIN_POINTS:
        return f"its {facts.points} points are too few for a second kernel"
    units = device.compute_units
    if outputs > 2 * units * RESULTS_PER_GROUP[1]:
        return f"its {outputs} results fill the {units} compute units"
    lanes = units * device.native_vector_width
    if device.traits.has_vectors and facts.points < MIN_CPU_POINTS and outputs > lanes:
        return f"its {outputs} results are a vector or more for each of {units} compute units"
    return ""


def _groups_reason(facts: Facts, outputs: int, device: Device) -> str:
    """Reason for which no split can gain, by the groups of the best schedule; empty if one may."""
    units = device.compute_units
    if device.traits.interleaves_groups:
        groups = _groups(facts, device)
        # Groups whose items share the sums of few results are many where larger ones are too few.
        has_tiles = not _is_matrix(facts) or outputs >= groups * MIN_TILE
        if groups >= BUSY_GROUPS * units and has_tiles:
            return f"its {groups} groups fill the {units} compute units"
    return ""


def _is_matrix(facts: Facts) -> bool:
    """Whether the results are a product of matrices, with an index of each alone."""
    moving = {name for name in facts.output_indices if facts.extents[name] > 1}
    return facts.is_product and all(moving - t.names for t in facts.inputs)


def _groups(facts: Facts, device: Device) -> int:
    """Number of work-groups of the best schedule."""
    found = best(facts, device)
    return found.estimate.groups if found is not None else 0


def _splits(
    op: ContractionOp, facts: Facts, outputs: int, device: Device
) -> Iterator[tuple[str, int]]:
    """Index that moves the inputs farthest, and numbers of parts that fill the device.

    Where units need several groups, an index of few values, as taps have, or fewer than the parts
    that few results need, has no parts if there is another.
    """
    many_groups = device.traits.interleaves_groups
    needed = min(
        2 * device.compute_units, ceil(2 * device.compute_units * RESULTS_PER_GROUP[0] / outputs)
    )
    summed = [
        name
        for name in facts.reduced_indices
        if facts.extents[name] > 1 and split_obstacle(op, name) is None
    ]

    def reach(name: str) -> tuple[bool, int]:
        is_long = many_groups and facts.extents[name] >= max(FEW_PARTS, min(needed, MIN_LONG_INDEX))
        strides = (abs(t.strides.get(name, 0)) for t in facts.inputs)
        return is_long, max(strides) * facts.extents[name]

    if summed:
        index = max(summed, key=reach)
        extent = facts.extents[index]
        wanted = _wanted(facts, index, outputs, device)
        fitting = {_even(n, extent) if many_groups else min(n, extent) for n in wanted}
        for parts in sorted(fitting):
            if parts > 1:
                yield index, parts


def _wanted(facts: Facts, index: str, outputs: int, device: Device) -> list[int]:
    """Numbers of parts along an index that fill the device."""
    many_groups = device.traits.interleaves_groups
    wanted = [ceil(2 * device.compute_units * size / outputs) for size in RESULTS_PER_GROUP]
    if many_groups:
        # Of few results each group may have all, and a part.
        wanted.append(2 * device.compute_units)
        if outputs >= device.compute_units:
            # Half as many groups, whose sums are longer.
            wanted.append(ceil(device.compute_units * RESULTS_PER_GROUP[0] / outputs))
        if _is_matrix(facts):
            wanted += _filling(facts, index, device)
    elif outputs == 1 and facts.points >= MIN_LONG_SUM:
        # Long parts are read in vectors from end to end; each short one joins their lanes.
        longest = ceil_div(facts.extents[index], MAX_LONG_PART)
        wanted.append(max(LONG_PARTS_PER_CORE * device.compute_units, longest))
    few = 2 * device.compute_units * RESULTS_OF_ONE_WAVE // outputs
    return [*wanted, few] if few < FEW_PARTS + many_groups else wanted


def _filling(facts: Facts, index: str, device: Device) -> list[int]:
    """The least number of parts of whose tiles all units have as many, or nearly; none if few parts
    have none."""
    outputs = {name for name in facts.output_indices if facts.extents[name] > 1}
    common = outputs.intersection(*(t.names for t in facts.inputs))
    sides = [prod(facts.extents[n] for n in (outputs & t.names) - common) for t in facts.inputs]
    tiles = prod(facts.extents[n] for n in common) * prod(ceil_div(n, SIDE) for n in sides)
    for parts in range(2, MOST_FILLING + 1):
        rounds = tiles * parts / device.compute_units
        if facts.extents[index] % (CHUNK * parts) == 0 and rounds >= FILLED * ceil(rounds):
            return [parts]
    return []


def _even(parts: int, extent: int) -> int:
    """Nearest number of parts of the same size, in whole chunks if parts are that long."""
    parts = min(parts, extent)
    unit = CHUNK if extent >= CHUNK * parts else 1
    near = range(ceil(parts / EVEN), int(parts * EVEN) + 1)
    return min(
        (n for n in near if extent % (unit * n) == 0), key=lambda n: abs(n - parts), default=parts
    )


def _multiple(extent: int, parts: int) -> int:
    """Number that divides the sizes of parts: aligned chunks, if parts are long."""
    return CHUNK if extent >= 4 * CHUNK * parts else 1


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
