"""Integer points of a contraction: the elements that it reads and writes, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

from tiledialect import caches
from tiledialect.index.component import PlacedComponent, partition
from tiledialect.index.expr import Constraint, IndexExpr, Rational
from tiledialect.lazy import lazy


class UnboundedIndexError(Exception):
    """Neither a tensor nor a constraint bounds the index ``name``."""

    def __init__(self, name: str):
        super().__init__(f"nothing bounds the index {name}")
        self.name = name


@dataclass(frozen=True)
class IndexSpace:
    """Index part of a contraction whose sizes are all known.

    Its points are the assignments of integers to the index variables for which every index
    expression is an integer inside its tensor and the expression of every constraint is an
    integer inside its bounds. Each point combines one element of every input into one element
    of the output; several points may do so with the same elements.
    """

    output: tuple[IndexExpr, ...]
    output_shape: tuple[int, ...]
    inputs: tuple[tuple[IndexExpr, ...], ...] = ()
    input_shapes: tuple[tuple[int, ...], ...] = ()
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self):
        ranks = [(self.output, self.output_shape)]
        ranks += zip(self.inputs, self.input_shapes, strict=True)
        if any(len(indices) != len(shape) for indices, shape in ranks):
            raise ValueError("a tensor has as many indices as dimensions")
        if any(not c.bound.is_constant or not c.expr.is_affine for c in self.constraints):
            raise ValueError("an index space holds no symbols")

    @lazy
    def accesses(self) -> tuple[Constraint, ...]:
        """Constraints of every index to its tensor: the output's first, then input by input."""
        pairs = list(zip(self.output, self.output_shape, strict=True))
        for indices, shape in zip(self.inputs, self.input_shapes, strict=True):
            pairs += zip(indices, shape, strict=True)
        return tuple(Constraint(index, IndexExpr.of(size)) for index, size in pairs)

    def all_constraints(self) -> tuple[Constraint, ...]:
        """Constraints at every point: ``accesses``, then ``constraints``."""
        return self.accesses + self.constraints

    @lazy
    def variables(self) -> tuple[str, ...]:
        """The index names, in order of appearance in ``all_constraints``."""
        found = (name for constraint in self.all_constraints() for name in constraint.expr.names)
        return tuple(dict.fromkeys(found))

    @lazy
    def output_variables(self) -> tuple[str, ...]:
        """The index names that occur in the output's index expressions, in order."""
        return tuple(dict.fromkeys(name for index in self.output for name in index.names))

    @property
    def components(self) -> tuple[PlacedComponent, ...]:
        """The space as a product of independent components."""
        return _components(self)

    @lazy
    def written(self) -> Written:
        """The space with equality by the order of its terms."""
        return Written(self)

    def substitute(self, values: Mapping[str, IndexExpr | Rational]) -> IndexSpace:
        """The space with names replaced, all at once."""
        return IndexSpace(
            tuple(index.substitute(values) for index in self.output),
            self.output_shape,
            tuple(tuple(index.substitute(values) for index in tensor) for tensor in self.inputs),
            self.input_shapes,
            tuple(constraint.substitute(values) for constraint in self.constraints),
        )

    def __str__(self) -> str:
        tensors = ["[" + ", ".join(map(str, tensor)) + "]" for tensor in self.inputs]
        head = "[" + ", ".join(map(str, self.output)) + "]"
        text = f"{head} <- {' '.join(tensors)}".rstrip()
        return text + "".join(f", {constraint}" for constraint in self.constraints)


class Written:
    """A space, equal to those with the same terms in the same order.

    The order has no meaning, so that spaces are equal without it; but answers show it.
    """

    def __init__(self, space: IndexSpace):
        self.space = space
        self.terms = (
            tuple(e.terms for e in space.output),
            space.output_shape,
            tuple(tuple(e.terms for e in access) for access in space.inputs),
            space.input_shapes,
            tuple((c.expr.terms, c.bound.terms) for c in space.constraints),
        )
        self._hash = hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self.terms == other.terms


T = TypeVar("T")


def remembered(ask: Callable[[IndexSpace], T]) -> Callable[[IndexSpace], T]:
    """Keep the answers of a function: in the layers of a network the same spaces come back."""

    @caches.INDEX_SPACES
    def kept(written: Written) -> T:
        return ask(written.space)

    @wraps(ask)
    def answer(space: IndexSpace) -> T:
        return kept(space.written)

    return answer


@remembered
def _components(space: IndexSpace) -> tuple[PlacedComponent, ...]:
    return partition(space.all_constraints(), space.variables, len(space.output))
