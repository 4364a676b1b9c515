"""The patterns that compute: functions that emit an op of the lift dialect."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, overload

from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift import maps, memory, reductions
from tiledialect.dialects.lift import values as ops
from tiledialect.dialects.lift.attributes import (
    Order,
    OrderAttr,
    OrdinalAttr,
    SizeAttr,
)
from tiledialect.dialects.lift.base import FunctionOp, LiftOp, YieldOp
from tiledialect.dialects.lift.types import array, describe, element_of, sizes_of
from tiledialect.errors import SourceSpan, TileError
from tiledialect.index.size import Size
from tiledialect.ir.names import give_name
from tiledialect.lift.emission import checked, plain, size_attributes
from tiledialect.lift.functions import Function, as_function, compose
from tiledialect.lift.tracing import emit, fresh_name, place
from tiledialect.lift.values import AnySize, Value, call, size_value, to_size, to_value

AnyFunction = Callable[..., Any]

# -- functions -----------------------------------------------------------------------------------


def with_body(
    kind: type[FunctionOp],
    operands: Sequence[Value],
    function: AnyFunction,
    where: SourceSpan | None,
    like: Attribute | None = None,
    **properties: Attribute,
) -> Value:
    """The op whose function the user's function builds."""
    ssa = [v.ssa for v in operands]
    names = as_function(function).parameters

    def build(*arguments: SSAValue) -> SSAValue:
        if len(names) == len(arguments):
            for argument, hint in builtins.zip(arguments, names, strict=True):
                give_name(argument, hint)
        return to_value(call(function, *(Value(a) for a in arguments)), like, where).ssa

    return Value(emit(lambda: kind.of_function(ssa, build, **properties), where))


def _map(kind: type[FunctionOp], function: AnyFunction, **properties: Attribute) -> Function:
    where, name = place(), kind.pattern()
    mapped = as_function(function)

    def apply(value: Any) -> Value:
        operand = checked(value, name, where)
        if kind in (maps.MapSeqOp, maps.MapSeqUnrollOp) and not isinstance(
            operand.type, TensorType
        ):
            # A reduction's result is a number here, and an array of one number in the papers.
            return mapped(operand)
        return with_body(kind, [operand], mapped, where, **properties)

    return Function(f"{name}({mapped.name})", apply, where)


def map(function: AnyFunction) -> Function:
    """Applies a function to every element.

    Example: ``x >> lift.map(lambda a: a * a)``
    """
    return _map(maps.MapOp, function)


def map_seq(function: AnyFunction) -> Function:
    """Applies a function to every element, in a loop; to a number, just so.

    Example: ``A >> lift.map_glb(lift.map_seq(lift.neg))``
    """
    return _map(maps.MapSeqOp, function)


def map_seq_unroll(function: AnyFunction) -> Function:
    """Applies a function to every element, without a loop; to a number, just so.

    Example: ``A >> lift.map_glb(lift.map_seq_unroll(lift.neg))``
    """
    return _map(maps.MapSeqUnrollOp, function)


def map_warp(function: AnyFunction) -> Function:
    """Applies a function to every element, each by a warp of the group.

    Example: ``A >> lift.map_warp(lift.map_lane(lift.neg))``
    """
    return _map(maps.MapWarpOp, function)


def map_lane(function: AnyFunction) -> Function:
    """Applies a function to every element, each by a lane of the warp.

    Example: ``A >> lift.map_warp(lift.map_lane(lift.neg))``
    """
    return _map(maps.MapLaneOp, function)


def map_vec(function: AnyFunction) -> Function:
    """Applies a function to every number of a vector.

    Example: ``x >> lift.as_vector(4) >> lift.map(lift.map_vec(lift.neg)) >> lift.as_scalar``
    """
    return _map(maps.MapVecOp, function)


def map_seq_slide(function: AnyFunction, size: AnySize, step: AnySize) -> Function:
    """Applies a function to every window, keeping the window in registers or local memory.

    Example: ``x >> lift.map_seq_slide(lift.reduce(lift.add, 0.0), 3, 1)``
    """
    return _map(maps.MapSeqSlideOp, function, **size_attributes(size=size, step=step))


def _dimensional(kind: type[FunctionOp], function: AnyFunction | int, dim: int) -> Any:
    if isinstance(function, int):
        chosen = function
        return lambda mapped: _map(kind, mapped, dim=OrdinalAttr(chosen))  # pyright: ignore[reportUnknownLambdaType]
    return _map(kind, function, dim=OrdinalAttr(dim))


@overload
def map_glb(function: int) -> Callable[[AnyFunction], Function]: ...
@overload
def map_glb(function: AnyFunction, dim: int = 0) -> Function: ...
def map_glb(function: AnyFunction | int, dim: int = 0) -> Any:
    """Applies a function to every element, each by a work-item; ``map_glb(1)(f)``: dimension 1.

    Example: ``A >> lift.map_glb(1)(lift.map_glb(lift.neg))``
    """
    return _dimensional(maps.MapGlbOp, function, dim)


@overload
def map_wrg(function: int) -> Callable[[AnyFunction], Function]: ...
@overload
def map_wrg(function: AnyFunction, dim: int = 0) -> Function: ...
def map_wrg(function: AnyFunction | int, dim: int = 0) -> Any:
    """Applies a function to every element, each by a work-group.

    Example: ``A >> lift.map_wrg(lift.map_lcl(lift.neg))``
    """
    return _dimensional(maps.MapWrgOp, function, dim)


@overload
def map_lcl(function: int) -> Callable[[AnyFunction], Function]: ...
@overload
def map_lcl(function: AnyFunction, dim: int = 0) -> Function: ...
def map_lcl(function: AnyFunction | int, dim: int = 0) -> Any:
    """Applies a function to every element, each by a work-item of the group.

    Example: ``A >> lift.map_wrg(lift.map_lcl(lift.neg))``
    """
    return _dimensional(maps.MapLclOp, function, dim)


def _reduce(kind: type[FunctionOp], function: AnyFunction, initial: Any) -> Function:
    where, name = place(), kind.pattern()
    reduced = as_function(function)

    def apply(value: Any) -> Value:
        operand = checked(value, name, where)
        t = operand.array_type(name)
        accumulator = to_value(initial, element_of(t), where)
        return with_body(kind, [accumulator, operand], reduced, where, accumulator.type)

    return Function(f"{name}({reduced.name})", apply, where)


def reduce(function: AnyFunction, initial: Any) -> Function:
    """Combines all elements with an associative function, of which ``initial`` is neutral.

    Example: ``x >> lift.reduce(lift.add, 0.0)``
    """
    return _reduce(reductions.ReduceOp, function, initial)


def reduce_seq(function: AnyFunction, initial: Any) -> Function:
    """Combines all elements in order, in a loop.

    Example: ``x >> lift.reduce_seq(lambda sum, a: sum / 2 + a, 0.0)``
    """
    return _reduce(reductions.ReduceSeqOp, function, initial)


def reduce_seq_unroll(function: AnyFunction, initial: Any) -> Function:
    """Combines all elements in order, without a loop.

    Example: ``x >> lift.reduce_seq_unroll(lift.add, 0.0)``
    """
    return _reduce(reductions.ReduceSeqUnrollOp, function, initial)


def iterate(count: AnySize, function: AnyFunction) -> Function:
    """Applies a function ``count`` times, each time to its last result.

    Example: ``x >> lift.iterate(3, lift.map(lambda a: 2 * a))``
    """
    where = place()
    times = SizeAttr(to_size(count, where))
    iterated = as_function(function)

    def body(t: Attribute) -> Region:
        block = Block(arg_types=[t])
        with ImplicitBuilder(block):
            YieldOp(to_value(iterated(Value(block.args[0])), t, where).ssa)
        return Region(block)

    def make(operand: Value) -> Operation:
        t = operand.type
        tried = body(t)
        found = tried.block.last_op
        assert isinstance(found, YieldOp)
        if found.value.type != t:
            tried = body(_changing(t, found.value.type))
        return reductions.IterateOp.make(operand.ssa, body=tried, count=times)

    def apply(value: Any) -> Value:
        operand = checked(value, "iterate", where)
        return Value(emit(lambda: make(operand), where))

    return Function(f"iterate({iterated.name})", apply, where)


def _changing(before: Attribute, after: Attribute) -> Attribute:
    """The type with new names for the sizes that a function changes."""
    if not (isinstance(before, TensorType) and isinstance(after, TensorType)):
        raise VerifyException(f"the function of iterate takes {before}, but gives {after}")
    old, new = sizes_of(before), sizes_of(after)
    if len(old) != len(new) or before.element_type != after.element_type:
        raise VerifyException(f"the function of iterate takes {before}, but gives {after}")
    pairs = builtins.zip(old, new, strict=True)
    sizes = [a if a == b else Size.of(fresh_name()) for a, b in pairs]
    return array(sizes, before.element_type)


def search(function: AnyFunction, default: Any, order: str = "binary") -> Function:
    """The element of a sorted array for which the function gives 0, else ``default``.

    The function gives less than 0 where the element that is looked for comes before.

    Example: ``x >> lift.search(lambda a: lift.cast(a - 3, lift.i32), 0.0)``
    """
    where = place()
    if order not in set(Order):
        raise TileError(f"an array is searched 'binary' or 'linear', not {order!r}", where)

    def apply(value: Any) -> Value:
        operand = checked(value, "search", where)
        other = to_value(default, element_of(operand.array_type("search")), where)
        return with_body(
            reductions.SearchOp, [operand, other], function, where, order=OrderAttr(Order(order))
        )

    return Function("search", apply, where)


def let(function: AnyFunction) -> Function:
    """Applies a function to a value that is computed once, before.

    Example: ``x >> lift.reduce(lift.add, 0.0) >> lift.let(lambda total: x / total)``
    """
    where = place()

    def apply(value: Any) -> Value:
        return with_body(ops.LetOp, [checked(value, "let", where)], function, where)

    return Function("let", apply, where)


def generate(*sizes_and_function: Any) -> Value:
    """The array of these sizes whose elements are the function of their indices.

    Example: ``lift.generate(2, 3, lambda i, j: 10 * i + j)``
    """
    where = place()
    if not sizes_and_function:
        raise TileError("generate takes sizes, and a function of as many indices", where)
    *sizes, function = sizes_and_function
    axes = [to_size(size, where) for size in sizes]

    def make() -> Operation:
        block = Block(arg_types=[IndexType()] * len(axes))
        with ImplicitBuilder(block):
            found = to_value(call(function, *(Value(i) for i in block.args)), None, where)
            YieldOp(found.ssa)
        return ops.GenerateOp.of(array(axes, found.type), Region(block))

    return Value(emit(make, where))


# -- values --------------------------------------------------------------------------------------


def zip(*arrays: Value) -> Value:
    """Arrays of one size as an array of tuples.

    Example: ``lift.zip(x, y) >> lift.map(lift.mul)``
    """
    where = place()
    operands = [checked(a, "zip", where).ssa for a in arrays]
    return Value(emit(lambda: ops.ZipOp.make(*operands), where))


def unzip(pairs: Value) -> tuple[Value, ...]:
    """The arrays of which an array of tuples is made.

    Example: ``lift.unzip(lift.zip(x, y))``
    """
    where = place()
    t = element_of(checked(pairs, "unzip", where).array_type("unzip"))
    parts = getattr(t, "types", None)
    if parts is None:
        raise TileError(
            f"unzip takes an array of tuples, but {describe(pairs.ssa)} holds {t}", where
        )
    return tuple(map(get(k))(pairs) for k in range(len(parts)))


def tuple_(*components: Any) -> Value:
    """Some values as one.

    Example: ``x >> lift.map(lambda a: lift.tuple(a, a * a)) >> lift.map(lift.get(1))``
    """
    return to_value(components, None, place())


def get(index: int) -> Function:
    """A component of a tuple.

    Example: ``lift.zip(x, y) >> lift.map(lift.get(1))``
    """
    if not isinstance(index, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"a component of a tuple is chosen by a number, not {index!r}", place())
    return plain(ops.GetOp, index=OrdinalAttr(index))


def at(index: AnySize | Value) -> Function:
    """The element at an index, which is brought into the array's range; as ``x[index]``.

    Example: ``x >> lift.at(2)``
    """
    where = place()

    def apply(value: Any) -> Value:
        array = checked(value, "at", where)
        array.array_type("at")
        return array[index]

    return Function("at", apply, where)


def size(of: AnySize) -> Value:
    """A size as an integer of the program.

    Example: ``x / lift.size(4)``
    """
    return size_value(of, place())


# -- memory --------------------------------------------------------------------------------------


def _memory(kind: type[LiftOp], what: AnyFunction | Value) -> Any:
    where = place()
    keep = Function(kind.pattern(), plain(kind)._apply, where)  # pyright: ignore[reportPrivateUsage]
    return keep(what) if isinstance(what, Value) else compose(keep, what)


def to_global(what: AnyFunction | Value) -> Any:
    """Keeps a value, or a function's result, in global memory.

    Example: ``x >> lift.to_global(lift.map_glb(lift.neg))``
    """
    return _memory(memory.ToGlobalOp, what)


def to_local(what: AnyFunction | Value) -> Any:
    """Keeps a value, or a function's result, in local memory.

    Example: ``A >> lift.map_wrg(lift.to_local(lift.map_lcl(lift.neg)))``
    """
    return _memory(memory.ToLocalOp, what)


def to_private(what: AnyFunction | Value) -> Any:
    """Keeps a value, or a function's result, in private memory.

    Example: ``A >> lift.map_glb(lift.to_private(lift.map_seq(lift.neg)))``
    """
    return _memory(memory.ToPrivateOp, what)
