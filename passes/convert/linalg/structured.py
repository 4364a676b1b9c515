"""Structured ops: loop nests whose bodies read and write elements at affine places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import linalg
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tiledialect.dialects.linalg.dialect import SoftmaxOp
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.elementwise.ops import ExpOp
from tiledialect.errors import TileError
from tiledialect.index.expr import Access, IndexExpr
from tiledialect.ir.names import place_of
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.convert.linalg.bodies import Body, affine_expr, is_tensor
from tiledialect.passes.convert.linalg.elements import (
    Element,
    Size,
    Space,
    filled,
    loops_of,
    sizes_of,
)
from tiledialect.passes.convert.linalg.extrema import extremum_and_place, place_of_extremum
from tiledialect.passes.convert.linalg.reductions import Accumulation, aggregate
from tiledialect.passes.convert.linalg.results import replace


@dataclass(frozen=True)
class Structured:
    """Loop nest of an op: its tensors with their accesses, and its body."""

    op: Operation
    inputs: Sequence[SSAValue]
    outputs: Sequence[SSAValue]
    loops: Sequence[str]
    accesses: Sequence[Access]
    """Accesses of the inputs, then of the outputs."""
    body: Block
    """Block of a scalar for each input and output, which yields one for each output."""

    def ranges(self, builder: TensorBuilder) -> dict[str, Size]:
        """Number of steps of each loop, from the tensors that have it as an axis."""
        found: dict[str, tuple[SSAValue, int]] = {}
        for value, access in zip((*self.inputs, *self.outputs), self.accesses, strict=True):
            for axis, expr in enumerate(access):
                name = expr.variable
                if name is None:
                    continue
                is_known = (
                    cast(TensorType[Attribute], value.type).get_shape()[axis] != DYNAMIC_INDEX
                )
                if name not in found or is_known:
                    found[name] = value, axis
        missing = [name for name in self.loops if name not in found]
        if missing:
            raise TileError.at(
                self.op, f"{self.op.name} has a loop that is no axis of any tensor: {missing[0]}"
            )
        return {name: builder.size(*found[name]) for name in self.loops}


def structured(op: Operation) -> Structured | None:
    """The loop nest of an op, if it is one."""
    if isinstance(op, linalg.ops.ReduceOp):
        dropped = set(op.dimensions.get_values())
        rank = len(shape_of(tensor_type(op.input)) or ())
        loops = [f"d{k}" for k in range(rank)]
        kept = [name for k, name in enumerate(loops) if k not in dropped]
        accesses = [tuple(map(IndexExpr.of, names)) for names in (loops, kept)]
        return Structured(op, [op.input], [op.init], loops, accesses, op.region.block)
    if isinstance(op, linalg.ops.BroadcastOp):
        added = set(op.dimensions.get_values())
        rank = len(shape_of(tensor_type(op.init)) or ())
        return _moved(op, op.input, op.init, [f"d{k}" for k in range(rank) if k not in added])
    if not isinstance(op, LinalgStructuredOperation):
        return None
    loops = [f"d{k}" for k in range(len(op.get_iterator_types()))]
    names = [IndexExpr.of(name) for name in loops]
    accesses = [
        tuple(affine_expr(e, names, op) for e in m.data.results) for m in op.get_indexing_maps()
    ]
    return Structured(op, op.inputs, op.outputs, loops, accesses, op.body.block)


def _moved(op: Operation, source: SSAValue, initial: SSAValue, read: Sequence[str]) -> Structured:
    """The loop nest of an op that copies elements."""
    loops = [f"d{k}" for k in range(len(shape_of(tensor_type(initial)) or ()))]
    accesses = [tuple(map(IndexExpr.of, names)) for names in (read, loops)]
    return Structured(op, [source], [initial], loops, accesses, op.regions[0].block)


def convert(nest: Structured) -> list[SSAValue]:
    """The tensors that a loop nest computes, by tile ops before it."""
    builder = TensorBuilder(nest.op, place_of(nest.op))
    space = Space(builder, nest.ranges(builder))
    body = Body(space, nest.op)
    count = len(nest.inputs)
    for value, access, scalar in zip(
        nest.inputs, nest.accesses[:count], nest.body.args[:count], strict=True
    ):
        if is_tensor(value):
            number = filled(value)
            body.elements[scalar] = Element(value, access) if number is None else Element(number)
        else:
            body.elements[scalar] = body.element(value)
    for value, access, scalar in zip(
        nest.outputs, nest.accesses[count:], nest.body.args[count:], strict=True
    ):
        # Each of its elements is read once, before it is written.
        if scalar.uses and loops_of(access) is not None and not _reduced(body, access):
            body.elements[scalar] = Element(value, access)
    yielded = nest.body.last_op
    assert yielded is not None
    if (places := _extremum(nest, body, yielded.operands)) is not None:
        return places
    return [_output(nest, body, k, value) for k, value in enumerate(yielded.operands)]


def _extremum(nest: Structured, body: Body, yielded: Sequence[SSAValue]) -> list[SSAValue] | None:
    """The outputs of a loop nest that finds extrema and their places along its only reduction."""
    count = len(nest.inputs)
    found = place_of_extremum(yielded, nest.body.args[count:])
    accesses = set(nest.accesses[count:])
    if found is None or len(accesses) != 1:
        return None
    (access,) = accesses
    loop = nest.loops[found.loop]
    size = body.space.ranges[loop]
    is_along = _reduced(body, access) == [loop] and loops_of(access) is not None
    if not is_along or not isinstance(size, int) or size == 0:
        return None
    return extremum_and_place(body, found, access, nest.outputs)


def _reduced(body: Body, access: Access) -> list[str]:
    """The loops that an output lacks."""
    written = {name for expr in access for name in expr.names}
    return [name for name, size in body.space.ranges.items() if name not in written and size != 1]


def _output(nest: Structured, body: Body, number: int, value: SSAValue) -> SSAValue:
    """An output of a loop nest."""
    position = len(nest.inputs) + number
    initial, access = nest.outputs[number], nest.accesses[position]
    accumulator = nest.body.args[position]
    accumulation = Accumulation(accumulator)
    # Several points may write one element where an output has other indices than loops.
    if accumulator not in body.elements and accumulation.uses(value):
        reduction = accumulation.reduction(value)
        if reduction is not None:
            return aggregate(body, reduction, access, initial)
        if _reduced(body, access):
            raise TileError.at(
                nest.op,
                f"the body of {nest.op.name} uses what it accumulates in another way than in a "
                "sum, product, maximum or minimum",
            )
        body.elements[accumulator] = Element(initial, access)
    if _reduced(body, access):
        raise TileError.at(nest.op, f"{nest.op.name} writes an element at several points")
    t = tensor_type(initial).element_type
    shape = body.space.shape(initial)
    return body.space.place(body.element(value), access, shape, t, initial)


class StructuredPattern(RewritePattern):
    """Converts ops with indexing maps: linalg.generic and the named ops."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Convert an op on tensors."""
        if not op.results or not isinstance(op.results[0].type, TensorType):
            return
        if (nest := structured(op)) is not None:
            replace(op, convert(nest), rewriter)


class SoftmaxPattern(RewritePattern):
    """Converts softmax."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SoftmaxOp, rewriter: PatternRewriter) -> None:
        """Convert an op on tensors."""
        if not op.results:
            return
        builder = TensorBuilder(op, place_of(op))
        sizes = sizes_of(builder, op.input)
        space = Space(builder, {f"d{k}": size for k, size in enumerate(sizes)})
        axes = tuple(map(IndexExpr.of, space.ranges))
        axis = op.dimension.value.data
        kept = (*axes[:axis], IndexExpr(), *axes[axis + 1 :])
        shape = [1 if k == axis else size for k, size in enumerate(sizes)]

        def along(aggregation: Aggregation, value: SSAValue) -> SSAValue:
            element = Element(value, axes)
            return space.contract(aggregation, Combination.none, kept, shape, [element])

        shifted = builder.sub(op.input, along(Aggregation.max, op.input))
        exponentials = builder.op(ExpOp, shifted)
        replace(op, [builder.div(exponentials, along(Aggregation.add, exponentials))], rewriter)
