"""Initial values of contractions' results: the elements on which no point lands."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import Shape, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import CastOp, ConstantOp
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import give_name, given_name, keep_place
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.schedule.output_box import leaves_unwritten


def initial_value(value: float | int, t: Attribute) -> ConstantOp:
    """The initial value as a constant."""
    number = ConstantOp.of(value, t)
    give_name(number.result, "start")
    return number


def filled(value: float | int, t: Attribute, shape: Shape) -> list[Operation]:
    """Ops that make a tensor of one number."""
    number = initial_value(value, t)
    places = [IndexExpr.of(f"i{axis}") for axis in range(len(shape))]
    inputs: list[tuple[SSAValue, Sequence[IndexExpr]]] = [(number.result, ())]
    tensor = ContractionOp(Aggregation.assign, Combination.none, places, inputs, shape=shape)
    give_name(tensor.result, "starts")
    return [number, tensor]


def initialize_unwritten(op: ContractionOp) -> list[Operation]:
    """Give a contraction that leaves elements of its result unwritten a tensor of initial values.

    A kernel of its own computes the tensor by the returned ops, and the contraction's kernel writes
    over it.
    """
    if not leaves_unwritten(op.space(), ranges_of(op)):
        return []
    t, default = tensor_type(op.result), op.default
    constant = default.owner if default is not None else None
    if default is None or isinstance(constant, ConstantOp):
        number = constant.number if isinstance(constant, ConstantOp) else 0
        made = filled(number, t.element_type, shape_of(t) or ())
    elif default.type != t:
        made: list[Operation] = [CastOp.to(default, t.element_type)]
    else:
        return []
    for new in made:
        keep_place(new, op)
        if isinstance(new, ContractionOp):
            set_domain(new, new.space())
    Rewriter.insert_op(made, InsertPoint.before(op))
    start = made[-1].results[0]
    give_name(start, f"{given_name(op.result) or 'result'}_fill")
    op.set_default(start)
    return made
