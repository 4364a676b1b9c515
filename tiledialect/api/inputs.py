"""Inputs of a compiled function: names, numbers and types for the user's values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from tiledialect.api.spans import overlapping, span_of
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES, NUMPY_TYPES, kind_of
from tiledialect.dialects.tile.elementwise.ops import IdentOp
from tiledialect.dialects.tile.special import (
    GatherOp,
    PrngStateOp,
    PrngValueOp,
    ReshapeOp,
    ScatterOp,
)
from tiledialect.errors import TileError
from tiledialect.ir.signature import argument_names, updated_names
from tiledialect.lru_cache import LruCache

if TYPE_CHECKING:
    from tiledialect.api.loading import Source
    from tiledialect.passes.transform.transforms import Transform

Types: TypeAlias = "tuple[TensorType[Attribute], ...]"

READY_SHAPES = 64
"""Number of combinations of shapes and element types (and queues) for which a function stays
ready."""


class _Missing:
    """In the place of a cotangent that was not given."""


MISSING = _Missing()


def without_missing(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values without those at the end that are missing."""
    count = len(values)
    while count and values[count - 1] is MISSING:
        count -= 1
    return values[:count]


class Inputs:
    """The inputs of a function: its own ones, and after them cotangents and tangents."""

    def __init__(
        self,
        name: str,
        names: tuple[str, ...],
        function: func.FuncOp,
        transforms: tuple[Transform, ...],
        source: Source,
    ):
        self.name = name
        self.names = names
        self.count = len(function.function_type.inputs)
        """Number of inputs before cotangents and tangents."""
        self.function = function
        self.transforms = transforms
        self.source = source
        self._known: LruCache[tuple[Any, ...], Types] = LruCache(READY_SHAPES)
        self.asked = tuple(_asked(function, transforms))
        """The places of the cotangents that each differentiation asks for."""
        self.optional = frozenset(k for places in self.asked for k in places)
        changed = {*updated_names(function)}
        self.changed = tuple(k for k, n in enumerate(argument_names(function)) if n in changed)
        """The places of the inputs that a call changes."""
        self.batches = Counter(n for step in transforms for n in step.batched_inputs)
        """Number of batches of which each input has the axis."""

    def header(self) -> str:
        """The names, for people."""
        return ", ".join(self.names) or "no inputs"

    @cached_property
    def declared(self) -> list[np.dtype[Any] | None]:
        """The element types that the inputs are declared with; None where that is open."""
        types = self.function.function_type.inputs
        found = [NUMPY_TYPES.get(getattr(t, "element_type", et.any_type)) for t in types]
        return found + [None] * (len(self.names) - len(found))

    # -- binding -----------------------------------------------------------------------------

    def bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """The inputs in order; a TileError if one is missing, unknown or given twice.

        In the place of a cotangent that is not given is a mark; whether it may be left out depends
        on the types.
        """
        if not isinstance(args, list | tuple) or not isinstance(named, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TileError(
                f"inputs of {self.name} are given in a list, and inputs by name in a dict"
            )
        for name in named:
            if name not in self.names:
                raise TileError(f"{self.name} has no input {name}; it takes {self.header()}")
        for name in self.names[: len(args)]:
            if name in named:
                raise TileError(f"{name} is given twice, by place and by name")
        rest = self.names[len(args) :]
        needed = [n for k, n in enumerate(self.names) if k >= len(args) and k not in self.optional]
        missing = [name for name in needed if name not in named]
        if missing or len(args) > len(self.names):
            given = len(args) + len(named)
            raise self._miscounted(given, missing)
        return (*args, *(named.get(name, MISSING) for name in rest))

    def _miscounted(self, given: int, missing: Sequence[str]) -> TileError:
        from tiledialect.ir.signature import miscounted

        return TileError(miscounted(self.name, self.names, given, missing))

    # -- to differentiate by -----------------------------------------------------------------

    def chosen(self, wrt: Sequence[str | int] | str | int | None) -> tuple[str, ...]:
        """The names that ``wrt`` means; for None of all inputs that are not declared integers."""
        if wrt is None:
            arguments = [*self.function.body.block.args, *(None for _ in self.names[self.count :])]
            given = zip(self.names, self.declared, arguments, strict=True)
            reals = [
                name
                for name, dtype, argument in given
                if (argument is None or not _is_of_integers(argument))
                and (dtype is None or kind_of(dtype) == "f")
            ]
            if not reals:
                raise TileError(f"no input of {self.name} holds reals to differentiate by")
            return tuple(reals)
        try:
            if isinstance(wrt, Mapping):
                raise TypeError
            names = tuple(map(self._named_input, (wrt,) if isinstance(wrt, str | int) else wrt))
        except TypeError:
            names = ()
        if not names:
            raise TileError(f"`wrt` must name inputs of {self.name} ({self.header()}), got {wrt!r}")
        return names

    def _named_input(self, wrt: object) -> str:
        if isinstance(wrt, str):
            return wrt
        # A bool is an int to Python, but no place.
        if isinstance(wrt, int) and not isinstance(wrt, bool):
            if -len(self.names) <= wrt < len(self.names):
                return self.names[wrt]
            raise TileError(
                f"there is no input {wrt} to differentiate by; there is {self.header()}"
            )
        raise TypeError

    # -- inputs that a call changes ------------------------------------------------------------

    def check_unchanged(self, what: str) -> None:
        """Refuse an operation that a function has whose calls leave their inputs as they are."""
        for k in self.changed:
            raise TileError(
                f"calls of {self.name} change {self.names[k]}: there is no {what} of it"
            )

    def check_changed(self, values: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Raise a TileError where a call would change a copy of an input, what is read-only, or
        memory of another input."""
        if not self.changed:
            return
        for k in self.changed:
            value, array = values[k], arrays[k]
            is_copy = value is not array
            if isinstance(value, np.ndarray) and isinstance(array, np.ndarray):
                # Arrays without elements share no memory with themselves.
                is_copy = array.size > 0 and not np.may_share_memory(value, array)
            if is_copy or (isinstance(array, np.ndarray) and not array.flags.writeable):
                raise TileError(
                    f"calls of {self.name} change {self.names[k]}, which must be an array without "
                    "gaps that can be written, on the device if others are"
                )
        if pair := overlapping((span_of(a, k) for k, a in enumerate(arrays)), self.changed):
            one, other = (self.names[k] for k in sorted(pair))
            name = one if sorted(pair)[0] in self.changed else other
            raise TileError(
                f"calls of {self.name} change {name}: {one} and {other} must be different arrays, "
                "with no memory in common"
            )

    # -- arrays and types ----------------------------------------------------------------------

    def arrays(self, values: Sequence[Any]) -> list[Any]:
        """Convert the values of all inputs to arrays.

        Python's numbers, alone or in lists, get the types that they meet. Cotangents get the types
        of their outputs: numbers are repeated, reals of another width converted, and those that are
        missing are 1 or 0, see ``_left_out``.
        """
        from tiledialect.lowering.runtime.call.arrays import as_array, is_python

        given = list(zip(self.names, values, self.declared, strict=True))
        absent = frozenset(k for k, v in enumerate(values) if self._is_absent(k, v))
        arrays = [
            None if k in absent else as_array(name, v, dtype)
            for k, (name, v, dtype) in enumerate(given)
        ]
        weak = frozenset(
            k
            for k, (_, v, dtype) in enumerate(given)
            if k not in absent and dtype is None and is_python(v)
        )
        if not weak and not absent and not self._may_be_converted(arrays):
            return arrays
        known = tuple(None if a is None else (a.shape, a.dtype) for a in arrays), weak
        types = self._known.find(known)
        if types is None:
            own = [None if a is None else type_of(a) for a in arrays]
            types = self._known.put(known, self._resolve(own, weak))
        numbers = self._left_out(values, types)
        for k, t in enumerate(types):
            dtype = NUMPY_TYPES[t.element_type]
            if arrays[k] is None:
                arrays[k] = np.full(t.get_shape(), numbers[k], dtype)
            elif k in weak:
                arrays[k] = as_array(self.names[k], values[k], dtype)
            if k >= self.count:
                arrays[k] = _converted(arrays[k], dtype, t.get_shape())
        return arrays

    def _is_absent(self, k: int, value: Any) -> bool:
        """Whether a cotangent is not given, or None."""
        return value is MISSING or (value is None and k in self.optional)

    def _may_be_converted(self, arrays: Sequence[Any]) -> bool:
        """Whether cotangents are numbers, or of other types than the reals among the inputs."""
        if len(arrays) == self.count:
            return False
        reals = {a.dtype for a in arrays[: self.count] if kind_of(a.dtype) == "f"}
        return any(c.shape == () or {c.dtype} != reals for c in arrays[self.count :])

    def _left_out(self, values: Sequence[Any], types: Types) -> dict[int, int]:
        """Numbers in place of the cotangents that are not given; a TileError if one must be.

        One that is None is 0, and so are those beside one that is given. Where none is, those of
        reals without axes, but for batches, are 1, and the others 0 beside them.
        """
        numbers: dict[int, int] = {}
        for asked in self.asked:
            absent = [k for k in asked if self._is_absent(k, values[k])]
            numbers |= dict.fromkeys(absent, 0)
            missing = [k for k in absent if values[k] is MISSING]
            if len(absent) < len(asked) or not missing:
                continue
            reals = [k for k in missing if et.is_float(types[k].element_type)]
            batches = [self.batches[self.names[k]] for k in reals]
            ranks = [len(types[k].get_shape()) for k in reals]
            scalars = [k for k, n, m in zip(reals, ranks, batches, strict=True) if n == m]
            if reals and not scalars:
                names = ", ".join(self.names[k] for k in reals)
                raise TileError(
                    f"{self.name} needs {names}: cotangents of numbers alone may be left out"
                )
            numbers |= dict.fromkeys(scalars, 1)
        return numbers

    def _resolve(
        self, given: Sequence[TensorType[Attribute] | None], weak: frozenset[int]
    ) -> Types:
        """The types of all inputs, where some are missing and some have no width of their own."""
        from tiledialect.lowering.runtime.program.garbage import no_collection

        # Compiling needs the same imports and objects.
        with self.source.error_context(), no_collection():
            return self._resolved(given, weak)

    def _resolved(
        self, given: Sequence[TensorType[Attribute] | None], weak: frozenset[int]
    ) -> Types:
        from tiledialect.passes.specialize.types.weak_types import weak_types
        from tiledialect.passes.transform.transforms import derived_types, inner_types

        types = [t for t in given[: self.count] if t is not None]
        if numbers := [k for k in weak if k < self.count]:
            own = inner_types(self.function, types, self.transforms)
            for k, element_type in weak_types(self.function, own, numbers).items():
                types[k] = TensorType(element_type, types[k].get_shape())
        if not self.transforms:
            return tuple(types)
        # A number is repeated.
        derived = [t if t is not None and t.get_shape() else None for t in given[self.count :]]
        own = derived_types(self.function, [*types, *derived], self.transforms)
        for k, (t, wanted) in enumerate(zip(given[self.count :], own, strict=True), self.count):
            if t is None or t.get_shape() in ((), wanted.get_shape()):
                t = wanted
            elif k in weak:
                t = TensorType(wanted.element_type, t.get_shape())
            types.append(t)
        return tuple(types)

    def types(self, args: Sequence[Any], named: Mapping[str, Any]) -> Types:
        """The types that inputs stand for: arrays, pairs of shape and element type, or texts."""
        from tiledialect.lowering.runtime.call.arrays import as_array, is_python

        types: list[TensorType[Attribute] | None] = []
        weak: set[int] = set()
        values = self.bind(args, named)
        for k, (name, value, dtype) in enumerate(
            zip(self.names, values, self.declared, strict=True)
        ):
            if self._is_absent(k, value):
                types.append(None)
                continue
            said = _said_type(value)
            types.append(said or type_of(as_array(name, value, dtype)))
            if said is None and dtype is None and is_python(value):
                weak.add(k)
        if not weak and not self.transforms:
            return tuple(t for t in types if t is not None)
        found = self._resolve(types, frozenset(weak))
        self._left_out(values, found)
        return found

    def known(self) -> Types:
        """The types that are declared; a TileError if they leave something open."""
        declared = self.function.function_type.inputs.data
        types = tuple(t for t in declared if isinstance(t, TensorType) and t.has_static_shape())
        is_open = len(types) < len(self.names) or bool(self.transforms)
        if is_open or any(t.element_type == et.any_type for t in types):
            raise TileError(
                f"the shapes of {self.header()} are not known yet: call {self.name} first, "
                "or give inputs, or types such as 2x9xf32"
            )
        return types


def _is_of_integers(value: SSAValue) -> bool:
    """Whether a value can hold nothing else: it says which rows to take, or is a random state."""
    for use in value.uses:
        match use.operation:
            case GatherOp() | ScatterOp() as op if op.indices is value:
                return True
            case PrngValueOp() | PrngStateOp() if use.index == 0:
                return True
            case IdentOp() | ReshapeOp() as op if use.index == 0 and _is_of_integers(op.result):
                return True
            case _:
                pass
    return False


def _asked(function: func.FuncOp, transforms: Sequence[Transform]) -> Iterator[range]:
    """The places of the cotangents that each differentiation of a function asks for."""
    if not transforms:
        return
    from tiledialect.passes.transform.transforms import Gradient, signatures

    names = signatures(function, transforms)
    for step, (before, _), (after, _) in zip(transforms, names, names[1:], strict=False):
        if isinstance(step, Gradient):
            yield range(len(before), len(after))


def _converted(array: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """An array of other elements; a number in every place of a shape."""
    if array.dtype != dtype:
        array = array.astype(dtype)
    if array.shape == () != shape:
        number = array if isinstance(array, np.ndarray) else array.get()
        return np.full(shape, number, dtype)
    return array


def type_of(array: Any) -> TensorType[Attribute]:
    """The type of an array, or of an input of a plan."""
    return TensorType(ELEMENT_TYPES[np.dtype(array.dtype)], array.shape)


def types_of(arrays: Sequence[Any]) -> Types:
    """The types of arrays."""
    return tuple(map(type_of, arrays))


def _said_type(value: Any) -> TensorType[Attribute] | None:
    """The type that a text, or a pair of shape and element type, says; None if it is neither."""
    from tiledialect.ir.signature import TILE_TYPES, parse_type
    from tiledialect.lowering.runtime.call.arrays import DTYPES

    if isinstance(value, str):
        return parse_type(value)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple | list):
        shape, dtype = value
        try:
            # As in a text, i8 has 8 bits; to NumPy it has 8 bytes.
            dtype = NUMPY_TYPES[parse_type(dtype).element_type] if dtype in TILE_TYPES else dtype
            dtype, shape = np.dtype(dtype), tuple(map(index, shape))
            if dtype in DTYPES and min(shape, default=0) >= 0:
                return TensorType(ELEMENT_TYPES[dtype], shape)
        except (TypeError, ValueError):
            pass
        if isinstance(value[1], str):
            raise TileError(f"{value!r} is no pair of a shape and an element type")
    return None
