"""The reference semantics of `arith` and `math` on numbers and vectors, in NumPy.

Numbers are NumPy scalars of the dtype of their type; numbers of type `index` are Python integers.
Either may be arrays, for many elements at once (`interpreters.batches`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    VectorType,
    i1,
)
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tiledialect.dialects.tile.elementwise.numeric import FUNCTIONS as TILE
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES, convert, number
from tiledialect.interpreters.batches import aligned
from tiledialect.ir.dense_constants import dense_array

Array = npt.NDArray[Any]


def _unsigned(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on the operands' bits as integers without sign."""

    def on_bits(*operands: Array) -> Any:
        return function(*(_bits(operand) for operand in operands))

    return on_bits


def _bits(operand: Array) -> Array:
    return operand if operand.dtype.kind in "bu" else operand.view(f"u{operand.dtype.itemsize}")


def _remainder(a: Array, b: Array) -> Array:
    return a - b * TILE["tile.div"](a, b)


def _floor_divide(a: Array, b: Array) -> Array:
    return np.where(b == 0, 0, a // np.where(b == 0, 1, b))


def _ceil_divide(a: Array, b: Array) -> Array:
    return -_floor_divide(-a, b)


def _same(a: Array) -> Array:
    return a


def _extended(a: Array) -> Array:
    return -a.astype(np.int64) if a.dtype == bool else a


def _fused(a: Array, b: Array, c: Array) -> Array:
    # One rounding instead of two, where there is a wider type.
    return a.astype(np.float64) * b + c


def _reciprocal_root(a: Array) -> Array:
    return 1 / np.sqrt(a)


FUNCTIONS: dict[type[Operation], Callable[..., Any]] = {
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.DivSIOp: TILE["tile.div"],
    arith.DivUIOp: _unsigned(TILE["tile.div"]),
    arith.FloorDivSIOp: _floor_divide,
    arith.CeilDivSIOp: _ceil_divide,
    arith.RemSIOp: _remainder,
    arith.RemUIOp: _unsigned(_remainder),
    arith.MinSIOp: np.minimum,
    arith.MaxSIOp: np.maximum,
    arith.MinUIOp: _unsigned(np.minimum),
    arith.MaxUIOp: _unsigned(np.maximum),
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.ShLIOp: TILE["tile.bit_left"],
    arith.ShRSIOp: TILE["tile.bit_right"],
    arith.ShRUIOp: _unsigned(TILE["tile.bit_right"]),
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.NegfOp: np.negative,
    arith.MinimumfOp: np.minimum,
    arith.MaximumfOp: np.maximum,
    arith.MinnumfOp: np.fmin,
    arith.MaxnumfOp: np.fmax,
    arith.SelectOp: np.where,
    arith.SIToFPOp: _same,
    arith.UIToFPOp: _unsigned(_same),
    arith.FPToSIOp: _same,
    arith.FPToUIOp: _same,
    arith.ExtFOp: _same,
    arith.TruncFOp: _same,
    arith.ExtSIOp: _extended,
    arith.ExtUIOp: _unsigned(_same),
    arith.TruncIOp: _same,
    arith.IndexCastOp: _same,
    math.AbsFOp: np.abs,
    math.AbsIOp: np.abs,
    math.AcosOp: np.arccos,
    math.AcoshOp: np.arccosh,
    math.AsinOp: np.arcsin,
    math.AsinhOp: np.arcsinh,
    math.AtanOp: np.arctan,
    math.AtanhOp: np.arctanh,
    math.Atan2Op: np.arctan2,
    math.CbrtOp: np.cbrt,
    math.CeilOp: np.ceil,
    math.CopySignOp: np.copysign,
    math.CosOp: np.cos,
    math.CoshOp: np.cosh,
    math.ErfOp: TILE["tile.erf"],
    math.ExpOp: np.exp,
    math.Exp2Op: np.exp2,
    math.ExpM1Op: np.expm1,
    math.FloorOp: np.floor,
    math.FmaOp: _fused,
    math.IPowIOp: TILE["tile.pow"],
    math.LogOp: np.log,
    math.Log10Op: np.log10,
    math.Log1pOp: np.log1p,
    math.Log2Op: np.log2,
    math.PowFOp: np.power,
    math.RoundOp: TILE["tile.round"],
    math.RoundEvenOp: np.rint,
    math.RsqrtOp: _reciprocal_root,
    math.SinOp: np.sin,
    math.SinhOp: np.sinh,
    math.SqrtOp: np.sqrt,
    math.TanOp: np.tan,
    math.TanhOp: np.tanh,
    math.TruncOp: np.trunc,
}
"""Functions of the ops on arrays of their operands' types."""

COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
    "ult": _unsigned(np.less),
    "ule": _unsigned(np.less_equal),
    "ugt": _unsigned(np.greater),
    "uge": _unsigned(np.greater_equal),
}
"""The comparisons of integers, by name."""

INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""The names of comparisons of integers, by number."""

_ORDERED: tuple[Callable[..., Any], ...] = (
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.not_equal,
)


def compare_reals(predicate: int, a: Array, b: Array) -> Any:
    """The comparison with this number: 1 to 7 fail on NaN, 8 to 14 hold there."""
    unordered = np.isnan(a) | np.isnan(b)
    match predicate:
        case 0 | 15:
            return np.full_like(unordered, predicate == 15)
        case 7:
            return ~unordered
        case 14:
            return unordered
        case _ if predicate < 7:
            return _ORDERED[predicate - 1](a, b) & ~unordered
        case _:
            return _ORDERED[predicate - 8](a, b) | unordered


def operand(value: Any, t: Attribute) -> Array:
    """A value of type ``t`` as an array."""
    return np.asarray(value, NUMPY_TYPES[_element(t)])


def result(value: Any, t: Attribute) -> Any:
    """Convert a result to a value of type ``t``."""
    if isinstance(t, IndexType) and not np.ndim(value):
        return int(value)
    converted = convert(np.asarray(value), _element(t))
    return converted if converted.ndim else converted[()]


def _element(t: Attribute) -> Attribute:
    return t.element_type if isinstance(t, VectorType) else t


class ScalarFunctions(InterpreterFunctions):
    """The ops of `arith` and `math`."""

    def run_function(
        self, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        """Any op that `FUNCTIONS` has."""
        values = _operands(op.operands, args)
        with np.errstate(all="ignore"):
            return (result(FUNCTIONS[type(op)](*values), op.results[0].type),)

    @impl(arith.ConstantOp)
    def run_constant(
        self, interpreter: Interpreter, op: arith.ConstantOp, args: PythonValues
    ) -> PythonValues:
        """A number, or a vector of numbers."""
        t = op.result.type
        match op.value:
            case IntegerAttr() | FloatAttr():
                return (result(number(op.value.value.data, t), t),)
            case DenseIntOrFPElementsAttr() if isinstance(t, VectorType):
                return (operand(list(op.value.get_values()), t).reshape(t.get_shape()),)
            case DenseIntOrFPElementsAttr():
                return (dense_array(op.value),)
            case _:
                raise InterpretationError(f"arith.constant {op.value}")

    @impl(arith.CmpiOp)
    def run_compare_integers(
        self, interpreter: Interpreter, op: arith.CmpiOp, args: PythonValues
    ) -> PythonValues:
        """A comparison of integers."""
        predicate = INTEGER_PREDICATES[op.predicate.value.data]
        return (result(COMPARISONS[predicate](*_operands(op.operands, args)), i1),)

    @impl(arith.CmpfOp)
    def run_compare_reals(
        self, interpreter: Interpreter, op: arith.CmpfOp, args: PythonValues
    ) -> PythonValues:
        """A comparison of reals."""
        values = _operands(op.operands, args)
        return (result(compare_reals(op.predicate.value.data, *values), i1),)

    @impl(vector.BroadcastOp)
    def run_broadcast(
        self, interpreter: Interpreter, op: vector.BroadcastOp, args: PythonValues
    ) -> PythonValues:
        """A vector of one number."""
        t = cast(VectorType[Attribute], op.results[0].type)
        value = operand(args[0], t.element_type)
        return (np.broadcast_to(value, t.get_shape() + value.shape),)

    @impl(arith.BitcastOp)
    def run_bitcast(
        self, interpreter: Interpreter, op: arith.BitcastOp, args: PythonValues
    ) -> PythonValues:
        """The same bits as another type."""
        t = op.result.type
        (value,) = _operands(op.operands, args)
        return (result(value.view(NUMPY_TYPES[_element(t)]), t),)


def _operands(operands: Any, args: PythonValues) -> list[Array]:
    values: list[SSAValue] = list(operands)
    arrays = [operand(a, v.type) for a, v in zip(args, values, strict=True)]
    return aligned(arrays, [int(isinstance(v.type, VectorType)) for v in values])


for _op_type in FUNCTIONS:
    _run = impl(_op_type)(ScalarFunctions.run_function)
    setattr(ScalarFunctions, "run_" + _op_type.name.replace(".", "_"), _run)
register_impls(ScalarFunctions)
