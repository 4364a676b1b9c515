"""Elementwise kernels that are computed again in each kernel that takes what they make."""

from __future__ import annotations

from itertools import takewhile
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.tile.base import size_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.passes.fusion_cost import Gain, Machine, operations
from tiledialect.passes.kernel_merging import merged, pruned, users_of
from tiledialect.passes.load_fusion import is_elementwise, points_of
from tiledialect.passes.row_ends import Parted
from tiledialect.passes.row_kernels import over_rows

Recomputed = dict[KernelOp, KernelOp]
"""For each kernel that takes what another one makes: the kernel that computes both."""


def recomputed(first: KernelOp) -> Recomputed | None:
    """The kernels that compute again what an elementwise one makes, for each that takes it."""
    users = users_of(first)
    if not is_elementwise(first) or not users:
        return None
    found: Recomputed = {}
    for user in users:
        if not isinstance(user, KernelOp) or (both := _both(first, user)) is None:
            erase(found)
            return None
        found[user] = pruned(both)
    return found


def recomputing_gain(
    first: KernelOp, found: Recomputed, machine: Machine, parted: Parted | None = None
) -> Gain:
    """What the kernel and those that take its results cost, and what those that compute it do.

    A kernel that was ``parted`` off is computed in the whole otherwise.
    """
    whole = first if parted is None else parted.whole
    rest = () if parted is None else (parted.rest,)
    count, again = operations(first.block.ops), 0.0
    for user in found:
        again += count * _evaluations(first, user)
    again -= count * size_of(first.outputs[0])
    apart, together = (whole, *found), (*rest, *found.values())
    return machine.gain(map(machine.traffic, apart), map(machine.traffic, together), again)


def _evaluations(first: KernelOp, user: KernelOp) -> int:
    """For how many elements a kernel computes what the first one makes.

    Elements that repeat it along their last axes have it in common: it stays out of their loop.
    """
    points = size_of(first.outputs[0])
    if user.axes is not None:
        return points
    if user.contraction is not None:
        return max(points, points_of(user))
    if points == 1 or _shapes(first) == _shapes(user):
        return points
    (own,), (shape,) = _shapes(first), _shapes(user)
    repeated = len(list(takewhile(lambda n: n == 1, reversed(own))))
    return prod(shape[: len(shape) - repeated])


def recompute(first: KernelOp, found: Recomputed) -> None:
    """Put the kernels that compute both in the place of all."""
    for user, both in found.items():
        Rewriter.insert_op(both, InsertPoint.before(user))
        for old, new in zip(user.outputs, both.outputs, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        Rewriter.erase_op(user)
    Rewriter.erase_op(first)


def erase(found: Recomputed) -> None:
    """Forget kernels that are in no block."""
    for both in found.values():
        both.erase()


def _both(first: KernelOp, user: KernelOp) -> KernelOp | None:
    if user.axes is not None:
        return over_rows(first, user, ())
    return merged(first, user, ()) if _is_taken_where_made(first, user) else None


def _is_taken_where_made(first: KernelOp, user: KernelOp) -> bool:
    """Whether a kernel takes the first one's results element by element, or its contraction does.

    Where their results have the same shape, or one that elementwise kernels broadcast, elementwise
    ops take them; else all that comes of them is what the contraction loads.
    """
    contraction = user.contraction
    at_elements = _shapes(first) == _shapes(user) or (contraction is None and _repeats(first, user))
    arguments = dict(zip(user.inputs, user.block.args, strict=True))
    pending: list[SSAValue] = [arguments[v] for v in first.outputs if v in arguments]
    # Each is come to in many ways: in a long chain there are more than can be followed.
    reached = set(pending)
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, ElementwiseOp):
                pending += {op.res} - reached
                reached.add(op.res)
            elif isinstance(op, ContractionOp):
                if op is not contraction or use.index >= len(op.inputs):
                    return False
            elif not (at_elements and isinstance(op, YieldOp)):
                return False
    return True


def _repeats(first: KernelOp, user: KernelOp) -> bool:
    """Whether elements of one shape are repeated to another one's."""
    if len(_shapes(first)) != 1 or len(_shapes(user)) != 1:
        return False
    (own,), (shape,) = _shapes(first), _shapes(user)
    sizes = zip(reversed(own), reversed(shape), strict=False)
    return len(own) <= len(shape) and all(n in (1, m) for n, m in sizes)


def _shapes(kernel: KernelOp) -> set[tuple[int, ...]]:
    types = (value.type for value in kernel.outputs)
    return {t.get_shape() for t in types if isinstance(t, TensorType)}
