"""Split row reductions: aggregates of a row that need each other, in parts, in one pass instead of
two.

A variance needs the mean of its row, a sum of exponentials the maximum. Where rows are too few or
too long for a kernel that has whole rows, each part of a row has a mean or a maximum of its own,
and the parts' results are merged by its difference to the row's (`partial_merge.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.reachability import Reachability
from tiledialect.dialects.tile.attributes import Aggregation, Combination, DomainAttr
from tiledialect.dialects.tile.base import Shape, broadcast_shape, make_type, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.elementwise.special import IndexOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.names import give_name, given_name, keep_name, keep_place, place_of
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.passes.split.rewrites.partial_merge import (
    Correction,
    PartialAggregates,
    correction,
    is_real,
)
from tiledialect.passes.split.rewrites.piece_names import piece_name
from tiledialect.schedule.cost.device import Device

MAX_ITEMS, OTHER_REGISTERS = 1 << 10, 12
"""Maximum work-items of a GPU that share a row, and the registers of each for other things."""
MAX_SEARCHED = 64
"""Maximum ops of the search for sums of the same rows."""


@dataclass(frozen=True)
class RowShape:
    """Axes of a tensor, and the axes that are aggregated over."""

    shape: Shape
    summed: tuple[int, ...]

    @property
    def length(self) -> int:
        """Number of elements of a row."""
        return prod(self.shape[axis] for axis in self.summed)

    @property
    def size(self) -> int:
        """Number of elements of all rows."""
        return prod(self.shape)

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.size // max(1, self.length)

    @property
    def kept(self) -> Shape:
        """Shape of the values that each row has one of."""
        return tuple(1 if axis in self.summed else n for axis, n in enumerate(self.shape))


@dataclass(frozen=True)
class RowAggregates:
    """Aggregates of the same rows, some of which need others."""

    rows: RowShape
    first: tuple[ContractionOp, ...]
    """Aggregates that others need."""
    found: Mapping[ContractionOp, Correction]
    """Aggregates that need others."""
    independent: tuple[ContractionOp, ...]
    """Aggregates that need none, of tensors that are read anyway."""

    @property
    def ops(self) -> set[ContractionOp]:
        """All of the aggregates."""
        return {*self.first, *self.found, *self.independent}

    def is_kept(self, device: Device) -> bool:
        """Whether work-groups of a GPU keep whole rows in registers, of which there are enough."""
        read = sources_of((v for op in self.ops for v in op.inputs), self.rows)
        is_many = device.is_busy_with(self.rows.count)
        words = device.registers_unit - MAX_ITEMS * OTHER_REGISTERS
        return is_many and self.rows.length * len(read) <= words

    def means_of(self, op: ContractionOp) -> list[SSAValue]:
        """Means of a sum that other aggregates need."""
        own = Reachability([op.result])
        means = (m for known in self.found.values() for m in known.means)
        return [m for m in dict.fromkeys(means) if m != op.result and own.reaches(m)]


def rows_of(op: ContractionOp) -> RowShape | None:
    """Rows that a contraction aggregates without change."""
    if op.domain is None or op.default is not None or op.constraints:
        return None
    names = _places(op.accesses.data[0].data)
    kept = _places([e for e in op.output.data if e != IndexExpr.of(0)])
    if names is None or kept is None or not set(kept) <= set(names) or len(kept) == len(names):
        return None
    if not op.is_static:
        return None
    shape = shape_of(tensor_type(op.inputs[0])) or ()
    ranges = op.domain.ranges
    if any(
        (ranges[n].lower, ranges[n].extent) != (0, size)
        for n, size in zip(names, shape, strict=True)
    ):
        return None
    rows = RowShape(shape, tuple(axis for axis, n in enumerate(names) if n not in kept))
    return rows if _inputs_fit(op, names, rows) else None


def _inputs_fit(op: ContractionOp, names: tuple[str, ...], rows: RowShape) -> bool:
    """Whether a contraction combines elements of the same place, or compares them with a row's
    value.
    """
    kind, places = op.combination.data, tuple(IndexExpr.of(n) for n in names)
    if kind is Combination.none:
        return True
    if kind is Combination.mul and len(op.inputs) == 2:
        return tuple(op.accesses.data[1].data) == places
    kept = tuple(IndexExpr.of(0) if k in rows.summed else e for k, e in enumerate(places))
    return kind is Combination.eq and tuple(op.accesses.data[1].data) == kept


def _places(exprs: Iterable[IndexExpr]) -> tuple[str, ...] | None:
    """Variables of expressions that are distinct plain indices."""
    names = [e.names[0] for e in exprs if len(e.names) == 1 and e == IndexExpr.of(e.names[0])]
    is_all = len(names) == len(list(exprs)) and len(set(names)) == len(names)
    return tuple(names) if is_all else None


# -- finding ---------------------------------------------------------------------------------


def group_of(leader: ContractionOp) -> RowAggregates | None:
    """Aggregates of rows that need a leader, with the other aggregates of the same rows."""
    rows = rows_of(leader)
    if rows is None or shape_of(tensor_type(leader.result)) != rows.kept:
        return None
    users = _users([leader.result], rows)
    if not users:
        return None
    others = _independent_aggregates(leader, users, rows)
    kept = [op for op in others if shape_of(tensor_type(op.result)) == rows.kept]
    users = _users([op.result for op in (leader, *kept)], rows)
    first = [leader, *(op for op in kept if op not in users)]
    others = [op for op in others if op not in users]
    before, found = Reachability(op.result for op in first), dict[ContractionOp, Correction]()
    for op in users:
        known = correction(op, before, rows.length)
        if known is not None:
            found[op] = known
    if not found:
        return None
    needed = {c for known in found.values() for c in known.needs}
    independent = tuple(op for op in others if op not in needed and is_real(op))
    return RowAggregates(rows, tuple(c for c in first if c in needed), found, independent)


def _users(values: Iterable[SSAValue], rows: RowShape) -> list[ContractionOp]:
    """Aggregates of rows that use some values through elementwise ops."""
    pending, seen, found = list(values), set[Operation](), list[ContractionOp]()
    while pending and len(seen) < MAX_SEARCHED:
        for use in pending.pop().uses:
            op = use.operation
            if op in seen:
                continue
            seen.add(op)
            if isinstance(op, ContractionOp) and rows_of(op) == rows:
                found.append(op)
            elif isinstance(op, ElementwiseOp):
                pending.append(op.res)
    return found


def _independent_aggregates(
    leader: ContractionOp, users: list[ContractionOp], rows: RowShape
) -> list[ContractionOp]:
    """Other aggregates of the tensors that the rows' aggregates read, and that need none of
    these.
    """
    sources = sources_of([*leader.inputs, *(v for op in users for v in op.inputs)], rows)
    before = Reachability([leader.result, *(op.result for op in users)])
    return [
        op
        for op in _users(sources, rows)
        if op is not leader
        and op not in users
        and op.parent is leader.parent
        and sources_of(op.inputs, rows) <= sources
        and not any(map(before.reaches, op.inputs))
    ]


def sources_of(values: Iterable[SSAValue], rows: RowShape) -> set[SSAValue]:
    """Whole tensors that values are computed from elementwise."""
    found, pending, seen = set[SSAValue](), list(values), set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen or (shape_of(tensor_type(value)) or ()) != rows.shape:
            continue
        seen.add(value)
        if isinstance(value.owner, ElementwiseOp) and not isinstance(value.owner, IndexOp):
            pending += value.owner.operands
        elif not isinstance(value.owner, IndexOp):
            found.add(value)
    return found


# -- splitting -------------------------------------------------------------------------------


@dataclass
class PartsKernel:
    """Builder of the row kernel of all aggregates of the parts, which act as rows there."""

    group: RowAggregates
    axis: int
    parts: int
    before: Operation
    """Op before which the kernel is inserted."""
    inputs: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The kernel's arguments for its operands."""
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The kernel's values for values, or for rows' aggregates and means, of the parts."""

    def __post_init__(self) -> None:
        """Begin with an empty kernel."""
        self.block = Block()
        self.block.add_op(end := YieldOp([]))
        self.build = TensorBuilder(end, place_of(self.before))

    @property
    def size(self) -> int:
        """Number of elements of a part of a row."""
        return self.group.rows.length // self.parts

    def finished(self) -> Mapping[SSAValue, SSAValue]:
        """Insert the kernel; its results for the aggregates and weights."""
        wanted = [op.result for op in self.ordered]
        for op in self.ordered:
            self._aggregate_of(op)
        weights = (k.weight for k in self.group.found.values())
        others = dict.fromkeys(v for v in weights if v is not None)
        sums = [self._sum_of(v) for v in others]
        values = [*(self.made[v] for v in wanted), *sums]
        Rewriter.replace_op(self.build.before, YieldOp(values))
        shape = self._shape(self.group.rows.shape)
        axes = DomainAttr(tuple((f"d{k}", Range(0, n)) for k, n in enumerate(shape)))
        kernel = KernelOp([*self.inputs], self.block, axes, like=self.before)
        Rewriter.insert_op(kernel, InsertPoint.before(self.before))
        for value, inner in zip(kernel.outputs, values, strict=True):
            keep_name(value, inner)
        return dict(zip([*wanted, *others], kernel.outputs, strict=True))

    @property
    def ordered(self) -> list[ContractionOp]:
        """The group's aggregates, in their order."""
        block = self.before.parent
        assert block is not None
        return [op for op in block.ops if isinstance(op, ContractionOp) and op in self.group.ops]

    def _sum_of(self, value: SSAValue) -> SSAValue:
        """Sum of a value over each part."""
        for op in self.ordered:
            is_sum = op.aggregation.data is Aggregation.add and [*op.inputs] == [value]
            if is_sum and op not in self.group.found:
                return self.made[op.result]
        return self._aggregate(Aggregation.add, [self.of(value)])

    def _aggregate_of(self, op: ContractionOp) -> None:
        """Compute the aggregate of each part, and the means that follow from it."""
        inputs = [self.of(v) for v in op.inputs]
        found = self._aggregate(op.aggregation.data, inputs, op.combination.data)
        give_name(found, piece_name(op, "parts"))
        self.made[op.result] = found
        for mean in self.group.means_of(op):
            self.made[mean] = self.build.div(found, self.size)

    def _aggregate(
        self,
        kind: Aggregation,
        inputs: Sequence[SSAValue],
        how: Combination = Combination.none,
    ) -> SSAValue:
        shape = self._shape(self.group.rows.shape)
        summed = {k if k < self.axis else k + 1 for k in self.group.rows.summed} | {self.axis + 1}
        places = [IndexExpr.of(f"d{k}" if n > 1 else 0) for k, n in enumerate(shape)]
        kept = [IndexExpr.of(0) if k in summed else e for k, e in enumerate(places)]
        sizes = tuple(1 if k in summed else n for k, n in enumerate(shape))
        accesses = [places, kept if how is Combination.eq else places][: len(inputs)]
        pairs = list(zip(inputs, accesses, strict=True))
        return self.build.insert(ContractionOp(kind, how, kept, pairs, shape=sizes))

    def of(self, value: SSAValue) -> SSAValue:
        """A value in the parts' shape, with the parts' aggregates instead of the rows'."""
        if value not in self.made:
            self.made[value] = self._of(value)
        return self.made[value]

    def _of(self, value: SSAValue) -> SSAValue:
        op, shape = value.owner, shape_of(tensor_type(value)) or ()
        if isinstance(op, ConstantOp):
            return self.build.insert(op.clone())
        if isinstance(op, IndexOp) and shape == self.group.rows.shape:
            return self._index(op)
        if isinstance(op, ElementwiseOp) and self._is_made_again(value):
            operands = [self.of(v) for v in op.operands]
            t = make_type(broadcast_shape(operands), tensor_type(value).element_type)
            again = type(op).create(operands=operands, result_types=[t], properties=op.properties)
            return self.build.insert(again, given_name(value))
        view = self._view(value)
        argument = self.block.insert_arg(view.type, len(self.block.args))
        keep_name(argument, value)
        self.inputs[view] = argument
        return argument

    def _index(self, op: IndexOp) -> SSAValue:
        """Positions along an axis, which may be the axis of the parts."""
        like, axis = self.of(op.operand), op.axis.value.data
        own = self.build.insert(IndexOp.along(like, axis + 1 if axis >= self.axis else axis))
        if axis != self.axis:
            return own
        part = self.build.insert(IndexOp.along(like, axis))
        length = self.group.rows.shape[self.axis] // self.parts
        return self.build.add(self.build.mul(part, length), own)

    def _is_made_again(self, value: SSAValue) -> bool:
        """Whether a value is recomputed: it follows no contraction, or needs an aggregate."""
        if Reachability(op.result for op in self.group.first).reaches(value):
            return True
        sources = sources_of([value], self.group.rows)
        return bool(sources) and all(not isinstance(v.owner, Operation) for v in sources)

    def _view(self, value: SSAValue) -> SSAValue:
        """Tensor with an axis for the part, where it has the axis, before the kernel."""
        _hoist(value, self.before)
        shape = shape_of(tensor_type(value)) or ()
        axis = self.axis - (len(self.group.rows.shape) - len(shape))
        if axis < 0 or prod(shape[: axis + 1]) == 1:
            return value
        view = ReshapeOp.of(value, self._shape(shape))
        keep_place(view, self.before)
        Rewriter.insert_op(view, InsertPoint.before(self.before))
        return view.result

    def _shape(self, shape: Shape) -> Shape:
        """Shape with an axis for the part."""
        axis = self.axis - (len(self.group.rows.shape) - len(shape))
        parts = (self.parts, shape[axis] // self.parts) if shape[axis] > 1 else (1, 1)
        return (*shape[:axis], *parts, *shape[axis + 1 :])


def _hoist(value: SSAValue, before: Operation) -> None:
    """Move the ops of a value before an op on which it does not depend."""
    op = value.owner
    if not isinstance(op, Operation) or op.parent is not before.parent:
        return
    if op.is_before_in_block(before):
        return
    for operand in op.operands:
        _hoist(operand, before)
    op.detach()
    Rewriter.insert_op(op, InsertPoint.before(before))


def split_rows(group: RowAggregates, axis: int, parts: int) -> None:
    """Replace the aggregates of a group by aggregates of parts, and their merge."""
    kernel = PartsKernel(group, axis, parts, group.first[0])
    ordered = kernel.ordered
    found = kernel.finished()
    own, whole = dict(found), dict[SSAValue, SSAValue]()
    for op in ordered:
        build = TensorBuilder(op, place_of(op))
        value = found[op.result]
        if (known := group.found.get(op)) is not None:
            weights = None if known.weight is None else found[known.weight]
            value = known.corrected(
                PartialAggregates(build, kernel.size, own, whole), value, weights
            )
        if op in group.first:
            whole[op.result] = _total(op, value, axis, build, broadcasts=True)
            for mean in group.means_of(op):
                own[mean] = build.div(value, kernel.size)
                whole[mean] = build.div(whole[op.result], group.rows.length)
        total = _total(op, value, axis, build, broadcasts=False)
        keep_name(total, op.result)
        Rewriter.replace_op(op, [], [total])


def _total(
    op: ContractionOp, found: SSAValue, axis: int, build: TensorBuilder, *, broadcasts: bool
) -> SSAValue:
    """Merge of the parts, in the shape of the contraction's result, or broadcastable to the
    parts.
    """
    names = [e.names[0] for e in op.accesses.data[0].data]
    kept = {n for e in op.output.data for n in e.names}
    places = [IndexExpr.of(n if n in kept else 0) for n in names]
    inside, output, shape = list(places), op.output.data, shape_of(tensor_type(op.result)) or ()
    inside[axis : axis + 1] = [IndexExpr.of(f"{names[axis]}_part"), IndexExpr.of(0)]
    if broadcasts:
        output, shape = [*places[:axis], IndexExpr.of(0), *places[axis:]], list(shape)
        shape.insert(axis, 1)
    total = ContractionOp(
        op.aggregation.data, Combination.none, output, [(found, inside)], shape=tuple(shape)
    )
    set_domain(total, total.space())
    return build.insert(total)
