"""Function of a scheduled `tile.kernel` under construction, and its launch."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from xdsl.dialects import gpu
from xdsl.dialects.builtin import DenseArrayBase, MemRefType, TensorType, i32
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.discardable import IN_PLACE
from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.structure.small_stencils import inner_copies
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer.expressions import Condition, Expr, both, less, less_equal
from tiledialect.ir.kernels import mark_kernel
from tiledialect.lowering.nest.utils.builder import GLOBAL, NestBuilder, memory_type
from tiledialect.lowering.tile_to_nest.elements import Elements
from tiledialect.passes.views.concatenation import is_completed
from tiledialect.schedule.footprint import index_values, step_name
from tiledialect.schedule.loops import PARALLEL, Role, Schedule
from tiledialect.schedule.output_box import leaves_unwritten


def buffer_type(t: Attribute) -> MemRefType[Attribute]:
    """Memref in global memory that holds a tensor."""
    assert isinstance(t, TensorType)
    return memory_type(t.element_type, t.get_shape(), GLOBAL)


def kernel_function(
    name: str, body: Block, grid: Sequence[int] | None, block: Sequence[int]
) -> gpu.FuncOp:
    """Kernel of a body that has all ops but the last; the grid, if it is known, is a hint."""
    body.add_op(gpu.ReturnOp([]))
    function = gpu.FuncOp(
        name,
        (list(body.arg_types), []),
        Region(body),
        known_block_size=block,
    )
    mark_kernel(function)
    set_grid(function, grid)
    return function


def set_grid(kernel: gpu.FuncOp, grid: Sequence[int] | None) -> None:
    """Give a kernel its grid, if it is known, as a hint."""
    # A grid beyond i32 fits no device either; the runtime says so.
    known = grid if grid is not None and max(grid) < 2**31 else None
    kernel.known_grid_size = None if known is None else DenseArrayBase.from_list(i32, known)


@dataclass(frozen=True)
class KernelLaunch:
    """Kernel function and the sizes of its grid, in groups, and of its groups, in work-items."""

    function: gpu.FuncOp
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


class KernelNest:
    """Function of a kernel under construction: the loops around the insertion point."""

    def __init__(self, kernel: KernelOp, schedule: Schedule):
        self.kernel = kernel
        self.schedule = schedule
        self.levels = schedule.levels
        self.ranges = {index.name: index.range for index in kernel.indices}
        self.values = index_values(self.ranges, self.levels)
        """Indices as affine expressions of the steps of the levels."""
        self.steps: dict[str, Expr] = {}
        """Steps of the levels whose loops are being built."""
        self.work_item_names: set[str] = set()
        """Names that differ between the work-items of a group."""
        inputs, tensors = read_inputs(kernel), kernel_tensors(kernel)
        self.block = Block(arg_types=[buffer_type(v.type) for v in tensors])
        self.nest = NestBuilder(self.block)
        for argument, tensor in zip(self.block.args, tensors, strict=True):
            argument.name_hint = tensor.name_hint
        self.buffers: dict[SSAValue, SSAValue] = {}
        self.buffers.update(zip(tensors[: len(inputs)], self.block.args, strict=False))
        self.outputs = self.block.args[len(inputs) :]
        for k, number in in_place_inputs(kernel).items():
            self.buffers[kernel.block.args[k]] = self.outputs[number]

    # -- indices ---------------------------------------------------------------------------

    def expr(self, affine: IndexExpr) -> Expr:
        """Affine expression of steps in terms of the loops' indices."""
        return Expr.of(affine).substitute(self.steps)

    def at(self, access: Sequence[IndexExpr]) -> tuple[Expr, ...]:
        """Coordinates of index expressions of the kernel's indices at the loops being built."""
        return tuple(self.expr(e.substitute(self.values)) for e in access)

    def is_known(self, affine: IndexExpr) -> bool:
        """Whether the loops of all steps in an expression are being built."""
        return set(affine.names) <= self.steps.keys()

    def is_uniform(self, names: Iterable[str]) -> bool:
        """Whether steps are the same in all work-items of a group."""
        found = {n for name in names for n in self.steps[name].names}
        return found.isdisjoint(self.work_item_names)

    @contextmanager
    def loops(self, numbers: Sequence[int], role: Role | None = None) -> Generator[None]:
        """Build the loops of some levels, outermost first; with another role if given."""
        before = dict(self.steps)
        with ExitStack() as stack:
            for k in numbers:
                level = self.levels[k]
                own = LoopRole(level.role, level.axis) if role is None else LoopRole(role)
                step = stack.enter_context(self.nest.loop(own, level.extent, level.index))
                self.steps[step_name(k)] = step
                if level.role is Role.LOCAL:
                    self.work_item_names |= set(step.names)
            yield
        self.steps = before

    @contextmanager
    def at_steps(self, steps: Mapping[str, Expr]) -> Generator[None]:
        """Override the steps of some levels."""
        before = self.steps
        self.steps = {**before, **steps}
        yield
        self.steps = before

    def lanes(self) -> Iterator[int]:
        """Levels that work-items run, from the fastest axis on."""
        for axis in "xyz":
            for k in reversed(self.local_levels):
                if self.levels[k].axis == axis and self.levels[k].extent > 1:
                    yield k

    def linear_id(self, numbers: Sequence[int]) -> Expr:
        """Linear number of a work-item among those that differ in the steps of these levels.

        Neighbours along x are neighbours.
        """
        total = Expr()
        for axis in "zyx":
            for k in numbers:
                if self.levels[k].axis == axis:
                    total = total * self.levels[k].extent + self.steps[step_name(k)]
        return total

    @property
    def parallel(self) -> int:
        """Number of levels that work-groups and work-items run; they come first."""
        return sum(level.role in PARALLEL for level in self.levels)

    @property
    def local_levels(self) -> tuple[int, ...]:
        """Numbers of the levels that work-items run."""
        return tuple(k for k, level in enumerate(self.levels) if level.role is Role.LOCAL)

    def in_bounds(self, coordinates: Sequence[Expr], shape: Sequence[int]) -> Condition:
        """Condition that coordinates are inside a tensor."""
        return both(
            *(
                both(less_equal(0, c), less(c, size))
                for c, size in zip(coordinates, shape, strict=True)
            )
        )

    def memory(self, value: SSAValue) -> SSAValue:
        """Buffer of a tensor that can be read at any element."""
        if value not in self.buffers:
            raise TileError(
                f"{name_of(value)} is read at other elements than its own: "
                "it cannot be computed in the same kernel"
            )
        return self.buffers[value]

    # -- results ---------------------------------------------------------------------------

    def store_outputs(self, elements: Elements) -> None:
        """Store the results of the kernel at the coordinates of ``elements``."""
        parts = self.kernel.parts
        written = {part.op for own in parts.values() for part in own}
        needed = {v for v in self.kernel.yield_op.values if v not in parts}
        needed |= {part.value for own in parts.values() for part in own}
        for op in reversed(self.kernel.block.ops):
            if not isinstance(op, ContractionOp | ScanOp) and not needed.isdisjoint(op.results):
                needed.update(op.operands)
        # In order, so that a long chain is no deep recursion.
        inner = inner_copies(self.kernel.contractions) if self.kernel.axes is None else ()
        for op in self.kernel.block.ops:
            if op in inner or op in written:
                continue
            if not isinstance(op, ConstantOp | YieldOp) and op.results[0] in needed:
                elements.at(op.results[0])
        for value in self.kernel.yield_op.values:
            # What is written in place is read before.
            if isinstance(value, BlockArgument) and value not in parts:
                elements.at(value)
        axes = {f"d{k}": c for k, c in enumerate(elements.coordinates)}
        for value, buffer in zip(self.kernel.yield_op.values, self.outputs, strict=True):
            for part in parts.get(value, ()):
                place = [Expr.of(e).substitute(axes) for e in part.places]
                self.nest.store(elements.at(part.value), buffer, place, elements.condition)
            if value not in parts:
                self.nest.store(
                    elements.at(value), buffer, elements.coordinates, elements.condition
                )

    def finish(self, name: str) -> KernelLaunch:
        """End the function and return its launch."""
        grid, block = self.schedule.extents(Role.GROUP), self.schedule.extents(Role.LOCAL)
        return KernelLaunch(kernel_function(name, self.block, grid, block), grid, block)


def read_inputs(kernel: KernelOp) -> list[int]:
    """Numbers of the inputs with memory of their own: not the initial value, which is written over,
    nor what is written in place."""
    start, in_place = initial_input(kernel), in_place_inputs(kernel)
    return [k for k in range(len(kernel.inputs)) if k != start and k not in in_place]


def in_place_inputs(kernel: KernelOp) -> dict[int, int]:
    """Inputs of a kernel that lie where a result is written, with the results' numbers."""
    given = kernel.attributes.get(IN_PLACE)
    if not isinstance(given, DenseArrayBase):
        return {}
    return {k: int(n) for k, n in enumerate(given.get_values()) if n >= 0}


def kernel_tensors(kernel: KernelOp) -> tuple[SSAValue, ...]:
    """Tensors in the body of a kernel for each argument of its function, in order."""
    return *(kernel.block.args[k] for k in read_inputs(kernel)), *kernel.yield_op.values


def initial_input(kernel: KernelOp) -> int | None:
    """Number of the input that is a kernel's initial value, if it leaves elements unwritten.

    None, too, where later kernels write all of these.

    Raises a TileError if there is no initial value, or if other ops use such a contraction's
    elements.
    """
    op = kernel.contraction
    if op is None or not leaves_unwritten(op.space(), ranges_of(op)):
        return None
    name = name_of(op.result)
    others = [use.operation for use in op.result.uses if not isinstance(use.operation, YieldOp)]
    if others or list(kernel.yield_op.values) != [op.result]:
        raise TileError.at(
            op, f"nothing lands on some elements of {name}: it must be alone in its kernel"
        )
    for k, value in enumerate(kernel.inputs):
        if kernel.block.args[k] is op.default and value.type == kernel.outputs[0].type:
            return k
    if is_completed(op):
        return None
    raise TileError.at(
        op,
        f"nothing lands on some elements of {name}: it needs a default in memory, "
        "of its type (tile-fuse gives it one)",
    )
