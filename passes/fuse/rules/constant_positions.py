"""Constant positions: an index for each constant at which a result is written, so that loops visit
all elements.

The column `O[i, 3]` is `O[i, 3 + v]` where `v < 1`: one kernel writes the rest of `O`, too, or
computes the column where elements are taken. Otherwise another kernel would fill `O` first.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.structure.small_stencils import (
    MOST_STENCIL_POINTS,
    points_of_element,
)
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.passes.normalize.rewrites.change_indices import set_space


def index_constant_positions(op: ContractionOp) -> None:
    """Give a contraction of few points an index for each constant of its output, in place."""
    if op.default is not None or points_of_element(op, ranges_of(op)) > MOST_STENCIL_POINTS:
        return
    space, taken = op.space(), {*op.index_names}
    output, added = list(space.output), list[Constraint]()
    for axis, size in enumerate(space.output_shape):
        if not output[axis].names and size > 1:
            name = next(n for k in count() if (n := f"v{k}") not in taken)
            taken.add(name)
            output[axis] += IndexExpr.of(name)
            added.append(Constraint(IndexExpr.of(name), IndexExpr.of(1)))
    if added:
        changed = {"output": tuple(output), "constraints": (*space.constraints, *added)}
        set_space(op, replace(space, **changed))
