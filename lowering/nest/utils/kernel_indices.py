"""Simplification of the kernel level's index arithmetic, read back as expressions.

Ops of `arith` on `index` become expressions of the work-item's numbers, the loops' indices and the
kernel's size arguments; where a simpler expression has the same value, it replaces them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects import arith, gpu, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

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
    both,
    either,
    equal,
    expressions_of,
    floordiv,
    less,
    less_equal,
    maximum,
    minimum,
    mod,
    negate,
    select,
)
from tiledialect.index.integer.polynomial import Variable
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import operations, simplify, simplify_condition
from tiledialect.lowering.nest.utils.index_ops import (
    EXTREMA,
    JUNCTIONS,
    comparison,
    floor_remainder,
    fold,
)
from tiledialect.lowering.nest.utils.scope import facts_of


@dataclass
class KernelIndices:
    """Simplifies the index arithmetic of one function, and counts its operations."""

    function: gpu.FuncOp
    before: int = 0
    after: int = 0
    names: dict[SSAValue, Expr] = field(default_factory=dict[SSAValue, Expr])
    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])

    def run(self) -> None:
        """Simplify all index arithmetic, and erase ops without uses."""
        block = self.function.body.block
        sizes = [self.leaf(a) for a in block.args if isinstance(a.type, IndexType)]
        self.block(block, Env(facts=[facts_of(self.function, sizes)]))
        for op in reversed([*self.function.walk()]):
            if is_arithmetic(op) and not any(r.uses for r in op.results):
                op.detach()
                op.erase()

    def leaf(self, value: SSAValue) -> Expr:
        """Name of a value that is no arithmetic."""
        if value not in self.names:
            name = f"v{len(self.names)}"
            self.names[value], self.values[name] = Expr.var(name), value
        return self.names[value]

    # -- blocks ----------------------------------------------------------------------------

    def block(self, block: Block, env: Env) -> None:
        """Simplify the ops of a block under some facts."""
        for op in list(block.ops):
            if isinstance(op, WORK_ITEM_NUMBERS):
                env = self._number(op, env)
            elif not is_arithmetic(op):
                self._operands(op, env)
            if isinstance(op, scf.ForOp):
                ends = (self.expr(v, env) for v in (op.lb, op.ub, op.step))
                name = str(self.leaf(op.body.block.args[0]))
                self.block(op.body.block, env.with_range(name, *ends))
            elif isinstance(op, scf.IfOp):
                test = self.condition(op.cond, env)
                for region, fact in ((op.true_region, test), (op.false_region, negate(test))):
                    if region.blocks:
                        self.block(region.block, env.assume(fact))
            else:
                for inner in (b for region in op.regions for b in region.blocks):
                    self.block(inner, env)

    def _number(self, op: Operation, env: Env) -> Env:
        """Range of the number of a work-group or work-item."""
        (result,) = op.results
        assert isinstance(op, WORK_ITEM_NUMBERS)
        axis = "xyz".index(str(op.dimension.data))
        items, groups = self.function.known_block_size, self.function.known_grid_size
        block = items.get_values()[axis] if items else None
        grid = groups.get_values()[axis] if groups else None
        both_known = block * grid if block is not None and grid is not None else None
        ends: dict[type[Operation], tuple[int, int | None]] = {
            gpu.ThreadIdOp: (0, block),
            gpu.BlockIdOp: (0, grid),
            gpu.GlobalIdOp: (0, both_known),
            gpu.GridDimOp: (1, None),
        }
        return env.with_range(str(self.leaf(result)), *ends[type(op)])

    def _operands(self, op: Operation, env: Env) -> None:
        """Simplify the operands of an op: indices, and tests of indices."""
        place = InsertPoint.before(op)
        for k, value in enumerate(op.operands):
            if isinstance(value.type, IndexType):
                old = self.expr(value, env)
                new = simplify(old, env)
                if self._saves(operations(old), operations(new)):
                    op.operands[k] = self.emit(new, env, place)
            elif value.type == i1 and isinstance(op, scf.IfOp):
                test = self.condition(value, env)
                if test == equal(self.names.get(value, 0), 1):
                    continue
                simple = simplify_condition(test, env)
                if self._saves(_operations(test), _operations(simple)):
                    op.operands[k] = self.emit_test(simple, env, place)

    def _saves(self, before: int, after: int) -> bool:
        """Count operations; return whether there are fewer than before."""
        self.before += before
        self.after += min(before, after)
        return after < before

    # -- reading ---------------------------------------------------------------------------

    def expr(self, value: SSAValue, env: Env) -> Expr:
        """Expression of an index."""
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
            return Expr.const(op.value.value.data)
        if isinstance(op, arith.SelectOp):
            test = self.condition(op.cond, env)
            return select(test, self.expr(op.lhs, env), self.expr(op.rhs, env))
        if isinstance(value, OpResult) and (read := READERS.get(type(value.op))) is not None:
            a, b = (self.expr(v, env) for v in value.op.operands)
            found = read(env, a, b)
            if found is not None:
                return found
        return self.leaf(value)

    def condition(self, value: SSAValue, env: Env) -> Condition:
        """Condition of a truth value; a variable, if it is no test of indices."""
        op = value.owner
        if isinstance(op, arith.CmpiOp) and isinstance(op.lhs.type, IndexType):
            compare = COMPARISONS.get(op.predicate.value.data)
            if compare is not None:
                return compare(self.expr(op.lhs, env), self.expr(op.rhs, env))
        if isinstance(op, arith.AndIOp | arith.OrIOp):
            join = both if isinstance(op, arith.AndIOp) else either
            return join(self.condition(op.lhs, env), self.condition(op.rhs, env))
        return equal(self.leaf(value), 1)

    # -- emitting --------------------------------------------------------------------------

    def emit(self, expr: Expr, env: Env, place: InsertPoint) -> SSAValue:
        """Value of a simplified expression."""
        total: SSAValue | None = None
        for product, coefficient in sorted(expr, key=lambda term: term[1] < 0):
            factors = [self._atom(atom, env, place) for atom in product]
            if abs(coefficient) != 1 or not factors:
                factors.append(self._insert(_constant(abs(coefficient)), place))
            term = factors[0]
            for factor in factors[1:]:
                term = self._insert(arith.MuliOp(term, factor), place)
            if total is None:
                zero = self._insert(_constant(0), place) if coefficient < 0 else None
                total = term if zero is None else self._insert(arith.SubiOp(zero, term), place)
            else:
                op = arith.SubiOp if coefficient < 0 else arith.AddiOp
                total = self._insert(op(total, term), place)
        return total if total is not None else self._insert(_constant(0), place)

    def _insert(self, op: Operation, place: InsertPoint) -> SSAValue:
        Rewriter.insert_op(op, place)
        return op.results[0]

    def _atom(self, atom: Atom, env: Env, place: InsertPoint) -> SSAValue:
        def emit(op: Operation) -> SSAValue:
            return self._insert(op, place)

        match atom:
            case Variable(name):
                return self.values[name]
            case Quotient(dividend, divisor) | Remainder(dividend, divisor):
                a, b = self.emit(dividend, env, place), self.emit(divisor, env, place)
                natural = env.at_least(dividend, 0) and env.at_least(divisor, 1)
                if natural:
                    op = arith.DivUIOp if isinstance(atom, Quotient) else arith.RemUIOp
                    return emit(op(a, b))
                if isinstance(atom, Quotient):
                    return emit(arith.FloorDivSIOp(a, b))
                return floor_remainder(a, b, emit)
            case Extremum(kind, operands):
                return fold(EXTREMA[kind], [self.emit(e, env, place) for e in operands], emit)
            case Selection(condition, yes, no):
                test = self.emit_test(condition, env, place)
                a, b = self.emit(yes, env, place), self.emit(no, env, place)
                return emit(arith.SelectOp(test, a, b))

    def emit_test(self, condition: Condition, env: Env, place: InsertPoint) -> SSAValue:
        """Value of a simplified condition."""
        match condition:
            case Truth(value):
                return self._insert(arith.ConstantOp(IntegerAttr(int(value), i1)), place)
            case Comparison(expr, kind):
                leaf = self.values.get(str((expr - expr.constant).atom))
                if leaf is not None and leaf.type == i1:
                    if kind == "==":
                        return leaf
                    true = self.emit_test(Truth(True), env, place)
                    return self._insert(arith.XOrIOp(leaf, true), place)
                return self._insert(
                    comparison(condition, lambda e: self.emit(e, env, place)), place
                )
            case Junction(kind, parts):
                tests = [self.emit_test(part, env, place) for part in parts]
                return fold(JUNCTIONS[kind], tests, lambda op: self._insert(op, place))


LOGIC = arith.CmpiOp | arith.AndIOp | arith.OrIOp | arith.XOrIOp
WORK_ITEM_NUMBERS = (gpu.ThreadIdOp, gpu.BlockIdOp, gpu.GlobalIdOp, gpu.GridDimOp)


def is_arithmetic(op: Operation) -> bool:
    """Whether an op is read as (part of) an expression."""
    known = type(op) in READERS or isinstance(op, arith.ConstantOp | arith.SelectOp | LOGIC)
    return known and {v.type for v in (*op.operands, *op.results)} <= {IndexType(), i1}


def _constant(number: int) -> Operation:
    return arith.ConstantOp(IntegerAttr(number, IndexType()))


def _operations(condition: Condition) -> int:
    return operations(*expressions_of(condition)) + len(expressions_of(condition))


def _natural(env: Env, *exprs: Expr) -> bool:
    return all(env.at_least(e, 0) for e in exprs)


def _power(expr: Expr) -> int | None:
    """The expression if it is a power of 2."""
    n = expr.value
    return n if n is not None and n > 0 and not n & (n - 1) else None


def _shifted(env: Env, a: Expr, b: Expr) -> Expr | None:
    return floordiv(a, 2**b.value) if b.value is not None and 0 <= b.value < 63 else None


def _masked(env: Env, a: Expr, b: Expr) -> Expr | None:
    modulus = _power(b + 1)
    return mod(a, modulus) if modulus is not None else None


READERS: dict[type[Operation], Callable[[Env, Expr, Expr], Expr | None]] = {
    arith.AddiOp: lambda env, a, b: a + b,
    arith.SubiOp: lambda env, a, b: a - b,
    arith.MuliOp: lambda env, a, b: a * b,
    arith.DivUIOp: lambda env, a, b: floordiv(a, b) if _natural(env, a, b - 1) else None,
    arith.RemUIOp: lambda env, a, b: mod(a, b) if _natural(env, a, b - 1) else None,
    arith.FloorDivSIOp: lambda env, a, b: floordiv(a, b) if b else None,
    arith.ShRSIOp: _shifted,
    arith.AndIOp: _masked,
    arith.MinSIOp: lambda env, a, b: minimum(a, b),
    arith.MaxSIOp: lambda env, a, b: maximum(a, b),
}
"""Expression of an op on indices, given some facts; None if it has none."""

COMPARISONS: dict[int, Callable[[Expr, Expr], Condition]] = {
    0: equal,
    1: lambda a, b: negate(equal(a, b)),
    2: less,
    3: less_equal,
    4: lambda a, b: less(b, a),
    5: lambda a, b: less_equal(b, a),
}
"""Comparisons by the number of a predicate of `arith.cmpi`."""
