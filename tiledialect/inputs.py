"""What a compiled function takes: names, numbers and types for what its users give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from tiledialect.boundary import sourced
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.numeric import ELEMENT_TYPES, NUMPY_TYPES, kind_of
from tiledialect.errors import TileError
from tiledialect.recent import Recent

if TYPE_CHECKING:
    from tiledialect.passes.tile_gradient import Gradient

Types: TypeAlias = "tuple[TensorType[Attribute], ...]"

KEPT = 64
"""For how many combinations of shapes and element types (and queues) a function stays ready."""


class _Missing:
    """In the place of a cotangent that was not given."""


MISSING = _Missing()


def without_marks(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values without those at the end that are missing."""
    count = len(values)
    while count and values[count - 1] is MISSING:
        count -= 1
    return values[:count]


class Inputs:
    """The inputs of a function: its own ones, and after them the cotangents of its gradients."""

    def __init__(
        self,
        name: str,
        names: tuple[str, ...],
        function: func.FuncOp,
        gradients: tuple[Gradient, ...],
        text: str,
    ):
        self.name = name
        self.names = names
        self.count = len(function.function_type.inputs)
        """How many are no cotangents."""
        self.function = function
        self.gradients = gradients
        self.text = text
        self._known: Recent[tuple[Any, ...], Types] = Recent(KEPT)

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
                f"inputs of {self.name} are given in a list, and those by name in a dict"
            )
        for name in named:
            if name not in self.names:
                raise TileError(f"{self.name} has no input {name}; it takes {self.header()}")
        for name in self.names[: len(args)]:
            if name in named:
                raise TileError(f"{name} is given twice, by place and by name")
        rest = self.names[len(args) :]
        needed = self.names[len(args) : self.count]
        missing = [name for name in needed if name not in named]
        if missing or len(args) > len(self.names):
            given = len(args) + len(named)
            raise self._miscounted(given, ", ".join(missing) if missing and named else "")
        return (*args, *(named.get(name, MISSING) for name in rest))

    def _miscounted(self, given: int, missing: str = "") -> TileError:
        from tiledialect.signature import miscounted

        lacking = f"; {missing} is missing" if missing else ""
        return TileError(miscounted(self.name, self.names, given) + lacking)

    # -- to differentiate by -----------------------------------------------------------------

    def chosen(self, wrt: Sequence[str | int] | str | int | None) -> tuple[str, ...]:
        """The names that ``wrt`` means; for None of all inputs that are not declared integers."""
        if wrt is None:
            given = zip(self.names, self.declared, strict=True)
            reals = [name for name, dtype in given if dtype is None or kind_of(dtype) == "f"]
            if not reals:
                raise TileError(f"no input of {self.name} holds reals to differentiate by")
            return tuple(reals)
        try:
            names = tuple(map(self._named_input, (wrt,) if isinstance(wrt, str | int) else wrt))
        except TypeError:
            names = ()
        if not names:
            raise TileError(
                f"wrt names inputs of {self.name} ({self.header()}), which {wrt!r} does not"
            )
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

    # -- arrays and types ----------------------------------------------------------------------

    def arrays(self, values: Sequence[Any]) -> list[Any]:
        """What is given for all inputs as arrays.

        Python's numbers, alone or in lists, get the types of what they meet; those for a cotangent
        that of its output. Cotangents of outputs without axes are 1 where they are missing.
        """
        from tiledialect.lowering.runtime.arrays import as_array, is_python

        given = list(zip(self.names, values, self.declared, strict=True))
        arrays = [None if v is MISSING else as_array(name, v, dtype) for name, v, dtype in given]
        weak = frozenset(
            k for k, (_, v, dtype) in enumerate(given) if dtype is None and is_python(v)
        )
        if not weak and not any(a is None for a in arrays):
            return arrays
        known = tuple(None if a is None else (a.shape, a.dtype) for a in arrays), weak
        types = self._known.find(known)
        if types is None:
            own = [None if a is None else type_of(a) for a in arrays]
            types = self._known.put(known, self._resolve(own, weak))
        for k, t in enumerate(types):
            dtype = NUMPY_TYPES[t.element_type]
            if arrays[k] is None:
                arrays[k] = np.ones((), dtype)
            elif k in weak:
                arrays[k] = as_array(self.names[k], values[k], dtype)
        return arrays

    def _resolve(
        self, given: Sequence[TensorType[Attribute] | None], weak: frozenset[int]
    ) -> Types:
        """The types of all inputs, where some are missing and some have no width of their own."""
        from tiledialect.lowering.runtime.garbage import no_collection

        # What this imports and makes is what compiling needs.
        with sourced(self.text), no_collection():
            return self._resolved(given, weak)

    def _resolved(
        self, given: Sequence[TensorType[Attribute] | None], weak: frozenset[int]
    ) -> Types:
        from tiledialect.passes.tile_gradient import cotangent_types
        from tiledialect.passes.weak_inputs import weak_types

        types = [t for t in given[: self.count] if t is not None]
        if numbers := [k for k in weak if k < self.count]:
            for k, element_type in weak_types(self.function, types, numbers).items():
                types[k] = TensorType(element_type, types[k].get_shape())
        if all(k < self.count for k in weak) and None not in given:
            return (*types, *(t for t in given[self.count :] if t is not None))
        own = cotangent_types(self.function, types, self.gradients)
        for k, (t, wanted) in enumerate(zip(given[self.count :], own, strict=True), self.count):
            if t is None and wanted.get_shape():
                count = sum(x is not None for x in given)
                raise self._miscounted(count, self.names[k])
            if t is None or k in weak:
                t = TensorType(wanted.element_type, () if t is None else t.get_shape())
            types.append(t)
        return tuple(types)

    def types(self, args: Sequence[Any], named: Mapping[str, Any]) -> Types:
        """The types that inputs stand for: arrays, pairs of shape and element type, or texts."""
        from tiledialect.lowering.runtime.arrays import as_array, is_python

        types: list[TensorType[Attribute] | None] = []
        weak: set[int] = set()
        given = zip(self.names, self.bind(args, named), self.declared, strict=True)
        for k, (name, value, dtype) in enumerate(given):
            if value is MISSING:
                types.append(None)
                continue
            said = _said_type(value)
            types.append(said or type_of(as_array(name, value, dtype)))
            if said is None and dtype is None and is_python(value):
                weak.add(k)
        if weak or None in types:
            return self._resolve(types, frozenset(weak))
        return tuple(t for t in types if t is not None)

    def known(self, last: Types | None) -> Types:
        """The types of the last call, if there was one, else those that are declared."""
        if last is not None:
            return last
        declared = self.function.function_type.inputs.data
        types = tuple(t for t in declared if isinstance(t, TensorType) and t.has_static_shape())
        if len(types) < len(self.names) or any(t.element_type == et.any_type for t in types):
            raise TileError(
                f"the shapes of {self.header()} are not known yet: call {self.name} first, "
                "or give inputs, or types such as 2x9xf32"
            )
        return types


def type_of(array: Any) -> TensorType[Attribute]:
    """The type of an array."""
    return TensorType(ELEMENT_TYPES[array.dtype], array.shape)


def types_of(arrays: Sequence[Any]) -> Types:
    """The types of arrays."""
    return tuple(map(type_of, arrays))


def _said_type(value: Any) -> TensorType[Attribute] | None:
    """The type that a text, or a pair of shape and element type, says; None if it is neither."""
    from tiledialect.lowering.runtime.arrays import DTYPES
    from tiledialect.signature import TILE_TYPES, parse_type

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
