"""Programs of linalg, tensor, arith and math against NumPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from generic_cases import GENERICS
from linalg_cases import CONVOLUTIONS, OTHERS, PRODUCTS, Case, random_array
from tensor_cases import TENSORS
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect.interpreters.tile import interpret
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.signature import find_function
from tiledialect.ir.verification import verify
from tiledialect.passes.convert.convert_linalg_to_tile import ConvertLinalgToTilePass

CASES = (*PRODUCTS, *CONVOLUTIONS, *OTHERS, *GENERICS, *TENSORS)


@cache
def converted() -> ModuleOp:
    """All cases in one module."""
    module = parse_mlir("".join(case.text for case in CASES), "cases.mlir")
    verify(module)
    ConvertLinalgToTilePass().apply(Context(), module)
    verify(module)
    return module


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case):
    module = converted()
    rng = np.random.default_rng(1)
    types = find_function(module, case.name).function_type.inputs
    arrays = [random_array(t, rng) for t in types]
    (result,) = interpret(module, case.name, arrays)
    wanted = case.meaning(*arrays)
    assert result.shape == wanted.shape
    if result.dtype.kind in "bi":
        np.testing.assert_array_equal(result, wanted)
    else:
        # Sums of up to 60 terms of f32, in another order; functions that are made of others.
        np.testing.assert_allclose(result, wanted, rtol=3e-5, atol=3e-5)


def test_a_product_has_the_kernel_of_the_tile_text():
    text = "function layer(X[M, K], W[K, N], B[N]) -> (Y) {\n"
    text += "S[d0, d1: M, N] = +(X[d0, d2] * W[d2, d1]); Y = max(S + B, 0); }"
    types = "4x8xf32", "8x3xf32", "3xf32"
    given = td.compile("examples/linalg_layer.mlir")
    assert given.opencl(*types) == td.compile(text).opencl(*types)
