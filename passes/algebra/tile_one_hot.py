"""tile-one-hot: sums over a one-hot matrix become gathers and scatters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.aggregation import accumulator_type
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import make_type, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import GatherOp, ReshapeOp, ScatterOp
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import give_name, keep_origin
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.algebra.rewrites.comparison_sums import as_comparison
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.passes.normalize.tile_bounds import needed_constraints
from tiledialect.schedule.cost import scatters as cost
from tiledialect.schedule.cost.device import Device, described, device_of
from tiledialect.schedule.cost.estimate import estimate
from tiledialect.schedule.cost.traits import Kind

PLAIN = described(Kind.CPU, {"native_vector_width": 1})
"""Device that sums are weighed for where none is described."""

Names = tuple[str, ...]

EXACT_ROWS = {2: 1 << 8, 4: 1 << 24, 8: 1 << 31}
"""Number of rows that reals of so many bytes tell apart."""


@dataclass(frozen=True)
class OneHot:
    """Sum over `rows[v] == indices[p…] ? values[…]`, of which all indices are plain names.

    Without values, or with a number for them, points are counted.
    """

    op: ContractionOp
    sizes: dict[str, int]
    """Size of the range of each index."""
    row: str
    """The index that the one-hot matrix picks."""
    counted: ew.IndexOp
    """The op that counts the rows."""
    points: Names
    """Indices at which the row numbers are read."""
    indices: SSAValue
    taken: Names
    """Indices at which the values are read."""
    output: Names

    @staticmethod
    def of(op: ContractionOp) -> OneHot | None:
        """The one-hot sum of a contraction, if it is one."""
        is_compared = op.combination.data in (Combination.cond, Combination.eq)
        is_sum = op.aggregation.data is Aggregation.add and is_compared
        if not is_sum or not op.is_static or op.default is not None:
            return None
        sides = [k for k in range(2) if isinstance(op.inputs[k].owner, ew.IndexOp)]
        sizes = _sizes(op)
        if len(sides) != 1 or sizes is None or not _is_index(op.inputs[1 - sides[0]]):
            return None
        (side,) = sides
        counted = op.inputs[side].owner
        assert isinstance(counted, ew.IndexOp)
        row = op.accesses.data[side].data[counted.axis.value.data].variable
        points, taken = _names(op.accesses.data[1 - side].data), _taken(op)
        output = _names(op.output.data)
        if row is None or points is None or taken is None or output is None or row in points:
            return None
        if {row, *points, *taken, *output} != set(sizes):
            return None
        return OneHot(op, sizes, row, counted, points, op.inputs[1 - side], taken, output)

    @property
    def rest(self) -> Names:
        """The other indices of the result."""
        return tuple(n for n in self.output if n != self.row and n not in self.points)

    @property
    def is_gather(self) -> bool:
        """Whether each point of the result takes the row that its index names."""
        wanted = {*self.points, *self.rest}
        is_taken = set(self.taken) == {self.row, *self.rest}
        return set(self.output) == wanted and is_taken and _is_integer(self.indices)

    @property
    def is_scatter(self) -> bool:
        """Whether each row of the result adds up the points whose index names it."""
        wanted = {self.row, *self.rest}
        rows_first = self.counted.axis.value.data == 0
        each = {*self.points, *self.rest}
        is_taken = self.is_count or set(self.taken) == each
        return rows_first and set(self.output) == wanted and is_taken and self._has_exact_rows

    @property
    def is_count(self) -> bool:
        """Whether one number is added for each point."""
        return not self.taken and not self.rest and bool(self.points)

    @property
    def _has_exact_rows(self) -> bool:
        """Whether the indices' type tells all rows from one another."""
        t = tensor_type(self.indices).element_type
        return not et.is_float(t) or self.sizes[self.row] <= EXACT_ROWS[et.element_bytes(t)]


def _names(access: Sequence[IndexExpr]) -> Names | None:
    """Names of an access that consists of plain names, each once."""
    names = tuple(e.variable for e in access if e.variable is not None)
    return names if len(set(names)) == len(access) else None


def _taken(op: ContractionOp) -> Names | None:
    """Indices at which values are read; none if a number is taken, whose sums are exact."""
    if op.combination.data is Combination.eq:
        return ()
    if isinstance(op.inputs[2].owner, ew.ConstantOp):
        # A number of 16 bits would be rounded before it is added up.
        is_own = accumulator_type(op) == tensor_type(op.result).element_type
        return () if is_own else None
    return _names(op.accesses.data[2].data)


def _is_index(value: SSAValue) -> bool:
    """Whether elements may name rows: integers, or reals, whose whole numbers do."""
    t = tensor_type(value).element_type
    return _is_integer(value) or (et.is_float(t) and not isinstance(value.owner, ew.ConstantOp))


def _is_integer(value: SSAValue) -> bool:
    t = tensor_type(value).element_type
    return isinstance(t, IntegerType) and t != i1 and not isinstance(value.owner, ew.ConstantOp)


def _sizes(op: ContractionOp) -> dict[str, int] | None:
    """Range of each index, if the tensors' sizes alone determine it, and agree."""
    found: dict[str, int] = {}
    values = (*op.inputs, op.result)
    for value, access in zip(values, (*op.accesses, op.output), strict=True):
        for e, size in zip(access.data, shape_of(tensor_type(value)) or (), strict=True):
            if e == IndexExpr() and size > 0:
                continue
            if e.variable is None or found.setdefault(e.variable, size) != size:
                return None
    return found if all(found.values()) and not needed_constraints(op.space()) else None


class OneHotRewrite:
    """Ops that replace a contraction; the last one's result is its result."""

    def __init__(self, found: OneHot):
        self.found = found
        self.made: list[Operation] = []

    def gather(self) -> list[Operation]:
        """Rows of a table, and 0 where an index names none."""
        found, t = self.found, tensor_type(self.found.op.result).element_type
        count = found.sizes[found.row]
        table = self.moved(found.op.inputs[2], found.taken, (found.row, *found.rest))
        taken = self.as_type(self.add("taken", GatherOp.make(table, found.indices)), t)
        shape = (*(found.sizes[n] for n in found.points), *(1 for _ in found.rest))
        column_type = make_type(shape, tensor_type(found.indices).element_type)
        column = self.add(
            "column", ReshapeOp.create(operands=[found.indices], result_types=[column_type])
        )
        if not et.is_wide(tensor_type(column).element_type):
            column = self.as_type(column, et.CONCRETE["i64"])
        zero, end = (self.add("number", ew.ConstantOp.of(n)) for n in (0, count))
        not_before = self.add("not_before", ew.CmpGeOp.make(column, zero))
        not_after = self.add("not_after", ew.CmpLtOp.make(column, end))
        inside = self.add("inside", ew.BitAndOp.make(not_before, not_after))
        result = self.add("rows", ew.SelectOp.make(inside, taken, zero))
        return self.finish(result, (*found.points, *found.rest))

    def scatter(self) -> list[Operation]:
        """Sums of the values at the rows that the indices name."""
        found, op = self.found, self.found.op
        values, indices = self.values(), self.indices()
        result = self.add("sums", ScatterOp.make(values, indices, found.counted.operand))
        result = self.as_type(result, tensor_type(op.result).element_type)
        return self.finish(result, (found.row, *found.rest))

    def values(self) -> SSAValue:
        """Addends of the rows: a value for each point, or a number."""
        found, op = self.found, self.found.op
        t = accumulator_type(op)
        if not found.is_count:
            values = self.moved(op.inputs[2], found.taken, (*found.points, *found.rest))
            return self.as_type(values, t)
        taken = op.inputs[2].owner if len(op.inputs) > 2 else ew.ConstantOp.of(1)
        if isinstance(taken, ew.ConstantOp):
            return self.add("number", ew.ConstantOp.of(taken.number, t))
        return self.as_type(op.inputs[2], t)

    def indices(self) -> SSAValue:
        """Indices as integers; -1 for a real that is no whole number, or names no row."""
        found, value = self.found, self.found.indices
        if not et.is_float(tensor_type(value).element_type):
            return value
        numbers = (ew.ConstantOp.of(n) for n in (0, found.sizes[found.row], -1))
        zero, end, none = (self.add("number", number) for number in numbers)
        floor = self.add("floor", ew.FloorOp.make(value))
        inside = self.add("whole", ew.CmpEqOp.make(value, floor))
        for test in (ew.CmpGeOp.make(value, zero), ew.CmpLtOp.make(value, end)):
            test = self.add("inside", test)
            inside = self.add("inside", ew.BitAndOp.make(inside, test))
        place = self.add("place", ew.SelectOp.make(inside, value, none))
        return self.as_type(place, et.CONCRETE["i32"])

    def finish(self, result: SSAValue, names: Names) -> list[Operation]:
        """Result with its axes in the contraction's order."""
        self.moved(result, names, self.found.output)
        keep_origin(self.made, self.found.op)
        return self.made

    def moved(self, value: SSAValue, names: Names, wanted: Names) -> SSAValue:
        """A tensor with its axes in another order."""
        if names == wanted:
            return value
        copy = ContractionOp(
            Aggregation.assign,
            Combination.none,
            [IndexExpr.of(n) for n in wanted],
            [(value, [IndexExpr.of(n) for n in names])],
            shape=tuple(self.found.sizes[n] for n in wanted),
        )
        set_domain(copy, copy.space())
        return self.add("moved", copy)

    def as_type(self, value: SSAValue, t: Attribute) -> SSAValue:
        """A tensor in another element type."""
        same = tensor_type(value).element_type == t
        return value if same else self.add("converted", ew.CastOp.to(value, t))

    def add(self, name: str, op: Operation) -> SSAValue:
        """Append an op; its first result."""
        self.made.append(op)
        give_name(op.results[0], name)
        return op.results[0]


def pays(found: OneHot, device: Device | None) -> bool:
    """Whether a scatter is faster than the contraction."""
    points, rest = (prod(found.sizes[n] for n in names) for names in (found.points, found.rest))
    compared = cost.OneHot(found.sizes[found.row], points, rest, found.is_count)
    device = device or PLAIN
    return estimate(compared.scattered, device).seconds <= estimate(compared, device).seconds


class TileOneHotPass(ModulePass):
    """Makes gathers and scatters of sums over a one-hot matrix, which then is never computed.

    `+(rows[v] == indices[p] ? table[v, r])`, where `rows` counts an axis, takes a row of the table
    for each index, and 0 for an index that names none. `+(rows[v] == indices[p] ? values[p, r])`
    adds values to the rows that the indices name. The values are added in the order of the indices,
    so the result is the same at every run. A histogram, `+(rows[v] == indices[p])`, adds ones. Sums
    of elementwise selections where two tensors are equal, and 0 elsewhere, are rewritten alike.
    Reals name rows where they are whole numbers. Where the rows are so few that the scatter would
    leave the device idle, or take longer than comparing, the contraction stays.
    """

    name = "tile-one-hot"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace every one-hot contraction."""
        device = device_of(op)
        for contraction in ops_of(op, ContractionOp):
            if isinstance(contraction.parent_op(), KernelOp):
                continue
            # An elementwise selection is as good as a contraction that selects.
            chosen = as_comparison(contraction)
            found = OneHot.of(chosen or contraction)
            made = _made(found, device) if found is not None else None
            if chosen is not None:
                chosen.erase()
            if found is None or made is None:
                continue
            Rewriter.replace_op(contraction, made, [made[-1].results[0]])
            if not found.counted.result.uses:
                Rewriter.erase_op(found.counted)


def _made(found: OneHot, device: Device | None) -> list[Operation] | None:
    """Ops that replace a contraction, if they pay."""
    if found.is_gather:
        return OneHotRewrite(found).gather()
    return OneHotRewrite(found).scatter() if found.is_scatter and pays(found, device) else None
