"""Prints one function of a gpu.module: names, variables, declarations, and op after op."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from typing_extensions import override
from xdsl.dialects import arith, func, gpu, memref, vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, Use

from tiledialect.dialects.nest import memref as upstream
from tiledialect.dialects.nest.asynchronous import CopyOp
from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.dialects.nest.prefetch import PrefetchOp
from tiledialect.dialects.nest.sub_group import ShuffleOp
from tiledialect.ir.kernels import is_kernel
from tiledialect.ir.names import op_name, place_of
from tiledialect.lowering.gpu.gpu_widen_bf16 import computes_with_bf16, has_bf16
from tiledialect.lowering.host.buffer_offsets import is_part
from tiledialect.lowering.names import LONGEST, sanitized
from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.buffers import (
    GLOBAL,
    LOCAL,
    PRIVATE,
    Address,
    Buffer,
    MemoryScope,
    element_type,
    layout,
    pointer,
    space_of,
)
from tiledialect.lowering.opencl.helpers import sub_groups_of
from tiledialect.lowering.opencl.inline import PURE, Inlining
from tiledialect.lowering.opencl.memory import LOADS, WRITES, assignment
from tiledialect.lowering.opencl.types import (
    CType,
    Expr,
    OpenCLError,
    binary,
    c_type,
    call,
    int_literal,
    variable,
)
from tiledialect.lowering.opencl.vector_ops import bits_of
from tiledialect.lowering.opencl.views import VIEWS

LONGEST_INLINED = 100
"""Characters of an expression beyond which it gets a variable."""

LONG_HALVES = 8
"""The lanes of vectors of halves that only CPUs have, which round them by an instruction or two."""

LONGEST_LINE = 100
"""Characters of a function's head beyond which every parameter gets a line."""

ALLOCATIONS = (memref.AllocaOp, memref.AllocOp)

Function = gpu.FuncOp | func.FuncOp


@dataclass
class Prelude:
    """Declarations before the functions of a program."""

    helpers: dict[str, str] = field(default_factory=dict[str, str])
    uses_double: bool = False


def symbol(op: gpu.ModuleOp | Function) -> str:
    """The name of a function or module."""
    return op.sym_name.data


def message(op: Operation, place: str, reason: str) -> str:
    """Text of an error: the op, its place and the reason."""
    if (location := place_of(op)) is not None:
        place += f" ({location.filename.data}:{location.line.data}:{location.column.data})"
    return f"opencl: cannot print '{op_name(op)}' in {place}: {reason}"


@dataclass(frozen=True)
class ArgumentAccess:
    """Access of a function to the memory of an argument."""

    reads: bool = False
    writes: bool = False

    def __or__(self, other: ArgumentAccess) -> ArgumentAccess:
        return ArgumentAccess(self.reads or other.reads, self.writes or other.writes)


def _is_stored(use: Use) -> bool:
    """Whether a use of a vector writes it to memory."""
    return isinstance(use.operation, vector.StoreOp) and use.index == 0


BOTH = ArgumentAccess(reads=True, writes=True)
ACCESSES: dict[type[Operation], tuple[int, ArgumentAccess]] = {
    memref.LoadOp: (0, ArgumentAccess(reads=True)),
    vector.LoadOp: (0, ArgumentAccess(reads=True)),
    memref.StoreOp: (1, ArgumentAccess(writes=True)),
    vector.StoreOp: (1, ArgumentAccess(writes=True)),
    memref.AtomicRMWOp: (1, BOTH),
    FragmentOp: (0, ArgumentAccess(reads=True)),
    CopyOp: (0, ArgumentAccess(reads=True)),
    PrefetchOp: (0, ArgumentAccess()),
    upstream.PrefetchOp: (0, ArgumentAccess()),
    LoadOp: (0, ArgumentAccess(reads=True)),
    StoreOp: (1, ArgumentAccess(writes=True)),
    memref.DimOp: (0, ArgumentAccess()),
    memref.RankOp: (0, ArgumentAccess()),
}


def access(value: SSAValue, functions: dict[str, Function]) -> ArgumentAccess:
    """Accesses to the memory of a memref, through views and calls too."""
    result = ArgumentAccess()
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


def sub_group_sizes(ops: Iterable[Operation]) -> list[int]:
    """The sizes that the sub-groups of a function of these ops must have."""
    return sorted({op.size.value.data for op in ops if type(op) is ShuffleOp})


def is_read_as_vector(value: SSAValue) -> bool:
    """Whether an access to several elements at once reaches the memref, through views too."""
    return any(
        isinstance(use.operation, vector.LoadOp | vector.StoreOp | FragmentOp | CopyOp)
        or (type(use.operation) in VIEWS and is_read_as_vector(use.operation.results[0]))
        for use in value.uses
    )


class FunctionPrinter(MemoryScope):
    """Prints one function."""

    def __init__(
        self,
        prelude: Prelude,
        statements: Mapping[type[Operation], Statement],
        functions: dict[str, Function],
        function: Function,
        bits: int,
    ):
        self.prelude = prelude
        self.statements = statements
        self.functions = functions
        self.function = function
        self.index_bits = bits
        self.op: Operation = function
        self.inlining = Inlining(function)
        self.has_bf16 = has_bf16(self.inlining.ops)
        self.lines: list[str] = []
        self.indent = 1
        self.scopes: list[set[str]] = [set(functions)]
        self.counts: list[dict[str, int]] = [{}]
        """The last number that was added to a hint to make a name, in each scope."""
        self.ctypes: dict[int, tuple[Attribute, CType]] = {}
        """C types by the identity of types, which are kept for it."""
        self.values: dict[SSAValue, Expr] = {}
        self.buffers: dict[SSAValue, Buffer] = {}
        self.variables: dict[str, list[SSAValue]] = {}
        """The variables that change, and the values that they hold in turn."""
        self.is_kernel = is_kernel(function)
        self.is_lone = set(self._group_size(function)) == {1}

    # What the emitters ask

    @override
    def expr(self, value: SSAValue) -> Expr:
        if value not in self.values:
            raise self.error(f"no value of type {value.type} in OpenCL C")
        return self.values[value]

    @override
    def ctype(self, type: Attribute) -> CType:
        # A type's hash is worked out each time, and there are few that stand for all.
        key = id(type)
        if key not in self.ctypes:
            result = c_type(type, self.index_bits)
            if result is None:
                raise self.error(f"no type {type} in OpenCL C")
            self.prelude.uses_double |= result.base == "double"
            self.ctypes[key] = type, result
        return self.ctypes[key][1]

    @override
    def helper(self, name: str, text: str) -> str:
        self.prelude.helpers.setdefault(name, text)
        return name

    @override
    def error(self, reason: str) -> OpenCLError:
        return OpenCLError(message(self.op, f"@{symbol(self.function)}", reason))

    @override
    def buffer(self, value: SSAValue) -> Buffer:
        if value not in self.buffers:
            raise self.error(f"the buffer of the {value.type} is not known")
        return self.buffers[value]

    @override
    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @override
    def define(self, value: SSAValue, e: Expr) -> None:
        if not self.inlining.uses(value):
            return
        if e.unrounded_float is not None and self._stores_half(value):
            self._define_bits(value, e.unrounded_float)
            return
        name = self.new_name(value.name_hint)
        self.line(f"{self.ctype(value.type).name} {name} = {e.assigned};")
        self.values[value] = variable(name)

    def _stores_half(self, value: SSAValue) -> bool:
        """Whether a long vector of halves is stored: rounded once, not where it is stored, too."""
        is_long = isinstance(value.type, VectorType) and value.type.element_count() >= LONG_HALVES
        return is_long and any(_is_stored(use) for use in self.inlining.uses(value))

    def _define_bits(self, value: SSAValue, unrounded: Expr) -> None:
        """Declare variables for the bits of halves, and for their values if these are needed."""
        type = self.ctype(value.type)
        bits = self.new_name(f"{value.name_hint or 'half'}_bits")
        number = call(helpers.half_to_bits(self, type), unrounded)
        self.line(f"{bits_of(type).name} {bits} = {number.text};")
        e = call(helpers.half_from_bits(self, type), variable(bits))
        if not all(_is_stored(use) for use in self.inlining.uses(value)):
            name = self.new_name(value.name_hint)
            self.line(f"{type.name} {name} = {e.text};")
            e = variable(name)
        self.values[value] = e._replace(bits=variable(bits))

    # Names and variables

    def new_name(self, hint: str | None, default: str = "v", longest: int = LONGEST) -> str:
        """A name that nothing visible has."""
        base = sanitized(hint, longest) if hint else default
        count = max(counts.get(base, -1) for counts in self.counts) + 1
        while any((name := f"{base}_{count}" if count else base) in s for s in self.scopes):
            count += 1
        self.scopes[-1].add(name)
        self.counts[-1][base] = count
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
        """Let the variable hold the value from here on."""
        self.values[value] = variable(name)
        self.variables[name].append(value)

    def rebind(self, value: SSAValue, name: str) -> None:
        """Let the variable hold only the value: nothing reads its old ones again."""
        self.variables[name].clear()
        self.bind(value, name)

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
    def nested(self) -> Generator[None]:
        """A block of C."""
        self.indent += 1
        self.scopes.append(set())
        self.counts.append({})
        yield
        self.counts.pop()
        for name in self.scopes.pop():
            self.variables.pop(name, None)
        self.indent -= 1

    # Functions

    def text(self) -> str:
        """The function."""
        body = self.function.body
        if not body.blocks:
            raise self.error("the function has no body")
        parameters = [self.parameter(a) for a in body.blocks[0].args]
        results = self.function.function_type.outputs.data
        if len(results) > 1:
            raise self.error("a function of OpenCL C has one result")
        result = self.ctype(results[0]).name if results else "void"
        head = f"{'__kernel' if self.is_kernel else 'static inline'}{self.attributes()} {result}"
        for op in self.inlining.ops:
            if type(op) in ALLOCATIONS:
                assert isinstance(op, memref.AllocaOp | memref.AllocOp)
                self.op = op
                if space_of(self, op.memref.type, PRIVATE) == LOCAL:
                    self.declare_array(op, LOCAL)
        self.block(self.single_block(body))
        lines = "\n".join(self.lines)
        head += f" {symbol(self.function)}({', '.join(parameters)})"
        if len(head) > LONGEST_LINE:
            head = head[: head.index(parameters[0])] + "\n    " + ",\n    ".join(parameters) + ")"
        return f"{head}\n{{\n{lines}\n}}"

    @staticmethod
    def _group_size(f: Function) -> list[int]:
        """Number of work-items of a group along each axis; empty if it is not known."""
        if not isinstance(f, gpu.FuncOp) or f.known_block_size is None:
            return []
        return [*map(int, f.known_block_size.get_values()), 1, 1, 1][:3]

    def attributes(self) -> str:
        """Attributes of a kernel: sizes of its groups, and hints for the compiler."""
        f = self.function
        if not self.is_kernel:
            return ""
        found = "".join(f" {sub_groups_of(self, n)}" for n in sub_group_sizes(self.inlining.ops))
        if sizes := self._group_size(f):
            found += f" __attribute__((reqd_work_group_size({', '.join(map(str, sizes))})))"
        return found

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
            declared = f"{const}{space} {type.memory} *{restrict}{name}"
            if not is_part(value):
                return declared
            # Plans on disk are checked by the name.
            start = self.new_name(own := f"{name}_start", longest=len(own))
            self.line(f"{name} += {start};")
            return f"{declared}, long {start}"
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
        """Print an op that is not dead."""
        cls = type(op)
        if self.has_bf16 and computes_with_bf16(op):
            raise self.error("arithmetic on bf16 must be in f32: run gpu-widen-bf16 first")
        if cls in VIEWS:
            self.buffers[op.results[0]] = VIEWS[cls](self, op)
        elif cls in WRITES:
            WRITES[cls](self, op)
        elif cls in self.statements:
            self.statements[cls](self, op)
        elif cls in LOADS:
            self.print_value(op, LOADS[cls](self, op))
        elif cls in PURE:
            self.print_value(op, PURE[cls](self, op))
        else:
            raise self.error(UNSUPPORTED.get(op.name, "OpenCL C has no equivalent"))

    def print_value(self, op: Operation, e: Expr) -> None:
        """Keep an expression for its use, or declare a variable for it."""
        is_short = len(e.text) <= LONGEST_INLINED or _is_contracted(op)
        if self.inlining.is_inlined(op) and is_short:
            self.values[op.results[0]] = e
        else:
            self.define(op.results[0], e)

    def declare_array(self, op: memref.AllocaOp | memref.AllocOp, space: str) -> None:
        """The array behind an allocation."""
        if not op.memref.uses:
            return
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
            raise self.error(f"@{symbol(callee)} does not take a {buffer.space} pointer")
        offset, _ = layout(self, parameter.type)
        return pointer(buffer, int_literal(0, 32) if offset else buffer.offset.expr).text


Statement = Callable[[FunctionPrinter, Operation], None]
"""Prints an op that is not an expression."""

UNSUPPORTED = {
    "scf.parallel": "the iterations of a kernel are its work-items",
    "gpu.lane_id": "OpenCL C 1.2 has no subgroups",
    "gpu.subgroup_id": "OpenCL C 1.2 has no subgroups",
    "gpu.subgroup_size": "OpenCL C 1.2 has no subgroups",
    "gpu.num_subgroups": "OpenCL C 1.2 has no subgroups",
    "builtin.unrealized_conversion_cast": "a conversion was left unfinished",
}


def _is_contracted(op: Operation) -> bool:
    """Whether an op is a product that is added: compilers make one instruction of both where they
    stand in one expression."""
    users = [use.operation for use in op.results[0].uses]
    return isinstance(op, arith.MulfOp) and all(
        isinstance(user, arith.AddfOp | arith.SubfOp) for user in users
    )
