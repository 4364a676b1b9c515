"""Mapping: who does the patterns of a program, in which memory, by which vectors.

The second of Lift's three phases, after the algorithmic one. Every way is made by rewrite rules, so
it is a derivation; which one is decided by a chooser, so the ways of a program are a space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.lift import layout, maps, reductions, values
from tiledialect.dialects.lift.base import YieldOp
from tiledialect.dialects.lift.types import as_array, leading, sizes_of
from tiledialect.errors import TileError
from tiledialect.exploration.settings import MappingSettings, native_lanes
from tiledialect.ir.ancestors import ancestors
from tiledialect.passes.lift.rules.collections import RULES
from tiledialect.passes.lift.rules.places import reachable
from tiledialect.passes.lift.rules.refusal import NotApplicable
from tiledialect.passes.lift.rules.rule import Rewriting, Strategy
from tiledialect.passes.lift.strategies.combinators import Local, at_results
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.passes.lift.strategies.mapping import computes
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
MAPPINGS = (DEFAULT, *GLOBAL, *GROUPS, *ROWS, WARPS, SEQUENTIAL)

NONE, LOCAL, COLUMNS, PRIVATE = "none", "local", "columns", "private"
"""Copies of the elements of a group or a work-item: none, in local memory, there with columns for
rows, in private memory."""
COPIES = (NONE, LOCAL, COLUMNS, PRIVATE)
NO, YES = "no", "yes"

UNROLLED = 64
"""Most steps of loops that are unrolled, with those of the loops inside."""
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

    def mapped(self, chooser: Chooser) -> Derivation:
        """The mapping that decisions make; raises a ``DeadEndError`` if they make none."""
        program, width = self.program, self._width(chooser)
        if width > 1:
            start, vectorize = program, partial(_vectorize, width=width)
            program = self._once((width,), lambda: _followed(start, vectorize)) or start
        word = str(chooser.choose("mapping", self._mappings(program.function), MAPPINGS))
        if word == DEFAULT:
            return program
        copies = str(chooser.choose("copies", self._copies(word), COPIES))
        share_out = partial(_share_out, word=word, copies=copies, width=width)
        mapped = self._once((width, word, copies), lambda: _followed(program, share_out))
        if mapped is None:
            raise DeadEndError(f"mapping {word}")
        if _has_pads(mapped.function) and chooser.choose("ends", [NO, YES]) == YES:
            ends = (width, word, copies, "ends")
            return self._once(ends, lambda: _followed(mapped, _map_ends)) or mapped
        return mapped

    def _once(
        self, key: tuple[object, ...], make: Callable[[], Derivation | None]
    ) -> Derivation | None:
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def _mappings(self, function: func.FuncOp) -> list[str]:
        """Mappings that the settings enable, and the program is deep enough for."""
        levels = max((_levels(k) for k in kernel_maps(function)), default=0)
        found = [DEFAULT]
        for table, each in ((GLOBAL, 1), (GROUPS, 2)):
            found += [
                name
                for name, dims in table.items()
                if getattr(self.settings, name) and each * len(dims) <= levels
            ]
        if self.settings.sequential:
            found += [name for name, dims in ROWS.items() if len(dims) < levels]
        if self.settings.warps and levels > 1 and (self.device is None or self.device.is_gpu):
            found.append(WARPS)
        return found

    def _width(self, chooser: Chooser) -> int:
        """Lanes of vectors; 1: none."""
        if not self.settings.vectorize:
            return 1
        most = self.settings.vector_width or native_lanes(self.device)
        return int(chooser.choose("vectors", [1, *(w for w in WIDTHS if w <= most)]))

    def _copies(self, word: str) -> list[str]:
        found = [NONE]
        if self.settings.local_memory and word in (*GROUPS, *ROWS):
            found += [LOCAL, COLUMNS]
        if self.settings.private_memory and word in (*GLOBAL, *GROUPS):
            found.append(PRIVATE)
        return found

    def unrolled(self, derivation: Derivation, chooser: Chooser) -> Derivation:
        """The program with loops of few steps unrolled, which is a decision.

        It comes after the sizes are bound: a loop of an open number of steps cannot be unrolled.
        """
        if not self.settings.unroll_reduce or not any(_short_loops(derivation.function)):
            return derivation
        if chooser.choose("unroll", [NO, YES]) == NO:
            return derivation
        return _followed(derivation, _unroll) or derivation


def _has_pads(function: func.FuncOp) -> bool:
    return any(isinstance(op, layout.PadOp) for op in reachable(function))


def _followed(derivation: Derivation, run: Callable[[Rewriting], None]) -> Derivation | None:
    """The derivation with the steps that a function takes; None if it takes none or fails."""

    def at_result(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        run(rewriting)
        if not rewriting.steps:
            raise NotApplicable("nothing applies")
        return value

    try:
        return derivation.apply(Local(at_result))
    except TileError:
        return None


# -- patterns of a program -------------------------------------------------------------------------


def kernel_maps(function: func.FuncOp) -> list[maps.MapBase]:
    """Outermost maps that compute."""
    return [*_maps_in(function.body.block, reachable(function))]


def _maps_in(block: Block, live: dict[Operation, None]) -> Iterator[maps.MapBase]:
    """Maps of a block that compute, and those of blocks around kernels."""
    for op in block.ops:
        if op not in live:
            continue
        if isinstance(op, reductions.IterateOp | values.LetOp):
            yield from _maps_in(op.block, live)
        elif isinstance(op, maps.MapBase) and computes(op):
            yield op


def _levels(op: maps.MapBase) -> int:
    """Maps around one another, from a map on: reductions are done by one work-item."""
    inner = (_levels(x) for x in op.block.ops if isinstance(x, maps.MapBase) and computes(x))
    return 1 + max(inner, default=0)


def _level(op: Operation) -> int | None:
    """Number of the maps around a map; None inside of a reduction."""
    count = 0
    for around in ancestors(op):
        if isinstance(around, reductions.ReduceBase | maps.MapSeqSlideOp):
            return None
        count += isinstance(around, maps.MapBase)
    return count


def _open(function: func.FuncOp) -> Iterator[Operation]:
    """Maps and reductions of which nobody says who does them, the outermost first."""
    live = reachable(function)
    for op in function.walk():
        is_open = isinstance(op, reductions.ReduceOp) or (
            isinstance(op, maps.MapOp) and computes(op)
        )
        if is_open and op in live:
            yield op


def _each(
    rewriting: Rewriting, found: Callable[[func.FuncOp], Iterator[Operation]], rule: Strategy
) -> None:
    """Apply a rule at all places that a function finds, where it applies, each once."""
    refused: set[Operation] = set()
    while True:
        op = next((x for x in found(rewriting.function) if x not in refused), None)
        if op is None:
            return
        refused.add(op)
        try:
            rule.run(rewriting, op.results[0])
        except NotApplicable:
            continue


# -- steps -----------------------------------------------------------------------------------------


def _vectorize(rewriting: Rewriting, width: int) -> None:
    """Give the innermost maps of pairs and reductions of numbers vectors."""
    live = reachable(rewriting.function)
    inner = [op for op in live if _is_innermost(op)]
    for kind, name in ((maps.MapOp, "vectorize_zip"), (reductions.ReduceOp, "vectorize_reduce")):
        for op in inner:
            if isinstance(op, kind):
                with suppress(NotApplicable):
                    RULES[name](w=width).run(rewriting, op.results[0])
    if rewriting.steps:
        at_results(rewriting, RULES["fuse_parts"])


def _is_innermost(op: Operation) -> bool:
    inner = (maps.MapBase, reductions.ReduceBase, layout.SlideOp, layout.AsVectorOp)
    return not any(isinstance(x, inner) for x in op.walk() if x is not op)


def _share_out(rewriting: Rewriting, word: str, copies: str, width: int) -> None:
    """Say of every open pattern who does it; refuses what cannot be said."""
    outer = GLOBAL.get(word) or GROUPS.get(word) or ROWS.get(word) or "0" * (word == WARPS)
    while (op := next(_open(rewriting.function), None)) is not None:
        if isinstance(op, reductions.ReduceOp):
            RULES["reduce_seq"].run(rewriting, op.results[0])
        else:
            _rule_for(op, word, outer).run(rewriting, op.results[0])
    if copies != NONE:
        _copy(rewriting, copies, outer if word in GROUPS else "", width)


def _rule_for(op: Operation, word: str, outer: str) -> Strategy:
    """Rule that says who does a map."""
    level = _level(op)
    if level is None:
        return RULES["map_seq"]
    count = len(outer)
    if word in GLOBAL:
        return (
            _or_seq(RULES["map_glb"](dim=int(outer[level]))) if level < count else RULES["map_seq"]
        )
    if word in GROUPS or word in ROWS:
        if level < count:
            return _or_seq(RULES["map_wrg"](dim=int(outer[level])))
        if word in GROUPS and level < 2 * count:
            return _or_seq(RULES["map_lcl"](dim=int(outer[level - count])))
        return RULES["map_seq"]
    if word == WARPS and level < 2:
        return _or_seq(RULES[("map_warp", "map_lane")[level]])
    return RULES["map_seq"]


def _or_seq(rule: Strategy) -> Strategy:
    """The rule, or a loop where it does not apply."""

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        try:
            return rule.run(rewriting, value)
        except NotApplicable:
            return RULES["map_seq"].run(rewriting, value)

    return Local(run)


def _copy(rewriting: Rewriting, copies: str, outer: str, width: int) -> None:
    """Copy the elements of the innermost maps over groups, or over work-items.

    ``outer`` are the dimensions along which the work-items of a group share out a copy.
    """
    is_local = copies in (LOCAL, COLUMNS)
    kinds = (maps.MapWrgOp,) if is_local else (maps.MapGlbOp, maps.MapLclOp)
    live = reachable(rewriting.function)
    found = [
        op
        for op in rewriting.function.walk()
        if op in live and isinstance(op, kinds) and not _has_inside(op, kinds)
    ]
    if not found:
        raise NotApplicable("there is nothing to copy")
    for op in found:
        t = op.block.args[0].type
        if not isinstance(t, TensorType):
            raise NotApplicable("the elements are no arrays")
        rank = len(sizes_of(t))
        dims = [int(d) for d in outer][-rank:] if is_local else []
        if is_local and len(dims) < len(outer):
            raise NotApplicable("the elements have fewer axes than the group")
        if copies == COLUMNS and rank != 2:
            raise NotApplicable("the elements are no matrices")
        _copy_element(rewriting, op, rank, dims, copies, width)


def _copy_element(
    rewriting: Rewriting,
    op: Operation,
    rank: int,
    dims: Sequence[int],
    copies: str,
    width: int,
) -> None:
    """Copy the elements of a map, arrays of so many axes, which work-items share out along some."""
    if copies == COLUMNS:
        outer = RULES["add_transposed_identity_inside"].run(rewriting, op.results[0]).owner
    else:
        outer = RULES["add_identity_inside"].run(rewriting, op.results[0]).owner
        for k in range(rank - 1):
            RULES["add_identity_inside"].run(rewriting, _copy_in(outer, k).results[0])
    if width > 1 and not dims:
        inner = _copy_in(outer, rank - 1)
        with suppress(NotApplicable):
            new = RULES["vectorize"](w=width).run(rewriting, inner.results[0])
            RULES["vectorize_function"].run(rewriting, new.owner.operands[0])
    for k in range(rank):
        rule = RULES["map_lcl"](dim=dims[k]) if k < len(dims) else RULES["map_seq"]
        rule.run(rewriting, _copy_in(outer, k).results[0])
    rule = RULES["to_private" if copies == PRIVATE else "to_local"]
    rule.run(rewriting, _copy_in(outer, 0).results[0])


def _copy_in(outer: Operation | Block, depth: int) -> Operation:
    """The copy that the function of a map begins with, or one inside of it."""
    assert isinstance(outer, maps.MapBase)
    for value in _as_other_views(outer.block.args[0]):
        for use in value.uses:
            op = use.operation
            if isinstance(op, maps.MapBase) and _is_copy(op) and op.results[0].uses.get_length():
                return op if depth == 0 else _copy_in(op, depth - 1)
    raise NotApplicable("there is no copy")


def _as_other_views(value: SSAValue) -> Iterator[SSAValue]:
    """A value, and it transposed or in vectors."""
    yield value
    for use in value.uses:
        if isinstance(use.operation, layout.TransposeOp | layout.AsVectorOp):
            yield use.operation.results[0]


def _is_copy(op: Operation) -> bool:
    kinds = (maps.MapBase, layout.AsVectorOp, layout.AsScalarOp, YieldOp)
    return all(isinstance(x, kinds) for x in op.walk())


def _has_inside(op: Operation, kinds: tuple[type[Operation], ...]) -> bool:
    return any(isinstance(x, kinds) for x in op.walk() if x is not op)


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
        inside = _has_inside(op, (maps.MapBase,)) or _level(op) is None
        if not inside and size is not None and size > 2 * most:
            RULES["map_ends"](n=most).run(rewriting, op.results[0])


LOOPS = (maps.MapSeqOp, reductions.ReduceSeqOp)
UNROLLED_LOOPS = (maps.MapSeqUnrollOp, reductions.ReduceSeqUnrollOp)


def _short_loops(function: func.FuncOp) -> Iterator[Operation]:
    """Loops of a small and known number of steps, with those of the loops inside."""
    live = reachable(function)
    for op in function.walk():
        if op in live and type(op) in LOOPS and _steps(op) <= UNROLLED:
            yield op


def _steps(op: Operation) -> float:
    """Copies of the innermost function if a loop and those inside of it are unrolled."""
    inner = max((_steps(x) for region in op.regions for x in region.block.ops), default=1.0)
    if not isinstance(op, (*LOOPS, *UNROLLED_LOOPS)):
        return inner
    size = leading(as_array(op.operands[-1], op.pattern())).value
    return inf if size is None else size * inner


def _unroll(rewriting: Rewriting) -> None:
    """Unroll short loops."""

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        is_map = isinstance(value.owner, maps.MapSeqOp)
        return RULES["map_seq_unroll" if is_map else "reduce_seq_unroll"].run(rewriting, value)

    _each(rewriting, _short_loops, Local(run))
