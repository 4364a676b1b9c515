"""Giving names of sizes their values, throughout a piece of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift.attributes import IndexMapAttr, SizeAttr, SizesAttr
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.layout import ReorderOp
from tiledialect.dialects.lift.reductions import IterateOp
from tiledialect.dialects.lift.types import (
    MismatchError,
    SizeSolver,
    names_in,
    sizes_of,
    substituted,
)
from tiledialect.dialects.lift.values import AtOp, SizeOp
from tiledialect.errors import TileError
from tiledialect.index.size import Size
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.names import with_type

Values = Mapping[str, Size | int]

UNKNOWN_SIZE = "no input tells what size {0} is: bind it, as Derivation.bind({0}=4) and lift-bind"


def bind(root: Operation, values: Values) -> None:
    """Replace names of sizes in ``root`` and all ops in it, in place.

    Raises a TileError, at the op, where a size cannot have its value.
    """
    if not values:
        return
    # Errors of the ops in a function are more precise than errors of the op around it.
    for step, inner_first in ((_bind_arguments, False), (_bind_results, True)):
        for op in root.walk(region_first=inner_first):
            try:
                step(op, values)
            except (VerifyException, ZeroDivisionError, ValueError) as error:
                raise TileError.at(op, str(error)) from None
    for op in root.walk():
        if isinstance(op, func.FuncOp):
            op.update_function_type()


def _bind_arguments(op: Operation, values: Values) -> None:
    for attributes in (op.properties, op.attributes):
        for name, attribute in attributes.items():
            attributes[name] = bound(attribute, values)
    for argument in [a for region in op.regions for block in region.blocks for a in block.args]:
        with_type(argument, substituted(argument.type, values))


def _bind_results(op: Operation, values: Values) -> None:
    for value in op.results:
        try:
            t = substituted(value.type, values)
        except VerifyException:
            if isinstance(op, LiftOp):
                op.inferred_type()  # which says in the pattern's terms what is wrong
            raise
        if t != value.type:
            with_type(value, t)
    if isinstance(op, AtOp | ReorderOp | SizeOp):
        op.inferred_type()  # which checks the place, the map or the size for what is known now


def bound(attribute: Attribute, values: Values) -> Attribute:
    """The attribute with names of sizes replaced."""
    match attribute:
        case SizeAttr():
            return SizeAttr(attribute.data.substitute(values))
        case IndexMapAttr():
            return IndexMapAttr(attribute.data.substitute(values))
        case _:
            return attribute


def bind_sizes(
    function: func.FuncOp, names: Sequence[str], types: Sequence[TensorType[Attribute]]
) -> None:
    """Give the names of sizes in a function the values that its inputs' static types tell.

    Raises a TileError, in the names of the inputs, if sizes contradict each other, or an op cannot
    have the sizes that it gets, or there is a size that no input tells.
    """
    bind(function, solve(names, function.function_type.inputs.data, types))
    for op in function.walk():
        unknown = (names_of(op) - local_names(op)) if isinstance(op, LiftOp) else ()
        if unknown:
            raise TileError.at(op, UNKNOWN_SIZE.format(min(unknown)))


def solve(
    names: Sequence[str], declared: Sequence[Attribute], given: Sequence[TensorType[Attribute]]
) -> dict[str, Size]:
    """Values of the names of sizes if inputs are of the ``given`` types."""
    solver = SizeSolver()
    for name, wanted, t in zip(names, declared, given, strict=True):
        if isinstance(wanted, TensorType) and isinstance(wanted.encoding, SizesAttr):
            for axis, (size, known) in enumerate(zip(sizes_of(wanted), t.get_shape(), strict=True)):
                solver.equate(size, Size.of(known), f"{name} (axis {axis})")
    try:
        return solver.solve()
    except MismatchError as error:
        raise TileError(str(error)) from None


def names_of(op: Operation) -> frozenset[str]:
    """Names of sizes in an op, without the ops in its regions."""
    found: set[str] = set()
    for t in (*op.result_types, *(t for region in op.regions for t in region.block.arg_types)):
        found |= names_in(t)
    for attribute in op.properties.values():
        if isinstance(attribute, SizeAttr):
            found |= attribute.data.names
        elif isinstance(attribute, IndexMapAttr):
            found |= {*attribute.data.expr.names} - {attribute.data.variable}
    return frozenset(found)


def local_names(op: Operation) -> frozenset[str]:
    """The names of sizes that only an iteration and the ops inside it know."""
    iterations = [x for x in (op, *ancestors(op)) if isinstance(x, IterateOp)]
    return frozenset().union(*(names_in(x.block.args[0].type) for x in iterations))
