"""Host functions of nests and kernels as their callers see them: memrefs are arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects import arith, func, gpu
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    NoneAttr,
    SymbolRefAttr,
    TensorType,
    UnrankedMemRefType,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Attribute, Block, Region

from tiledialect.dialects.discardable import ELEMENT_TYPE
from tiledialect.dialects.tile import element_types as et
from tiledialect.errors import TileError
from tiledialect.ir.host_memory import ALIASES
from tiledialect.ir.names import keep_name
from tiledialect.ir.signature import argument_names, result_names

MOVABLE = (gpu.AllocOp, gpu.DeallocOp, arith.ConstantOp, *ALIASES)
"""Ops that may stand between two launches."""


def is_lowered(function: func.FuncOp) -> bool:
    """Whether a function takes or gives memrefs: it launches kernels that are there already."""
    types = function.function_type
    kinds = MemRefType | UnrankedMemRefType
    return any(isinstance(t, kinds) for t in (*types.inputs, *types.outputs))


def needs_tensors(name: str, what: str) -> TileError:
    """The error that a host function called ``name`` has no such thing."""
    return TileError(f"{name} is of memrefs and kernels: {what} needs a function of tensors")


def declaration(function: func.FuncOp) -> func.FuncOp:
    """A host function with tensors in the place of its memrefs, and of its body their types.

    Raises:
        TileError: an argument or a result is no array that a user can have.
    """
    types = function.function_type
    inputs = _tensors(function, argument_names(function), types.inputs.data, function.arg_attrs)
    outputs = _tensors(function, result_names(function), types.outputs.data, function.res_attrs)
    return _header(function, inputs, outputs)


def _header(
    function: func.FuncOp, inputs: Sequence[Attribute], outputs: Sequence[Attribute]
) -> func.FuncOp:
    """A function of given types that has of the body only what it returns."""
    body = function.body.block
    block = Block(arg_types=inputs)
    results = UnrealizedConversionCastOp.get([], outputs)
    assert body.last_op is not None
    values = (*block.args, *results.results)
    for new, old in zip(values, (*body.args, *body.last_op.operands), strict=True):
        keep_name(new, old)
    block.add_ops([results, func.ReturnOp(*results.results)])
    header = func.FuncOp(function.sym_name.data, (inputs, outputs), Region(block))
    header.arg_attrs, header.res_attrs = function.arg_attrs, function.res_attrs
    return header


def _tensors(
    function: func.FuncOp,
    names: Sequence[str],
    types: Sequence[Attribute],
    attributes: ArrayAttr[DictionaryAttr] | None,
) -> list[TensorType[Attribute]]:
    found: list[TensorType[Attribute]] = []
    for k, (name, t) in enumerate(zip(names, types, strict=True)):
        what = f"{name} of {function.sym_name.data}"
        if not isinstance(t, MemRefType):
            raise TileError.at(function, f"{what} is declared as {t}, not as a ranked memref")
        said = attributes.data[k].data.get(ELEMENT_TYPE) if attributes is not None else None
        element_type = t.element_type if said is None else said
        if element_type not in et.CONCRETE.values():
            raise TileError.at(function, f"{what} is of {element_type}, no element type of arrays")
        if not isinstance(t.layout, NoneAttr) and not (is_dense(t) and t.get_offset() == 0):
            raise TileError.at(function, f"{what} is a {t}, not an array without gaps")
        if et.storage_type(element_type) != t.element_type:
            raise TileError.at(function, f"{what} is said to be of {element_type}, but is a {t}")
        found.append(TensorType(element_type, t.get_shape()))
    return found


def is_dense(t: MemRefType[Attribute]) -> bool:
    """Whether elements follow one another without gaps, the last axis first."""
    shape, strides = t.get_shape(), t.get_strides()
    dense = [prod(shape[k + 1 :]) for k in range(len(shape))]
    return strides is not None and (0 in shape or list(strides) == dense)


def reach(t: MemRefType[Attribute]) -> tuple[int, int] | None:
    """The begin and end of a memref of static shape in its buffer, in elements, if known."""
    strides, offset = t.get_strides(), t.get_offset()
    if strides is None or None in strides or offset is None:
        return None
    if 0 in t.get_shape():
        return offset, offset
    steps = ((n - 1) * s for n, s in zip(t.get_shape(), strides, strict=True) if s is not None)
    return offset, offset + 1 + sum(steps)


Kernels: TypeAlias = Mapping[tuple[str, str], gpu.FuncOp]
"""Kernels by the names of their module and their own."""


def kernel_of(op: gpu.LaunchFuncOp, kernels: Kernels) -> gpu.FuncOp:
    """The kernel that is launched; a TileError if there is none."""
    path = tuple(s.data for s in (op.kernel.root_reference, *op.kernel.nested_references))
    if len(path) != 2 or (found := kernels.get(path)) is None:
        raise TileError.at(op, f"there is no kernel @{'::@'.join(path)}")
    if found.kernel is None:
        raise TileError.at(op, f"{op.kernel} is launched, but has no attribute `kernel`")
    return found


def launch_runs(
    host: func.FuncOp, kernels: Mapping[SymbolRefAttr, gpu.FuncOp]
) -> list[list[tuple[gpu.LaunchFuncOp, gpu.FuncOp]]]:
    """Launches of a host function, with their kernels, that have no other effects between them.

    Ops that say by tokens what they wait for stay where they are.
    """
    found: list[list[tuple[gpu.LaunchFuncOp, gpu.FuncOp]]] = [[]]
    for op in host.body.block.ops:
        if any(isinstance(v.type, gpu.AsyncTokenType) for v in (*op.operands, *op.results)):
            found.append([])
        elif isinstance(op, gpu.LaunchFuncOp) and op.kernel in kernels:
            found[-1].append((op, kernels[op.kernel]))
        elif not isinstance(op, MOVABLE):
            found.append([])
    return [run for run in found if run]


def check_launch(
    op: gpu.LaunchFuncOp, kernel: gpu.FuncOp, grid: Sequence[int], block: Sequence[int]
) -> None:
    """Refuse arguments of other types than a kernel takes, and sizes that it is not for."""
    wanted, given = [*kernel.body.block.arg_types], [v.type for v in op.kernelOperands]
    if wanted != given:
        texts = (", ".join(map(str, types)) for types in (wanted, given))
        raise TileError.at(op, "{} takes ({}), not ({})".format(op.kernel, *texts))
    if min(*grid, *block) < 0:
        raise TileError.at(op, f"{op.kernel} is launched with a size below 0")
    sizes = (
        (kernel.known_grid_size, grid, "work-groups"),
        (kernel.known_block_size, block, "work-items"),
    )
    for known, found, what in sizes:
        # Axes that are left out have one.
        said = [*known.get_values(), 1, 1][: len(found)] if known is not None else [*found]
        if said != [*found]:
            texts = (" x ".join(map(str, numbers)) for numbers in (said, found))
            raise TileError.at(
                op, f"{op.kernel} is for {next(texts)} {what}, not for {next(texts)}"
            )
