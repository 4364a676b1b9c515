"""The ops around an op."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from xdsl.ir import Block, Operation

Op = TypeVar("Op", bound=Operation)


def ancestors(inner: Operation | Block) -> Iterator[Operation]:
    """The ops around an op or a block, innermost first."""
    outer = inner.parent_op()
    while outer is not None:
        yield outer
        outer = outer.parent_op()


def nearest(kind: type[Op], inner: Operation | Block) -> Op | None:
    """The innermost op of a kind around an op or a block."""
    return next((op for op in ancestors(inner) if isinstance(op, kind)), None)
