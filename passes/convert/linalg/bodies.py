"""Bodies of structured ops: the values that they compute at each point of the loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import affine, arith, linalg, tensor
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, TensorType, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import GatherOp, ReshapeOp
from tiledialect.errors import TileError
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.convert.linalg.elements import (
    Element,
    Space,
    loops_of,
    size_product,
    sizes_of,
)
from tiledialect.passes.convert.linalg.scalar_ops import EMITTERS, emit


def affine_expr(expr: AffineExpr, names: Sequence[IndexExpr], op: Operation) -> IndexExpr:
    """An expression of MLIR's dimensions and symbols as an index expression."""
    match expr:
        case AffineConstantExpr():
            return IndexExpr.of(expr.value)
        case AffineDimExpr() | AffineSymExpr():
            return names[expr.position]
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            return affine_expr(expr.lhs, names, op) + affine_expr(expr.rhs, names, op)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul):
            a, b = affine_expr(expr.lhs, names, op), affine_expr(expr.rhs, names, op)
            if a.is_constant or b.is_constant:
                return a * b
        case _:
            pass
    raise TileError.at(op, f"the index expression {expr} of {op.name} is not affine")


DIFFERENCES: dict[str, Callable[[IndexExpr, IndexExpr], IndexExpr]] = {
    "eq": lambda a, b: a - b,
    "slt": lambda a, b: b - a - 1,
    "sle": lambda a, b: b - a,
    "sgt": lambda a, b: a - b - 1,
    "sge": lambda a, b: a - b,
}
"""Numbers that are not negative where a comparison holds, and 0 where two are equal."""


@dataclass
class Body:
    """Evaluation of the body of an op, or of scalars outside of one."""

    space: Space
    op: Operation
    """Op that is converted."""
    elements: dict[SSAValue, Element] = field(default_factory=dict[SSAValue, Element])
    """Values of the body's arguments, and those computed so far."""

    @property
    def builder(self) -> TensorBuilder:
        """The builder of the ops."""
        return self.space.builder

    def element(self, value: SSAValue) -> Element:
        """The element that a scalar value is at each point."""
        pending = [value]
        while pending:
            current = pending[-1]
            if current in self.elements:
                pending.pop()
            elif missing := [v for v in self._needed(current) if v not in self.elements]:
                pending += missing
            else:
                self.elements[current] = self._compute(current)
        return self.elements[value]

    def _needed(self, value: SSAValue) -> Sequence[SSAValue]:
        op = value.owner
        if isinstance(op, Block):
            return ()
        if isinstance(op, tensor.ExtractOp):
            return () if self._affine_places(op) is not None else op.indices
        if op.name in EMITTERS or isinstance(op, affine.ApplyOp):
            return op.operands
        return ()

    def _compute(self, value: SSAValue) -> Element:
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr | FloatAttr):
            return Element(self.builder.insert(constant(op.value)))
        if isinstance(op, linalg.ops.IndexOp):
            return self.position(tuple(self.space.ranges)[op.dim.value.data])
        if isinstance(op, tensor.ExtractOp):
            return self._extracted(op)
        if isinstance(op, affine.ApplyOp):
            operands = [self.elements[v] for v in op.operands]
            dims = op.map.data.num_dims
            return self._applied(op, op.map.data.results[0], operands[:dims], operands[dims:])
        if isinstance(op, Operation) and op.name in EMITTERS:
            return emit(self.space, op, [self.elements[v] for v in op.operands])
        if isinstance(value.type, IndexType):
            return Element(self.builder.insert(ew.SizeOp.of(value)))
        name = f"{op.name} in {self.op.name}" if isinstance(op, Operation) else "an argument"
        at = op if isinstance(op, Operation) else self.op
        raise TileError.at(at, f"{name} gives a scalar that the tile dialect cannot compute")

    def position(self, loop: str) -> Element:
        """The position along a loop; a tensor that has this axis gives it."""
        for element in self.elements.values():
            loops = loops_of(element.access)
            if loops is not None and loop in loops:
                made = ew.IndexOp.along(element.value, loops.index(loop))
                return Element(self.builder.insert(made), element.access)
        zero = Element(self.builder.number(0))
        line = self.builder.insert(ew.CastOp.to(zero.value, et.CONCRETE["i32"]))
        access = (IndexExpr.of(loop),)
        value = self.space.place(
            *(Element(line), access, [self.space.ranges[loop]], et.CONCRETE["i32"], None)
        )
        return Element(self.builder.insert(ew.IndexOp.along(value, 0)), access)

    def _affine_places(self, op: tensor.ExtractOp) -> list[IndexExpr] | None:
        places = [self.affine(v) for v in op.indices]
        return None if None in places else [p for p in places if p is not None]

    def affine(self, value: SSAValue) -> IndexExpr | None:
        """An index as an affine expression of the loops; None if it is none."""
        op = value.owner
        if (number := constant_integer(value)) is not None:
            return IndexExpr.of(number)
        if isinstance(op, linalg.ops.IndexOp):
            return IndexExpr.of(tuple(self.space.ranges)[op.dim.value.data])
        if isinstance(op, affine.ApplyOp):
            found = [self.affine(v) for v in op.operands]
            names = [e for e in found if e is not None]
            if len(names) == len(found):
                try:
                    dims = op.map.data.num_dims
                    expr = op.map.data.results[0].replace_dims_and_symbols(
                        [AffineExpr.dimension(k) for k in range(dims)],
                        [AffineExpr.dimension(dims + k) for k in range(len(found) - dims)],
                    )
                    return affine_expr(expr, names, op)
                except TileError:
                    return None
        if isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp):
            a, b = self.affine(op.lhs), self.affine(op.rhs)
            if a is None or b is None:
                return None
            if isinstance(op, arith.AddiOp):
                return a + b
            if isinstance(op, arith.SubiOp):
                return a - b
            return a * b if a.is_constant or b.is_constant else None
        return None

    def constraints(
        self, conditions: Sequence[SSAValue]
    ) -> tuple[list[Constraint], list[SSAValue]]:
        """Conditions as constraints on the loops, and those that are none."""
        found: list[Constraint] = []
        others: list[SSAValue] = []
        pending = list(conditions)
        while pending:
            value = pending.pop()
            op = value.owner
            if isinstance(op, arith.AndIOp):
                pending += op.operands
            elif (made := self._constraint(op)) is not None:
                found.append(made)
            else:
                others.append(value)
        return found, others

    def _constraint(self, op: Operation | Block) -> Constraint | None:
        """A comparison of affine expressions of the loops."""
        if not isinstance(op, arith.CmpiOp):
            return None
        a, b = self.affine(op.lhs), self.affine(op.rhs)
        predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
        if a is None or b is None or predicate not in DIFFERENCES:
            return None
        least = DIFFERENCES[predicate](a, b)
        if predicate == "eq":
            return Constraint(least, IndexExpr.of(1))
        greatest = least.constant
        for monomial, coefficient in least:
            size = self.space.ranges[monomial[0]] if monomial else 1
            if not isinstance(size, int):
                return None
            greatest += max(coefficient * (size - 1), 0) if monomial else 0
        return Constraint(least, IndexExpr.of(max(int(greatest), 0) + 1))

    def _extracted(self, op: tensor.ExtractOp) -> Element:
        """An element of a whole tensor; where the place is computed, by a gather."""
        places = self._affine_places(op)
        if places is not None:
            return Element(op.tensor, tuple(places))
        sizes = sizes_of(self.builder, op.tensor)
        place = self.elements[op.indices[0]]
        for size, index in zip(sizes[1:], op.indices[1:], strict=True):
            factor = size if isinstance(size, int) else self._compute(size)
            scaled = self.space.apply(ew.MulOp, place, factor)
            place = self.space.apply(ew.AddOp, scaled, self.elements[index])
        place = self.space.cast(place, et.CONCRETE["i32"])
        flat = op.tensor
        if len(sizes) > 1:
            count = size_product(self.builder, sizes)
            flat = self.builder.insert(ReshapeOp.of(flat, [count]))
        return Element(self.builder.insert(GatherOp.make(flat, place.value)), place.access)

    def _applied(
        self,
        op: Operation,
        expr: AffineExpr,
        dims: Sequence[Element],
        symbols: Sequence[Element],
    ) -> Element:
        """An affine expression of computed indices."""
        match expr:
            case AffineConstantExpr():
                return Element(self.builder.number(expr.value))
            case AffineDimExpr():
                return dims[expr.position]
            case AffineSymExpr():
                return symbols[expr.position]
            case AffineBinaryOpExpr():
                a = self._applied(op, expr.lhs, dims, symbols)
                b = self._applied(op, expr.rhs, dims, symbols)
                return self._binary(expr.kind, a, b)
            case _:
                raise TileError.at(op, f"{op.name} has no counterpart in the tile dialect")

    def _binary(self, kind: AffineBinaryOpKind, a: Element, b: Element) -> Element:
        apply = self.space.apply
        if kind is AffineBinaryOpKind.Add:
            return apply(ew.AddOp, a, b)
        if kind is AffineBinaryOpKind.Mul:
            return apply(ew.MulOp, a, b)
        # Divisors are positive.
        rest = apply(ew.RemOp, a, b)
        below = apply(ew.CmpLtOp, rest, 0)
        if kind is AffineBinaryOpKind.Mod:
            return apply(ew.SelectOp, below, apply(ew.AddOp, rest, b), rest)
        quotient = apply(ew.DivOp, a, b)
        if kind is AffineBinaryOpKind.FloorDiv:
            return apply(ew.SelectOp, below, apply(ew.SubOp, quotient, 1), quotient)
        above = apply(ew.CmpGtOp, rest, 0)
        return apply(ew.SelectOp, above, apply(ew.AddOp, quotient, 1), quotient)


def constant(value: IntegerAttr[Any] | FloatAttr[Any], t: Attribute | None = None) -> ew.ConstantOp:
    """A number of IR as a constant; an index has no width."""
    t = value.type if t is None else t
    number = value.value.data
    if t == i1:
        number = int(number != 0)
    return ew.ConstantOp.of(number, None if isinstance(t, IndexType) else t)


def is_tensor(value: SSAValue) -> bool:
    """Whether a value is a tensor of known rank."""
    return isinstance(value.type, TensorType)
