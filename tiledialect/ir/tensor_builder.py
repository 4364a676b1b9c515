"""Builder of tile ops, with methods for arithmetic."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tiledialect.dialects.discardable import DIMS
from tiledialect.dialects.tile.attributes import Aggregation, Combination, symbol
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import SizedOp, SumToOp
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.names import give_name, layer_place, set_place

Number = int | float
Access = Sequence[IndexExpr]


Origin = tuple[SSAValue, int]
"""Axis of a tensor."""


Found = int | SSAValue | Origin
"""Size of an axis: a number, the operand that gives it, or an axis of the same size."""


@dataclass
class Origins:
    """Origins of the sizes of axes, each found once."""

    found: dict[Origin, Found] = field(default_factory=dict[Origin, Found])

    def of(self, value: SSAValue, axis: int) -> Found:
        """Origin of the size of an axis."""
        key = value, axis
        if key not in self.found:
            self.found[key] = self._find(value, axis)
        return self.found[key]

    def note(self, values: Iterable[SSAValue]) -> None:
        """Find the origins of all axes of tensors."""
        for value in values:
            t = value.type
            for axis in range(len(t.get_shape()) if isinstance(t, TensorType) else 0):
                self.of(value, axis)

    def _find(self, value: SSAValue, axis: int) -> Found:
        shape = shape_of(tensor_type(value))
        if shape is None:
            return value, axis
        if shape[axis] != DYNAMIC_INDEX:
            return shape[axis]
        owner = value.owner
        if isinstance(owner, ContractionOp | SizedOp):
            return self.of_size(owner.sizes[shape[:axis].count(DYNAMIC_INDEX)])
        if isinstance(owner, ew.ElementwiseOp):
            return self._broadcast(owner, axis - len(shape)) or (value, axis)
        if isinstance(owner, SumToOp):
            return self.of(owner.like, axis)
        if isinstance(owner, CustomGradientOp):
            return self.of(owner.value, axis)
        return _header_origin(value, axis)

    def of_size(self, size: SSAValue) -> SSAValue | Origin:
        """The axis whose size a value is, or else the value itself."""
        owner = size.owner
        if isinstance(owner, tensor.DimOp):
            axis = constant_integer(owner.index)
            if axis is not None:
                origin = self.of(owner.source, axis)
                return size if isinstance(origin, int) else origin
        return size

    def _broadcast(self, op: ew.ElementwiseOp, axis: int) -> SSAValue | Origin | None:
        """Origin of the size of an axis, counted from the end; None if there are several."""
        found: list[SSAValue | Origin] = []
        for operand in op.operands:
            shape = shape_of(tensor_type(operand))
            if shape is None:
                return None
            if len(shape) >= -axis and shape[axis] != 1:
                origin = self.of(operand, len(shape) + axis)
                if isinstance(origin, int):
                    return None
                found.append(origin)
        return found[0] if len(set(found)) == 1 else None


@dataclass
class TensorBuilder:
    """Builder that inserts tile ops before an op; each method returns the result."""

    before: Operation
    place: FileLineColLoc | None = None
    """Place in the source from which the ops are."""
    shaped_as: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Tensors that give cotangents their shape."""
    sizes: dict[Origin, SSAValue] = field(default_factory=dict[Origin, SSAValue])
    """The sizes that have been computed."""
    origins: Origins = field(default_factory=Origins)
    """Origins, shared by the builders of one function, in which values do not change."""

    @contextmanager
    def of_layer(self, name: str) -> Generator[None]:
        """Let ops be of a layer of a model, unless they are of one around it."""
        if self.place is not None:
            yield
            return
        self.place = layer_place(name)
        try:
            yield
        finally:
            self.place = None

    def place_op(self, op: Operation) -> None:
        """Insert an op."""
        if self.place is not None:
            set_place(op, self.place)
        Builder(InsertPoint.before(self.before)).insert(op)

    def insert(self, op: Operation, name: str | None = None) -> SSAValue:
        """Insert an op with one result."""
        self.place_op(op)
        if name is not None:
            give_name(op.results[0], name)
        return op.results[0]

    def op(self, op: type[ew.ElementwiseOp], *operands: SSAValue | Number) -> SSAValue:
        """Insert an elementwise op on values and numbers."""
        values = [v if isinstance(v, SSAValue) else self.number(v) for v in operands]
        return self.insert(op.make(*values))

    def number(self, value: Number) -> SSAValue:
        """A constant without a type of its own."""
        return self.insert(ew.ConstantOp.of(value))

    def add(self, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """Sum of two values."""
        return self.op(ew.AddOp, a, b)

    def sub(self, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """Difference of two values."""
        return self.op(ew.SubOp, a, b)

    def mul(self, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """Product of two values."""
        return self.op(ew.MulOp, a, b)

    def div(self, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """Quotient of two values."""
        return self.op(ew.DivOp, a, b)

    def neg(self, a: SSAValue) -> SSAValue:
        """Negated value."""
        return self.op(ew.NegOp, a)

    def select(self, condition: SSAValue, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """``a`` where the condition holds, else ``b``."""
        return self.op(ew.SelectOp, condition, a, b)

    def zeros_like(self, value: SSAValue) -> SSAValue:
        """Zeros in the shape of ``value``, whatever it holds."""
        return self.select(self.number(0), value, 0)

    def like(self, value: SSAValue, other: SSAValue) -> SSAValue:
        """A value broadcast to the shape of another."""
        return value if same_shape(value, other) else self.select(self.number(1), value, other)

    def sum_to(self, value: SSAValue, like: SSAValue) -> SSAValue:
        """Sum of ``value`` over the axes along which ``like`` was broadcast to its shape."""
        if value is like or same_shape(value, like):
            return value
        # Only the shape counts: unary ops need not be computed for it.
        while isinstance(like.owner, ew.UnaryOp | ew.CastOp):
            like = like.owner.operands[0]
        return self.insert(SumToOp.make(value, like))

    def origin(self, value: SSAValue, axis: int) -> Found:
        """Origin of the size of an axis."""
        return self.origins.of(self.shaped_as.get(value, value), axis)

    def size(self, value: SSAValue, axis: int) -> int | SSAValue:
        """Size of an axis: a number if it is known."""
        origin = self.origin(value, axis)
        if not isinstance(origin, tuple):
            return origin
        if origin not in self.sizes:
            number = self.insert(arith.ConstantOp(IntegerAttr(origin[1], IndexType())))
            self.sizes[origin] = self.insert(tensor.DimOp(origin[0], number))
        return self.sizes[origin]


def same_shape(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values surely have the same shape."""
    first, second = shape_of(tensor_type(a)), shape_of(tensor_type(b))
    return first is not None and first == second and DYNAMIC_INDEX not in first


class ContractionBuilder:
    """Builder of contractions on the indices and symbols of an existing one."""

    def __init__(self, builder: TensorBuilder, op: ContractionOp):
        self.builder = builder
        self.op = op
        self.symbols: list[SSAValue] = list(op.symbols)

    def extent(self, value: SSAValue, axis: int) -> IndexExpr:
        """Size of an axis, as an index expression."""
        return self.size(self.builder.size(value, axis))

    def size(self, size: int | SSAValue) -> IndexExpr:
        """A size as an index expression."""
        if isinstance(size, int):
            return IndexExpr.of(size)
        if size not in self.symbols:
            self.symbols.append(size)
        return IndexExpr.of(symbol(self.symbols.index(size)))

    def inside(self, value: SSAValue, access: Access) -> list[Constraint]:
        """Constraints of index expressions to a tensor that is no longer read."""
        return [Constraint(e, self.extent(value, axis)) for axis, e in enumerate(access)]

    def needed(
        self,
        constraints: Sequence[Constraint],
        tensors: Sequence[tuple[SSAValue, Access]],
    ) -> list[Constraint]:
        """Distinct constraints, without those that the accesses of tensors imply."""
        implied: set[Constraint] = set()
        for value, access in tensors:
            for axis, e in enumerate(access):
                size = self.builder.origin(value, axis)
                if isinstance(size, int):
                    implied.add(Constraint(e, IndexExpr.of(size)))
                elif size in (known := [self._origin(s) for s in self.symbols]):
                    implied.add(Constraint(e, IndexExpr.of(symbol(known.index(size)))))
        return [c for c in dict.fromkeys(constraints) if c not in implied]

    def _origin(self, size: SSAValue) -> SSAValue | Origin:
        origins = {made: origin for origin, made in self.builder.sizes.items()}
        return origins.get(size, self.builder.origins.of_size(size))

    def make(
        self,
        aggregation: Aggregation,
        combination: Combination,
        like: SSAValue,
        output: Access,
        inputs: Sequence[tuple[SSAValue, Access]],
        constraints: Sequence[Constraint] = (),
    ) -> SSAValue:
        """Contraction with a result of the shape of ``like``.

        The constraints of the original come first.
        """
        shape: list[int] = []
        sizes: list[SSAValue] = []
        for axis in range(len(output)):
            size = self.builder.size(like, axis)
            shape.append(size if isinstance(size, int) else DYNAMIC_INDEX)
            if not isinstance(size, int):
                sizes.append(size)
        return self.builder.insert(
            ContractionOp(
                aggregation,
                combination,
                output,
                inputs,
                self.needed(
                    [*(c.data for c in self.op.constraints), *constraints],
                    [(like, output), *inputs],
                ),
                shape=tuple(shape),
                symbols=self.symbols,
                sizes=sizes,
                no_defract=self.op.no_defract is not None,
            )
        )


def _header_origin(value: SSAValue, axis: int) -> Origin:
    """First axis of an input that has the same dimension in the header."""
    block = value.owner
    function = block.parent_op() if isinstance(block, Block) else None
    if not isinstance(function, func.FuncOp):
        return value, axis
    dims = [_dims(attrs) for attrs in function.arg_attrs or ()]
    inputs = function.body.block.args
    position = value.index if isinstance(value, BlockArgument) else 0
    if position < len(dims) and axis < len(dims[position]):
        for argument, names in zip(inputs, dims, strict=False):
            if dims[position][axis] in names:
                return argument, names.index(dims[position][axis])
    return value, axis


def _dims(attrs: DictionaryAttr) -> list[str]:
    dims = attrs.data.get(DIMS)
    return (
        [d.data for d in dims if isinstance(d, StringAttr)] if isinstance(dims, ArrayAttr) else []
    )
