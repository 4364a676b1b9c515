"""Systems of linear equations and inequalities over the integers.

What intervals do not show is decided by isl, as long as the unknowns that they leave open are few.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf

import islpy as isl

from tiledialect.index import intervals
from tiledialect.index.intervals import EVERYTHING, Inequality, Interval

_local = threading.local()

_PATIENCE = 1 << 13

_MANY = 24
"""Unknowns with several values by intervals from which isl is not used."""


def _context() -> isl.Context:
    """The isl context of this thread: isl's own may not be shared between threads."""
    if not hasattr(_local, "context"):
        _local.context = isl.Context()
    return _local.context


class System:
    """Equations and inequalities over integer unknowns, which are numbered from 0.

    The independent unknowns determine the others. A linear form is given as the coefficients of the
    unknowns that occur in it, and a constant.
    """

    def __init__(self, unknowns: int):
        self.unknowns = self.independent = unknowns
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

    def inequalities(self) -> list[Inequality]:
        """All inequalities, an equation as two."""
        negated = [({i: -c for i, c in form.items()}, -k) for form, k in self._equations]
        return [*self._inequalities, *self._equations, *negated]

    def solutions(self) -> isl.Set:
        """The set of all solutions; its dimensions are the unknowns."""
        box = intervals.tightened(self.inequalities(), [EVERYTHING] * self.unknowns) or []
        known = [({i: 1}, -int(lower)) for i, (lower, upper) in enumerate(box) if lower == upper]
        rows = [self._row(0, *equation) for equation in (*self._equations, *known)]
        rows += [self._row(1, *inequality) for inequality in self._inequalities]
        # In PolyLib's format, as isl copies a matrix whenever one of its elements is set.
        text = "\n".join([f"{len(rows)} {self.unknowns + 2}", *rows, ""])
        return isl.Set.from_basic_set(isl.BasicSet.read_from_str(_context(), text))

    def _row(self, kind: int, form: Mapping[int, int], constant: int) -> str:
        """A line of PolyLib's format: whether it is an inequality, coefficients, constant."""
        coefficients = ["0"] * self.unknowns
        for unknown, coefficient in form.items():
            coefficients[unknown] = str(coefficient)
        return f"{kind} {' '.join(coefficients)} {constant}"


def is_empty(constraints: System) -> bool:
    """Whether there is no solution; no where dozens of unknowns make that too hard to tell."""
    shown = _shown_empty(constraints)
    return constraints.solutions().is_empty() if shown is None else shown


def is_surely_empty(constraints: System) -> bool:
    """Whether there is surely no solution; no if that is too hard to tell."""
    shown = _shown_empty(constraints)
    return _surely(constraints.solutions().is_empty) if shown is None else shown


def _shown_empty(constraints: System) -> bool | None:
    """Whether there is no solution, where intervals show it or isl should not be asked."""
    rows = constraints.inequalities()
    box = intervals.tightened(rows, [EVERYTHING] * constraints.unknowns)
    if box is None:
        return True
    found = any(corner is not None for corner in _corners(constraints, rows, box))
    return False if found or _open(box) > _MANY else None


def _corners(
    constraints: System, rows: Sequence[Inequality], box: Sequence[Interval]
) -> Iterator[list[int] | None]:
    """The solutions at the lower and the upper corner of a box."""
    for end in range(2):
        yield intervals.solution(
            rows, box, ((i, box[i][end]) for i in range(constraints.independent))
        )


def _open(box: Sequence[Interval]) -> int:
    return sum(lower < upper for lower, upper in box)


def _surely(question: Callable[[], bool]) -> bool:
    """Answer of a query, or no after a fixed number of isl's operations: several times the usual
    number."""
    context = _context()
    context.reset_operations()
    context.set_max_operations(_PATIENCE)
    try:
        return question()
    except isl.Error:
        return False
    finally:
        context.set_max_operations(0)


def extents(constraints: System) -> tuple[tuple[int, int], ...]:
    """Least value of each independent unknown, and one more than its greatest.

    The bounds are wider where dozens of unknowns make the least ones too hard to tell. There is
    a solution, and every unknown is bounded.
    """
    rows = constraints.inequalities()
    box = intervals.tightened(rows, [EVERYTHING] * constraints.unknowns)
    assert box is not None
    known = box[: constraints.independent]
    hard = _open(box) > _MANY and all(-inf < lower and upper < inf for lower, upper in known)
    if hard or None not in list(_corners(constraints, rows, box)):
        return tuple((int(lower), int(upper) + 1) for lower, upper in known)
    solutions = constraints.solutions()
    return tuple(_extent(solutions, unknown) for unknown in range(constraints.independent))


def _extent(solutions: isl.Set, unknown: int) -> tuple[int, int]:
    lower = solutions.dim_min_val(unknown).to_python()
    upper = solutions.dim_max_val(unknown).to_python()
    return lower, upper + 1


def solution(solutions: isl.Set) -> tuple[int, ...] | None:
    """Find a solution, if there is one."""
    if solutions.is_empty():
        return None
    point = solutions.sample_point()
    kind = isl.dim_type.set
    count = solutions.dim(kind)
    return tuple(point.get_coordinate_val(kind, i).to_python() for i in range(count))


def covers(solutions: isl.Set, box: Sequence[tuple[int, int, int]]) -> bool:
    """Whether some unknowns are known to take every combination of values in a box.

    ``box`` gives each such unknown with its least value and one more than its greatest, in
    ascending order of the unknowns. This is the one question that can take minutes, where the
    coefficients are large and have nothing to do with each other. So a few combinations are tried
    first, for a quick no; and the answer is no where the proof is too hard.
    """
    wanted = System(len(box))
    for position, (_, lower, upper) in enumerate(box):
        wanted.add_range(position, lower, upper)
    combinations = wanted.solutions()
    if combinations.is_empty():
        return True
    context = _context()
    found = _projected(solutions, {unknown for unknown, _, _ in box})
    if any(_fixed(context, found, probe).is_empty() for probe in set(_probes(box))):
        return False
    return _surely(lambda: combinations.is_subset(found))


def _probes(box: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, ...]]:
    """Some corners of a box, and combinations that differ from them in one place."""
    corners = tuple(lower for _, lower, _ in box), tuple(upper - 1 for _, _, upper in box)
    yield from corners
    for i, (_, lower, upper) in enumerate(box):
        for value in (lower, min(lower + 1, upper - 1), (lower + upper) // 2, upper - 1):
            yield from ((*corner[:i], value, *corner[i + 1 :]) for corner in corners)


def _fixed(context: isl.Context, solutions: isl.Set, values: Sequence[int]) -> isl.Set:
    """The solutions with these values."""
    for unknown, value in enumerate(values):
        solutions = solutions.fix_val(isl.dim_type.set, unknown, _value(context, value))
    return solutions


def _projected(solutions: isl.Set, chosen: set[int]) -> isl.Set:
    """The values that the chosen unknowns take."""
    for unknown in reversed(range(solutions.dim(isl.dim_type.set))):
        if unknown not in chosen:
            solutions = solutions.project_out(isl.dim_type.set, unknown, 1)
    return solutions


def _value(context: isl.Context, value: int) -> isl.Val:
    # The binding takes only machine integers (of 32 bits on some platforms) as such.
    return isl.Val(value if -(2**31) < value < 2**31 else str(value), context)
