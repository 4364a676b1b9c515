"""The reference semantics against results known by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.tensor import Tensor
from xdsl.parser import Parser

from tiledialect.api.reference import run_function
from tiledialect.dialects.tile import Tile
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.errors import TileError
from tiledialect.interpreters import contraction, points

Array = npt.NDArray[Any]


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Arith, Tensor, Tile):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def type_of(array: Array) -> str:
    return "x".join([*map(str, array.shape), str(ELEMENT_TYPES[array.dtype])])


def run(op: str, result: str, *arrays: Array) -> Array:
    """The result, of type ``result``, of one op on %0, %1, …"""
    types = [f"tensor<{type_of(a)}>" for a in arrays]
    arguments = ", ".join(f"%{k} : {t}" for k, t in enumerate(types))
    (value,) = run_function(
        parse(
            f"""
            func.func @f({arguments}) -> tensor<{result}> {{
              %O = {op} : ({", ".join(types)}) -> tensor<{result}>
              func.return %O : tensor<{result}>
            }}"""
        ),
        "f",
        arrays,
    )
    assert type_of(value) == result
    return value


def f32(*values: Any) -> Array:
    return np.array(values, np.float32)


def i32(*values: Any) -> Array:
    return np.array(values, np.int32)


A = f32(1, -2, 3, -4)


@pytest.mark.parametrize(
    "aggregation, expected",
    [("add", [-1, -1]), ("mul", [-2, -12]), ("max", [1, 3]), ("min", [-2, -4])],
)
def test_aggregations(aggregation: str, expected: list[int]):
    op = f"tile.contraction {aggregation}(%0[2*i + j]) -> [i] where 0 <= j < 2"
    assert run(op, "2xf32", A).tolist() == expected


@pytest.mark.parametrize("aggregation", ["add", "mul", "max", "min", "assign"])
def test_unwritten_elements_are_zero_or_the_default(aggregation: str):
    op = f"tile.contraction {aggregation}(%0[i]) -> [2*i + 1]"
    assert run(op, "6xf32", A).tolist() == [0, 1, 0, -2, 0, 3]
    default = f32(10, 11, 12, 13, 14, 15)
    assert run(f"{op} default %1", "6xf32", A, default).tolist() == [10, 1, 12, -2, 14, 3]


OPERANDS = {"a": i32(1, 2, 3), "b": i32(-1, 1, 3), "c": i32(7, 7, 7)}


@pytest.mark.parametrize(
    "combined, operands, expected",
    [
        ("%0[i] add %1[i]", "ab", [0, 3, 6]),
        ("%0[i] mul %1[i]", "ab", [-1, 2, 9]),
        ("%0[i] add %1[i] add %2[i]", "abc", [7, 10, 13]),
        ("%0[i] mul %1[i] mul %2[i]", "abc", [-7, 14, 63]),
        ("%0[i] eq %1[i]", "ab", [0, 0, 1]),
        ("%0[i] eq %1[i] cond %2[i]", "abc", [0, 0, 7]),
        ("%0[i] mul %1[i] eq %2[i]", "bba", [1, 0, 0]),
        ("%0[i] add %1[i] eq %2[i]", "bba", [0, 1, 0]),
        ("%0[i] add %1[i] eq %2[i] cond %3[i]", "bbac", [0, 7, 0]),
        ("%0[i] mul %1[i] eq %2[i] cond %3[i]", "bbac", [7, 0, 0]),
        ("%0[i] mul %1[i] eq %2[i] cond %3[i] mul %4[i]", "bbacc", [49, 0, 0]),
    ],
)
def test_combinations(combined: str, operands: str, expected: list[int]):
    arrays = [OPERANDS[name] for name in operands]
    assert run(f"tile.contraction add({combined}) -> [i]", "3xi32", *arrays).tolist() == expected


def test_equality_counts_and_compares():
    a, b = i32(1, 2, 1), i32(1, 1, 3)
    counts = run("tile.contraction add(%0[i] eq %1[j]) -> [i]", "3xi32", a, b)
    assert counts.tolist() == [2, 0, 2]
    same = run("tile.contraction max(%0[i] eq %1[j]) -> [i]", "3xi1", a, b)
    assert same.tolist() == [True, False, True]


def test_equality_compares_in_the_common_type():
    # 2**24 + 1 is no float32, so the two meet there.
    large = i32(2**24 + 1)
    assert run("tile.contraction add(%0[i] eq %1[i]) -> [i]", "1xi32", large, f32(2**24)) == [1]


def test_constraints_and_negative_indices():
    ones = np.ones(4, np.float32)
    sums = run("tile.contraction add(%0[k]) -> [i] where 0 <= i - k < 4", "4xf32", ones)
    assert sums.tolist() == [1, 2, 3, 4]
    shifted = run("tile.contraction assign(%0[i - 2]) -> [i]", "5xf32", A)
    assert shifted.tolist() == [0, 0, 1, -2, 3]
    flipped = run("tile.contraction assign(%0[3 - i]) -> [i]", "4xf32", A)
    assert flipped.tolist() == [-4, 3, -2, 1]


def test_rational_coefficients_leave_out_fractions():
    op = "tile.contraction assign(%0[1/2*i]) -> [i]"
    assert run(op, "6xf32", A).tolist() == [1, 0, -2, 0, 3, 0]
    both = "tile.contraction add(%0[1/2*i + 1/3*j]) -> [i] where 0 <= j < 3"
    assert run(both, "4xf32", A).tolist() == [1, 0, -2, 0]


def test_convolution_with_stride_and_dilation():
    image, kernel = np.arange(9, dtype=np.float64), np.array([1.0, 10.0])
    op = "tile.contraction add(%0[3*x + 2*k] mul %1[k]) -> [x]"
    assert run(op, "3xf64", image, kernel).tolist() == [20, 53, 86]


def test_scalars_empty_axes_and_empty_domains():
    assert run("tile.contraction add(%0[i]) -> []", "f32", A) == -2
    assert run("tile.contraction max(%0[i]) -> []", "f32", f32()) == 0
    assert run("tile.contraction add(%0[i, j]) -> [i]", "0xf32", f32().reshape(0, 3)).size == 0
    assert run("tile.contraction max(%0[i + 9]) -> [i]", "2xf32", A).tolist() == [0, 0]
    spread = run("tile.contraction assign(%0[]) -> [i]", "3xf32", f32(5).reshape(()))
    assert spread.tolist() == [5, 5, 5]


def test_floats_are_rounded_once():
    half = np.full(4096, 1 / 256, np.float16)
    half[0] = 16
    assert run("tile.contraction add(%0[i]) -> []", "f16", half) == np.float16(16 + 4095 / 256)


def test_integers_wrap_and_bools_count():
    total = "tile.contraction add(%0[i]) -> []"
    assert run(total, "ui8", np.array([200, 100], np.uint8)) == 44
    assert run(total, "i32", np.ones(300, np.bool_)) == 300
    yes = np.ones(3, np.bool_)
    assert run("tile.contraction max(%0[i] add %1[i]) -> []", "i32", yes, yes) == 2


def test_nan_wins():
    values = f32(1, np.nan, 3)
    for aggregation in ("max", "min", "add"):
        assert np.isnan(run(f"tile.contraction {aggregation}(%0[i]) -> []", "f32", values))


def test_points_in_many_blocks_are_the_points(monkeypatch: pytest.MonkeyPatch):
    a, b = np.arange(15.0).reshape(3, 5), np.arange(20.0).reshape(5, 4)
    monkeypatch.setattr(contraction, "MATRIX_ELEMENTS", 3)
    product = run("tile.contraction add(%0[i, k] mul %1[k, j]) -> [i, j]", "3x4xf64", a, b)
    assert np.array_equal(product, a @ b)
    monkeypatch.setattr(contraction, "POINTS_AT_ONCE", 3)
    monkeypatch.setattr(points, "AXIS_POINTS", 3)
    monkeypatch.setattr(points, "MOST_PRODUCTS", 1)
    totals = run("tile.contraction add(%0[i - j, k]) -> [i] where 0 <= j < 3", "3xf64", a)
    assert np.array_equal(totals, a.cumsum(axis=0).sum(axis=1))


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "uint32", "int64", "uint64"])
def test_products_of_integer_matrices_wrap(name: str):
    limits, random = np.iinfo(name), np.random.default_rng(0)
    for low, high in ((limits.min, limits.max), (0, 20)):
        a, b = (random.integers(low, high, s, name, True) for s in ((5, 40), (40, 3)))
        t = ELEMENT_TYPES[np.dtype(name)]
        product = run("tile.contraction add(%0[i, k] mul %1[k, j]) -> [i, j]", f"5x3x{t}", a, b)
        assert np.array_equal(product, a @ b)


def test_infinite_times_zero():
    a, b = np.zeros((2, 40)), np.ones((40, 2))
    b[3, 0], b[4, 1] = np.inf, np.nan
    product = run("tile.contraction add(%0[i + 1, k] mul %1[k, j]) -> [i, j]", "2x2xf64", a, b)
    # Nothing lands on the last row, so that nothing is NaN there.
    assert np.isnan(product[0]).all() and not product[1].any()


def test_two_values_for_one_element():
    op = "tile.contraction assign(%0[i + j]) -> [i]"
    with pytest.raises(TileError, match=r"O\[\d\] is assigned twice: at i = .* and i = "):
        run(op, "4xf32", A)


def test_unbounded_index():
    with pytest.raises(TileError, match="nothing bounds the index j of O"):
        run("tile.contraction add(%0[i + j - k]) -> [i]", "4xf32", A)


# -- elementwise, the odd ones --------------------------------------------------------------


def test_elementwise_broadcasts_and_promotes():
    sums = run("tile.add %0, %1", "3x4xf32", A, i32([1], [2], [3]))
    assert np.array_equal(sums, A + np.array([[1], [2], [3]]))


def test_select_keeps_the_condition_to_itself():
    chosen = run("tile.select %0, %1, %2", "4xi32", f32(0.5, 0, np.nan, -0.0), i32(1), i32(2))
    assert chosen.tolist() == [1, 2, 1, 2]


def test_cast():
    assert run("tile.cast %0", "4xi32", f32(1.9, -1.9, 0.5, 3)).tolist() == [1, -1, 0, 3]
    assert run("tile.cast %0", "2xui8", i32(-1, 257)).tolist() == [255, 1]
    assert run("tile.cast %0", "3xi1", f32(0.3, 0, -1)).tolist() == [True, False, True]


def test_index():
    a = np.zeros((2, 3), np.float32)
    assert run("tile.index %0 axis 0", "2x3xi32", a).tolist() == [[0, 0, 0], [1, 1, 1]]
    assert run("tile.index %0 axis 1", "2x3xi32", a).tolist() == [[0, 1, 2], [0, 1, 2]]


# -- special -----------------------------------------------------------------------------------


def test_gather_clamps():
    table = np.arange(6, dtype=np.float32).reshape(3, 2)
    taken = run("tile.gather %0, %1", "2x2x2xf32", table, i32([0, 2], [-5, 9]))
    assert taken.tolist() == [[[0, 1], [4, 5]], [[0, 1], [4, 5]]]
    large = np.array([2**63 + 1], np.uint64)
    assert run("tile.gather %0, %1", "1x2xf32", table, large).tolist() == [[4, 5]]


def test_scatter_adds_and_leaves_out():
    updates = f32([1, 2], [3, 4], [5, 6], [7, 8])
    like = np.zeros((3, 1), np.int8)
    total = run("tile.scatter %0, %1, %2", "3x2xf32", updates, i32(1, 1, -1, 3), like)
    assert total.tolist() == [[0, 0], [4, 6], [0, 0]]


def test_reshape_and_shape():
    a = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert run("tile.shape %0", "2xi32", a).tolist() == [2, 3]
    module = parse(
        """
        func.func @f(%a : tensor<2x3xi16>) -> tensor<3x2xi16> {
          %O = tile.reshape %a to [] : tensor<2x3xi16> -> tensor<3x2xi16>
          func.return %O : tensor<3x2xi16>
        }"""
    )
    assert np.array_equal(run_function(module, None, [a])[0], a.reshape(3, 2))


# -- whole functions ------------------------------------------------------------------------------

POLYMORPHIC = """
    func.func @f(%I : tensor<?x!tile.any> {tile.name = "I"})
        -> (tensor<?x!tile.any>, tensor<i32>) {
      %axis = arith.constant 0 : index
      %N = tensor.dim %I, %axis : tensor<?x!tile.any>
      %two = arith.constant 2 : index
      %half = arith.divsi %N, %two : index
      %O = tile.contraction max(%I[2*i + j]) -> [i : %half] where 0 <= 2*j < %N
           : (tensor<?x!tile.any>) -> tensor<?x!tile.any>
      %n = tile.size %N : tensor<index>
      %P = tile.div %O, %n : (tensor<?x!tile.any>, tensor<index>) -> tensor<?x!tile.any>
      %i = tile.cast %n : (tensor<index>) -> tensor<i32>
      func.return %P, %i : tensor<?x!tile.any>, tensor<i32>
    }"""


def test_a_polymorphic_function_is_specialized_in_a_copy():
    module = parse(POLYMORPHIC)
    before = str(module)
    for dtype in (np.float32, np.int8):
        values, size = run_function(module, None, [np.array([1, 5, 50, 7, 99], dtype)])
        assert values.dtype == dtype and size == 5
        expected = [10, 99 / 5] if dtype == np.float32 else [10, 19]
        assert np.allclose(values, expected)
    assert str(module) == before


def test_a_kernel_is_what_its_body_is():
    module = parse(
        """
        func.func @f(%X : tensor<4xf32>) -> tensor<4xf32> {
          %O = tile.kernel(%x = %X : tensor<4xf32>) -> tensor<4xf32> {
            %e = tile.neg %x : (tensor<4xf32>) -> tensor<4xf32>
            tile.yield %e : tensor<4xf32>
          }
          func.return %O : tensor<4xf32>
        }"""
    )
    assert np.array_equal(run_function(module, "f", [A])[0], -A)


@pytest.mark.parametrize(
    "name, arrays, message",
    [
        ("g", [A], "no function g"),
        (None, [A, A], "2 were given"),
        (None, [A.astype(np.complex64)], "complex64"),
        (None, [A.reshape(2, 2)], "I has 1 dimension"),
    ],
)
def test_misuse(name: str | None, arrays: Sequence[Array], message: str):
    with pytest.raises(TileError, match=message):
        run_function(parse(POLYMORPHIC), name, arrays)
