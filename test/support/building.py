"""Making functions of tile ops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.ir.names import give_name


def type_of(array: npt.NDArray[np.generic]) -> TensorType[Attribute]:
    """The tensor type of an array."""
    return TensorType(ELEMENT_TYPES[array.dtype], array.shape)


def function_module(block: Block, results: Sequence[SSAValue]) -> ModuleOp:
    """A module with one function @f of this body, from A0, A1, … to O0, O1, …"""
    for k, argument in enumerate(block.args):
        give_name(argument, f"A{k}")
    block.add_op(ReturnOp(*results))
    function = FuncOp(
        "f",
        ([a.type for a in block.args], [v.type for v in results]),
        Region(block),
        arg_attrs=_names("A", len(block.args)),
        res_attrs=_names("O", len(results)),
    )
    return ModuleOp([function])


def _names(letter: str, count: int) -> ArrayAttr[DictionaryAttr]:
    names = [StringAttr(f"{letter}{k}") for k in range(count)]
    return ArrayAttr([DictionaryAttr({"tile.name": name}) for name in names])
