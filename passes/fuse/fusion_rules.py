"""The rules by which two kernels become one: how, which ones, and what both take."""

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
"""Where the ops of a block stand."""
Partners = Callable[[KernelOp, Order], Iterator[KernelOp]]
"""The kernels before one that may become one with it, the last one first."""


def producers(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """The kernels that make a kernel's inputs."""
    found = {v.owner for v in kernel.inputs if isinstance(v.owner, KernelOp)}
    yield from sorted(found, key=order.__getitem__, reverse=True)


def readers_of_the_same(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """The kernels that read the inputs that it reads."""
    readers = {use.operation for v in kernel.inputs for use in v.uses}
    before = [op for op in readers if isinstance(op, KernelOp) and order[op] < order[kernel]]
    yield from sorted(before, key=order.__getitem__, reverse=True)


def contractions_of_the_same(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Those with contractions, of one with contractions."""
    if kernel.contractions:
        yield from (op for op in readers_of_the_same(kernel, order) if op.contractions)


def siblings(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """The elementwise ones, of an elementwise one."""
    if is_elementwise(kernel):
        yield from filter(is_elementwise, readers_of_the_same(kernel, order))


def every(kernel: KernelOp) -> bool:
    """No kernel is left out."""
    return True


@dataclass(frozen=True)
class Rule:
    """A way to make one kernel of two."""

    merge: Callable[[KernelOp, KernelOp], KernelOp | None]
    """The kernel, not in the block yet; None if there is none."""
    gain: Callable[[KernelOp, KernelOp, KernelOp, Machine], Gain]
    """From the two, the kernel of both and the device: what they take."""
    text: str
    """What happens to the first kernel, in words, with the name of the other."""
    partners: tuple[Partners, ...] = (producers,)
    """The first kernels that are tried with a second one, some after the others."""
    may_merge: Callable[[KernelOp], bool] = every
    """Whether its partners need be looked at: they may be all of a program."""
    saves_launch: bool = False
    """Whether one kernel is better than two that take as long."""
    is_last: bool = False
    """Whether it is tried when others have merged, computed again, and made rows of windows."""
    of_equals: bool = False
    """Whether neither kernel takes from the other: one that is kept apart is no second one."""


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
    # Windows that do not meet are rows, by then.
    is_last=True,
)
BESIDE = Rule(
    beside,
    sibling_gain,
    "in one kernel with {}, which reads the same",
    partners=(siblings,),
    # A kernel of two is taken by others less often.
    is_last=True,
    of_equals=True,
)
