"""Addresses of the patterns in a function.

`map.1/reduce` is the reduction in the function of the second map: for each region, the name of its
pattern, and its number among the patterns of that name there, from 0, which may be left out. Ops
that contribute nothing to the result have no address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.lift.base import LiftOp
from tiledialect.passes.lift.rules.refusal import NotApplicable, require_kind


def children(op: Operation) -> Iterator[SSAValue]:
    """Values that an op's result depends on: its functions' results, and its operands."""
    for region in op.regions:
        for block in region.blocks:
            if block.last_op is not None:
                yield from block.last_op.operands
    yield from op.operands


def reachable(function: func.FuncOp) -> dict[Operation, None]:
    """All ops that the results depend on, a result before its dependences."""
    found: dict[Operation, None] = {}
    last = function.body.block.last_op
    pending = [last] if last is not None else []
    while pending:
        op = pending.pop()
        if op in found:
            continue
        found[op] = None
        owners = [value.owner for value in children(op)]
        pending += [owner for owner in reversed(owners) if isinstance(owner, Operation)]
    return found


def places(function: func.FuncOp) -> dict[str, LiftOp]:
    """Patterns by their addresses, in the order of the program."""
    return dict(_places(function.body.block, "", reachable(function)))


def _places(block: Block, prefix: str, live: dict[Operation, None]) -> Iterator[tuple[str, LiftOp]]:
    numbers: Counter[str] = Counter()
    for op in block.ops:
        if not isinstance(op, LiftOp) or op not in live:
            continue
        name = op.pattern()
        number = f".{numbers[name]}" if numbers[name] else ""
        numbers[name] += 1
        address = f"{prefix}{name}{number}"
        yield address, op
        for region in op.regions:
            yield from _places(region.block, f"{address}/", live)


def op_at(address: str, function: func.FuncOp) -> LiftOp:
    """Op at an address."""
    require_kind(address, str, "a place is a text, such as 'map/reduce'")
    known = places(function)
    wanted = "/".join(part.removesuffix(".0") for part in address.split("/"))
    if wanted not in known:
        raise NotApplicable(f"there is nothing at {address}; {_nearest(wanted, known)}")
    return known[wanted]


def _nearest(address: str, known: Iterable[str]) -> str:
    """Patterns in the innermost function on the way to an address."""
    around = address.rpartition("/")[0]
    while around and around not in known:
        around = around.rpartition("/")[0]
    there = [place for place in known if place.rpartition("/")[0] == around]
    return f"there is {', '.join(there)}" if there else f"there are no patterns in {around}"
