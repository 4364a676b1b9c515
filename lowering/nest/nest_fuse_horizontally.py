"""nest-fuse-horizontally: one launch for kernels that need nothing of one another.

A launch costs microseconds, and a small kernel leaves most of a device idle. Kernels of which none
writes what another one takes share a launch: each has work-groups of its own. As in HFuse (Li,
Zheng, Pekhimenko and Long, "Automatic Horizontal Fusion for GPU Kernels", CGO 2022), but kernels
divide the work-groups of a launch, not the work-items of a group.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import starmap, takewhile
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, func, gpu
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    ModuleOp,
    SymbolRefAttr,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import ConstantLike

from tiledialect.dialects.discardable import BESIDE, SHARED_ARGUMENTS
from tiledialect.dialects.nest.call import CallOp
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.dialects.nest.sub_group import ShuffleOp
from tiledialect.index.integer.expressions import expressions_of
from tiledialect.index.names import numbered_names
from tiledialect.ir.host_functions import launch_runs
from tiledialect.ir.host_memory import root
from tiledialect.ir.kernels import kernels_by_name, sizes_of
from tiledialect.ir.launch_labels import joined_labels, part_of
from tiledialect.ir.ops_in import has_one_block, ops_between, ops_of
from tiledialect.ir.signature import kernels_of
from tiledialect.lowering.gpu.gpu_divide_groups import ALIGNMENT
from tiledialect.lowering.nest.cost.estimate import local_bytes
from tiledialect.lowering.tile_to_nest.kernel import kernel_function
from tiledialect.schedule.cost.device import Device, device_of, device_or_common
from tiledialect.schedule.loops import Role

MOST_ITEMS = 512
"""Most work-items of a launch for each compute unit: all are there at once, so that the registers
of one kernel leave no room empty that another one would fill."""
MOST_KERNELS = 8
"""Most kernels of a launch: each has a branch in those that follow it."""
MOST_ARGUMENTS = 64
"""Most arguments: OpenCL has room for 128 pointers, some of which take an offset with them."""
NEAR = 8
"""Number of launches that a kernel may go before: what it writes is there so much longer."""
SUB_GROUP = 32
"""Work-items of which the sub-groups of groups that are put together consist."""


@dataclass(frozen=True)
class Member:
    """Launch of a kernel that may share it with others."""

    launch: gpu.LaunchFuncOp
    kernel: gpu.FuncOp

    @cached_property
    def written(self) -> frozenset[SSAValue]:
        """Roots of the memory that the kernel writes."""
        arguments = zip(self.launch.kernelOperands, self.kernel.body.block.args, strict=True)
        return frozenset(root(v) for v, a in arguments if not _is_only_loaded(a))

    @cached_property
    def taken(self) -> frozenset[SSAValue]:
        """Roots of all memory that the kernel accesses."""
        return frozenset(map(root, self.launch.kernelOperands))

    @cached_property
    def groups(self) -> int:
        """Number of work-groups; 0 if it is not known."""
        return prod(sizes_of(self.kernel)[0])

    @cached_property
    def items(self) -> int:
        """Number of work-items of a group; 0 if it is not known."""
        return prod(sizes_of(self.kernel)[1])

    @cached_property
    def local_bytes(self) -> int:
        """Most bytes of local memory of a work-group, with those that alignment takes."""
        return local_bytes(self.kernel, ALIGNMENT)

    @cached_property
    def sub_groups(self) -> frozenset[int]:
        """Sizes that the kernel's sub-groups must have: one, or any."""
        return frozenset(op.size.value.data for op in ops_of(self.kernel, ShuffleOp))

    @cached_property
    def is_open(self) -> bool:
        """Whether the kernel must be launched alone."""
        sizes = any(isinstance(v.type, IndexType) for v in self.launch.kernelOperands)
        numbers = ops_of(self.kernel, gpu.GridDimOp, CallOp)
        return bool(sizes or numbers or not self.is_plain or BESIDE in self.launch.attributes)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the launch has the sizes that its kernel is for, and arguments, alone."""
        grid, block = sizes_of(self.kernel)
        sizes = self.launch.operands[: len(grid + block)]
        values = map(ConstantLike.get_constant_value, sizes)
        found = [v.value.data if isinstance(v, IntegerAttr) else 0 for v in values]
        count = len(sizes) + len(self.launch.kernelOperands)
        return 0 not in found and found == [*grid, *block] and count == len(self.launch.operands)

    def is_apart(self, other: Member) -> bool:
        """Whether none of two kernels writes what the other one accesses."""
        return self.written.isdisjoint(other.taken) and other.written.isdisjoint(self.taken)

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all work-groups come to the same barriers, as many times."""
        if SHARED_ARGUMENTS in self.kernel.attributes:
            return False
        return not self.local_bytes or not any(map(_depends_on_group, _tests(self.kernel)))

    def fits_into(self, items: int) -> bool:
        """Whether groups of some work-items hold one or several of the kernel's groups."""
        parts, rest = divmod(items, self.items)
        if rest or parts == 1:
            return not rest
        return self.is_uniform and not self.items % SUB_GROUP and not self.groups % parts


def _tests(kernel: gpu.FuncOp) -> Iterator[SSAValue]:
    """Indices in bounds of loops and in conditions."""
    for op in ops_of(kernel, ForOp, IfOp, LoadOp, StoreOp):
        match op:
            case ForOp():
                tested = op.bounds.data
            case IfOp():
                tested = expressions_of(op.condition.data)
            case _:
                tested = () if op.condition is None else expressions_of(op.condition.data)
        names = {name for e in tested for name in e.names}
        yield from (v for k, v in enumerate(op.indices) if f"d{k}" in names)


def _depends_on_group(index: SSAValue) -> bool:
    """Whether an index may differ from one work-group to another."""
    loop = index.owner.parent_op() if isinstance(index.owner, Block) else index.owner
    return not isinstance(loop, ForOp) or loop.role.data.role is Role.GROUP


def _is_independent(member: Member, launch: Iterable[Member]) -> bool:
    return all(map(member.is_apart, launch))


def _is_only_loaded(argument: SSAValue) -> bool:
    return all(isinstance(use.operation, LoadOp) for use in argument.uses)


def fit_together(members: Sequence[Member], device: Device) -> bool:
    """Whether kernels may share a launch on a device."""
    items = max(m.items for m in members)
    if any(m.is_open or not m.fits_into(items) for m in members):
        return False
    if len(frozenset[int]().union(*(m.sub_groups for m in members))) > 1:
        return False
    if device.traits.interleaves_groups:
        room = device.compute_units * MOST_ITEMS
        if sum(m.groups * m.items for m in members) > room:
            return False
    if _sizes(members)[0] >= 2**31:
        return False
    arguments = {v for m in members for v in m.launch.kernelOperands}
    memory = sum(m.local_bytes * items // m.items for m in members)
    return len(arguments) <= MOST_ARGUMENTS and memory <= device.local_mem_size


def shared_launches(members: Iterable[Member], device: Device, most: int) -> list[list[Member]]:
    """Launches for kernels, in an order that keeps what depends on one another in order.

    Each kernel joins the last launch that has room for it and comes after all it depends on.
    """
    found: list[list[Member]] = []
    for member in members:
        near = reversed(found[-NEAR:])
        after = takewhile(partial(_is_independent, member), near)
        for launch in after:
            if len(launch) < most and fit_together([*launch, member], device):
                launch.append(member)
                break
        else:
            found.append([member])
    return found


@dataclass
class HorizontalFusion:
    """Horizontal fusion in a module: launches of the same kernels get the same one."""

    kernels: dict[Hashable, gpu.FuncOp] = field(default_factory=dict[Hashable, gpu.FuncOp])

    def apply(self, run: Sequence[Member], launches: Sequence[Sequence[Member]]) -> None:
        """Put launches in the place of a run of them, in their order."""
        first, last = run[0].launch, run[-1].launch
        end = last.next_op
        assert end is not None
        freed: list[gpu.DeallocOp] = []
        for op in ops_between(first, end):
            if isinstance(op, gpu.DeallocOp):
                op.detach()
                freed.append(op)
            elif not isinstance(op, gpu.LaunchFuncOp):
                op.detach()
                Rewriter.insert_op(op, InsertPoint.before(first))
        last_uses = {v: k for k, members in enumerate(launches) for m in members for v in m.taken}
        for k, members in enumerate(launches):
            Rewriter.insert_op(self._launch(members), InsertPoint.before(end))
            own = [op for op in freed if last_uses.get(root(op.buffer), 0) == k]
            Rewriter.insert_op(own, InsertPoint.before(end))

    def _launch(self, members: Sequence[Member]) -> list[Operation]:
        """Take launches away; ops of the one of all their kernels."""
        old = [m.launch for m in members]
        for op in old:
            op.detach()
        if len(old) == 1:
            return [*old]
        operands = list(dict.fromkeys(v for op in old for v in op.kernelOperands))
        numbers = [[operands.index(v) for v in op.kernelOperands] for op in old]
        key = tuple((m.kernel, *own) for m, own in zip(members, numbers, strict=True))
        if (kernel := self.kernels.get(key)) is None:
            kernel = self.kernels[key] = _caller(members, numbers, operands)
        numbers = [arith.ConstantOp(IntegerAttr(n, IndexType())) for n in (1, *_sizes(members))]
        one, groups, size = (op.result for op in numbers)
        grid, block = (groups, one, one), (size, one, one)
        callee = SymbolRefAttr(old[0].kernel.root_reference, [kernel.sym_name])
        launch = gpu.LaunchFuncOp(callee, grid, block, kernelOperands=operands)
        launch.attributes.update(joined_labels(" and ".join(filter(None, map(part_of, old))), old))
        return [*numbers, launch]


def _sizes(members: Sequence[Member]) -> tuple[int, int]:
    """Numbers of work-groups, and of the work-items of each, of a launch of several kernels."""
    items = max(m.items for m in members)
    return sum(m.groups * m.items for m in members) // items, items


def _name_of(members: Sequence[Member], kernels: Mapping[str, gpu.FuncOp]) -> str:
    """Name of a kernel that calls others: that of the first, and the numbers of the others.

    NVIDIA's driver ends the process at names of some hundreds of characters.
    """
    numbers = {kernel: k for k, kernel in enumerate(kernels.values())}
    others = "_".join(str(numbers[m.kernel]) for m in members[1:])
    name = f"{members[0].kernel.sym_name.data}_and_{others}"
    return next(numbered_names(f"{name}_again", kernels, 1)) if name in kernels else name


def _caller(
    members: Sequence[Member], numbers: Sequence[Sequence[int]], operands: Sequence[SSAValue]
) -> gpu.FuncOp:
    """Kernel that calls others with arguments of these numbers."""
    block = Block(arg_types=[v.type for v in operands])
    for member, own in zip(members, numbers, strict=True):
        arguments = [block.args[k] for k in own]
        for new, old in zip(arguments, member.kernel.body.block.args, strict=True):
            new.name_hint = new.name_hint or old.name_hint
        block.add_op(CallOp(member.kernel.sym_name.data, arguments))
    groups, items = _sizes(members)
    module = members[0].kernel.parent_op()
    assert isinstance(module, gpu.ModuleOp)
    name = _name_of(members, kernels_by_name(module))
    kernel = kernel_function(name, block, (groups, 1, 1), (items, 1, 1))
    module.body.block.add_op(kernel)
    return kernel


@dataclass(frozen=True)
class NestFuseHorizontallyPass(ModulePass):
    """Launches kernels that are independent of one another at once.

    None of them writes what another one accesses. The launch is of a kernel that calls them, with
    as many work-groups as they have together; `gpu-divide-groups` inlines the calls. All
    work-items are there at the same time, and work-groups are of the same size; or several of
    a smaller size, which all come to the same barriers, make one of the others'. CPUs gain nothing,
    PoCL runs no barriers in branches, and Intel's compiler computes conditions of work-items
    wrongly in loops between barriers there.
    """

    name = "nest-fuse-horizontally"

    most: int = MOST_KERNELS
    """Most kernels of a launch; with 1 each has its own."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse the launches of every host function."""
        known = device_of(op)
        if known is not None and not known.traits.interleaves_groups:
            return
        device, fusion = device_or_common(op), HorizontalFusion()
        kernels = {SymbolRefAttr(m, [name]): k for (m, name), k in kernels_of(op).items()}
        for host in [f for f in op.ops if isinstance(f, func.FuncOp) and has_one_block(f)]:
            for run in [[*starmap(Member, x)] for x in launch_runs(host, kernels)]:
                launches = shared_launches(run, device, self.most)
                if len(launches) < len(run):
                    fusion.apply(run, launches)
