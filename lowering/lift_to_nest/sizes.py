"""Named sizes of a lift program: their origins, and facts about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IndexType, IntAttr, IntegerAttr, TensorType, i32
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.lift import memory
from tiledialect.dialects.lift.attributes import expression
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.binding import UNKNOWN_SIZE, local_names
from tiledialect.dialects.lift.layout import ReorderOp
from tiledialect.dialects.lift.sharing import BY_GROUPS, PARALLEL, SHARED
from tiledialect.dialects.lift.types import (
    all_sizes,
    as_array,
    is_array_type,
    leading,
    names_in,
    sizes_of,
)
from tiledialect.dialects.lift.values import AtOp, GenerateOp, SizeOp
from tiledialect.dialects.tile.base import TileOp
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import (
    Condition,
    Expr,
    at_least_zero,
    both,
    divides,
    floordiv,
)
from tiledialect.index.integer.magnitude import magnitude
from tiledialect.index.integer.simplify import simplify_condition
from tiledialect.index.size import Size
from tiledialect.ir.ops_in import ops_of


class OpenSizeError(TileError):
    """Error of a kernel's memory whose size is not known when it is compiled."""


def solvable_names(function: func.FuncOp) -> dict[str, tuple[int, int, Expr]]:
    """Names of sizes as ``input_names`` gives them; a TileError if there are others."""
    found = input_names(function)
    for op in function.walk():
        for t in (*op.result_types, *op.operand_types):
            if missing := names_in(t) - found.keys() - local_names(op):
                raise TileError.at(op, UNKNOWN_SIZE.format(min(missing)))
    return found


def input_names(function: func.FuncOp) -> dict[str, tuple[int, int, Expr]]:
    """Names in the sizes of inputs, each with the input's axis that defines it, and its value by
    `axis`."""
    found: dict[str, tuple[int, int, Expr]] = {}
    axes = [
        (size, number, axis)
        for number, t in enumerate(function.function_type.inputs)
        if isinstance(t, TensorType)
        for axis, size in enumerate(sizes_of(t))
    ]
    # Plain names first; of `2*N + 1`, N is (axis - 1) / 2. Of `M*N`, N is known once M is.
    axes.sort(key=lambda entry: len(entry[0].terms))
    before = -1
    while before < len(found):
        before = len(found)
        for size, number, axis in axes:
            unknown = size.names - found.keys()
            if len(unknown) == 1 and (value := _solved(size, *unknown)) is not None:
                found[next(iter(unknown))] = number, axis, value
    return found


def _solved(size: Size, name: str) -> Expr | None:
    """Value of a name of which a size is a linear function, from the size as `axis`."""
    constant = Size(tuple(t for t in size.terms if name not in dict(t[0])))
    factor = (size - constant) / Size.of(name)
    if name in factor.names:
        return None
    top, bottom = (expression(part) for part in factor.fraction)
    return floordiv((Expr.var("axis") - expression(constant)) * bottom, top)


def facts_of_sizes(function: func.FuncOp, names: Iterable[str]) -> Condition:
    """Facts about sizes: arrays have no less than 0 elements, quotients are exact."""
    known = {*names}
    found: dict[Condition, None] = dict.fromkeys(at_least_zero(Expr.var(n)) for n in names)
    for op in function.walk():
        for t in (
            *op.result_types,
            *(a.type for r in op.regions for b in r.blocks for a in b.args),
        ):
            for size in all_sizes(t):
                if size.names and size.names <= known:
                    top, bottom = (expression(part) for part in size.fraction)
                    found[at_least_zero(top)] = None
                    if bottom.value != 1:
                        found[divides(bottom, top)] = None
    return simplify_condition(both(*found))


def has_patterns(function: func.FuncOp) -> bool:
    """Whether a function has ops of lift, or inputs whose sizes have names."""
    has_names = any(names_in(t) for t in function.function_type.inputs if is_array_type(t))
    return has_names or bool(ops_of(function, LiftOp))


SAFE_SIZE = 2**30
"""Bound of sizes below which sums of a few of them fit 32 bits."""


def index_width(function: func.FuncOp) -> int:
    """Number of bits of the index arithmetic of a function of patterns."""
    numbers = (largest(function), *_numbers_of_maps(function), *_numbers_of_indices(function))
    return 32 if max(numbers) < SAFE_SIZE else 64


def _numbers_of_maps(function: func.FuncOp) -> Iterator[int]:
    """Bounds of the magnitudes of the index maps' values."""
    for op in function.walk():
        if isinstance(op, ReorderOp):
            index_map = op.map.data
            most = dict.fromkeys(index_map.expr.names, SAFE_SIZE)
            most[index_map.variable] = _number(leading(as_array(op.input, op.pattern())))
            yield magnitude(index_map.expr, most)


def _numbers_of_indices(function: func.FuncOp) -> Iterator[int]:
    """Bounds of the magnitudes of the indices of elements; those of 32 bits fit these."""
    most: dict[SSAValue, int] = {}
    for op in function.walk():
        if isinstance(op, GenerateOp):
            sizes = map(_number, sizes_of(as_array(op.result, op.pattern())))
            most.update(zip(op.body.block.args, sizes, strict=False))
        for value in op.results:
            if isinstance(value.type, IndexType):
                most[value] = _most(op, [most.get(v, SAFE_SIZE) for v in op.operands])
        if isinstance(op, AtOp) and op.index.type != i32:
            yield most.get(op.index, SAFE_SIZE)
    yield from most.values()


def _most(op: Operation, operands: Sequence[int]) -> int:
    """Bound of the magnitude of an index that an op computes."""
    match op:
        case SizeOp():
            return _number(op.size.data)
        case arith.ConstantOp(value=IntegerAttr(value=IntAttr(data=number))):
            return abs(number)
        case arith.MuliOp():
            return prod(operands)
        case arith.AddiOp() | arith.SubiOp():
            return sum(operands)
        case arith.SelectOp():
            return max(operands[1:])
        case arith.FloorDivSIOp() | arith.MinSIOp() | arith.MaxSIOp():
            return max(operands)
        case _:
            return SAFE_SIZE


def is_of_patterns(function: func.FuncOp) -> bool:
    """Whether a function is of patterns alone, whose kernels have no schedules."""
    return has_patterns(function) and not any(isinstance(op, TileOp) for op in function.walk())


def is_open(function: func.FuncOp) -> bool:
    """Whether a function is of patterns alone, and leaves sizes of its inputs open."""
    return is_of_patterns(function) and any(names_in(t) for t in function.function_type.inputs)


def largest(function: func.FuncOp) -> int:
    """Number of elements of the largest array; open sizes count as unknown."""
    most = 0
    for op in function.walk():
        apart = _apart(op) if isinstance(op, memory.ToGlobalOp) else 1
        for t in (*op.result_types, *op.operand_types):
            most = max(most, apart * prod(map(_number, all_sizes(t))))
    return most


MAX_IDLE_ITEMS = 1024
"""Maximum number of work-items more than elements to share out."""


def _apart(op: Operation) -> int:
    """Number of copies of an op's global memory: steps of the maps around, and work-items alike."""
    found, root = 1, op
    while (around := root.parent_op()) is not None and not isinstance(around, func.FuncOp):
        root = around
        if isinstance(root, PARALLEL):
            found *= _number(leading(as_array(root.input, root.pattern())))
    if root is op:
        return found
    by_items = not any(isinstance(x, SHARED) for x in op.operands[0].owner.walk())
    kinds = PARALLEL if by_items else BY_GROUPS
    later: dict[tuple[Any, ...], int] = {}
    for inner in root.walk():
        if isinstance(inner, kinds) and not inner.is_ancestor(op):
            key = (type(inner), *inner.properties.values())
            size = _number(leading(as_array(inner.input, inner.pattern()))) + MAX_IDLE_ITEMS
            later[key] = max(later.get(key, 0), size)
    return found * prod(later.values())


def _number(size: Size) -> int:
    return SAFE_SIZE if size.value is None else max(1, size.value)
