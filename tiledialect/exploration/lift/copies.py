"""Copies of the elements of groups and work-items in local or private memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.lift import layout, maps, reductions, values
from tiledialect.dialects.lift.base import YieldOp
from tiledialect.dialects.lift.types import sizes_of
from tiledialect.exploration.lift.levels import has_inside, held
from tiledialect.passes.lift.rules.collections import RULES
from tiledialect.passes.lift.rules.places import reachable
from tiledialect.passes.lift.rules.refusal import NotApplicable
from tiledialect.passes.lift.rules.rule import Rewriting

NONE, LOCAL, COLUMNS, PRIVATE = "none", "local", "columns", "private"
"""Copies of the elements of a group or a work-item: none, in local memory, there with columns for
rows, in private memory."""
COPIES = (NONE, LOCAL, COLUMNS, PRIVATE)


def held_reduction(function: func.FuncOp) -> reductions.ReduceBase:
    """The reduction whose accumulator the work-items of a group hold."""
    found = held(function, 2)
    if found is None:
        raise NotApplicable("there is no reduction whose accumulator work-items hold")
    return found


def copy_parts(rewriting: Rewriting, found: reductions.ReduceBase, copies: str, width: int) -> None:
    """Copy the parts of arrays that a reduction goes through, so that work-items side by side
    access neighbours: rows of the first array and columns of others, or columns of all."""
    value, parts = found.results[0], found.operands[-1].owner
    for k in range(len(parts.operands) if isinstance(parts, values.ZipOp) else 0):
        value = RULES["add_transposed_identity_in_reduce"](k=k).run(rewriting, value)
        outer, inner = (0, 1) if k == 0 and copies == LOCAL else (1, 0)
        copy = _copy_of(_parts(value.owner, k), 0)
        kept = RULES["map_lcl"](dim=outer).run(rewriting, copy.results[0])
        blocks = RULES["map_lcl"](dim=inner).run(rewriting, _copy_in(kept.owner, 0).results[0])
        if width > 1:
            _copy_in_vectors(rewriting, blocks, width)
        RULES["to_local"].run(rewriting, kept)


def _copy_in_vectors(rewriting: Rewriting, value: SSAValue, width: int) -> None:
    """Copy the elements of a map of copies, which are arrays, in vectors if they have such."""
    before = rewriting.checkpoint()
    try:
        made = RULES["add_identity_inside"].run(rewriting, value)
        copy = _copy_in(made.owner, 0)
        new = RULES["vectorize"](w=width).run(rewriting, copy.results[0]).owner
        assert isinstance(new, Operation)
        RULES["vectorize_function"].run(rewriting, new.operands[0])
        RULES["map_seq"].run(rewriting, _copy_in(made.owner, 0).results[0])
    except NotApplicable:
        rewriting.back_to(before)


def copy_elements(rewriting: Rewriting, outer: Sequence[int], copies: str, width: int) -> None:
    """Copy the elements of the innermost maps over groups, whose work-items share them out along
    some dimensions, or over work-items."""
    is_local = copies in (LOCAL, COLUMNS)
    kinds = (maps.MapWrgOp,) if is_local else (maps.MapGlbOp, maps.MapLclOp)
    live = reachable(rewriting.function)
    found = [
        op
        for op in rewriting.function.walk()
        if op in live and isinstance(op, kinds) and not has_inside(op, kinds)
    ]
    if not found:
        raise NotApplicable("there is nothing to copy")
    for op in found:
        t = op.block.args[0].type
        if not isinstance(t, TensorType):
            raise NotApplicable("the elements are no arrays")
        rank = len(sizes_of(t))
        dims = [*outer][-rank:] if is_local else []
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
            new = RULES["vectorize"](w=width).run(rewriting, inner.results[0]).owner
            assert isinstance(new, Operation)
            RULES["vectorize_function"].run(rewriting, new.operands[0])
    for k in range(rank):
        rule = RULES["map_lcl"](dim=dims[k]) if k < len(dims) else RULES["map_seq"]
        rule.run(rewriting, _copy_in(outer, k).results[0])
    rule = RULES["to_private" if copies == PRIVATE else "to_local"]
    rule.run(rewriting, _copy_in(outer, 0).results[0])


def _copy_in(outer: Operation | Block, depth: int) -> Operation:
    """The copy that the function of a map begins with, or one inside of it."""
    assert isinstance(outer, maps.MapBase)
    return _copy_of([outer.block.args[0]], depth)


def _copy_of(found: Sequence[SSAValue], depth: int) -> Operation:
    """The copy of one of some values, or one inside of it."""
    for view in (view for value in found for view in _as_other_views(value)):
        for use in view.uses:
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


def _parts(op: Operation | Block, number: int) -> list[SSAValue]:
    """The parts of an array that the function of a reduction of several takes."""
    assert isinstance(op, reductions.ReduceBase)
    users = [use.operation for use in op.block.args[1].uses]
    gets = [x for x in users if isinstance(x, values.GetOp) and x.index.data == number]
    return [get.result for get in gets if get.result.uses.get_length()]


def _is_copy(op: Operation) -> bool:
    kinds = (maps.MapBase, layout.AsVectorOp, layout.AsScalarOp, YieldOp)
    return all(isinstance(x, kinds) for x in op.walk())
