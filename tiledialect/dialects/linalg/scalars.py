"""Bodies of named linalg ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerType, i1
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

Scalar = Callable[["Scalars", Sequence[SSAValue]], SSAValue]
"""Function of the values of the inputs, in the type of the output, that emits the result."""


class Scalars:
    """Emits scalar ops at the end of a block."""

    def __init__(self, block: Block, t: Attribute):
        self.block = block
        self.t = t

    def emit(self, op: Operation) -> SSAValue:
        """Add an op with one result."""
        self.block.add_op(op)
        return op.results[0]

    def convert(self, value: SSAValue, is_unsigned: bool = False) -> SSAValue:
        """A value in the type of the output."""
        source, target = value.type, self.t
        if source == target:
            return value
        a, b = _width(source), _width(target)
        if isinstance(source, AnyFloat) and isinstance(target, AnyFloat):
            return self.emit((arith.ExtFOp if a < b else arith.TruncFOp)(value, target))
        if isinstance(source, AnyFloat):
            cut = arith.FPToUIOp if is_unsigned else arith.FPToSIOp
            return self.emit(cut(value, target))  # pyright: ignore[reportArgumentType]
        is_unsigned = is_unsigned or source == i1
        if isinstance(target, AnyFloat):
            return self.emit((arith.UIToFPOp if is_unsigned else arith.SIToFPOp)(value, target))
        if a > b:
            return self.emit(arith.TruncIOp(value, target))  # pyright: ignore[reportArgumentType]
        extend = arith.ExtUIOp if is_unsigned else arith.ExtSIOp
        return self.emit(extend(value, target))  # pyright: ignore[reportArgumentType]


def _width(t: Attribute) -> int:
    return getattr(t, "bitwidth", 64)


def op_by_type(
    for_float: type[Operation] | None,
    for_integer: type[Operation] | None = None,
    for_bool: type[Operation] | None = None,
) -> Scalar:
    """An op for reals, one for integers, and one for bools where it is another."""

    def make(s: Scalars, values: Sequence[SSAValue]) -> SSAValue:
        if isinstance(s.t, AnyFloat):
            op = for_float
        elif s.t == IntegerType(1):
            op = for_bool or for_integer
        else:
            op = for_integer
        if op is None:
            raise ValueError(f"there is no such op on {s.t}")
        return s.emit(op(*values))

    return make


def _reciprocal(s: Scalars, values: Sequence[SSAValue]) -> SSAValue:
    if not isinstance(s.t, AnyFloat):
        raise ValueError(f"there is no such op on {s.t}")
    one = s.emit(arith.ConstantOp(FloatAttr(1.0, s.t)))
    return s.emit(arith.DivfOp(one, values[0]))


def _square(s: Scalars, values: Sequence[SSAValue]) -> SSAValue:
    return MULTIPLY(s, (values[0], values[0]))


ADD = op_by_type(arith.AddfOp, arith.AddiOp, arith.OrIOp)
MULTIPLY = op_by_type(arith.MulfOp, arith.MuliOp, arith.AndIOp)
MAXIMUM = op_by_type(arith.MaximumfOp, arith.MaxSIOp)
MINIMUM = op_by_type(arith.MinimumfOp, arith.MinSIOp)
MAXIMUM_UNSIGNED = op_by_type(None, arith.MaxUIOp)
MINIMUM_UNSIGNED = op_by_type(None, arith.MinUIOp)

_UNARY: Mapping[str, Scalar] = {
    "abs": op_by_type(math.AbsFOp, math.AbsIOp),
    "ceil": op_by_type(math.CeilOp),
    "erf": op_by_type(math.ErfOp),
    "exp": op_by_type(math.ExpOp),
    "floor": op_by_type(math.FloorOp),
    "log": op_by_type(math.LogOp),
    "negf": op_by_type(arith.NegfOp),
    "reciprocal": _reciprocal,
    "round": op_by_type(math.RoundOp),
    "rsqrt": op_by_type(math.RsqrtOp),
    "sqrt": op_by_type(math.SqrtOp),
    "square": _square,
    "tanh": op_by_type(math.TanhOp),
}
_BINARY: Mapping[str, Scalar] = {
    "add": ADD,
    "div": op_by_type(arith.DivfOp, arith.DivSIOp),
    "div_unsigned": op_by_type(None, arith.DivUIOp),
    "max": MAXIMUM,
    "max_signed": MAXIMUM,
    "max_unsigned": MAXIMUM_UNSIGNED,
    "min": MINIMUM,
    "min_signed": MINIMUM,
    "min_unsigned": MINIMUM_UNSIGNED,
    "mul": MULTIPLY,
    "powf": op_by_type(math.PowFOp),
    "sub": op_by_type(arith.SubfOp, arith.SubiOp),
}
FUNCTIONS: Mapping[str, Scalar] = {**_UNARY, **_BINARY}
"""Functions of elements, by name."""


def block_of(types: Sequence[Attribute]) -> tuple[Block, Scalars]:
    """A block for values of these types, the last one the output's."""
    block = Block(arg_types=types)
    return block, Scalars(block, types[-1])


def elementwise_body(scalar: Scalar, types: Sequence[Attribute], is_unsigned: bool) -> Region:
    """Body that applies a function to the inputs."""
    block, s = block_of(types)
    values = [s.convert(v, is_unsigned) for v in block.args[:-1]]
    block.add_op(YieldOp(scalar(s, values)))
    return Region(block)


def select_body(types: Sequence[Attribute]) -> Region:
    """Body that chooses between two inputs."""
    block, s = block_of(types)
    condition, *values = block.args[:-1]
    block.add_op(YieldOp(s.emit(arith.SelectOp(condition, *map(s.convert, values)))))
    return Region(block)


def product_body(types: Sequence[Attribute], is_unsigned: bool = False) -> Region:
    """Body that adds the product of the inputs; with zero points, that of the differences."""
    block, s = block_of(types)
    a, b, *zeros = (s.convert(v, is_unsigned) for v in block.args[:-1])
    if zeros:
        subtract = op_by_type(arith.SubfOp, arith.SubiOp)
        a, b = (subtract(s, pair) for pair in zip((a, b), zeros, strict=True))
    block.add_op(YieldOp(ADD(s, (block.args[-1], MULTIPLY(s, (a, b))))))
    return Region(block)


def pooling_body(scalar: Scalar, types: Sequence[Attribute], is_unsigned: bool) -> Region:
    """Body that aggregates the first input."""
    block, s = block_of(types)
    value = s.convert(block.args[0], is_unsigned)
    block.add_op(YieldOp(scalar(s, (block.args[-1], value))))
    return Region(block)
