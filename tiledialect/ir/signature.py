"""The names and types of functions, as their users write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from tiledialect import caches
from tiledialect.dialects.discardable import DIMS, NAME, UPDATES
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.errors import TileError, count
from tiledialect.ir.names import given_name
from tiledialect.ir.ops_in import has_one_block, ops_of


def miscounted(name: str, inputs: Sequence[str], given: int, missing: Sequence[str]) -> str:
    """Message that a function is given another number of inputs than it takes, with the missing
    ones."""
    names = f" ({', '.join(inputs)})" if inputs else ""
    takes = f"{count(len(inputs), 'input', 'inputs')}{names}"
    text = f"{name} takes {takes}, but {count(given, 'was', 'were')} given"
    if not missing or not given:
        return text
    *most, last = missing
    which = f"{', '.join(most)} and {last} are" if most else f"{last} is"
    return f"{text}; {which} missing"


def find_function(module: ModuleOp, name: str | None = None) -> func.FuncOp:
    """The function called ``name``, or the only one; a TileError if there is none such."""
    functions = [
        f for f in ops_of(module, func.FuncOp) if not isinstance(f.parent_op(), gpu.ModuleOp)
    ]
    names = ", ".join(f.sym_name.data for f in functions) or "none"
    chosen = [f for f in functions if name is None or f.sym_name.data == name]
    if not chosen:
        raise TileError(
            f"there is no function {name} here; there is {names}"
            if name
            else "there is no function here"
        )
    # Declarations are found by their names alone.
    chosen = [f for f in chosen if not f.is_declaration] or chosen
    if len(chosen) > 1:
        raise TileError(f"name one of the functions here: {names}")
    check_block(chosen[0])
    return chosen[0]


def check_block(function: func.FuncOp) -> None:
    """Raise a TileError if a function has not the one block that a tensor program is."""
    if not has_one_block(function):
        blocks = len(function.body.blocks)
        raise TileError.at(
            function,
            f"{function.sym_name.data} has {blocks} blocks, where a tensor program has one"
            if blocks
            else f"{function.sym_name.data} is only declared here, without a body",
        )


def kernels_of(module: ModuleOp) -> dict[tuple[str, str], gpu.FuncOp]:
    """The kernels, by the names of their module and their own, as launches give them."""
    return {
        (m.sym_name.data, f.sym_name.data): f
        for m in module.ops
        if isinstance(m, gpu.ModuleOp)
        for f in m.body.block.ops
        if isinstance(f, gpu.FuncOp)
    }


def check_tensors(function: func.FuncOp) -> None:
    """Raise a TileError if an input or output is no tensor: arrays are taken and given."""
    types = function.function_type
    inputs = zip(argument_names(function), types.inputs, strict=True)
    outputs = zip(result_names(function), types.outputs, strict=True)
    for name, t in (*inputs, *outputs):
        if not isinstance(t, TensorType | UnrankedTensorType):
            hint = f"; a number is a tensor<{t}>" if t in et.CONCRETE.values() else ""
            raise TileError(
                f"{name} of {function.sym_name.data} is declared as {t}, not as a tensor{hint}"
            )


def argument_names(function: func.FuncOp) -> list[str]:
    """Names of the inputs for the user."""
    return _names(function.arg_attrs, function.body.block.args, "arg")


def argument_dims(function: func.FuncOp) -> list[tuple[str, ...] | None]:
    """The dimensions that the header gives each input; None where it gives none."""
    entries = [attrs.data.get(DIMS) for attrs in function.arg_attrs or ()]
    return [
        tuple(d.data for d in dims if isinstance(d, StringAttr))
        if isinstance(dims, ArrayAttr)
        else None
        for dims in entries
    ]


def result_names(function: func.FuncOp) -> list[str]:
    """Names of the outputs for the user."""
    returned = function.body.block.last_op
    assert returned is not None
    return _names(function.res_attrs, returned.operands, "res")


def updated_names(function: func.FuncOp) -> list[str | None]:
    """For each result the name of the input that it updates; None for outputs."""
    count = len(function.function_type.outputs)
    given = function.res_attrs.data if isinstance(function.res_attrs, ArrayAttr) else ()
    names = [entry.data.get(UPDATES) for entry in given] or [None] * count
    return [name.data if isinstance(name, StringAttr) else None for name in names]


def named_attributes(name: str, updated: str | None = None) -> DictionaryAttr:
    """Attributes of an input with a name for the user, or of a result, which may update one."""
    entries = {NAME: StringAttr(name)}
    own = {} if updated is None else {UPDATES: StringAttr(updated)}
    return DictionaryAttr(entries | own)


def output_names(function: func.FuncOp) -> list[str]:
    """Names of the results that a call gives: those that update an input are none."""
    pairs = zip(result_names(function), updated_names(function), strict=True)
    return [name for name, updated in pairs if updated is None]


def _names(attrs: ArrayAttr[Attribute] | None, values: Sequence[SSAValue], kind: str) -> list[str]:
    names = [given_name(value) or f"{kind}{k}" for k, value in enumerate(values)]
    for k, entry in enumerate(attrs or ()):
        name = getattr(entry, "data", {}).get(NAME)
        if isinstance(name, StringAttr):
            names[k] = name.data
    return names


TILE_TYPES = {et.type_name(t): name for name, t in et.CONCRETE.items()}
"""Names of element types in IR, by Tile's names."""
ELEMENTS = {et.type_name(t): t for t in et.CONCRETE.values()}
"""Element types by Tile's names."""
PLAIN_SIZE = re.compile(r"0|[1-9][0-9]*")
"""A size as it is printed."""


def type_text(t: Attribute) -> str:
    """A type as users write it: ``3x4xu8``."""
    if not isinstance(t, TensorType):
        return str(t)
    return "x".join((*map(str, t.get_shape()), et.type_name(t.element_type)))


def types_text(types: Iterable[Attribute]) -> str:
    """Types as users write them, with commas: ``3x4xu8,4xf32``."""
    return ",".join(map(type_text, types))


@caches.TYPE_TEXTS
def parse_type(text: str) -> TensorType[Attribute]:
    """The static tensor type written as ``2x9x9x5xf32`` (a scalar: ``f32``).

    Element types may have Tile's names, too: ``u8`` is ``ui8``, and ``bool`` is ``i1``.
    """
    *sizes, last = text.split("x")
    element_type = ELEMENTS.get(last)
    if element_type is not None and all(map(PLAIN_SIZE.fullmatch, sizes)):
        # Functions of models have hundreds of inputs.
        return TensorType(element_type, [*map(int, sizes)])
    spelled = "x".join([*sizes, TILE_TYPES.get(last.strip(), last)])
    context = Context()
    try:
        t = Parser(context, f"tensor<{spelled}>").parse_type()
    except ParseError:
        t = None
    if (
        not isinstance(t, TensorType)
        or not t.has_static_shape()
        or t.element_type not in et.CONCRETE.values()
    ):
        raise TileError(
            f"'{text}' is not a type such as 2x9xf32; element types: {', '.join(TILE_TYPES)}"
        )
    return t


def array_type(array: npt.NDArray[Any]) -> TensorType[Attribute]:
    """Type of an array; a TileError if the dialect has none for its elements."""
    if array.dtype not in ELEMENT_TYPES:
        raise TileError(f"arrays of {array.dtype} are not supported")
    return TensorType(ELEMENT_TYPES[array.dtype], array.shape)
