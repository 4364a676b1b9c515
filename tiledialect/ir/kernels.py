"""Kernels among functions of the `gpu` dialect."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects import gpu
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
