"""Functions as data for the disk: names and types of a call, and a text that few calls read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    ModuleOp,
    StringAttr,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Block, Region

from tiledialect.api.front_door import set_precision
from tiledialect.api.loading import Source
from tiledialect.dialects.discardable import PRECISION
from tiledialect.ir.mlir_text import print_module
from tiledialect.ir.names import name_values
from tiledialect.ir.signature import (
    argument_names,
    find_function,
    named_attributes,
    parse_type,
    result_names,
    type_text,
    updated_names,
)
from tiledialect.ir.verification import verified


@dataclass(frozen=True)
class KeptTensor:
    """Input or output of a function."""

    name: str
    type: str
    updated: str | None = None
    """Name of the input that an output updates."""


@dataclass(frozen=True)
class KeptFunction:
    """A function of tensors of known types."""

    name: str
    inputs: tuple[KeptTensor, ...]
    outputs: tuple[KeptTensor, ...]
    precision: str | None
    text: str
    """Text of its module, with the locations of ops."""

    @classmethod
    def of(cls, module: ModuleOp) -> KeptFunction:
        """The only function of a module."""
        function = find_function(module)
        types = function.function_type
        names = argument_names(function), result_names(function)
        inputs = zip(names[0], map(type_text, types.inputs), strict=True)
        outputs = map(type_text, types.outputs)
        given = zip(names[1], outputs, updated_names(function), strict=True)
        precision = module.attributes.get(PRECISION)
        return cls(
            function.sym_name.data,
            tuple(KeptTensor(*own) for own in inputs),
            tuple(KeptTensor(*own) for own in given),
            precision.data if isinstance(precision, StringAttr) else None,
            print_module(module, locations=True),
        )

    def source(self, module: ModuleOp | None = None) -> Source:
        """The function as the source of a compiled one; its module, if it is at hand."""
        attributes = {} if self.precision is None else {PRECISION: StringAttr(self.precision)}
        header = ModuleOp([_header(self.name, self.inputs, self.outputs)], attributes)
        return Source(header, kept=self.text, read=module)


def checked(module: ModuleOp, precision: str | None) -> ModuleOp:
    """A module that a conversion has made, verified, with its values' names and a precision."""
    name_values(verified(module))
    if precision is not None:
        set_precision(module, precision)
    return module


def _header(name: str, inputs: Sequence[KeptTensor], outputs: Sequence[KeptTensor]) -> func.FuncOp:
    """A function without a body but for what it returns."""
    types = [parse_type(t.type) for t in inputs], [parse_type(t.type) for t in outputs]
    block = Block(arg_types=types[0])
    results = UnrealizedConversionCastOp.get([], types[1])
    block.add_ops([results, func.ReturnOp(*results.results)])
    header = func.FuncOp(name, types, Region(block))
    header.arg_attrs = ArrayAttr(named_attributes(t.name) for t in inputs)
    header.res_attrs = ArrayAttr(named_attributes(t.name, t.updated) for t in outputs)
    return header
