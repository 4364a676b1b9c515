"""Products of three factors that are computed in two steps, on every device."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tiledialect as td

PROGRAM = """function ({header}) -> (O) {{ O[{output}] = +({product}); }}"""
CASES = {
    "bilinear": ("A[I, K], W[K, L], B[J, L]", "i, j: I, J", "A[i, k] * W[k, l] * B[j, l]"),
    "rows": ("A[N, K], W[K, L], B[N, L]", "n: N", "A[n, k] * W[k, l] * B[n, l]"),
    "diagonal": ("A[I, K], W[K, K], B[J, K]", "j, i: J, I", "A[i, k] * W[l, l] * B[j, k]"),
    "unfolded": ("X[I, J, K], B[J, R], C[K, R]", "i, r: I, R", "X[i, j, k] * B[j, r] * C[k, r]"),
}
SIZES = {"I": 96, "J": 64, "K": 80, "L": 72, "N": 400, "R": 32}


@pytest.mark.every_device
@pytest.mark.parametrize(
    ("case", "dtype"), [*((case, np.float32) for case in CASES), ("rows", np.int32)]
)
def test_products_of_three(device: td.Device, case: str, dtype: type) -> None:
    if device.type == "simulator":
        pytest.skip("nothing is chosen for simulators")
    header, output, product = CASES[case]
    function = td.compile(
        PROGRAM.format(header=header, output=output, product=product), device=device
    )
    random = np.random.default_rng(0)
    shapes = [
        tuple(SIZES[name] for name in text.split(", ")) for text in re.findall(r"\[(.*?)\]", header)
    ]
    inputs = [random.integers(-5, 6, shape).astype(dtype) for shape in shapes]
    terms = [text.replace(", ", "") for text in re.findall(r"\[(.*?)\]", product)]
    result = output.split(":")[0].replace(", ", "")
    expected = np.einsum(f"{','.join(terms)}->{result}", *inputs, optimize=True)
    np.testing.assert_array_equal(function(*inputs), expected)
    if case == "bilinear":
        assert "O_factor" in function.ir("tile-split-product")
