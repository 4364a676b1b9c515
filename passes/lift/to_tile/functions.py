"""Functions of patterns as functions of tensors: contractions and elementwise ops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from xdsl.dialects import arith, func, tensor, vector
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.lift import layout, maps, memory, reductions, values
from tiledialect.dialects.lift.attributes import SizeAttr
from tiledialect.dialects.lift.base import FunctionOp, LiftOp, YieldOp, label
from tiledialect.dialects.lift.binding import bind, local_names, names_of
from tiledialect.dialects.lift.types import as_array, sizes_of
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import TileOp, shape_of, tensor_type
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import keep_name, place_of, take_name
from tiledialect.passes.lift.to_tile.arithmetic import Arithmetic
from tiledialect.passes.lift.to_tile.elements import (
    NEUTRAL,
    AffineIndex,
    Array,
    Element,
    Load,
    NotCombiningError,
    Running,
    Value,
    arrays_in,
    each,
)
from tiledialect.passes.lift.to_tile.layouts import (
    AS_IT_IS,
    LAYOUT,
    at,
    number,
    pad_constant,
    slide,
)
from tiledialect.passes.lift.to_tile.numbers import MAKES

MAX_STEPS = 128
"""Maximum number of steps of a loop that is unrolled."""


def to_tile(function: func.FuncOp) -> None:
    """Rewrite a function of patterns, whose sizes are known, as one of tensors, in place.

    Raises a TileError at a pattern that Tile cannot express.
    """
    for op in function.walk():
        if isinstance(op, LiftOp) and (unknown := names_of(op) - local_names(op)):
            raise TileError.at(
                op,
                f"{op.pattern()} has a form in Tile once the size {min(unknown)} is known: "
                "run tile-specialize first",
            )
    returned = function.body.block.last_op
    assert isinstance(returned, func.ReturnOp)
    ops = list(function.body.block.ops)[:-1]
    evaluation = Evaluation(returned)
    for op in ops:
        evaluation.run_outside(op)
    outputs = [evaluation.tensor(v) for v in returned.operands]
    returned.operands = outputs
    for op in reversed(ops):
        if not any(result.first_use for result in op.results):
            Rewriter.erase_op(op)
    region_dce(function.body)


def numbers_to_tile(function: func.FuncOp) -> None:
    """Rewrite arithmetic on numbers outside of patterns as tensor ops, in place.

    Results of patterns that are numbers stay numbers, and values computed with them.
    """
    evaluation = Evaluation(function)
    ready = set[SSAValue]()
    for op in list(function.body.block.ops):
        if isinstance(op, tensor.ExtractOp):
            known = not op.indices
        else:
            known = all(v in ready for v in op.operands)
        if not known or not isinstance(op, OF_NUMBERS):
            continue
        evaluation.builder.before = op
        if isinstance(op, tensor.FromElementsOp):
            if not op.result.type.get_shape():
                evaluation.run(op)
                Rewriter.replace_op(op, [], [evaluation.tensor(op.result)])
        elif not isinstance(op.results[0].type, IndexType | VectorType):
            evaluation.run(op)
            ready.add(op.results[0])
    region_dce(function.body)


@dataclass
class Evaluation(Arithmetic):
    """Evaluates the values of a function, op by op; new ops are put before one."""

    def __post_init__(self):
        super().__post_init__()
        self.accumulators = count()

    # -- ops -------------------------------------------------------------------------------

    def run_outside(self, op: Operation) -> None:
        """Evaluate an op outside of patterns: one of tile stays as it is."""
        self.builder.place = place_of(op)
        if not isinstance(op, TileOp | tensor.DimOp):
            self.run(op)
            return
        operands = [v if isinstance(v.type, IndexType) else self.tensor(v) for v in op.operands]
        if operands == list(op.operands):
            # Later ops of the same kind come after the replacements of their operands.
            copy = op.clone()
        else:
            copy = op.clone(dict(zip(op.operands, operands, strict=True)))
        first = self.before
        assert first.parent is not None
        first.parent.insert_op_before(copy, first)
        for old, new in zip(op.results, copy.results, strict=True):
            keep_name(new, old)
            if isinstance(new.type, IndexType):
                old.replace_all_uses_with(new)
            else:
                self.found[old] = self.m.loaded(new)

    def run(self, op: Operation) -> None:
        """Evaluate any op."""
        if isinstance(op, LiftOp):
            self.builder.place = place_of(op)
        (result,) = op.results
        if type(op) in LAYOUT:
            apply, value = partial(LAYOUT[type(op)], self.m, op), self.value(op.operands[0])
            found = each(apply, value if isinstance(op, AS_IT_IS) else each(self.m.plain, value))
        elif (run := RUN.get(type(op))) is not None:
            found = run(self, op)
        elif (
            type(op) in MAKES
            or isinstance(op, arith.CmpfOp | arith.CmpiOp)
            or (isinstance(op, ElementwiseOp) and not isinstance(op, ew.IndexOp))
        ):
            found = self.numbers(op)
        else:
            raise TileError.at(op, f"{_named(op)} has no form in Tile, and so no gradient")
        self.found[result] = found
        self._name(result)

    def _name(self, result: SSAValue) -> None:
        """Name the tensor of a value like the value."""
        for array in arrays_in(self.found[result]):
            if isinstance(array.element, Load):
                made = array.element.tensor
                if isinstance(made.owner, Operation):
                    take_name(made, result)

    def function(self, op: FunctionOp, *arguments: Value) -> Value:
        """Evaluate a pattern's function."""
        for argument, value in zip(op.block.args, arguments, strict=True):
            self.found[argument] = value
        for inner in op.block.ops:
            if isinstance(inner, YieldOp):
                return self.value(inner.value)
            self.run(inner)
        raise TileError.at(op, f"the function of {op.pattern()} does not end in a lift.yield")

    # -- patterns --------------------------------------------------------------------------

    def map(self, op: maps.MapBase) -> Value:
        """Evaluate a map: its function with one more axis around."""
        value = self.value(op.input)
        if isinstance(op, maps.MapSeqSlideOp):
            value = each(partial(slide, self.m, op), value)
        axis = self.m.common(arrays_in(value))
        result = self.function(op, self._along(value, axis))
        return over(result, axis)

    def _length(self, value: Value) -> int:
        return self.m.sizes[arrays_in(value)[0].axes[0]]

    def _element_of(self, value: Value, place: IndexExpr) -> Value:
        def element(a: Array) -> Array:
            return self.m.plain(a).at(place)

        return each(element, value)

    def _along(self, value: Value, axis: str) -> Value:
        def element(a: Array) -> Array:
            return self.m.along(a, axis)

        return each(element, value)

    def reduce(self, op: reductions.ReduceBase) -> Value:
        """Evaluate a reduction: a contraction where it sums, multiplies or takes an extreme."""
        initial, value = each(self.m.plain, self.value(op.initial)), self.value(op.input)
        axis = self.m.common(arrays_in(value))
        running = each(self._accumulator, initial)
        try:
            found = self.function(op, running, self._along(value, axis))
            found = each(self.m.plain, found)
            return each(partial(self._total, axis), initial, running, found)
        except NotCombiningError:
            return self._in_steps(op, initial, value)

    def _accumulator(self, initial: Array) -> Array:
        """Make a stand-in for an accumulator with an initial value."""
        index = tuple(map(IndexExpr.of, initial.axes))
        return Array(initial.axes, Running(next(self.accumulators), index))

    def _total(self, axis: str, initial: Array, running: Array, found: Array) -> Array:
        """Accumulator after the last element."""
        own, element = running.element, found.element
        if len(found.axes) == len(running.axes):
            places = dict(zip(found.axes, map(IndexExpr.of, running.axes), strict=True))
            element = element.at(places)
        assert isinstance(own, Running)
        same = isinstance(element, Running) and element.accumulator == own.accumulator
        if not (same and isinstance(element, Running) and element.index == own.index):
            raise NotCombiningError
        aggregation = element.aggregation
        if aggregation is None:
            return initial
        total: Element | None = None if self._is_neutral(initial, aggregation) else initial.element
        for term in element.terms:
            part = self.m.reduced(aggregation, term, axis)
            total = part if total is None else self.m.combined(aggregation, total, part)
        assert total is not None
        return Array(initial.axes, total)

    def _is_neutral(self, initial: Array, aggregation: Aggregation) -> bool:
        element = initial.element
        made = element.tensor.owner if isinstance(element, Load) else None
        return isinstance(made, ew.ConstantOp) and made.number == NEUTRAL[aggregation]

    def _in_steps(self, op: reductions.ReduceBase, initial: Value, value: Value) -> Value:
        """Evaluate a reduction by any function: as a tree of pairs if the order is free."""
        length = self._length(value)
        pairs = isinstance(op, reductions.ReduceOp) and _alike(self, initial, value)
        rest: list[Value] = []
        while pairs and length > 1:
            half, odd = length // 2, length % 2
            if odd:
                rest.append(self._element_of(value, IndexExpr.of(length - 1)))
            axis = self.m.axis(half)
            first = IndexExpr.of(axis) * 2
            sides = [self._element_of(value, first), self._element_of(value, first + 1)]
            value, length = over(self.function(op, *sides), axis), half
        self._check_steps(
            op,
            length,
            f"{op.pattern()} of {length} elements by a function that is no sum, product or extreme",
        )
        found = initial
        for k in range(length):
            found = self.function(op, found, self._element_of(value, IndexExpr.of(k)))
        for part in reversed(rest):
            found = self.function(op, found, part)
        return found

    def _check_steps(self, op: LiftOp, steps: int, loop: str) -> None:
        """Refuse a loop that would be unrolled in too many steps."""
        if steps > MAX_STEPS:
            raise TileError.at(
                op, f"{loop} is unrolled in Tile, for a gradient too: at most {MAX_STEPS} steps"
            )

    def iterate(self, op: reductions.IterateOp) -> Value:
        """Unroll an iteration."""
        value = self.value(op.initial)
        steps = list(op.steps())
        times_ = number(op.count)
        self._check_steps(op, times_, f"iterate({times_})")
        if not steps:
            for _ in range(times_):
                value = self.function(op, value)
        for sizes, _ in steps:
            bound = op.clone()
            bind(bound, sizes)
            value = self.function(bound, value)
        return value

    def generate(self, op: values.GenerateOp) -> Value:
        """Evaluate an array of a function's results for indices."""
        sizes = sizes_of(as_array(op.result, op.pattern()))[: len(op.block.args)]
        axes = [self.m.axis(number(SizeAttr(size))) for size in sizes]
        result = self.function(op, *(Array((), AffineIndex(IndexExpr.of(a))) for a in axes))
        return over(result, *axes)

    def at(self, op: values.AtOp) -> Value:
        """Evaluate an element at an index."""
        index = self.array(op.index).element
        return self._at(self.value(op.input), index)

    def _at(self, value: Value, index: Element) -> Value:
        def element(a: Array) -> Array:
            return at(self.m, self.m.plain(a), index)

        return each(element, value)

    def pad_constant(self, op: layout.PadConstantOp) -> Value:
        """Evaluate a pad by a value."""
        array, value = (each(self.m.plain, self.value(v)) for v in op.operands)
        return each(partial(pad_constant, self.m, op), array, value)

    def concat(self, op: layout.ConcatOp) -> Value:
        """Evaluate a concatenation."""
        return each(
            lambda *arrays: self.m.concatenated([self.m.plain(a) for a in arrays]),
            *(self.value(v) for v in op.operands),
        )

    def broadcast(self, op: vector.BroadcastOp) -> Value:
        """Evaluate a vector of one number."""
        t = op.results[0].type
        assert isinstance(t, VectorType)
        return self.array(op.operands[0]).over(self.m.axis(t.get_shape()[0]))

    def same(self, op: Operation) -> Value:
        """Return the value itself."""
        return self.value(op.operands[0])

    def together(self, op: Operation) -> Value:
        """Evaluate a tuple; an array of tuples is one, too."""
        return tuple(self.value(v) for v in op.operands)

    def get(self, op: values.GetOp) -> Value:
        """Evaluate a component."""
        found = self.value(op.input)
        assert isinstance(found, tuple)
        return found[op.index.data]

    def let(self, op: values.LetOp) -> Value:
        """Evaluate the function for a value."""
        return self.function(op, self.value(op.value))

    def size(self, op: values.SizeOp) -> Value:
        """Evaluate a size."""
        return Array((), AffineIndex(IndexExpr.of(number(op.size))))

    def from_elements(self, op: tensor.FromElementsOp) -> Value:
        """Evaluate a number, or the numbers of an array."""
        parts = [self.array(v) for v in op.operands]
        if not shape_of(tensor_type(op.result)):
            return parts[0]
        return self.m.concatenated([p.over(self.m.axis(1)) for p in parts])

    def extract(self, op: tensor.ExtractOp) -> Value:
        """Evaluate a number of an array."""
        found: Value = self.array(op.tensor)
        for index in op.indices:
            found = self._at(found, self.array(index).element)
        return found


def over(value: Value, *axes: str) -> Value:
    """Arrays of such values."""

    def extended(a: Array) -> Array:
        return a.over(*axes)

    return each(extended, value)


def _alike(evaluation: Evaluation, initial: Value, value: Value) -> bool:
    """Whether an accumulator has the form of an element."""

    def form(a: Array) -> list[int]:
        return [evaluation.m.sizes[name] for name in a.axes]

    own, elements = arrays_in(initial), arrays_in(value)
    return [form(a) for a in own] == [form(a)[1:] for a in elements]


def _named(op: Operation) -> str:
    return label(op) if isinstance(op, LiftOp) else op.name


RUN: dict[type[Operation], Callable[[Evaluation, Any], Value]] = {
    arith.ConstantOp: Evaluation.constant,
    vector.BroadcastOp: Evaluation.broadcast,
    tensor.FromElementsOp: Evaluation.from_elements,
    tensor.ExtractOp: Evaluation.extract,
    layout.PadConstantOp: Evaluation.pad_constant,
    layout.ConcatOp: Evaluation.concat,
    values.ZipOp: Evaluation.together,
    values.TupleOp: Evaluation.together,
    values.GetOp: Evaluation.get,
    values.AtOp: Evaluation.at,
    values.SizeOp: Evaluation.size,
    values.GenerateOp: Evaluation.generate,
    values.LetOp: Evaluation.let,
    reductions.IterateOp: Evaluation.iterate,
    **dict.fromkeys(maps.MAP_OPS, Evaluation.map),
    **dict.fromkeys(reductions.REDUCE_OPS, Evaluation.reduce),
    **dict.fromkeys(memory.MEMORY_OPS, Evaluation.same),
}
"""Evaluation of each op that is no layout of one array and no arithmetic."""

OF_NUMBERS = (
    arith.ConstantOp,
    arith.CmpfOp,
    arith.CmpiOp,
    tensor.ExtractOp,
    tensor.FromElementsOp,
    *MAKES,
)
"""Ops on numbers, and from arrays without axes to numbers and back."""
