"""Kernels among functions of the `gpu` dialect."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects import gpu
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

Sizes = tuple[int, int, int]

KERNEL = "gpu.kernel"
"""Attribute of kernels in upstream MLIR, where xDSL has a property."""


def is_kernel(op: Operation) -> TypeGuard[gpu.FuncOp]:
    """Whether an op is a kernel, by xDSL's mark or upstream's."""
    return isinstance(op, gpu.FuncOp) and (op.kernel is not None or KERNEL in op.attributes)


def mark_kernel(function: gpu.FuncOp) -> None:
    """Mark a function as a kernel, for xDSL and upstream."""
    function.kernel = function.attributes[KERNEL] = UnitAttr()


def kernels_by_name(module: gpu.ModuleOp) -> dict[str, gpu.FuncOp]:
    """Functions of a module of kernels by their names."""
    return {f.sym_name.data: f for f in module.body.ops if isinstance(f, gpu.FuncOp)}


def sizes_of(kernel: gpu.FuncOp) -> tuple[Sizes, Sizes]:
    """Sizes of a kernel's grid and of its work-groups along x, y and z; 0 where they are not
    known."""
    known = kernel.known_grid_size, kernel.known_block_size
    grid, block = ([*map(int, n.get_values()), 1, 1] if n else [0, 1, 1] for n in known)
    return (grid[0], grid[1], grid[2]), (block[0], block[1], block[2])
