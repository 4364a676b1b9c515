"""Results of shared-out maps that other work-items read, where these cannot wait for one
another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.discardable import MOST_GROUPS
from tiledialect.dialects.lift import layout, maps, reductions, values
from tiledialect.dialects.lift.base import YieldOp
from tiledialect.dialects.lift.memory import MEMORY_OPS, ToLocalOp

SHARED = (maps.MapLclOp, maps.MapWarpOp, maps.MapLaneOp)
"""Maps that the work-items of a group share out."""

BY_GROUPS = (maps.MapGlbOp, maps.MapWrgOp)
"""Maps that work-groups share out."""

PARALLEL = (*BY_GROUPS, *SHARED)

HANDED_ON = (
    layout.SplitOp,
    layout.JoinOp,
    layout.TransposeOp,
    layout.AsVectorOp,
    layout.AsScalarOp,
    layout.ScatterOp,
    layout.GatherOp,
    layout.ConcatOp,
    values.ZipOp,
    values.TupleOp,
    values.GetOp,
    *MEMORY_OPS,
)
"""Ops after which a result lies elsewhere, but is not read."""


def set_most_groups(op: Operation, groups: int) -> None:
    """Limit the work-groups that share out a map."""
    op.attributes[MOST_GROUPS] = IntegerAttr(groups, i64)


def most_groups(op: Operation) -> int | None:
    """Most work-groups along the dimension of a map; None without a limit."""
    found = op.attributes.get(MOST_GROUPS)
    return found.value.data if isinstance(found, IntegerAttr) else None


def maps_own(op: Operation) -> bool:
    """Whether a map's result is read by maps alone in which each work-item reads its own
    elements."""
    if not isinstance(op, PARALLEL) or any(isinstance(x, PARALLEL) for x in op.block.walk()):
        return False
    return all(_takes_own(use.operation, op) for use in op.results[0].uses)


def _takes_own(user: Operation, op: Operation) -> bool:
    if isinstance(user, (*MEMORY_OPS, values.ZipOp)):
        return all(_takes_own(use.operation, op) for use in user.results[0].uses)
    return type(user) is type(op) and user.properties == op.properties


def holders(op: Operation) -> tuple[maps.MapBase, ...]:
    """Maps by which the work-items of a group share out the accumulator of a reduction.

    Each of them goes through its own elements alone, in every step, so that it can hold them; none
    where others read them.
    """
    if not isinstance(op, reductions.ReduceBase):
        return ()
    found = [*_holding([op.block.args[0]], op.yielded)]
    if not found or any(isinstance(x, SHARED) for x in found[-1].block.walk()):
        return ()
    return () if any(_reads(use.operation) for use in op.results[0].uses) else tuple(found)


def _holding(totals: Sequence[SSAValue], result: SSAValue) -> Iterator[maps.MapBase]:
    """Maps around one another that give a result, each over elements of some values alone."""
    made = result.owner
    if not isinstance(made, maps.MapBase) or not isinstance(made, SHARED):
        return
    (argument,) = made.block.args
    elements: list[SSAValue] = []
    for use in (use for total in totals for use in total.uses):
        if use.operation is made:
            elements.append(argument)
            continue
        gets = [inner.operation for inner in argument.uses]
        zipped = isinstance(use.operation, values.ZipOp) and all(
            inner.operation is made for inner in use.operation.result.uses
        )
        if not zipped or not all(isinstance(get, values.GetOp) for get in gets):
            return
        elements += [
            get.result
            for get in gets
            if isinstance(get, values.GetOp) and get.index.data == use.index
        ]
    yield made
    yield from _holding(elements, made.yielded)


def local_elements(op: maps.MapSeqSlideOp) -> tuple[maps.MapOp, ...]:
    """Maps whose results windows slide over, and which work-groups keep in local memory; or none.

    Each of their elements is computed when it is new in a window.
    """
    zipped = op.input.owner
    values_over = zipped.inputs if isinstance(zipped, values.ZipOp) else (op.input,)
    found = [v.owner for v in values_over]
    made = [m for m in found if isinstance(m, maps.MapOp) and _is_in_local_memory(m.yielded)]
    return tuple(made) if len(made) == len(found) else ()


def shared_by(value: SSAValue) -> tuple[maps.MapBase, ...]:
    """Maps around one another that give a value, which work-items share out."""
    op = value.owner
    if isinstance(op, MEMORY_OPS):
        return shared_by(op.operands[0])
    if isinstance(op, maps.MapBase) and isinstance(op, SHARED):
        return (op, *shared_by(op.yielded))
    return ()


def _is_in_local_memory(value: SSAValue) -> bool:
    op = value.owner
    if isinstance(op, MEMORY_OPS):
        return isinstance(op, ToLocalOp)
    return isinstance(op, Operation) and any(isinstance(x, SHARED) for x in op.walk())


def unseen(function: func.FuncOp) -> Operation | None:
    """A map of work-groups of which the result is read in the same kernel."""
    for op in function.walk():
        if isinstance(op, BY_GROUPS) and _is_read_inside(op) and not maps_own(op):
            return op
    return None


def work_items_meet_in(op: maps.MapBase) -> bool:
    """Whether work-items read in the function of a map what others write there."""
    return any(
        (isinstance(x, ToLocalOp) or any(isinstance(inner, SHARED) for inner in x.walk()))
        and (isinstance(x, reductions.REDUCTION_OPS) or _is_read_inside(x, op))
        for x in op.block.walk()
    )


def _is_read_inside(op: Operation, end: Operation | None = None) -> bool:
    """Whether the result of an op is read in its kernel, or in an op around it, rather than handed
    on to its end."""
    block = op.parent
    assert block is not None
    return not _is_around_kernels(block) and any(
        _reads(use.operation, end) for result in op.results for use in result.uses
    )


def _is_around_kernels(block: Block) -> bool:
    around = block.parent_op()
    if isinstance(around, reductions.IterateOp | values.LetOp):
        return around.parent is not None and _is_around_kernels(around.parent)
    return isinstance(around, func.FuncOp)


def _reads(user: Operation, end: Operation | None = None) -> bool:
    around = user.parent_op()
    if isinstance(user, YieldOp):
        assert around is not None
        if around is end:
            return False
        gives_again = isinstance(around, maps.MapBase | maps.MapSeqSlideOp | values.LetOp)
        return not gives_again or _is_read_inside(around, end)
    if isinstance(user, HANDED_ON) or _lays_out(user):
        return any(_reads(use.operation, end) for use in user.results[0].uses)
    return True


def _lays_out(op: Operation) -> bool:
    """Whether a map only hands the parts of its elements on."""
    inside = (*HANDED_ON, maps.MapOp, YieldOp)
    return isinstance(op, maps.MapOp) and all(isinstance(x, inside) for x in op.walk())
