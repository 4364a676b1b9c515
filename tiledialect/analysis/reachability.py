"""Reachability of values from a set of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from xdsl.ir import Operation, SSAValue


class Reachability:
    """A set of results, and the values that depend on them.

    Answers are cached: in chains of rows, each of which needs the one before, every query would
    else lead back to their beginning. The program must not change meanwhile.

    With an order of the program's operations, a search ends at those before the results, which
    need none of them.
    """

    def __init__(self, results: Iterable[SSAValue], order: Mapping[Operation, int] | None = None):
        self._results = frozenset(results)
        self._needed_for = dict.fromkeys(self._results, True)
        self._order = order or {}
        self._first = min((self._place(v, -inf) for v in self._results), default=-inf)

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._results

    def _place(self, value: SSAValue, default: float) -> float:
        """Place of the operation that gives a value."""
        owner = value.owner
        return self._order.get(owner, default) if isinstance(owner, Operation) else default

    def reaches(self, value: SSAValue) -> bool:
        """Whether a value depends on some of them."""
        known, pending = self._needed_for, [value]
        while pending:
            v = pending[-1]
            is_before = self._place(v, inf) < self._first
            operands = v.owner.operands if isinstance(v.owner, Operation) and not is_before else ()
            is_needed = any(known.get(operand) for operand in operands)
            unknown = [operand for operand in operands if operand not in known]
            if v in known or is_needed or not unknown:
                known.setdefault(v, is_needed)
                pending.pop()
            else:
                pending += unknown
        return known[value]
