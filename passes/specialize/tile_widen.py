"""tile-widen: numbers of types f16 and bf16 are computed in f32."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.shape_operands import SHAPE_ONLY
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import make_type, shape_of, tensor_type
from tiledialect.dialects.tile.combinations import COMPARED
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.ops import (
    CastOp,
    ConstantOp,
    ElementwiseOp,
    IdentOp,
)
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import GatherOp, ReshapeOp, ScatterOp, SumToOp
from tiledialect.ir.names import give_name, given_name, keep_name, keep_place, take_name, with_type
from tiledialect.ir.target_spec import precision_of

F32 = et.CONCRETE["f32"]
EXTREMES = (Aggregation.max, Aggregation.min)


def is_short(value: SSAValue) -> bool:
    """Whether a value is a tensor of f16 or bf16."""
    return getattr(value.type, "element_type", None) in et.SHORT_FLOATS


def is_matrix_product(op: ContractionOp) -> bool:
    """Whether an op sums products of two tensors, of which each serves several results.

    Each has an index of the result that the other one lacks, as in a product of matrices and in a
    convolution.
    """
    kind = op.aggregation.data, op.combination.data, len(op.inputs)
    if kind != (Aggregation.add, Combination.mul, 2):
        return False
    first, second = ({n for e in access.data for n in e.names} for access in op.accesses)
    output = {n for e in op.output.data for n in e.names}
    is_summed = not first | second <= output
    return is_summed and bool(output & first - second) and bool(output & second - first)


def moves(op: Operation) -> bool:
    """Whether each element of an op's result is an element of its operands, or a 0."""
    if isinstance(op, ContractionOp):
        is_plain = op.combination.data is Combination.none
        return is_plain and op.aggregation.data in (Aggregation.assign, *EXTREMES)
    if isinstance(op, ScanOp):
        return op.aggregation.data in EXTREMES
    return isinstance(op, GatherOp | ReshapeOp | IdentOp)


def is_computed_with(value: SSAValue, extreme: ContractionOp) -> bool:
    """Whether the elements whose extreme a contraction takes go into elementwise ops.

    These take the elements in f32: so should the extreme, which they are likely to subtract.
    """
    is_extreme = extreme.aggregation.data in EXTREMES
    return is_extreme and any(isinstance(use.operation, ElementwiseOp) for use in value.uses)


@dataclass
class _Widener:
    """Widening of the ops of a function, in order."""

    types: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    """Original types of the widened values."""
    casts: dict[tuple[SSAValue, Attribute], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, Attribute], SSAValue]
    )

    def run(self, function: func.FuncOp) -> None:
        for op in list(function.body.block.ops):
            self.visit(op)

    def visit(self, op: Operation) -> None:
        match op:
            case CustomGradientOp():
                # Differentiation is over.
                self.replace(op, op.value)
            case func.ReturnOp():
                self.round_results(op)
            case CastOp():
                # A cast in the program rounds.
                pass
            case ContractionOp():
                self.contraction(op)
            case _ if moves(op) and not any(v in self.types for v in op.operands):
                pass
            case ElementwiseOp() | ScanOp() | SumToOp() | ScatterOp() | GatherOp() | ReshapeOp():
                self.widen(op)
            case _:
                op.operands = [self.given(v) for v in op.operands]

    def widen(self, op: Operation) -> None:
        """Let an op take and return numbers of 32 bits."""
        shapes = SHAPE_ONLY.get(type(op), ())
        if not isinstance(op, ConstantOp):
            op.operands = [v if k in shapes else self.wide(v) for k, v in enumerate(op.operands)]
        self.widened(op)

    def widened(self, op: Operation) -> None:
        """Change the result of an op to f32, if it has 16 bits."""
        (result,) = op.results
        if is_short(result):
            t = tensor_type(result)
            new = with_type(result, make_type(shape_of(t), F32))
            self.types[new] = t.element_type

    def contraction(self, op: ContractionOp) -> None:
        """Let a contraction combine and aggregate in f32."""
        operands = [*op.inputs, *([] if op.default is None else [op.default])]
        if moves(op) and not any(v in self.types or is_computed_with(v, op) for v in operands):
            return
        if is_matrix_product(op) and all(self.was_short(v) for v in op.inputs):
            inputs = [self.wide(self.given(v)) for v in op.inputs]
        elif COMPARED.get(op.combination.data) == 2 and all(map(is_short, op.inputs[:2])):
            # Unrounded comparison operands still equal their sources.
            inputs = [*op.inputs[:2], *map(self.wide, op.inputs[2:])]
        else:
            inputs = [self.wide(v) for v in op.inputs]
        rest = list(op.operands)[len(inputs) :]
        if op.default is not None:
            rest[-1] = self.wide(rest[-1])
        op.operands = [*inputs, *rest]
        self.widened(op)

    def round_results(self, op: func.ReturnOp) -> None:
        """Round the returned values."""
        for k, value in enumerate(op.operands):
            if value in self.types:
                cast = CastOp.to(value, self.types[value])
                keep_name(cast.result, value)
                Rewriter.insert_op(cast, InsertPoint.before(op))
                op.operands[k] = cast.result

    def replace(self, op: CustomGradientOp, value: SSAValue) -> None:
        """Replace an op by the value."""
        if value.type != op.result.type and value not in self.types:
            value = self.cast(value, tensor_type(op.result).element_type)
        take_name(value, op.result)
        Rewriter.replace_op(op, [], [value])

    def was_short(self, value: SSAValue) -> bool:
        return is_short(value) or value in self.types

    def wide(self, value: SSAValue) -> SSAValue:
        """A value in f32, if it has 16 bits."""
        return self.cast(value, F32) if is_short(value) else value

    def given(self, value: SSAValue) -> SSAValue:
        """A value in its original type."""
        t = self.types.get(value)
        return value if t is None else self.cast(value, t)

    def cast(self, value: SSAValue, t: Attribute) -> SSAValue:
        """A value in another type; converted once, at its definition."""
        if (value, t) not in self.casts:
            cast = CastOp.to(value, t)
            owner = value.owner
            if isinstance(owner, Operation):
                keep_place(cast, owner)
                place = InsertPoint.after(owner)
            else:
                place = InsertPoint.at_start(owner)
            if name := given_name(value):
                give_name(cast.result, name + ("_wide" if t == F32 else ""))
            Rewriter.insert_op(cast, place)
            self.casts[value, t] = cast.result
        return self.casts[value, t]


class TileWidenPass(ModulePass):
    """Computes in f32 with numbers of types f16 and bf16.

    Values are rounded to 16 bits where a function returns them, where they are cast to such a type,
    and as factors of products of matrices: the operands of a sum of products of two such tensors,
    each of which has an index of the result that the other one lacks. Their sums are of f32. Ops
    that only move elements keep their types. The pass runs after `tile-gradient`, as a custom
    gradient becomes its value, and needs types that are known. With the precision `exact` (the
    module's attribute `tile.precision`) nothing changes: every op rounds its result.
    """

    name = "tile-widen"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Widen every function."""
        if precision_of(op) == "exact":
            return
        for function in [x for x in op.body.block.ops if isinstance(x, func.FuncOp)]:
            if not function.is_declaration:
                _Widener().run(function)
