"""Properties of functions for rules: places to cut, commutativity, forms on vectors."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import IndexType, TensorType, TupleType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect import lift
from tiledialect.dialects.lift.attributes import IndexMap
from tiledialect.dialects.lift.types import as_array, describe, element_of, is_number, sizes_of
from tiledialect.dialects.lift.values import AtOp, GetOp, SizeOp
from tiledialect.index.size import Size
from tiledialect.ir.ops_in import outer_operands
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules.captured_functions import Captured
from tiledialect.passes.lift.rules.refusal import NotApplicable, require


def depends(value: SSAValue, f: Captured) -> bool:
    """Whether a value in a function depends on an argument of it."""
    made = Captured(f.home, (), value)
    return any(made.uses(Value(a)) for a in f.arguments)


def ingredients(op: Operation, f: Captured) -> list[SSAValue]:
    """Operands of an op in a function that depend on the function's arguments."""
    return [v for v in dict.fromkeys(outer_operands(op)) if depends(v, f)]


def cut(f: Captured, last: int) -> tuple[Captured, Captured]:
    """Cut a function into one and the ``last`` ops, which may take the argument, too."""
    value = f.result
    for k in range(last):
        op = value.owner
        made = ingredients(op, f) if isinstance(op, Operation) and op in f.ops else []
        made = [v for v in made if v not in f.arguments]
        if not made:
            raise NotApplicable(f"the function has no {k + 2} ops in a row")
        value = made[-1]
    return Captured(f.home, f.arguments, value), Captured(f.home, [value], f.result)


COMMUTATIVE = (
    arith.AddfOp,
    arith.MulfOp,
    arith.MinimumfOp,
    arith.MaximumfOp,
    arith.AddiOp,
    arith.MuliOp,
    arith.MinSIOp,
    arith.MaxSIOp,
    arith.AndIOp,
    arith.OrIOp,
    arith.XOrIOp,
)


def commutes(f: Captured) -> bool:
    """Whether the two arguments of a function are known to be interchangeable."""
    op = f.result.owner
    return isinstance(op, COMMUTATIVE) and set(op.operands) == set(f.arguments)


def require_commutative(f: Captured) -> None:
    """Refuse a function that may need its elements in order."""
    require(commutes(f), "the function is not known to be commutative")


def alike(f: Captured, g: Captured) -> bool:
    """Whether two functions are written the same."""
    if len(f.arguments) != len(g.arguments) or len(f.ops) != len(g.ops):
        return False
    same: dict[Any, Any] = dict(zip(f.arguments, g.arguments, strict=True))
    for a, b in zip(f.ops, g.ops, strict=True):
        same[a.parent] = b.parent
        if not a.is_structurally_equivalent(b, same):
            return False
    return same.get(f.result, f.result) is g.result


def on_vectors(f: Captured, width: int) -> lift.Function:
    """Function of numbers, applied to the lanes of vectors by the ops on vectors."""

    def apply(*args: Value) -> Value:
        values = {a: v.ssa for a, v in zip(f.arguments, args, strict=True)}
        for op in f.ops:
            _write_on_vectors(op, values, width)
        return Value(_as_vector(f.result, values, width))

    return lift.Function("f", apply, None, len(f.arguments))


def _write_on_vectors(op: Operation, values: dict[SSAValue, SSAValue], width: int) -> None:
    if isinstance(op, GetOp):
        component = lift.get(op.index.data)(Value(values.get(op.input, op.input)))
        values[op.result] = component.ssa
        return
    if isinstance(op, AtOp):
        index = values.get(op.index, op.index)
        require(not isinstance(index.type, VectorType), "the index differs from lane to lane")
        array = Value(values.get(op.input, op.input))
        values[op.result] = array[Value(index)].ssa
        return
    if isinstance(op, arith.ConstantOp | SizeOp):
        constant = type(op).create(properties=op.properties, result_types=op.result_types)
        values[op.results[0]] = constant.results[0]
        return
    if op.dialect_name() not in (arith.Arith.name, math.Math.name) or op.regions:
        raise NotApplicable(f"there is no {op.name} of vectors")
    operands = [_as_vector(v, values, width) for v in op.operands]
    types = [vector_of(t, width) for t in op.result_types]
    new = type(op).create(operands=operands, result_types=types, properties=op.properties)
    values.update(zip(op.results, new.results, strict=True))


def _as_vector(value: SSAValue, values: dict[SSAValue, SSAValue], width: int) -> SSAValue:
    found = values.get(value, value)
    if isinstance(found.type, VectorType):
        return found
    return vector.BroadcastOp(found, vector_of(found.type, width)).results[0]


def lanes(x: Value, width: int) -> Value:
    """Array whose elements hold vectors: of the numbers at the same place of so many elements."""
    element = element_of(as_array(x.ssa, "as_vector"))
    if isinstance(element, TupleType):
        parts = (x >> lift.map(lift.get(k)) for k in range(len(element.types)))
        return lift.zip(*(lanes(part, width) for part in parts))
    if isinstance(element, TensorType):
        columns = x >> lift.transpose >> lift.map(lambda column: lanes(column, width))
        return columns >> lift.transpose
    return x >> lift.as_vector(width)


def vector_of(t: Attribute, width: int) -> VectorType[Attribute]:
    """Type of so many numbers."""
    require(is_number(t) and not isinstance(t, IndexType), f"there are no vectors of {t}")
    return VectorType(t, [width])


def indexed(pattern: Callable[..., lift.Function], index: IndexMap) -> lift.Function:
    """Build ``lift.gather`` or ``lift.scatter`` with an existing map."""
    return pattern(lambda i: index.expr.substitute({index.variable: i}))


def inner_size(x: Value) -> Size:
    """Size of the arrays of an array of arrays."""
    sizes = sizes_of(x.array_type("join"))
    require(len(sizes) > 1, f"{describe(x.ssa)} is no array of arrays")
    return sizes[1]


def require_divides(number: int, x: Value) -> None:
    """Refuse a number that is not known to divide the size of an array."""
    known = number > 0 and (x.size / number).fraction[1] == Size.of(1)
    require(known, f"{number} is not known to divide the size of the array, which is {x.size}")


def require_numbers(values: Sequence[SSAValue]) -> None:
    """Refuse arguments or results of a function that are no numbers."""
    for value in values:
        require(is_number(value.type), f"{describe(value)} is {value.type}, no number")
