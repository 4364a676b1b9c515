"""Checks of kernels against the limits of the module's device."""

from __future__ import annotations

from math import prod

from xdsl.dialects import gpu
from xdsl.dialects.builtin import MemRefType, ModuleOp

from tiledialect.dialects.nest.memory import BufferOp
from tiledialect.errors import TileError
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.target_spec import limit
from tiledialect.lowering.nest.utils.builder import LOCAL
from tiledialect.lowering.nest.utils.scope import bytes_of

UNKNOWN = 2**63
"""Limit of a device without a stated one."""


def check_fits(module: ModuleOp, kernel: gpu.FuncOp) -> None:
    """Refuse a kernel that needs more than the module's device has.

    Raises a TileError that names the exceeded limit.
    """
    name = kernel.sym_name.data
    items = prod(kernel.known_block_size.get_values()) if kernel.known_block_size else 1
    most_items = limit(module, "max_work_group_size", UNKNOWN)
    if items > most_items:
        raise TileError(
            f"kernel {name} has work-groups of {items} work-items; "
            f"the device runs at most {most_items}"
        )
    sizes = {
        op: op.number_of_copies * bytes_of(op.result.type)
        for op in ops_of(kernel, BufferOp)
        if isinstance(op.result.type, MemRefType)
        if op.result.type.memory_space == LOCAL
    }
    most_bytes = limit(module, "local_mem_size", UNKNOWN)
    if sum(sizes.values()) > most_bytes:
        parts = ", ".join(f"{op.result.name_hint}: {size}" for op, size in sizes.items())
        raise TileError(
            f"kernel {name} keeps {sum(sizes.values())} bytes in local memory ({parts}); "
            f"the device has {most_bytes}"
        )
