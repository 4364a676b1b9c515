"""Slice sinking: copies of elementwise results become elementwise ops on copies.

A part of a concatenation is then one of its parts, and need not be selected: as in the gradient of
a function of a concatenation, of which each part has a kernel, and nothing is written but the
parts. Copies sink only through ops on copies of the function's arguments, so nothing else is
recomputed, or kept longer.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.analysis.part_copies import is_part_copy
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import make_type, size_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp, IndexOp
from tiledialect.dialects.tile.special import GatherOp, PrngStateOp, PrngValueOp, ShapeOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.dialects.tile.structure.small_stencils import index_at, is_copy
from tiledialect.index.expr import Access, IndexExpr, Range
from tiledialect.index.sets import interval
from tiledialect.ir.names import given_name, keep_place, take_name

POSITIONAL = (IndexOp, GatherOp, PrngStateOp, PrngValueOp, ShapeOp, ConstantOp)
"""Elementwise ops whose elements depend on their positions."""


def sink_slices(body: Region, apart: Collection[str]) -> None:
    """Copy the operands of elementwise ops instead of their results, in place."""
    for op in reversed([*body.block.ops]):
        if not isinstance(op, ElementwiseOp) or isinstance(op, POSITIONAL):
            continue
        copies = _copies(op.results[0])
        if len(copies) < 2 or sum(size_of(c.result) for c in copies) > size_of(op.results[0]):
            continue
        made = _private_producers(op, {*copies})
        if made is None or any(given_name(x.results[0]) in apart for x in made):
            continue
        for copy in copies:
            _SunkSlice(copy, made).put()
    # Ops whose results are no longer copied.
    region_dce(body)


def _copies(value: SSAValue) -> list[ContractionOp]:
    """Users of a value, if all of them copy parts of it."""
    found = [use.operation for use in value.uses]
    copies = [op for op in found if isinstance(op, ContractionOp) and is_part_copy(op)]
    return copies if len(copies) == len(found) else []


def _private_producers(op: ElementwiseOp, users: set[Operation]) -> set[Operation] | None:
    """Elementwise ops that serve some users alone, if all their sources are in memory.

    Single elements may be of any rank that the users' results have.
    """
    found, pending = set[Operation](), [op]
    rank = min(len(shape(user.results[0])) for user in users)
    while pending:
        op = pending.pop()
        found.add(op)
        for value in op.operands:
            owner = value.owner
            if size_of(value) == 1 and len(shape(value)) <= rank:
                continue
            if shape(value) != shape(op.results[0]):
                return None
            if isinstance(owner, ElementwiseOp) and not isinstance(owner, POSITIONAL):
                if owner not in found:
                    pending.append(owner)
            elif not _is_in_memory(value):
                return None
    known = found | users
    return found if all(u.operation in known for x in found for u in x.results[0].uses) else None


def _is_in_memory(value: SSAValue) -> bool:
    """Whether a value is an argument, or composed of copies of arguments."""
    pending = [value]
    while pending:
        op = pending.pop().owner
        if isinstance(op, Block):
            continue
        if not isinstance(op, ContractionOp) or op.domain is None or not is_copy(op):
            return False
        pending += [op.inputs[0], *([] if op.default is None else [op.default])]
    return True


class _SunkSlice:
    """A copy of elementwise results, rewritten as those ops on copies."""

    def __init__(self, copy: ContractionOp, made: set[Operation]):
        self.copy = copy
        self.made = made
        self.ranges = dict(ranges_of(copy))
        self.known: dict[SSAValue, SSAValue] = {}

    def put(self) -> None:
        """Replace the copy."""
        (access,) = self.copy.accesses
        result = self._read(self.copy.inputs[0], access.data)
        if isinstance(result.owner, Operation):
            take_name(result, self.copy.result)
        Rewriter.replace_op(self.copy, [], [result])

    def _read(self, value: SSAValue, access: Access) -> SSAValue:
        """The copy's elements of a value that it reads at an access."""
        if value not in self.known:
            op = value.owner
            if size_of(value) == 1:
                return value
            if op in self.made and isinstance(op, Operation):
                self.known[value] = self._compute(op, access)
            else:
                self.known[value] = self._part(*self._source(value, access))
        return self.known[value]

    def _compute(self, op: Operation, access: Access) -> SSAValue:
        operands = [self._read(v, access) for v in op.operands]
        t = tensor_type(op.results[0]).element_type
        new = type(op).create(
            operands=operands,
            result_types=[make_type(shape(self.copy.result), t)],
            properties=op.properties,
            attributes=op.attributes,
        )
        return self._insert(new)

    def _part(self, value: SSAValue, access: Access) -> SSAValue:
        op = self.copy
        if access == tuple(op.output.data) and shape(value) == shape(op.result):
            return value
        return self._insert(
            ContractionOp(
                Aggregation.assign,
                Combination.none,
                op.output.data,
                [(value, access)],
                shape=shape(op.result),
                domain=op.domain,
            )
        )

    def _insert(self, op: Operation) -> SSAValue:
        keep_place(op, self.copy)
        Rewriter.insert_op(op, InsertPoint.before(self.copy))
        return op.results[0]

    def _source(self, value: SSAValue, access: Access) -> tuple[SSAValue, Access]:
        """Source of an access through copies, as far as it reads the same part everywhere."""
        while isinstance(op := value.owner, ContractionOp) and is_copy(op):
            at = self._indices(op, access)
            if at is None or op.constraints.data:
                break
            read = tuple(e.substitute(at) for e in op.accesses.data[0].data)
            own = ranges_of(op)
            places = [(e, own[n]) for n, e in at.items()]
            places += [(e, Range(0, n)) for e, n in zip(read, shape(op.inputs[0]), strict=True)]
            if all(self._is_in(e, r) for e, r in places):
                value, access = op.inputs[0], read
            elif op.default is not None and any(self._misses(e, r) for e, r in places):
                value = op.default
            else:
                break
        return value, access

    def _indices(self, op: ContractionOp, access: Access) -> dict[str, IndexExpr] | None:
        """Indices of a copy where it writes the elements of an access; None if that is not
        plain.
        """
        found: dict[str, IndexExpr] = {}
        for e, place in zip(op.output.data, access, strict=True):
            if len(e.names) != 1 or abs(e.coefficient(e.names[0])) != 1 or e.denominator != 1:
                return None
            found[e.names[0]] = index_at(e, place)
        is_plain = len(found) == len(op.output.data) and {*found} >= {*op.index_names}
        return found if is_plain else None

    def _is_in(self, e: IndexExpr, r: Range) -> bool:
        low, high = interval(e, self.ranges)
        return e.denominator == 1 and r.lower <= low and high < r.upper

    def _misses(self, e: IndexExpr, r: Range) -> bool:
        low, high = interval(e, self.ranges)
        return e.denominator == 1 and (high < r.lower or low >= r.upper)
