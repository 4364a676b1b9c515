"""Parameters: values of the sizes that a derivation leaves open, with their conditions.

The last of Lift's three phases. Every size of an array is a whole number, so a tile divides what
it splits; a size that others define follows them. Bounds on work-items, groups and memory are
conditions, too. A chooser decides one size after the other among the values that are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation

from tiledialect.dialects.discardable import AHEAD
from tiledialect.dialects.lift import maps, reductions, values
from tiledialect.dialects.lift.memory import ToLocalOp, ToPrivateOp
from tiledialect.dialects.lift.sharing import PARALLEL, holders, local_elements, most_groups
from tiledialect.dialects.lift.types import all_sizes, as_array, leading, sizes_of
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.errors import TileError
from tiledialect.exploration.lift.settings import ParameterSettings
from tiledialect.index.size import Size
from tiledialect.ir.ancestors import ancestors
from tiledialect.lru_cache import LruCache
from tiledialect.passes.lift.rules.open_sizes import defined_sizes, open_sizes
from tiledialect.passes.lift.rules.places import reachable
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.traits import TRAITS, Kind
from tiledialect.schedule.search.decisions import Chooser, DeadEndError, enumerated

SIZE = "size "
"""Beginning of the names of decisions on sizes."""
LOCAL_MEMORY, PRIVATE_MEMORY = 50000, 1024
"""Most bytes of a group and of a work-item, where neither the settings nor the device tell."""
KEPT = 32
"""Derivations that a search keeps, the last ones."""
Kept = LruCache[tuple[object, ...], Derivation]
FLOAT = 4
"""Bytes of a float."""
POWERS = tuple(2**k for k in range(11))
"""Values of sizes that divide nothing."""


def parameters(
    program: Derivation | ModuleOp,
    settings: ParameterSettings | None = None,
    device: Device | None = None,
    most: int = 1000,
) -> list[Derivation]:
    """Derivations that bind the open sizes, at most so many.

    Example:
    ```python
    tiled = Derivation.of(stencil).bind(N=16).apply(RULES["tile_stencil"])
    assert [d.steps[-1].sizes for d in parameters(tiled)][0] == (("v", 1),)
    ```
    """
    start = Derivation.of(program)
    space = ParameterSpace(start, settings or ParameterSettings(), device)
    found: list[Derivation] = []
    for _, derivation in enumerated(space.bound):
        found.append(derivation)
        if len(found) == most:
            break
    return found


@dataclass(frozen=True)
class Bound:
    """Lower and upper bound of the greatest of some sizes."""

    sizes: tuple[Size, ...]
    least: float = -inf
    most: float = inf

    def holds(self, chosen: Mapping[str, int]) -> bool:
        """Whether values of all names keep to it."""
        found = [_value(size, chosen) for size in self.sizes]
        known = [value for value in found if value is not None]
        return len(known) == len(found) and self.least <= max(known) <= self.most


@dataclass(frozen=True)
class ParameterSpace:
    """Space of the values of a program's open sizes."""

    program: Derivation
    settings: ParameterSettings
    device: Device | None = None
    kept: Kept = field(default_factory=lambda: Kept(KEPT), compare=False)
    """Derivations by decisions, as searches come to the last ones again."""

    def bound(self, chooser: Chooser) -> Derivation:
        """The program with the sizes that decisions give; raises a ``DeadEndError`` where the
        conditions leave none."""
        if not self.names:
            self._require({})
            return self.program
        chosen: dict[str, int] = {}
        for name in self.names:
            options = [n for n in self._candidates(name, chosen) if self._may(name, n, chosen)]
            chosen[name] = int(chooser.choose(SIZE + name, options))
        self._require(chosen)
        key = self.program.text, *chosen.items()
        try:
            return self.kept.find(key) or self.kept.put(key, self.program.bind(**chosen))
        except TileError as error:
            raise DeadEndError(error.message) from None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names that need a decision, those of what is divided before those of divisors.

        Names that others define follow.
        """
        function = self.program.function
        left = sorted(open_sizes(function) - defined_sizes(function).keys())
        found: list[str] = []
        while left:
            free = (name for name in left if not self._divided_by(name) & {*left} - {name})
            found.append(next(free, left[0]))
            left.remove(found[-1])
        return tuple(found)

    @cached_property
    def parts(self) -> Mapping[str, frozenset[str]]:
        """Names that divide other open sizes, with these: blocks in tiles."""
        pairs = ((name, self._divided_by(name) & {*self.names} - {name}) for name in self.names)
        return {name: wholes for name, wholes in pairs if wholes}

    @cached_property
    def inverse(self) -> frozenset[str]:
        """Names of which larger values make nothing but fewer work-items: sizes of their parts."""
        fractions = [size.fraction for bound in self.bounds for size in bound.sizes]
        above, below = (frozenset[str]().union(*(f[k].names for f in fractions)) for k in (0, 1))
        return (below - above) & {*self.names}

    @cached_property
    def in_vectors(self) -> frozenset[str]:
        """Names of numbers of elements that are taken in vectors: those that lanes divide."""
        fractions = (size.fraction for size in self.whole)
        whole = (top.names for top, low in fractions if (low.value or 1) > 1)
        return frozenset().union(*(names for names in whole if len(names) == 1))

    def _divided_by(self, name: str) -> frozenset[str]:
        """Names in sizes that a name must divide."""
        fractions = (size.fraction for size in self.whole)
        return frozenset().union(*(top.names for top, low in fractions if name in low.names))

    @cached_property
    def whole(self) -> tuple[Size, ...]:
        """Sizes that must be whole numbers, and at least 1."""
        return tuple(dict.fromkeys(s for s in _sizes(self.program.function) if s.names))

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        """Bounds of the device and the settings, for what does not hold of the program as it is."""
        return tuple(_bounds(self.program.function, self.settings, self.device))

    def _candidates(self, name: str, chosen: Mapping[str, int]) -> list[int]:
        """Numbers that divide all that the size must divide."""
        tops = [
            abs(number)
            for size in self.whole
            if name in size.fraction[1].names
            and (number := _value(size.fraction[0], {**chosen, **_ones(size, chosen)}))
        ]
        if not tops:
            return [*POWERS]
        top = int(min(tops))
        return sorted(_divisors(top))

    def _may(self, name: str, number: int, chosen: Mapping[str, int]) -> bool:
        """Whether a value leaves all conditions that can be decided true.

        Names that are open yet and divide count as 1: what is no whole number then never is.
        """
        known = {**chosen, name: number}
        for size in self.whole:
            if name not in size.names:
                continue
            rest = size.names - known.keys()
            if rest & size.fraction[0].names:
                continue
            value = _value(size, {**known, **dict.fromkeys(rest, 1)})
            if value is None or value < 1:
                return False
        return all(self._leaves(bound, known) for bound in self.bounds)

    def _leaves(self, bound: Bound, known: Mapping[str, int]) -> bool:
        """Whether a bound holds, or may hold by sizes that are open yet."""
        if all(size.names <= known.keys() for size in bound.sizes):
            return bound.holds(known)
        return all(_least(size, known) <= bound.most for size in bound.sizes if _grows(size))

    def _require(self, chosen: Mapping[str, int]) -> None:
        for bound in self.bounds:
            if not bound.holds(chosen):
                text = " or ".join(map(str, bound.sizes))
                raise DeadEndError(f"{text} is not within its bounds")


def _ones(size: Size, chosen: Mapping[str, int]) -> dict[str, int]:
    return {name: 1 for name in size.fraction[0].names if name not in chosen}


def _value(size: Size, values: Mapping[str, int]) -> int | None:
    """The whole number that a size is; None if it is none."""
    return size.substitute({n: v for n, v in values.items() if n in size.names}).value


def _grows(size: Size) -> bool:
    """Whether a size is a sum of products with whole exponents."""
    return all(c > 0 and all(e > 0 for _, e in powers) for powers, c in size.terms)


def _least(size: Size, known: Mapping[str, int]) -> int:
    value = _value(size, {**dict.fromkeys(size.names, 1), **known})
    return value if value is not None else 0


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def _sizes(function: func.FuncOp) -> Iterator[Size]:
    """Sizes of all arrays, and of vectors' arrays, in the order of the program."""
    for op in reachable(function):
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*op.results, *arguments):
            yield from all_sizes(value.type)
    yield from defined_sizes(function).values()


# -- bounds ----------------------------------------------------------------------------------------


def _bounds(
    function: func.FuncOp, settings: ParameterSettings, device: Device | None
) -> Iterator[Bound]:
    """Bounds of work-items, groups and memory."""
    live = [*reachable(function)]
    groups = _product(live, maps.MapWrgOp)
    items = _product(live, maps.MapLclOp)
    traits = device.traits if device is not None else TRAITS[Kind.CPU]
    if groups:
        # Units that interleave groups are busy with several.
        least = settings.min_workgroups if traits.interleaves_groups else 1
        yield Bound(groups, least, settings.max_workgroups)
    if items:
        most = settings.max_local_size
        if device is not None:
            most = min(most, device.max_work_group_size)
        yield Bound(items, 1 if traits.has_vectors else settings.min_local_size, most)
    everywhere = _product(live, maps.MapGlbOp)
    if everywhere:
        yield Bound(everywhere, settings.min_global_size)
    local = settings.max_local_memory or LOCAL_MEMORY
    private = settings.max_private_memory or PRIVATE_MEMORY
    if device is not None:
        own = device.local_mem_size
        local = min(settings.max_local_memory or own, own)
        private = settings.max_private_memory or device.registers * FLOAT * device.item_lanes
    yield from _memory(live, (ToLocalOp,), local)
    # The accumulator of a reduction of arrays is private, too.
    yield from _memory(live, (ToPrivateOp, reductions.ReduceBase), private)


def _product(live: list[Operation], kind: type[maps.DimensionMap]) -> tuple[Size, ...]:
    """Work-items or groups: the products over the dimensions of the first and of the last map along
    each, of which some make copies and others compute; none without such maps."""
    found = (_extents(ops, kind) for ops in (live, [*reversed(live)]))
    return tuple(dict.fromkeys(size for size in found if size is not None))


def _extents(live: list[Operation], kind: type[maps.DimensionMap]) -> Size | None:
    """The product over the dimensions of the first map along each; None if there is none."""
    extents: dict[int, Size] = {}
    for op in live:
        if isinstance(op, kind):
            # With a limit there are no more groups than it says, however many elements.
            limit = most_groups(op)
            extent = leading(as_array(op.input, op.pattern()))
            extents.setdefault(op.dim.data, extent if limit is None else Size.of(limit))
    if not extents:
        return None
    total = Size.of(1)
    for extent in extents.values():
        total *= extent
    return total


def _memory(
    live: list[Operation], kinds: tuple[type[Operation], ...], most: int
) -> Iterator[Bound]:
    """Bound of the bytes of a kind of memory, of those who share out a kernel."""
    total = Size.of(0)
    slides = [op for op in live if isinstance(op, maps.MapSeqSlideOp)]
    turns = {m.yielded.owner: s.size.data + s.step.data for s in slides for m in local_elements(s)}
    for op in live:
        if isinstance(op, ToPrivateOp) and isinstance(op.input.owner, reductions.ReduceBase):
            continue
        if isinstance(op, reductions.ReduceBase) and _goes_on(op):
            continue
        t = op.results[0].type if isinstance(op, kinds) else None
        if isinstance(t, TensorType) and any(isinstance(a, PARALLEL) for a in ancestors(op)):
            copies = 2 if AHEAD in op.attributes else 1
            count = turns.get(op, Size.of(copies)) * element_bytes(t.element_type)
            # Work-items hold their own elements of an accumulator that they share out.
            for size in sizes_of(t)[len(holders(op)) :]:
                count *= size
            total += count
    if total.terms:
        yield Bound((total,), most=most)


def _goes_on(op: reductions.ReduceBase) -> bool:
    """Whether a reduction begins with the accumulator of one around it, or with an element of it,
    so that both are in the same memory."""
    value, indices = op.initial, list[int]()
    while True:
        made = value.owner
        if isinstance(made, values.GetOp):
            indices.append(made.index.data)
            value = made.input
        elif isinstance(made, values.ZipOp):
            value = made.operands[indices.pop()]
        elif isinstance(made, Block) and isinstance(outer := made.parent_op(), maps.MapBase):
            value = outer.input
        else:
            around = made.parent_op() if isinstance(made, Block) else None
            return isinstance(around, reductions.ReduceBase) and value == around.block.args[0]
