"""Random straight-line programs of tile ops, with a bound on the rounding of every value.

Whole numbers are kept so small that nothing rounds them, and only they are compared, cut off or
used as indices. For other reals the error that rounding may cause is carried along, to first
order, so that a result has a tolerance of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import cosh, exp, prod
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from building import function_module, type_of
from hypothesis import strategies as st
from hypothesis.vendor.pretty import RepresentationPrinter
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, SSAValue

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import Shape, make_type, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import CONCRETE, is_weak
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES, NUMPY_TYPES, kind_of
from tiledialect.dialects.tile.special import GatherOp, ReshapeOp, SumToOp
from tiledialect.index.expr import Constraint, IndexExpr

Array = npt.NDArray[Any]

DTYPES = (
    "float32",
    "float32",
    "bfloat16",
    "float16",
    "float64",
    "int32",
    "int8",
    "uint8",
    "int64",
    "bool",
)
EXACT = {"bfloat16": 2**8, "float16": 2**11, "float32": 2**24, "float64": 2**53}
"""Up to where all integers are numbers of the type."""
LARGEST_REAL = 500.0
"""Bound on other reals: their squares fit float16 after a sum or two."""


@dataclass(frozen=True)
class Value:
    """A tensor of the program, with what is known of its elements."""

    ssa: SSAValue
    low: float
    high: float
    whole: bool = True
    """Whether every element is an integer, and not rounded."""
    error: float = 0
    """Distance from the true value that rounding may have made."""

    @property
    def dtype(self) -> np.dtype[Any]:
        return NUMPY_TYPES[tensor_type(self.ssa).element_type]

    @property
    def shape(self) -> Shape:
        shape = shape_of(tensor_type(self.ssa))
        assert shape is not None
        return shape

    @property
    def size(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def is_real(self) -> bool:
        return kind_of(self.dtype) == "f"


def settled(ssa: SSAValue, low: float, high: float, whole: bool, error: float) -> Value | None:
    """The value, rounded or wrapped to its type; None if nothing is known of it then."""
    value = Value(ssa, low, high, whole, error)
    if not value.is_real:
        if value.dtype.kind == "b":
            return replace(value, low=0, high=1)
        limits = np.iinfo(value.dtype)
        if low < limits.min or high > limits.max:
            return replace(value, low=float(limits.min), high=float(limits.max))
        return value
    if whole:
        return value if value.size <= EXACT[str(value.dtype)] else None
    if value.size > LARGEST_REAL:
        return None
    return replace(
        value, error=error + 4 * float(ml_dtypes.finfo(value.dtype).eps) * (value.size + 1)
    )


def fits(value: Value, dtype: np.dtype[Any]) -> bool:
    """Whether conversion to ``dtype`` is defined and, of integers to reals, exact."""
    if kind_of(dtype) == "f":
        return not value.whole or value.size <= EXACT[str(dtype)]
    # Numbers of no width of their own are refused where they do not fit.
    is_number = is_weak(tensor_type(value.ssa).element_type)
    if (value.is_real or is_number) and dtype.kind != "b":
        limits = np.iinfo(dtype)
        return value.whole and limits.min <= value.low and value.high <= limits.max
    return value.whole


# -- what ops do to the bounds ---------------------------------------------------------------------

UNARY: dict[type[ew.UnaryOp], Callable[[float, float], tuple[float, float]]] = {
    ew.NegOp: lambda low, high: (-high, -low),
    ew.AbsOp: lambda low, high: (0, max(abs(low), abs(high))),
    ew.ReluOp: lambda low, high: (0, max(0, high)),
    ew.IdentOp: lambda low, high: (low, high),
}
SMOOTH: dict[type[ew.UnaryOp], tuple[float, Callable[[float], float]]] = {
    # How large the operand may be; a bound of the result and of the derivative.
    ew.SinOp: (50, lambda size: 1),
    ew.CosOp: (50, lambda size: 1),
    ew.TanhOp: (LARGEST_REAL, lambda size: 1),
    ew.SigmoidOp: (LARGEST_REAL, lambda size: 1),
    ew.AtanOp: (LARGEST_REAL, lambda size: 2),
    ew.ErfOp: (LARGEST_REAL, lambda size: 1.2),
    ew.ExpOp: (5, exp),
    ew.CoshOp: (5, cosh),
    ew.SinhOp: (5, cosh),
}
BINARY = (ew.AddOp, ew.SubOp, ew.MulOp, ew.MaxOp, ew.MinOp, ew.AddOp, ew.MulOp)
COMPARE = (ew.CmpEqOp, ew.CmpNeOp, ew.CmpLtOp, ew.CmpGtOp, ew.CmpLeOp, ew.CmpGeOp)
WHOLE_BINARY = (
    *(ew.BitAndOp, ew.BitOrOp, ew.BitXorOp, ew.BitLeftOp, ew.BitRightOp),
    *(ew.DivOp, ew.RemOp),
)


def ends(op: type[ew.BinaryOp], a: Value, b: Value) -> tuple[float, float, float]:
    """Bounds of the result, and its error before it is rounded."""
    pairs = [(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    error = a.error + b.error
    if op is ew.AddOp:
        return a.low + b.low, a.high + b.high, error
    if op is ew.SubOp:
        return a.low - b.high, a.high - b.low, error
    if op is ew.MulOp:
        products = [x * y for x, y in pairs]
        return min(products), max(products), a.error * b.size + b.error * a.size
    choose = max if op is ew.MaxOp else min
    return choose(a.low, b.low), choose(a.high, b.high), error


class Maker:
    """Draws a program statement by statement."""

    def __init__(self, draw: st.DrawFn):
        self.draw = draw
        self.block = Block()
        self.values: list[Value] = []
        self.arrays: list[Array] = []
        self.base = tuple(draw(st.sampled_from([1, 2, 3, 4, 5, 7])) for _ in range(3))

    # -- drawing ---------------------------------------------------------------------------

    def pick(self, wanted: Callable[[Value], bool] = lambda value: True) -> Value | None:
        """Draw one of the values so far, later ones more often."""
        found = [value for value in self.values if wanted(value)]
        return self.draw(st.sampled_from(found + found[-3:])) if found else None

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def input(self) -> None:
        """A tensor whose shape broadcasts with all others."""
        shape = tuple(1 if self.integer(0, 5) == 0 else n for n in self.base)[self.integer(0, 2) :]
        dtype = np.dtype(self.draw(st.sampled_from(DTYPES)))
        random = np.random.default_rng(self.integer(0, 999))
        low = 0 if dtype.kind in "ub" else -3
        high = 1 if dtype.kind == "b" else 4
        whole = kind_of(dtype) != "f" or self.draw(st.booleans())
        data = random.integers(low, high, shape, endpoint=True)
        array = np.asarray(data if whole else random.uniform(low, high, shape)).astype(dtype)
        ssa = self.block.insert_arg(type_of(array), len(self.block.args))
        self.arrays.append(array)
        self.values.append(Value(ssa, low, high, whole))

    def add(self, op: ew.TileOp, low: float, high: float, whole: bool, error: float = 0) -> None:
        """Keep the op, if its result is of use."""
        if value := settled(op.results[0], low, high, whole, error):
            self.block.add_op(op)
            self.values.append(value)
        else:
            op.erase()

    # -- statements ------------------------------------------------------------------------

    def unary(self) -> None:
        a = self.pick()
        assert a is not None
        kind = self.draw(st.sampled_from(list(UNARY)))
        self.add(kind.make(a.ssa), *UNARY[kind](a.low, a.high), a.whole, a.error)

    def smooth(self) -> None:
        a = self.pick(lambda value: value.size <= LARGEST_REAL)
        kind = self.draw(st.sampled_from(list(SMOOTH)))
        if a is not None and a.size <= SMOOTH[kind][0]:
            bound = SMOOTH[kind][1](a.size)
            eps = float(ml_dtypes.finfo(a.dtype if a.is_real else np.float32).eps)
            self.add(kind.make(a.ssa), -bound, bound, False, a.error * bound + 16 * eps * bound)

    def rounding(self) -> None:
        a = self.pick(lambda value: value.is_real and not value.error)
        if a is not None:
            kind = self.draw(st.sampled_from((ew.FloorOp, ew.CeilOp, ew.RoundOp)))
            self.add(kind.make(a.ssa), np.floor(a.low), np.ceil(a.high), True)

    def binary(self) -> None:
        a, b = self.pick(), self.pick()
        assert a is not None and b is not None
        kind = self.draw(st.sampled_from(BINARY))
        op = self.made(kind, a, b)
        if op is not None:
            whole = a.whole and b.whole
            self.add(op, *ends(kind, a, b)[:2], whole, ends(kind, a, b)[2])

    def compare(self) -> None:
        a, b = self.pick(lambda v: v.whole), self.pick(lambda v: v.whole)
        if a is not None and b is not None:
            op = self.made(self.draw(st.sampled_from(COMPARE)), a, b)
            if op is not None:
                self.add(op, 0, 1, True)

    def whole_binary(self) -> None:
        a, b = self.pick(lambda v: not v.is_real), self.pick(lambda v: not v.is_real)
        if a is not None and b is not None:
            op = self.made(self.draw(st.sampled_from(WHOLE_BINARY)), a, b)
            if op is not None:
                self.add(op, -np.inf, np.inf, True)

    def made(self, kind: type[ew.BinaryOp], a: Value, b: Value) -> ew.BinaryOp | None:
        """The op, if the shapes fit and the operands can be converted to its type."""
        if not _broadcast(a.shape, b.shape):
            return None
        op = kind.make(a.ssa, b.ssa)
        compute_type = NUMPY_TYPES[op.operand_type()]
        if fits(a, compute_type) and fits(b, compute_type):
            return op
        op.erase()
        return None

    def select(self) -> None:
        condition, a, b = self.pick(lambda v: v.whole), self.pick(), self.pick()
        assert a is not None and b is not None
        if condition is None or not _broadcast(condition.shape, a.shape, b.shape):
            return
        op = ew.SelectOp.make(condition.ssa, a.ssa, b.ssa)
        if all(fits(v, NUMPY_TYPES[op.operand_type()]) for v in (a, b)):
            low, high = min(a.low, b.low), max(a.high, b.high)
            self.add(op, low, high, a.whole and b.whole, max(a.error, b.error))

    def cast(self) -> None:
        a, dtype = self.pick(), np.dtype(self.draw(st.sampled_from(DTYPES)))
        assert a is not None
        if fits(a, dtype):
            whole = kind_of(dtype) != "f" or a.whole
            self.add(ew.CastOp.to(a.ssa, ELEMENT_TYPES[dtype]), a.low, a.high, whole, a.error)

    def position(self) -> None:
        a = self.pick(lambda v: bool(v.shape))
        if a is not None:
            axis = self.integer(0, len(a.shape) - 1)
            self.add(ew.IndexOp.along(a.ssa, axis), 0, a.shape[axis], True)

    def number(self) -> None:
        value = self.draw(st.sampled_from([0, 1, 2, 3, -1]))
        real = self.draw(st.booleans())
        op = ew.ConstantOp.of(value, CONCRETE["f32" if real else "i32"])
        self.add(op, value, value, True)

    def reshape(self) -> None:
        a = self.pick(lambda v: len(v.shape) > 1)
        if a is not None:
            *rest, last = a.shape
            shape = self.draw(
                st.sampled_from([(last, prod(rest)), (prod(a.shape),), (1, *a.shape)])
            )
            t = make_type(shape, tensor_type(a.ssa).element_type)
            op = ReshapeOp.create(operands=[a.ssa], result_types=[t])
            self.add(op, a.low, a.high, a.whole, a.error)

    def gather(self) -> None:
        a, places = self.pick(lambda v: bool(v.shape)), self.pick(lambda v: not v.is_real)
        if a is not None and places is not None:
            op = GatherOp.create(operands=[a.ssa, places.ssa], result_types=[a.ssa.type])
            t = op.inferred_type()
            op.erase()
            if isinstance(t, TensorType) and prod(t.get_shape()) < 2000:
                op = GatherOp.create(operands=[a.ssa, places.ssa], result_types=[t])
                self.add(op, a.low, a.high, a.whole, a.error)

    def contraction(self) -> None:
        """A reduction of windows of one tensor, or a product with a second one."""
        a = self.pick(lambda v: 0 < len(v.shape) <= 4 and prod(v.shape) < 2000)
        if a is None:
            return
        access, output, shape, limits = self.windows(a.shape)
        aggregation = self.draw(st.sampled_from([*Aggregation][:4]))
        count = prod(a.shape)
        if aggregation == Aggregation.mul and (a.is_real or a.size > 3):
            return
        low, high = min(0.0, a.low), max(0.0, a.high)
        error = a.error
        if aggregation == Aggregation.add:
            low, high = low * count, high * count
            error = a.error * count + (0 if a.whole else a.size * count * 1e-16)
        if aggregation == Aggregation.mul:
            low, high = -np.inf, np.inf
        op = ContractionOp(
            aggregation, Combination.none, output, [(a.ssa, access)], limits, shape=shape
        )
        eps = float(ml_dtypes.finfo(a.dtype).eps) if a.is_real and not a.whole else 0.0
        if aggregation == Aggregation.add:
            error += eps * count * max(abs(low), abs(high))
        self.add(op, low, high, a.whole, error)

    def sum_to(self) -> None:
        """The sum over the axes along which another value is broadcast."""
        a = self.pick(lambda v: bool(v.shape))
        if a is None:
            return
        like = self.pick(lambda v: _stretches(v.shape, a.shape))
        if like is None:
            return
        count = prod(a.shape)
        low, high = count * min(0.0, a.low), count * max(0.0, a.high)
        eps = float(ml_dtypes.finfo(a.dtype).eps) if a.is_real and not a.whole else 0.0
        error = count * (a.error + eps * max(-low, high))
        self.add(SumToOp.make(a.ssa, like.ssa), low, high, a.whole, error)

    def logical_not(self) -> None:
        """Value of `!A`."""
        a = self.pick(lambda v: v.whole)
        if a is not None and not is_weak(tensor_type(a.ssa).element_type):
            zero = ew.ConstantOp.of(0)
            self.block.add_op(zero)
            self.add(ew.CmpEqOp.make(a.ssa, zero.result), 0, 1, True)

    def softmax(self) -> None:
        """Value of `softmax(A, axis)`."""
        a = self.pick(lambda v: bool(v.shape) and v.is_real and v.size <= 20)
        if a is None or a.error > 0.01:
            return
        axis = self.integer(0, len(a.shape) - 1)
        shifted = ew.SubOp.make(a.ssa, self.kept(Aggregation.max, a.ssa, axis))
        exp = ew.ExpOp.make(shifted.result)
        self.block.add_ops([shifted, exp])
        total = self.kept(Aggregation.add, exp.result, axis)
        eps = float(ml_dtypes.finfo(a.dtype).eps)
        # A difference that is rounded changes its exponential by as much, relatively.
        error = 4 * a.error + eps * (4 * a.size + 16 + 2 * a.shape[axis])
        self.add(ew.DivOp.make(exp.result, total), 0, 1, False, error)

    def kept(self, aggregation: Aggregation, value: SSAValue, axis: int) -> SSAValue:
        """The aggregate along an axis, which is of size 1 then."""
        shape = list(shape_of(tensor_type(value)) or ())
        access = [IndexExpr.of(f"i{k}") for k in range(len(shape))]
        output = list(access)
        output[axis], shape[axis] = IndexExpr.of(0), 1
        inputs = [(value, access)]
        op = ContractionOp(aggregation, Combination.none, output, inputs, shape=tuple(shape))
        self.block.add_op(op)
        return op.result

    def windows(
        self, shape: Shape
    ) -> tuple[list[IndexExpr], list[IndexExpr], Shape, list[Constraint]]:
        """For each axis: keep it, turn it round, sum over it, or sum over windows of it."""
        access, output, sizes, limits = [], [], [], []
        for axis, size in enumerate(shape):
            i, k = IndexExpr.of(f"i{axis}"), IndexExpr.of(f"k{axis}")
            way = self.integer(0, 3)
            if way == 0:
                access.append(k)
                continue
            output.append(i)
            if way == 1:
                sizes.append(size)
                access.append((size - 1) - i if self.draw(st.booleans()) else i)
                continue
            stride, width, pad = self.integer(1, 2), self.integer(1, 3), self.integer(0, 1)
            sizes.append((size + stride - 1) // stride)
            access.append(stride * i + k - pad)
            limits.append(Constraint(k, IndexExpr.of(width)))
        return access, output, tuple(sizes), limits

    def product(self) -> None:
        """The sum of products along the last axis of one and the first of another."""
        a, b = self.pick(lambda v: len(v.shape) > 0), self.pick(lambda v: len(v.shape) > 0)
        if a is None or b is None or len(a.shape) + len(b.shape) > 6:
            return
        n = min(a.shape[-1], b.shape[0])
        if prod(a.shape) * prod(b.shape[1:]) > 5000:
            return
        rows = [IndexExpr.of(f"r{k}") for k in range(len(a.shape) - 1)]
        columns = [IndexExpr.of(f"c{k}") for k in range(len(b.shape) - 1)]
        k = IndexExpr.of("k")
        op = ContractionOp(
            Aggregation.add,
            Combination.mul,
            [*rows, *columns],
            [(a.ssa, [*rows, k]), (b.ssa, [k, *columns])],
            shape=(*a.shape[:-1], *b.shape[1:]),
        )
        dtype = NUMPY_TYPES[tensor_type(op.result).element_type]
        if not (fits(a, dtype) and fits(b, dtype)):
            op.erase()
            return
        bound, whole = n * a.size * b.size, a.whole and b.whole
        error = n * (a.error * b.size + b.error * a.size)
        if not whole:
            error += n * bound * float(ml_dtypes.finfo(dtype).eps)
        self.add(op, -bound, bound, whole, error)


STATEMENTS = (
    *[Maker.unary, Maker.binary, Maker.binary, Maker.binary, Maker.smooth, Maker.compare],
    *[Maker.select, Maker.cast, Maker.contraction, Maker.contraction, Maker.product],
    *[Maker.whole_binary, Maker.rounding, Maker.position, Maker.number, Maker.reshape],
    *[Maker.gather, Maker.sum_to, Maker.logical_not, Maker.softmax],
)


def _stretches(shape: Shape, to: Shape) -> bool:
    """Whether one shape broadcasts to another."""
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def _broadcast(*shapes: Shape) -> bool:
    try:
        return prod(np.broadcast_shapes(*shapes)) < 5000
    except ValueError:
        return False


@dataclass(frozen=True)
class Program:
    """A program with its inputs, and how large its results and their errors may be."""

    module: ModuleOp
    arrays: tuple[Array, ...]
    errors: tuple[float, ...]

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:
        """Text for Hypothesis: xDSL's classes show all that hangs together."""
        printer.text(f"{self.module}\n{self.arrays}")


@st.composite
def programs(draw: st.DrawFn, most: int = 14) -> Program:
    """Programs of up to ``most`` statements; several values are outputs."""
    maker = Maker(draw)
    for _ in range(maker.integer(1, 4)):
        maker.input()
    for _ in range(maker.integer(1, most)):
        draw(st.sampled_from(STATEMENTS))(maker)
    unused = [v for v in maker.values if not v.ssa.uses]
    chosen = unused[-6:] or maker.values[-1:]
    module = function_module(maker.block, [v.ssa for v in chosen])
    return Program(module, tuple(maker.arrays), tuple(v.error for v in chosen))
