"""Index expressions as values of the kernel level, each computed as far out as possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1
from xdsl.ir import Block, Operation, SSAValue

from tiledialect import caches
from tiledialect.index.expr import Range
from tiledialect.index.integer.expressions import (
    Atom,
    Comparison,
    Condition,
    Expr,
    Extremum,
    Junction,
    Quotient,
    Remainder,
    Selection,
    Truth,
)
from tiledialect.index.integer.polynomial import Variable
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import simplify, simplify_condition
from tiledialect.lowering.nest.utils.index_ops import (
    EXTREMA,
    JUNCTIONS,
    comparison,
    floor_remainder,
    fold,
)
from tiledialect.rounding import ceil_div

INDEX = IndexType()
NO_FLAGS = {"overflowFlags": arith.IntegerOverflowAttr("none")}
"""Overflow flags of index arithmetic."""


@caches.CONSTANTS
def _number(number: int) -> Mapping[str, IntegerAttr[IndexType]]:
    """Properties of a constant."""
    return {"value": IntegerAttr(number, INDEX)}


def innermost(expr: Expr) -> Expr:
    """Value of a selection where all conditions hold."""
    while isinstance(expr.atom, Selection):
        expr = expr.atom.yes
    return expr


@dataclass
class Scope:
    """Block under construction, and the values computed in it."""

    block: Block
    env: Env
    values: dict[Expr | Atom | Condition, SSAValue] = field(
        default_factory=dict[Expr | Atom | Condition, SSAValue]
    )


class IndexValues:
    """Emits index arithmetic into the blocks under construction, from the outermost one inwards.

    A loop is inserted when its body is complete, so ops at the end of an outer block stand before
    the loop.
    """

    def __init__(self, block: Block):
        self.scopes = [Scope(block, Env())]
        self.depths: dict[str, int] = {}
        self.variables: dict[str, SSAValue] = {}
        self.constants: dict[int, SSAValue] = {}
        self.sums: dict[Expr, Operation] = {}
        """Ops that give the values of sums."""

    @property
    def here(self) -> Scope:
        """Innermost block."""
        return self.scopes[-1]

    def enter(self, block: Block, env: Env | None = None) -> None:
        """Build a block inside the present one."""
        self.scopes.append(Scope(block, env or self.here.env))

    def leave(self) -> None:
        """Go on with the block outside."""
        depth = len(self.scopes) - 1
        self.scopes.pop()
        for name in [n for n, d in self.depths.items() if d == depth]:
            del self.depths[name], self.variables[name]

    def variable(self, value: SSAValue, hint: str, values: Range | None = None) -> Expr:
        """Expression of a value of the present block; ``values`` are its possible values."""
        name, count = hint, 0
        while name in self.variables:
            count += 1
            name = f"{hint}_{count}"
        self.variables[name] = value
        self.depths[name] = len(self.scopes) - 1
        if values is not None:
            self.here.env = self.here.env.with_range(name, values.lower, values.upper)
        return Expr.var(name)

    def simplify(self, expr: Expr) -> Expr:
        """Simplify an expression by the facts here."""
        # Sums that differ in their constants share the facts about the rest.
        if all(isinstance(atom, Variable) for atom in expr.moving.atoms):
            return expr
        return simplify(expr, self.here.env)

    def simplify_condition(self, condition: Condition) -> Condition:
        """Simplify a condition by the facts here."""
        return (
            condition
            if isinstance(condition, Truth)
            else simplify_condition(condition, self.here.env)
        )

    def known_sum(self, expr: Expr, op: Operation, name: str) -> None:
        """Note that an op gives the value of a sum; it is emitted where that is first needed."""
        self.sums[expr] = op
        op.results[0].name_hint = name

    # -- values ----------------------------------------------------------------------------

    def constant(self, number: int) -> SSAValue:
        """Constant, at the top of the function."""
        if number not in self.constants:
            op = arith.ConstantOp.create(properties=_number(number), result_types=[INDEX])
            top = self.scopes[0].block
            if top.first_op is None:
                top.add_op(op)
            else:
                top.insert_op_before(op, top.first_op)
            self.constants[number] = op.result
        return self.constants[number]

    def value(self, expr: Expr) -> SSAValue:
        """Value of a simplified expression."""
        if expr.value is not None:
            return self.constant(expr.value)
        moving, offset = expr.moving, expr.constant
        total = self._sum(moving, self._depth(moving))
        if not offset:
            return total
        kind = arith.AddiOp if offset > 0 else arith.SubiOp
        return self._emit_of(kind, total, self.constant(abs(offset)), len(self.scopes) - 1)

    def _depth(self, expr: Expr) -> int:
        return max((self.depths[name] for name in expr.names), default=0)

    def _sum(self, expr: Expr, depth: int) -> SSAValue:
        """Value of a sum without a constant, its outer terms added outside."""
        scope = self.scopes[depth]
        if expr in self.sums and expr not in scope.values:
            scope.values[expr] = self._emit(self.sums[expr].clone(), depth)
        if expr not in scope.values:
            outer = Expr(tuple((p, c) for p, c in expr if self._depth(Expr(((p, c),))) < depth))
            own = Expr(tuple(term for term in expr if term not in outer.terms))
            total = self._sum(outer, self._depth(outer)) if outer else None
            # Terms that are added go first, so that nothing has to be negated.
            for product, coefficient in sorted(own, key=lambda term: term[1] < 0):
                term = self._product(product, abs(coefficient), depth)
                if total is None and coefficient < 0:
                    total = self._emit_of(arith.SubiOp, self.constant(0), term, depth)
                elif total is None:
                    total = term
                else:
                    kind = arith.SubiOp if coefficient < 0 else arith.AddiOp
                    total = self._emit_of(kind, total, term, depth)
            assert total is not None
            scope.values[expr] = total
        return scope.values[expr]

    def _product(self, product: tuple[Atom, ...], factor: int, depth: int) -> SSAValue:
        total = None
        for atom in product:
            value = self._atom(atom)
            if total is not None:
                value = self._emit_of(arith.MuliOp, total, value, depth)
            total = value
        assert total is not None
        if factor == 1:
            return total
        return self._emit_of(arith.MuliOp, total, self.constant(factor), depth)

    def _emit_of(self, kind: type[Operation], a: SSAValue, b: SSAValue, depth: int) -> SSAValue:
        """Emit arithmetic on two indices."""
        # There is so much of it that it is not made by way of the ops' definitions.
        op = kind.create(operands=(a, b), result_types=(INDEX,), properties=NO_FLAGS)
        return self._emit(op, depth)

    def _emit(self, op: Operation, depth: int) -> SSAValue:
        self.scopes[depth].block.add_op(op)
        return op.results[0]

    def _atom(self, atom: Atom) -> SSAValue:
        if isinstance(atom, Variable):
            return self.variables[atom.name]
        depth = self._depth(Expr.of(atom))
        values = self.scopes[depth].values
        if atom not in values:
            values[atom] = self._new_atom(atom, depth)
        return values[atom]

    def _new_atom(self, atom: Atom, depth: int) -> SSAValue:
        def emit_op(op: Operation) -> SSAValue:
            return self._emit(op, depth)

        def emit(op: type[Operation], *operands: SSAValue) -> SSAValue:
            return emit_op(op(*operands))

        match atom:
            case Quotient(dividend, divisor):
                by = divisor.value
                if by is not None and by > 0 and not by & (by - 1):
                    return self._shifted(dividend, by, depth)
                value = self._at(dividend, depth)
                op = arith.DivUIOp if self._is_natural(dividend) else arith.FloorDivSIOp
                return emit(op, value, self._at(divisor, depth))
            case Remainder(dividend, divisor):
                value, by = self._at(dividend, depth), divisor.value
                if by is not None and by > 0 and not by & (by - 1):
                    return emit(arith.AndIOp, value, self.constant(by - 1))
                if self._is_natural(dividend):
                    return emit(arith.RemUIOp, value, self._at(divisor, depth))
                return floor_remainder(value, self._at(divisor, depth), emit_op)
            case Extremum(kind, operands):
                return fold(EXTREMA[kind], [self._at(e, depth) for e in operands], emit_op)
            case Selection(condition, yes, no):
                return emit(
                    arith.SelectOp,
                    self._test_of(condition, innermost(yes), depth),
                    self._at(yes, depth),
                    self._at(no, depth),
                )
            case Variable():
                raise AssertionError("variables have values")

    def _shifted(self, dividend: Expr, by: int, depth: int) -> SSAValue:
        """Quotient by a power of two, of a number that is not negative where a bound is known.

        Intel's compiler counts the steps of loops wrongly by shifts of negative numbers.
        """
        span = self.here.env.range(dividend)
        is_short = span.upper - span.lower < 1 << 30
        up = ceil_div(-int(span.lower), by) if is_short and span.lower < 0 else 0
        value = self._at(dividend + up * by, depth)
        shifted = self._emit(arith.ShRSIOp(value, self.constant(by.bit_length() - 1)), depth)
        return self._emit_of(arith.SubiOp, shifted, self.constant(up), depth) if up else shifted

    def _is_natural(self, expr: Expr) -> bool:
        return self.here.env.range(expr).lower >= 0

    def _at(self, expr: Expr, depth: int) -> SSAValue:
        """Value of an expression, in a block that is not the innermost."""
        inner, self.scopes[depth + 1 :] = self.scopes[depth + 1 :], []
        try:
            return self.value(expr)
        finally:
            self.scopes.extend(inner)

    # -- conditions ------------------------------------------------------------------------

    def test(self, condition: Condition) -> SSAValue:
        """Value of a simplified condition."""
        return self._test(condition, self._condition_depth(condition))

    def _test_of(self, condition: Condition, chosen: Expr, depth: int) -> SSAValue:
        """Value of the condition of a selection: compares the selection's values, if it can."""
        if isinstance(condition, Comparison) and condition.kind == ">=":
            for sign in (1, -1):
                rest = condition.expr - chosen * sign
                if chosen.names and not {*rest.names} & {*chosen.names}:
                    value = self._at(chosen, depth)
                    if sign == 1:
                        op = arith.CmpiOp(self._at(-rest, depth), value, "sle")
                    else:
                        op = arith.CmpiOp(value, self._at(rest + 1, depth), "slt")
                    return self._emit(op, depth)
        return self._test(condition, depth)

    def _condition_depth(self, condition: Condition) -> int:
        match condition:
            case Truth():
                return 0
            case Comparison(expr, _):
                return self._depth(expr)
            case Junction(_, parts):
                return max(map(self._condition_depth, parts))

    def _test(self, condition: Condition, depth: int) -> SSAValue:
        values = self.scopes[depth].values
        if condition not in values:
            values[condition] = self._new_test(condition, depth)
        return values[condition]

    def _new_test(self, condition: Condition, depth: int) -> SSAValue:
        match condition:
            case Truth(value):
                op = arith.ConstantOp(IntegerAttr(int(value), i1))
                return self._emit(op, depth)
            case Comparison():
                return self._emit(comparison(condition, lambda e: self._at(e, depth)), depth)
            case Junction(kind, parts):
                tests = [self._test(part, self._condition_depth(part)) for part in parts]
                return fold(JUNCTIONS[kind], tests, lambda op: self._emit(op, depth))
