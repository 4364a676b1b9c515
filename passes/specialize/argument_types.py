"""Checks of the types of arguments against a function's header."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, StringAttr, TensorType
from xdsl.ir import Attribute

from tiledialect.dialects.discardable import DIMS, TANGENT_OF
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import format_shape, shape_of
from tiledialect.errors import TileError, count
from tiledialect.ir.signature import (
    argument_dims,
    argument_names,
    check_tensors,
    miscounted,
    type_text,
)


def check_arguments(function: func.FuncOp, types: Sequence[TensorType[Attribute]]) -> None:
    """Raise a TileError unless a function takes inputs of these types."""
    check_tensors(function)
    names = argument_names(function)
    if len(names) != len(types):
        missing = names[len(types) :]
        raise TileError(miscounted(function.sym_name.data, names, len(types), missing))
    inputs = function.function_type.inputs
    dims = argument_dims(function) or [None] * len(names)
    for name, declared, given, own in zip(names, inputs, types, dims, strict=True):
        _check_argument(name, declared, given, own)
    _check_dimensions(function, names, types)
    _check_tangents(function, names, types)


def _check_argument(
    name: str, declared: Attribute, given: TensorType[Attribute], dims: Sequence[str] | None
) -> None:
    shape = given.get_shape()
    if isinstance(declared, TensorType):
        wanted = declared.get_shape()
        if len(wanted) != len(shape):
            named = f" ({', '.join(dims)})" if dims else ""
            raise TileError(
                f"{name} has {count(len(wanted), 'dimension', 'dimensions')} in the header{named}, "
                f"but the one given has {len(shape)} ({format_shape(shape)})"
            )
        if any(w not in (DYNAMIC_INDEX, s) for w, s in zip(wanted, shape, strict=True)):
            sizes = zip(wanted, dims or wanted, strict=True)
            axes = [str(dim if size == DYNAMIC_INDEX else size) for size, dim in sizes]
            declared_as = " x ".join(axes) if DYNAMIC_INDEX in wanted else format_shape(wanted)
            raise TileError(f"{name} is {declared_as}, but {format_shape(shape)} was given")
    element_type = getattr(declared, "element_type", et.any_type)
    if element_type not in (et.any_type, given.element_type):
        texts = map(et.type_name, (element_type, given.element_type))
        raise TileError("{} holds {}, but {} was given".format(name, *texts))


def _check_tangents(
    function: func.FuncOp, names: list[str], types: Sequence[TensorType[Attribute]]
) -> None:
    for name, t, attrs in zip(names, types, function.arg_attrs or (), strict=False):
        of = attrs.data.get(TANGENT_OF)
        if not isinstance(of, StringAttr) or of.data not in names:
            continue
        own = types[names.index(of.data)]
        if not et.is_float(own.element_type):
            kind = et.type_name(own.element_type)
            raise TileError(f"{of.data} holds {kind}: there are no tangents of integers")
        if t != own:
            raise TileError(
                f"{name} is the tangent of {of.data} ({type_text(own)}), "
                f"but {type_text(t)} was given"
            )


def _check_dimensions(
    function: func.FuncOp, names: list[str], types: Sequence[TensorType[Attribute]]
) -> None:
    seen: dict[str, tuple[int, str, int]] = {}
    for name, t, attrs in zip(names, types, function.arg_attrs or (), strict=False):
        dims = attrs.data.get(DIMS)
        for axis, dim in enumerate(dims if isinstance(dims, ArrayAttr) else ()):
            assert isinstance(dim, StringAttr)
            size = t.get_shape()[axis]
            first = seen.setdefault(dim.data, (size, name, axis))
            if first[0] != size:
                raise TileError(
                    f"dimension {dim.data} is {first[0]} in {first[1]} (axis {first[2]}) "
                    f"but {size} in {name} (axis {axis})"
                )


def check_derived_types(
    names: Sequence[str],
    given: Sequence[Attribute | None],
    of: Sequence[str],
    wanted: Sequence[Attribute],
) -> None:
    """Raise a TileError unless cotangents and tangents have the types of what they belong to."""
    for name, t, output, own in zip(names, given, of, wanted, strict=False):
        if t != own:
            assert t is not None
            texts = map(type_text, (own, t))
            shapes = [shape_of(x) for x in (own, t) if isinstance(x, TensorType)]
            if len(shapes) == 2 and not shapes[0] and set(shapes[1] or ()) == {1}:
                place = ", ".join("0" for _ in shapes[1] or ())
                raise TileError(
                    "{0} is a number ({2}), as {1} is, not {3}: give {0}[{4}]".format(
                        name, output, *texts, place
                    )
                )
            raise TileError("{0} must be {2}, as {1} is, not {3}".format(name, output, *texts))


def declared_type(name: str, t: Attribute) -> TensorType[Attribute]:
    """Static type of an input; a TileError if it is declared without one."""
    if isinstance(t, TensorType) and t.has_static_shape() and t.element_type != et.any_type:
        return t
    raise TileError(f"give the type of {name}, which is declared as {t}")
