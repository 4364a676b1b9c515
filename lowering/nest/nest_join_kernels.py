"""nest-join-kernels: fusion of two kernels whose work-groups hand over results to themselves.

Both have the same outer loops: the same work-groups, and in these, say, the same planes of images.
If each of their steps takes the results of the same step of the kernel before, one kernel does
both, step by step. The results between are in local memory, as much as a step makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product, starmap, takewhile

from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp, NoneAttr, SymbolRefAttr, i1
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import BESIDE
from tiledialect.dialects.nest.attributes import ExprsAttr
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.dialects.tile.element_types import SHORT_FLOATS
from tiledialect.index.integer.expressions import Expr
from tiledialect.ir.host_functions import launch_runs
from tiledialect.ir.host_memory import root
from tiledialect.ir.launch_labels import joined_labels, part_of
from tiledialect.ir.ops_in import has_one_block, ops_between, ops_of
from tiledialect.ir.signature import kernels_of
from tiledialect.lowering.nest.utils.builder import LOCAL
from tiledialect.lowering.nest.utils.scope import NestScope, bytes_of
from tiledialect.schedule.cost.device import Device, device_or_common
from tiledialect.schedule.loops import Role

ATTRIBUTES = {"sym_name", "function_type", "kernel", "known_block_size", "known_grid_size"}
"""Attributes of a kernel without further annotations."""
COMMON_ROLES = (Role.GROUP, Role.SERIAL)
"""Roles of loops that two kernels may have in common."""

Loops = Sequence[tuple[ForOp, ForOp]]
"""Loops that two kernels have in common, outermost first."""
StoreIndices = tuple[Expr | None, ...]
"""Index along each axis of memory of a step of such loops; None where it may be any."""


@dataclass(frozen=True)
class Launched:
    """Kernel that is launched once."""

    launch: gpu.LaunchFuncOp
    kernel: gpu.FuncOp

    @property
    def arguments(self) -> dict[SSAValue, BlockArgument]:
        """Kernel's argument for each operand of the launch."""
        return dict(zip(self.launch.kernelOperands, self.kernel.body.block.args, strict=True))

    @property
    def is_plain(self) -> bool:
        """Whether each group is one work-item, the arguments have no annotations, and the launch is
        needed."""
        said = (*self.kernel.attributes, *self.kernel.properties)
        sizes = self.kernel.known_block_size
        is_alone = sizes is not None and set(sizes.get_values()) == {1}
        values = self.launch.kernelOperands
        return (
            is_alone
            and BESIDE not in self.launch.attributes
            and ATTRIBUTES.issuperset(n.removeprefix("gpu.") for n in said)
            and len({*values}) == len(values)
        )

    @property
    def loops(self) -> list[ForOp]:
        """Outer loops, each of which is the whole body of the one around it."""
        found: list[ForOp] = []
        ops = [op for op in self.kernel.body.block.ops if not isinstance(op, gpu.ReturnOp)]
        while len(ops) == 1 and isinstance(ops[0], ForOp) and ops[0].role.data.role in COMMON_ROLES:
            found.append(ops[0])
            ops = list(ops[0].block.ops)
        return found


def handed_over(first: Launched, second: Launched) -> list[SSAValue] | None:
    """Memory that one kernel writes, and nothing else before, and the next one reads.

    None if they have other memory in common than that, and memory that both only read.
    """
    made, taken = first.arguments, second.arguments
    found: list[SSAValue] = []
    # Two arguments may be views of the same memory.
    for value, other in product(made, taken):
        if root(value) is not root(other):
            continue
        if _does(made[value], LoadOp) and _does(taken[other], LoadOp):
            continue
        if value is not other or not _does(made[value], StoreOp) or not _does(taken[value], LoadOp):
            return None
        if not isinstance(value.owner, gpu.AllocOp) or _is_used_before(value, first.launch):
            return None
        found.append(value)
    return [value for value in taken if value in found]


def _does(argument: SSAValue, kind: type[LoadOp | StoreOp]) -> bool:
    """Whether all uses of an argument are loads, or stores."""
    return all(isinstance(use.operation, kind) for use in argument.uses)


def _is_used_before(value: SSAValue, launch: Operation) -> bool:
    """Whether an op uses a value before a launch does."""
    users = {use.operation for use in value.uses}
    users = {op for op in users if op is not launch and not isinstance(op, gpu.DeallocOp)}
    following = launch.next_op
    while following is not None and users:
        users.discard(following)
        following = following.next_op
    return bool(users)


def common_loops(first: Launched, second: Launched) -> Loops:
    """Outer loops of both kernels, with all of their groups; none if these differ."""
    pairs = zip(first.loops, second.loops, strict=False)
    found = list(takewhile(lambda both: _are_alike(*both), pairs))
    if not found:
        return []
    shared = sum(map(_is_of_groups, (own for own, _ in found)))
    groups = [sum(map(_is_of_groups, ops_of(x.kernel, ForOp))) for x in (first, second)]
    return found if groups == [shared, shared] else []


def _is_of_groups(loop: ForOp) -> bool:
    return loop.role.data.role is Role.GROUP


def _are_alike(a: ForOp, b: ForOp) -> bool:
    is_known = a.extent is not None and not a.attributes and not b.attributes
    return is_known and a.bounds == b.bounds and a.role == b.role


def place_of(loops: Loops, stored: SSAValue, loaded: SSAValue) -> StoreIndices | None:
    """Memory of a step of some loops in both kernels; None if steps may overlap."""
    scope = NestScope()
    for own, other in loops:
        scope.names[other.index] = scope.name(own.index)
    names = {str(scope.name(own.index)) for own, _ in loops}
    places: set[StoreIndices] = set()
    for use in (*stored.uses, *loaded.uses):
        assert isinstance(use.operation, LoadOp | StoreOp)
        access = scope.access(use.operation)
        places.add(tuple(e if names & {*e.names} else None for e in access))
    if len(places) != 1:
        return None
    (place,) = places
    extents = {str(scope.name(own.index)): own.extent or 1 for own, _ in loops}
    return place if _tells_apart([e for e in place if e is not None], extents) else None


def _tells_apart(exprs: Sequence[Expr], extents: Mapping[str, int]) -> bool:
    """Whether expressions differ between any two steps of loops of these extents."""
    found = [_numbered(e, extents) for e in exprs]
    known = {name for names in found for name in names}
    return all(found) and all(n in known for n, extent in extents.items() if extent > 1)


def _numbered(expr: Expr, extents: Mapping[str, int]) -> Sequence[str]:
    """Indices for whose steps an expression takes distinct values, else none."""
    reach, weights = 0, list[tuple[int, str]]()
    for name in expr.names:
        less, more = (expr.substitute({name: Expr.const(k)}) for k in (0, 1))
        weight = (more - less).value
        if weight is None or name not in extents:
            return ()
        weights.append((abs(weight), name))
    for weight, name in sorted(weights):
        if weight <= reach:
            return ()
        reach += weight * (extents[name] - 1)
    return expr.names


@dataclass(frozen=True)
class KernelFusion:
    """Fusion of two kernels."""

    first: Launched
    second: Launched
    loops: Loops
    """Loops in common."""
    places: Mapping[SSAValue, StoreIndices]
    """Index of a step of these loops in each memory that is handed over."""

    @staticmethod
    def of(first: Launched, second: Launched, device: Device) -> KernelFusion | None:
        """Build the fusion with the most common loops, if the device's caches hold one."""
        if not first.is_plain or not second.is_plain or not (loops := common_loops(first, second)):
            return None
        if not (handed := handed_over(first, second)):
            return None
        made, taken = first.arguments, second.arguments
        groups = max(1, sum(_is_of_groups(own) for own, _ in loops))
        for depth in range(len(loops), groups - 1, -1):
            found = {v: place_of(loops[:depth], made[v], taken[v]) for v in handed}
            places = {v: place for v, place in found.items() if place is not None}
            if len(places) == len(found):
                fusion = KernelFusion(first, second, loops[:depth], places)
                return fusion if fusion.fits_cache(device) else None
        return None

    def fits_cache(self, device: Device) -> bool:
        """Whether a cache holds the local memory of a group's step, as it lies in memory."""
        types = [_memory(v) for v in self.places]
        if any(t.element_type in SHORT_FLOATS or t.element_type == i1 for t in types):
            return False
        buffers = (op for x in (self.first, self.second) for op in ops_of(x.kernel, BufferOp))
        sizes = [
            op.number_of_copies * bytes_of(_memory(op.result)) for op in buffers if _is_local(op)
        ]
        size = sum(sizes) + sum(bytes_of(self._kept(v)) for v in self.places)
        return size <= min(device.second_cache, device.local_mem_size)

    def _kept(self, value: SSAValue) -> MemRefType[Attribute]:
        """Type of the local memory for the results that a step hands over."""
        t, place = _memory(value), self.places[value]
        shape = [n if e is None else 1 for n, e in zip(t.get_shape(), place, strict=True)]
        return MemRefType(t.element_type, shape, NoneAttr(), LOCAL)

    def make(self) -> Launched:
        """Put one kernel in the place of both, and one launch."""
        inner, other = self.loops[-1]
        for own, gone in self.loops:
            gone.index.replace_all_uses_with(own.index)
        for op in list(other.block.ops):
            op.detach()
            inner.block.add_op(op)
        operands, kernel = self._operands(), self.first.kernel
        kernel.sym_name = self.second.kernel.sym_name
        Rewriter.erase_op(self.second.kernel, safe_erase=False)
        return Launched(self._launch(operands), kernel)

    def _operands(self) -> list[SSAValue]:
        """Operands of the fused kernel's launch, for which the kernel gets arguments."""
        kernel, made = self.first.kernel, self.first.arguments
        block = kernel.body.block
        for value, argument in self.second.arguments.items():
            if value not in made:
                made[value] = block.insert_arg(argument.type, len(block.args))
                made[value].name_hint = argument.name_hint
            argument.replace_all_uses_with(made[value])
        for value in self.places:
            self._keep(value, made[value])
            if not made[value].uses:
                block.erase_arg(made.pop(value))
        kernel.function_type = FunctionType.from_lists(block.arg_types, [])
        return list(made)

    def _keep(self, value: SSAValue, argument: SSAValue) -> None:
        """Keep handed over results in local memory, and in global memory if others read them."""
        buffer = BufferOp(self._kept(value))
        buffer.result.name_hint = argument.name_hint
        Rewriter.insert_op(buffer, InsertPoint.at_start(self.loops[-1][0].block))
        own = (self.first.launch, self.second.launch)
        users = {use.operation for use in value.uses}.difference(own)
        is_needed = not all(isinstance(op, gpu.DeallocOp) for op in users)
        for op in [use.operation for use in argument.uses]:
            assert isinstance(op, LoadOp | StoreOp)
            if is_needed and isinstance(op, StoreOp):
                Rewriter.insert_op(op.clone(), InsertPoint.after(op))
            op.operands[[*op.operands].index(argument)] = buffer.result
            exprs = zip(op.access.data, self.places[value], strict=True)
            op.access = ExprsAttr([e if place is None else Expr() for e, place in exprs])

    def _launch(self, operands: Sequence[SSAValue]) -> gpu.LaunchFuncOp:
        """Launch the fused kernel in the place of the second launch."""
        first, second = self.first.launch, self.second.launch
        grid = first.gridSizeX, first.gridSizeY, first.gridSizeZ
        block = first.blockSizeX, first.blockSizeY, first.blockSizeZ
        launch = gpu.LaunchFuncOp(second.kernel, grid, block, kernelOperands=operands)
        labels = joined_labels(part_of(second), (first, second))
        launch.attributes.update({**second.attributes, **labels})
        Rewriter.replace_op(second, launch, [])
        for op in ops_between(first, launch):
            # The fused kernel uses the operands of the first one later.
            if isinstance(op, gpu.DeallocOp):
                op.detach()
                Rewriter.insert_op(op, InsertPoint.after(launch))
        Rewriter.erase_op(first)
        for value in self.places:
            _drop_unused(value)
        return launch


def _memory(value: SSAValue) -> MemRefType[Attribute]:
    assert isinstance(value.type, MemRefType)
    return value.type


def _is_local(op: BufferOp) -> bool:
    return _memory(op.result).memory_space == LOCAL


def _drop_unused(memory: SSAValue) -> None:
    """Erase an allocation that no other op uses."""
    users = [use.operation for use in memory.uses]
    if isinstance(memory.owner, gpu.AllocOp) and all(isinstance(u, gpu.DeallocOp) for u in users):
        for op in (*users, memory.owner):
            Rewriter.erase_op(op)


def join_kernels(module: ModuleOp, device: Device) -> None:
    """Fuse the kernels of all host functions, each with those that follow."""
    counts = Counter(op.kernel for op in ops_of(module, gpu.LaunchFuncOp))
    known = {SymbolRefAttr(m, [name]): k for (m, name), k in kernels_of(module).items()}
    once = {name: kernel for name, kernel in known.items() if counts[name] == 1}
    for host in [f for f in module.ops if isinstance(f, func.FuncOp) and has_one_block(f)]:
        for run in launch_runs(host, once):
            first, *others = starmap(Launched, run)
            for following in others:
                fusion = KernelFusion.of(first, following, device)
                first = fusion.make() if fusion is not None else following


class NestJoinKernelsPass(ModulePass):
    """Fuses two kernels of which the second one reads only the results of its own work-group.

    Their work-groups are the same, of one work-item each, and so may be loops in these. In each
    step of these loops the second kernel takes, of the first one's results, the part of the same
    step alone. That part is in local memory then, if a second cache holds it; all of it is in
    memory only if other ops use it. It is done for CPUs: the gradient of a maximum over windows
    finds the maxima of a plane, and shares the cotangents out, while the plane is near.
    """

    name = "nest-join-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse the kernels of every host function."""
        device = device_or_common(op)
        if not device.traits.interleaves_groups:
            join_kernels(op, device)
