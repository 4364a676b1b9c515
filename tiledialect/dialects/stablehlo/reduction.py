"""The reduction of StableHLO, in all the forms in which it is written."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    SameVariadicOperandSize,
    irdl_op_definition,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl_jax.dialects.stablehlo import reduction_ops as upstream

from tiledialect.dialects.stablehlo.structure import parse_integers
from tiledialect.dialects.stablehlo.upstream import ReturnOp


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Tensors reduced along axes.

    xdsl-jax does not read a reducer of one op, as in
    `stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : …`.
    """

    name = "stablehlo.reduce"

    inputs = var_operand_def(TensorType)
    init_values = var_operand_def(TensorType)
    dimensions = prop_def(DenseArrayBase.constr(i64))
    result = var_result_def(TensorType)
    body = region_def("single_block")

    irdl_options = (SameVariadicOperandSize(),)

    print = upstream.ReduceOp.print
    verify_ = upstream.ReduceOp.verify_

    @classmethod
    def parse(cls, parser: Parser):
        """Parse pairs of a tensor and its initial value, the axes, the types and the reducer."""
        pairs = upstream._parse_reduce_operand_pairs(parser)  # pyright: ignore[reportPrivateUsage]
        applied = parser.parse_identifier() if parser.parse_optional_keyword("applies") else None
        parser.parse_characters("across")
        parser.parse_characters("dimensions")
        parser.parse_punctuation("=")
        dimensions = parse_integers(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        t = parser.parse_function_type()
        if applied is None:
            parser.parse_keyword("reducer")
            body = parser.parse_region(
                upstream._parse_reduce_reducer_args(parser)  # pyright: ignore[reportPrivateUsage]
            )
        else:
            body = Region(_reducer(parser, applied, t.outputs.data[0]))
        values, starts = zip(*pairs, strict=True)
        return cls.create(
            operands=parser.resolve_operands([*values, *starts], t.inputs.data, position),
            result_types=list(t.outputs.data),
            properties={"dimensions": dimensions},
            attributes=attributes,
            regions=[body],
        )


def _reducer(parser: Parser, name: str, result: Attribute) -> Block:
    """Body of a reduction by one op."""
    op: type[Operation] | None = parser.ctx.get_optional_op(name)
    if op is None:
        parser.raise_error(f"there is no op {name}")
    element = TensorType(result.element_type, ()) if isinstance(result, TensorType) else result
    block = Block(arg_types=[element, element])
    made = op.create(operands=block.args, result_types=[element])
    block.add_ops([made, ReturnOp.create(operands=made.results)])
    return block
