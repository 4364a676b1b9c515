"""Algorithmic rewriting: rules applied at every place to a depth, without duplicates.

The first of Lift's three phases. It decides what is computed in which order: tiles, blocks,
partial sums, vectors. Who does it is left open; sizes of tiles are names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice, product

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.transforms.dead_code_elimination import region_dce
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift import layout, maps, reductions
from tiledialect.errors import TileError
from tiledialect.exploration.lift.settings import AlgorithmicSettings
from tiledialect.ir.signature import find_function
from tiledialect.ir.verification import verify
from tiledialect.passes.lift.rules.collections import RULES
from tiledialect.passes.lift.rules.open_sizes import open_sizes
from tiledialect.passes.lift.rules.places import children, places, reachable
from tiledialect.passes.lift.rules.refusal import NotApplicable
from tiledialect.passes.lift.rules.rule import Named, Rewriting, Step, Strategy
from tiledialect.passes.lift.strategies.combinators import at_results
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.passes.lift.strategies.mapping import computes

BLOCKING_1D = "register_block_1d"
BLOCKING_2D = (
    *("register_block_2d", "reuse_block_2d", "hold_blocks_2d", "tile_matrix_product"),
    *("block_sums_2d", "block_strided_sums_2d", "block_stencil_2d"),
)
TILINGS = ("tile_maps",)

LIFT_DEFAULT = (
    *("register_block_2d", "register_block_1d", "tile_maps", "finish_tiling"),
    *("partial_reduce_strided", "tile_stencil", "vectorize_reduce", "vectorize_zip"),
    *("interchange", "reuse_from_map", "split_join"),
)
STENCILS_2D = ("tile_stencil_2d", "tile_stencil_2d_zip")

COLLECTIONS: Mapping[str, tuple[str, ...]] = {
    "default": LIFT_DEFAULT,
    "convolution1D": ("tile_stencil",),
    "convolution2D": STENCILS_2D,
    "all": (
        *("register_block_2d", "reuse_block_2d", "hold_blocks_2d", "block_sums_2d"),
        *("block_strided_sums_2d", "block_stencil_2d", "block_rows", "tile_stencil"),
        *(*STENCILS_2D, "tile_stencil_3d"),
        *(
            "tile_stencil_25d",
            "map_seq_slide_tiling",
            "partial_reduce",
            "partial_reduce_strided",
            "split_join",
            "block_sums_1d",
        ),
        *("tile_maps", "tile_matrix_product", "finish_tiling", "register_block_1d"),
        *("reuse_from_map", "interchange", "reduce_outermost", "join_split"),
    ),
}
"""Names of the rules of each collection: Lift's, by the names that they have here, and all.

In `all` vectors are left to the mapping.
"""

VECTORS = ("vectorize_reduce", "vectorize_zip")
_BLOCKED = (BLOCKING_1D, *BLOCKING_2D)
_REUSE = ("reuse_from_map", "interchange")

EXCLUDED: Mapping[str, tuple[str, ...]] = {
    BLOCKING_1D: (*_REUSE, *BLOCKING_2D, "tile_maps", "vectorize_reduce"),
    **dict.fromkeys(BLOCKING_2D, (*_REUSE, BLOCKING_1D, "vectorize_reduce")),
    "tile_maps": (*_REUSE, "vectorize_reduce"),
    "vectorize_reduce": (*_REUSE, "vectorize_reduce"),
    "vectorize_zip": ("vectorize_zip",),
    "reuse_from_map": ("finish_tiling", "tile_maps", *_BLOCKED),
    "interchange": ("finish_tiling", "tile_maps", *_BLOCKED, "interchange"),
    **dict.fromkeys(("partial_reduce", "partial_reduce_strided"), _REUSE),
    "join_split": ("join_split",),
}
"""Rules that are not tried after a rule, as in Lift: each is another way to the same end.

But strides in parts are none: a work-group takes a part, and its work-items neighbours in it.
"""

NEEDED: Mapping[str, tuple[str, ...]] = {"finish_tiling": TILINGS}
"""Rules of which one comes before a rule."""

SHALLOW = ("split_join", "join_split")
MAX_SHALLOW = 2
"""Most patterns around one another in programs that are split."""

LAYOUTS = (
    layout.SplitOp,
    layout.JoinOp,
    layout.TransposeOp,
    layout.GatherOp,
    layout.ScatterOp,
    layout.AsVectorOp,
    layout.AsScalarOp,
)
"""Patterns that count as distance between patterns that compute."""


def algorithmic(
    program: Derivation | ModuleOp,
    settings: AlgorithmicSettings | None = None,
    *,
    width: int = 4,
) -> list[Derivation]:
    """Derivations of equal programs by the rules of a collection, the program itself first.

    They are found breadth first, and are the same each time. ``width`` is the number of lanes of
    vectors where the settings leave it open.

    Example:
    ```python
    found = algorithmic(Derivation.of(stencil))
    assert any("tile_stencil" in derivation.text for derivation in found)
    ```
    """
    return [*stream(program, settings, width=width)]


def stream(
    program: Derivation | ModuleOp,
    settings: AlgorithmicSettings | None = None,
    *,
    width: int = 4,
) -> Iterator[Derivation]:
    """Programs of algorithmic rewriting, each found when it is asked for."""
    start = Derivation.of(program)
    given = settings or AlgorithmicSettings()
    return islice(_Enumeration(start, given, width).run(), given.most_programs)


def collection(name: str) -> dict[str, Named]:
    """Rules of a collection by their names."""
    if name not in COLLECTIONS:
        known = ", ".join(COLLECTIONS)
        raise TileError(f"there is no collection of rules {name}; there is {known}")
    return {rule: RULES[rule] for rule in COLLECTIONS[name]}


@dataclass
class _Enumeration:
    """Breadth-first search of programs."""

    start: Derivation
    settings: AlgorithmicSettings
    width: int

    def __post_init__(self):
        self._rules = collection(self.settings.rule_collection)
        self._seen: set[str] = set()
        self._given: set[str] = set()
        self._kernels = max(1, _number_of_kernels(self.start.function))

    def run(self) -> Iterator[Derivation]:
        """Programs of rising distance from the first."""
        level = [d for d in _variants(self.start) if self._is_new(d.function)]
        left = self.settings.most_rewritten
        yield from self._ends(level)
        for _ in range(self.settings.exploration_depth):
            parents, level = level[:left], []
            left -= len(parents)
            for found in _interleaved([*map(self._rewritten, parents)]):
                yield from self._ends([found])
                level.append(found)

    def _is_new(self, function: func.FuncOp) -> bool:
        key = canonical_hash(function)
        known = key in self._seen
        self._seen.add(key)
        return not known

    def _rewritten(self, derivation: Derivation) -> Iterator[Derivation]:
        """New programs that a rule makes of one."""
        module = derivation.module.clone()
        rewriting = Rewriting(find_function(module, derivation.name))
        before = rewriting.checkpoint()
        # The first rules are the most promising, wherever they apply.
        ops = [op for op in places(rewriting.function).values() if _is_pattern(op)]
        for rule, op in product(self._allowed(derivation), ops):
            try:
                rule.run(rewriting, op.results[0])
                if self._is_worth(rewriting.function, derivation, rewriting.steps):
                    yield _kept(derivation, module, rewriting)
            except NotApplicable:
                continue
            finally:
                rewriting.back_to(before)

    def _allowed(self, derivation: Derivation) -> Iterator[Strategy]:
        """Rules that are tried after those of a derivation."""
        used = _counts(derivation.steps)
        excluded = {name for rule in used for name in EXCLUDED.get(rule, ())}
        if depth(derivation.function) > MAX_SHALLOW:
            excluded |= {*SHALLOW}
        for name, rule in self._rules.items():
            missing = name in NEEDED and not used.keys() & {*NEEDED[name]}
            if used[name] < self.settings.rule_repetition and name not in excluded and not missing:
                yield rule(w=self.settings.vector_width or self.width) if name in VECTORS else rule

    def _is_worth(
        self, function: func.FuncOp, derivation: Derivation, steps: Iterable[Step]
    ) -> bool:
        used = _counts((*derivation.steps, *steps))
        return depth(function) <= self._most_depth(used) and self._is_new(function)

    def _most_depth(self, used: Mapping[str, int]) -> int:
        """Most patterns around one another: blocking in registers and parts need more."""
        most = self.settings.depth_filter
        if any(used[name] for name in BLOCKING_2D):
            return most + 2
        return most + 1 if used[BLOCKING_1D] or used["map_seq_slide_tiling"] else most

    def _ends(self, level: Iterable[Derivation]) -> Iterator[Derivation]:
        """Programs of a level that pass the filters, as they are and fused."""
        for derivation in level:
            for end in _variants(derivation):
                key = canonical_hash(end.function)
                if key in self._given or not self._passes(end):
                    continue
                self._given.add(key)
                yield end

    def _passes(self, derivation: Derivation) -> bool:
        function = derivation.function
        if not derivation.steps or derivation.steps == self.start.steps:
            return True
        if _number_of_kernels(function) > self._kernels:
            return False
        if distance(function) > max(self.settings.distance_filter, distance(self.start.function)):
            return False
        try:
            verify(derivation.module)
        except (TileError, VerifyException):
            return False
        return True


def _interleaved(sources: list[Iterator[Derivation]]) -> Iterator[Derivation]:
    """Elements of sources in turns: the first ones of each are the most promising."""
    while sources:
        for source in [*sources]:
            if (found := next(source, None)) is None:
                sources.remove(source)
            else:
                yield found


def _counts(steps: Iterable[object]) -> Counter[str]:
    return Counter(step.rule.name for step in steps if isinstance(step, Step))


def _kept(derivation: Derivation, module: ModuleOp, rewriting: Rewriting) -> Derivation:
    """The derivation with the steps of a rewriting."""
    copy = module.clone()
    region_dce(find_function(copy, derivation.name).body)
    return Derivation(copy, (*derivation.steps, *rewriting.steps), derivation, derivation.name)


def _variants(derivation: Derivation) -> Iterator[Derivation]:
    """A program with what cancels removed, and with maps and reductions fused: but for parts that
    others can compute, and all."""
    simple = _attempted(derivation, "simplify")
    yield simple
    for name in ("fuse_parts", "fuse"):
        fused = _attempted(simple, name)
        if fused is not simple:
            yield fused


def _attempted(derivation: Derivation, name: str) -> Derivation:
    """The derivation with a rule applied at every result where it can be."""
    module = derivation.module.clone()
    rewriting = Rewriting(find_function(module, derivation.name))
    at_results(rewriting, RULES[name])
    return _kept(derivation, module, rewriting) if rewriting.steps else derivation


# -- heuristics ------------------------------------------------------------------------------------


def _is_pattern(op: Operation) -> bool:
    """Whether a map or a reduction computes."""
    if isinstance(op, reductions.ReduceBase):
        return True
    return isinstance(op, maps.MapBase | maps.MapSeqSlideOp) and computes(op)


def depth(function: func.FuncOp) -> int:
    """Most maps and reductions around one another, without those that only lay out."""
    live = reachable(function)

    def below(op: Operation) -> int:
        inner = (below(x) for region in op.regions for x in region.block.ops if x in live)
        return _is_pattern(op) + max(inner, default=0)

    return below(function)


def distance(function: func.FuncOp) -> int:
    """Most layout patterns on a way from one pattern that computes to another."""
    live = reachable(function)
    return max((_way(value) for op in live if _is_pattern(op) for value in op.operands), default=0)


def _way(value: SSAValue, count: int = 0) -> int:
    """Layout patterns between a value and the patterns that make it; 0 if none do."""
    op = value.owner
    if not isinstance(op, Operation) or isinstance(op, reductions.IterateOp):
        return 0
    if _is_pattern(op):
        return count
    own = count + isinstance(op, LAYOUTS)
    return max((_way(v, own) for v in op.operands), default=0)


def _number_of_kernels(function: func.FuncOp) -> int:
    """Maps of the outermost level that compute."""
    live = reachable(function)
    ops = function.body.block.ops
    return sum(isinstance(op, maps.MapBase) and op in live and computes(op) for op in ops)


# -- equal programs --------------------------------------------------------------------------------


def canonical_hash(function: func.FuncOp) -> str:
    """Hash of a program: names of values and sizes, and the order of its ops, do not matter."""
    words: list[str] = [str(function.function_type)]
    numbers: dict[SSAValue, int] = {}

    def visit(value: SSAValue) -> None:
        if value in numbers:
            words.append(f"%{numbers[value]}")
            return
        op = value.owner
        if not isinstance(op, Operation):
            numbers[value] = len(numbers)
            words.append(f"%{numbers[value]}: {value.type}")
            return
        given = ",".join(f"{k}={v}" for k, v in sorted(op.properties.items()))
        words.append(f"{op.name}<{given}>[")
        for region in op.regions:
            for argument in region.block.args:
                numbers[argument] = len(numbers)
                words.append(f"%{numbers[argument]}: {argument.type}")
        for inner in children(op):
            visit(inner)
        for result in op.results:
            numbers[result] = len(numbers)
        words.append(f"]: {value.type}")

    for argument in function.body.block.args:
        numbers[argument] = len(numbers)
    last = function.body.block.last_op
    for value in last.operands if last is not None else ():
        visit(value)
    return sha256(_renamed(" ".join(words), open_sizes(function)).encode()).hexdigest()[:16]


def _renamed(text: str, names: Iterable[str]) -> str:
    """A text with names of sizes replaced by numbers in the order of their appearance."""
    known = {*names}
    order: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        name = match[0]
        return order.setdefault(name, f"size{len(order)}") if name in known else name

    return re.sub(r"[A-Za-z_]\w*", number, text)
