"""Kernels among functions of the `gpu` dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

KERNEL = "gpu.kernel"
"""Attribute of kernels in upstream MLIR, where xDSL has a property."""


def is_kernel(op: Operation) -> TypeGuard[gpu.FuncOp]:
    """Whether an op is a kernel, by xDSL's mark or upstream's."""
    return isinstance(op, gpu.FuncOp) and (op.kernel is not None or KERNEL in op.attributes)


def mark_kernel(function: gpu.FuncOp) -> None:
    """Mark a function as a kernel, for xDSL and upstream."""
    function.kernel = function.attributes[KERNEL] = UnitAttr()


def called_kernels(
    kernel: gpu.FuncOp, kernels: Mapping[str, gpu.FuncOp]
) -> list[tuple[func.CallOp, gpu.FuncOp]]:
    """Calls of other kernels that a kernel consists of; none if it has other ops."""
    *calls, _ = kernel.body.block.ops
    found = [
        (op, kernels[name])
        for op in calls
        if isinstance(op, func.CallOp) and (name := op.callee.root_reference.data) in kernels
    ]
    return found if len(found) == len(calls) else []


def kernels_by_name(module: gpu.ModuleOp) -> dict[str, gpu.FuncOp]:
    """Functions of a module of kernels by their names."""
    return {f.sym_name.data: f for f in module.body.ops if isinstance(f, gpu.FuncOp)}
