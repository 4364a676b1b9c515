"""Mask elimination: reads of a cotangent past a mask that keeps all of the read elements.

The cotangent of a contraction's default is 0 where the contraction writes, and its output's
elsewhere. A part of the default that lies elsewhere as a whole, as in a concatenation, has the
output's cotangent, and needs no count and no selection.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Region, SSAValue
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import CmpEqOp, ConstantOp, SelectOp
from tiledialect.dialects.tile.structure.parts import miss, places
from tiledialect.index.expr import IndexExpr


def eliminate_masks(body: Region) -> None:
    """Let contractions read past masks where they read no element that the mask makes 0."""
    for op in body.block.ops:
        if not isinstance(op, ContractionOp) or op.domain is None:
            continue
        for k, access in enumerate(op.accesses):
            while (source := _unmasked(op, op.inputs[k], access.data)) is not None:
                op.operands[k] = source
    # Unused masks.
    region_dce(body)


def _unmasked(op: ContractionOp, value: SSAValue, access: Sequence[IndexExpr]) -> SSAValue | None:
    """Tensor that equals a value wherever a contraction reads it; None if unknown."""
    if not isinstance(mask := value.owner, SelectOp) or mask.operands[1].type != value.type:
        return None
    is_free = mask.operands[0].owner
    if not (_is_zero(mask.operands[2]) and isinstance(is_free, CmpEqOp) and _is_zero(is_free.rhs)):
        return None
    count = is_free.lhs.owner
    if not isinstance(count, ContractionOp) or not _counts(count):
        return None
    if shape_of(tensor_type(count.result)) != shape_of(tensor_type(value)):
        # A broadcast count masks other places, too.
        return None
    read = places(access, ranges_of(op))
    written = places(count.output.data, ranges_of(count))
    apart = any(miss(a, b) for a, b in zip(read, written, strict=True))
    return mask.operands[1] if apart else None


def _is_zero(value: SSAValue) -> bool:
    return isinstance(value.owner, ConstantOp) and value.owner.number == 0


def _counts(op: ContractionOp) -> bool:
    """Whether a contraction is 0 where no point lands."""
    is_sum = op.aggregation.data is Aggregation.add and op.default is None
    return is_sum and op.domain is not None
