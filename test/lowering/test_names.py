"""Names of functions and tensors that mean something in OpenCL C or Python."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from running import run

import tiledialect as td
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.lowering.names import LONGEST

A = np.array([1, 2], np.float32)


@pytest.mark.parametrize(
    "name", ["get_edges", "as_grey", "convert_rgb", "half", "float4", "lambda", "f'", "main"]
)
def test_functions_may_have_any_name(name: str, device: Any):
    one, two = td.compile(
        f"function {name}(A) -> (B, C) {{ B = A + 1; C = A * 2; }}", device=device
    )(A)
    np.testing.assert_array_equal([one, two], [A + 1, A * 2])


NAMES = """
    CLK_LOCAL_MEM_FENCE CLK_GLOBAL_MEM_FENCE CLK_NORMALIZED_COORDS_TRUE INFINITY NAN NULL TRUE
    FP_ILOGB0 FP_FAST_FMA M_PI FLT_MAX CHAR_BIT UINT_MAX MAXFLOAT HUGE_VALF INT_MAX
    FENV_ACCESS ATOMIC_FLAG_INIT EOF
""".split()


@pytest.mark.parametrize("as_input", [True, False])
def test_tensors_may_have_any_name(as_input: bool, device: Any):
    if as_input:
        header, body = ", ".join(NAMES), f"O = {' + '.join(NAMES)};"
        inputs = [A] * len(NAMES)
    else:
        header, inputs = "A", [A]
        body = "".join(f"{name}[i: 2] = +(A[i]); " for name in NAMES) + f"O = {' + '.join(NAMES)};"
    (result,) = run(f"function ({header}) -> (O) {{ {body} }}", inputs, device)
    np.testing.assert_array_equal(result, A * len(NAMES))


@pytest.mark.parametrize("name", ["T'", "T_1", "a b", "1", ""])
def test_copies_that_are_returned_may_have_any_name(name: str, device: Any):
    """A function of a module, too, whose names are not those of Tile."""
    text = f"""
      func.func @f(%A: tensor<2xf32>) -> (tensor<2xf32> {{tile.name = "{name}"}}, tensor<2xf32>) {{
        func.return %A, %A : tensor<2xf32>, tensor<2xf32>
      }}
    """
    f = td.compile(parse_mlir(text, "f"), device=device)
    assert f.outputs[0] == name
    np.testing.assert_array_equal(f(A), [A, A])


@pytest.mark.parametrize("letter", ["L", "é"])
def test_long_names_are_cut_off(letter: str, device: Any):
    """Names of functions and tensors, however alike: each kernel has a name of its own."""
    f, x, o, p = (letter * 300 + end for end in ("f", "x", "o", "p"))
    text = f"""
      func.func @"{f}"(%A: tensor<3x2xf32> {{tile.name = "{x}"}})
          -> (tensor<2xf32> {{tile.name = "{o}"}}, tensor<3xf32> {{tile.name = "{p}"}}) {{
        %O = tile.contraction add(%A[i, j]) -> [j] : (tensor<3x2xf32>) -> tensor<2xf32>
        %P = tile.contraction max(%A[i, j]) -> [i] : (tensor<3x2xf32>) -> tensor<3xf32>
        func.return %O, %P : tensor<2xf32>, tensor<3xf32>
      }}
    """
    function = td.compile(parse_mlir(text, "long names"), device=device)
    assert function.outputs == (o, p)
    a = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    one, two = function(a)
    np.testing.assert_array_equal(one, a.sum(0))
    np.testing.assert_array_equal(two, a.max(1))
    assert max(map(len, re.findall(r"\w+", function.opencl(a)))) < 2 * LONGEST
