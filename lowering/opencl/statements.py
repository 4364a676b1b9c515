"""Statements of OpenCL C for the ops of gpu and func, allocations, and ops with two results."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, func, gpu, memref, vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.nest.asynchronous import CommitOp, CopyOp, WaitOp
from tiledialect.dialects.nest.instruction import FragmentOp, InstructionOp
from tiledialect.dialects.nest.memref import PrefetchOp
from tiledialect.dialects.nest.sub_group import ShuffleOp
from tiledialect.ir.kernels import is_kernel
from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.buffers import GLOBAL, PRIVATE, address, pointer, space_of
from tiledialect.lowering.opencl.combining import wrapping
from tiledialect.lowering.opencl.function import BOTH, FunctionPrinter, Statement, access, symbol
from tiledialect.lowering.opencl.types import (
    Expr,
    binary,
    call,
    literal,
    signed,
    unsigned,
    variable,
)
from tiledialect.lowering.opencl.vector_ops import single_position


def _print_nothing(p: FunctionPrinter, op: Operation) -> None:
    """Print nothing: the op that contains this one prints its effect."""


def _print_id(function: str) -> Callable[[FunctionPrinter, Operation], None]:
    """Print a work-item function: unsigned in C, so it goes into a variable of the index type."""

    def emit(p: FunctionPrinter, op: Operation) -> None:
        assert isinstance(
            op, gpu.ThreadIdOp | gpu.BlockIdOp | gpu.BlockDimOp | gpu.GridDimOp | gpu.GlobalIdOp
        )
        dimension = "XYZ".index(op.dimension.data.name)
        name = p.new_name(op.result.name_hint, f"{function.split('_', 1)[1]}_{dimension}")
        p.line(f"{p.ctype(op.result.type).name} {name} = {function}({dimension});")
        p.values[op.result] = variable(name)

    return emit


def _print_barrier(p: FunctionPrinter, op: Operation) -> None:
    """Print a barrier, which orders global memory too where the function reads its own writes."""
    arguments = p.function.body.block.args
    both = any(
        access(a, p.functions) == BOTH
        for a in arguments
        if isinstance(a.type, MemRefType) and p.buffers[a].space == GLOBAL
    )
    fences = "CLK_LOCAL_MEM_FENCE"
    if both or not p.is_kernel:
        fences += " | CLK_GLOBAL_MEM_FENCE"
    p.line(f"barrier({fences});")


def _print_alloca(p: FunctionPrinter, op: Operation) -> None:
    """Print private memory at its allocation; local memory has been declared already."""
    assert isinstance(op, memref.AllocaOp | memref.AllocOp)
    space = space_of(p, op.memref.type, PRIVATE)
    if space == GLOBAL:
        raise p.error("a kernel cannot allocate global memory")
    if space == PRIVATE:
        p.declare_array(op, PRIVATE)


def _print_call(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, func.CallOp)
    callee = p.functions.get(op.callee.string_value())
    if callee is None or is_kernel(callee):
        raise p.error(f"@{op.callee.string_value()} is not a helper function of the module")
    pairs = zip(op.arguments, callee.body.block.args, strict=True)
    text = f"{symbol(callee)}({', '.join(p.argument(v, a, callee) for v, a in pairs)})"
    if op.results and p.inlining.uses(op.results[0]):
        p.define(op.results[0], Expr(text))
    else:
        p.line(f"{text};")


def _print_return(p: FunctionPrinter, op: Operation) -> None:
    if op.operands:
        p.line(f"return {p.expr(op.operands[0]).assigned};")


# Results in pairs


def _print_add_extended(p: FunctionPrinter, op: Operation) -> None:
    """Print a sum and its carry: the sum is less than a summand where it wrapped round."""
    assert isinstance(op, arith.AddUIExtendedOp)
    a, b = p.expr(op.lhs), p.expr(op.rhs)
    type = p.ctype(op.lhs.type)
    if type.kind == "bool":
        operators = ("^", "&") if type.is_vector else ("!=", "&&")
        p.define(op.sum, binary(operators[0], a, b))
        p.define(op.overflow, binary(operators[1], a, b))
        return
    total = wrapping("+")(p, type, a, b)
    if p.inlining.uses(op.overflow):
        name = p.new_name(op.sum.name_hint, "sum")
        p.line(f"{type.name} {name} = {total.assigned};")
        p.values[op.sum] = total = variable(name)
        overflow = binary("<", unsigned(total, type), unsigned(a, type))
        if type.is_vector and type.bits != 32:
            overflow = call(f"convert_int{type.lanes}", overflow)
        p.define(op.overflow, overflow)
    else:
        p.define(op.sum, total)


def _print_mul_extended(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, arith.MulSIExtendedOp | arith.MulUIExtendedOp)
    a, b = p.expr(op.lhs), p.expr(op.rhs)
    type = p.ctype(op.lhs.type)
    if type.kind == "bool":
        # -1 * -1 = 1 and 1 * 1 = 1: of two bits the high one is 0.
        p.define(op.low, binary("&" if type.is_vector else "&&", a, b))
        p.define(op.high, literal(0, type))
        return
    p.define(op.low, wrapping("*")(p, type, a, b))
    if isinstance(op, arith.MulSIExtendedOp):
        p.define(op.high, call("mul_hi", a, b))
    else:
        p.define(op.high, signed(call("mul_hi", unsigned(a, type), unsigned(b, type)), type))


def _print_insert(p: FunctionPrinter, op: Operation) -> None:
    """Change one lane: of the same variable, if the old vector is not needed any more."""
    assert isinstance(op, vector.InsertOp)
    if isinstance(op.source.type, VectorType):
        raise p.error("OpenCL C has only vectors of one dimension")
    type = p.ctype(op.result.type)
    position = single_position(p, op.static_position, op.dynamic_position)
    source, dest = p.expr(op.source), p.expr(op.dest)
    if type.kind == "bool":
        source = Expr(f"-(int){source.at(12)}", 12, source.reads)
    name = p.reusable(op.dest, op, (), inside=False)
    if name is None:
        name = p.new_variable(op.result, dest, op.result.name_hint, "v")
    else:
        p.rebind(op.result, name)
    if isinstance(position, int):
        p.line(f"{name}.s{position:x} = {source.assigned};")
        return
    index = p.ctype(position.type)
    helper = helpers.dynamic_element(p, type, index, insert=True)
    p.line(f"{name} = {call(helper, variable(name), source, p.expr(position)).text};")


def _print_instruction(p: FunctionPrinter, op: Operation) -> None:
    """A call of the instruction's function, which adds to variables that hold the sums."""
    assert isinstance(op, InstructionOp)
    helper = p.helper(op.entry.name, op.entry.text)
    names: list[str] = []
    for value, total in zip(op.sums, op.totals, strict=True):
        name = p.reusable(value, op, names, inside=False)
        if name is None:
            name = p.new_variable(total, p.expr(value), total.name_hint, "sum")
        else:
            p.rebind(total, name)
        names.append(name)
    arguments = [f"&{name}" for name in names] + [p.expr(v).alone for v in op.factors]
    p.line(f"{helper}({', '.join(arguments)});")


def _print_fragment(p: FunctionPrinter, op: Operation) -> None:
    """A call of the function that loads the registers of an instruction's operand."""
    assert isinstance(op, FragmentOp)
    helper = p.helper(op.rows.name, op.rows.text)
    names = [p.new_variable(v, None, v.name_hint, "fragment") for v in op.registers]
    place = _pointer(p, op.memory, op.indices[0])
    p.line(f"{helper}({', '.join([*(f'&{name}' for name in names), place])});")


def _print_shuffle(p: FunctionPrinter, op: Operation) -> None:
    """Print a shuffle by words; all work-items of the sub-group reach the variable."""
    assert isinstance(op, ShuffleOp)
    type, value, mask = p.ctype(op.value.type), p.expr(op.value).alone, op.mask.value.data
    name = helpers.shuffle_xor(p)
    if type.bits == 64:
        words = p.new_name(f"{op.value.name_hint or 'value'}_words", "words")
        p.line(f"int2 {words} = as_int2({value});")
        low, high = (f"{name}({words}.{half}, {mask})" for half in "xy")
        text = f"as_{type.name}((int2)({low}, {high}))"
    elif type.is_float:
        text = f"as_float({name}(as_int({value}), {mask}))"
    else:
        text = f"{name}({value}, {mask})"
    p.define(op.result, Expr(text))


def _pointer(p: FunctionPrinter, memory: SSAValue, index: SSAValue) -> str:
    buffer = p.buffer(memory)
    return pointer(buffer, address(p, buffer, [index])).text


def _print_copy(p: FunctionPrinter, op: Operation) -> None:
    """A call of the function that starts a copy to local memory."""
    assert isinstance(op, CopyOp)
    places = [
        _pointer(p, op.target, op.target_index),
        _pointer(p, op.source, op.source_index),
    ]
    name, template = f"copy_async_{op.bytes}", COPY
    if op.inside is not None:
        name, template = f"{name}_if", COPY_IF
        places.append(p.expr(op.inside).alone)
    text = template.replace("SIZE", str(op.bytes)).replace("CACHE", CACHES[op.bytes])
    p.line(f"{p.helper(name, text)}({', '.join(places)});")


CACHES = {4: "ca", 8: "ca", 16: "cg"}
"""Cache operators by bytes: only copies of 16 bytes bypass the first cache, useless to tiles."""
COPY = """\
static inline void copy_async_SIZE(__local void *to, const __global void *from)
{
    asm volatile("cp.async.CACHE.shared.global [%0], [%1], SIZE;"
        :: "r"((uint)(ulong)to), "l"((ulong)from) : "memory");
}"""
COPY_IF = """\
static inline void copy_async_SIZE_if(__local void *to, const __global void *from, bool inside)
{
    asm volatile("cp.async.CACHE.shared.global [%0], [%1], SIZE, %2;"
        :: "r"((uint)(ulong)to), "l"((ulong)from), "r"(inside ? SIZE : 0) : "memory");
}"""
"""Copy of a number of bytes, which may be 0, with zeros for the rest."""


def _print_commit(p: FunctionPrinter, op: Operation) -> None:
    p.line('asm volatile("cp.async.commit_group;" ::: "memory");')


def _print_wait(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, WaitOp)
    p.line(f'asm volatile("cp.async.wait_group {op.groups.value.data};" ::: "memory");')


def _print_prefetch(p: FunctionPrinter, op: Operation) -> None:
    """Clang's builtin: OpenCL's own `prefetch` is a call that does nothing."""
    assert isinstance(op, PrefetchOp)
    place = _pointer(p, op.memref, op.indices[0])
    p.line(f"__builtin_prefetch({place}, {int(op.to_write)});")


STATEMENTS: dict[type[Operation], Statement] = {
    gpu.ThreadIdOp: _print_id("get_local_id"),
    gpu.BlockIdOp: _print_id("get_group_id"),
    gpu.BlockDimOp: _print_id("get_local_size"),
    gpu.GridDimOp: _print_id("get_num_groups"),
    gpu.GlobalIdOp: _print_id("get_global_id"),
    gpu.BarrierOp: _print_barrier,
    gpu.ReturnOp: _print_return,
    func.ReturnOp: _print_return,
    func.CallOp: _print_call,
    memref.AllocaOp: _print_alloca,
    memref.AllocOp: _print_alloca,
    memref.DeallocOp: _print_nothing,
    arith.AddUIExtendedOp: _print_add_extended,
    arith.MulSIExtendedOp: _print_mul_extended,
    arith.MulUIExtendedOp: _print_mul_extended,
    vector.InsertOp: _print_insert,
    InstructionOp: _print_instruction,
    FragmentOp: _print_fragment,
    ShuffleOp: _print_shuffle,
    CopyOp: _print_copy,
    CommitOp: _print_commit,
    WaitOp: _print_wait,
    PrefetchOp: _print_prefetch,
}
