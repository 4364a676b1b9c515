"""Views of buffers in OpenCL C, which cost nothing: the ops of memref that give another memref."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, MemRefType
from xdsl.dialects.utils import get_dynamic_index_list
from xdsl.ir import Operation, SSAValue

from tiledialect.lowering.opencl.buffers import Address, Buffer, MemoryScope, layout, space_of
from tiledialect.lowering.opencl.types import Expr, Scope, int_literal


def mixed(
    scope: Scope, static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]
) -> list[Expr]:
    """Numbers of which some are constants and some are values."""
    both = get_dynamic_index_list(static.get_values(), dynamic, DYNAMIC_INDEX)
    return [int_literal(v, 64) if isinstance(v, int) else scope.expr(v) for v in both]


def product(a: Expr, b: Expr) -> Expr:
    """The product of two strides."""
    return Address().plus(a, b).expr


def _view_subview(scope: MemoryScope, op: Operation) -> Buffer:
    """Offsets and strides count in the source's; a result of lower rank has lost dimensions of
    size 1."""
    assert isinstance(op, memref.SubviewOp)
    source = scope.buffer(op.source)
    offset = source.offset
    for o, s in zip(mixed(scope, op.static_offsets, op.offsets), source.strides, strict=True):
        offset = offset.plus(o, s)
    strides = [
        product(m, s)
        for m, s in zip(mixed(scope, op.static_strides, op.strides), source.strides, strict=True)
    ]
    assert isinstance(op.result.type, MemRefType)
    kept = kept_dimensions(op.static_sizes.get_values(), op.result.type.get_shape())
    if kept is None:
        raise scope.error(f"the sizes do not become {op.result.type}")
    strides = tuple(strides[d] for d in kept)
    return replace(source, strides=strides, offset=offset)


def kept_dimensions(sizes: Sequence[int], shape: Sequence[int]) -> list[int] | None:
    """Dimensions of a subview that are in its type: all but some of size 1."""
    kept: list[int] = []
    surplus = len(sizes) - len(shape)
    for d, size in enumerate(sizes):
        if surplus and size == 1 and (len(kept) == len(shape) or shape[len(kept)] != 1):
            surplus -= 1
        elif len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(d)
        else:
            return None
    return kept if len(kept) == len(shape) else None


def _view_reinterpret_cast(scope: MemoryScope, op: Operation) -> Buffer:
    """Offset and strides count from the source's base, whatever its own offset."""
    assert isinstance(op, memref.ReinterpretCastOp)
    source = scope.buffer(op.source)
    offsets = mixed(scope, op.static_offsets, op.offsets)
    offset = Address()
    for o in offsets:
        offset = offset.plus(o, int_literal(1, 64))
    strides = tuple(mixed(scope, op.static_strides, op.strides))
    return replace(source, strides=strides, offset=offset)


def _view_same(scope: MemoryScope, op: Operation) -> Buffer:
    """The source under another type."""
    return scope.buffer(op.operands[0])


def _view_reshape(scope: MemoryScope, op: Operation) -> Buffer:
    """Print expand_shape and collapse_shape: the strides are in the result's type."""
    source = scope.buffer(op.operands[0])
    return replace(source, strides=layout(scope, op.results[0].type)[1])


def _view_space(scope: MemoryScope, op: Operation) -> Buffer:
    source = scope.buffer(op.operands[0])
    if space_of(scope, op.results[0].type, source.space) != source.space:
        raise scope.error("a pointer keeps its address space in OpenCL C 1.2")
    return source


VIEWS: dict[type[Operation], Callable[[MemoryScope, Operation], Buffer]] = {
    memref.SubviewOp: _view_subview,
    memref.ReinterpretCastOp: _view_reinterpret_cast,
    memref.CastOp: _view_same,
    memref.AssumeAlignmentOp: _view_same,
    memref.CollapseShapeOp: _view_reshape,
    memref.ExpandShapeOp: _view_reshape,
    memref.MemorySpaceCastOp: _view_space,
}
