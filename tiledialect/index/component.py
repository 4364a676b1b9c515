"""A space falls apart into components that share no variable; each is analysed by itself.

Most questions about a contraction are questions about its components: a convolution is one
component for each spatial dimension and one for each of batch and channels. Components are tiny
and the same ones come back in every layer of a network, so answers are kept by component. A
component holds no names: two contractions that differ in names only share answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from tiledialect.index.expr import Constraint
from tiledialect.lazy import lazy


@dataclass(frozen=True)
class ConstraintRow:
    """Constraint that ``(coefficients * x + constant) / divisor`` is an integer in ``0 ..
    bound``."""

    coefficients: tuple[int, ...]
    constant: int
    divisor: int
    bound: int


@dataclass(frozen=True)
class Component:
    """Integers ``x[0] … x[size - 1]`` for which all ``rows`` hold.

    The first ``outputs`` rows are indices of the output.
    """

    size: int
    rows: tuple[ConstraintRow, ...]
    outputs: int

    @lazy
    def _hash(self) -> int:
        return hash((self.rows, self.outputs))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True)
class PlacedComponent:
    """A component with its place in its space.

    ``names`` are the names of its variables, ``rows`` the number in ``all_constraints`` of the
    space of each of its rows.
    """

    component: Component
    names: tuple[str, ...]
    rows: tuple[int, ...]


def row_of(constraint: Constraint, names: tuple[str, ...]) -> ConstraintRow:
    """The row that says ``constraint`` of the variables ``names``."""
    expr = constraint.expr
    divisor = expr.denominator
    coefficients = tuple(int(expr.coefficient(name) * divisor) for name in names)
    return ConstraintRow(
        coefficients, int(expr.constant * divisor), divisor, ceil(constraint.bound.constant)
    )


def partition(
    constraints: Sequence[Constraint], variables: Sequence[str], outputs: int
) -> tuple[PlacedComponent, ...]:
    """The components of ``constraints``; those without variables form one of their own.

    The first ``outputs`` of them are of the output. ``variables`` are all names, in order.
    """
    group_of: dict[str, list[str]] = {}
    for constraint in constraints:
        _join(group_of, constraint.expr.names)
    positions: dict[tuple[str, ...], list[int]] = {}
    for position, constraint in enumerate(constraints):
        names = constraint.expr.names
        group = tuple(group_of[names[0]]) if names else ()
        positions.setdefault(group, []).append(position)
    parts: list[PlacedComponent] = []
    for group, where in positions.items():
        names = tuple(name for name in variables if name in group)
        rows = tuple(row_of(constraints[position], names) for position in where)
        component = Component(len(names), rows, sum(position < outputs for position in where))
        parts.append(PlacedComponent(component, names, tuple(where)))
    return tuple(parts)


def _join(group_of: dict[str, list[str]], names: tuple[str, ...]) -> None:
    """Make one group of the groups of ``names``."""
    groups = {id(group): group for name in names for group in [group_of.setdefault(name, [name])]}
    joined = [name for group in groups.values() for name in group]
    for name in joined:
        group_of[name] = joined
