"""Base of the patterns that convert StableHLO."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import DenseArrayBase, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.elementwise.folding import fold_elementwise
from tiledialect.errors import TileError
from tiledialect.ir.names import place_of, take_name
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.layout import cast, shape

Conversion: TypeAlias = Callable[[TensorBuilder, Any, Sequence[SSAValue]], Sequence[SSAValue]]
"""Makes the results of an op of these operands."""


class ConvertOps(RewritePattern):
    """Converts the ops of a family, each by the function of its class."""

    def __init__(self, conversions: Mapping[type[Operation], Conversion]):
        self.conversions = conversions

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by tile ops."""
        conversion = self.conversions.get(type(op))
        if conversion is None or not isinstance(op.parent_op(), func.FuncOp):
            return
        results = converted(conversion, builder_before(op), op, list(op.operands))
        for new, old in zip(results, op.results, strict=True):
            take_name(new, old)
        rewriter.replace(op, [], list(results))


def builder_before(op: Operation) -> TensorBuilder:
    """Builder that inserts ops before ``op``, with its place."""
    return TensorBuilder(op, place=place_of(op))


def converted(
    conversion: Conversion, b: TensorBuilder, op: Operation, operands: Sequence[SSAValue]
) -> list[SSAValue]:
    """Results of an op of these operands, of the element types that it declares."""
    check_types(op)
    try:
        results = conversion(b, op, operands)
    except VerifyException as error:
        raise refusal(op, str(error)) from None
    types = [tensor_type(result).element_type for result in op.results]
    return [cast(b, v, t) for v, t in zip(results, types, strict=True)]


def evaluate(
    b: TensorBuilder,
    block: Block,
    operands: Sequence[SSAValue],
    conversions: Mapping[type[Operation], Conversion],
) -> list[SSAValue]:
    """Results of a block for these arguments, with its ops converted before the builder's place."""
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, operands, strict=True))
    tried: dict[SSAValue, SSAValue] = {}
    for op in block.ops:
        given = [values.get(v, v) for v in op.operands]
        if op is block.last_op:
            return given
        if (conversion := conversions.get(type(op))) is None:
            raise refusal(op, "there is no conversion of it in a region")
        # Regions may take any value around them, which have become others.
        copy = op.clone(dict(values)) if op.regions else op
        results = [folded(b, v, tried) for v in converted(conversion, b, copy, given)]
        if copy is not op:
            copy.erase()
        values |= zip(op.results, results, strict=True)
    raise AssertionError("a block without an end")


def folded(
    b: TensorBuilder, value: SSAValue, tried: dict[SSAValue, SSAValue] | None = None
) -> SSAValue:
    """The constant that a scalar is computed to; the value itself if there is none.

    ``tried`` are values with their constants.
    """
    op, tried = value.owner, {} if tried is None else tried
    if not isinstance(op, ew.ElementwiseOp) or shape(value):
        return value
    if value not in tried:
        for k, operand in enumerate(op.operands):
            op.operands[k] = folded(b, operand, tried)
        tried[value] = _constant(b, op, fold_elementwise(op))
    return tried[value]


def _constant(
    b: TensorBuilder, op: ew.ElementwiseOp, found: Sequence[SSAValue | Attribute] | None
) -> SSAValue:
    """Constant that an op folds to; its result where it does not fold."""
    if found is None:
        return op.results[0]
    (constant,) = found
    if isinstance(constant, SSAValue):
        return constant
    t = op.results[0].type
    return b.insert(ew.ConstantOp.create(result_types=[t], properties={"value": constant}))


def refusal(op: Operation, reason: str) -> TileError:
    """Error that an op has no form in the tile dialect."""
    return TileError.at(op, f"{op.name} cannot be converted: {reason}")


def check_types(op: Operation) -> None:
    """Refuse element types and shapes that the tile dialect lacks."""
    for t in (*op.operand_types, *op.result_types):
        if not isinstance(t, TensorType):
            raise refusal(op, f"{t} is no ranked tensor")
        if t.element_type not in et.CONCRETE.values():
            raise refusal(op, f"there are no tensors of {t.element_type}")
        if not t.has_static_shape():
            raise refusal(op, f"the shape of {t} is open; bind it before the export")


def numbers(attribute: DenseArrayBase[Any] | Iterable[Any] | None) -> list[int]:
    """Integers of an attribute."""
    if attribute is None:
        return []
    if isinstance(attribute, DenseArrayBase):
        return [int(n) for n in attribute.get_values()]
    return [n.value.data for n in attribute]


def result_shape(op: Operation, number: int = 0) -> tuple[int, ...]:
    """Shape of a result."""
    return shape(op.results[number])
