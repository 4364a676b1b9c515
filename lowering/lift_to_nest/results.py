"""Facts about the results of patterns: memory, readers, vectors."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiledialect.dialects.discardable import AHEAD
from tiledialect.dialects.lift import maps, memory, values
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.sharing import BY_GROUPS, SHARED, holders, maps_own
from tiledialect.errors import TileError
from tiledialect.lowering.lift_to_nest.views.output_views import OutputViews
from tiledialect.lowering.nest.utils.builder import GLOBAL, LOCAL, PRIVATE

SPACES: dict[type[Operation], IntegerAttr] = {
    memory.ToGlobalOp: GLOBAL,
    memory.ToLocalOp: LOCAL,
    memory.ToPrivateOp: PRIVATE,
}


def is_compound(t: Attribute) -> bool:
    """Whether values of a type are more than one number."""
    return not isinstance(t, IndexType) and (
        isinstance(t, TensorType | VectorType) or hasattr(t, "types")
    )


def is_elementwise(op: Operation, result: SSAValue) -> bool:
    """Whether the result is a map over the elements of the array that an op takes."""
    if isinstance(op, values.ZipOp):
        return all(is_elementwise(use.operation, result) for use in op.result.uses)
    return isinstance(op, maps.MapBase) and op.result is result


def space_of(op: Operation) -> IntegerAttr:
    """Memory space of an op's result; a number is in global memory at its end."""
    for use in op.results[0].uses:
        space = SPACES.get(type(use.operation))
        if space is not None and (space != GLOBAL or is_compound(op.results[0].type)):
            return space
    return LOCAL if any(isinstance(x, SHARED) for x in op.walk()) else PRIVATE


def copies_of(op: Operation) -> int:
    """Number of copies of an op's result in local memory: two if one is fetched ahead."""
    return 1 + any(AHEAD in use.operation.attributes for use in op.results[0].uses)


def require_visible(op: LiftOp) -> None:
    """Refuse a result whose readers cannot see the writes of other work-items."""
    alone = maps_own(op)
    for inner in op.walk():
        if isinstance(inner, BY_GROUPS) and not alone:
            raise TileError.at(
                inner,
                f"other work-groups read the result of {inner.pattern()} in the same kernel, "
                "and cannot wait for it",
            )
        private = space_of(op) == PRIVATE and not alone
        if isinstance(inner, SHARED) and private and not holders(op):
            raise TileError.at(
                inner,
                f"other work-items read the result of {inner.pattern()}, "
                "which is in private memory",
            )


def writes_vectors(op: Operation, found: OutputViews) -> bool:
    """Whether a map computes vectors that are only written: a view would be read by numbers."""
    result = op.results[0]
    return result in found.places and result not in found.read and computes_vectors(op)


def computes_vectors(op: Operation | Block) -> TypeGuard[maps.MapOp]:
    """Whether a map computes with vectors."""
    return isinstance(op, maps.MapOp) and any(
        isinstance(v.type, VectorType) for x in op.body.walk() for v in x.results
    )
