"""A `tile.kernel` as `gpu.func`s: the loops over the output, and what happens inside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import gpu
from xdsl.dialects.builtin import IntegerAttr, MemRefType, NoneAttr, TensorType, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ConstantOp
from tiledialect.dialects.tile.kernel import KernelOp, YieldOp
from tiledialect.errors import TileError
from tiledialect.index.expr import Range
from tiledialect.lowering.contraction import Positions, Reduction, overshoots
from tiledialect.lowering.emitter import Emitter, Values
from tiledialect.lowering.indices import IndexValue
from tiledialect.lowering.pointwise import Elements, element_type, static_shape
from tiledialect.lowering.scalar import storage_type
from tiledialect.passes.normal_form import check_one_owner, ranges_of
from tiledialect.passes.tile_loop_tiling import default_leaves
from tiledialect.schedule.leaves import Leaf, LoopIndex, Role
from tiledialect.schedule.output_box import leaves_unwritten

GLOBAL_SPACE = IntegerAttr(1, i32)


def buffer_type(t: Attribute) -> MemRefType[Attribute]:
    """The memref in global memory that holds a tensor."""
    assert isinstance(t, TensorType)
    return MemRefType(storage_type(t.element_type), t.get_shape(), NoneAttr(), GLOBAL_SPACE)


@dataclass(frozen=True)
class Launch:
    """A kernel function and the sizes of its grid, in groups, and of its groups, in work-items."""

    function: gpu.FuncOp
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


def _extents(leaves: Sequence[Leaf], role: Role) -> tuple[int, int, int]:
    x, y, z = (
        prod(leaf.extent for leaf in leaves if leaf.role == role and leaf.axis == axis)
        for axis in "xyz"
    )
    return x, y, z


class KernelFunction:
    """Builds one `gpu.func`: its arguments, and the loops over the output's indices."""

    def __init__(
        self,
        name: str,
        types: Sequence[Attribute],
        indices: Sequence[LoopIndex],
        leaves: Sequence[Leaf],
    ):
        memrefs = [buffer_type(t) for t in types]
        self.block = Block(arg_types=memrefs)
        self.emitter = Emitter(self.block)
        self.ranges = {index.name: index.range for index in indices}
        self.outer = {index.name for index in indices if index.is_output}
        self.leaves = tuple(leaves)
        self.name = name
        self.ids: dict[tuple[Role, str], SSAValue] = {}

    def finish(self) -> Launch:
        """End the function; how it is launched."""
        self.block.add_op(gpu.ReturnOp([]))
        grid, block = _extents(self.leaves, Role.GROUP), _extents(self.leaves, Role.LOCAL)
        function = gpu.FuncOp(
            self.name,
            (list(self.block.arg_types), []),
            Region(self.block),
            kernel=True,
            known_block_size=block,
            # What does not fit an i32 fits no device either; the runtime says so.
            known_grid_size=grid if max(grid) < 2**31 else None,
        )
        return Launch(function, grid, block)

    def for_each_output(self, body: Callable[[Positions], None]) -> None:
        """Emit the loops over the output's indices around ``body``."""
        self._enter(Positions.start(self.ranges, self.leaves), body)

    def _enter(self, positions: Positions, body: Callable[[Positions], None]) -> None:
        if not positions.leaves or positions.leaves[0].index not in self.outer:
            if any(leaf.index in self.outer for leaf in positions.leaves):
                raise TileError("a schedule has the loops over the output's indices first")
            body(positions)
            return
        leaf = positions.leaves[0]

        def inside(step: IndexValue, _: Values = ()) -> Values:
            deeper = positions.step(self.emitter, step)
            condition = self._overshoot_test(deeper, leaf.index)
            self.emitter.when(condition, (), lambda: self._continue(deeper, body))
            return ()

        if leaf.role in (Role.GROUP, Role.LOCAL):
            inside(self._id(leaf))
        elif leaf.role == Role.UNROLL:
            self.emitter.unrolled(leaf.extent, (), inside)
        elif leaf.role == Role.SERIAL:
            self.emitter.loop(leaf.extent, (), inside, leaf.index)
        else:
            raise TileError(f"the loop over {leaf.index} cannot run as a {leaf.role} loop")

    def _continue(self, positions: Positions, body: Callable[[Positions], None]) -> Values:
        self._enter(positions, body)
        return ()

    def _overshoot_test(self, positions: Positions, name: str) -> SSAValue | None:
        known = positions.known
        if name not in known or not overshoots(self.ranges, self.leaves, name):
            return None
        return self.emitter.indices.less(known[name], self.ranges[name].upper)

    def _id(self, leaf: Leaf) -> IndexValue:
        """The step of a leaf that work-groups or work-items run."""
        if leaf.extent == 1:
            return 0
        shared = [x for x in self.leaves if (x.role, x.axis) == (leaf.role, leaf.axis)]
        faster = prod(x.extent for x in shared[shared.index(leaf) + 1 :])
        key = (leaf.role, leaf.axis)
        if key not in self.ids:
            op = gpu.BlockIdOp if leaf.role == Role.GROUP else gpu.ThreadIdOp
            dimension = gpu.DimensionAttr(gpu.DimensionEnum(leaf.axis))
            self.ids[key] = self.emitter.indices.emit(op(dimension))
        id_ = self.emitter.indices.div(self.ids[key], faster)
        return id_ if leaf is shared[0] else self.emitter.indices.rem(id_, leaf.extent)


def lower_kernel(kernel: KernelOp, name: str) -> Launch:
    """The function of a scheduled kernel; its arguments are the inputs, then the outputs."""
    if kernel.schedule is None:
        raise TileError.at(
            kernel, "tile-to-gpu works on kernels with a schedule: run tile-loop-tiling"
        )
    if kernel.contraction is not None:
        check_one_owner(kernel.contraction)
    indices = kernel.indices
    types = [v.type for v in (*kernel.inputs, *kernel.outputs)]
    function = KernelFunction(name, types, indices, kernel.schedule.data)
    tensors = (*kernel.block.args, *kernel.yield_op.values)
    for argument, tensor in zip(function.block.args, tensors, strict=True):
        argument.name_hint = tensor.name_hint
    buffers: dict[SSAValue, SSAValue] = {}
    buffers.update(zip(kernel.block.args, function.block.args, strict=False))
    outputs = function.block.args[len(kernel.inputs) :]
    contraction = kernel.contraction

    def body(positions: Positions) -> None:
        if contraction is None:
            coordinates = tuple(positions.known[index.name] for index in indices)
            elements = Elements(function.emitter, buffers, coordinates)
            _store(elements, kernel, outputs)
        else:
            _contract(function, kernel, contraction, positions, buffers, outputs)

    function.for_each_output(body)
    return function.finish()


def _store(elements: Elements, kernel: KernelOp, outputs: Sequence[SSAValue]) -> None:
    # In order, so that a long chain is no deep recursion.
    for op in kernel.block.ops:
        if not isinstance(op, ConstantOp | ContractionOp | YieldOp):
            elements.at(op.results[0])
    for value, buffer in zip(kernel.yield_op.values, outputs, strict=True):
        elements.emitter.store(elements.at(value), buffer, elements.coordinates)


def _contract(
    function: KernelFunction,
    kernel: KernelOp,
    op: ContractionOp,
    positions: Positions,
    buffers: dict[SSAValue, SSAValue],
    outputs: Sequence[SSAValue],
) -> None:
    """The contraction at one output element, then what the kernel does with it."""
    emitter, known = function.emitter, positions.known
    coordinates = tuple(emitter.indices.affine(e, known) for e in op.output.data)
    elements = Elements(emitter, buffers, coordinates)
    reduction = Reduction(op, elements, function.leaves)

    def run() -> Values:
        aggregate, landed = reduction.run(positions)
        emitter.when(
            None if reduction.box else landed,
            (),
            lambda: _finish(kernel, op, reduction, aggregate, landed, outputs),
        )
        return ()

    shape = static_shape(op.result)
    tests = [
        test
        for axis in (reduction.box.overshooting if reduction.box else ())
        for test in emitter.indices.inside(coordinates[axis], shape[axis])
    ]
    emitter.when(emitter.indices.all(tests), (), run)


def _finish(
    kernel: KernelOp,
    op: ContractionOp,
    reduction: Reduction,
    aggregate: SSAValue,
    landed: SSAValue | None,
    outputs: Sequence[SSAValue],
) -> Values:
    """Write what a contraction came to at one element, after the kernel's elementwise ops."""
    elements, scalars = reduction.elements, reduction.emitter.scalars
    t = element_type(op.result)
    result = scalars.convert(aggregate, reduction.type, t)
    if landed is not None and reduction.box:
        # Both values are there, so a choice costs less than a branch.
        unwritten = elements.as_type(op.default, t) if op.default else scalars.constant(0, t)
        result = scalars.select(landed, result, unwritten)
    elements.known[op.result] = result
    _store(elements, kernel, outputs)
    return ()


def needs_fill(kernel: KernelOp) -> ContractionOp | None:
    """The contraction of a kernel that leaves elements of its output unwritten, if it is one.

    Raises a TileError if the kernel goes on with such a contraction's elements.
    """
    op = kernel.contraction
    if op is None or not leaves_unwritten(op.space(), ranges_of(op)):
        return None
    others = [
        x for x in kernel.block.ops if not isinstance(x, ConstantOp | YieldOp) and x is not op
    ]
    if others or list(kernel.yield_op.values) != [op.result]:
        name = name_of(op.result)
        raise TileError.at(
            op, f"nothing lands on some elements of {name}: it must be alone in its kernel"
        )
    return op


def lower_fill(t: Attribute, name: str, local_size: int) -> Launch:
    """A function that writes 0 to every element of a tensor of type ``t``."""
    assert isinstance(t, TensorType)
    indices = [LoopIndex(f"d{k}", Range(0, n), True) for k, n in enumerate(t.get_shape())]
    function = KernelFunction(name, [t], indices, default_leaves(indices, local_size))
    (buffer,) = function.block.args

    def body(positions: Positions) -> None:
        zero = function.emitter.scalars.constant(0, t.element_type)
        coordinates = [positions.known[index.name] for index in indices]
        function.emitter.store(zero, buffer, coordinates)

    function.for_each_output(body)
    return function.finish()
