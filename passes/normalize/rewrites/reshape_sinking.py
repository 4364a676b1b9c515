"""Elementwise ops on reshaped results are computed in the shape of these, and reshaped then.

They can be in the kernel that makes them: an activation in the one of the product, say, whose rows
are the places of pictures. Ops between sums over rows keep the shape of these.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.over_rows import is_over_rows
from tiledialect.analysis.part_copies import is_part_copy
from tiledialect.analysis.reshapes import reshaped_axes
from tiledialect.dialects.tile.base import Shape, make_type, size_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp, IndexOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp, before_reshapes
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.ir.names import keep_name, keep_origin
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.normalize.rewrites.index_splitting import split_reader

Groups = list[tuple[list[int], list[int]]]
"""Axes before and after a reshape that hold the same elements."""


def sink_reshapes(function: func.FuncOp) -> None:
    """Move reshapes of results behind elementwise ops, in place."""
    for op in list(ops_of(function, ElementwiseOp)):
        if DYNAMIC_INDEX not in shape(op.results[0]):
            _sink(op)


def sink_below_rows(reshape: ReshapeOp) -> None:
    """Move a reshape that merges axes behind elementwise ops, sums over rows and copies, in place.

    Sums over rows are along other axes than those, or the reshape stays before them.
    """
    pending = [reshape]
    while pending:
        merging = pending.pop()
        for user in dict.fromkeys(use.operation for use in merging.result.uses):
            if isinstance(user, ElementwiseOp):
                moved = _sink(user, keep_rows=False)
            elif isinstance(user, ContractionOp) and (is_over_rows(user) or is_part_copy(user)):
                moved = split_reader(user, merging)
            else:
                moved = None
            pending += [moved] if moved is not None else []


def _sink(op: ElementwiseOp, *, keep_rows: bool = True) -> ReshapeOp | None:
    """Compute an elementwise op in the shape that one of its operands has before a reshape.

    Returns its result's reshape; None if it stays.
    """
    if isinstance(op, IndexOp | ConstantOp) or isinstance(op.parent_op(), KernelOp):
        return None
    for operand in op.operands:
        source = before_reshapes(operand)
        if not isinstance(source.owner, ContractionOp | ElementwiseOp):
            continue
        if shape(operand) != shape(op.results[0]):
            continue
        groups = list(reshaped_axes(shape(source), shape(operand)))
        if all(len(before) < 2 and len(after) < 2 for before, after in groups):
            continue
        if keep_rows and _is_of_rows(op, groups):
            return None
        wanted = [_before(v, source, groups) for v in op.operands]
        if None not in wanted:
            return _replace(op, source, [own for own in wanted if own is not None])
    return None


def _is_of_rows(op: ElementwiseOp, groups: Groups) -> bool:
    """Whether sums over rows take the result of an op, or an operand has one value for each row."""
    users = [use.operation for use in op.results[0].uses]
    if any(isinstance(user, ContractionOp) and is_over_rows(user) for user in users):
        return True
    last = len(shape(op.results[0]))
    split = {k - last for before, after in groups if len(before) + len(after) > 2 for k in after}
    parts = (v for v in op.operands if size_of(v) < size_of(op.results[0]))
    return any(k >= -len(shape(v)) and shape(v)[k] > 1 for v in parts for k in split)


def _before(value: SSAValue, source: SSAValue, groups: Groups) -> Shape | None:
    """Shape of an operand beside a value before its reshape; None if it is repeated along a part
    of an axis."""
    own = shape(value)
    if not own:
        return ()
    rank = sum(len(after) for _, after in groups)
    padded = (*(1,) * (rank - len(own)), *own)
    found = [1] * len(shape(source))
    whole = dict(enumerate(shape(source)))
    sizes = {k: padded[k] for _, after in groups for k in after}
    for before, after in groups:
        elements = prod(sizes[k] for k in after)
        if elements == prod(whole[k] for k in before):
            for k in before:
                found[k] = whole[k]
        elif elements != 1:
            return None
    # Fewer axes than the result has stand for the last ones.
    first = next((k for k, n in enumerate(found) if n != 1), len(found) - 1)
    return tuple(found[first:] if len(own) < rank else found)


def _replace(op: ElementwiseOp, source: SSAValue, wanted: list[Shape]) -> ReshapeOp:
    made: list[Operation] = []
    values: list[SSAValue] = []
    for operand, own in zip(op.operands, wanted, strict=True):
        value = before_reshapes(operand)
        if shape(value) != own:
            made.append(view := ReshapeOp.of(value, own))
            keep_name(view.result, operand)
            value = view.result
        values.append(value)
    (old,) = op.results
    new = type(op).create(
        operands=values,
        result_types=[make_type(shape(source), tensor_type(old).element_type)],
        properties=op.properties,
        attributes=op.attributes,
    )
    keep_origin([new], op)
    view = ReshapeOp.of(new.results[0], shape(old))
    Rewriter.insert_op([*made, new], InsertPoint.before(op))
    Rewriter.replace_op(op, view)
    return view
