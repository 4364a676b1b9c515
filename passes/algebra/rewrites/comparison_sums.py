"""Contractions that compare, for sums of elementwise selections where two tensors are equal."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation, Combination, ConstraintAttr
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.operand_loads import broadcast_access
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.names import keep_origin
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.passes.normalize.tile_bounds import needed_constraints

Read = tuple[SSAValue, Sequence[IndexExpr]]


def as_comparison(op: ContractionOp) -> ContractionOp | None:
    """The sum as a detached contraction of `A[…] == B[…]` or `A[…] == B[…] ? C[…]`.

    None for any other sum.
    """
    is_sum = (op.aggregation.data, op.combination.data) == (Aggregation.add, Combination.none)
    if not is_sum or not op.is_static or op.default is not None or needed_constraints(op.space()):
        return None
    value, access = op.inputs[0], op.accesses.data[0].data
    found = _selection(value, access)
    if found is None:
        return None
    combination = Combination.eq if len(found) == 2 else Combination.cond
    # An axis of size 1, which is read at 0, bounds an index all the same.
    bounds = [Constraint(e, IndexExpr.of(n)) for e, n in zip(access, shape(value), strict=True)]
    made = ContractionOp(
        Aggregation.add, combination, op.output.data, found, bounds, shape=shape(op.result)
    )
    if made.result.type != op.result.type or needed_constraints(made.space()):
        made.erase()
        return None
    made.constraints = ArrayAttr[ConstraintAttr]([])
    set_domain(made, made.space())
    keep_origin([made], op)
    return made


def _selection(value: SSAValue, access: Sequence[IndexExpr]) -> list[Read] | None:
    """Reads that an element compares, and the read of the value where they are equal."""
    op = value.owner
    if isinstance(op, ew.CmpEqOp):
        return [_read(v, access) for v in op.operands]
    if not isinstance(op, ew.SelectOp) or not isinstance(op.condition.owner, ew.CmpEqOp):
        return None
    other, equal = op.rhs.owner, op.condition.owner
    if not isinstance(other, ew.ConstantOp) or other.number != 0:
        return None
    at = broadcast_access(op.condition, access)
    return [*(_read(v, at) for v in equal.operands), _read(op.lhs, access)]


def _read(value: SSAValue, access: Sequence[IndexExpr]) -> Read:
    """Operand and access of a read in an elementwise op; axes of size 1 by reshapes are left
    out.
    """
    own = broadcast_access(value, access)
    while isinstance(value.owner, ReshapeOp):
        source, shapes = value.owner.operand, (shape(value.owner.operand), shape(value))
        before, after = ([n for n in sizes if n != 1] for sizes in shapes)
        if before != after:
            break
        moving = iter([e for e, n in zip(own, shapes[1], strict=True) if n != 1])
        own = tuple(IndexExpr() if n == 1 else next(moving) for n in shapes[0])
        value = source
    return value, own
