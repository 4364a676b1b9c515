"""Parts of a tensor that are written side by side, each by its own contraction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

from xdsl.ir import Block, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.attributes import Aggregation, AggregationAttr
from tiledialect.dialects.tile.base import TileOp, size_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import AddOp, ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.parts import Axis, miss, places
from tiledialect.dialects.tile.structure.row_axes import names_in
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.ir.names import keep_name
from tiledialect.schedule.output_box import always_lands, output_box


def is_written_over(op: ContractionOp) -> bool:
    """Whether a contraction can write into its default, which no other op reads.

    Elementwise ops would join a kernel whose loops visit every element, and save more.
    """
    start = op.default
    if start is None or start.type != op.result.type or not start.has_one_use():
        return False
    is_made = isinstance(start.owner, TileOp) and not isinstance(
        start.owner, ConstantOp | ReshapeOp
    )
    goes_on = any(isinstance(u.operation, ElementwiseOp) for u in op.result.uses)
    return is_made and not (goes_on and output_box(op.space()) is not None)


def merge_added_parts(block: Block) -> None:
    """Let a part that is added to others write in place where these are 0."""
    for op in list(block.ops):
        if not isinstance(op, AddOp):
            continue
        for base, part in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if (added := _merged_part(base, part, op)) is not None:
                for written in (*_parts(base), added):
                    # Each sum has one term.
                    written.aggregation = AggregationAttr(Aggregation.assign)
                added.detach()
                Rewriter.insert_op(added, InsertPoint.before(op))
                added.set_default(base)
                keep_name(added.result, op.result)
                Rewriter.replace_op(op, [], [added.result])
                break


def _merged_part(base: SSAValue, part: SSAValue, op: AddOp) -> ContractionOp | None:
    """Contraction of a part, if writing the part over the base gives the sum."""
    made = part.owner
    if not isinstance(made, ContractionOp) or made.default is not None or base is part:
        return None
    if not (base.type == part.type == op.result.type and base.has_one_use()):
        return None
    parts = [*_parts(base), made] if part.has_one_use() else []
    if len(parts) < 2 or parts[0].default is not None or not _are_apart(parts):
        return None
    return made


def is_completed(op: ContractionOp) -> bool:
    """Whether other contractions write a contraction's unwritten elements before any read."""
    parts = _with_later(op)
    if op.default is not None or len(parts) < 2 or len({p.result.type for p in parts}) > 1:
        return False
    if not _are_apart(parts):
        return False
    size = size_of(op.result)
    return sum(map(_count, parts)) == size and all(_fills(p) for p in parts)


def completing_kernels(kernel: KernelOp) -> list[KernelOp]:
    """A kernel, and the kernels that write the elements its contraction leaves unwritten, if they
    do.
    """
    op = kernel.contraction
    if op is None or not _is_alone(op) or not is_completed(op):
        return [kernel]
    kernels = [part.parent_op() for part in _with_later(op)]
    return [k for k in kernels if isinstance(k, KernelOp)]


def _with_later(op: ContractionOp) -> list[ContractionOp]:
    """A contraction, and the contractions that write over its result one after the other."""
    parts = [op]
    while (user := _continuation(parts[-1])) is not None:
        parts.append(user)
    return parts


def _continuation(op: ContractionOp) -> ContractionOp | None:
    """Contraction, maybe in a kernel of its own, that alone takes a result, as its default."""
    result = op.result
    if _is_alone(op) and isinstance(kernel := op.parent_op(), KernelOp):
        result = kernel.outputs[0]
    while (use := _only_use(result)) is not None and isinstance(use.operation, ReshapeOp):
        result = use.operation.result
    if use is None:
        return None
    user, default = use.operation, result
    if isinstance(user, KernelOp):
        default, user = user.block.args[use.index], user.contraction
        if user is None or not _is_alone(user):
            return None
    elif not isinstance(user, ContractionOp) or not is_written_over(user):
        return None
    return user if user.default is default and default not in user.inputs else None


def _only_use(value: SSAValue) -> Use | None:
    return next(iter(value.uses)) if value.has_one_use() else None


def _is_alone(op: ContractionOp) -> bool:
    """Whether a contraction is all that its kernel computes."""
    return (
        [type(use.operation) for use in op.result.uses] == [YieldOp]
        and isinstance(kernel := op.parent_op(), KernelOp)
        and len(kernel.outputs) == 1
    )


def _parts(value: SSAValue) -> Iterator[ContractionOp]:
    """Contractions that have written a value, the first one first."""
    if isinstance(op := value.owner, ContractionOp):
        if op.default is not None:
            yield from _parts(op.default)
        yield op


def _are_apart(parts: Sequence[ContractionOp]) -> bool:
    """Whether no two copies write the same element."""
    if not all(map(_is_copy, parts)):
        return False
    pairs = combinations(parts, 2)
    return all(any(miss(*axis) for axis in _axes_of(*two)) for two in pairs)


def _is_copy(op: ContractionOp) -> bool:
    """Whether each element that a contraction writes has one point."""
    if op.domain is None or op.aggregation.data is Aggregation.assign:
        return op.domain is not None
    types = {tensor_type(v).element_type for v in (op.result, *op.inputs)}
    names = [name for e in op.output.data for name in e.names]
    is_plain = all(len(e.names) <= 1 for e in op.output.data)
    is_sum = op.aggregation.data is Aggregation.add and len(op.inputs) == len(types) == 1
    return (
        is_sum
        and is_plain
        and set(names) >= {*op.index_names}
        and len(names) == len(op.index_names)
    )


def _axes_of(a: ContractionOp, b: ContractionOp) -> Iterator[tuple[Axis, Axis]]:
    """Places that two contractions write along each axis."""
    first, second = (places(op.output.data, ranges_of(op)) for op in (a, b))
    return zip(first, second, strict=True)


def _fills(op: ContractionOp) -> bool:
    """Whether a copy writes an element for each of its points."""
    exprs = op.output.data
    plain = all(e.denominator == 1 and len(e.names) <= 1 for e in exprs)
    # An index along two axes writes their diagonal.
    plain &= sum(len(e.names) for e in exprs) == len(names_in(exprs))
    return plain and not op.constraints.data and always_lands(op.space(), ranges_of(op))


def _count(op: ContractionOp) -> int:
    """Number of elements that a filling copy writes."""
    ranges = ranges_of(op)
    return prod(ranges[n].extent for n in names_in(op.output.data))
