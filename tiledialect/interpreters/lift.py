"""The reference semantics of the lift dialect, in NumPy.

An array of numbers is a NumPy array, an array of arrays one with more axes, and one of vectors has
the vectors' lanes as its last axis. A tuple is a Python tuple; an array of tuples is a tuple of
arrays. Names of sizes have their values by now: the sizes in types and ops are numbers.

The function of a map is executed for many elements at once (`interpreters.batches`), unless it has
a search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType, TupleType, VectorType
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Attribute, Operation

from tiledialect.dialects.lift import layout, maps, memory, reductions, values
from tiledialect.dialects.lift.attributes import Boundary, Order, SizeAttr
from tiledialect.dialects.lift.base import FunctionOp, YieldOp
from tiledialect.dialects.lift.binding import bind
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.interpreters.agreement import note_terms
from tiledialect.interpreters.batches import (
    Value,
    batched,
    can_batch,
    each,
    ranks,
    repeated,
    rows_at_once,
    unbatched,
)

Array = npt.NDArray[Any]


def length(array: Value) -> int:
    """Number of elements of an array."""
    return length(array[0]) if isinstance(array, tuple) else len(array)


def elements(array: Value) -> list[Value]:
    """The elements of an array."""
    return [element(array, i) for i in range(length(array))]


def element(array: Value, index: int) -> Value:
    """An element of an array."""

    def at(part: Array) -> Any:
        return part[index]

    return each(at, array)


def stacked(found: Sequence[Value], shape: Sequence[int], element: Attribute) -> Value:
    """The array of this shape whose elements, of type ``element``, were found one by one."""
    if not found:
        return empty(shape, element)

    def stack(*parts: Any) -> Array:
        return np.stack(parts).reshape(*shape, *np.shape(parts[0]))

    return each(stack, *found)


def empty(shape: Sequence[int], element: Attribute) -> Value:
    """An array without elements."""
    match element:
        case TupleType():
            return tuple(empty(shape, part) for part in element.types)
        case TensorType() | VectorType():
            return empty((*shape, *element.get_shape()), element.element_type)
        case _:
            return np.empty(shape, NUMPY_TYPES[element])


def number(size: SizeAttr) -> int:
    """The number that a size is."""
    value = size.data.value
    assert value is not None, f"{size.data} is no number yet"
    return value


# -- layout --------------------------------------------------------------------------------------


def split(op: layout.SplitOp | layout.AsVectorOp, array: Array) -> Array:
    """Pieces, or lanes."""
    size = number(op.size)
    return array.reshape(len(array) // size, size, *array.shape[1:])


def join(op: layout.JoinOp | layout.AsScalarOp, array: Array) -> Array:
    """Pieces, or lanes, one after the other."""
    outer, inner, *rest = array.shape
    return array.reshape(outer * inner, *rest)


def transpose(op: layout.TransposeOp, array: Array) -> Array:
    """The outer two axes exchanged."""
    return array.swapaxes(0, 1)


def slide(op: layout.SlideOp | maps.MapSeqSlideOp, array: Array) -> Array:
    """Windows."""
    size, step = number(op.size), number(op.step)
    starts = np.arange(0, len(array) - size + 1, step)
    return array[starts[:, None] + np.arange(size)]


def pad(op: layout.PadOp, array: Array) -> Array:
    """Elements repeated at the ends."""
    size = len(array)
    places = np.arange(-number(op.left), size + number(op.right))
    match op.boundary.data:
        case Boundary.clamp:
            return array[places.clip(0, size - 1)]
        case Boundary.wrap:
            return array[places % size]
        case Boundary.mirror:
            there_and_back = places % (2 * size)
            return array[np.minimum(there_and_back, 2 * size - 1 - there_and_back)]


def slice_(op: layout.SliceOp, array: Array) -> Array:
    """Some of the elements."""
    return array[number(op.start) : number(op.stop)]


def gather(op: layout.GatherOp, array: Array) -> Array:
    """Elements from where the map says."""
    return array[mapped(op, len(array))]


def scatter(op: layout.ScatterOp, array: Array) -> Array:
    """Elements to where the map says."""
    places = mapped(op, len(array))
    result = np.empty_like(array)
    result[places] = array
    return result


def mapped(op: layout.GatherOp | layout.ScatterOp, size: int) -> list[int]:
    """Images of the indices of an array under the index map."""
    fault = op.map.data.fault(size, permutes=op.PERMUTES)
    if fault is not None:
        raise TileError.at(op, f"{op.pattern()}({op.map.data}) {fault}")
    return [op.map.data.evaluate(i) for i in range(size)]


LAYOUT: dict[type[Operation], Callable[[Any, Array], Array]] = {
    layout.SplitOp: split,
    layout.JoinOp: join,
    layout.TransposeOp: transpose,
    layout.SlideOp: slide,
    layout.PadOp: pad,
    layout.GatherOp: gather,
    layout.ScatterOp: scatter,
    layout.SliceOp: slice_,
    layout.AsVectorOp: split,
    layout.AsScalarOp: join,
}
"""Effects of the ops of one array on an array of numbers; on tuples, on each component."""


class LiftFunctions(InterpreterFunctions):
    """The ops of the lift dialect."""

    def run_layout(
        self, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        """Any op that `LAYOUT` has."""
        return (each(partial(LAYOUT[type(op)], op), args[0]),)

    @impl(layout.PadConstantOp)
    def run_pad_constant(
        self, interpreter: Interpreter, op: layout.PadConstantOp, args: PythonValues
    ) -> PythonValues:
        """A value repeated at the ends."""

        def padded(rank: int, of_value: int, array: Array, value: Any) -> Array:
            array, value = repeated((array, value), (rank, of_value))
            left, right = (
                np.broadcast_to(value, (number(size), *array.shape[1:]))
                for size in (op.left, op.right)
            )
            return np.concatenate([left, array, right]).astype(array.dtype)

        return (each(padded, *(ranks(v.type) for v in op.operands), *args),)

    @impl(layout.ConcatOp)
    def run_concat(
        self, interpreter: Interpreter, op: layout.ConcatOp, args: PythonValues
    ) -> PythonValues:
        """Concatenate arrays."""

        def joined(rank: int, *arrays: Array) -> Array:
            return np.concatenate(repeated(arrays, [rank] * len(arrays)))

        return (each(joined, ranks(op.result.type), *args),)

    # -- functions -------------------------------------------------------------------------

    def call(self, interpreter: Interpreter, op: FunctionOp, *args: Value) -> Value:
        """Call the op's function."""
        (found,) = interpreter.run_ssacfg_region(op.body, args, op.name)
        return found

    def call_batched(
        self,
        interpreter: Interpreter,
        op: FunctionOp,
        size: int,
        batch: Callable[[slice, int], Sequence[Value]],
    ) -> Value:
        """The array of the results of the op's function for ``size`` elements.

        ``batch`` gives the arguments for some of them, inside of so many maps.
        """
        depth: int = interpreter.get_data(LiftFunctions, "depth", lambda: 0)
        most = size if depth else rows_at_once(op)
        found: list[Value] = []
        interpreter.set_data(LiftFunctions, "depth", depth + 1)
        for start in range(0, size, most):
            rows = slice(start, min(start + most, size))
            value = self.call(interpreter, op, *batch(rows, depth))
            gather = partial(unbatched, depth=depth, size=rows.stop - start)
            found.append(each(gather, value, ranks(op.yielded.type)))
        interpreter.set_data(LiftFunctions, "depth", depth)
        return each(lambda *parts: np.concatenate(parts), *found)

    @impl_terminator(YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Return the result of a function."""
        return ReturnedValues(args), ()

    def run_map(
        self, interpreter: Interpreter, op: maps.MapBase, args: PythonValues
    ) -> PythonValues:
        """Apply the function to every element; the mapping to work-items makes no difference."""
        array = each(partial(slide, op), args[0]) if isinstance(op, maps.MapSeqSlideOp) else args[0]
        size = length(array)
        if not size or not can_batch(op):
            found = [self.call(interpreter, op, part) for part in elements(array)]
            return (stacked(found, [size], op.yielded.type),)
        rank = ranks(op.block.args[0].type)

        def batch(rows: slice, depth: int) -> list[Value]:
            def some(rank: int, part: Array) -> Array:
                return batched(part[rows], rank, depth)

            return [each(some, rank, array)]

        return (self.call_batched(interpreter, op, size, batch),)

    def run_reduce(
        self, interpreter: Interpreter, op: reductions.ReduceBase, args: PythonValues
    ) -> PythonValues:
        """The function on the accumulator and every element, in order."""
        accumulator, array = args
        note_terms(op, length(array))
        for part in elements(array):
            accumulator = self.call(interpreter, op, accumulator, part)
        return (accumulator,)

    @impl(reductions.IterateOp)
    def run_iterate(
        self, interpreter: Interpreter, op: reductions.IterateOp, args: PythonValues
    ) -> PythonValues:
        """Apply the function to its own result, so many times."""
        (value,) = args
        steps = list(op.steps())
        if not steps:
            for _ in range(number(op.count)):
                value = self.call(interpreter, op, value)
        for sizes, _ in steps:
            bound = op.clone()
            bind(bound, sizes)
            value = self.call(interpreter, bound, value)
            bound.erase()
        return (value,)

    @impl(reductions.SearchOp)
    def run_search(
        self, interpreter: Interpreter, op: reductions.SearchOp, args: PythonValues
    ) -> PythonValues:
        """The element for which the function gives 0."""
        array, default = args
        found = elements(array)
        low, high = 0, len(found)
        while low < high:
            middle = (low + high) // 2 if op.order.data == Order.binary else low
            side: Any = self.call(interpreter, op, found[middle])
            if side == 0:
                return (found[middle],)
            if side > 0:
                low = middle + 1
            else:
                high = middle
        return (default,)

    @impl(values.LetOp)
    def run_let(
        self, interpreter: Interpreter, op: values.LetOp, args: PythonValues
    ) -> PythonValues:
        """The function on the value."""
        return (self.call(interpreter, op, *args),)

    @impl(values.GenerateOp)
    def run_generate(
        self, interpreter: Interpreter, op: values.GenerateOp, args: PythonValues
    ) -> PythonValues:
        """The function on all indices."""
        assert isinstance(op.result.type, TensorType)
        shape = op.result.type.get_shape()[: len(op.block.args)]
        if not prod(shape) or not can_batch(op):
            found = [self.call(interpreter, op, *place) for place in np.ndindex(*shape)]
            return (stacked(found, shape, op.yielded.type),)

        def batch(rows: slice, depth: int) -> list[Value]:
            places = np.unravel_index(np.arange(rows.start, rows.stop), shape)
            return [batched(place, 0, depth) for place in places]

        def in_shape(part: Array) -> Array:
            return part.reshape(*shape, *part.shape[1:])

        return (each(in_shape, self.call_batched(interpreter, op, prod(shape), batch)),)

    # -- values ----------------------------------------------------------------------------

    def run_together(
        self, interpreter: Interpreter, op: values.ZipOp | values.TupleOp, args: PythonValues
    ) -> PythonValues:
        """A tuple; an array of tuples is one, too."""
        return (tuple(args),)

    @impl(values.GetOp)
    def run_get(
        self, interpreter: Interpreter, op: values.GetOp, args: PythonValues
    ) -> PythonValues:
        """A component."""
        return (args[0][op.index.data],)

    @impl(values.AtOp)
    def run_at(self, interpreter: Interpreter, op: values.AtOp, args: PythonValues) -> PythonValues:
        """An element; the index is brought into range."""
        array, index = args
        last = length(array) - 1
        if not np.ndim(index):
            return (element(array, min(max(int(index), 0), last)),)
        wide = index.astype(np.uint64 if index.dtype == np.uint64 else np.int64)
        places = np.clip(wide, 0, last).astype(np.int64)

        def at(rank: int, part: Array) -> Array:
            part, where = repeated((part, places), (rank + 1, 0))
            return np.take_along_axis(part, np.expand_dims(where, tuple(range(rank + 1))), 0)[0]

        return (each(at, ranks(op.result.type), array),)

    @impl(values.SizeOp)
    def run_size(
        self, interpreter: Interpreter, op: values.SizeOp, args: PythonValues
    ) -> PythonValues:
        """A number."""
        return (number(op.size),)

    def run_memory(
        self, interpreter: Interpreter, op: memory.MemoryOp, args: PythonValues
    ) -> PythonValues:
        """The value; where it is kept makes no difference."""
        return tuple(args)


_RUN: dict[Callable[..., PythonValues], Sequence[type[Operation]]] = {
    LiftFunctions.run_layout: tuple(LAYOUT),
    LiftFunctions.run_map: maps.MAP_OPS,
    LiftFunctions.run_reduce: reductions.REDUCE_OPS,
    LiftFunctions.run_together: (values.ZipOp, values.TupleOp),
    LiftFunctions.run_memory: memory.MEMORY_OPS,
}
for _function, _op_types in _RUN.items():
    for _op_type in _op_types:
        setattr(LiftFunctions, _op_type.name.replace("lift.", "run_"), impl(_op_type)(_function))
register_impls(LiftFunctions)
