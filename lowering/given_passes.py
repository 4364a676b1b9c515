"""Passes of the pipeline that a search gives, in place of what the cost model chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError

from tiledialect.errors import TileError
from tiledialect.lowering.nest.nest_fuse_horizontally import NestFuseHorizontallyPass
from tiledialect.passes.algebra.tile_winograd import TileWinogradPass
from tiledialect.passes.fuse.options import Fusion
from tiledialect.passes.fuse.tile_fuse import TileFusePass
from tiledialect.passes.split.tile_split_reduction import TileSplitReductionPass

OPTIONAL = {
    p.name: p
    for p in (
        *(TileWinogradPass, TileSplitReductionPass, TileFusePass),
        NestFuseHorizontallyPass,
    )
}
"""Passes that may be given."""


@dataclass(frozen=True)
class GivenPasses:
    """Passes as texts, such as ``tile-split-reduction{contraction=C index=k parts=8}``.

    The cost model leaves contractions as they are that these name or keep.
    """

    texts: tuple[str, ...] = ()

    def __post_init__(self):
        _ = self.passes

    @cached_property
    def passes(self) -> tuple[ModulePass, ...]:
        """The passes; a TileError if a text names none that may be given."""
        return tuple(map(_parsed, self.texts))

    def winograd(self, keep: Sequence[str]) -> tuple[TileWinogradPass, ...]:
        """Given rewrites, and the pass for contractions that are neither these nor kept."""
        own = [p for p in self.passes if isinstance(p, TileWinogradPass)]
        named = [p for p in own if p.contraction is not None]
        kept = (*(n for p in own for n in p.keep), *(str(p.contraction) for p in named))
        return *named, TileWinogradPass(keep=(*keep, *kept))

    def splits(self, keep: Sequence[str]) -> tuple[TileSplitReductionPass, ...]:
        """Given splits, and the pass for contractions that are neither these nor kept."""
        own = [p for p in self.passes if isinstance(p, TileSplitReductionPass)]
        named = [p for p in own if p.index is not None]
        made = [n for p in named for n in (str(p.contraction), f"{p.contraction}_parts")]
        kept = (*(n for p in own for n in p.keep), *made)
        return *named, TileSplitReductionPass(keep=(*keep, *kept))

    def fusion(self, wanted: Fusion) -> Fusion:
        """The user's fusion, else the given one."""
        own = [p for p in self.passes if isinstance(p, TileFusePass)]
        if not own or wanted != Fusion():
            return wanted
        given = own[-1]
        return Fusion(given.loads, given.rows, given.again, given.beside, given.apart)

    def horizontal(self) -> NestFuseHorizontallyPass:
        """The given fusion of launches, else the model's."""
        own = [p for p in self.passes if isinstance(p, NestFuseHorizontallyPass)]
        return own[-1] if own else NestFuseHorizontallyPass()


def _parsed(text: str) -> ModulePass:
    try:
        spec = parse_spec(text)
        if spec.name not in OPTIONAL:
            listed = ", ".join(OPTIONAL)
            raise TileError(f"{spec.name} is no pass that can be given; there is {listed}")
        return OPTIONAL[spec.name].from_spec(spec)
    except (ArgSpecParseError, ValueError) as error:
        raise TileError(f"{text} is no pass with its options: {error}") from None
