"""Instructions in kernels: on devices, at each level by the reference semantics, and refused."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from building import type_of
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.dlti import TargetDeviceSpecAttr, TargetSystemSpecAttr

import tiledialect as td
from tiledialect.index.integer.expressions import floordiv, mod
from tiledialect.interpreters.host import run_host
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass
from tiledialect.schedule.instructions import ELEMENT, Fragment, Instruction, register
from tiledialect.schedule.search import tensor_cores

Array = npt.NDArray[Any]
PRODUCT = "function product(A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"

# Two rows times four columns, in plain OpenCL C: every device has them.
ROWS = register(
    Instruction(
        "rows_2x4",
        (("m", 2), ("n", 4), ("k", 1)),
        Fragment(("m", "n"), "f32", 8, (floordiv(ELEMENT, 4), mod(ELEMENT, 4)), packed=4),
        (
            Fragment(("m", "k"), "f32", 2, (ELEMENT, 0 * ELEMENT)),
            Fragment(("k", "n"), "f32", 4, (0 * ELEMENT, ELEMENT), packed=4),
        ),
        """\
static inline void rows_2x4(float4 *d0, float4 *d1, float a0, float a1, float4 b0)
{
    *d0 += a0 * b0;
    *d1 += a1 * b0;
}""",
    )
)
DOT = register(
    Instruction(
        "dot4_f16",
        (("k", 4),),
        Fragment((), "f32", 1, ()),
        (Fragment(("k",), "f16", 4, (ELEMENT,), packed=2),) * 2,
        """\
static inline void dot4_f16(float *d0, short2 a0, short2 a1, short2 b0, short2 b1)
{
    *d0 += dot(vload_half2(0, (half *)&a0), vload_half2(0, (half *)&b0))
        + dot(vload_half2(0, (half *)&a1), vload_half2(0, (half *)&b1));
}""",
    )
)


def matrices(m: int, n: int, k: int, dtype: Any) -> tuple[Array, Array, Array]:
    """Matrices of small integers, and their product, which is exact."""
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-4, 5, shape).astype(dtype) for shape in ((m, k), (k, n)))
    return a, b, (a.astype(np.float32) @ b.astype(np.float32)).astype(dtype)


def compiled(
    schedule: str,
    a: Array,
    b: Array,
    *,
    program: str = PRODUCT,
    target: Any = None,
    after: str | None = None,
) -> ModuleOp:
    """The product by a schedule, up to a pass."""
    types = [type_of(a), type_of(b)]
    texts = (f"C: {schedule}",)
    return compile_module(load(program), "product", types, target, (), after, texts)


def check_by_reference(
    schedule: str, a: Array, b: Array, expected: Array, *, target: Any = None
) -> str:
    """The text of the kernel level; it and the nest give what is expected."""
    nest = compiled(schedule, a, b, after="tile-loop-tiling")
    TileToNestPass().apply(Context(), nest)
    kernel = compiled(schedule, a, b, target=target)
    for module in (nest, kernel):
        module.verify()
        (result,) = run_host(module, "product", (a, b))
        np.testing.assert_array_equal(result, expected)
    return str(kernel)


ROWS_TILED = (
    "<group.y 16*i : 3, local.x 4*i : 4, group.x 8*j : 3, serial 8*k : 4, unroll 1*k : 8, "
    "unroll 2*i : 2, unroll 4*j : 2, unroll i : 2, vector j : 4> "
    "instruction rows_2x4 <i, j, k> "
)
DOTS = (
    "<group.y 4*i : 10, local.x i : 4, group.x j : 19, serial 4*k : 8, unroll k : 4> "
    "instruction dot4_f16 <k> "
)


@pytest.mark.parametrize(
    "stage", ["", "stage <A local at 8*k, B local at 8*k copies 2 pad 4 vector 4>"]
)
def test_vectors_of_rows_on_devices(device: td.Device, stage: str):
    """Sizes that no tile divides: what is outside is read as 0, and not written."""
    a, b, expected = matrices(37, 19, 29, np.float32)
    f = td.compile(PRODUCT, device=device).with_schedules({"C": ROWS_TILED + stage})
    assert "rows_2x4(&acc" in f.opencl(a, b)
    np.testing.assert_array_equal(f(a, b), expected)


@pytest.mark.parametrize("stage", ["", "stage <A local vector 4, B local order (1, 0)>"])
def test_bits_of_f16_on_devices(device: td.Device, stage: str):
    a, b, expected = matrices(37, 19, 29, np.float16)
    f = td.compile(PRODUCT, device=device).with_schedules({"C": DOTS + stage})
    np.testing.assert_array_equal(f(a, b), expected)


@pytest.mark.parametrize("schedule", [ROWS_TILED, ROWS_TILED + "stage <B local at 8*k vector 4>"])
def test_vectors_of_rows_by_the_reference(schedule: str):
    check_by_reference(schedule, *matrices(37, 19, 29, np.float32))


ASYNCHRONOUS = (" async copies 2 pad 8 vector 8", " async copies 3 rotate 8 vector 4")
GPU = {"platform": StringAttr("NVIDIA CUDA"), "compute_capability": IntegerAttr(90, 64)}
NVIDIA = TargetSystemSpecAttr({"GPU": TargetDeviceSpecAttr(GPU)})
MMA = {
    "mma_m16n8k8_tf32": (8, np.float32),
    "mma_m16n8k16_f16": (16, np.float16),
    "mma_m16n8k16_bf16": (16, ml_dtypes.bfloat16),
}


@st.composite
def mma_schedules(draw: st.DrawFn) -> tuple[str, Array, Array, Array]:
    """Warps over a block, boxes over a warp, sizes that may not fill them, and stages."""
    name = draw(st.sampled_from(sorted(MMA)))
    k, dtype = MMA[name]
    rows, columns, boxes_i, boxes_j, steps = (draw(st.integers(1, 2)) for _ in range(5))
    warp_i, warp_j = 16 * boxes_i, 8 * boxes_j
    m, n, depth = (
        draw(st.integers(low, high))
        for low, high in ((1, warp_i * rows), (1, warp_j * columns), (1, 2 * k * steps))
    )
    pair = draw(st.sampled_from(["unroll k : K, vector j : 2", "unroll j : 2, serial k : K"]))
    parts = [
        f"local.y {warp_i}*i : {rows}, local.x {warp_j}*j : {columns}",
        "local.x i : 8, local.x 2*j : 4",
        f"serial {k * steps}*k : 2, unroll {k}*k : {steps}",
        f"unroll 16*i : {boxes_i}, unroll 8*j : {boxes_j}",
        f"unroll 8*i : 2, {pair.replace('K', str(k))}",
    ]
    stages = [
        f"{operand} local at {k * steps}*k{options}"
        for operand in "AB"
        if (
            options := draw(
                st.sampled_from(
                    [None, "", " copies 2 pad 4 vector 4", " order (1, 0)", *ASYNCHRONOUS]
                )
            )
        )
        is not None
    ]
    text = f"<{', '.join(parts)}> instruction {name} <i, j, k>"
    if stages:
        text += f" stage <{', '.join(stages)}>"
    return text, *matrices(m, n, depth, dtype)


@settings(max_examples=4, deadline=None)
@given(mma_schedules())
def test_tensor_cores_by_the_reference(case: tuple[str, Array, Array, Array]):
    check_by_reference(*case, target=NVIDIA)


BLOCKS = (
    "<group.y 32*i : 2, group.x 32*j : 2, local.x 16*j : 2, local.x i : 8, local.x 2*j : 4, "
    "serial 32*k : 3, unroll {k}*k : {steps}, unroll 16*i : 2, unroll 8*j : 2, unroll 8*i : 2, "
    "unroll k : {k}, vector j : 2> instruction {name} <i, j, k> "
)


@pytest.mark.parametrize(
    ("name", "options"), list(zip(sorted(MMA), (ASYNCHRONOUS[0], *ASYNCHRONOUS), strict=True))
)
def test_rows_are_copied_and_loaded_together(name: str, options: str):
    k, dtype = MMA[name]
    blocks = BLOCKS.format(name=name, k=k, steps=32 // k)
    schedule = blocks + f"stage <A local at 32*k{options}, B local at 32*k{options}>"
    a, b, expected = matrices(64, 64, 96, dtype)
    kernel = check_by_reference(schedule, a, b, expected, target=NVIDIA)
    assert "nest.copy" in kernel
    assert "nest.fragment" in kernel


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("mma_m16n8k16_bf16", (28, 24, 56)),
        ("mma_m16n8k16_f16", (26, 30, 58)),
        ("mma_m16n8k16_f16", (29, 27, 59)),
        ("mma_m16n8k8_tf32", (29, 27, 59)),
    ],
)
def test_copies_at_edges(name: str, shape: tuple[int, int, int]):
    """Copies of zeros outside, 16 bytes at a time or as many as rows allow."""
    k, dtype = MMA[name]
    a, b, expected = matrices(*shape, dtype)
    vectors = [np.gcd(rows.shape[1], 8) for rows in (a, b)]
    stages = [f"local at 32*k async copies 3 rotate 8 vector {n}" for n in vectors]
    blocks = BLOCKS.format(name=name, k=k, steps=32 // k).replace("k : 3", "k : 2")
    blocks = blocks.replace("group.y 32*i : 2, group.x 32*j : 2, ", "")
    schedule = f"{blocks}stage <A {stages[0]}, B {stages[1]}>"
    kernel = check_by_reference(schedule, a, b, expected, target=NVIDIA)
    if min(vectors) * a.itemsize >= 4:
        assert re.search(r"nest.copy \d .* if ", kernel)


def test_what_fills_edges_of_largest_elements():
    """No zeros, so that they are stored in the place of what is copied."""
    program = "function largest(A[M, L]) -> (C) { C[i: M] = >(A[i, k]); }"
    schedule = (
        "C: <local.x 2*i : 4, serial 4*k : 3, unroll k : 4, unroll i : 2> "
        "stage <A local at 4*k async copies 3 vector 2>"
    )
    a = -np.arange(1, 71, dtype=np.float32).reshape(7, 10)
    kernel = compile_module(load(program), "largest", [type_of(a)], NVIDIA, (), None, (schedule,))
    assert "nest.copy 2" in str(kernel)
    assert not re.search(r"nest.copy .* if ", str(kernel))
    (result,) = run_host(kernel, "largest", (a,))
    np.testing.assert_array_equal(result, a.max(1))


TURNED = "function product(A[L, M], B[N, L]) -> (C) { C[i, j: M, N] = +(A[k, i] * B[j, k]); }"


@pytest.mark.parametrize(("name", "loads"), list(zip(sorted(MMA), ("km", "km", "k"), strict=True)))
def test_operands_that_lie_otherwise(name: str, loads: str):
    """Fragments that are loaded by rows, too, but for words of 4 bytes that would be transposed."""
    k, dtype = MMA[name]
    blocks = BLOCKS.format(name=name, k=k, steps=32 // k).replace("k : 3", "k : 2")
    blocks = blocks.replace("group.y 32*i : 2, group.x 32*j : 2, ", "")
    schedule = f"{blocks}stage <A local at 32*k{ASYNCHRONOUS[1]}, B local at 32*k{ASYNCHRONOUS[1]}>"
    a, b, expected = matrices(32, 32, 64, dtype)
    turned = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
    kernel = compiled(schedule, *turned, program=TURNED, target=NVIDIA)
    found = {text[0] for text in str(kernel).split(" along ")[1:] if text[1] == " "}
    assert found == {*loads}
    (result,) = run_host(kernel, "product", turned)
    np.testing.assert_array_equal(result, expected)


def few_units() -> TargetSystemSpecAttr:
    """A GPU that few tiles fill."""
    return TargetSystemSpecAttr(
        {"GPU": TargetDeviceSpecAttr({**GPU, "compute_units": IntegerAttr(4, 64)})}
    )


@pytest.mark.parametrize(
    ("shape", "dtype"), [((20, 24, 33), np.float16), ((17, 40, 64), ml_dtypes.bfloat16)]
)
def test_short_sums_chosen_for_tensor_cores(shape: tuple[int, int, int], dtype: type):
    """Fewer steps than there are tiles on their way: the last ones fetch nothing."""
    a, b, expected = matrices(*shape, dtype)
    kernel = compile_module(load(PRODUCT), "product", [type_of(a), type_of(b)], few_units())
    assert "m16n16k16" in str(kernel)
    (result,) = run_host(kernel, "product", (a, b))
    np.testing.assert_array_equal(result, expected)


def transposable(transposed: str) -> str:
    """The product of matrices, of which some lie transposed."""
    a = "A[k, i]", "A[L, M]"
    b = "B[j, k]", "B[N, L]"
    reads = a if "A" in transposed else ("A[i, k]", "A[M, L]")
    others = b if "B" in transposed else ("B[k, j]", "B[L, N]")
    header = f"function product({reads[1]}, {others[1]}) -> (C)"
    return f"{header} {{ C[i, j: M, N] = +({reads[0]} * {others[0]}); }}"


def laid(transposed: str, a: Array, b: Array) -> tuple[Array, Array]:
    """The matrices as they lie."""
    return a.T.copy() if "A" in transposed else a, b.T.copy() if "B" in transposed else b


@pytest.mark.parametrize(
    ("shape", "transposed"), [((20, 24, 130), ""), ((17, 20, 161), "AB"), ((16, 18, 128), "B")]
)
def test_sums_in_parts_for_tensor_cores(
    shape: tuple[int, int, int], transposed: str, monkeypatch: pytest.MonkeyPatch
):
    """The last part is shorter; each has sums of f32 to itself."""
    monkeypatch.setattr(tensor_cores, "LEAST_STEPS", 2)
    monkeypatch.setattr(tensor_cores, "SPLIT_GAIN", float("inf"))
    a, b, expected = matrices(*shape, np.float16)
    given = laid(transposed, a, b)
    kernel = compile_module(
        load(transposable(transposed)), "product", [type_of(x) for x in given], few_units()
    )
    text = str(kernel)
    assert "m16n16k16" in text and text.count("gpu.launch_func") == 2
    (result,) = run_host(kernel, "product", given)
    np.testing.assert_array_equal(result, expected)


PATCHES = "function f(X[T], W[K, F]) -> (O) { O[t, f: 20, F] = +(X[64*t + k] * W[k, f]); }"
OF_PICTURES = """function f(X[B, T], W[K, F]) -> (O) {
  O[b, t, f: B, 20, F] = +(X[b, 64*t + k] * W[k, f]);
}"""
COLUMNS = "function f(A[I, K], B[T]) -> (O) { O[i, p: I, 20] = +(A[i, k] * B[64*p + k]); }"
CROSSED = """function f(A[I, K], B[T, J]) -> (O) {
  O[p, q, i, j: 3, 2, I, J] = +(A[i, 64*p + k] * B[64*q + k, j]), k < 64;
}"""


@pytest.mark.parametrize(
    ("source", "shapes"),
    [
        (PATCHES, ((1251,), (64, 24))),
        (OF_PICTURES, ((2, 1280), (64, 24))),
        (COLUMNS, ((24, 64), (1251,))),
        (CROSSED, ((24, 190), (128, 24))),
    ],
)
def test_parts_that_are_rows_or_columns(source: str, shapes: tuple[tuple[int, ...], ...]):
    """Patches beside one another are a product, whose rows have a part of the input each."""
    random = np.random.default_rng(0)
    given = [random.integers(-3, 4, shape).astype(np.float16) for shape in shapes]
    kernel = compile_module(load(source), "f", [type_of(x) for x in given], few_units())
    assert "m16n16k16" in str(kernel)
    (result,) = run_host(kernel, "f", given)
    np.testing.assert_array_equal(result, td.compile(source).reference(*given))


@pytest.mark.parametrize(
    ("shape", "transposed"),
    [
        ((512, 384, 64), ""),
        ((999, 511, 48), "A"),
        ((510, 601, 33), "B"),
        ((640, 640, 96), "AB"),
        ((300, 260, 4100), ""),
        ((128, 200, 8191), "A"),
        ((260, 130, 4096), "AB"),
    ],
)
def test_short_and_long_sums_on_devices(
    device: td.Device, shape: tuple[int, int, int], transposed: str
):
    m, n, k = shape
    if device.type != "gpu":
        # Tensor cores need many tiles; other devices compute fewer results.
        m, n, k = m // 20, n // 20, min(k, 1000)
    a, b, expected = matrices(m, n, k, np.float16)
    result = td.compile(transposable(transposed), device=device)(*laid(transposed, a, b))
    np.testing.assert_array_equal(result, expected)


WIDE = (
    "<group.y 32*i : 2, group.x {width}*j : 2, local.x 16*i : 2, local.x i : 8, "
    "local.x {pair}*j : 4, serial {chunk}*k : 3, unroll {k}*k : 2, unroll 8*i : 2, {columns}> "
)
EVERY_FOURTH = WIDE.format(
    width=32, pair=8, chunk=16, k=8, columns="unroll 4*j : 2, unroll k : 8, vector j : 4"
)
TWO_BOXES = WIDE.format(
    width=16, pair=2, chunk=32, k=16, columns="unroll 8*j : 2, unroll k : 16, vector j : 2"
)


@pytest.mark.covering(1)
@pytest.mark.parametrize("shape", [(64, 32, 48), (61, 27, 41)])
@pytest.mark.parametrize(
    ("schedule", "dtype"),
    [
        (
            f"{EVERY_FOURTH}instruction mma_m16n8k8_tf32 <i, 4*j, k> stage "
            "<A local at 16*k async copies 3 rotate 4 vector 4, "
            "B local at 16*k async copies 3 rotate 8 vector 4>",
            np.float32,
        ),
        (f"{EVERY_FOURTH}instruction mma_m16n8k8_tf32 <i, 4*j, k>", np.float32),
        (
            f"{TWO_BOXES}instruction mma_m16n16k16_f16 <i, j, k> stage "
            "<A local at 32*k async copies 3 rotate 8 vector 8, B local at 32*k pad 8 vector 8>",
            np.float16,
        ),
    ],
)
def test_boxes_beside_one_another(schedule: str, dtype: type, shape: tuple[int, int, int]):
    """Also where the sizes fill no whole boxes, so that elements are loaded one by one."""
    check_by_reference(schedule, *matrices(*shape, dtype), target=NVIDIA)


@pytest.mark.parametrize("options", ["copies 3", "copies 4 rotate 4", "copies 2 vector 4"])
def test_copies_ahead_on_devices(device: td.Device, options: str):
    """Devices that do not copy by themselves load and store."""
    a, b, expected = matrices(37, 19, 61, np.float32)
    stages = f"stage <A local at 8*k async {options}, B local at 8*k async {options}>"
    f = td.compile(PRODUCT, device=device).with_schedules({"C": COPIED + stages})
    np.testing.assert_array_equal(f(a, b), expected)


COPIED = (
    "<group.y 8*i : 5, group.x 4*j : 5, local.y i : 8, local.x j : 4, "
    "serial 8*k : 8, unroll k : 8> "
)


TF32 = (
    "<local.x i : 8, local.x 2*j : 4, serial 8*k : 2, unroll 8*i : 2, unroll k : 8, vector j : 2> "
    "instruction mma_m16n8k8_tf32 <i, j, k>"
)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("mma_m16n8k8_tf32", "wmma", "there is no instruction wmma; known are"),
        ("<i, j, k>", "<i, j>", "needs an index for each of its axes m, n, k"),
        ("<i, j, k>", "<i, j, j>", "needs an index for each of its axes m, n, k"),
        ("<i, j, k>", "<k, j, i>", "needs the output to be moved by j and k"),
        ("<i, j, k>", "<j, i, k>", "the loops over j must be split there"),
        ("unroll 8*i : 2, ", "serial 8*i : 2, ", "its role must be unroll or vector"),
        ("serial 8*k : 2, unroll 8*i : 2", "unroll 8*i : 2, serial 8*k : 2", "must stand outside"),
        ("local.x i : 8, local.x 2*j : 4", "local.x 2*j : 4, local.x i : 8", "work-item 1 the"),
        ("local.x i : 8", "local.y i : 8", "executed by 32 work-items"),
        ("<i, j, k>", "<i, j, k> stage <A local at k>", "is inside mma_m16n8k8_tf32"),
        ("<i, j, k>", "<i, j, k> stage <A private at 8*k>", "in registers"),
        ("8_tf32", "16_f16", "takes f16, but input 0 is f32"),
        ("8_tf32", "16_bf16", "takes bf16, but input 0 is f32"),
    ],
)
def test_a_schedule_that_does_not_fit_is_refused(old: str, new: str, reason: str):
    a, b, _ = matrices(16, 8, 16, np.float32)
    assert old in TF32
    with pytest.raises(td.TileError, match=reason):
        compiled(TF32.replace(old, new, 1), a, b)


def test_other_element_types_are_refused():
    a, b, _ = matrices(16, 8, 16, np.float64)
    with pytest.raises(td.TileError, match="takes f32, but the output is f64"):
        compiled(TF32, a, b)


def test_other_contractions_are_refused():
    a, b, _ = matrices(16, 8, 16, np.float32)
    largest = td.compile(PRODUCT.replace("+(", ">(")).with_schedules({"C": TF32})
    with pytest.raises(td.TileError, match="computes sums of products alone"):
        largest.mlir(a, b)


def test_a_device_of_too_small_capability_is_refused():
    a, b, _ = matrices(16, 8, 16, np.float32)
    old = TargetDeviceSpecAttr({**GPU, "compute_capability": IntegerAttr(75, 64)})
    with pytest.raises(td.TileError, match=r"needs a device of compute capability 8.0: .* 7.5"):
        compiled(TF32, a, b, target=TargetSystemSpecAttr({"GPU": old}))


def test_a_device_without_it_is_refused():
    a, b, _ = matrices(16, 8, 16, np.float32)
    other = TargetDeviceSpecAttr({**GPU, "platform": StringAttr("Portable Computing Language")})
    with pytest.raises(td.TileError, match="is an instruction of nvidia devices: this one is of"):
        compiled(TF32, a, b, target=TargetSystemSpecAttr({"GPU": other}))
