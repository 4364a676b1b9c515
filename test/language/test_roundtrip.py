"""Text to IR to text to IR is the identity on IR."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from programs import Program, programs
from xdsl.dialects.builtin import ModuleOp, TensorType

from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.errors import TileError
from tiledialect.ir.signature import argument_names, find_function, result_names
from tiledialect.language.printer import print_tile
from tiledialect.language.to_ir import load
from tiledialect.passes.specialize.tile_specialize import specialize


def assert_same(a: ModuleOp, b: ModuleOp) -> None:
    """The same ops with the same names."""
    assert str(a) == str(b)
    assert a.is_structurally_equivalent(b)


def roundtrip(source: str) -> str:
    """The text of a program's IR, which reads back as the same IR."""
    module = load(source)
    module.verify()
    text = print_tile(module)
    assert_same(module, load(text))
    return text


def reads_back(source: str) -> None:
    """As `roundtrip`, but values that have no name may get one, as where calls are written out."""
    module = load(source)
    module.verify()
    text = print_tile(module)
    again = load(text)
    assert module.is_structurally_equivalent(again)
    assert print_tile(again) == text


def specialized(program: Program) -> ModuleOp:
    """The program's IR with the shapes and types that it comes with."""
    module = load(program.source)
    function = find_function(module)
    types = []
    for name in argument_names(function):
        shape, dtype = program.inputs[name]
        types.append(TensorType(ELEMENT_TYPES[np.dtype(dtype)], shape))
    specialize(function, types)
    return module


def says_the_same(program: Program) -> None:
    """Text and IR say the same, and what was printed once is printed again as it is."""
    text = roundtrip(program.source)
    assert roundtrip(text) == text


def prints_when_specialized(program: Program) -> None:
    """With its sizes known a program prints as one that has the same types."""
    try:
        module = specialized(program)
    except TileError as error:
        # Numbers may be none of the types that they turn out to take, as -1 beside u8.
        assert "does not fit" in str(error)
        return
    module.verify()
    function = find_function(module)
    shapes = [t.get_shape() for t in function.function_type.outputs]
    assert dict(zip(result_names(function), shapes, strict=True)) == program.outputs
    again = specialized(Program(print_tile(module), program.inputs, program.outputs))
    assert find_function(again).function_type == function.function_type


@settings(max_examples=20, deadline=None)
@given(programs())
def test_text_and_ir_say_the_same(program: Program):
    says_the_same(program)


@settings(max_examples=15, deadline=None)
@given(programs())
def test_specialized_functions_print(program: Program):
    prints_when_specialized(program)
