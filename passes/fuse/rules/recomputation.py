"""Recomputation: elementwise kernels are repeated in each kernel that takes their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.reachability import Reachability
from tiledialect.analysis.rounded_steps import rounded_steps
from tiledialect.dialects.tile.base import size_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.small_stencils import stencil_points
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.ir.names import keep_name
from tiledialect.passes.fuse.fusion_cost import operations, traffic
from tiledialect.passes.fuse.kernel_merging import merged, pruned, users_of
from tiledialect.passes.fuse.rules.epilogue_fission import Fission
from tiledialect.passes.fuse.rules.producer_inlining import is_elementwise, points_of
from tiledialect.passes.fuse.rules.row_kernels import fuse_rows, may_have_rows, row_kernel_gain
from tiledialect.schedule.cost.traffic import Gain, Machine


@dataclass(frozen=True)
class Recomputation:
    """A kernel that replaces some users, and recomputes their operands."""

    users: tuple[KernelOp, ...]
    kernel: KernelOp


def recomputations(
    first: KernelOp, order: Mapping[Operation, int], machine: Machine
) -> list[Recomputation]:
    """Kernels that recompute an elementwise one's results for its users.

    Contractions over the same rows share one kernel, as repeating their common operands would cost
    more than it saves. Empty, if some user cannot recompute the results.
    """
    found: list[Recomputation] = []
    if not is_elementwise(first):
        return found
    users = sorted(users_of(first), key=lambda op: order.get(op, len(order)))
    for user in users:
        if not isinstance(user, KernelOp) or (both := _recomputing(first, user)) is None:
            erase(found)
            return []
        found.append(Recomputation((user,), pruned(both)))
    return _joined(found, order, machine)


def _joined(
    found: Sequence[Recomputation], order: Mapping[Operation, int], machine: Machine
) -> list[Recomputation]:
    """Fewer kernels: contractions over the same rows that do not need each other are joined."""
    joined: list[Recomputation] = []
    made = Reachability((v for own in found for u in own.users for v in u.outputs), order)
    for new in found:
        needs_others = any(made.reaches(v) or v in made for u in new.users for v in u.inputs)
        if needs_others or not new.kernel.contractions:
            joined.append(new)
            continue
        for k, old in enumerate(joined):
            if (kernel := _as_one(old.kernel, new.kernel, machine)) is not None:
                joined[k] = Recomputation((*old.users, *new.users), kernel)
                erase([old, new])
                break
        else:
            joined.insert(0, new)
    return joined


def _as_one(first: KernelOp, second: KernelOp, machine: Machine) -> KernelOp | None:
    """A row kernel of two that are in no block, if it is as fast."""
    kernel = fuse_rows(first, second, first.outputs) if first.contractions else None
    if kernel is None or row_kernel_gain((first, second), kernel, machine).saved >= 0:
        return kernel
    kernel.erase()
    return None


def repeats_steps(first: KernelOp, found: Sequence[Recomputation], parted: Fission | None) -> bool:
    """Whether several kernels would compute the same step of a rounded number.

    The rest of a ``parted`` kernel is one of them, if it has such steps.
    """
    if not rounded_steps(first.block.ops):
        return False
    return len(found) > 1 or (parted is not None and bool(rounded_steps(parted.rest.block.ops)))


def recomputation_gain(
    first: KernelOp, found: Sequence[Recomputation], machine: Machine, parted: Fission | None
) -> Gain:
    """Gain of kernels that recompute a kernel's results over the kernel and its users.

    Without recomputation, a ``parted`` kernel is computed as a whole.
    """
    whole = first if parted is None else parted.whole
    rest = () if parted is None else (parted.rest,)
    count = operations(first.block.ops)
    again = sum(count * max(_evaluations(first, user) for user in own.users) for own in found)
    again -= _operations_once(first, parted)
    apart = (whole, *(user for own in found for user in own.users))
    together = (*rest, *(own.kernel for own in found))
    separate, fused = ([traffic(machine, k) for k in own] for own in (apart, together))
    return machine.gain(separate, fused, again)


def _operations_once(first: KernelOp, parted: Fission | None) -> float:
    """Number of operations of a kernel, or of its end, that are not done where it is repeated."""
    whole = first if parted is None else parted.whole
    rest = 0 if parted is None else operations(parted.rest.block.ops)
    return (operations(whole.block.ops) - rest) * size_of(first.outputs[0])


def repeats_too_much(first: KernelOp, machine: Machine, parted: Fission | None) -> bool:
    """Whether the repeated operations alone take as long as the kernel and its users do now."""
    users = [op for op in users_of(first) if isinstance(op, KernelOp)]
    # Those over the same rows may share a kernel.
    alone = [u for u in users if not may_have_rows(u)]
    shared = [u for u in users if u.contractions and u not in alone]
    least = sum(_evaluations(first, u) for u in alone)
    least += max((_evaluations(first, u) for u in shared), default=0)
    again = operations(first.block.ops) * least - _operations_once(first, parted)
    apart = (first if parted is None else parted.whole, *users)
    separate = sum(traffic(machine, k).time for k in apart)
    return again / machine.operations >= separate


def _evaluations(first: KernelOp, user: KernelOp) -> int:
    """Number of elements for which a user computes the first kernel's results.

    Elements that repeat a result along their last axes share it: it stays out of their loop.
    """
    points = size_of(first.outputs[0])
    if user.axes is not None:
        return points
    if user.contraction is not None:
        return max(points, points_of(user))
    if user.contractions:
        return max(points, sum(stencil_points(op) * size_of(op.result) for op in user.contractions))
    if points == 1 or _shapes(first) == _shapes(user):
        return points
    (own,), (shape,) = _shapes(first), _shapes(user)
    repeated = len(list(takewhile(lambda n: n == 1, reversed(own))))
    return prod(shape[: len(shape) - repeated])


def recompute(
    first: KernelOp, found: Iterable[Recomputation], order: Mapping[Operation, int]
) -> None:
    """Replace the kernel and its users by the kernels that recompute."""
    for own in found:
        last = max(own.users, key=order.__getitem__)
        Rewriter.insert_op(own.kernel, InsertPoint.before(last))
        old_outputs = (v for user in own.users for v in user.outputs)
        for old, new in zip(old_outputs, own.kernel.outputs, strict=True):
            keep_name(new, old)
            old.replace_all_uses_with(new)
        for user in own.users:
            Rewriter.erase_op(user)
    Rewriter.erase_op(first)


def erase(found: Iterable[Recomputation]) -> None:
    """Erase kernels that are in no block."""
    for own in found:
        own.kernel.erase()


def _recomputing(first: KernelOp, user: KernelOp) -> KernelOp | None:
    if user.axes is not None:
        return fuse_rows(first, user, ())
    if not _is_taken_where_made(first, user):
        return None
    kernel = merged(first, user, ())
    if (
        kernel is None
        or user.contraction is not None
        or all(map(stencil_points, kernel.contractions))
    ):
        return kernel
    kernel.erase()
    return None


def _is_taken_where_made(first: KernelOp, user: KernelOp) -> bool:
    """Whether a kernel takes the first one's results element by element, or its contraction does.

    Where their results have the same shape, or one that elementwise kernels broadcast, elementwise
    ops take them; else the contraction loads all values that depend on them.
    """
    contraction = user.contraction
    at_elements = _shapes(first) == _shapes(user) or (contraction is None and _repeats(first, user))
    arguments = dict(zip(user.inputs, user.block.args, strict=True))
    pending: list[SSAValue] = [arguments[v] for v in first.outputs if v in arguments]
    # Each is visited once: a long chain has too many paths.
    reached = set(pending)
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, ElementwiseOp):
                pending += {op.res} - reached
                reached.add(op.res)
            elif isinstance(op, ContractionOp):
                if contraction not in (None, op) or use.index >= len(op.inputs):
                    return False
            elif not (at_elements and isinstance(op, YieldOp)):
                return False
    return True


def _repeats(first: KernelOp, user: KernelOp) -> bool:
    """Whether elements of one shape are repeated to the shape of another kernel."""
    if len(_shapes(first)) != 1 or len(_shapes(user)) != 1:
        return False
    (own,), (shape,) = _shapes(first), _shapes(user)
    sizes = zip(reversed(own), reversed(shape), strict=False)
    return len(own) <= len(shape) and all(n in (1, m) for n, m in sizes)


def _shapes(kernel: KernelOp) -> set[tuple[int, ...]]:
    types = (value.type for value in kernel.outputs)
    return {t.get_shape() for t in types if isinstance(t, TensorType)}
