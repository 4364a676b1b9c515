"""nest-to-gpu: loops and branches, which carry the registers that they change."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.index.expr import Range
from tiledialect.index.integer.expressions import Condition, Expr, Truth, floordiv, mod, negate
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.access_strides import loops_around
from tiledialect.lowering.nest.utils.constants import constant
from tiledialect.lowering.nest.utils.registers import Chunk, Registers
from tiledialect.lowering.nest.utils.scope import extent_of
from tiledialect.lowering.nest_to_gpu.kernel import GpuKernel
from tiledialect.schedule.loops import Role

NUMBER_OPS = {Role.GROUP: ("group", gpu.BlockIdOp), Role.LOCAL: ("item", gpu.ThreadIdOp)}
"""Names of the steps of parallel loops, and the ops that give their numbers."""


def loop(kernel: GpuKernel, op: Operation) -> None:
    """Lower a loop, by its role."""
    assert isinstance(op, ForOp)
    known = kernel.loop(op)
    bounds = kernel.at(known.operands, known.bounds)
    lower, upper, step = map(kernel.indices.simplify, bounds)
    if op.is_parallel:
        _parallel(kernel, op)
    elif known.is_unrolled:
        index, block = op.index, op.block
        for k in range(known.extent or 0):
            kernel.exprs[index] = lower + k * step
            kernel.walk(block)
    else:
        _serial(kernel, op, lower, upper, step)


def _parallel(kernel: GpuKernel, op: ForOp) -> None:
    """Replace a parallel loop by the number of the work-group or work-item."""
    role, extent = op.role.data, op.extent
    if extent is None:
        _open_parallel(kernel, op)
        return
    inner = [x for x in ops_of(op.block, ForOp) if x.role.data == role]
    outer = _loops_around(op, role)
    faster = prod(x.extent or 1 for x in inner)
    total = faster * extent * prod(x.extent or 1 for x in outer)
    name = _number_name(role)
    if name not in kernel.indices.variables:
        kernel.indices.variable(_emit_number(kernel, role), name, Range(0, total))
    expr = floordiv(Expr.var(name), faster)
    expr = kernel.indices.simplify(expr if not outer else mod(expr, extent))
    if expr.atom is None or expr != Expr.var(name):
        value = kernel.indices.value(expr)
        value.name_hint = op.index.name_hint
        expr = kernel.indices.variable(value, op.index.name_hint or name, Range(0, extent))
    kernel.exprs[op.index] = expr
    group = kernel.open_groups.get(role.axis)
    if group is not None and role.role is Role.LOCAL and expr == Expr.var(name):
        number = gpu.GlobalIdOp(gpu.DimensionAttr(gpu.DimensionEnum(role.axis)))
        kernel.indices.known_sum(group * extent + expr, number, f"global_{role.axis}")
    kernel.walk(op.block)


def _open_parallel(kernel: GpuKernel, op: ForOp) -> None:
    """Lower a parallel loop of as many steps as are launched: the only one along its axis."""
    role = op.role.data
    _, upper, _ = op.exprs_of(kernel.numbered(op), op.bounds)
    number = kernel.indices.variable(_emit_number(kernel, role), _number_name(role))
    kernel.exprs[op.index] = number
    if role.role is Role.GROUP:
        kernel.open_groups[role.axis] = number
    here = kernel.indices.here
    here.env = here.env.with_range(str(number), 0, upper)
    kernel.walk(op.block)


def _number_name(role: LoopRole) -> str:
    return f"{NUMBER_OPS[role.role][0]}_{role.axis}"


def _emit_number(kernel: GpuKernel, role: LoopRole) -> SSAValue:
    """Emit the number of the work-group, or of the work-item in it, along an axis."""
    op = NUMBER_OPS[role.role][1]
    value = kernel.emit(op(gpu.DimensionAttr(gpu.DimensionEnum(role.axis))))
    value.name_hint = _number_name(role)
    return value


def _serial(kernel: GpuKernel, op: ForOp, lower: Expr, upper: Expr, step: Expr) -> None:
    """Lower a serial loop, which carries the registers that it changes."""
    _start_registers(kernel, op.block)
    changed = [
        (buffer, chunk)
        for buffer, registers in kernel.registers.items()
        if buffer in kernel.stored_in(op.block)
        for chunk in registers.chunks()
    ]
    start = kernel.read(changed)
    first, last, by = (kernel.indices.value(e) for e in (lower, upper, step))
    body = Block(arg_types=[IndexType(), *(v.type for v in start)])
    body.args[0].name_hint = op.index.name_hint
    kernel.forget(op.block)
    kernel.enter(body)
    index = kernel.indices.variable(body.args[0], op.index.name_hint or "i")
    here = kernel.indices.here
    # Ops emitted inside stand where there is a step.
    here.env = here.env.with_range(str(index), lower, upper, step)
    kernel.exprs[op.index] = index
    kernel.write(changed, body.args[1:])
    kernel.walk(op.block)
    body.add_op(scf.YieldOp(*kernel.read(changed)))
    kernel.leave()
    new = scf.ForOp(first, last, by, start, body)
    kernel.indices.here.block.add_op(new)
    kernel.write(changed, new.results)
    kernel.forget(op.block)


def _start_registers(kernel: GpuKernel, block: Block) -> None:
    """Initialize the registers that a loop is the first to write, so that it can carry them."""
    for buffer in kernel.registers.keys() & kernel.stored_in(block):
        registers, t = kernel.registers[buffer], buffer.type
        assert isinstance(t, MemRefType)
        missing = [p for p in range(extent_of(t)) if p not in registers.places]
        if missing:
            start = kernel.emit(constant(0, t.element_type))
            for place in missing:
                registers.write(place, start)


def branch(kernel: GpuKernel, op: Operation) -> None:
    """Lower a branch, which yields the registers that it changes."""
    assert isinstance(op, IfOp)
    condition = kernel.indices.simplify_condition(
        op.condition_of(kernel.numbered(op), op.condition)
    )
    if isinstance(condition, Truth):
        if condition.value:
            kernel.walk(op.then.block)
        elif op.otherwise is not None:
            kernel.walk(op.otherwise.block)
        return
    test = kernel.indices.test(condition)
    otherwise = op.otherwise.block if op.otherwise is not None else Block()
    _branch(kernel, test, (op.then.block, condition), (otherwise, negate(condition)))


def _branch(kernel: GpuKernel, test: SSAValue, *arms: tuple[Block, Condition]) -> None:
    """Lower a branch on a test, of two blocks of the nest with the index facts in each."""
    before = {b: r.copy() for b, r in kernel.registers.items()}
    blocks: list[Block] = []
    after: list[dict[SSAValue, Registers]] = []
    for old, fact in arms:
        block = Block()
        kernel.registers = {b: r.copy() for b, r in before.items()}
        kernel.enter(block)
        kernel.indices.here.env = kernel.indices.here.env.assume(fact)
        kernel.walk(old)
        kernel.leave()
        blocks.append(block)
        after.append(kernel.registers)
    kernel.registers = before
    changed = [
        (buffer, chunk)
        for buffer in before
        for chunk in _changed(before[buffer], [a[buffer] for a in after])
    ]
    for block, registers in zip(blocks, after, strict=True):
        kernel.enter(block)
        block.add_op(
            scf.YieldOp(*(registers[b].read(c.place, c.lanes, kernel.emit) for b, c in changed))
        )
        kernel.leave()
    types = [before[b].type(c.lanes) for b, c in changed]
    has_else = bool(types) or len(blocks[1].ops) > 1
    result = scf.IfOp(test, types, [blocks[0]], [blocks[1]] if has_else else None)
    kernel.indices.here.block.add_op(result)
    kernel.write(changed, result.results)
    for old, _ in arms:
        kernel.forget(old)


def _changed(before: Registers, after: Sequence[Registers]) -> list[Chunk]:
    """Places that differ after one of the branches, as the first such holds them.

    Of a vector of which another branch holds the first lanes apart, the others one by one.
    """
    found: list[Chunk] = []
    for registers in after:
        places = {p for p, v in registers.places.items() if before.places.get(p) != v}
        places -= {c.place + lane for c in found for lane in range(c.lanes)}
        for chunk in registers.chunks():
            own = range(chunk.place, chunk.place + chunk.lanes)
            is_whole = chunk.place in places
            found += [chunk] if is_whole else [Chunk(p, 1) for p in own if p in places]
    return found


def where(kernel: GpuKernel, op: Operation) -> None:
    """Lower a branch on a value."""
    assert isinstance(op, scf.IfOp) and not op.results
    otherwise = op.false_region.block if op.false_region.blocks else Block()
    _branch(kernel, kernel.values[op.cond], (op.true_region.block, ALWAYS), (otherwise, ALWAYS))


def _loops_around(op: Operation, role: LoopRole) -> list[ForOp]:
    """Loops around an op that have a role."""
    return [x for x in loops_around(op) if x.role.data == role]
