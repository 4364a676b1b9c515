"""Systems of linear equations and inequalities over the integers, decided by isl."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import islpy as isl

_local = threading.local()


def _context() -> isl.Context:
    """The isl context of this thread: isl's own may not be shared between threads."""
    if not hasattr(_local, "context"):
        _local.context = isl.Context()
    return _local.context


class System:
    """Equations and inequalities over integer unknowns, which are numbered from 0.

    A linear form is given as the coefficients of the unknowns that occur in it, and a constant.
    """

    def __init__(self, unknowns: int):
        self.unknowns = unknowns
        self._equations: list[tuple[Mapping[int, int], int]] = []
        self._inequalities: list[tuple[Mapping[int, int], int]] = []

    def new_unknown(self) -> int:
        """The number of one more unknown."""
        self.unknowns += 1
        return self.unknowns - 1

    def add_zero(self, form: Mapping[int, int], constant: int = 0) -> None:
        """Ask that the form is 0."""
        self._equations.append((form, constant))

    def add_not_negative(self, form: Mapping[int, int], constant: int = 0) -> None:
        """Ask that the form is 0 or more."""
        self._inequalities.append((form, constant))

    def add_range(self, unknown: int, lower: int, upper: int) -> None:
        """Ask that ``lower <= unknown < upper``."""
        self.add_not_negative({unknown: 1}, -lower)
        self.add_not_negative({unknown: -1}, upper - 1)

    def solutions(self) -> isl.Set:
        """The set of all solutions; its dimensions are the unknowns."""
        context = _context()
        space = isl.Space.set_alloc(context, 0, self.unknowns)
        kind = isl.dim_type
        basic = isl.BasicSet.from_constraint_matrices(
            space,
            _matrix(context, self._equations, self.unknowns),
            _matrix(context, self._inequalities, self.unknowns),
            kind.set,
            kind.div,
            kind.param,
            kind.cst,
        )
        return isl.Set.from_basic_set(basic)


def is_empty(solutions: isl.Set) -> bool:
    """Whether there is no solution."""
    return solutions.is_empty()


def extent(solutions: isl.Set, unknown: int) -> tuple[int, int]:
    """The least value of an unknown, and one more than the greatest; the set is not empty."""
    lower = solutions.dim_min_val(unknown).to_python()
    upper = solutions.dim_max_val(unknown).to_python()
    return lower, upper + 1


def solution(solutions: isl.Set) -> tuple[int, ...] | None:
    """One solution, if there is one."""
    if solutions.is_empty():
        return None
    point = solutions.sample_point()
    kind = isl.dim_type.set
    count = solutions.dim(kind)
    return tuple(point.get_coordinate_val(kind, i).to_python() for i in range(count))


def covers(solutions: isl.Set, box: Sequence[tuple[int, int, int]]) -> bool:
    """Whether some unknowns take every combination of values in a box.

    ``box`` gives each such unknown with its least value and one more than its greatest, in
    ascending order of the unknowns.
    """
    chosen = {unknown for unknown, _, _ in box}
    kind = isl.dim_type.set
    for unknown in reversed(range(solutions.dim(kind))):
        if unknown not in chosen:
            solutions = solutions.project_out(kind, unknown, 1)
    wanted = System(len(box))
    for position, (_, lower, upper) in enumerate(box):
        wanted.add_range(position, lower, upper)
    return wanted.solutions().is_subset(solutions)


def _matrix(
    context: isl.Context, forms: Sequence[tuple[Mapping[int, int], int]], unknowns: int
) -> isl.Mat:
    """One row per form: the coefficients, then the constant."""
    matrix = isl.Mat.alloc(context, len(forms), unknowns + 1)
    zero = isl.Val(0, context)
    for row, (form, constant) in enumerate(forms):
        for column in range(unknowns):
            value = form.get(column, 0)
            matrix = matrix.set_element_val(row, column, _value(context, value) if value else zero)
        matrix = matrix.set_element_val(row, unknowns, _value(context, constant))
    return matrix


def _value(context: isl.Context, value: int) -> isl.Val:
    # The binding takes only machine integers (of 32 bits on some platforms) as such.
    return isl.Val(value if -(2**31) < value < 2**31 else str(value), context)
