"""Reachability of values from a set of results."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue


class Reachability:
    """A set of results, and the values that depend on them.

    Answers are cached: in chains of rows, each of which needs the one before, every query would
    else lead back to their beginning. The program must not change meanwhile.
    """

    def __init__(self, results: Iterable[SSAValue]):
        self._results = frozenset(results)
        self._needed_for = dict.fromkeys(self._results, True)

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._results

    def reaches(self, value: SSAValue) -> bool:
        """Whether a value depends on some of them."""
        known, pending = self._needed_for, [value]
        while pending:
            v = pending[-1]
            operands = v.owner.operands if isinstance(v.owner, Operation) else ()
            is_needed = any(known.get(operand) for operand in operands)
            unknown = [operand for operand in operands if operand not in known]
            if v in known or is_needed or not unknown:
                known.setdefault(v, is_needed)
                pending.pop()
            else:
                pending += unknown
        return known[value]
