"""gpu-divide-groups: a kernel that calls kernels has work-groups for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, gpu, memref, scf
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
    SymbolRefAttr,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.nest.call import CallOp, calls_of
from tiledialect.errors import TileError
from tiledialect.ir.kernels import kernels_by_name, sizes_of
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.builder import is_local
from tiledialect.lowering.nest.utils.scope import element_bytes
from tiledialect.rounding import round_up

X = gpu.DimensionAttr(gpu.DimensionEnum.X)
AXES = [*gpu.DimensionEnum]
"""Axes in the order in which numbers are counted."""
ALIGNMENT = 64
"""Alignment in bytes of the parts of local memory, each of which the items of one group have."""


class _Division:
    """Body of a kernel that calls others, while these take the place of their calls."""

    def __init__(self, kernel: gpu.FuncOp, calls: Sequence[CallOp]):
        self.calls = calls
        self.items = prod(sizes_of(kernel)[1])
        self.block = kernel.body.block

    def run(self) -> None:
        """Replace all calls, each by a branch for work-groups of its own."""
        outermost, returned, begin = self.block, self.block.last_op, 0
        kernels = [call.kernel for call in self.calls]
        for op in outermost.ops:
            op.detach()
        self.group = self.emit(gpu.BlockIdOp(X), "group")
        self.item = self.emit(gpu.ThreadIdOp(X), "item")
        for call, kernel in zip(self.calls, kernels, strict=True):
            grid, block = sizes_of(kernel)
            end = begin + prod(grid) * prod(block) // self.items
            otherwise = Block()
            if call is not self.calls[-1]:
                is_own = self.emit(arith.CmpiOp(self.group, self.number(end), "slt"))
                then = Block()
                self.block.add_op(scf.IfOp(is_own, [], [then], [otherwise]))
                self.block = then
            self.inline(kernel, call.arguments, begin)
            call.erase()
            if self.block is not outermost:
                self.block.add_op(scf.YieldOp())
            self.block, begin = otherwise, end
        assert returned is not None
        outermost.add_op(returned)

    def emit(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Add an op with one result."""
        self.block.add_op(op)
        op.results[0].name_hint = hint
        return op.results[0]

    def number(self, value: int) -> SSAValue:
        """An index constant."""
        return self.emit(arith.ConstantOp(IntegerAttr(value, IndexType())))

    def inline(self, kernel: gpu.FuncOp, arguments: Sequence[SSAValue], begin: int) -> None:
        """Add the ops of a kernel, whose groups are those from ``begin`` on."""
        grid, block = sizes_of(kernel)
        group, item, own = self.group, self.item, prod(block)
        if begin:
            group = self.emit(arith.SubiOp(group, self.number(begin)), "group")
        part: SSAValue | None = None
        if own < self.items:
            part = self.emit(arith.DivUIOp(item, self.number(own)), "part")
            item = self.emit(arith.RemUIOp(item, self.number(own)), "item")
            first = self.emit(arith.MuliOp(group, self.number(self.items // own)))
            group = self.emit(arith.AddiOp(first, part), "group")
        numbers = {gpu.BlockIdOp: (group, grid), gpu.ThreadIdOp: (item, block)}
        known: dict[tuple[type[Operation], int], SSAValue] = {}
        body = kernel.clone().body.block
        for old, new in zip(body.args, arguments, strict=True):
            old.replace_all_uses_with(new)
        for op in ops_of(body, gpu.BlockIdOp, gpu.ThreadIdOp):
            place = type(op), AXES.index(op.dimension.data)
            if place not in known:
                known[place] = self.along(*numbers[type(op)], place[1])
            Rewriter.replace_op(op, [], [known[place]])
        if part is not None:
            for op in [x for x in ops_of(body, memref.AllocaOp) if is_local(x.memref)]:
                self.divide(op, part, self.items // own)
        if others := ops_of(body, gpu.GlobalIdOp, gpu.GridDimOp, gpu.BlockDimOp):
            raise TileError.at(others[0], "a kernel that is called does not know its grid")
        *ops, returned = body.ops
        Rewriter.erase_op(returned)
        for op in ops:
            op.detach()
            self.block.add_op(op)

    def along(self, value: SSAValue, sizes: Sequence[int], axis: int) -> SSAValue:
        """Number along an axis, the first of which counts fastest."""
        inner, outer = prod(sizes[:axis]), prod(sizes[axis + 1 :])
        if sizes[axis] == 1:
            return self.number(0)
        if inner > 1:
            value = self.emit(arith.DivUIOp(value, self.number(inner)))
        return self.emit(arith.RemUIOp(value, self.number(sizes[axis]))) if outer > 1 else value

    def divide(self, op: memref.AllocaOp, part: SSAValue, parts: int) -> None:
        """Give each part of the work-items local memory of its own."""
        t = op.memref.type
        if len(t.get_shape()) != 1:
            raise TileError.at(op, f"local memory of a kernel that is called has one axis, not {t}")
        (size,) = t.get_shape()
        unit = ALIGNMENT // min(ALIGNMENT, element_bytes(t))
        step = round_up(size, unit)
        whole = memref.AllocaOp.get(
            t.element_type, shape=[step * parts], memory_space=t.memory_space
        )
        whole.memref.name_hint = op.memref.name_hint
        number = arith.ConstantOp(IntegerAttr(step, IndexType()))
        start = arith.MuliOp(part, number.result)
        layout = StridedLayoutAttr([1], None)
        own = MemRefType(t.element_type, [size], layout, t.memory_space)
        cast = memref.ReinterpretCastOp.from_dynamic(whole.memref, [start.result], [size], [1], own)
        Rewriter.replace_op(op, [whole, number, start, cast])


class GpuDivideGroupsPass(ModulePass):
    """Inlines the kernels that a kernel calls, each for work-groups of its own.

    The first groups compute the first kernel, the next ones the second, and so on. Where a kernel
    has smaller groups than its caller, several of them are one, each with local memory of its own.
    """

    name = "gpu-divide-groups"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Inline all calls of kernels, and erase kernels that are only called."""
        launched = {launch.kernel for launch in ops_of(op, gpu.LaunchFuncOp)}
        for module in ops_of(op, gpu.ModuleOp):
            called: dict[gpu.FuncOp, None] = {}
            for kernel in kernels_by_name(module).values():
                if calls := calls_of(kernel):
                    called.update((call.kernel, None) for call in calls)
                    _Division(kernel, calls).run()
            for kernel in called:
                if SymbolRefAttr(module.sym_name, [kernel.sym_name]) not in launched:
                    Rewriter.erase_op(kernel)
