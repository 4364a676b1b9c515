"""Contractions of few points into the kernel of what takes their elements, and of others like them.

So the difference of neighbours `X[r, c + 1] - X[r, c]` is one kernel, which reads `X` once.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.rows import shape
from tiledialect.dialects.tile.taps import MOST_TAPS, taps_of
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.passes.fusion_cost import Gain, Machine, moving
from tiledialect.passes.kernel_merging import merged


def at_taps(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """A kernel of both, if all their contractions have few points, near where they are taken."""
    contractions = (*first.contractions, *second.contractions)
    if len(contractions) < 2 or {shape(v) for k in (first, second) for v in k.outputs} != {
        shape(first.outputs[0])
    }:
        return None
    taps = [taps_of(op) for op in contractions]
    kinds = (ElementwiseOp, ConstantOp, YieldOp)
    plain = all(
        k.axes is None and all(op in contractions or isinstance(op, kinds) for op in k.block.ops)
        for k in (first, second)
    )
    near = all(taps) and sum(taps) <= MOST_TAPS and all(map(_reads_rows, contractions))
    if not plain or not near or _is_contracted(first, second):
        return None
    return merged(first, second)


def tap_gain(first: KernelOp, second: KernelOp, kernel: KernelOp, machine: Machine) -> Gain:
    """What one kernel takes, and what two: neighbours that several points read are in a cache."""
    apart, both = [*map(machine.traffic, (first, second))], machine.traffic(kernel)
    why = moving(both.moved, sum(t.moved for t in apart))
    return Gain(sum(t.time for t in apart), both.time, why)


def _reads_rows(op: ContractionOp) -> bool:
    """Whether neighbours read neighbours: the last index is no other axis of an input, or wider."""
    names = op.output.data[-1].names if op.output.data else ()
    return all(
        e.coefficient(n) == (k == len(access.data) - 1 and n in access.data[-1].names)
        for access in op.accesses
        for k, e in enumerate(access.data)
        for n in names
    )


def _is_contracted(first: KernelOp, second: KernelOp) -> bool:
    """Whether a contraction of the second kernel reads what comes of the first one's results."""
    arguments = dict(zip(second.inputs, second.block.args, strict=True))
    pending: list[SSAValue] = [arguments[v] for v in first.outputs if v in arguments]
    users: set[Operation] = set()
    while pending:
        for use in pending.pop().uses:
            if use.operation not in users:
                users.add(use.operation)
                pending += use.operation.results
    return any(isinstance(op, ContractionOp) for op in users)
