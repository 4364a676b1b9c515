"""Layers of a model that a kernel computes."""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation

from tiledialect.analysis.kernel_facts import COSTLY
from tiledialect.dialects.tile.base import size_of
from tiledialect.dialects.tile.constants import ConstantOp
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.names import layer_of


def layer_operations(kernel: KernelOp) -> dict[str, float]:
    """Layers of a kernel's ops with their numbers of operations, in additions."""
    found = dict[str, float]()
    for op in kernel.block.ops:
        if (layer := layer_of(op)) is not None:
            found[layer] = found.get(layer, 0.0) + _operations(op)
    return {layer: n for layer, n in found.items() if n}


def _operations(op: Operation) -> float:
    """Number of operations of an op, in additions."""
    if isinstance(op, ConstantOp) or not op.results:
        return 0
    if isinstance(op, ContractionOp) and op.domain is not None:
        return prod(r.upper - r.lower for _, r in op.domain.data) * len(op.inputs)
    return size_of(op.results[0]) * COSTLY.get(op.name, 1.0)
