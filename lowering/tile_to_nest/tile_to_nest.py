"""tile-to-nest: lower scheduled kernels to nests in a `gpu.module`, functions to host functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    i32,
    i64,
)
from xdsl.dialects.dlti import DataLayoutEntryAttr, DataLayoutSpecAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.adjacent_parts import needless_copies
from tiledialect.analysis.memory_updates import UpdatedMemory, updates
from tiledialect.dialects.discardable import BESIDE, ELEMENT_TYPE, IN_PLACE, NAME, UPDATES
from tiledialect.dialects.tile.base import TileOp
from tiledialect.dialects.tile.element_types import CONCRETE, is_unsigned
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.errors import TileError
from tiledialect.ir.control_flow import has_control_flow
from tiledialect.ir.dense_constants import dense_constant
from tiledialect.ir.names import given_name, to_hint
from tiledialect.ir.ops_in import has_one_block, ops_of
from tiledialect.ir.structural_hash import structural_hash
from tiledialect.ir.target_spec import limit, platform
from tiledialect.lowering.names import sanitized
from tiledialect.lowering.nest.utils.device_limits import check_fits
from tiledialect.lowering.tile_to_nest.control_flow import ControlFlow, not_lowered
from tiledialect.lowering.tile_to_nest.global_arrays import GlobalArrays
from tiledialect.lowering.tile_to_nest.index_width import index_width
from tiledialect.lowering.tile_to_nest.kernel import (
    KernelLaunch,
    buffer_type,
    initial_input,
    read_inputs,
)
from tiledialect.lowering.tile_to_nest.kernel_nest import kernel_nest
from tiledialect.schedule.instructions import find, refusal

NestOf = Callable[[KernelOp, str], KernelLaunch]
"""Builder of the function of a scheduled kernel, of this name."""
Labels = Mapping[KernelOp, Mapping[str, Attribute]]
"""Attributes of the launches of kernels."""


@dataclass
class HostFunction:
    """Builds the host's side of a function: allocations, launches, and the return."""

    source: func.FuncOp
    module_name: str
    launches: dict[Hashable, KernelLaunch] = field(default_factory=dict[Hashable, KernelLaunch])
    """Launches by structural hash: identical kernels are made once."""
    kernels: list[KernelOp] = field(default_factory=list[KernelOp])
    """Sources of the launched kernels."""
    nest: NestOf = kernel_nest
    labels: Labels = field(default_factory=dict[KernelOp, Mapping[str, Attribute]])

    def __post_init__(self):
        types = [buffer_type(arg.type) for arg in self.source.body.block.args]
        self.block = Block(arg_types=types)
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.buffers: dict[SSAValue, SSAValue] = {}
        for old, new in zip(self.source.body.block.args, self.block.args, strict=True):
            new.name_hint = old.name_hint
            self.buffers[old] = new
        self.origin: dict[SSAValue, SSAValue] = {b: b for b in self.block.args}
        """Allocation, or argument, behind each buffer."""
        self.constants: dict[int, SSAValue] = {}
        self.arrays = GlobalArrays(self.source.sym_name.data)
        self.updated = UpdatedMemory(self.source)
        self.needless = needless_copies(self.source)
        self.initial_input = cache(initial_input)
        """Number of the input that is a kernel's initial value."""

    def build(self) -> func.FuncOp:
        """Build the host function."""
        last_uses = self._last_uses()
        for op in self.source.body.block.ops:
            if isinstance(op, KernelOp):
                self._kernel(op)
            elif isinstance(op, ReshapeOp):
                self._reshape(op)
            elif isinstance(op, func.ReturnOp):
                return self._finish(op)
            elif op.results and (value := dense_constant(op.results[0])) is not None:
                buffer = self.arrays.get(value, self.builder, op.results[0])
                self._alias(op.results[0], buffer, self.origin.setdefault(buffer, buffer))
            elif isinstance(op, TileOp) and not isinstance(op, ConstantOp):
                raise TileError.at(op, f"{op.name} must be in a kernel: run tile-fuse first")
            elif not isinstance(op, ConstantOp):
                raise not_lowered(op)
            for value in last_uses.get(op, ()):
                self.builder.insert(gpu.DeallocOp(self.origin[self.buffers[value]]))
        raise TileError.at(self.source, "the function does not return")

    # -- the ops ---------------------------------------------------------------------------

    def _kernel(self, op: KernelOp) -> None:
        start = self.initial_input(op)
        if (written_over := overwritten(op, start)) is not None:
            buffer = self.buffers[written_over]
            self._alias(op.outputs[0], buffer, buffer)
        else:
            for value in op.outputs:
                self._place(value)
            if start is not None:
                self._fill(op.outputs[0], op.inputs[start])
        name = to_hint(given_name(op.outputs[0]) or "kernel")
        self._mark_in_place(op)
        values = (*(op.inputs[k] for k in read_inputs(op)), *op.outputs)
        launch = self._launch(op, name, [self.buffers[v] for v in values])
        if launch is not None and (places := self.needless.get(op)):
            # Says where the operands may lie in the result.
            launch.attributes[BESIDE] = DenseArrayBase.from_list(i64, [*places, 0])

    def _place(self, value: SSAValue) -> None:
        """Give a kernel's result memory: that of the argument that it updates, or memory of its
        own."""
        home = self.updated.homes.get(value)
        if home is None:
            self._allocate(value)
        elif value.type == home.type:
            self._alias(value, self.buffers[home], self.buffers[home])
        else:
            self._view(value, self.buffers[home])

    def _fill(self, result: SSAValue, start: SSAValue) -> None:
        """Copy the initial value of a result, unless it is there."""
        source, target = self.buffers[start], self.buffers[result]
        if self.origin[source] is not self.origin[target]:
            self.builder.insert(gpu.MemcpyOp(source, target))

    def _mark_in_place(self, kernel: KernelOp) -> None:
        """Say of a kernel which inputs lie where a result is written."""
        if in_place := self.updated.in_place(kernel):
            numbers = [in_place.get(k, -1) for k in range(len(kernel.inputs))]
            kernel.attributes[IN_PLACE] = DenseArrayBase.from_list(i32, numbers)

    def _launch(
        self, kernel: KernelOp, hint: str, operands: Sequence[SSAValue]
    ) -> gpu.LaunchFuncOp | None:
        """Launch a kernel; None if it has no elements."""
        key = structural_hash(kernel)
        if (launch := self.launches.get(key)) is None:
            launch = self.nest(kernel, self.kernel_name(hint))
            if not prod((*launch.grid, *launch.block)):
                return None
            self.launches[key] = launch
            self.kernels.append(kernel)
        callee = SymbolRefAttr(self.module_name, [launch.function.sym_name.data])
        made = gpu.LaunchFuncOp(
            callee,
            [self._constant(n) for n in launch.grid],
            [self._constant(n) for n in launch.block],
            kernelOperands=operands,
        )
        made.attributes.update(self.labels.get(kernel, {}))
        return self.builder.insert(made)

    @property
    def functions(self) -> list[gpu.FuncOp]:
        """Kernel functions."""
        return [launch.function for launch in self.launches.values()]

    def kernel_name(self, hint: str) -> str:
        """Name of the next kernel."""
        return sanitized(f"{self.source.sym_name.data}_{len(self.functions)}_{hint}")

    def _reshape(self, op: ReshapeOp) -> None:
        self._view(op.result, self.buffers[op.operand])

    def _view(self, value: SSAValue, source: SSAValue) -> None:
        """Let a value lie in a buffer of as many elements."""
        t = buffer_type(value.type)
        shape = t.get_shape()
        strides = [prod(shape[k + 1 :]) for k in range(len(shape))]
        cast = memref.ReinterpretCastOp.from_dynamic(source, [0], list(shape), strides, t)
        self.builder.insert(cast)
        self._alias(value, cast.results[0], source)
        cast.results[0].name_hint = value.name_hint

    def _alias(self, value: SSAValue, buffer: SSAValue, source: SSAValue) -> None:
        """Let a value lie in a buffer that is (a view of) another one."""
        self.buffers[value] = buffer
        self.origin[buffer] = self.origin[source]

    def _allocate(self, value: SSAValue) -> SSAValue:
        buffer = self.builder.insert(gpu.AllocOp(buffer_type(value.type))).result
        buffer.name_hint = value.name_hint
        self.buffers[value] = buffer
        self.origin[buffer] = buffer
        return buffer

    def _constant(self, value: int) -> SSAValue:
        if value not in self.constants:
            op = arith.ConstantOp(IntegerAttr(value, IndexType()))
            self.constants[value] = self.builder.insert(op).result
        return self.constants[value]

    # -- lifetimes -------------------------------------------------------------------------

    def _last_uses(self) -> dict[Operation, list[SSAValue]]:
        """Values, not returned, whose last use is an op.

        Views keep their source alive, and so do results that are written over their initial value.
        """
        source: dict[SSAValue, SSAValue] = {}
        last: dict[SSAValue, Operation] = {}
        for op in self.source.body.block.ops:
            for value in (*op.operands, *(op.results if isinstance(op, KernelOp) else ())):
                last[source.get(value, value)] = op
            if isinstance(op, ReshapeOp):
                source[op.result] = source.get(op.operand, op.operand)
            elif isinstance(op, KernelOp):
                start = overwritten(op, self.initial_input(op))
                if start is not None:
                    origin = source[op.outputs[0]] = source.get(start, start)
                    last[origin] = last.pop(op.outputs[0])
        result: dict[Operation, list[SSAValue]] = {}
        for value, op in last.items():
            if isinstance(value.owner, KernelOp) and not isinstance(op, func.ReturnOp):
                result.setdefault(op, []).append(value)
        return result

    def _finish(self, op: func.ReturnOp) -> func.FuncOp:
        """Return buffers of their own: not an argument's but that which is updated, and none
        twice."""
        returned: list[SSAValue] = []
        taken = {b for b in self.origin.values() if not isinstance(b.owner, gpu.AllocOp)}
        placed = updates(self.source).keys() - self.updated.displaced.keys()
        for k, value in enumerate(op.operands):
            buffer = self.buffers[value]
            if self.origin[buffer] in taken and k not in placed:
                copy = self._allocate(value)
                self.builder.insert(gpu.MemcpyOp(buffer, copy))
                buffer = copy
            taken.add(self.origin[buffer])
            returned.append(buffer)
        return self.finish(returned)

    def finish(self, returned: Sequence[SSAValue]) -> func.FuncOp:
        """Finish the host function, which returns these buffers."""
        return host_function(self.source, self.block, returned)


def host_function(source: func.FuncOp, block: Block, returned: Sequence[SSAValue]) -> func.FuncOp:
    """Host function of a function of tensors, with a body that returns these buffers."""
    block.add_op(func.ReturnOp(*returned))
    types = FunctionType.from_lists(block.arg_types, [v.type for v in returned])
    function = func.FuncOp(source.sym_name.data, types, Region(block))
    function.arg_attrs = _attributes(source.arg_attrs, source.function_type.inputs)
    function.res_attrs = _attributes(source.res_attrs, source.function_type.outputs)
    function.location = source.location
    return function


def overwritten(kernel: KernelOp, number: int | None) -> SSAValue | None:
    """Initial value of a kernel, its input of that number, if the kernel can write over it.

    It can if neither the value nor its source before reshapes has other uses.
    """
    if number is None:
        return None
    start = source = kernel.inputs[number]
    while isinstance(source.owner, ReshapeOp) and source.has_one_use():
        source = source.owner.operand
    return start if isinstance(source.owner, KernelOp) and source.has_one_use() else None


def _attributes(
    given: ArrayAttr[DictionaryAttr] | None, types: ArrayAttr[Attribute]
) -> ArrayAttr[DictionaryAttr]:
    """Name of each argument or result, and its element type where its sign would be lost."""
    entries: list[DictionaryAttr] = []
    for k, t in enumerate(types):
        assert isinstance(t, TensorType)
        old = given.data[k].data if given is not None else {}
        entry: dict[str, Attribute] = {key: old[key] for key in (NAME, UPDATES) if key in old}
        if is_unsigned(t.element_type):
            entry[ELEMENT_TYPE] = t.element_type
        entries.append(DictionaryAttr(entry))
    return ArrayAttr(entries)


def lower_function(function: func.FuncOp, nest: NestOf, labels: Labels) -> list[Operation]:
    """Lower a function of scheduled kernels to the kernels' module, constants, and the host."""
    name = f"{function.sym_name.data}_kernels"
    host = HostFunction(function, name, nest=nest, labels=labels)
    built = host.build()
    module = kernel_module(host.module_name, host.functions, index_width(host.kernels))
    return [module, *host.arrays.kept.values(), built]


def kernel_module(name: str, kernels: Sequence[Operation], bits: int) -> gpu.ModuleOp:
    """Build a module of kernels with a width of index arithmetic."""
    module = gpu.ModuleOp(SymbolRefAttr(name), Region(Block(kernels)))
    module.properties["sym_name"] = StringAttr(name)
    width = DataLayoutEntryAttr(IndexType(), IntegerAttr(bits, i32))
    module.attributes["dlti.dl_spec"] = DataLayoutSpecAttr(ArrayAttr([width]))
    return module


def _check_instructions(function: func.FuncOp, platform: str | None, capability: int) -> None:
    """Refuse instructions that the device does not have, if it is known."""
    for kernel in ops_of(function, KernelOp):
        if platform is None or kernel.schedule is None or kernel.schedule.data.instruction is None:
            continue
        entry = find(kernel.schedule.data.instruction.name)
        if reason := refusal(entry, platform, capability):
            raise TileError.at(kernel, reason)


class TileToNestPass(ModulePass):
    """Lowers functions of scheduled kernels to nests in `gpu.module`s, and host functions.

    Functions on tensors whose types are not all known stay, if there are others. A kernel becomes a
    `gpu.func` that holds a nest; one that leaves elements of its output unwritten writes over its
    default, or a copy of that where it is needed elsewhere. A result that updates an argument
    (`tile.updates`) is written there where the argument has no other use later, and the kernel
    reads no other elements of it than it writes. Where elements stay as they are along whole loops,
    these are skipped. Kernels that do not fit the module's
    device, as its DLTI target spec describes it, are refused: too large work-groups, too much local
    memory.
    """

    name = "tile-to-nest"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function on tensors of known types; a TileError if all others remain."""
        lower_to_nests(op)


def lower_to_nests(op: ModuleOp, nest: NestOf = kernel_nest, labels: Labels | None = None) -> None:
    """Lower every function on tensors of known types, with kernels from ``nest``."""
    functions = [f for f in ops_of(op, func.FuncOp) if _has_tensors(f)]
    specialized = [f for f in functions if all(map(_is_specialized, _types(f)))]
    if functions and not specialized:
        name, types = functions[0].sym_name.data, functions[0].function_type.inputs
        given = ", ".join(map(str, types))
        raise TileError(f"{name} takes {given}: run tile-specialize first")
    parts: dict[str, func.FuncOp] = {}
    """Lowered functions by their names."""
    outer = [f for f in specialized if has_control_flow(f)]
    for function in [f for f in specialized if f not in outer]:
        _check_instructions(function, platform(op), limit(op, "compute_capability", 0))
        lowered = lower_function(function, nest, labels or {})
        for kernel in ops_of(lowered[0], gpu.FuncOp):
            check_fits(op, kernel)
        Rewriter.replace_op(function, lowered, [])
        host = lowered[-1]
        assert isinstance(host, func.FuncOp)
        parts[function.sym_name.data] = host
        op.attributes["gpu.container_module"] = UnitAttr()
    for function in outer:
        _lower_control_flow(function, parts)


def _lower_control_flow(function: func.FuncOp, parts: Mapping[str, func.FuncOp]) -> None:
    """Replace a function of loops, branches and calls, with the functions that it calls."""
    called = dict.fromkeys(c.callee.root_reference.data for c in ops_of(function, func.CallOp))
    control = ControlFlow(function, parts)
    returned = control.build()
    new = [*control.arrays.kept.values(), host_function(function, control.block, returned)]
    Rewriter.replace_op(function, new, [])
    for name in called:
        Rewriter.erase_op(parts[name])


def _types(function: func.FuncOp) -> tuple[Attribute, ...]:
    return (*function.function_type.inputs, *function.function_type.outputs)


def _has_tensors(function: func.FuncOp) -> bool:
    return has_one_block(function) and any(
        isinstance(t, TensorType | UnrankedTensorType) for t in _types(function)
    )


def _is_specialized(t: Attribute) -> bool:
    if not isinstance(t, TensorType):
        return False
    return t.has_static_shape() and t.element_type in CONCRETE.values()
