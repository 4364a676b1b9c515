"""nest-split-tiles: partitioning of tiles along slanted bounds.

Of a triangular matrix, `A[i, k]` with `k <= i`, most tiles of rows and columns have all elements or
none. Where lanes are along `k`, tests that tell them apart leave no vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.index.integer.expressions import (
    Comparison,
    Condition,
    Expr,
    Truth,
    at_least_zero,
    both,
)
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import constant_difference, simplify_condition
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.conditions import (
    conjuncts,
    is_uniform,
    only_op_of,
    set_condition,
)
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.schedule.loops import UNROLLED, Role


@dataclass(frozen=True)
class Bound:
    """Part of a condition, with the conditions that it holds in all of a tile, or in some of it."""

    part: Condition
    everywhere: Condition
    anywhere: Condition


@dataclass
class Tile:
    """Perfect nest of unrolled loops around one branch."""

    loops: Sequence[ForOp]
    """Loops from the outermost one to the lanes."""
    branch: IfOp
    scope: NestScope

    @staticmethod
    def of(lanes: ForOp, env: Env, outermost: ForOp | None = None) -> Tile | None:
        """Build the largest tile with these lanes, inside a loop if given; None if no branch."""
        branch = only_op_of(lanes.block)
        if not isinstance(branch, IfOp) or branch.otherwise is not None:
            return None
        loops = [lanes]
        while isinstance(outer := loops[0].parent_op(), ForOp) and _is_unrolled(outer):
            if outer is outermost or only_op_of(outer.block) is not loops[0]:
                break
            loops.insert(0, outer)
        return Tile(loops, branch, NestScope(env=env))

    def bounds(self) -> list[Bound]:
        """Parts of the condition that a step of an outer loop decides, for most tiles."""
        condition = self.scope.condition(self.branch)
        found = [self._bound(part) for part in conjuncts(condition)]
        slanted = [bound for bound in found if bound is not None]
        return slanted if any(self._tells_lanes_apart(bound.part) for bound in slanted) else []

    def _bound(self, part: Condition) -> Bound | None:
        """Bound of a part, in all of the tile and in some of it.

        None if no serial loop moves it, or not evenly, or if it divides half of the tiles.
        """
        if not isinstance(part, Comparison) or part.kind != ">=":
            return None
        if self._serial_names.isdisjoint(part.expr.names):
            return None
        least = most = part.expr
        for loop in self.loops:
            name = str(self.scope.name(loop.index))
            moved = part.expr.substitute({name: Expr.var(name) + 1})
            factor = constant_difference(moved, part.expr, self.scope.env)
            if factor is None or loop.extent is None or loop.bounds.data[0] != Expr():
                return None
            ends = sorted((0, loop.extent - 1), key=lambda k, factor=factor: k * factor)
            least, most = (
                e.substitute({name: Expr.const(k)})
                for e, k in zip((least, most), ends, strict=True)
            )
        if 2 * (constant_difference(most, least, self.scope.env) or 0) > self._extent(least):
            return None
        everywhere, anywhere = (
            simplify_condition(at_least_zero(e), self.scope.env) for e in (least, most)
        )
        return Bound(part, everywhere, anywhere) if everywhere != Truth(False) else None

    def _extent(self, expr: Expr) -> float:
        """Number of values of an expression over all tiles."""
        known = self.scope.env.range(expr)
        return known.greatest - known.least + 1

    @property
    def _serial_names(self) -> set[str]:
        """Names of serial loops around the tile."""
        around = ancestors(self.loops[0].block)
        loops = (x for x in around if isinstance(x, ForOp) and x.role.data.role is Role.SERIAL)
        return {name for x in loops for name in self.scope.name(x.index).names}

    def _tells_lanes_apart(self, part: Condition) -> bool:
        lanes = self.loops[-1]
        name = str(self.scope.name(lanes.index))
        return not is_uniform(part, name, lanes.extent or 1, self.scope.env)

    def split(self, bounds: Sequence[Bound]) -> ForOp:
        """Put the tile without the tests where they all hold, else as it is where some do.

        Returns the outermost loop of the tile with the tests, to be split in parts.
        """
        tile, env, names = self.loops[0], self.scope.env, self.scope.values
        everywhere = simplify_condition(both(*(b.everywhere for b in bounds)), env)
        anywhere = simplify_condition(both(*(b.anywhere for b in bounds)), env)
        place = InsertPoint.before(tile)
        rest = tile.clone()
        parts = {bound.part for bound in bounds}
        kept = [p for p in conjuncts(self.scope.condition(self.branch)) if p not in parts]
        set_condition(self.scope, self.branch, both(*kept))
        inside, outside = Block(), Block()
        around = IfOp(names, everywhere, inside, outside)
        Rewriter.insert_op(around, place)
        tile.detach()
        inside.add_op(tile)
        if anywhere == Truth(True):
            outside.add_op(rest)
        else:
            outside.add_op(IfOp(names, anywhere, Block([rest])))
        return rest


def _is_unrolled(loop: ForOp) -> bool:
    return loop.role.data.role in UNROLLED


def split_tiles(lanes: ForOp, env: Env, outermost: ForOp | None = None) -> None:
    """Split the largest tile of some lanes for which that pays, then the rest of it.

    Each split adds a tile of vectors, and the rest has smaller ones: for each loop of a tile its
    vectors are unrolled once more, at most, beside the elements that were there. So nothing need
    limit the text.
    """
    tile = Tile.of(lanes, env, outermost)
    while tile is not None:
        if bounds := tile.bounds():
            rest = tile.split(bounds)
            for inner in ops_of(rest.block, ForOp):
                if inner.role.data.role is Role.VECTOR:
                    split_tiles(inner, env, rest)
            return
        tile = replace(tile, loops=tile.loops[1:]) if len(tile.loops) > 1 else None


class NestSplitTilesPass(ModulePass):
    """Splits off tiles in which a test holds everywhere, or nowhere.

    Where a test compares the index of a serial loop with those of lanes, as where a triangular
    matrix is multiplied, unrolled loops test once for all their steps: under a condition that it
    holds for all of them they test no more, where it holds for none they are left out, and between
    these vectors the tile's elements are done one by one. Lanes that are told apart by tests are no
    vectors.
    """

    name = "nest-split-tiles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split the tiles of every vector loop."""
        env = Env()
        for loop in ops_of(op, ForOp):
            if loop.role.data.role is Role.VECTOR:
                split_tiles(loop, env)
