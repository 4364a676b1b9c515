"""Windows of planes that work-groups slide through local memory, shared by their work-items."""

from __future__ import annotations

from itertools import takewhile

from xdsl.dialects import func
from xdsl.ir import Operation

from tiledialect.dialects.lift import maps, reductions
from tiledialect.dialects.lift.types import as_array, sizes_of
from tiledialect.exploration.lift.levels import kernel_maps, level
from tiledialect.ir.ancestors import ancestors
from tiledialect.passes.lift.rules.collections import RULES
from tiledialect.passes.lift.rules.places import reachable
from tiledialect.passes.lift.rules.refusal import NotApplicable
from tiledialect.passes.lift.rules.rule import Rewriting, Strategy
from tiledialect.passes.lift.strategies.mapping import computes

PLANES = "planes"
"""Mapping of groups that slide windows of planes through local memory."""
GROUPS, ITEMS = (1, 0, 2), (1, 0)
"""Dimensions of the maps around windows and inside, the outermost first: rows, columns, parts."""


def slid(function: func.FuncOp) -> maps.MapSeqSlideOp | None:
    """The one loop over windows of planes, in two or three maps, whose function ends in two."""
    found = [op for op in reachable(function) if isinstance(op, maps.MapSeqSlideOp)]
    if len(found) != 1 or len(kernel_maps(function)) != 1 or level(found[0]) not in (2, 3):
        return None
    inner: maps.MapBase = found[0]
    for _ in ITEMS:
        made = inner.yielded.owner
        if not isinstance(made, maps.MapOp) or not computes(made):
            return None
        inner = made
    axes = len(sizes_of(as_array(found[0].input, "map_seq_slide")))
    return found[0] if axes == 1 + len(ITEMS) else None


def rule_for(op: Operation) -> Strategy:
    """Rule that maps a map: to groups around the windows, to their work-items inside."""
    around = [x for x in ancestors(op) if isinstance(x, maps.MapBase | reductions.ReduceBase)]
    inside = [*takewhile(lambda x: not isinstance(x, maps.MapSeqSlideOp), around)]
    if len(inside) == len(around):
        return RULES["map_wrg"](dim=GROUPS[len(around)])
    if len(inside) < len(ITEMS) and all(isinstance(x, maps.MapBase) for x in inside):
        return RULES["map_lcl"](dim=ITEMS[len(inside)])
    return RULES["map_seq"]


def copy_planes(rewriting: Rewriting) -> None:
    """Copy each new plane to local memory."""
    ops = reachable(rewriting.function)
    slide = next((op for op in ops if isinstance(op, maps.MapSeqSlideOp)), None)
    if slide is None:
        raise NotApplicable("no windows slide over planes")
    found = RULES["add_identity_in_slide"].run(rewriting, slide.result).owner
    assert isinstance(found, maps.MapSeqSlideOp)
    planes = found.input.owner
    assert isinstance(planes, maps.MapOp)
    rows = RULES["add_identity_inside"].run(rewriting, planes.yielded)
    plane = RULES["map_lcl"](dim=ITEMS[0]).run(rewriting, rows)
    assert isinstance(plane.owner, maps.MapLclOp)
    RULES["map_lcl"](dim=ITEMS[1]).run(rewriting, plane.owner.yielded)
    RULES["to_local"].run(rewriting, plane)
