"""tile-factor-sums: row-constant factors leave the sums over rows, which then wait for less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.tile.attributes import EXTREMES, Aggregation, Combination
from tiledialect.dialects.tile.base import TileOp, shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import AddOp, ConstantOp, DivOp, MulOp, NegOp, SubOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import keep_name, keep_place
from tiledialect.ir.ops_in import has_one_block, ops_of
from tiledialect.passes.normalize.rewrites.change_indices import set_domain

MAX_TERMS = 64
"""Maximum terms of a sum that is taken apart: `a + a` doubles them each time."""


@dataclass(frozen=True)
class Term:
    """Term of a sum: a product for each point, times factors that are constant along a row."""

    cores: tuple[SSAValue, ...]
    factors: tuple[tuple[type[MulOp | DivOp], SSAValue], ...] = ()
    """Factors that multiply or divide the term."""
    negative: bool = False


Key = tuple[SSAValue, tuple[int, ...]]
"""A tensor, and the axes that it is summed over."""


class SumFactoring:
    """Sums of a function, and the aggregates that they wait for."""

    def __init__(self, function: func.FuncOp):
        self.waits: dict[SSAValue, int] = {}
        """Number of aggregates that a value waits for, one after another."""
        self.known: dict[Key, ContractionOp] = {}
        """Existing sums, with axes of size 1 where they sum."""
        self.dropping: dict[Key, ContractionOp] = {}
        """Existing sums without the axes that they sum over."""
        self.products: dict[frozenset[SSAValue], SSAValue] = {}
        """Existing products."""
        self.scales: set[SSAValue] = set()
        """Results of elementwise ops of a greatest or least element."""
        self.replaced: dict[SSAValue, SSAValue] = {}
        """Replacements of the results of erased sums: terms may still name these."""
        for op in list(function.body.block.ops):
            self._enter(op)
            if isinstance(op, ContractionOp) and is_sum_of_rows(op):
                self._factor(op)
        # Operands of the old sums alone.
        region_dce(function.body)

    def _enter(self, op: Operation) -> None:
        before = max((self.waits.get(v, 0) for v in op.operands), default=0)
        aggregates = isinstance(op, ContractionOp) and bool(_summed(op))
        for result in op.results if isinstance(op, TileOp) else ():
            self.waits[result] = before + aggregates
        if _is_extreme(op) or (not aggregates and not self.scales.isdisjoint(op.operands)):
            self.scales.update(op.results)
        if isinstance(op, MulOp):
            self.products.setdefault(frozenset(op.operands), op.results[0])
        if isinstance(op, ContractionOp) and is_sum_of_rows(op):
            there = self.dropping if _drops_axes(op) else self.known
            there.setdefault(_key(op, op.inputs[0]), op)

    def _factor(self, op: ContractionOp) -> SSAValue:
        """Replace a sum by sums that wait for less, if there are such; its new value."""
        (value,) = op.inputs
        terms = RowTerms(op, self.waits, self.scales).terms(value)
        if terms is None or not any(t.factors for t in terms):
            return op.result
        cores = [core for term in terms for core in term.cores]
        if max(self.waits.get(core, 0) for core in cores) >= self.waits.get(value, 0):
            return op.result
        total: SSAValue | None = None
        parts: dict[Term, SSAValue] = {}
        for term in terms:
            plain = replace(term, negative=False)
            part = parts.get(plain) or parts.setdefault(plain, self._part(op, plain))
            if total is None:
                total = self._add(op, NegOp.make(part)) if term.negative else part
            else:
                total = self._add(op, (SubOp if term.negative else AddOp).make(total, part))
        assert total is not None
        if _drops_axes(op):
            total = self._add(op, _without_axes(op, total))
        keep_name(total, op.result)
        self._replace(op, total)
        return total

    def _add(self, place: ContractionOp, op: Operation) -> SSAValue:
        """Insert an op before another one, after all known values; its result."""
        keep_place(op, place)
        Rewriter.insert_op(op, InsertPoint.before(place))
        self._enter(op)
        return op.results[0]

    def _replace(self, op: ContractionOp, by: SSAValue) -> None:
        """Replace a sum by another value."""
        op.result.replace_all_uses_with(by)
        self.replaced[op.result] = by
        for there in (self.known, self.dropping):
            if there.get(key := _key(op, op.inputs[0])) is op:
                del there[key]
        Rewriter.erase_op(op)

    def _part(self, op: ContractionOp, term: Term) -> SSAValue:
        """Sum of a term: the sum of its cores' product, times its constant factors."""
        core, *others = map(self._current, term.cores)
        mean = _mean_of_deviations(op, core) if not others else None
        if mean is None:
            part = self._of_product(op, core, others)
        else:
            # Nothing but roundings would remain; NaN and infinity make a NaN.
            part = self._add(op, SubOp.make(mean, mean))
        for kind, factor in term.factors:
            part = self._add(op, kind.make(part, self._current(factor)))
        return part

    def _of_product(self, op: ContractionOp, core: SSAValue, others: list[SSAValue]) -> SSAValue:
        """Sum of a product."""
        for other in others:
            factors = frozenset((core, other))
            if factors not in self.products:
                self._add(op, MulOp.make(core, other))
            core = self.products[factors]
        total = self.known.get(_key(op, core)) or self._with_kept_axes(_key(op, core))
        if total is None:
            total = _with_axes(op, core)
            self._add(op, total)
            # Factored before sums behind it are known.
            return self._factor(total)
        return total.result

    def _current(self, value: SSAValue) -> SSAValue:
        """The current value for a value that a term names."""
        while value in self.replaced:
            value = self.replaced[value]
        return value

    def _with_kept_axes(self, key: Key) -> ContractionOp | None:
        """An existing sum without the axes that it sums over, changed to keep them."""
        if (op := self.dropping.get(key)) is None:
            return None
        total = _with_axes(op, op.inputs[0])
        self._add(op, total)
        result = self._add(op, _without_axes(op, total.result))
        keep_name(result, op.result)
        self._replace(op, result)
        return total


class RowTerms:
    """Terms of a sum over the rows of a tensor."""

    def __init__(self, op: ContractionOp, waits: dict[SSAValue, int], scales: set[SSAValue]):
        (value,) = op.inputs
        self.scales = scales
        self.shape = shape_of(tensor_type(value)) or ()
        self.type = tensor_type(op.result).element_type
        self.waits = waits
        self.wait = waits.get(value, 0)
        summed = _summed(op)
        self.axes = [k for k, e in enumerate(op.accesses.data[0].data) if e.variable in summed]
        self.known: dict[SSAValue, list[Term] | None] = {}

    def constant(self, value: SSAValue) -> SSAValue | None:
        """The value that a tensor has all along a row; None if it is not constant there."""
        if isinstance(value.owner, ConstantOp):
            return value
        if tensor_type(value).element_type != self.type:
            return None
        if isinstance(value.owner, ContractionOp) and _spreads(value.owner):
            value = value.owner.inputs[0]
        shape = shape_of(tensor_type(value)) or ()
        missing = len(self.shape) - len(shape)
        is_constant = all(k < missing or shape[k - missing] == 1 for k in self.axes)
        return value if missing >= 0 and is_constant else None

    def terms(self, value: SSAValue) -> list[Term] | None:
        """Terms whose sum is a value; None if a part of it is constant, or of another shape."""
        # Operands come first: a long chain would be too deep a recursion.
        pending = [value]
        while pending:
            if pending[-1] in self.known:
                pending.pop()
            elif unknown := [v for v in self._parts(pending[-1]) if v not in self.known]:
                pending += unknown
            else:
                self.known[pending[-1]] = self._of_parts(pending[-1])
        return self.known[value]

    def _has_terms(self, value: SSAValue) -> bool:
        return shape_of(tensor_type(value)) == self.shape and self.constant(value) is None

    def _parts(self, value: SSAValue) -> Sequence[SSAValue]:
        """Operands that contribute the terms of a value; none if it is a term itself.

        A sum that waits for fewer aggregates stays as it is: so a mean that is subtracted does, as
        without it the sum would lose its precision.
        """
        if not self._has_terms(value) or tensor_type(value).element_type != self.type:
            return ()
        match op := value.owner:
            case AddOp() | SubOp() if self.waits.get(value, 0) == self.wait:
                return op.operands
            case NegOp() | MulOp() | DivOp():
                return op.operands
            case ContractionOp() if _multiplies(op):
                return op.inputs
            case _:
                return ()

    def _of_parts(self, value: SSAValue) -> list[Term] | None:
        if not self._has_terms(value):
            return None
        whole = [Term((value,))]
        parts = self._parts(value)
        match value.owner:
            case _ if not parts:
                return whole
            case NegOp():
                found = self.known[parts[0]]
                return [replace(t, negative=not t.negative) for t in found] if found else whole
            case AddOp() | SubOp():
                left, right = (self.known[v] for v in parts)
                if not left or not right or len(left) + len(right) > MAX_TERMS:
                    return whole
                turned = isinstance(value.owner, SubOp)
                return [*left, *(replace(t, negative=t.negative != turned) for t in right)]
            case DivOp():
                return self._scaled(parts[0], DivOp, parts[1]) or whole
            case _:
                return self._product(*parts) or whole

    def _scaled(
        self, value: SSAValue, kind: type[MulOp | DivOp], by: SSAValue
    ) -> list[Term] | None:
        """Terms of a value, each times a factor; None if the factor is not constant.

        Division by the greatest element stays in the sum: without it terms may overflow or
        underflow.
        """
        factor, found = self.constant(by), self.known[value]
        if factor is None or found is None or factor in self.scales:
            return None
        return [replace(t, factors=(*t.factors, (kind, factor))) for t in found]

    def _product(self, a: SSAValue, b: SSAValue) -> list[Term] | None:
        """Terms of a product with a constant factor, or of two single terms.

        Squares keep their factors: `(x / s)**2` is near 1 where `x**2` may be 0 or infinite.
        """
        if found := self._scaled(a, MulOp, b) or self._scaled(b, MulOp, a):
            return found
        left, right = self.known[a], self.known[b]
        if left is None or right is None or len(left) > 1 or len(right) > 1:
            return None
        (x,), (y,) = left, right
        is_square = not {*x.cores}.isdisjoint(y.cores)
        if is_square or (not x.factors and not y.factors):
            return None
        factors = (*x.factors, *y.factors)
        return [Term((*x.cores, *y.cores), factors, x.negative != y.negative)]


def is_sum_of_rows(op: ContractionOp) -> bool:
    """Whether an op sums over axes of a tensor of real numbers, which are dropped or have size 1
    then.
    """
    if not op.is_static or op.aggregation.data is not Aggregation.add or len(op.inputs) != 1:
        return False
    if op.constraints.data or op.default is not None or not _summed(op):
        return False
    if not isinstance(tensor_type(op.result).element_type, Float32Type | Float64Type):
        return False
    access, output = op.accesses.data[0].data, op.output.data
    if op.result.type != op.inputs[0].type and _keeps_axes(access, output):
        return True
    return _drops_axes(op) and _keeps_axes(access, access)


def _is_extreme(op: Operation) -> bool:
    """Whether an op takes the greatest or least of some elements."""
    return isinstance(op, ContractionOp) and op.aggregation.data in EXTREMES and bool(_summed(op))


def _drops_axes(op: ContractionOp) -> bool:
    """Whether the result has exactly the operand's axes that are not summed."""
    summed = _summed(op)
    return [e for e in op.accesses.data[0].data if e.variable not in summed] == [*op.output.data]


def _with_axes(op: ContractionOp, value: SSAValue) -> ContractionOp:
    """Sum of another tensor over the axes of a sum, which have size 1 in its result."""
    access, summed = op.accesses.data[0].data, _summed(op)
    output = [IndexExpr() if e.variable in summed else e for e in access]
    sizes = zip(shape_of(tensor_type(value)) or (), access, strict=True)
    shape = tuple(1 if e.variable in summed else size for size, e in sizes)
    total = ContractionOp(Aggregation.add, Combination.none, output, [(value, access)], shape=shape)
    if op.domain is not None:
        set_domain(total, total.space())
    return total


def _without_axes(op: ContractionOp, total: SSAValue) -> ReshapeOp:
    """A sum with axes of size 1, in the shape of a sum without them."""
    return ReshapeOp.of(total, shape_of(tensor_type(op.result)) or ())


def _multiplies(op: ContractionOp) -> bool:
    """Whether an op is the product of its operands, broadcast."""
    is_product = op.combination.data is Combination.mul and len(op.inputs) == 2
    is_plain = is_product and op.is_static and not op.constraints.data and op.default is None
    accesses = (a.data for a in op.accesses)
    return is_plain and not _summed(op) and all(_keeps_axes(op.output.data, a) for a in accesses)


def _spreads(op: ContractionOp) -> bool:
    """Whether an op is its operand, broadcast."""
    is_plain = len(op.inputs) == 1 and not op.constraints.data and op.default is None
    return is_plain and op.is_static and _keeps_axes(op.output.data, op.accesses.data[0].data)


def _keeps_axes(more: Sequence[IndexExpr], fewer: Sequence[IndexExpr]) -> bool:
    """Whether accesses have the same indices, each once, except for zeros in the second."""
    names = [e.variable for e in more if e != IndexExpr()]
    plain = len(more) == len(fewer) and None not in names and len(set(names)) == len(names)
    return plain and all(b in (a, IndexExpr()) for a, b in zip(more, fewer, strict=True))


def _mean_of_deviations(op: ContractionOp, value: SSAValue) -> SSAValue | None:
    """The row mean that is subtracted from the elements that an op sums, if any.

    Their sum is 0 then.
    """
    if not isinstance(value.owner, SubOp):
        return None
    whole, mean = value.owner.operands
    total, count = _total_and_count(mean)
    access, summed = op.accesses.data[0].data, _summed(op)
    sizes = zip(shape_of(tensor_type(whole)) or (), access, strict=True)
    row = [(size, e.variable in summed) for size, e in sizes]
    shape = tuple(1 if is_summed else size for size, is_summed in row)
    number = prod(size for size, is_summed in row if is_summed)
    if total is None or count != number or shape_of(tensor_type(mean)) != shape:
        return None
    is_mean = is_sum_of_rows(total) and _key(total, total.inputs[0]) == _key(op, whole)
    return mean if is_mean and mean.type == op.result.type else None


def _total_and_count(mean: SSAValue) -> tuple[ContractionOp | None, float]:
    """Aggregate and number whose quotient is a value; the aggregate may be reshaped."""
    op = _reshaped(mean).owner
    constant = constant_of(op.operands[1]) if isinstance(op, DivOp) else None
    if not isinstance(op, DivOp) or constant is None:
        return None, 0
    total = _reshaped(op.operands[0]).owner
    return (total if isinstance(total, ContractionOp) else None), constant.number


def _reshaped(value: SSAValue) -> SSAValue:
    """Source of a chain of reshapes, or the value itself."""
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.operands[0]
    return value


def _summed(op: ContractionOp) -> set[str]:
    return set(op.index_names) - {name for e in op.output.data for name in e.names}


def _key(op: ContractionOp, value: SSAValue) -> Key:
    """Key that equal sums of a value share."""
    summed = _summed(op)
    axes = (k for k, e in enumerate(op.accesses.data[0].data) if e.variable in summed)
    return value, tuple(axes)


class TileFactorSumsPass(ModulePass):
    """Takes factors that are the same in all of a row out of sums over rows.

    The sum of `x / s`, where `s` has one element for each row, is the sum of `x`, divided by `s`;
    and a sum of several such terms is the sum of their sums, also where products are contractions.
    A sum is rewritten where the new sums wait for fewer aggregates, one after another: the
    gradients of a softmax or a layer normalization then read their rows in fewer phases. Summands,
    such as a mean that is subtracted, stay in the sum; so do factors that keep numbers near 1, such
    as a greatest element that divides, or a factor of a square. A term of deviations from a row's
    own mean sums to 0, or to NaN if the mean is not finite. Types are f32 and f64.
    """

    name = "tile-factor-sums"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Factor the sums of every function."""
        for function in ops_of(op, func.FuncOp):
            if has_one_block(function):
                SumFactoring(function)
