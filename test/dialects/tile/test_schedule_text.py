"""Schedules as text: read from functions, given to them, in files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect.dialects.tile.schedule_text import (
    name_kernels,
    named_kernels,
    operand_names,
    read_schedules,
)
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.structural_hash import structural_hash

PRODUCT = """
function product(A[M, L], B[L, N]) -> (D) {
  C[i, j: M, N] = +(A[i, k] * B[k, j]);
  D = C * 2;
}
"""
TILED = (
    "<group.y 16*i : 4, group.x 16*j : 2, local.x 4*i : 4, local.x 4*j : 4, serial 16*k : 3, "
    "serial k : 16, unroll i : 4, vector j : 4> "
    "stage <A local at 16*k copies 2 pad 4 order (1, 0), B local at 16*k async copies 3 rotate 4 vector 4>"
)
RNG = np.random.default_rng(0)
A, B = (RNG.integers(-4, 5, shape).astype(np.float32) for shape in ((64, 48), (48, 32)))


def test_a_schedule_is_what_was_given(device: td.Device) -> None:
    f = td.compile(PRODUCT, device=device).with_schedules({"D": TILED})
    assert f.schedules(A, B) == {"D": TILED}
    assert "__local float A_tile" in f.opencl(A, B)
    # Small integers are summed exactly.
    np.testing.assert_array_equal(f(A, B), 2 * (A @ B))


STAGED = {
    "D_B": "<group.x d1 : 32, serial d0 : 48>",
    "D": TILED.replace("stage <", "stage <B global order (1, 0), "),
}


def test_a_copy_in_global_memory_has_a_schedule_of_its_own(device: td.Device) -> None:
    f = td.compile(PRODUCT, device=device)
    own = f.with_schedules({"D": STAGED["D"]})
    read = own.schedules(A, B)
    assert (list(read), read["D"]) == (["D_B", "D"], STAGED["D"])
    assert f.with_schedules(read).schedules(A, B) == read
    given = f.with_schedules(STAGED)
    assert given.schedules(A, B) == STAGED
    for g in (own, given):
        np.testing.assert_array_equal(g(A, B), 2 * (A @ B))


@pytest.mark.parametrize(
    ("product", "second"), [("A[i, k] * B[k, j]", (29, 13)), ("A[i, k] * B[j, k]", (13, 29))]
)
def test_rows_of_copies_may_be_padded(
    product: str, second: tuple[int, int], device: td.Device
) -> None:
    """Also where both factors are, and tiles reach beyond the sum."""
    sizes = "B[L, N]" if second[0] == 29 else "B[N, L]"
    source = f"function (A[M, L], {sizes}) -> (C) {{ C[i, j: M, N] = +({product}); }}"
    text = (
        "<group.x 8*i : 2, local.x i : 8, serial 8*k : 5, serial 4*j : 4, unroll k : 8, vector j : 4> "
        "stage <A global order (0, 1) pad 7, B global order (0, 1) pad 3, A local at 8*k vector 4>"
    )
    a = np.arange(11 * 29, dtype=np.float32).reshape(11, 29) % 7 - 3
    b = np.arange(13 * 29, dtype=np.float32).reshape(second) % 5 - 2
    f = td.compile(source, device=device).with_schedules({"C": text})
    assert f.schedules(a, b)["C"] == text
    np.testing.assert_array_equal(f(a, b), f.reference(a, b))


def test_names_that_are_taken() -> None:
    taken = "function (A[M, L], B[L, N]) -> (D_B, D) { D_B = A + 1; D[i, j: M, N] = +(A[i, k] * B[k, j]); }"
    g = td.compile(taken).with_schedules({"D": STAGED["D"]})
    assert list(g.schedules(A, B)) == ["D_B", "D_B_copy", "D"]
    np.testing.assert_array_equal(g(A, B)[0], A + 1)


def test_the_chosen_schedule_can_be_given_back(device: td.Device) -> None:
    f = td.compile(PRODUCT, device=device)
    chosen = f.schedules(A, B)
    assert list(chosen) == ["D"]
    assert f.with_schedules(chosen).opencl(A, B) == f.opencl(A, B)


def test_values_without_names_are_called_after_what_they_are_computed_of() -> None:
    ops = """
      func.func @f(%A: tensor<4x8xf32>, %B: tensor<8x4xf32>) -> tensor<4x4xf32> {
        %K = tile.kernel(%0 = %A : tensor<4x8xf32>, %y = %B : tensor<8x4xf32>) -> tensor<4x4xf32> {
          %1 = tile.exp %y : (tensor<8x4xf32>) -> tensor<8x4xf32>
          %2 = tile.contraction add(%0[i, k] mul %1[k, j]) -> [i, j]
             : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
          tile.yield %2 : tensor<4x4xf32>
        }
        func.return %K : tensor<4x4xf32>
      }"""
    (kernel,) = named_kernels(parse_mlir(ops, "f")).values()
    assert set(operand_names(kernel)) >= {"A", "of_y"}


def test_symbols_name_kernels() -> None:
    """Names of results count only without symbols, and then leave the symbols of others alone."""
    t = "tensor<4xf32>"
    body = "\n".join(
        f"%{name} = tile.kernel{symbol}(%x{name} = %X : {t}) -> {t} {{ tile.yield %x{name} : {t} }}"
        for name, symbol in (("A", ""), ("B", " @A"), ("C", " @E"))
    )
    module = parse_mlir(f"func.func @f(%X: {t}) {{ {body} func.return }}", "f")
    assert list(named_kernels(module)) == ["A_1", "A", "E"]
    # SSA names are for printers.
    for kernel in named_kernels(module).values():
        kernel.outputs[0].name_hint = "F"
    name_kernels(module)
    assert list(named_kernels(module)) == ["A_1", "A", "E"]
    # Equal kernels of different names share their code and their schedule.
    assert len({structural_hash(kernel) for kernel in named_kernels(module).values()}) == 1


def test_a_kernel_without_a_name_can_be_given_back_too(device: td.Device) -> None:
    """The gradient of a product over windows begins with such ones."""
    text = "function (X[N]) -> (O) { O[x: N - 2] = *(X[x + k]), k < 3; }"
    function = td.compile(text, device=device).gradient()
    x = np.float32([1, 3, 2, 5, 4, 4, 1]), np.ones(5, np.float32)
    schedule = "<serial x : 5, serial k : 3>"
    (name, *_) = function.schedules(*x)
    assert name == "of_X"
    given = function.with_schedules({name: schedule})
    assert given.schedules(*x)[name] == schedule
    assert np.array_equal(given(*x), function(*x))


def test_schedules_stay_with_a_pickled_function() -> None:
    f = td.compile(PRODUCT).with_schedules({"D": TILED})
    assert pickle.loads(pickle.dumps(f)).schedules(A, B) == {"D": TILED}


def test_schedules_as_the_ir_prints_them() -> None:
    f = td.compile(PRODUCT)
    for printed in ("%A local", "%A_1 local"):
        given = TILED.replace("A local", printed)
        assert f.with_schedules({"D": given}).schedules(A, B) == {"D": TILED}
    with pytest.raises(td.TileError, match="Q is none of A, B"):
        f.with_schedules({"D": TILED.replace("A local", "%Q local")})(A, B)


def test_a_file_of_schedules(tmp_path: Path) -> None:
    path = tmp_path / "product.schedules"
    tiled = TILED.replace("stage", "// tiles\n  stage")
    path.write_text(f"// for small products\nD: {tiled}\n")
    assert td.compile(PRODUCT).with_schedules(path).schedules(A, B) == {"D": TILED}


@pytest.mark.parametrize(
    ("kernel", "text", "message"),
    [
        ("X", "<i : 1>", "there is no kernel X to schedule; there is D"),
        ("D", "<foo i : 1>", "expected a role (group, local, serial, unroll, vector), got foo"),
        ("D", "<serial i : 3>", "the loops over i reach 3 of its 64 values"),
        ("D", TILED.replace("A local", "Q local"), "Q is none of A, B"),
        (
            "D",
            TILED.replace("at 16*k copies", "at 8*k copies"),
            "must be at a loop inside a work-item",
        ),
        ("D", TILED.replace("(1, 0)", "(1, 2)"), "must order the axes 0 to 1"),
        ("D", TILED.replace("<A", "<A global order (0, 0), A"), "must order the axes 0 to 1"),
        (
            "D_B",
            STAGED["D_B"],
            "there is no kernel D_B to schedule; there is D, whose schedule asks for a copy of B, D_B, by 'stage <B global …>'",
        ),
        ("D", TILED + " hello", "expected the end of the schedule"),
        ("D", TILED + " hello", "at 'hello'"),
        ("D", TILED.replace("A local", "A near"), "expected local, private or global, at 'near"),
        (
            "D",
            TILED.replace("16*k copies 2", "16*k copies 3"),
            "the stage 'A local at 16*k copies 3 pad 4",
        ),
        ("D", "<unroll i : 64, unroll j : 512>", "(unroll, vector) have 32768 steps together"),
        ("D", "<group i : 64>", "expected group.x, group.y, group.z, got group"),
        ("D", "<serial i", "':', after '<serial i'"),
        ("D", "hello", "the schedule of 'D' does not begin with <: 'hello'"),
        ("D", "", "the schedule of 'D' does not begin with <"),
        ("D", "<>\nE: <>", "is not the schedule of one kernel, 'D'"),
    ],
)
def test_what_is_wrong_is_said(kernel: str, text: str, message: str) -> None:
    with pytest.raises(td.TileError) as caught:
        td.compile(PRODUCT).with_schedules({kernel: text})(A, B)
    assert message in str(caught.value)


def test_a_copy_is_not_copied() -> None:
    again = "<serial d0 : 48, serial d1 : 32> stage <B global order (1, 0)>"
    with pytest.raises(td.TileError, match="copies the operand of a copy"):
        td.compile(PRODUCT).with_schedules({"D": STAGED["D"], "D_B": again})(A, B)


@pytest.mark.parametrize("given", [None, "D: <>", [TILED]])
def test_schedules_are_given_by_name(given: Any) -> None:
    with pytest.raises(td.TileError, match="schedules are a dict, by names of kernels, or a Path"):
        td.compile(PRODUCT).with_schedules(given)


def test_a_kernel_has_one_schedule() -> None:
    with pytest.raises(td.TileError, match="D is scheduled twice"):
        read_schedules(f"D: {TILED}\nD: {TILED}")


@pytest.mark.parametrize("text", ["", "\n", "// No kernel has a schedule.\n"])
def test_a_file_may_hold_no_schedule(text: str) -> None:
    assert read_schedules(text) == {}


@pytest.mark.parametrize("name", ["D", "D'", "D.0", "an operand", "block1-0_Conv_output.0"])
def test_names_of_kernels_are_those_of_models(name: str) -> None:
    """Names of nodes of ONNX have hyphens."""
    assert read_schedules(f"{name}: {TILED}") == {name: TILED}
