"""Element types: as PlaidML's and NumPy's where those agree, and the rules of docs/language.md."""

from __future__ import annotations

import numpy as np
import pytest
from running import reference

from tiledialect.dialects.tile.element_types import promote
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES, NUMPY_TYPES

NAMES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()
ALL = (*NAMES, "bfloat16")
SHORT = dict(zip("b i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8".split(), NAMES, strict=True))
PLAIDML = """
    b  b  b  i2 u2 i4 u4 i8 u8 f2 f4 f8
    i1 i1 i1 i2 u2 i4 u4 i8 u8 f2 f4 f8
    u1 u1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8
    i2 i2 i2 i2 i2 i4 u4 i8 u8 f2 f4 f8
    u2 u2 u2 u2 u2 i4 u4 i8 u8 f2 f4 f8
    i4 i4 i4 i4 i4 i4 i4 i8 u8 f2 f4 f8
    u4 u4 u4 u4 u4 u4 u4 i8 u8 f2 f4 f8
    i8 i8 i8 i8 i8 i8 i8 i8 i8 f2 f4 f8
    u8 u8 u8 u8 u8 u8 u8 u8 u8 f2 f4 f8
    f2 f2 f2 f2 f2 f2 f2 f2 f2 f2 f4 f8
    f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f8
    f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8
"""
"""The type of `A + B` in PlaidML 0.7; the first operand's type down, the second's across."""


def test_promotion_is_what_plaidml_and_numpy_agree_on():
    agreed = 0
    for a, row in zip(NAMES, PLAIDML.split("\n")[1:], strict=False):
        for b, short in zip(NAMES, row.split(), strict=True):
            ours = NUMPY_TYPES[promote(ELEMENT_TYPES[np.dtype(a)], ELEMENT_TYPES[np.dtype(b)])]
            numpy, plaidml = np.promote_types(a, b), np.dtype(SHORT[short])
            if numpy == plaidml:
                agreed += 1
                assert ours == numpy, (a, b)
            elif plaidml.kind == "f" or "uint64" not in (a, b):
                # A real number keeps its width as in PlaidML; integers meet as in NumPy.
                assert ours == (plaidml if plaidml.kind == "f" else numpy), (a, b)
            else:
                assert ours == np.int64, (a, b)
    assert agreed == 102


@pytest.mark.parametrize(
    ("a", "wanted"),
    [
        *((name, "bfloat16") for name in NAMES[:9]),
        *((name, "float32") for name in ("float16", "float32")),
        *(("bfloat16", "bfloat16"), ("float64", "float64")),
    ],
)
def test_bfloat16_keeps_its_width_beside_integers_alone(a: str, wanted: str):
    types = (ELEMENT_TYPES[np.dtype(name)] for name in (a, "bfloat16"))
    assert NUMPY_TYPES[promote(*types)] == wanted


@pytest.mark.parametrize(
    ("expression", "rule"),
    [
        ("A + 1", {"bool": "int32"}),
        ("A * N", {"bool": "int32"}),
        ("A + 1.5", {**dict.fromkeys(NAMES[:9], "float32")}),
        ("A < 1", dict.fromkeys(ALL, "bool")),
        ("A == A", dict.fromkeys(ALL, "bool")),
        ("-A", {"bool": "int32"}),
        ("A + A", {"bool": "int32"}),
        ("A / 2", {"bool": "int32"}),
        ("max(A, A)", {}),
        ("ident(A)", {}),
        ("exp(A)", dict.fromkeys(NAMES[:9], "float32")),
        ("round(A)", dict.fromkeys(NAMES[:9], "float32")),
        ("sigmoid(A)", dict.fromkeys(NAMES[:9], "float32")),
        ("relu(A)", {"bool": "int32"}),
        ("A ? 1 : 0", dict.fromkeys(ALL, "int32")),
        ("A ? 1.0 : 0", {**dict.fromkeys(ALL, "float32"), "float64": "float64"}),
        ("A ? A : 1", {"bool": "int32"}),
        ("index(A, 0)", dict.fromkeys(ALL, "int32")),
        ("shape(A)", dict.fromkeys(ALL, "int32")),
        ("as_float(A, 16)", dict.fromkeys(ALL, "float16")),
        ("as_bfloat(A, 16)", dict.fromkeys(ALL, "bfloat16")),
        ("as_int(A, 64)", dict.fromkeys(ALL, "int64")),
        ("as_uint(A, 8)", dict.fromkeys(ALL, "uint8")),
        ("as_bool(A)", dict.fromkeys(ALL, "bool")),
        ("reshape(A, 1, N)", {}),
        ("gather(A, as_int(A, 32))", {}),
    ],
)
@pytest.mark.parametrize("dtype", ALL)
def test_types_of_expressions(expression: str, rule: dict[str, str], dtype: str):
    (result,) = reference(
        f"function (A[N]) -> (O) {{ O = {expression}; }}", [np.array([0, 1, 1], dtype)]
    )
    assert result.dtype == rule.get(dtype, dtype)


@pytest.mark.parametrize(
    ("contraction", "rule"),
    [
        ("+(A[i])", {"bool": "int32"}),
        ("*(A[i])", {"bool": "int32"}),
        (">(A[i])", {}),
        ("<(A[i])", {}),
        ("=(A[i])", {}),
        ("+(A[i] == A[j])", dict.fromkeys(NAMES, "int32")),
        (">(A[i] == A[j])", dict.fromkeys(NAMES, "bool")),
        ("+(A[i] == A[j] ? A[j])", {"bool": "int32"}),
        (">(A[i] == A[j] ? F[j])", dict.fromkeys(NAMES, "float32")),
        (">(F[i] == F[j] ? A[j])", {}),
        ("+(A[i] * F[j])", {"float64": "float64", **dict.fromkeys(NAMES[:-1], "float32")}),
        ("=(A[i]) default F", {"float64": "float64", **dict.fromkeys(NAMES[:-1], "float32")}),
    ],
)
@pytest.mark.parametrize("dtype", NAMES)
def test_types_of_contractions(contraction: str, rule: dict[str, str], dtype: str):
    (result,) = reference(
        f"function (A[N], F[N]) -> (O) {{ O[i: N] = {contraction}; }}",
        [np.array([0, 1, 1], dtype), np.ones(3, np.float32)],
    )
    assert result.dtype == rule.get(dtype, dtype)


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("1", "int32"),
        ("N", "int32"),
        ("N / 2", "int32"),
        ("N < 2", "int32"),
        ("1.5", "float32"),
        ("N * 0.5", "float32"),
        ("exp(1)", "float32"),
        ("N ? 1.0 : 2", "float32"),
        ("0.5 < 1.0", "bool"),
    ],
)
@pytest.mark.parametrize("beside", ["int64", "float16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
def test_types_of_numbers_by_themselves(expression: str, dtype: str, beside: str):
    source = f"function (A[N]) -> (O) {{ O = {expression}; }}"
    (result,) = reference(source, [np.zeros(3, beside)])
    expected = "float64" if (dtype, beside) == ("float32", "float64") else dtype
    assert result.dtype == expected and result.shape == ()
