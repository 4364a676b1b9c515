"""Index splitting: an index that runs through whole axes becomes one for each of the axes that a
reshape merged into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.analysis.reshapes import reshaped_axes
from tiledialect.dialects.tile.attributes import DomainAttr
from tiledialect.dialects.tile.base import Shape
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.special import ReshapeOp, before_reshapes
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.index.expr import Access, IndexExpr, Range
from tiledialect.index.names import numbered_names
from tiledialect.ir.names import keep_origin


def split_index(op: ContractionOp, name: str, sizes: Sequence[int]) -> ReshapeOp | None:
    """Let a contraction have an index of each size in the place of one, in place.

    Its operands and its result are reshaped, which costs nothing. Returns the result's reshape;
    None if the index stands anywhere but alone along a whole axis, or not in the result.
    """
    if not _is_plain(op, name):
        return None
    accesses = [op.output.data, *(a.data for a in op.accesses)]
    values, whole = [op.result, *op.inputs], ranges_of(op)[name]
    axes = [_axes(a, v, name, whole) for a, v in zip(accesses, values, strict=True)]
    if None in axes or not axes[0]:
        return None
    shapes = [_split(v, own, sizes) for v, own in zip(values, axes, strict=True) if own is not None]
    new = _with_indices(op, name, sizes, shapes)
    keep_origin([new], op)
    view = ReshapeOp.of(new.result, shape(op.result))
    Rewriter.insert_op(new, InsertPoint.before(op))
    Rewriter.replace_op(op, view)
    return view


def _is_plain(op: ContractionOp, name: str) -> bool:
    """Whether a contraction of a known domain has an index in accesses alone."""
    is_bound = any(name in c.data.expr.names for c in op.constraints)
    is_number = op.default is None or shape(op.default) == ()
    is_open = op.sizes or op.symbols or op.domain is None
    return is_number and not is_bound and not is_open


def _with_indices(
    op: ContractionOp, name: str, sizes: Sequence[int], shapes: Sequence[Shape]
) -> ContractionOp:
    """A contraction with an index of each size in the place of one, for a result and operands of
    these shapes."""
    new_names = [*islice(numbered_names(name, {*op.index_names} - {name}), len(sizes))]
    parts = tuple(map(IndexExpr.of, new_names))

    def split(access: Access) -> Access:
        return tuple(x for e in access for x in (parts if e.names == (name,) else (e,)))

    inputs = [_reshaped(v, own, op) for v, own in zip(op.inputs, shapes[1:], strict=True)]
    new = ContractionOp(
        op.aggregation.data,
        op.combination.data,
        split(op.output.data),
        list(zip(inputs, (split(a.data) for a in op.accesses), strict=True)),
        [c.data for c in op.constraints],
        shape=shapes[0],
        default=op.default,
        no_defract=op.no_defract is not None,
        attributes=dict(op.attributes),
        is_wide=op.is_wide,
    )
    own = {n: Range(0, size) for n, size in zip(new_names, sizes, strict=True)}
    ranges = {**ranges_of(op), **own}
    new.domain = DomainAttr(tuple((n, ranges[n]) for n in new.index_names))
    return new


def _reshaped(value: SSAValue, wanted: Shape, op: ContractionOp) -> SSAValue:
    """A tensor in a shape, by a reshape before an op if it needs one."""
    source = before_reshapes(value)
    if shape(source) == wanted:
        return source
    Rewriter.insert_op(view := ReshapeOp.of(source, wanted), InsertPoint.before(op))
    return view.result


def split_reader(
    op: ContractionOp, reshape: ReshapeOp, *, only_batches: bool = False
) -> ReshapeOp | None:
    """Let a contraction read axes that a reshape merges one by one, in place.

    With ``only_batches`` only the index of a batch is split, by which all operands and the result
    are read. Returns the reshape of its result; None if it reads none, or cannot.
    """
    old, new = shape(reshape.operand), shape(reshape.result)
    for value, access in zip(op.inputs, op.accesses, strict=True):
        for before, after in reshaped_axes(old, new) if value is reshape.result else ():
            name = access.data[after[0]].variable if len(before) > 1 == len(after) else None
            if name is None or (only_batches and not _is_batch(op, name)):
                continue
            if (made := split_index(op, name, [old[k] for k in before])) is not None:
                return made
    return None


def _is_batch(op: ContractionOp, name: str) -> bool:
    """Whether an index moves all operands, and the result."""
    accesses = (op.output.data, *(a.data for a in op.accesses))
    return all(any(name in e.names for e in access) for access in accesses)


def _axes(access: Access, value: SSAValue, name: str, r: Range) -> list[int] | None:
    """Axes along which an index runs; None if it stands with others, or not along the whole."""
    found: list[int] = []
    for axis, (e, size) in enumerate(zip(access, shape(value), strict=True)):
        if name not in e.names:
            continue
        if e != IndexExpr.of(name) or r != Range(0, size):
            return None
        found.append(axis)
    return found


def _split(value: SSAValue, axes: Sequence[int], sizes: Sequence[int]) -> Shape:
    """Shape of a tensor some of whose axes are split."""
    parts = ((*sizes,) if k in axes else (n,) for k, n in enumerate(shape(value)))
    return tuple(n for part in parts for n in part)
