"""Reads of tensors by contractions through reshapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import SSAValue

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.analysis.part_copies import reads_inside
from tiledialect.analysis.reshapes import reshaped_axes
from tiledialect.dialects.tile.attributes import AccessAttr, ConstraintAttr
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.index import sets
from tiledialect.index.contraction import UnboundedIndexError
from tiledialect.index.digits import digits, joined
from tiledialect.index.expr import Access, Constraint, IndexExpr, Range


@dataclass(frozen=True)
class Read:
    """Read of a tensor by a contraction, through reshapes."""

    reader: ContractionOp
    operand: int
    reshapes: tuple[ReshapeOp, ...]
    """Reshapes from the tensor to the operand."""

    def access(self) -> Access | None:
        """Access to the tensor itself; None if it is not affine, or not inside at every point."""
        op = self.reader
        if op.domain is None or op.symbols or op.sizes:
            return None
        found: Access | None = op.accesses.data[self.operand].data
        ranges = ranges_of(op)
        if not reads_inside(found, shape(op.inputs[self.operand]), ranges):
            return None
        for reshape in reversed(self.reshapes):
            found = None if found is None else _before(reshape, found, ranges)
        return found


def _before(reshape: ReshapeOp, access: Access, ranges: Mapping[str, Range]) -> Access | None:
    """Access to the operand of a reshape; None if it is not affine."""
    old, new = shape(reshape.operand), shape(reshape.result)
    found = [IndexExpr()] * len(old)
    for before, after in reshaped_axes(old, new):
        number = joined([access[k] for k in after], [new[k] for k in after])
        places = digits(number, [old[k] for k in before], ranges) if before else ()
        if places is None:
            return None
        for axis, place in zip(before, places, strict=True):
            found[axis] = place
    return tuple(found)


def read_before_reshapes(op: ContractionOp) -> None:
    """Let a contraction of one operand read reshaped elements where they were before, if it can."""
    reshapes: list[ReshapeOp] = []
    value = op.inputs[0]
    while isinstance(reshape := value.owner, ReshapeOp) and not reshape.sizes:
        reshapes.insert(0, reshape)
        value = reshape.operand
    access = Read(op, 0, tuple(reshapes)).access() if reshapes else None
    if access is not None:
        replace_read(op, 0, value, access)


def replace_read(op: ContractionOp, operand: int, source: SSAValue, access: Access) -> None:
    """Let an operand of a contraction be a tensor, read at an access."""
    op.operands[operand] = source
    accesses = list(op.accesses.data)
    accesses[operand] = AccessAttr(access)
    op.accesses = ArrayAttr(accesses)
    for name in _unbounded(op):
        r = ranges_of(op)[name]
        bound = Constraint(IndexExpr.of(name) - r.lower, IndexExpr.of(r.extent))
        op.constraints = ArrayAttr([*op.constraints.data, ConstraintAttr(bound)])


def _unbounded(op: ContractionOp) -> Iterator[str]:
    """Indices whose ranges only the axes of a replaced operand bounded, one after the other."""
    # Sums over repetitions count them, though nothing reads them.
    yield from [name for name in ranges_of(op) if name not in op.index_names]
    while True:
        try:
            box = sets.ranges(op.space())
        except UnboundedIndexError as error:
            yield error.name
            continue
        lost = [n for n, r in ranges_of(op).items() if not _is_within(box[n], r)]
        if not lost:
            return
        yield lost[0]


def _is_within(inner: Range, outer: Range) -> bool:
    return not inner.extent or (outer.lower <= inner.lower and inner.upper <= outer.upper)
