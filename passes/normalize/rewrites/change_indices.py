"""Changes of a contraction's index variables, domain and constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from tiledialect.dialects.tile.attributes import AccessAttr, ConstraintAttr, DomainAttr
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.change import Change
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError
from tiledialect.ir.ancestors import nearest
from tiledialect.ir.ops_in import ops_of


def contractions_of(module: ModuleOp) -> Iterator[ContractionOp]:
    """Contractions whose variables can be changed: static ones outside of kernels, whose schedules
    may name their indices.
    """
    for op in ops_of(module, ContractionOp):
        if op.is_static and nearest(KernelOp, op) is None:
            yield op


def change_indices(op: ContractionOp, change: Callable[[IndexSpace], Change]) -> None:
    """Change the variables of a static contraction, in place."""
    try:
        set_space(op, change(op.space()).space)
    except UnboundedIndexError as e:
        raise unbounded(op, e) from None


def unbounded(op: ContractionOp, error: UnboundedIndexError) -> TileError:
    """Error of an unbounded index."""
    result = name_of(op.result)
    return TileError.at(op, f"nothing bounds the index {error.name} of {result}: add a constraint")


def set_space(op: ContractionOp, space: IndexSpace) -> None:
    """Give a contraction the index expressions and constraints of ``space``, in place.

    A domain is recomputed, if there was one.
    """
    op.output = AccessAttr(space.output)
    op.accesses = ArrayAttr([AccessAttr(access) for access in space.inputs])
    op.constraints = ArrayAttr([ConstraintAttr(c) for c in space.constraints])
    if op.domain is not None:
        set_domain(op, space)


def set_domain(op: ContractionOp, space: IndexSpace) -> None:
    """Set a contraction's domain to the bounding box of its points."""
    ranges = sets.ranges(space)
    op.domain = DomainAttr(tuple((name, ranges[name]) for name in op.index_names))
