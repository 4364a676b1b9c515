"""Products of groups: rows that lie group by group, each multiplied by its group's matrix."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import GatherOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.elementwise import clamped_index
from tiledialect.operators.layout import (
    broadcast,
    cast,
    concatenate,
    constant,
    element_type,
    full,
    iota,
    reshape,
    section,
    shape,
)
from tiledialect.operators.linear import einsum
from tiledialect.operators.reductions import running

FEW, MOST = 8, 64
"""Rows of a block that meet a matrix together: as many as a tile in registers has, or a quarter of
a group's if these are more, so that few rows are only there to fill blocks."""


def grouped_rows(b: TensorBuilder, ends: SSAValue, count: int) -> SSAValue:
    """Number of the group of each of the rows, which lie group by group up to given ends.

    That of rows behind all groups is the number of groups.
    """
    ends = cast(b, ends, i32)
    (groups,) = shape(ends)
    line = iota(b, (count, groups), 0, i32)
    is_behind = b.op(ew.CmpLeOp, broadcast(b, ends, (count, groups), [1]), line)
    return einsum(b, [cast(b, is_behind, i32)], [["m", "g"]], ["m"], i32)


def grouped_product(
    b: TensorBuilder, x: SSAValue, y: SSAValue, ends: SSAValue, t: Attribute
) -> SSAValue:
    """Products of groups of rows of ``x`` by a matrix of ``y`` each; 0 behind all groups.

    Rows are products by matrices of their own, which are read once for each row. Groups of several
    rows are divided into blocks, whose last one may have rows that are nobody's.
    """
    (rows, _), (groups, _, columns) = shape(x), shape(y)
    if not groups:
        return full(b, 0, (rows, columns), t)
    numbers = grouped_rows(b, ends, rows)
    own = clamped_index(b, numbers, groups - 1)
    size = _block_size(rows // groups)
    if size == 1:
        chosen = b.insert(GatherOp.make(y, own))
        product = einsum(b, [x, chosen], [["m", "k"], ["m", "k", "n"]], ["m", "n"], t)
    else:
        product = _in_blocks(b, x, y, ends, own, size, t)
    is_inside = b.op(ew.CmpLtOp, reshape(b, numbers, (rows, 1)), groups)
    return cast(b, b.select(is_inside, product, constant(b, 0, t)), t)


def _block_size(rows: int) -> int:
    """Rows of a block, a power of two, where a group has so many."""
    most = max(1, min(rows, max(FEW, rows // 4), MOST))
    return 1 << most.bit_length() - 1


def _in_blocks(
    b: TensorBuilder,
    x: SSAValue,
    y: SSAValue,
    ends: SSAValue,
    own: SSAValue,
    size: int,
    t: Attribute,
) -> SSAValue:
    """Products of rows by the matrices of their own groups, each matrix with blocks of rows."""
    rows, (groups, _, columns) = shape(x)[0], shape(y)
    ends = cast(b, ends, i32)
    first = full(b, 0, (1,), i32)
    starts = concatenate(b, [first, section(b, ends, 0, 0, groups - 1)], 0)
    counts = b.op(ew.DivOp, b.add(b.sub(ends, starts), size - 1), size)
    block_ends = running(b, cast(b, counts, i32), Aggregation.add, 0)
    # A row is so many places further on where the groups before it are filled up to whole blocks.
    shifts = cast(b, b.sub(b.mul(b.sub(block_ends, counts), size), starts), i32)
    blocks = (rows + groups * (size - 1)) // size
    of_blocks = clamped_index(b, grouped_rows(b, block_ends, blocks), groups - 1)
    shift = reshape(b, b.insert(GatherOp.make(shifts, of_blocks)), (blocks, 1))
    places = reshape(b, iota(b, (blocks * size,), 0, i32), (blocks, size))
    filled = b.insert(GatherOp.make(x, clamped_index(b, b.sub(places, shift), rows - 1)))
    matrices = b.insert(GatherOp.make(y, of_blocks))
    terms = [["b", "m", "k"], ["b", "k", "n"]]
    product = einsum(b, [filled, matrices], terms, ["b", "m", "n"], t)
    moved = b.add(iota(b, (rows,), 0, i32), b.insert(GatherOp.make(shifts, own)))
    return b.insert(GatherOp.make(reshape(b, product, (blocks * size, columns)), moved))


def product_of_groups(
    b: TensorBuilder, x: SSAValue, y: SSAValue, ends: SSAValue, t: Attribute
) -> SSAValue:
    """Products of groups of columns of ``x`` by the same rows of ``y``."""
    (groups,), (rows, inner) = shape(ends), shape(x)
    numbers = grouped_rows(b, ends, inner)
    own = b.op(
        ew.CmpEqOp,
        reshape(b, numbers, (1, 1, inner)),
        iota(b, (groups, 1, 1), 0, i32),
    )
    parts = b.select(own, reshape(b, x, (1, rows, inner)), constant(b, 0, element_type(x)))
    terms = (["g", "m", "k"], ["k", "n"])
    return einsum(b, [cast(b, parts, element_type(x)), y], terms, ["g", "m", "n"], t)
