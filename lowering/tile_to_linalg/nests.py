"""Loop nests of linalg: `linalg.generic` with a body that is built by index expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.builder import Builder
from xdsl.dialects import arith, linalg, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.constants import Number
from tiledialect.dialects.tile.elementwise import numeric
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.index.integer.expressions import Condition, Expr
from tiledialect.lowering.nest.utils.builder import NestBuilder
from tiledialect.lowering.nest.utils.index_values import IndexValues

Access = Sequence[IndexExpr]
INDEX = IndexType()


class Point(NestBuilder):
    """Builder of a body at a point of a loop nest; elements are read from whole tensors."""

    def __init__(self, block: Block):
        super().__init__(block)
        self.indices = IndexValues(block)

    def named(self, value: SSAValue, hint: str, values: Range | None = None) -> Expr:
        """The expression of an index value."""
        value.name_hint = hint
        return self.indices.variable(value, hint, values)

    def index(self, expr: Expr) -> SSAValue:
        """Emit the value of an index expression."""
        return self.indices.value(self.indices.simplify(expr))

    def test(self, condition: Condition) -> SSAValue:
        """Emit the value of a condition."""
        return self.indices.test(self.indices.simplify_condition(condition))

    def load(
        self,
        memory: SSAValue,
        access: Sequence[Expr],
        condition: Condition = ALWAYS,
        default: SSAValue | None = None,
        *,
        lanes: int = 1,
    ) -> SSAValue:
        """Emit the element of a tensor."""
        return self.emit(
            tensor.ExtractOp(memory, [self.index(e) for e in access], _element(memory))
        )


def _element(value: SSAValue) -> Attribute:
    assert isinstance(value.type, TensorType)
    return value.type.element_type


@dataclass(frozen=True)
class Loop:
    """Loop of a nest, from 0 on."""

    name: str
    size: int


Body = Callable[[Point, Sequence[SSAValue], Mapping[str, Expr]], Sequence[SSAValue]]
"""Function of the builder, the elements of the operands and the loops' indices that emits the
elements of the outputs."""


@dataclass
class LinalgBuilder:
    """Emits ops on tensors before an op, or at the end of a block."""

    builder: Builder

    def emit(self, op: Operation) -> SSAValue:
        """Insert an op with one result."""
        return self.builder.insert(op).results[0]

    def at(self, block: Block) -> LinalgBuilder:
        """A builder at the end of a block."""
        return LinalgBuilder(Builder(InsertPoint.at_end(block)))

    # -- whole tensors ---------------------------------------------------------------------

    def number(self, value: int) -> SSAValue:
        """An index."""
        return self.emit(arith.ConstantOp(IntegerAttr(value, INDEX)))

    def filled(self, value: Number, shape: Sequence[int], t: Attribute) -> SSAValue:
        """A tensor of one number of a tile element type."""
        number = numeric.number(value, t).item()
        storage = et.storage_type(t)
        if isinstance(storage, IntegerType):
            half = 2 ** (storage.width.data - 1)
            # One bit is 0 or 1, also without a sign.
            wrapped = int(number) - 2 * half * (number >= half > 1)
            data = DenseIntOrFPElementsAttr.from_list(TensorType(storage, shape), [wrapped])
        else:
            floats = TensorType(cast(AnyFloat, storage), shape)
            data = DenseIntOrFPElementsAttr.from_list(floats, [float(number)])
        return self.emit(arith.ConstantOp(data))

    def empty(self, shape: Sequence[int], storage: Attribute) -> SSAValue:
        """A tensor of any elements."""
        return self.emit(tensor.EmptyOp([], TensorType(storage, shape)))

    def padded(
        self, value: SSAValue, low: Sequence[int], high: Sequence[int], number: Number, t: Attribute
    ) -> SSAValue:
        """A tensor with elements of one number around it."""
        storage, shape = et.storage_type(t), shape_of(tensor_type(value)) or ()
        whole = [a + n + b for a, n, b in zip(low, shape, high, strict=True)]
        block = Block(arg_types=[INDEX] * len(shape))
        constant = Point(block).scalars.constant(number, t)
        block.add_op(tensor.YieldOp(constant))
        made = TensorType(storage, whole)
        return self.emit(tensor.PadOp(value, [], [], Region(block), list(low), list(high), made))

    def part(self, value: SSAValue, ranges: Sequence[Range]) -> SSAValue:
        """A part of a tensor."""
        lower, sizes = [r.lower for r in ranges], [r.extent for r in ranges]
        made = TensorType(_element(value), sizes)
        steps = [1] * len(sizes)
        return self.emit(tensor.ExtractSliceOp(value, lower, sizes, steps, made))

    def with_part(self, whole: SSAValue, value: SSAValue, ranges: Sequence[Range]) -> SSAValue:
        """A tensor with another part."""
        lower, sizes = [r.lower for r in ranges], [r.extent for r in ranges]
        return self.emit(tensor.InsertSliceOp.from_static_parameters(value, whole, lower, sizes))

    def reshaped(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The elements of a tensor in the same order, with other axes."""
        old = shape_of(tensor_type(value)) or ()
        storage = _element(value)
        if old == tuple(shape):
            return value
        if len(old) > 1 or not shape:
            line = TensorType(storage, [prod(old)] if shape else [])
            value = self.emit(
                tensor.CollapseShapeOp.create(
                    operands=[value],
                    result_types=[line],
                    properties={"reassociation": _joined(len(old) if shape else 0)},
                )
            )
        if (len(shape) == 1 and old) or not shape:
            return value
        return self.emit(
            tensor.ExpandShapeOp.create(
                operands=[value],
                result_types=[TensorType(storage, shape)],
                properties={
                    "reassociation": _joined(len(shape) if old else 0),
                    "static_output_shape": DenseArrayBase.from_list(i64, list(shape)),
                },
            )
        )

    # -- loop nests ------------------------------------------------------------------------

    def nest(
        self,
        loops: Sequence[Loop],
        inputs: Sequence[tuple[SSAValue, Access]],
        output: tuple[SSAValue, Access],
        body: Body,
    ) -> SSAValue:
        """The output of a loop nest; a tensor of no meaning bounds loops that are no axes."""
        operands = [*inputs, output]
        alone = {e.variable for _, access in operands for e in access}
        rest = [loop for loop in loops if loop.name not in alone]
        if rest:
            sizes = self.empty([loop.size for loop in rest], _element(output[0]))
            operands.insert(-1, (sizes, [IndexExpr.of(loop.name) for loop in rest]))
        dims = {loop.name: AffineDimExpr(k) for k, loop in enumerate(loops)}
        maps = [
            AffineMap(len(loops), 0, tuple(affine(e, dims) for e in access))
            for _, access in operands
        ]
        written = {e.variable for e in output[1]}
        is_plain = None not in written and len(written) == len(output[1])
        block = Block(arg_types=[_element(value) for value, _ in operands])
        point = Point(block)
        indices = _Positions(point, loops)
        scalars = [*block.args[: len(inputs)], block.args[-1]]
        results = body(point, scalars, indices)
        block.add_op(linalg.ops.YieldOp(*results))
        indices.drop_unused()
        return self.emit(
            linalg.ops.GenericOp(
                [value for value, _ in operands[:-1]],
                [output[0]],
                Region(block),
                [AffineMapAttr(m) for m in maps],
                [
                    IteratorTypeAttr.parallel()
                    if is_plain and loop.name in written
                    else IteratorTypeAttr.reduction()
                    for loop in loops
                ],
                [output[0].type],
            )
        )


class _Positions(Mapping[str, Expr]):
    """The indices of the loops, which are read where they are needed."""

    def __init__(self, point: Point, loops: Sequence[Loop]):
        self.ops: list[linalg.ops.IndexOp] = []
        self.exprs: dict[str, Expr] = {}
        for k, loop in enumerate(loops):
            op = linalg.ops.IndexOp(k)
            point.emit(op)
            self.ops.append(op)
            self.exprs[loop.name] = point.named(op.result, loop.name, Range(0, loop.size))

    def __getitem__(self, name: str) -> Expr:
        return self.exprs[name]

    def __iter__(self):
        return iter(self.exprs)

    def __len__(self) -> int:
        return len(self.exprs)

    def drop_unused(self) -> None:
        """Erase the ops that are not needed."""
        for op in self.ops:
            if not op.result.uses:
                op.detach()
                op.erase()


def _joined(count: int) -> Attribute:
    """All of so many axes, as one."""
    axes = ArrayAttr([IntegerAttr(k, i64) for k in range(count)])
    return ArrayAttr([axes] if count else [])


def affine(expr: IndexExpr, dims: Mapping[str, AffineDimExpr]) -> AffineExpr:
    """An index expression with integer coefficients as one of MLIR."""
    total: AffineExpr | None = None
    for monomial, coefficient in expr:
        factor = int(coefficient)
        if not monomial:
            term: AffineExpr = AffineConstantExpr(factor)
        else:
            term = dims[monomial[0]] if factor == 1 else dims[monomial[0]] * factor
        total = term if total is None else total + term
    return AffineConstantExpr(0) if total is None else total


def axes_of(value: SSAValue) -> tuple[list[Loop], list[IndexExpr]]:
    """The loops over a tensor, and its access by them."""
    shape = shape_of(tensor_type(value)) or ()
    loops = [Loop(f"d{k}", size) for k, size in enumerate(shape)]
    return loops, [IndexExpr.of(loop.name) for loop in loops]


def broadcast_access(value: SSAValue, axes: Sequence[IndexExpr], shape: Sequence[int]) -> Access:
    """Access of a tensor that is broadcast to these axes, as NumPy does."""
    own = shape_of(tensor_type(value)) or ()
    aligned = axes[len(axes) - len(own) :]
    whole = shape[len(axes) - len(own) :]
    return [
        IndexExpr() if size == 1 and n != 1 else e
        for e, size, n in zip(aligned, own, whole, strict=True)
    ]
