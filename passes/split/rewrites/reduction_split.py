"""Split of a contraction at one index: partial results, and their aggregate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.aggregation import accumulator_type, neutral
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import name_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import CastOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError
from tiledialect.index.expr import Constraint, IndexExpr, Range
from tiledialect.ir.names import give_name, keep_origin
from tiledialect.passes.normalize.rewrites.change_indices import set_domain, unbounded
from tiledialect.passes.normalize.tile_bounds import needed_constraints
from tiledialect.passes.split.rewrites.piece_names import piece_name
from tiledialect.passes.views.initial_values import filled
from tiledialect.rounding import ceil_div


class ReductionSplit:
    """Split of one index of a contraction.

    The partial results have an axis for the part, and one for each of the output's index
    variables. So the second contraction writes the same places as the original one.
    """

    def __init__(
        self, op: ContractionOp, index: str, parts: int, multiple: int = 1, *, each: bool = False
    ):
        """Split an index into parts; with ``each``, of one value, which need no index.

        Raises:
            TileError: the contraction cannot be split so.
        """
        self.op = op
        self.each = each
        self.index = index
        self.space = op.space()
        self.ranges = _ranges(op)
        extent = self.ranges[index].extent
        if extent < 2:
            self.fail(f"{index} takes {'one value' if extent else 'no values'}")
        # Parts that begin at a multiple of the width of vectors are read with these.
        self.size = ceil_div(extent, parts * multiple) * multiple
        self.parts = ceil_div(extent, self.size)
        self.part = next(n for n in _names(f"{index}_part") if n not in op.index_names)
        self.type = accumulator_type(op)
        self.start = neutral(op.aggregation.data, self.type)
        """Value from which partial results are aggregated."""
        self._check_unwritten()

    def fail(self, reason: str) -> None:
        """Raise the error of a contraction that cannot be split."""
        raise TileError.at(self.op, f"{name_of(self.op.result)} cannot be split: {reason}")

    @property
    def places(self) -> tuple[IndexExpr, ...]:
        """Places of the output's variables in the partial results."""
        return tuple(IndexExpr.of(n) - self.ranges[n].lower for n in self.space.output_variables)

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents of the output's variables."""
        return tuple(self.ranges[n].extent for n in self.space.output_variables)

    @property
    def written(self) -> tuple[Constraint, ...]:
        """Constraints of the written places to the result."""
        return self.space.accesses[: len(self.space.output)]

    def partial_space(self) -> IndexSpace:
        """Points of the partial results: the contraction's points, each in its part."""
        part = self.ranges[self.index].lower + self.size * IndexExpr.of(self.part)
        inner = IndexExpr.of(0 if self.each else self.index)
        moved = self.space.substitute({self.index: part + inner})
        space = IndexSpace(
            (IndexExpr.of(self.part), *self.places),
            (self.parts, *self.extents),
            moved.inputs,
            moved.input_shapes,
            (
                *moved.constraints,
                Constraint(inner, IndexExpr.of(self.size)),
                *self.written,
            ),
        )
        kept = tuple(space.constraints[k] for k in needed_constraints(space))
        return replace(space, constraints=kept)

    def _check_unwritten(self) -> None:
        """Refuse if the second contraction would write elements that the first one did not.

        A 0 that is written over a 0 is harmless.
        """
        is_zero = self.start == 0 and self.op.default is None
        written = IndexSpace(
            self.places,
            self.extents,
            self.space.inputs,
            self.space.input_shapes,
            (*self.space.constraints, *self.written),
        )
        if not is_zero and not sets.covers_output(written):
            left = "0" if self.op.default is None else "the default"
            self.fail(
                f"elements on which nothing lands must be {left}, and not {self.start}; "
                "tile-reduce and tile-defract may help"
            )

    def ops(self) -> list[Operation]:
        """Ops that replace the contraction; the last one's result is its result."""
        op, t, start, space = self.op, self.type, self.start, self.partial_space()
        made: list[Operation] = []
        partial = self._contraction(op.combination.data, space, op.inputs, None)
        # A default may widen the type in which the result is aggregated, and so its parts.
        narrow = tensor_type(partial.result).element_type != t
        if narrow or (start != 0 and not sets.covers_output(space)):
            made += filled(start, t, space.output_shape)
            partial.erase()
            neutral_values = made[-1].results[0]
            partial = self._contraction(op.combination.data, space, op.inputs, neutral_values)
        access = (IndexExpr.of(self.part), *self.places)
        total = self._contraction(
            Combination.none,
            IndexSpace(
                self.space.output,
                self.space.output_shape,
                (access,),
                (space.output_shape,),
            ),
            [partial.result],
            op.default,
        )
        made += [partial, total]
        wanted = tensor_type(op.result).element_type
        if tensor_type(total.result).element_type != wanted:
            made.append(CastOp.to(total.result, wanted))
        for new in made:
            if isinstance(new, ContractionOp) and op.domain is not None:
                set_domain(new, new.space())
        give_name(partial.result, piece_name(op, "parts"))
        give_name(total.result, "total")
        keep_origin(made, op)
        return made

    def _contraction(
        self,
        combination: Combination,
        space: IndexSpace,
        inputs: Sequence[SSAValue],
        default: SSAValue | None,
    ) -> ContractionOp:
        return ContractionOp(
            self.op.aggregation.data,
            combination,
            space.output,
            list(zip(inputs, space.inputs, strict=True)),
            space.constraints,
            shape=space.output_shape,
            default=default,
            no_defract=self.op.no_defract is not None,
            is_wide=True,
        )


def _ranges(op: ContractionOp) -> dict[str, Range]:
    try:
        return sets.ranges(op.space())
    except UnboundedIndexError as e:
        raise unbounded(op, e) from None


def _names(base: str) -> Iterator[str]:
    yield base
    yield from (f"{base}_{k}" for k in count(1))


def split_obstacle(op: ContractionOp, index: str) -> str | None:
    """Reason for which a contraction cannot be split at an index, if it is plain to see."""
    if index not in op.index_names:
        return f"it has no index {index}, but {', '.join(op.index_names)}"
    if index in {name for e in op.output.data for name in e.names}:
        return f"{index} is an index of the result"
    if op.aggregation.data is Aggregation.assign:
        return "every element is assigned once"
    if not op.is_static:
        return "its sizes are not known: run tile-specialize first"
    if isinstance(op.parent_op(), KernelOp):
        return "it is in a kernel: run tile-split-reduction before tile-fuse"
    return None
