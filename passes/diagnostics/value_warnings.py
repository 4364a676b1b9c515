"""Warnings of values: integers that wrap, quotients that are 0, accesses that are never whole."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    TensorType,
    f64,
)
from xdsl.ir import SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import TileOp, name_of, size_of, tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.dialects.tile.elementwise.ops import CastOp, DivOp, IdentOp, MulOp, SizeOp
from tiledialect.dialects.tile.special import ReshapeOp, ScatterOp, SumToOp
from tiledialect.index import sets
from tiledialect.index.contraction import UnboundedIndexError
from tiledialect.language.text import ATOM
from tiledialect.passes.diagnostics.reporting import placed
from tiledialect.passes.diagnostics.value_text import size_text

NARROW = ("int8", "int16", "uint8", "uint16")


def wrapping_sum(op: TileOp) -> str | None:
    """Warning of a sum of integers of 8 or 16 bits, whose types are known."""
    (result,) = op.results
    dtype = NUMPY_TYPES.get(tensor_type(result).element_type)
    if dtype is None or dtype.name not in NARROW or not _sums(op) or not result.uses:
        return None
    kind = et.type_name(tensor_type(result).element_type)
    name = f"the sum {name_of(result)}" if result.name_hint else "a sum"
    summed = name_of(op.operands[0]) if op.operands[0].name_hint else "X"
    return placed(
        op,
        f"{name} is of type {kind}, and wraps beyond {np.iinfo(dtype).max}; "
        f"sum as_int({summed}, 32), under a name of its own, in place of {summed}",
    )


def _sums(op: TileOp) -> bool:
    """Whether several elements may land on one and are added."""
    if not isinstance(op, ContractionOp):
        return isinstance(op, SumToOp | ScatterOp)
    # With as many axes as indices, or more, elements are moved about, if not always.
    axes = sum(not expr.is_constant for expr in op.output.data)
    return op.aggregation.data == Aggregation.add and len(op.index_names) > axes


def vanishing_quotient(op: SizeOp, sizes: dict[SSAValue, int]) -> str | None:
    """Warning of a quotient of sizes that is cut off to 0, and multiplied with a tensor."""
    quotient = op.size.owner
    if not isinstance(quotient, arith.DivSIOp) or sizes[op.size] or not sizes[quotient.lhs]:
        return None
    for use in op.result.uses:
        if isinstance(use.operation, MulOp):
            factor = name_of(use.operation.operands[1 - use.index])
            a, b = (size_text(v).within(ATOM) for v in (quotient.lhs, quotient.rhs))
            real = f"{a}.0" if a.isdigit() else f"as_float({a}, {real_bits(op)})"
            return placed(
                op,
                f"{a} / {b} is a quotient of integers, and 0, and so is its product with {factor}; "
                f"{real} / {b} is real",
            )
    return None


def truncated_mean(op: DivOp, terms: Mapping[SSAValue, int]) -> str | None:
    """Warning of an integer mean: a sum of integers divided by their number, and cut off.

    ``terms`` has the number of elements that sums add up. Where all users of the quotient cast it
    to integers, they are intended.
    """
    divisor, t = constant_of(op.rhs), tensor_type(op.result).element_type
    added = terms.get(_before_copies(op.lhs), 0)
    if (
        divisor is None
        or et.is_float(t)
        or divisor.number <= 1
        or added % divisor.number
        or not added
    ):
        return None
    users = [use.operation for use in op.result.uses]
    if users and all(
        isinstance(user, CastOp) and not et.is_float(tensor_type(user.result).element_type)
        for user in users
    ):
        return None
    name, total = name_of(op.result), name_of(op.lhs)
    what = f"{name} is" if op.result.name_hint else "this is"
    return placed(
        op,
        f"{what} a mean of integers, cut off to an integer; with "
        f"as_float({total}, {real_bits(op)}) in place of {total} it is real, and as_int(…, 32) "
        "around the quotient says that an integer is meant",
    )


def real_bits(op: TileOp) -> int:
    """Return the bits of the reals of a program: 64 where an input of it has these."""
    around = op.parent_op()
    while around is not None and not isinstance(around, func.FuncOp):
        around = around.parent_op()
    # The function gets its type after all ops have theirs.
    given = around.body.block.arg_types if around is not None else ()
    return 64 if any(isinstance(t, TensorType) and t.element_type == f64 for t in given) else 32


def term_count(op: TileOp) -> int:
    """Number of elements, or comparisons, that a sum adds into each result; 0 for other ops."""
    if isinstance(op, SumToOp):
        sizes = size_of(op.operand), size_of(op.result)
        return sizes[0] // sizes[1] if sizes[1] else 0
    if not isinstance(op, ContractionOp) or op.aggregation.data != Aggregation.add:
        return 0
    if op.combination.data not in (Combination.none, Combination.eq):
        return 0
    try:
        ranges = sets.ranges(op.space())
    except UnboundedIndexError:
        return 0
    written = {name for expr in op.output.data for name in expr.names}
    summed = [r.extent for name, r in ranges.items() if name not in written]
    return prod(summed) if summed else 0


def _before_copies(value: SSAValue) -> SSAValue:
    """Source of a chain of copies and reshapes."""
    while isinstance(value.owner, IdentOp | ReshapeOp):
        value = value.owner.operand
    return value


def fractional_access(op: ContractionOp) -> str | None:
    """Warning of an access of a contraction that no indices make whole, as `i + 5/2`."""
    accesses = zip(op.inputs, (a.data for a in op.accesses.data), strict=True)
    for value, access in ((op.result, op.output.data), *accesses):
        for place in access:
            if not place.can_be_whole:
                name = name_of(op.result)
                reads = f"{name} has nothing of {name_of(value)}"
                return placed(
                    op,
                    f"{place} is a whole number for no indices, and "
                    f"{f'nothing of {name} is written' if value is op.result else reads}; a "
                    f"quotient that is cut off is a statement of its own, such as P = K / 2",
                )
    return None
