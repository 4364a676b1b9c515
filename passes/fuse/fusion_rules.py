"""Fusion rules: the merge of two kernels, the pairs to try, and the gain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.ir import Operation

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.passes.fuse.fusion_cost import Gain, Machine
from tiledialect.passes.fuse.rules.extremum_counting import with_count
from tiledialect.passes.fuse.rules.horizontal_fusion import beside, sibling_gain
from tiledialect.passes.fuse.rules.producer_inlining import (
    at_loads,
    is_elementwise,
    load_gain,
    rows_at_loads,
)
from tiledialect.passes.fuse.rules.row_kernels import may_have_rows, over_rows, row_gain
from tiledialect.passes.fuse.rules.stencil_fusion import at_parts, at_taps, in_parts, tap_gain

Order = dict[Operation, int]
"""Positions of the ops of a block."""
Partners = Callable[[KernelOp, Order], Iterator[KernelOp]]
"""Earlier kernels that may fuse with one, the last one first."""


def producers(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Producers of a kernel's inputs."""
    found = {v.owner for v in kernel.inputs if isinstance(v.owner, KernelOp)}
    yield from sorted(found, key=order.__getitem__, reverse=True)


def readers_of_the_same(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Kernels that read an input of a kernel."""
    readers = {use.operation for v in kernel.inputs for use in v.uses}
    before = [op for op in readers if isinstance(op, KernelOp) and order[op] < order[kernel]]
    yield from sorted(before, key=order.__getitem__, reverse=True)


def contractions_of_the_same(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Kernels with contractions that read an input of a kernel with contractions."""
    if kernel.contractions:
        yield from (op for op in readers_of_the_same(kernel, order) if op.contractions)


def siblings(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Elementwise kernels that read an input of an elementwise one."""
    if is_elementwise(kernel):
        yield from filter(is_elementwise, readers_of_the_same(kernel, order))


def every(kernel: KernelOp) -> bool:
    """True for every kernel."""
    return True


@dataclass(frozen=True)
class Rule:
    """A way to fuse two kernels."""

    merge: Callable[[KernelOp, KernelOp], KernelOp | None]
    """Merge of two kernels, not in the block yet; None if there is none."""
    gain: Callable[[KernelOp, KernelOp, KernelOp, Machine], Gain]
    """Gain by the two kernels, the fused one and the device."""
    text: str
    """Explanation of the first kernel's place, with the name of the other."""
    partners: tuple[Partners, ...] = (producers,)
    """Enumerations of first kernels that are tried with a second one, one after the other."""
    may_merge: Callable[[KernelOp], bool] = every
    """Whether a kernel's partners need be tried: they may be all of a program."""
    saves_launch: bool = False
    """Whether one kernel is better than two of the same time."""
    is_last: bool = False
    """Whether the rule is tried after other fusions, recomputation and window fusion."""
    of_equals: bool = False
    """Whether neither kernel takes from the other: a kernel that is kept apart is not second
    then.
    """


AT_LOADS = Rule(at_loads, load_gain, "computed where {} loads it")
ROWS_AT_LOADS = Rule(rows_at_loads, load_gain, "computed where {} loads it")
AT_TAPS = Rule(at_taps, tap_gain, "computed where {} takes it")
AT_PARTS = Rule(at_parts, tap_gain, "computed where {} takes it")
IN_PARTS = Rule(in_parts, tap_gain, "computed where {} is written in parts", saves_launch=True)
OVER_ROWS = Rule(
    over_rows,
    row_gain,
    "in one kernel with {}, over the same rows",
    partners=(producers, contractions_of_the_same),
    may_merge=may_have_rows,
    saves_launch=True,
)
COUNTED = Rule(
    with_count,
    tap_gain,
    "in one kernel with {}, which counts what equals it",
    # Disjoint windows are rows by then.
    is_last=True,
)
BESIDE = Rule(
    beside,
    sibling_gain,
    "in one kernel with {}, which reads the same",
    partners=(siblings,),
    # A fused kernel fits fewer other rules.
    is_last=True,
    of_equals=True,
)
