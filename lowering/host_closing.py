"""The host functions of kernels for all sizes, for inputs of certain shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, func, gpu, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.errors import TileError
from tiledialect.signature import find_function, kernels_of
from tiledialect.size_arithmetic import SIZE_ARITHMETIC

UNSIGNED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.DivUIOp: lambda a, b: a // b,
    arith.RemUIOp: lambda a, b: a % b,
    arith.ShRSIOp: lambda a, b: a >> b,
    arith.AndIOp: lambda a, b: a & b,
}
"""Arithmetic on sizes that are not negative."""

ARITHMETIC = {**SIZE_ARITHMETIC, **UNSIGNED}


def closed(module: ModuleOp, name: str, shapes: Sequence[Sequence[int]]) -> ModuleOp:
    """The module with numbers in the place of what the host computes from the inputs' shapes.

    Its kernels stay as they are: they serve all shapes.
    """
    module = module.clone()
    _Closing(module, find_function(module, name)).run(shapes)
    return module


class _Closing:
    def __init__(self, module: ModuleOp, host: func.FuncOp):
        self.host = host
        self.numbers: dict[SSAValue, int] = {}
        self.kernels = kernels_of(module)

    def run(self, shapes: Sequence[Sequence[int]]) -> None:
        block = self.host.body.block
        for argument, shape in zip(list(block.args), shapes, strict=True):
            Rewriter.replace_value_with_new_type(argument, _with_shape(argument.type, shape))
        for op in list(block.ops):
            if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
                self.numbers[op.result] = op.value.value.data
            elif isinstance(op, memref.DimOp):
                assert isinstance(op.source.type, MemRefType)
                self._replace(op, op.source.type.get_shape()[self._number(op, op.index)])
            elif (compute := ARITHMETIC.get(type(op))) is not None:
                self._replace(op, compute(*(self._number(op, v) for v in op.operands)))
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
            raise TileError.at(op, "the host computes sizes from those of its inputs alone")
        return self.numbers[value]

    def _replace(self, op: Operation, number: int) -> None:
        new = arith.ConstantOp(IntegerAttr(number, IndexType()))
        new.result.name_hint = op.results[0].name_hint
        Rewriter.replace_op(op, new)
        self.numbers[new.result] = number

    def _filled(self, op: Operation, t: Attribute, sizes: Sequence[SSAValue]) -> list[int]:
        """A memref's shape, its open sizes filled in."""
        assert isinstance(t, MemRefType)
        rest = iter([self._number(op, v) for v in sizes])
        return [next(rest) if size == DYNAMIC_INDEX else size for size in t.get_shape()]

    def _allocation(self, op: gpu.AllocOp) -> None:
        shape = self._filled(op, op.result.type, op.dynamicSizes)
        new = gpu.AllocOp(_with_shape(op.result.type, shape))
        new.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, new)

    def _cast(self, op: memref.ReinterpretCastOp) -> None:
        shape = self._filled(op, op.result.type, op.sizes)
        t = _with_shape(op.result.type, shape)
        new = memref.ReinterpretCastOp.from_dynamic(op.source, [0], shape, [1], t)
        new.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, new)

    def _launch(self, op: gpu.LaunchFuncOp) -> None:
        """The kernel takes memrefs of any size."""
        module, kernel = op.kernel.root_reference, op.kernel.nested_references.data[0]
        parameters = self.kernels[module.data, kernel.data].body.block.arg_types
        first = len(op.operands) - len(op.kernelOperands)
        for k, (value, t) in enumerate(zip(op.kernelOperands, parameters, strict=True)):
            if value.type != t:
                cast = memref.CastOp.get(value, t)  # pyright: ignore[reportArgumentType]
                Rewriter.insert_op(cast, InsertPoint.before(op))
                op.operands[first + k] = cast.results[0]


def _with_shape(t: Attribute, shape: Sequence[int]) -> MemRefType[Attribute]:
    assert isinstance(t, MemRefType)
    return MemRefType(t.element_type, shape, t.layout, t.memory_space)
