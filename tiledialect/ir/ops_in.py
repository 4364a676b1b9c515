"""The ops in an op, and the values of a block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove

Op = TypeVar("Op", bound=Operation)


def ops_in(outer: Operation | Block) -> list[Operation]:
    """All ops in an op or a block, as its `walk` gives them, in a fraction of the time."""
    found: list[Operation] = []
    if isinstance(outer, Block):
        _add_block(outer, found)
    else:
        found.append(outer)
        _add_regions(outer, found)
    return found


def ops_of(outer: Operation | Block, *kinds: type[Op]) -> list[Op]:
    """Ops of some kinds in a region, in order."""
    found = ops_in(outer)
    # Few types are asked about, in the place of all ops.
    wanted = {kind for kind in set(map(type, found)) if issubclass(kind, kinds)}
    return [op for op in found if type(op) in wanted]  # pyright: ignore[reportReturnType]


def values_in(block: Block) -> list[SSAValue]:
    """Arguments of a block, and the results of its ops."""
    return [*block.args, *(v for op in block.ops for v in op.results)]


def ops_between(first: Operation, last: Operation) -> Iterator[Operation]:
    """Ops of a block between two, each of which may be moved."""
    op = first.next_op
    while op is not None and op is not last:
        following = op.next_op
        yield op
        op = following


def outer_operands(op: Operation) -> Iterator[SSAValue]:
    """Values from outside of an op that it and the ops in its regions use."""
    yield from op.operands
    if not op.regions or op.has_trait(IsolatedFromAbove):
        return
    for inner in ops_in(op)[1:]:
        for value in inner.operands:
            owner = value.owner
            around = owner if isinstance(owner, Operation) else owner.parent_op()
            if around is None or not op.is_ancestor(around):
                yield value


def has_one_block(outer: Operation) -> bool:
    """Whether the body of an op is one block: functions may also be only declared, or branch."""
    return len(outer.regions[0].blocks) == 1


def _add_block(block: Block, found: list[Operation]) -> None:
    op = block.first_op
    while op is not None:
        found.append(op)
        if op.regions:
            _add_regions(op, found)
        # The property that gives it takes a third of the time, of which compiling is full.
        op = op._next_op  # pyright: ignore[reportPrivateUsage]


def _add_regions(op: Operation, found: list[Operation]) -> None:
    for region in op.regions:
        for block in region.blocks:
            _add_block(block, found)
