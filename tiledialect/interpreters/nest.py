"""Reference semantics of kernels, as nests and at the kernel level, in NumPy.

All work-items of the grid run at the same time, op by op, so barriers do nothing, and a pass that
is right changes no result. The value of an op is an array over the work-items; where a branch or
a loop leaves some of them out, they are not active. An access outside of memory or of what was
never written is an error, and so are two work-items that write different values to one element.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import gpu, memref, scf, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, VectorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiledialect.dialects.nest import memref as upstream
from tiledialect.dialects.nest.asynchronous import CommitOp, CopyOp, WaitOp
from tiledialect.dialects.nest.attributes import ConditionAttr, ExprsAttr
from tiledialect.dialects.nest.call import CallOp
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import IndexedOp, IndexOp
from tiledialect.dialects.nest.instruction import FragmentOp, InstructionOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.dialects.nest.prefetch import PrefetchOp
from tiledialect.dialects.nest.sub_group import ShuffleOp
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import (
    Atom,
    Comparison,
    Condition,
    Expr,
    Extremum,
    Junction,
    Quotient,
    Remainder,
    Selection,
    Truth,
)
from tiledialect.index.integer.polynomial import Variable
from tiledialect.interpreters.instruction import execute, load_rows
from tiledialect.interpreters.lanes import along_lanes, compute, dtype_of
from tiledialect.interpreters.memory import Memory, RunError
from tiledialect.ir.kernels import sizes_of
from tiledialect.schedule.loops import Role

Array = npt.NDArray[Any]
LOCAL, PRIVATE = 3, 5
"""The memory spaces that work-groups and work-items have to themselves."""


# -- index expressions -------------------------------------------------------------------------


def evaluate(expr: Expr, values: Sequence[Array]) -> Array:
    """An expression of ``d0``, ``d1``, … where those have these values."""
    total: Array | None = None
    for product, coefficient in expr.terms:
        term = np.array([coefficient], np.int64)
        if product:
            found = reduce(np.multiply, (_atom(a, values) for a in product))
            term = found if coefficient == 1 else found * term
        total = term if total is None else total + term
    return np.zeros(1, np.int64) if total is None else total


def _atom(atom: Atom, values: Sequence[Array]) -> Array:
    match atom:
        case Variable(name):
            return values[int(name[1:])]
        case Quotient(dividend, divisor):
            return evaluate(dividend, values) // evaluate(divisor, values)
        case Remainder(dividend, divisor):
            return evaluate(dividend, values) % evaluate(divisor, values)
        case Extremum(kind, operands):
            choose = np.minimum if kind == "min" else np.maximum
            return reduce(choose, (evaluate(operand, values) for operand in operands))
        case Selection(condition, yes, no):
            return np.where(holds(condition, values), evaluate(yes, values), evaluate(no, values))


def holds(condition: Condition, values: Sequence[Array]) -> Array:
    """Whether a condition on ``d0``, ``d1``, … holds."""
    match condition:
        case Truth(value):
            return np.array([value])
        case Comparison(expr, kind):
            compare = {">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}[kind]
            return compare(evaluate(expr, values), 0)
        case Junction(kind, parts):
            join = np.logical_and if kind == "and" else np.logical_or
            return reduce(join, (holds(part, values) for part in parts))


# -- the machine -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Launch:
    """Numbers of work-groups and of work-items in each, along x, y and z."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def groups(self) -> int:
        """Number of work-groups."""
        return prod(self.grid)

    @property
    def items(self) -> int:
        """Number of work-items."""
        return self.groups * prod(self.block)

    def number(self, role: Role, axis: str) -> Array:
        """The number of every work-item's group along an axis, or its own in the group."""
        sizes = self.grid if role is Role.GROUP else self.block
        item = np.arange(self.items)
        number = item // prod(self.block) if role is Role.GROUP else item % prod(self.block)
        return number // prod(sizes[: "xyz".index(axis)]) % self.size(role, axis)

    def size(self, role: Role, axis: str) -> int:
        """Number of work-groups or work-items along an axis."""
        return (self.grid if role is Role.GROUP else self.block)["xyz".index(axis)]


def check_steps(op: ForOp, launch: Launch) -> None:
    """Refuse a parallel loop that has not a step for each work-group or work-item."""
    role = op.role.data
    if op.extent is not None and op.all_steps != (size := launch.size(role.role, role.axis)):
        reason = f"the {role} loops have {op.all_steps} steps, but {size} are launched"
        raise TileError.at(op, reason)


class Kernel:
    """A kernel that is being run by all work-items of a launch."""

    def __init__(self, launch: Launch):
        self.launch = launch
        self.active = np.ones(launch.items, np.bool_)
        self.values: dict[SSAValue, Array] = {}
        self.memories: dict[SSAValue, Memory] = {}
        self.groups: list[list[Callable[[], None]]] = [[]]
        """The copies under way, by the groups that are waited for; the last is not ended yet."""

    def run(self, block: Block) -> list[Array]:
        """Run the ops of a block; the operands of its terminator."""
        for op in block.ops:
            if isinstance(op, scf.YieldOp):
                return [self.values[v] for v in op.operands]
            if (run := OPS.get(type(op))) is not None:
                try:
                    run(self, op)
                except RunError as error:
                    raise TileError.at(op, f"{op.name}{_name(op)}: {error}") from None
            else:
                results = compute(op, [self.values[v] for v in op.operands])
                self.values.update(zip(op.results, results, strict=True))
        return []

    @contextmanager
    def only(self, active: Array) -> Generator[bool]:
        """Leave out the work-items that are not active; whether any are left."""
        outer, self.active = self.active, self.active & active
        yield bool(self.active.any())
        self.active = outer

    def exprs(self, op: IndexedOp, attr: ExprsAttr) -> list[Array]:
        """The values of an op's index expressions."""
        values = [self.values[v] for v in op.indices]
        return [evaluate(e, values) for e in attr.data]

    def condition(self, op: IndexedOp, attr: ConditionAttr | None) -> Array:
        """Work-items for which an op's condition holds."""
        if attr is None:
            return np.ones(1, np.bool_)
        return holds(attr.data, [self.values[v] for v in op.indices])

    def call(self, op: CallOp) -> None:
        """Run another kernel, by work-groups of its own."""
        kernel, block = Kernel(Launch(*sizes_of(op.kernel))), op.kernel.body.block
        for argument, value in zip(block.args, op.arguments, strict=True):
            kernel.memories[argument] = self.memories[value]
        kernel.run(block)

    def allocate(self, op: Operation) -> None:
        """Allocate memory of the kernel's own; its previous content is lost."""
        (result,) = op.results
        t = result.type
        assert isinstance(t, MemRefType)
        space = t.memory_space.value.data if isinstance(t.memory_space, IntegerAttr) else 0
        if space not in (LOCAL, PRIVATE):
            raise TileError.at(op, f"{op.name} in memory space {space}: there are 3 and 5")
        item = np.arange(self.launch.items)
        if space == PRIVATE:
            self.memories[result] = Memory.new(t, self.launch.items, item)
        else:
            group = item // prod(self.launch.block)
            self.memories[result] = Memory.new(t, self.launch.groups, group)

    # -- loops -----------------------------------------------------------------------------

    def loop(self, op: ForOp) -> None:
        """A loop by its role: every work-item has its step of a parallel one."""
        lower, upper, step = self.exprs(op, op.bounds)
        if op.is_parallel:
            self.values[op.index] = lower + step * self.step_of(op)
            self.run(op.block)
            return
        for index, active in _steps(lower, upper, step):
            with self.only(active) as any_left:
                if not any_left:
                    return
                self.values[op.index] = index
                self.run(op.block)

    def step_of(self, op: ForOp) -> Array:
        """Step of a parallel loop that each work-item runs: outer loops of an axis are slower."""
        role = op.role.data
        if op.extent is None:
            return self.launch.number(role.role, role.axis)
        check_steps(op, self.launch)
        return self.launch.number(role.role, role.axis) // op.inner_steps % op.extent

    def carrying_loop(self, op: scf.ForOp) -> None:
        """A loop that carries values."""
        carried = [self.values[v] for v in op.iter_args]
        index, *arguments = op.body.block.args
        for value, active in _steps(*(self.values[v] for v in (op.lb, op.ub, op.step))):
            with self.only(active) as any_left:
                if not any_left:
                    break
                self.values[index] = value
                self.values.update(zip(arguments, carried, strict=True))
                new = self.run(op.body.block)
                carried = [_where(self.active, a, b) for a, b in zip(new, carried, strict=True)]
        self.values.update(zip(op.results, carried, strict=True))

    # -- branches --------------------------------------------------------------------------

    def branch(self, op: IfOp) -> None:
        """A branch on a condition."""
        self._branch(op, self.condition(op, op.condition), op.then, op.otherwise)

    def value_branch(self, op: scf.IfOp) -> None:
        """A branch on a value, which may give values."""
        self._branch(op, self.values[op.cond], op.true_region, op.false_region)

    def _branch(self, op: Operation, condition: Array, *regions: Region | None) -> None:
        results: list[list[Array]] = []
        for region, active in zip(regions, (condition, ~condition), strict=True):
            with self.only(active):
                # A branch that nobody takes is run, too: it has no effect.
                results.append(self.run(region.block) if region and region.blocks else [])
        for result, values in zip(op.results, zip(*results, strict=True), strict=True):
            self.values[result] = _where(condition, *values)

    # -- memory ----------------------------------------------------------------------------

    def load(self, op: LoadOp) -> None:
        """A load where the condition holds, else the default."""
        condition = self.condition(op, op.condition)
        found = self._load(op, op.memory, self.exprs(op, op.access), self.active & condition)
        if op.default is not None:
            found = _where(condition, found, self.values[op.default])
        self.values[op.result] = found

    def store(self, op: StoreOp) -> None:
        """A store where the condition holds."""
        active = self.active & self.condition(op, op.condition)
        memory, place = self.memories[op.memory], self.exprs(op, op.access)
        memory.store(place, active, self.values[op.value])

    def load_at(self, op: memref.LoadOp | vector.LoadOp) -> None:
        """A load of the kernel level."""
        memory, *indices = op.operands
        place = [self.values[v] for v in indices]
        self.values[op.results[0]] = self._load(op, memory, place, self.active)

    def store_at(self, op: memref.StoreOp | vector.StoreOp) -> None:
        """A store of the kernel level."""
        value, memory, *indices = op.operands
        place = [self.values[v] for v in indices]
        self.memories[memory].store(place, self.active, self.values[value])

    def _load(
        self, op: Operation, memory: SSAValue, place: Sequence[Array], active: Array
    ) -> Array:
        t = op.results[0].type
        lanes = t.get_shape()[0] if isinstance(t, VectorType) else None
        return self.memories[memory].load(place, active, lanes)

    def view(self, op: memref.ReinterpretCastOp) -> None:
        """The same memory in another shape, maybe from an offset on."""
        start = self.values[op.offsets[0]] if op.offsets else 0
        self.memories[op.result] = self.memories[op.source].viewed(op.result.type, start)

    # -- the rest --------------------------------------------------------------------------

    def index(self, op: IndexOp) -> None:
        """The value of an expression."""
        (self.values[op.result],) = self.exprs(op, op.expr)

    def instruction(self, op: InstructionOp) -> None:
        """An instruction that all the work-items execute that it needs."""
        entry, items = op.entry, self.launch.items
        self._check_together(entry.lanes)
        sums, factors = ([self.values[v] for v in values] for values in (op.sums, op.factors))
        self.values.update(zip(op.totals, execute(entry, items, sums, factors), strict=True))

    def _check_together(self, lanes: int) -> None:
        if prod(self.launch.block) % lanes:
            raise RunError(f"a work-group has parts of {lanes} work-items")
        groups = self.active.reshape(-1, lanes)
        if (groups.any(1) != groups.all(1)).any():
            raise RunError(f"some of {lanes} work-items do not execute it")

    def shuffle(self, op: ShuffleOp) -> None:
        """The value of another work-item of the sub-group."""
        if self.launch.block[0] % op.size.value.data:
            raise RunError(f"a row of work-items has parts of {op.size.value.data}")
        self._check_together(op.size.value.data)
        value, item = self.values[op.value], np.arange(self.launch.items)
        self.values[op.result] = np.broadcast_to(value, item.shape)[item ^ op.mask.value.data]

    def fragment(self, op: FragmentOp) -> None:
        """The registers of an operand, of which all the work-items of an instruction load rows."""
        self._check_together(op.entry.lanes)
        rows = op.rows
        place = self.exprs(op, op.access)
        found = self.memories[op.memory].load(place, self.active, rows.width)
        for value, register in zip(
            op.registers, load_rows(op.entry, op.number, rows, found), strict=True
        ):
            self.values[value] = register

    def copy(self, op: CopyOp) -> None:
        """Begin a copy: its elements are there after a wait."""
        lanes = op.lanes.value.data
        place, target = ([self.values[v]] for v in (op.source_index, op.target_index))
        inside = True if op.inside is None else self.values[op.inside]
        found = self.memories[op.source].load(place, self.active & inside, lanes)
        memory, active = self.memories[op.target], self.active
        values = found.view(memory.data.dtype)
        self.groups[-1].append(lambda: memory.store(target, active, values))

    def prefetch(self, op: Operation) -> None:
        """Prefetch: no value changes."""

    def commit(self, op: CommitOp) -> None:
        """The end of a group of copies."""
        self.groups.append([])

    def wait(self, op: WaitOp) -> None:
        """Finish the copies of all groups but the last ones."""
        # The one that is being filled is none of them.
        done = max(len(self.groups) - 1 - op.groups.value.data, 0)
        for group in self.groups[:done]:
            for arrive in group:
                arrive()
        del self.groups[:done]

    def own_number(self, op: gpu.ThreadIdOp | gpu.BlockIdOp) -> None:
        """The number of the work-item or of its group."""
        role = Role.GROUP if isinstance(op, gpu.BlockIdOp) else Role.LOCAL
        self.values[op.result] = self.launch.number(role, str(op.dimension.data))

    def global_number(self, op: gpu.GlobalIdOp) -> None:
        """The number of the work-item among all."""
        axis = str(op.dimension.data)
        group, item = (self.launch.number(role, axis) for role in (Role.GROUP, Role.LOCAL))
        self.values[op.result] = group * self.launch.size(Role.LOCAL, axis) + item

    def number_of_groups(self, op: gpu.GridDimOp) -> None:
        """Number of work-groups."""
        size = self.launch.size(Role.GROUP, str(op.dimension.data))
        self.values[op.result] = np.array([size], np.int64)


def _steps(lower: Array, upper: Array, step: Array) -> Generator[tuple[Array, Array]]:
    """The steps of a loop with these ends: its index, and which work-items run it."""
    if (step < 1).any():
        raise RunError("the step of a loop is at least 1")
    index = lower
    while (active := index < upper).any():
        yield index, active
        index = index + step


def _where(condition: Array, yes: Array, no: Array) -> Array:
    return np.where(along_lanes(condition, max(yes.ndim, no.ndim)), yes, no)


def _name(op: Operation) -> str:
    """Name of the memory of an access."""
    names = (v.name_hint for v in op.operands if isinstance(v.type, MemRefType))
    return "".join(f" of %{name}" for name in names if name)


def _nothing(kernel: Kernel, op: Operation) -> None:
    """Ops that make no difference when all run op by op."""


OPS: dict[type[Operation], Callable[[Kernel, Any], None]] = {
    ForOp: Kernel.loop,
    IfOp: Kernel.branch,
    BufferOp: Kernel.allocate,
    LoadOp: Kernel.load,
    StoreOp: Kernel.store,
    IndexOp: Kernel.index,
    InstructionOp: Kernel.instruction,
    FragmentOp: Kernel.fragment,
    ShuffleOp: Kernel.shuffle,
    CopyOp: Kernel.copy,
    CommitOp: Kernel.commit,
    WaitOp: Kernel.wait,
    PrefetchOp: Kernel.prefetch,
    upstream.PrefetchOp: Kernel.prefetch,
    scf.ForOp: Kernel.carrying_loop,
    scf.IfOp: Kernel.value_branch,
    memref.AllocaOp: Kernel.allocate,
    memref.LoadOp: Kernel.load_at,
    memref.StoreOp: Kernel.store_at,
    memref.ReinterpretCastOp: Kernel.view,
    vector.LoadOp: Kernel.load_at,
    vector.StoreOp: Kernel.store_at,
    gpu.ThreadIdOp: Kernel.own_number,
    gpu.BlockIdOp: Kernel.own_number,
    gpu.GlobalIdOp: Kernel.global_number,
    gpu.GridDimOp: Kernel.number_of_groups,
    CallOp: Kernel.call,
    gpu.BarrierOp: _nothing,
    gpu.ReturnOp: _nothing,
}
"""Effects of the ops that are no functions of values alone."""


@dataclass(frozen=True)
class Buffer:
    """An array of the host's."""

    data: Array
    """The elements, in memory order."""
    written: Array
    """Whether each was ever written."""

    @staticmethod
    def new(t: MemRefType[Attribute]) -> Buffer:
        """An array in which nothing is written."""
        size = prod(t.get_shape())
        return Buffer(np.zeros(size, dtype_of(t.element_type)), np.zeros(size, np.bool_))

    def as_memory(self, t: MemRefType[Attribute]) -> Memory:
        """The array as a kernel sees it."""
        if DYNAMIC_INDEX in t.get_shape():
            t = MemRefType(t.element_type, [self.data.size], t.layout, t.memory_space)
        everywhere = Memory.new(t, 0, np.zeros(1, np.int64))
        return Memory(
            self.data[None],
            self.written[None],
            everywhere.copy,
            everywhere.shape,
            everywhere.strides,
        )


def run_kernel(function: gpu.FuncOp, launch: Launch, given: Sequence[Buffer | Array]) -> None:
    """Run a kernel on buffers, which it changes, and numbers."""
    kernel = Kernel(launch)
    block = function.body.block
    for argument, value in zip(block.args, given, strict=True):
        if not isinstance(value, Buffer):
            kernel.values[argument] = value
            continue
        assert isinstance(argument.type, MemRefType)
        kernel.memories[argument] = value.as_memory(argument.type)
    # Work-items that are not active may divide by zero.
    with np.errstate(all="ignore"):
        kernel.run(block)
