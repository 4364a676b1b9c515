"""Warnings of reads: of a part of a tensor, of nothing, or clamped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.base import name_of, shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ElementwiseOp
from tiledialect.dialects.tile.special import GatherOp, ScatterOp, SizedOp
from tiledialect.errors import count
from tiledialect.index import sets
from tiledialect.index.contraction import UnboundedIndexError
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.names import from_hint, given_name
from tiledialect.ir.signature import argument_dims
from tiledialect.passes.diagnostics.reporting import placed

AxisNames = tuple[str | None, ...]
"""Names of the dimensions of a tensor in the program; None for one without a name."""


def header_names(function: func.FuncOp) -> dict[SSAValue, AxisNames]:
    """Names that a header gives the dimensions of its tensors; numbers are none."""
    return {
        argument: tuple(None if dim.isdecimal() else dim for dim in dims)
        for argument, dims in zip(function.body.block.args, argument_dims(function), strict=False)
        if dims is not None
    }


def axis_names(op: Operation, known: Mapping[SSAValue, AxisNames]) -> AxisNames:
    """Names of the dimensions of an op's result, by its sizes or its operands."""
    if isinstance(op, ContractionOp | SizedOp):
        given = map(given_name, op.sizes)
        shape = shape_of(tensor_type(op.result)) or ()
        return tuple(next(given) if size == DYNAMIC_INDEX else None for size in shape)
    return _broadcast_names(op, known) if isinstance(op, ElementwiseOp) else ()


def _broadcast_names(op: ElementwiseOp, known: Mapping[SSAValue, AxisNames]) -> AxisNames:
    """Names along the operands' axes that are not repeated."""
    shape = shape_of(tensor_type(op.results[0])) or ()
    names: list[str | None] = [None] * len(shape)
    for value in op.operands:
        own = shape_of(tensor_type(value)) or ()
        for axis, name in enumerate(reversed(known.get(value, ())), 1):
            if own[-axis] == shape[-axis] and names[-axis] is None:
                names[-axis] = name
    return tuple(names)


# -- parts -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """Dimension of a tensor along which an index runs alone."""

    operand: int
    tensor: SSAValue
    axis: int
    name: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return shape_of(tensor_type(self.tensor)) or ()

    @property
    def size(self) -> int:
        """Number of places along the dimension."""
        return self.shape[self.axis]

    @property
    def places(self) -> str:
        """Number of places along the dimension, and the word for them."""
        return _places(self.shape, self.axis)


def partial_read(op: ContractionOp, known: Mapping[SSAValue, AxisNames]) -> str | None:
    """Warning of an index along two named dimensions of different sizes.

    A constraint on the index declares it intended.
    """
    constrained = {name for c in op.constraints.data for name in c.data.expr.names}
    by_index: dict[str, list[Read]] = {}
    for index, read in _lone_reads(op, known):
        if index not in constrained:
            by_index.setdefault(index, []).append(read)
    for name, reads in by_index.items():
        index = from_hint(name)
        least = min(reads, key=lambda read: read.size)
        for read in reads:
            # An index along both axes of one tensor takes the diagonal.
            if read.size > least.size and read.operand != least.operand:
                of = f"{name_of(read.tensor)}'s {read.places} ({read.name})"
                other = f"{name_of(least.tensor)} has {least.places} ({least.name})"
                return placed(
                    op,
                    f"`{index}` runs over {least.size} of {of}, as {other}; the constraint "
                    f"`{index} < {least.name}` says that it may, one name for both that it may not",
                )
    return None


def _lone_reads(
    op: ContractionOp, known: Mapping[SSAValue, AxisNames]
) -> Iterator[tuple[str, Read]]:
    """The named dimensions along which an index runs alone."""
    for operand, (value, access) in enumerate(zip(op.inputs, op.accesses.data, strict=True)):
        names = known.get(value, ())
        for axis, (place, name) in enumerate(zip(access.data, names, strict=False)):
            if name is not None and place.variable is not None:
                yield place.variable, Read(operand, value, axis, name)


# -- nothing ---------------------------------------------------------------------------------


def empty_contraction(op: ContractionOp, written: ContractionOp) -> str | None:
    """Warning of a contraction whose indices fit nowhere, though no tensor is empty.

    ``written`` is the contraction with its sizes open. A bound that dimensions make 0 is
    intended: nothing was to be read.
    """
    space = op.space()
    if not all((*space.output_shape, *(n for shape in space.input_shapes for n in shape))):
        return None
    bounds = zip((c.data for c in written.constraints), space.constraints, strict=True)
    if any(open_.bound.names and not c.bound.constant for open_, c in bounds):
        return None
    try:
        sets.ranges(space)
    except UnboundedIndexError:
        return None
    if not sets.is_empty(space):
        return None
    name = name_of(op.result)
    *most, last = dict.fromkeys(map(name_of, op.inputs))
    tensors = f"{', '.join(most)} and {last}" if most else last
    return placed(op, f"{_reason(op, space.constraints)}; {name} has nothing of {tensors}")


def _reason(op: ContractionOp, constraints: tuple[Constraint, ...]) -> str:
    """Reason for which the indices of a contraction fit nowhere."""
    accesses = zip(op.inputs, (a.data for a in op.accesses.data), strict=True)
    for value, access in (*accesses, (op.result, op.output.data)):
        shape = shape_of(tensor_type(value)) or ()
        for axis, (place, size) in enumerate(zip(access, shape, strict=True)):
            if place.is_constant and not 0 <= place.constant < size:
                return _outside(name_of(value), place, shape, axis)
    for c in constraints:
        if c.bound.constant <= 0:
            return f"`{c.expr} < {c.bound}` means `{c}`, which holds nowhere"
    return "no indices lie inside of all tensors and constraints"


def _outside(name: str, place: IndexExpr, shape: tuple[int, ...], axis: int) -> str:
    text = f"{place} is outside of {name}, which has {_places(shape, axis)}"
    # Elsewhere -1 is the last place.
    return f"{text}, and the last is {shape[axis] - 1}" if place.constant < 0 else text


def _places(shape: tuple[int, ...], axis: int) -> str:
    """Number of places along an axis: rows and columns for matrices."""
    if len(shape) == 2:
        return count(shape[axis], *(("row", "rows") if axis == 0 else ("column", "columns")))
    places = count(shape[axis], "place", "places")
    return places if len(shape) == 1 else f"{places} along axis {axis}"


# -- clamped ---------------------------------------------------------------------------------


def out_of_range_places(op: GatherOp | ScatterOp) -> str | None:
    """Warning of invalid places: a mask, or a number outside of the tensor."""
    tensor = op.tensor if isinstance(op, GatherOp) else op.like
    size = (shape_of(tensor_type(tensor)) or (0,))[0]
    function = op.name.removeprefix("tile.")
    if tensor_type(op.indices).element_type == i1:
        mask = name_of(op.indices)
        return placed(
            op,
            f"`{function}` takes places, and {mask} holds bools, which name places 0 and 1; "
            f"where a mask holds, `{mask if op.indices.name_hint else 'Mask'} ? A : 0` keeps A",
        )
    number = constant_of(op.indices)
    if number is None or 0 <= number.number < size:
        return None
    name = name_of(tensor)
    instead = "takes the nearest inside" if isinstance(op, GatherOp) else "leaves it out"
    return placed(
        op,
        f"place {number.number} is outside of {name}, whose places are 0 to {size - 1}, "
        f"and `{function}` {instead}",
    )
