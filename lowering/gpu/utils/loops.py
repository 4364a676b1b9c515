"""Constants of `scf.for` loops, and the values that they carry."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile.constants import constant_integer


def steps_of(loop: scf.ForOp) -> int | None:
    """Number of iterations of a loop, if its bounds and step are constants."""
    first, end, step = map(constant_integer, (loop.lb, loop.ub, loop.step))
    if first is None or end is None or step is None or step <= 0:
        return None
    return len(range(first, end, step))


def carry(loop: scf.ForOp, values: Sequence[SSAValue], before: Sequence[Operation]) -> None:
    """Let a loop, whose body does so, carry more values, which ops before it begin with."""
    block = loop.body.block
    loop.body.detach_block(block)
    new = scf.ForOp(loop.lb, loop.ub, loop.step, [*loop.iter_args, *values], block)
    new.attributes.update(loop.attributes)
    for a, b in zip(loop.results, new.results, strict=False):
        b.name_hint = a.name_hint
    Rewriter.replace_op(loop, [*before, new], new.results[: len(loop.results)])
