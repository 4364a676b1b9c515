"""Exact questions about one component, answered over the integers and remembered."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from tiledialect import caches
from tiledialect.index import system
from tiledialect.index.component import Component, ConstraintRow
from tiledialect.index.lattice import first_undetermined, rank
from tiledialect.index.system import System

Box = tuple[tuple[int, int], ...]
"""Least value of each variable, and one more than its greatest."""


class UnboundedVariableError(Exception):
    """No row bounds the variable with that number."""

    def __init__(self, variable: int):
        super().__init__(variable)
        self.variable = variable


class RowTest(Enum):
    """The three things that a row says of the value of its expression."""

    LOWER = "is not negative"
    UPPER = "is less than the bound"
    DIVISIBLE = "is an integer"


Condition = tuple[int, RowTest]
"""A test of the row with that number."""


# -- as systems ----------------------------------------------------------------------------------


def _form(row: ConstraintRow, offset: int = 0, scale: int = 1) -> dict[int, int]:
    return {offset + i: scale * c for i, c in enumerate(row.coefficients) if c}


def _add_points(constraints: System, component: Component, offset: int = 0) -> list[int]:
    """Ask that the unknowns from ``offset`` on are a point.

    Gives the unknowns that are the values of the component's rows of the output.
    """
    values: list[int] = []
    for number, row in enumerate(component.rows):
        if number >= component.outputs and row.divisor == 1:
            _add_test(constraints, row, RowTest.LOWER, offset)
            _add_test(constraints, row, RowTest.UPPER, offset)
            continue
        value = constraints.new_unknown()
        constraints.add_zero({**_form(row, offset), value: -row.divisor}, row.constant)
        constraints.add_range(value, 0, row.bound)
        if number < component.outputs:
            values.append(value)
    return values


@caches.INTEGER_SETS
def is_empty(component: Component) -> bool:
    """Whether there is no point."""
    constraints = System(component.size)
    _add_points(constraints, component)
    return system.is_empty(constraints)


@caches.INTEGER_SETS
def bounding_box(component: Component) -> Box:
    """The least box found that holds all points; of extents 0 if there is none.

    Raises ``UnboundedVariableError``.
    """
    unbounded = first_undetermined([row.coefficients for row in component.rows], component.size)
    if unbounded is not None:
        raise UnboundedVariableError(unbounded)
    if is_empty(component):
        return ((0, 0),) * component.size
    constraints = System(component.size)
    _add_points(constraints, component)
    return system.extents(constraints)


@caches.INTEGER_SETS
def sample(component: Component) -> tuple[int, ...] | None:
    """Find a point, if there is one."""
    constraints = System(component.size)
    _add_points(constraints, component)
    found = system.solution(constraints.solutions())
    return None if found is None else found[: component.size]


# -- what a loop nest has to test ----------------------------------------------------------------


@caches.INTEGER_SETS
def guards(component: Component, box: Box) -> tuple[Condition, ...]:
    """Conditions that, tested at every integer point of ``box``, leave exactly the points.

    None of them follows from the others, as far as that can be told.
    """
    if any(lower >= upper for lower, upper in box):
        return ()
    conditions = [
        (number, test)
        for number, row in enumerate(component.rows)
        for test in RowTest
        if not _holds_by_interval(row, test, box)
    ]
    for condition in reversed(tuple(conditions)):
        others = [other for other in conditions if other != condition]
        if _is_implied(component, condition, others, box):
            conditions = others
    return tuple(conditions)


def _holds_by_interval(row: ConstraintRow, test: RowTest, box: Box) -> bool:
    """Whether the box alone, taken interval by interval, shows that the test succeeds."""
    if test is RowTest.DIVISIBLE:
        return row.divisor == 1
    ends = [(c * lo, c * (up - 1)) for c, (lo, up) in zip(row.coefficients, box, strict=True)]
    if test is RowTest.LOWER:
        return row.constant + sum(map(min, ends)) >= 0
    return row.constant + sum(map(max, ends)) < row.bound * row.divisor


def _is_implied(
    component: Component, condition: Condition, others: list[Condition], box: Box
) -> bool:
    constraints = System(component.size)
    for variable, (lower, upper) in enumerate(box):
        constraints.add_range(variable, lower, upper)
    for number, test in others:
        _add_test(constraints, component.rows[number], test)
    number, test = condition
    _add_failure(constraints, component.rows[number], test)
    return system.is_surely_empty(constraints)


def _add_test(constraints: System, row: ConstraintRow, test: RowTest, offset: int = 0) -> None:
    if test is RowTest.LOWER:
        constraints.add_not_negative(_form(row, offset), row.constant)
    elif test is RowTest.UPPER:
        limit = row.bound * row.divisor - 1
        constraints.add_not_negative(_form(row, offset, -1), limit - row.constant)
    else:
        quotient = constraints.new_unknown()
        constraints.add_zero({**_form(row, offset), quotient: -row.divisor}, row.constant)


def _add_failure(constraints: System, row: ConstraintRow, test: RowTest) -> None:
    if test is RowTest.LOWER:
        constraints.add_not_negative(_form(row, scale=-1), -1 - row.constant)
    elif test is RowTest.UPPER:
        limit = row.bound * row.divisor
        constraints.add_not_negative(_form(row), row.constant - limit)
    else:
        quotient, remainder = constraints.new_unknown(), constraints.new_unknown()
        form = {**_form(row), quotient: -row.divisor, remainder: -1}
        constraints.add_zero(form, row.constant)
        constraints.add_range(remainder, 1, row.divisor)


@caches.INTEGER_SETS
def implied_rows(component: Component, candidates: tuple[int, ...]) -> tuple[int, ...]:
    """Rows among ``candidates`` that can be dropped together without adding points.

    Of two that follow from each other, the first there is dropped; none is where there is no point.
    """
    dropped: list[int] = []
    if is_empty(component):
        return ()
    for number in candidates:
        others = [i for i in range(len(component.rows)) if i != number and i not in dropped]
        rest = Component(component.size, tuple(component.rows[i] for i in others), 0)
        if all(_holds_everywhere(rest, component.rows[number], test) for test in RowTest):
            dropped.append(number)
    return tuple(dropped)


def _holds_everywhere(component: Component, row: ConstraintRow, test: RowTest) -> bool:
    if test is RowTest.DIVISIBLE and row.divisor == 1:
        return True
    constraints = System(component.size)
    _add_points(constraints, component)
    _add_failure(constraints, row, test)
    return system.is_surely_empty(constraints)


# -- the output ----------------------------------------------------------------------------------


@caches.INTEGER_SETS
def collision(component: Component) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Two points that agree in the rows of the output, if there are such."""
    size, outputs = component.size, component.rows[: component.outputs]
    if rank([row.coefficients for row in outputs]) == size:
        return None
    constraints = System(2 * size)
    _add_points(constraints, component)
    _add_points(constraints, component, size)
    for row in outputs:
        constraints.add_zero({**_form(row), **_form(row, size, -1)})
    pairs = constraints.solutions()
    for variable in range(size):
        smaller = System(constraints.unknowns)
        smaller.add_not_negative({variable: -1, size + variable: 1}, -1)
        found = system.solution(pairs.intersect(smaller.solutions()))
        if found is not None:
            return found[:size], found[size : 2 * size]
    return None


@caches.INTEGER_SETS
def covers_output(component: Component) -> bool:
    """Whether the rows of the output take every combination of values inside their bounds."""
    constraints = System(component.size)
    values = _add_points(constraints, component)
    box = [(value, 0, row.bound) for value, row in zip(values, component.rows, strict=False)]
    return system.covers(constraints.solutions(), box)


@caches.INTEGER_SETS
def is_full(component: Component) -> bool:
    """Whether the variables of the output take every combination of values in their box."""
    outputs = component.rows[: component.outputs]
    box = [
        (variable, *bounds)
        for variable, bounds in enumerate(bounding_box(component))
        if any(row.coefficients[variable] for row in outputs)
    ]
    constraints = System(component.size)
    _add_points(constraints, component)
    return system.covers(constraints.solutions(), box)


# -- enumeration ---------------------------------------------------------------------------------


def points(component: Component) -> npt.NDArray[Any]:
    """All points, one per row, in lexicographic order."""
    columns = box_values(component)
    found = np.zeros((1, 0), columns[0].dtype if columns else np.int64)
    for variable, values in enumerate(columns):
        column = np.tile(values, len(found))[:, None]
        found = np.hstack([np.repeat(found, len(values), axis=0), column])
        found = found[_mask(component, found, variable)]
    return found[:0] if is_empty(component) else found


def box_values(component: Component) -> list[npt.NDArray[Any]]:
    """Values of each variable in the bounding box.

    The type is ``int64``, or ``object`` (Python's integers) where a row's value could overflow.
    """
    box = bounding_box(component)
    largest = max((_magnitude(row, box) for row in component.rows), default=0)
    dtype = np.int64 if largest < 2**62 else np.dtype(object)
    return [np.arange(upper - lower).astype(dtype) + lower for lower, upper in box]


@caches.INTEGER_SETS
def is_box(component: Component) -> bool:
    """Whether all of the bounding box are points; it may be false where a row has a divisor."""
    box = bounding_box(component)
    return all(_holds_by_interval(row, test, box) for row in component.rows for test in RowTest)


def _magnitude(row: ConstraintRow, box: Box) -> int:
    ends = zip(row.coefficients, box, strict=True)
    return (
        abs(row.constant)
        + row.divisor
        + sum(abs(c) * max(abs(lo), abs(up)) for c, (lo, up) in ends)
    )


def _mask(component: Component, found: npt.NDArray[Any], last: int) -> npt.NDArray[np.bool_]:
    """Mask of the partial points that satisfy the rows whose last variable is ``last``."""
    mask = np.ones(len(found), np.bool_)
    for row in component.rows:
        if row.coefficients[last] and not any(row.coefficients[last + 1 :]):
            value = row.constant + sum(
                c * found[:, i] for i, c in enumerate(row.coefficients[: last + 1]) if c
            )
            mask &= (value >= 0) & (value < row.bound * row.divisor) & (value % row.divisor == 0)
    return mask
