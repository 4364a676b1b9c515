"""Mapping: patterns of a program to work-groups, work-items, memories and vectors.

The second of Lift's three phases, after the algorithmic one. Every way is made by rewrite rules, so
it is a derivation; which one is decided by a chooser, so the ways of a program are a space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.lift import layout, maps, memory, reductions
from tiledialect.dialects.lift.types import as_array, leading
from tiledialect.errors import TileError
from tiledialect.exploration.lift.copies import (
    COLUMNS,
    COPIES,
    LOCAL,
    NONE,
    PRIVATE,
    copy_elements,
    copy_parts,
    held_reduction,
)
from tiledialect.exploration.lift.levels import (
    by_groups,
    has_inside,
    held,
    kernel_maps,
    level,
    levels,
    open_patterns,
    reduces_parts,
)
from tiledialect.exploration.lift.parameters import KEPT, Kept
from tiledialect.exploration.lift.planes import PLANES, copy_planes, rule_for, slid
from tiledialect.exploration.lift.settings import MappingSettings, native_lanes
from tiledialect.exploration.lift.unrolling import UNROLLED, each_once, short_loops, unroll
from tiledialect.exploration.lift.vectors import vectorize
from tiledialect.passes.lift.rules.collections import RULES
from tiledialect.passes.lift.rules.places import reachable
from tiledialect.passes.lift.rules.refusal import NotApplicable
from tiledialect.passes.lift.rules.rule import Rewriting, Strategy
from tiledialect.passes.lift.strategies.combinators import Local
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.search.decisions import Chooser, DeadEndError, enumerated

DEFAULT = "default"
"""Mapping of `lift-lower`."""
SEQUENTIAL, WARPS = "seq", "warps"

GLOBAL = {
    "global0": "0",
    "global01": "01",
    "global10": "10",
    "global012": "012",
    "global210": "210",
}
"""Settings of maps over all work-items, with the dimensions from the outermost map on."""
GROUPS = {"group0": "0", "group01": "01", "group10": "10"}
"""Settings of maps over work-groups, inside of which there are maps over their work-items."""
ROWS = {"rows0": "0", "rows01": "01", "rows10": "10"}
"""Maps over work-groups of a single work-item."""
PARTS = {"parts01": "01", "parts10": "10"}
"""Maps over work-groups along a dimension, whose work-items share out the two maps inside: elements
and the parts of each."""
LINES = {"lines10": "10"}
"""Maps over work-groups along two dimensions, whose work-items share out the map inside."""
HELD = {"held01": "01", "held10": "10"}
"""Maps over work-groups whose work-items hold the accumulators of a reduction inside."""
ITEMS = {**GROUPS, **PARTS, **HELD, **dict.fromkeys(LINES, "0")}
"""Dimensions of the maps over the work-items of a group, from the outermost map on."""
MAPPINGS = (DEFAULT, *GLOBAL, *GROUPS, *ROWS, *PARTS, *LINES, *HELD, PLANES, WARPS, SEQUENTIAL)

NO, YES = "no", "yes"
GROUPS_OF_UNIT, GROUPS_EACH = "groups of a unit", (1, 4, 16)
"""Decision on the number of work-groups for each unit of the device; 0: one for each element."""
AHEAD = "ahead"
"""Decision whether what a group keeps in local memory is fetched a step ahead."""
WAYS = ("moving", "ends", AHEAD)
"""Decisions between yes and no."""

WIDTHS = (2, 4, 8, 16)


def mapping(
    program: Derivation | ModuleOp,
    settings: MappingSettings | None = None,
    device: Device | None = None,
    most: int = 100,
) -> list[Derivation]:
    """Mappings of a program, at most so many, the default first; without duplicates.

    Example:
    ```python
    found = mapping(Derivation.of(stencil))
    assert any("map_wrg" in derivation.text for derivation in found)
    ```
    """
    start = Derivation.of(program)
    space = MappingSpace(start, settings or MappingSettings(), device)
    found: dict[str, Derivation] = {}
    for _, derivation in enumerated(space.mapped):
        found.setdefault(derivation.text, derivation)
        if len(found) == most:
            break
    return [*found.values()]


@dataclass(frozen=True)
class MappingSpace:
    """Space of the mappings of a program."""

    program: Derivation
    settings: MappingSettings
    device: Device | None = None
    made: dict[tuple[object, ...], Derivation | None] = field(
        default_factory=dict[tuple[object, ...], "Derivation | None"], compare=False
    )
    """Programs by decisions, as searches come to them again."""
    kept: Kept = field(default_factory=lambda: Kept(KEPT), compare=False)
    """The last ones with unrolled loops."""

    def mapped(self, chooser: Chooser) -> Derivation:
        """The mapping that decisions make; raises a ``DeadEndError`` if they make none."""
        program, width = self.program, self._width(chooser)
        if width > 1:
            start, in_vectors = program, partial(vectorize, width=width)
            program = self._once((width,), lambda: _followed(start, in_vectors)) or start
        word = str(chooser.choose("mapping", self._mappings(program.function), MAPPINGS))
        if word == DEFAULT:
            return program
        if word == PLANES:
            # Work-items have neighbours in local memory, which vectors do not take apart.
            program, width = self.program, 1
        copies = str(chooser.choose("copies", self._copies(word), COPIES))
        assign_work = partial(_assign_work, word=word)
        shared = self._once((width, word), lambda: _followed(program, assign_work))
        if shared is None:
            raise DeadEndError(f"mapping {word}")
        stages = [partial(_copy, word=word, copies=copies, width=width)] * (copies != NONE)
        stages += [_hold] * (word in HELD)
        mapped = self._once((width, word, copies), lambda: _followed(shared, *stages))
        if mapped is None:
            raise DeadEndError(f"copies {copies}")
        key = (width, word, copies)
        if any(_moving(mapped.function)) and chooser.choose("moving", [NO, YES]) == YES:
            start, key = mapped, (*key, "moving")
            mapped = self._once(key, lambda: _followed(start, _move)) or start
        may_fetch = self._items_are_lanes and any(_fetched(mapped.function))
        if may_fetch and chooser.choose(AHEAD, [NO, YES]) == YES:
            start, key = mapped, (*key, AHEAD)
            mapped = self._once(key, lambda: _followed(start, _fetch_ahead)) or start
        if _has_pads(mapped.function) and chooser.choose("ends", [NO, YES]) == YES:
            start, key = mapped, (*key, "ends")
            mapped = self._once(key, lambda: _followed(start, _map_ends)) or start
        return self._balanced(mapped, key, chooser)

    @property
    def _items_are_lanes(self) -> bool:
        return self.device is None or not self.device.traits.has_vectors

    def _balanced(
        self, mapped: Derivation, key: tuple[object, ...], chooser: Chooser
    ) -> Derivation:
        """The mapping with a group for each element, or with some for each unit of the device,
        which go through elements in strides."""
        units = 0 if self.device is None else self.device.compute_units
        if not (self.settings.balance and units and any(by_groups(mapped.function))):
            return mapped
        each = int(chooser.choose(GROUPS_OF_UNIT, [0, *GROUPS_EACH]))
        if each == 0:
            return mapped
        limit = partial(_limit, groups=each * units)
        return self._once((*key, each), lambda: _followed(mapped, limit)) or mapped

    def _once(
        self, key: tuple[object, ...], make: Callable[[], Derivation | None]
    ) -> Derivation | None:
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def _mappings(self, function: func.FuncOp) -> list[str]:
        """Mappings that the settings enable, and the program is deep enough for."""
        deepest = max((levels(k) for k in kernel_maps(function)), default=0)
        found = [DEFAULT]
        for table, each in ((GLOBAL, 1), (GROUPS, 2)):
            found += [
                name
                for name, dims in table.items()
                if getattr(self.settings, name) and each * len(dims) <= deepest
            ]
        traits = self.device.traits if self.device is not None else None
        items_are_lanes = self._items_are_lanes
        if self.settings.sequential and (traits is None or traits.has_vectors):
            # Groups of one work-item leave the other lanes of a sub-group idle.
            found += [name for name, dims in ROWS.items() if len(dims) < deepest]
        if self.settings.lines and items_are_lanes and deepest > 2:
            found += LINES
        if self.settings.group01 and held(function, 2) is not None:
            found += HELD
        has_local = self.settings.local_memory and (traits is None or traits.has_local_memory)
        if has_local and slid(self.program.function) is not None:
            found.append(PLANES)
        if self.settings.parts and items_are_lanes and reduces_parts(function, 2):
            found += PARTS
        if self.settings.warps and deepest > 1 and items_are_lanes:
            found.append(WARPS)
        return found

    def _width(self, chooser: Chooser) -> int:
        """Lanes of vectors; 1: none."""
        if not self.settings.vectorize:
            return 1
        most = self.settings.vector_width or native_lanes(self.device)
        return int(chooser.choose("vectors", [1, *(w for w in WIDTHS if w <= most)]))

    def _copies(self, word: str) -> list[str]:
        if word == PLANES:
            return [LOCAL]
        found = [NONE]
        if self.settings.local_memory and word in (*GROUPS, *ROWS, *HELD):
            found += [LOCAL, COLUMNS]
        if self.settings.private_memory and word in (*GLOBAL, *GROUPS):
            found.append(PRIVATE)
        return found

    def unrolled(self, derivation: Derivation, chooser: Chooser) -> Derivation:
        """The program with loops of few steps unrolled, which is a decision.

        It comes after the sizes are bound: a loop of an open number of steps cannot be unrolled.
        """
        if not self.settings.unroll_reduce:
            return derivation
        counts = [0, *(n for n in UNROLLED if any(short_loops(derivation.function, n)))]
        most = int(chooser.choose("unroll", counts)) if len(counts) > 1 else 0
        key = derivation.text, most
        found = self.kept.find(key) or _followed(derivation, partial(unroll, most=most))
        return self.kept.put(key, found or derivation)


def _has_pads(function: func.FuncOp) -> bool:
    return any(isinstance(op, layout.PadOp) for op in reachable(function))


def _followed(derivation: Derivation, *stages: Callable[[Rewriting], None]) -> Derivation | None:
    """The derivation with the steps that functions take; None if one takes none or fails."""
    for run in stages:

        def at_result(
            rewriting: Rewriting, value: SSAValue, run: Callable[[Rewriting], None] = run
        ) -> SSAValue:
            run(rewriting)
            if not rewriting.steps:
                raise NotApplicable("nothing applies")
            return value

        try:
            derivation = derivation.apply(Local(at_result))
        except TileError:
            return None
    return derivation


# -- steps -----------------------------------------------------------------------------------------


DIMENSIONS = {**GLOBAL, **GROUPS, **ROWS, **dict.fromkeys(PARTS, "0"), **LINES, **HELD, WARPS: "0"}
"""Dimensions of the outermost maps."""


def _assign_work(rewriting: Rewriting, word: str) -> None:
    """Map every open pattern to work-groups, work-items or a loop; raises if one cannot be."""
    outer = DIMENSIONS.get(word, "")
    while (op := next(open_patterns(rewriting.function), None)) is not None:
        if isinstance(op, reductions.ReduceOp):
            RULES["reduce_seq"].run(rewriting, op.results[0])
        else:
            _rule_for(op, word, outer).run(rewriting, op.results[0])


def _rule_for(op: Operation, word: str, outer: str) -> Strategy:
    """Rule that maps a map to work-groups, work-items or a loop."""
    if word == PLANES:
        return rule_for(op)
    number = level(op, len(outer) if word in HELD else None)
    if number is None:
        return RULES["map_seq"]
    count = len(outer)
    if word in GLOBAL:
        inside = number >= count
        return RULES["map_seq"] if inside else _or_seq(RULES["map_glb"](dim=int(outer[number])))
    if word in ROWS or word in ITEMS:
        if number < count:
            return _or_seq(RULES["map_wrg"](dim=int(outer[number])))
        for dim in ITEMS.get(word, "")[number - count :][:1]:
            return _or_seq(RULES["map_lcl"](dim=int(dim)))
        return RULES["map_seq"]
    if word == WARPS and number < 2:
        return _or_seq(RULES[("map_warp", "map_lane")[number]])
    return RULES["map_seq"]


def _or_seq(rule: Strategy) -> Strategy:
    """The rule, or a loop where it does not apply."""

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        try:
            return rule.run(rewriting, value)
        except NotApplicable:
            return RULES["map_seq"].run(rewriting, value)

    return Local(run)


def _hold(rewriting: Rewriting) -> None:
    """Keep the accumulator of a reduction with the work-items that compute it."""
    RULES["to_private"].run(rewriting, held_reduction(rewriting.function).results[0])


def _copy(rewriting: Rewriting, word: str, copies: str, width: int) -> None:
    """Copy the elements of the innermost maps over groups, or over work-items, or parts of them."""
    if word in HELD:
        copy_parts(rewriting, held_reduction(rewriting.function), copies, width)
    elif word == PLANES:
        copy_planes(rewriting)
    else:
        copy_elements(rewriting, [int(d) for d in GROUPS.get(word, "")], copies, width)


def _map_ends(rewriting: Rewriting) -> None:
    """Treat the elements at the ends of the innermost rows apart, which are padded."""
    live = reachable(rewriting.function)
    pads = [op for op in live if isinstance(op, layout.PadOp)]
    widths = [s for op in pads for s in (op.left.data, op.right.data)]
    most = max((s.value for s in widths if s.value is not None), default=0)
    if most == 0:
        raise NotApplicable("nothing is padded")
    rows = [op for op in live if isinstance(op, maps.MapSeqOp | maps.MapGlbOp | maps.MapLclOp)]
    for op in rows:
        size = leading(as_array(op.input, op.pattern())).value
        inside = has_inside(op, (maps.MapBase,)) or level(op) is None
        if not inside and size is not None and size > 2 * most:
            RULES["map_ends"](n=most).run(rewriting, op.results[0])


def _limit(rewriting: Rewriting, groups: int) -> None:
    """Limit the work-groups of the outermost maps."""
    each_once(rewriting, by_groups, RULES["limit_groups"](groups=groups))


def _fetched(function: func.FuncOp) -> Iterator[Operation]:
    """Values in local memory of the steps of reductions, which can be fetched a step ahead."""
    for op in reachable(function):
        loop = op.parent_op()
        if isinstance(op, memory.ToLocalOp) and isinstance(loop, reductions.ReduceSeqOp):
            yield op


def _fetch_ahead(rewriting: Rewriting) -> None:
    """Fetch the values of the next steps ahead."""
    each_once(rewriting, _fetched, RULES["fetch_ahead"])


def _moving(function: func.FuncOp) -> Iterator[Operation]:
    """Loops over windows, which can move through registers."""
    for op in reachable(function):
        if isinstance(op, maps.MapSeqOp) and isinstance(op.input.owner, layout.SlideOp):
            yield op


def _move(rewriting: Rewriting) -> None:
    """Keep the windows of loops in registers, where only the new elements are loaded."""
    each_once(rewriting, _moving, RULES["map_seq_slide_seq"])
