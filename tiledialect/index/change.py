"""Common part of the passes on index spaces: a change of the index variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import Constraint, IndexExpr


@dataclass(frozen=True)
class Change:
    """A space written in new variables, and each old variable in terms of them.

    The points of the old space and of the new one correspond one to one, and corresponding
    points access the same elements of all tensors. ``values`` is empty where the variables stay.
    """

    space: IndexSpace
    values: dict[str, IndexExpr] = field(default_factory=dict[str, IndexExpr])


def changed(space: IndexSpace, values: dict[str, IndexExpr]) -> IndexSpace:
    """The space in new variables, with the offset of each expression last."""
    new = space.substitute(values)
    return IndexSpace(
        tuple(map(_offset_last, new.output)),
        new.output_shape,
        tuple(tuple(map(_offset_last, tensor)) for tensor in new.inputs),
        new.input_shapes,
        tuple(Constraint(_offset_last(c.expr), c.bound) for c in new.constraints),
    )


def _offset_last(expr: IndexExpr) -> IndexExpr:
    return IndexExpr(tuple(sorted(expr.terms, key=lambda term: not term[0])))


def nothing(space: IndexSpace) -> Change:
    """The change to a space that has no points: every index is 0, and ``0 <= 0 < 0``."""
    zero = IndexExpr()
    empty = IndexSpace(
        (zero,) * len(space.output_shape),
        space.output_shape,
        tuple((zero,) * len(shape) for shape in space.input_shapes),
        space.input_shapes,
        (Constraint(zero, zero),),
    )
    return Change(empty, dict.fromkeys(space.variables, zero))


def coefficients(expr: IndexExpr, variables: tuple[str, ...]) -> list[Fraction]:
    """The coefficients of the variables, in order."""
    terms = dict(expr.terms)
    return [terms.get((name,), Fraction(0)) for name in variables]
