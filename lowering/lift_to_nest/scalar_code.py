"""Emission of numbers, vectors and elementwise ops of a low-level lift program in a nest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile.base import TileOp, shape_of, tensor_type
from tiledialect.dialects.tile.elementwise.ops import CastOp, ConstantOp, ElementwiseOp, SelectOp
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Expr
from tiledialect.lowering.lift_to_nest.memory import LiftMemory
from tiledialect.lowering.lift_to_nest.views import views
from tiledialect.lowering.lift_to_nest.views.layout import INDEX_ARITHMETIC, Scope
from tiledialect.lowering.lift_to_nest.views.views import Computed, Index, View


class LiftScalars(LiftMemory):
    """Emits what computes numbers from numbers."""

    def scalar(self, op: Operation, scope: Scope) -> None:
        """Emit an op on numbers, or on vectors lane by lane."""
        (result,) = op.results
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr):
            number = arith.ConstantOp(next(iter(op.value.iter_attrs())))
            scope[result] = views.Everywhere(Computed(lambda: self.emit(number.clone())))
        elif isinstance(op, vector.BroadcastOp):
            scope[result] = views.Everywhere(scope[op.source])
        elif (expr := self.index_expr(op, scope)) is not None:
            scope[result] = Index(expr)
        elif isinstance(result.type, VectorType):
            scope[result] = views.Generated(1, partial(self.lane, op, scope))
        else:
            value = self.apply(op, [self.read(scope[v]) for v in op.operands], result.type)
            value.name_hint = result.name_hint
            scope[result] = Computed(lambda: value)

    def lane(self, op: Operation, scope: Scope, lane: Expr) -> View:
        """Emit a lane of the result of an op on vectors."""
        (result,) = op.results
        assert isinstance(result.type, VectorType)
        if lane not in self.lanes:
            count = result.type.get_shape()[0]
            self.warn(
                op,
                f"{op.name} on vectors of {count} is done number by number, as its reader goes "
                "through numbers; map_seq in place of map keeps the vectors",
            )
        operands = [
            self.read(scope[v], (lane,) if isinstance(v.type, VectorType) else ())
            for v in op.operands
        ]
        value = self.apply(op, operands, result.type.element_type)
        return Computed(lambda: value)

    def apply(self, op: Operation, operands: Sequence[SSAValue], t: Attribute) -> SSAValue:
        """Emit the op on other operands."""
        new = type(op).create(
            operands=operands,
            result_types=[t],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            location=op.location,
        )
        return self.emit(new)

    def index_expr(self, op: Operation, scope: Scope) -> Expr | None:
        """Index expression of an op on indices, if there is one."""
        if not isinstance(op.results[0].type, IndexType):
            return None
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
            return Expr.const(op.value.value.data)
        if (make := INDEX_ARITHMETIC.get(type(op))) is None:
            return None
        operands = [scope[v] for v in op.operands]
        exprs = [v.expr for v in operands if isinstance(v, Index)]
        return make(*exprs) if len(exprs) == len(operands) else None

    def pointwise(self, op: TileOp, scope: Scope) -> View:
        """View of an elementwise op of tile on arrays."""
        if isinstance(op, ConstantOp):
            t = tensor_type(op.results[0]).element_type
            return views.Everywhere(Computed(lambda: self.scalars.constant(op.number, t)))
        if not isinstance(op, ElementwiseOp | SelectOp | CastOp):
            raise TileError.at(op, f"{op.name} cannot be part of a kernel of patterns")
        rank = len(shape_of(tensor_type(op.results[0])) or ())
        return views.Generated(rank, lambda *place: self.element(op, scope, place))

    def element(self, op: Any, scope: Scope, place: Sequence[Expr]) -> View:
        """Emit an element of the result of an elementwise op."""

        def operand(value: SSAValue, t: Attribute) -> SSAValue:
            if isinstance(value.owner, ConstantOp):
                return self.scalars.constant(value.owner.number, t)
            shape = shape_of(tensor_type(value)) or ()
            own = place[len(place) - len(shape) :]
            aligned = tuple(Expr() if n == 1 else i for i, n in zip(own, shape, strict=True))
            found = self.read(scope[value], aligned)
            return self.scalars.convert(found, tensor_type(value).element_type, t)

        t = tensor_type(op.results[0]).element_type
        if isinstance(op, CastOp):
            value = operand(op.operand, t)
        elif isinstance(op, SelectOp):
            condition = operand(op.condition, tensor_type(op.condition).element_type)
            value = self.scalars.select(condition, operand(op.lhs, t), operand(op.rhs, t))
        else:
            among = op.operand_type()
            value = self.scalars.apply(op.name, [operand(v, among) for v in op.operands], among)
        return Computed(lambda: value)
