"""Contractions of few points an element, as differences and averages of neighbours are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import isfinite, prod
from typing import TypeVar

from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import (
    AbsOp,
    AddOp,
    AsinOp,
    AtanOp,
    CastOp,
    CeilOp,
    ConstantOp,
    ElementwiseOp,
    ErfOp,
    ExpM1Op,
    FloorOp,
    IdentOp,
    Log1pOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    ReluOp,
    RoundOp,
    SinhOp,
    SinOp,
    SqrtOp,
    SubOp,
    TanhOp,
    TanOp,
)
from tiledialect.dialects.tile.structure.row_axes import names_in
from tiledialect.index import sets
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.index.integer.expressions import Expr

MOST_STENCIL_POINTS = 16
"""Largest number of points of an element that is computed wherever it is needed."""
PLAIN = Combination.none, Combination.mul
"""Combinations that are 0 where nothing is read, as reads are 0 there."""

KEEP_ZEROS = (
    *(AbsOp, AddOp, AsinOp, AtanOp, CastOp, CeilOp, ErfOp, ExpM1Op, FloorOp, IdentOp, Log1pOp),
    *(MaxOp, MinOp, NegOp, ReluOp, RoundOp, SinOp, SinhOp, SqrtOp, SubOp, TanOp, TanhOp),
)
"""The functions that give 0 for zeros."""

Position = TypeVar("Position", int, Expr, IndexExpr)

Box = tuple[Range, ...]
"""A range of each axis of a tensor."""


def stencil_points(op: ContractionOp) -> int:
    """Number of points that aggregate into an element which can be computed where it is needed.

    0 if it cannot: they are many, or no copies, sums or sums of products of memory, or
    the element does not tell their indices. A copy may have a default, and read copies and
    elementwise functions of them.
    """
    if op.domain is None or op.combination.data not in PLAIN:
        return 0
    points = points_of_element(op, op.domain.ranges)
    if points > MOST_STENCIL_POINTS:
        return 0
    outputs = [name for e in op.output.data for name in e.names]
    is_sum = op.aggregation.data is Aggregation.add and op.default is None
    is_copy = op.aggregation.data is Aggregation.assign and points == 1
    exprs = [e for access in op.accesses for e in access.data]
    exprs += [c.data.expr for c in op.constraints]
    whole = all(e.denominator == 1 for e in exprs)
    fits = (is_sum or is_copy) and whole and _reads_memory(op) and _tells_indices(op, outputs)
    return points if fits else 0


def points_of_element(op: ContractionOp, ranges: Mapping[str, Range]) -> int:
    """The number of points that aggregate into an element, where indices have these ranges."""
    outputs = names_in(op.output.data)
    return prod(max(r.extent, 1) for n, r in ranges.items() if n not in outputs)


def read_elements(value: SSAValue, found: dict[SSAValue, int] | None = None) -> int:
    """Number of places in memory from which an element of copies of copies is read, if tests
    decide; ``found`` has numbers that are known."""
    op = value.owner
    found = {} if found is None else found
    if value not in found:
        if not isinstance(op, ContractionOp):
            return 1
        sources = [*op.inputs, *([] if op.default is None else [op.default])]
        found[value] = sum(read_elements(v, found) for v in sources) * max(stencil_points(op), 1)
    return found[value]


def is_copy(op: ContractionOp) -> bool:
    """Whether each element is one of a contraction's operand or of its default."""
    if op.aggregation.data is not Aggregation.assign or len(inputs := op.inputs) != 1:
        return False
    types = {tensor_type(v).element_type for v in (op.result, *inputs)}
    return len(types) == 1 and not isinstance(inputs[0].owner, ConstantOp)


def _reads_memory(op: ContractionOp) -> bool:
    """Whether all that is read is in memory, or of a copy in the same kernel.

    Sums may read elementwise functions of memory in the kernel, too, if these are 0 where memory
    is. Constants are read everywhere, memory as 0 where there is none of the contraction's.
    """
    is_sum, default, inputs = op.aggregation.data is Aggregation.add, op.default, op.inputs
    if default is None and all(
        isinstance(v, BlockArgument) or (is_sum and keeps_zeros(v)) for v in inputs
    ):
        return True
    has_default = default is None or default.type == op.result.type
    return is_copy(op) and has_default and _is_placed(inputs[0])


def keeps_zeros(value: SSAValue) -> bool:
    """Whether elementwise ops make a value from memory alone, and 0 where all of its operands are
    0."""
    known: dict[SSAValue, bool] = {}
    pending = [value]
    while pending:
        v = pending[-1]
        operands = v.owner.operands if isinstance(v.owner, ElementwiseOp) else ()
        if missing := [x for x in operands if x not in known]:
            pending += missing
            continue
        pending.pop()
        known[v] = _is_zero(v, [known[x] for x in operands])
    return known[value]


def _is_zero(value: SSAValue, operands_are: Sequence[bool]) -> bool:
    """Whether a value is 0 if some of the operands of its op are."""
    op = value.owner
    if isinstance(op, ConstantOp):
        return op.number == 0
    if isinstance(op, MulOp):
        pairs = zip(op.operands, operands_are, strict=True)
        return any(operands_are) and all(zero or _is_finite(v) for v, zero in pairs)
    return isinstance(op, (Block, *KEEP_ZEROS)) and all(operands_are)


def _is_finite(value: SSAValue) -> bool:
    return isinstance(value.owner, ConstantOp) and isfinite(value.owner.number)


def _is_placed(value: SSAValue) -> bool:
    """Whether all elements are copies from memory, or elementwise functions of such."""
    found, pending = {value}, [value]
    while pending:
        v = pending.pop()
        if isinstance(v.owner, ElementwiseOp):
            new = {x for x in v.owner.operands if not isinstance(x.owner, ConstantOp)} - found
            found |= new
            pending += new
        elif not _is_copied(v):
            return False
    return True


def _is_copied(value: SSAValue) -> bool:
    """Whether all elements are copies from memory, or of elementwise functions of it."""
    boxes: list[Box] = []
    while isinstance(op := value.owner, ContractionOp):
        box = _box(op)
        if not is_copy(op) or stencil_points(op) != 1 or box is None:
            return False
        boxes.append(box)
        if op.default is None:
            return _cover(boxes, shape_of(tensor_type(value)) or ())
        value = op.default
    return isinstance(value, BlockArgument)


def _box(op: ContractionOp) -> Box | None:
    """Box of a copy's writes; None if its indices depend on one another."""
    space = op.space()
    exprs = [e for access in space.inputs for e in access]
    exprs += [c.expr for c in space.constraints]
    if any(len(e.names) > 1 for e in exprs):
        return None
    ranges = sets.ranges(space)
    ends = [sets.interval(e, ranges) for e in space.output]
    return tuple(Range(low, high + 1) for low, high in ends)


def _cover(boxes: Sequence[Box], sizes: Sequence[int]) -> bool:
    """Whether each element of a tensor is in one of some boxes."""
    ends = [
        sorted({0, *(max(0, r.lower) for r in axis), *(r.upper for r in axis if r.upper < size)})
        for axis, size in zip(zip(*boxes, strict=True), sizes, strict=True)
    ]
    # Between two ends all elements are in the same boxes.
    return all(
        any(all(r.lower <= k < r.upper for r, k in zip(box, place, strict=True)) for box in boxes)
        for place in product(*ends)
    )


def is_covered(value: SSAValue) -> bool:
    """Whether copies that take a value as their default, one after the other, leave none of it."""
    boxes: list[Box] = []
    while isinstance(op := value.owner, ContractionOp) and is_copy(op) and stencil_points(op) == 1:
        if (box := _box(op)) is None:
            return False
        boxes.append(box)
        if _cover(boxes, shape_of(tensor_type(value)) or ()):
            return True
        uses = [*value.uses]
        if len(uses) != 1 or _reads(uses[0]) or not isinstance(uses[0].operation, ContractionOp):
            return False
        value = uses[0].operation.result
    return False


def inner_copies(ops: Sequence[ContractionOp]) -> set[Operation]:
    """The contractions of a kernel that others alone read: their elements are computed elsewhere.

    Elementwise ops may be between them.
    """
    block = next((op.parent for op in ops), None)
    return set() if block is None else inner_ops([*block.ops]) & {*ops}


def uses_of(value: SSAValue) -> Iterable[Use]:
    """Uses of a value."""
    return value.uses


def inner_ops(
    ops: Sequence[Operation], uses_of: Callable[[SSAValue], Iterable[Use]] = uses_of
) -> set[Operation]:
    """The contractions and elementwise ops whose elements contractions alone read."""
    found: set[Operation] = set()
    for op in reversed(ops):
        uses = [use for result in op.results for use in uses_of(result)]
        if uses and all(_reads(use) or use.operation in found for use in uses):
            found.add(op)
    return found


def _reads(use: Use) -> bool:
    op = use.operation
    return isinstance(op, ContractionOp) and use.index < len(op.inputs)


def index_at(e: IndexExpr, place: Position) -> Position:
    """The value of an output's index, moved or turned around, where an element is at a place."""
    return (place - int(e.constant)) * int(e.coefficient(e.names[0]))


def _tells_indices(op: ContractionOp, outputs: list[str]) -> bool:
    """Whether each output index is an index of its own, moved or turned around, or a number."""
    return len(outputs) == len(set(outputs)) and all(
        e.is_moved_name if e.names else e.denominator == 1 for e in op.output.data
    )
