"""The host functions of kernels for all sizes, for inputs of certain shapes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, gpu, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.errors import TileError
from tiledialect.ir.host_functions import kernel_of
from tiledialect.ir.names import with_type
from tiledialect.ir.signature import find_function, kernels_of
from tiledialect.ir.size_arithmetic import INTEGER_OPS, computed_integer


def bind_shapes(module: ModuleOp, name: str, shapes: Sequence[Sequence[int]]) -> ModuleOp:
    """The module with numbers for the values that the host computes from the inputs' shapes.

    The kernels stay as they are: they serve all shapes.
    """
    module = module.clone()
    _ShapeBinding(module, find_function(module, name)).run(shapes)
    return module


class _ShapeBinding:
    def __init__(self, module: ModuleOp, host: func.FuncOp):
        self.host = host
        self.numbers: dict[SSAValue, int] = {}
        self.kernels = kernels_of(module)

    def run(self, shapes: Sequence[Sequence[int]]) -> None:
        block = self.host.body.block
        for argument, shape in zip(list(block.args), shapes, strict=True):
            with_type(argument, _with_shape(argument.type, shape))
        for op in list(block.ops):
            if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
                self.numbers[op.result] = op.value.value.data
            elif isinstance(op, memref.DimOp):
                assert isinstance(op.source.type, MemRefType)
                shape, axis = op.source.type.get_shape(), self._number(op, op.index)
                if not 0 <= axis < len(shape):
                    raise TileError.at(op, f"{op.source.type} has no dimension {axis}")
                self._replace(op, shape[axis])
            elif isinstance(op, INTEGER_OPS):
                numbers = [self._number(op, v) for v in op.operands]
                try:
                    number = computed_integer(op, numbers)
                except (ArithmeticError, ValueError):
                    number = None
                if number is None:
                    raise TileError.at(op, f"{op.name} of {numbers} is no number")
                self._replace(op, number)
            elif isinstance(op, gpu.AllocOp) and op.dynamicSizes:
                self._allocation(op)
            elif isinstance(op, memref.ReinterpretCastOp) and op.sizes:
                self._cast(op)
            elif isinstance(op, gpu.LaunchFuncOp):
                self._launch(op)
        outputs = [v.type for v in block.last_op.operands] if block.last_op else []
        self.host.properties["function_type"] = FunctionType.from_lists(block.arg_types, outputs)

    def _number(self, op: Operation, value: SSAValue) -> int:
        if value not in self.numbers:
            raise TileError.at(op, "the host computes sizes from sizes of inputs alone")
        return self.numbers[value]

    def _replace(self, op: Operation, number: int) -> None:
        t = op.results[0].type
        assert isinstance(t, IndexType | IntegerType)
        new = arith.ConstantOp(IntegerAttr(number, t))
        new.result.name_hint = op.results[0].name_hint
        Rewriter.replace_op(op, new)
        self.numbers[new.result] = number

    def _filled(self, op: Operation, t: Attribute, sizes: Sequence[SSAValue]) -> list[int]:
        """A memref's shape, its open sizes filled in."""
        assert isinstance(t, MemRefType)
        rest = iter([self._number(op, v) for v in sizes])
        shape = [next(rest) if size == DYNAMIC_INDEX else size for size in t.get_shape()]
        if min(shape, default=0) < 0:
            raise TileError.at(op, f"a size of this array is below 0: {shape}")
        return shape

    def _allocation(self, op: gpu.AllocOp) -> None:
        shape = self._filled(op, op.result.type, op.dynamicSizes)
        new = gpu.AllocOp(_with_shape(op.result.type, shape))
        new.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, new)

    def _cast(self, op: memref.ReinterpretCastOp) -> None:
        if op.offsets or op.strides:
            raise TileError.at(op, "the host needs memrefs at known places, with known strides")
        shape = self._filled(op, op.result.type, op.sizes)
        t = _with_shape(op.result.type, shape)
        offsets, strides = op.static_offsets.get_values(), op.static_strides.get_values()
        new = memref.ReinterpretCastOp.from_dynamic(op.source, offsets, shape, strides, t)
        new.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, new)

    def _launch(self, op: gpu.LaunchFuncOp) -> None:
        """The kernel takes memrefs of any size."""
        kernel = kernel_of(op, self.kernels)
        first = len(op.operands) - len(op.kernelOperands)
        for k, (value, t) in enumerate(
            zip(op.kernelOperands, kernel.body.block.arg_types, strict=False)
        ):
            if isinstance(t, MemRefType) and not t.has_static_shape() and value.type != t:
                cast = memref.CastOp.get(value, t)
                Rewriter.insert_op(cast, InsertPoint.before(op))
                op.operands[first + k] = cast.results[0]


def _with_shape(t: Attribute, shape: Sequence[int]) -> MemRefType[Attribute]:
    assert isinstance(t, MemRefType)
    return MemRefType(t.element_type, shape, t.layout, t.memory_space)
