"""The ``opencl`` target: prints the gpu.modules of level 4 as OpenCL C 1.2.

It takes the upstream dialects gpu, scf, arith, math, memref and vector, whoever made them; what
it cannot print is an :class:`OpenCLError`. docs/opencl.md says what becomes of each op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

from tiledialect.lowering import opencl_c_helpers as helpers
from tiledialect.lowering.opencl_c_inline import PURE, Inlining
from tiledialect.lowering.opencl_c_memory import (
    GLOBAL,
    LOADS,
    LOCAL,
    PRIVATE,
    VIEWS,
    WRITES,
    Address,
    Buffer,
    MemoryScope,
    assignment,
    element_type,
    layout,
    pointer,
    single_position,
    space_of,
)
from tiledialect.lowering.opencl_c_ops import wrapping
from tiledialect.lowering.opencl_c_types import (
    CType,
    Expr,
    OpenCLError,
    binary,
    c_type,
    call,
    int_literal,
    is_free_name,
    literal,
    negation,
    sanitized,
    signed,
    unsigned,
    variable,
)
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, memref, scf, vector
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    VectorType,
)
from xdsl.dialects.dlti import DataLayoutSpecAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.target import Target

LONGEST_INLINED = 80
"""Characters of an expression beyond which it gets a variable."""

Function = gpu.FuncOp | func.FuncOp


@dataclass
class Program:
    """The OpenCL C text of one or more gpu.modules, while it is made."""

    helpers: dict[str, str] = field(default_factory=dict[str, str])
    functions: list[str] = field(default_factory=list[str])
    names: set[str] = field(default_factory=set[str])
    uses_double: bool = False

    @property
    def text(self) -> str:
        """All of it."""
        pragma = ["#pragma OPENCL EXTENSION cl_khr_fp64 : enable"] if self.uses_double else []
        return "\n\n".join([*pragma, *self.helpers.values(), *self.functions]) + "\n"

    def add(self, module: gpu.ModuleOp) -> None:
        """Print the functions of a module, each after those that it calls."""
        functions = {_symbol(f): f for f in module.body.ops if isinstance(f, Function)}
        for op in module.body.ops:
            if not isinstance(op, Function):
                raise OpenCLError(_message(op, f"@{_symbol(module)}", "it is not a function"))
        bits = _index_bits(module)
        printed: set[str] = set()
        for name in functions:
            self._add_function(name, functions, printed, (), bits)

    def _add_function(
        self,
        name: str,
        functions: dict[str, Function],
        printed: set[str],
        callers: tuple[str, ...],
        bits: int,
    ) -> None:
        if name in printed:
            return
        function = functions[name]
        for op in function.walk():
            callee = op.callee.root_reference.data if isinstance(op, func.CallOp) else None
            if callee in (*callers, name):
                raise OpenCLError(_message(op, f"@{name}", "OpenCL C has no recursion"))
            if callee in functions:
                self._add_function(callee, functions, printed, (*callers, name), bits)
        if name in self.names or not is_free_name(name):
            reason = "has the name twice" if name in self.names else "cannot have this name"
            raise OpenCLError(_message(function, f"@{name}", f"OpenCL C {reason}"))
        printed.add(name)
        self.names.add(name)
        self.functions.append(FunctionPrinter(self, functions, function, bits).text())


def _symbol(op: gpu.ModuleOp | Function) -> str:
    return op.sym_name.data


def _index_bits(module: gpu.ModuleOp) -> int:
    """The width of ``index``: what the module's data layout says, else 64."""
    spec = module.attributes.get("dlti.dl_spec")
    for entry in spec.entries if isinstance(spec, DataLayoutSpecAttr) else ():
        if isinstance(entry.key, IndexType):
            bits = entry.value.value.data if isinstance(entry.value, IntegerAttr) else None
            if bits not in (32, 64):
                raise OpenCLError(f"opencl: index is 32 or 64 bits wide, not {entry.value}")
            return bits
    return 64


def _message(op: Operation, place: str, reason: str) -> str:
    location = op.location
    if isinstance(location, FileLineColLoc):
        place += f" ({location.filename.data}:{location.line.data}:{location.column.data})"
    return f"opencl: cannot print '{op.name}' in {place}: {reason}"


@dataclass(frozen=True)
class Access:
    """What a function does with the memory behind an argument."""

    reads: bool = False
    writes: bool = False

    def __or__(self, other: Access) -> Access:
        return Access(self.reads or other.reads, self.writes or other.writes)


BOTH = Access(reads=True, writes=True)
ACCESSES: dict[type[Operation], tuple[int, Access]] = {
    memref.LoadOp: (0, Access(reads=True)),
    vector.LoadOp: (0, Access(reads=True)),
    memref.StoreOp: (1, Access(writes=True)),
    vector.StoreOp: (1, Access(writes=True)),
    memref.AtomicRMWOp: (1, BOTH),
    memref.DimOp: (0, Access()),
    memref.RankOp: (0, Access()),
}


def access(value: SSAValue, functions: dict[str, Function]) -> Access:
    """What is done with the memory behind a memref, through views and calls too."""
    result = Access()
    for use in value.uses:
        op = use.operation
        if type(op) in VIEWS:
            result |= access(op.results[0], functions)
        elif isinstance(op, func.CallOp) and (callee := functions.get(op.callee.string_value())):
            result |= access(callee.body.block.args[use.index], functions)
        else:
            operand, kind = ACCESSES.get(type(op), (use.index, BOTH))
            result |= kind if operand == use.index else BOTH
    return result


def is_read_as_vector(value: SSAValue) -> bool:
    """Does a vector load or store reach the memref, through views too?"""
    return any(
        isinstance(use.operation, vector.LoadOp | vector.StoreOp)
        or (type(use.operation) in VIEWS and is_read_as_vector(use.operation.results[0]))
        for use in value.uses
    )


class FunctionPrinter(MemoryScope):
    """Prints one function."""

    def __init__(
        self, program: Program, functions: dict[str, Function], function: Function, bits: int
    ):
        self.program = program
        self.functions = functions
        self.function = function
        self.index_bits = bits
        self.op: Operation = function
        self.inlining = Inlining(function)
        self.lines: list[str] = []
        self.indent = 1
        self.scopes: list[set[str]] = [set(functions)]
        self.values: dict[SSAValue, Expr] = {}
        self.buffers: dict[SSAValue, Buffer] = {}
        self.variables: dict[str, list[SSAValue]] = {}
        """The variables that change, and the values that they hold in turn."""
        self.is_kernel = isinstance(function, gpu.FuncOp) and function.kernel is not None

    # What the emitters ask

    def expr(self, value: SSAValue) -> Expr:
        if value not in self.values:
            raise self.error(f"no value of type {value.type} in OpenCL C")
        return self.values[value]

    def ctype(self, type: Attribute) -> CType:
        result = c_type(type, self.index_bits)
        if result is None:
            raise self.error(f"no type {type} in OpenCL C")
        self.program.uses_double |= result.base == "double"
        return result

    def helper(self, name: str, text: str) -> str:
        self.program.helpers.setdefault(name, text)
        return name

    def error(self, reason: str) -> OpenCLError:
        return OpenCLError(_message(self.op, f"@{_symbol(self.function)}", reason))

    def buffer(self, value: SSAValue) -> Buffer:
        if value not in self.buffers:
            raise self.error(f"it is not known where the {value.type} lies")
        return self.buffers[value]

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def define(self, value: SSAValue, e: Expr) -> None:
        if not self.inlining.uses(value):
            return
        name = self.new_name(value.name_hint)
        self.line(f"{self.ctype(value.type).name} {name} = {e.assigned};")
        self.values[value] = variable(name)

    # Names and variables

    def new_name(self, hint: str | None, default: str = "v") -> str:
        """A name that nothing visible has."""
        base = sanitized(hint) if hint else default
        name, count = base, 0
        while any(name in scope for scope in self.scopes):
            count += 1
            name = f"{base}_{count}"
        self.scopes[-1].add(name)
        return name

    def new_variable(self, value: SSAValue, e: Expr | None, hint: str | None, default: str) -> str:
        """Declare a variable that will change; it holds ``value``."""
        name = self.new_name(hint, default)
        start = "" if e is None else f" = {e.assigned}"
        self.line(f"{self.ctype(value.type).name} {name}{start};")
        self.variables[name] = []
        self.bind(value, name)
        return name

    def bind(self, value: SSAValue, name: str) -> None:
        """From here on the variable holds the value."""
        self.values[value] = variable(name)
        self.variables[name].append(value)

    def reusable(
        self, value: SSAValue, op: Operation, taken: Sequence[str], *, inside: bool
    ) -> str | None:
        """The variable that holds ``value``, if ``op`` may change it."""
        e = self.values.get(value)
        name = e.text if e else ""
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        if name not in self.variables or name in taken or block is not op.parent:
            return None
        aliases = self.variables[name]
        return name if self.inlining.may_overwrite(aliases, op, inside=inside) else None

    def assign(self, pairs: Sequence[tuple[str, Expr, CType]]) -> None:
        """Give variables new values, all at once."""
        pending = [p for p in pairs if p[0] != p[1].text]
        while pending:
            for pair in pending:
                if not any(pair[0] in e.reads for _, e, _ in pending if e is not pair[1]):
                    self.line(assignment(pair[0], pair[1]))
                    pending.remove(pair)
                    break
            else:
                target, e, type = pending.pop(0)
                name = self.new_name(f"new_{target}")
                self.line(f"{type.name} {name} = {e.assigned};")
                pending.append((target, variable(name), type))

    @contextmanager
    def nested(self) -> Iterator[None]:
        """A block of C."""
        self.indent += 1
        self.scopes.append(set())
        yield
        for name in self.scopes.pop():
            self.variables.pop(name, None)
        self.indent -= 1

    # Functions

    def text(self) -> str:
        """The function."""
        body = self.function.body
        if not body.blocks:
            raise self.error("it has no body")
        parameters = ", ".join(self.parameter(a) for a in body.blocks[0].args)
        results = self.function.function_type.outputs.data
        if len(results) > 1:
            raise self.error("a function of OpenCL C has one result")
        result = self.ctype(results[0]).name if results else "void"
        head = f"{'__kernel' if self.is_kernel else 'static inline'}{self.attributes()} {result}"
        for op in body.walk():
            if isinstance(op, memref.AllocaOp | memref.AllocOp):
                self.op = op
                if space_of(self, op.memref.type, PRIVATE) == LOCAL:
                    self.declare_array(op, LOCAL)
        self.block(self.single_block(body))
        lines = "\n".join(self.lines)
        return f"{head} {_symbol(self.function)}({parameters})\n{{\n{lines}\n}}"

    def attributes(self) -> str:
        """The size of a work-group, if it is known."""
        f = self.function
        if not isinstance(f, gpu.FuncOp) or not self.is_kernel or f.known_block_size is None:
            return ""
        sizes = [*f.known_block_size.get_values(), 1, 1, 1][:3]
        return f" __attribute__((reqd_work_group_size({', '.join(map(str, sizes))})))"

    def parameter(self, value: SSAValue) -> str:
        """The declaration of an argument."""
        name = self.new_name(value.name_hint, "arg")
        if isinstance(value.type, MemRefType):
            space = space_of(self, value.type, GLOBAL)
            type = element_type(self, value.type)
            offset, strides = layout(self, value.type)
            if offset is None and self.is_kernel:
                raise self.error(f"the offset of {value.type} is not known")
            self.buffers[value] = Buffer(name, space, type, strides, offset or Address())
            const = "" if access(value, self.functions).writes else "const "
            restrict = "restrict " if self.is_kernel else ""
            if self.is_kernel and space == PRIVATE:
                raise self.error("a kernel cannot be given private memory")
            return f"{const}{space} {type.memory} *{restrict}{name}"
        type = self.ctype(value.type)
        if self.is_kernel and type.kind == "bool" and not type.is_vector:
            # A kernel cannot be given a bool.
            self.values[value] = binary("!=", variable(name), int_literal(0, 32))
            return f"uchar {name}"
        self.values[value] = variable(name)
        return f"{type.name} {name}"

    def single_block(self, region: Region) -> Block:
        """The region's only block."""
        if len(region.blocks) != 1:
            raise self.error("branches between blocks are not structured control flow")
        return region.block

    # Ops

    def block(self, block: Block) -> None:
        """The ops of a block but its terminator, if that only yields."""
        for op in block.ops:
            self.op = op
            if not self.inlining.is_dead(op):
                self.print_op(op)

    def print_op(self, op: Operation) -> None:
        cls = type(op)
        if cls in VIEWS:
            self.buffers[op.results[0]] = VIEWS[cls](self, op)
        elif cls in WRITES:
            WRITES[cls](self, op)
        elif cls in STATEMENTS:
            STATEMENTS[cls](self, op)
        elif cls in LOADS:
            self.print_value(op, LOADS[cls](self, op))
        elif cls in PURE:
            self.print_value(op, PURE[cls](self, op))
        else:
            raise self.error(UNSUPPORTED.get(op.name, "OpenCL C has nothing for it"))

    def print_value(self, op: Operation, e: Expr) -> None:
        """Keep an expression for its use, or declare a variable for it."""
        if self.inlining.is_inlined(op) and (is_constant(e) or len(e.text) <= LONGEST_INLINED):
            self.values[op.results[0]] = e
        else:
            self.define(op.results[0], e)

    def declare_array(self, op: memref.AllocaOp | memref.AllocOp, space: str) -> None:
        """The array behind an allocation."""
        if space == LOCAL and not self.is_kernel:
            raise self.error("only a kernel can allocate local memory")
        type = element_type(self, op.memref.type)
        offset, strides = layout(self, op.memref.type)
        shape = op.memref.type.get_shape()
        if offset is None or any(size < 0 for size in shape):
            raise self.error(f"the size of {op.memref.type} is not known")
        steps = [s.value for s in strides if isinstance(s.value, int)]
        last = offset.constant + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
        name = self.new_name(op.memref.name_hint, "tile" if space == LOCAL else "array")
        alignment = op.alignment.value.data if op.alignment else 0
        if is_read_as_vector(op.memref):
            alignment = max(alignment, 64)
        aligned = (
            f" __attribute__((aligned({alignment})))" if alignment > type.storage_bytes else ""
        )
        prefix = f"{LOCAL} " if space == LOCAL else ""
        self.line(f"{prefix}{type.storage} {name}[{max(last + 1, 1)}]{aligned};")
        self.buffers[op.memref] = Buffer(name, space, type, strides, offset)

    def argument(self, value: SSAValue, parameter: SSAValue, callee: Function) -> str:
        """An argument of a call."""
        if not isinstance(value.type, MemRefType):
            return self.expr(value).alone
        buffer = self.buffer(value)
        if buffer.space != space_of(self, parameter.type, GLOBAL):
            raise self.error(f"@{_symbol(callee)} does not take a {buffer.space} pointer")
        offset, _ = layout(self, parameter.type)
        return pointer(buffer, int_literal(0, 32) if offset else buffer.offset.expr).text


def is_constant(e: Expr) -> bool:
    """Has the expression no variable?"""
    return not e.reads


def print_nothing(p: FunctionPrinter, op: Operation) -> None:
    """What the op does is done by what contains it."""


def print_id(function: str) -> Callable[[FunctionPrinter, Operation], None]:
    """A work-item function: unsigned in C, so it goes into a variable of the index type."""

    def emit(p: FunctionPrinter, op: Operation) -> None:
        assert isinstance(
            op, gpu.ThreadIdOp | gpu.BlockIdOp | gpu.BlockDimOp | gpu.GridDimOp | gpu.GlobalIdOp
        )
        dimension = "xyz".index(op.dimension.data.value)
        name = p.new_name(op.result.name_hint, f"{function.split('_', 1)[1]}_{dimension}")
        p.line(f"{p.ctype(op.result.type).name} {name} = {function}({dimension});")
        p.values[op.result] = variable(name)

    return emit


def print_barrier(p: FunctionPrinter, op: Operation) -> None:
    """The barrier orders global memory too where the function reads what it writes."""
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


def print_alloca(p: FunctionPrinter, op: Operation) -> None:
    """Private memory lives where it is allocated; local memory has been declared already."""
    assert isinstance(op, memref.AllocaOp | memref.AllocOp)
    space = space_of(p, op.memref.type, PRIVATE)
    if space == GLOBAL:
        raise p.error("a kernel cannot allocate global memory")
    if space == PRIVATE:
        p.declare_array(op, PRIVATE)


def print_call(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, func.CallOp)
    callee = p.functions.get(op.callee.string_value())
    if callee is None or (isinstance(callee, gpu.FuncOp) and callee.kernel is not None):
        raise p.error(f"@{op.callee.string_value()} is not a helper function of the module")
    pairs = zip(op.arguments, callee.body.block.args, strict=True)
    text = f"{_symbol(callee)}({', '.join(p.argument(v, a, callee) for v, a in pairs)})"
    if op.results and p.inlining.uses(op.results[0]):
        p.define(op.results[0], Expr(text))
    else:
        p.line(f"{text};")


def print_return(p: FunctionPrinter, op: Operation) -> None:
    if op.operands:
        p.line(f"return {p.expr(op.operands[0]).assigned};")


# Results in pairs


def print_add_extended(p: FunctionPrinter, op: Operation) -> None:
    """The sum is less than a summand where it wrapped round."""
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


def print_mul_extended(p: FunctionPrinter, op: Operation) -> None:
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


def print_insert(p: FunctionPrinter, op: Operation) -> None:
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
        p.bind(op.result, name)
    if isinstance(position, int):
        p.line(f"{name}.s{position:x} = {source.assigned};")
        return
    index = p.ctype(position.type)
    helper = helpers.dynamic_element(p, type, index, insert=True)
    p.line(f"{name} = {call(helper, variable(name), source, p.expr(position)).text};")


# Control flow


def yielded(block: Block) -> Sequence[SSAValue]:
    """What a block's terminator passes on."""
    last = block.last_op
    return last.operands if isinstance(last, scf.YieldOp) else ()


def carried(
    p: FunctionPrinter, op: Operation, inits: Sequence[SSAValue], arguments: Sequence[SSAValue]
) -> list[str]:
    """A variable for each value that a loop carries: that of the initial value, if nothing else
    needs it."""
    names: list[str] = []
    for init, argument, result in zip(inits, arguments, op.results, strict=False):
        name = p.reusable(init, op, names, inside=False)
        if name is None:
            hint = argument.name_hint or result.name_hint
            name = p.new_variable(argument, p.expr(init), hint, "acc")
        else:
            p.bind(argument, name)
        names.append(name)
    return names


def print_for(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, scf.ForOp)
    body = op.body.block
    names = carried(p, op, op.iter_args, body.args[1:])
    lower, upper, step = (p.expr(v) for v in (op.lb, op.ub, op.step))
    type = p.ctype(op.lb.type)
    with p.nested():
        i = p.new_name(body.args[0].name_hint, "i")
        p.values[body.args[0]] = variable(i)
        end = binary("<", variable(i), upper).text
        advance = f"++{i}" if step.value == 1 else f"{i} += {step.text}"
        p.indent -= 1
        p.line(f"for ({type.name} {i} = {lower.assigned}; {end}; {advance}) {{")
        p.indent += 1
        p.block(body)
        p.op = op
        assign_yielded(p, names, body)
    p.line("}")
    for result, name in zip(op.results, names, strict=True):
        p.bind(result, name)


def assign_yielded(p: FunctionPrinter, names: Sequence[str], block: Block) -> None:
    """Give the variables what the block yields."""
    values = yielded(block)
    p.assign([(n, p.expr(v), p.ctype(v.type)) for n, v in zip(names, values, strict=True)])


def print_if(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, scf.IfOp)
    blocks = [p.single_block(r) for r in op.regions if r.blocks]
    condition = p.expr(op.cond)
    names = [
        branch_variable(p, op, i, [yielded(b)[i] for b in blocks]) for i in range(len(op.results))
    ]
    texts = [branch(p, op, block, names) for block in blocks]
    then, otherwise = texts[0], texts[1] if len(texts) > 1 else []
    if otherwise and not then:
        condition, then, otherwise = negation(condition), otherwise, []
    p.line(f"if ({condition.text}) {{")
    p.lines += then
    if otherwise:
        p.line("} else {")
        p.lines += otherwise
    p.line("}")
    for result, name in zip(op.results, names, strict=True):
        p.bind(result, name)


def branch_variable(p: FunctionPrinter, op: Operation, i: int, values: Sequence[SSAValue]) -> str:
    """The variable of a result: one that a branch leaves as it is, if nothing else needs it."""
    taken: list[str] = []
    for value in values:
        name = p.reusable(value, op, taken, inside=True)
        if name is not None:
            return name
    result = op.results[i]
    return p.new_variable(result, None, result.name_hint, "v")


def branch(p: FunctionPrinter, op: Operation, block: Block, names: Sequence[str]) -> list[str]:
    """The lines of a branch."""
    lines, p.lines = p.lines, []
    with p.nested():
        p.block(block)
        p.op = op
        assign_yielded(p, names, block)
    lines, p.lines = p.lines, lines
    return lines


def print_switch(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, scf.IndexSwitchOp)
    regions = [*op.case_regions, op.default_region]
    names = [p.new_variable(r, None, r.name_hint, "v") for r in op.results]
    p.line(f"switch ({p.expr(op.arg).text}) {{")
    for i, region in enumerate(regions):
        labels = [f"case {v}" for v in op.cases.get_values()]
        p.line(f"{[*labels, 'default'][i]}: {{")
        p.lines += branch(p, op, p.single_block(region), names)
        p.line("    break;")
        p.line("}")
    p.line("}")


def print_while(p: FunctionPrinter, op: Operation) -> None:
    """``while (condition)`` if the condition is an expression, else a loop left by ``break``."""
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    condition = before.last_op
    assert isinstance(condition, scf.ConditionOp)
    names = [
        p.new_variable(a, p.expr(init), a.name_hint, "state")
        for init, a in zip(op.arguments, before.args, strict=True)
    ]
    passed = [passed_variable(p, op, i, v, before) for i, v in enumerate(condition.args)]
    lines, p.lines = p.lines, []
    with p.nested():
        p.block(before)
        p.op = op
        p.assign(
            [(n, p.expr(v), p.ctype(v.type)) for n, v in zip(passed, condition.args, strict=True)]
        )
        test = p.expr(condition.condition)
        head = "while (true) {"
        if p.lines:
            p.line(f"if ({negation(test).text}) {{")
            p.line("    break;")
            p.line("}")
        else:
            head = f"while ({test.text}) {{"
        for argument, name in zip(after.args, passed, strict=True):
            p.bind(argument, name)
        p.block(after)
        p.op = op
        assign_yielded(p, names, after)
    body, p.lines = p.lines, lines
    p.line(head)
    p.lines += body
    p.line("}")
    for result, name in zip(op.results, passed, strict=True):
        p.bind(result, name)


def passed_variable(
    p: FunctionPrinter, op: Operation, i: int, value: SSAValue, before: Block
) -> str:
    """The variable of what a condition passes on: an argument's own, if it is passed as it is."""
    if value in before.args:
        return p.values[value].text
    return p.new_variable(op.results[i], None, op.results[i].name_hint, "passed")


STATEMENTS: dict[type[Operation], Callable[[FunctionPrinter, Operation], None]] = {
    gpu.ThreadIdOp: print_id("get_local_id"),
    gpu.BlockIdOp: print_id("get_group_id"),
    gpu.BlockDimOp: print_id("get_local_size"),
    gpu.GridDimOp: print_id("get_num_groups"),
    gpu.GlobalIdOp: print_id("get_global_id"),
    gpu.BarrierOp: print_barrier,
    gpu.ReturnOp: print_return,
    func.ReturnOp: print_return,
    func.CallOp: print_call,
    memref.AllocaOp: print_alloca,
    memref.AllocOp: print_alloca,
    memref.DeallocOp: print_nothing,
    arith.AddUIExtendedOp: print_add_extended,
    arith.MulSIExtendedOp: print_mul_extended,
    arith.MulUIExtendedOp: print_mul_extended,
    vector.InsertOp: print_insert,
    scf.ForOp: print_for,
    scf.IfOp: print_if,
    scf.IndexSwitchOp: print_switch,
    scf.WhileOp: print_while,
    scf.YieldOp: print_nothing,
    scf.ConditionOp: print_nothing,
}

UNSUPPORTED = {
    "scf.parallel": "the iterations of a kernel are its work-items",
    "gpu.lane_id": "OpenCL C 1.2 has no subgroups",
    "gpu.subgroup_id": "OpenCL C 1.2 has no subgroups",
    "gpu.subgroup_size": "OpenCL C 1.2 has no subgroups",
    "gpu.num_subgroups": "OpenCL C 1.2 has no subgroups",
    "builtin.unrealized_conversion_cast": "a conversion was left unfinished",
}


def print_opencl(gpu_module: gpu.ModuleOp) -> str:
    """The OpenCL C program of a gpu.module.

    Raises OpenCLError for an op or type that OpenCL C 1.2 or the printer does not have.
    """
    program = Program()
    program.add(gpu_module)
    return program.text


@dataclass(frozen=True)
class OpenCLTarget(Target):
    """``-t opencl``: all gpu.modules as one OpenCL C 1.2 program."""

    name = "opencl"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Print the gpu.modules inside ``module``, or ``module`` itself if it is one."""
        program = Program()
        for op in module.walk():
            if isinstance(op, gpu.ModuleOp):
                program.add(op)
        if not program.functions:
            raise OpenCLError("opencl: there is no function in a gpu.module to print")
        output.write(program.text)
