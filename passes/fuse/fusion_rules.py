"""Fusion rules: the merge of two kernels, the pairs to try, and the gain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.ir import Block, Operation

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.passes.fuse.kernel_merging import joint_arguments
from tiledialect.passes.fuse.rules.extremum_counting import fuse_count
from tiledialect.passes.fuse.rules.horizontal_fusion import (
    SmallKind,
    fuse_horizontally,
    horizontal_gain,
    small_kind,
)
from tiledialect.passes.fuse.rules.producer_inlining import (
    inline_gathered_rows,
    inline_producer,
    inlining_gain,
    is_elementwise,
)
from tiledialect.passes.fuse.rules.row_kernels import fuse_rows, may_have_rows, row_fusion_gain
from tiledialect.passes.fuse.rules.stencil_fusion import (
    fuse_concatenation,
    fuse_copies,
    fuse_stencils,
    stencil_gain,
)
from tiledialect.schedule.cost.traffic import Gain, Machine


class Order(dict[Operation, int]):
    """Positions of the ops of a block, and facts of its kernels."""

    def __init__(self, block: Block):
        super().__init__((op, k) for k, op in enumerate(block.ops))
        self.small_kinds: dict[KernelOp, SmallKind | None] = {}
        """Kinds of kernels that were asked for: the last rules replace kernels, and change none."""


Partners = Callable[[KernelOp, Order], Iterator[KernelOp]]
"""Earlier kernels that may fuse with one, the last one first."""


def producers(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Producers of a kernel's inputs."""
    found = {v.owner for v in kernel.inputs if isinstance(v.owner, KernelOp)}
    yield from sorted(found, key=order.__getitem__, reverse=True)


def kernels_sharing_inputs(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Kernels that read an input of a kernel."""
    readers = {use.operation for v in kernel.inputs for use in v.uses}
    before = [op for op in readers if isinstance(op, KernelOp) and order[op] < order[kernel]]
    yield from sorted(before, key=order.__getitem__, reverse=True)


def contractions_sharing_inputs(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Kernels with contractions that read an input of a kernel with contractions."""
    if kernel.contractions:
        yield from (op for op in kernels_sharing_inputs(kernel, order) if op.contractions)


def elementwise_sharing_inputs(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Elementwise kernels that read an input of an elementwise one."""
    if is_elementwise(kernel):
        yield from filter(is_elementwise, kernels_sharing_inputs(kernel, order))


def small_ones(kernel: KernelOp, order: Order) -> Iterator[KernelOp]:
    """Kernels of few elements, or few sums, before one of as few, if one kernel of both has few
    enough arguments."""
    kind, op = _small_kind(kernel, order), kernel.prev_op
    while kind is not None and op is not None:
        if (
            isinstance(op, KernelOp)
            and _small_kind(op, order) == kind
            # Of many kernels most are full.
            and joint_arguments(op, kernel) <= kind.most_arguments
        ):
            yield op
        op = op.prev_op


def _small_kind(kernel: KernelOp, order: Order) -> SmallKind | None:
    """Kind of a small kernel, which is found once: each kernel meets all later ones."""
    if kernel not in order.small_kinds:
        order.small_kinds[kernel] = small_kind(kernel)
    return order.small_kinds[kernel]


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
    is_symmetric: bool = False
    """Whether neither kernel takes from the other: a kernel that is kept apart is not second
    then.
    """


PRODUCER_INLINING = Rule(inline_producer, inlining_gain, "computed where {} loads it")
GATHER_INLINING = Rule(inline_gathered_rows, inlining_gain, "computed where {} loads it")
STENCIL_FUSION = Rule(fuse_stencils, stencil_gain, "computed where {} takes it")
COPY_FUSION = Rule(fuse_copies, stencil_gain, "computed where {} takes it")
CONCATENATION_FUSION = Rule(
    fuse_concatenation, stencil_gain, "computed where {} is written in parts", saves_launch=True
)
ROW_FUSION = Rule(
    fuse_rows,
    row_fusion_gain,
    "in one kernel with {}, over the same rows",
    partners=(producers, contractions_sharing_inputs),
    may_merge=may_have_rows,
    saves_launch=True,
)
EXTREMUM_COUNTING = Rule(
    fuse_count,
    stencil_gain,
    "in one kernel with {}, which counts what equals it",
    # Disjoint windows are rows by then.
    is_last=True,
)
HORIZONTAL_FUSION = Rule(
    fuse_horizontally,
    horizontal_gain,
    "in one kernel with {}, over the same elements",
    partners=(elementwise_sharing_inputs, small_ones),
    # A fused kernel fits fewer other rules.
    is_last=True,
    is_symmetric=True,
)
