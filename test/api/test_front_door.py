"""compile and the functions that it makes, as users meet them."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pytest
from builds import noted_builds
from front_door import PRODUCT, TWO, A, Array, B, random
from threads import in_threads

import tiledialect as td
from tiledialect.language.to_ir import load
from tiledialect.lowering.runtime.device.queues import queue_for
from tiledialect.lowering.runtime.program import compiling, specialization


def test_importing_is_cheap():
    code = (
        "import sys, tiledialect\n"
        "print([m for m in ('numpy', 'pyopencl', 'xdsl', 'islpy', 'lark') if m in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert output.strip() == "[]"


def test_the_public_names():
    assert set(td.__all__) <= set(dir(td))
    assert all(getattr(td, name) is not None for name in td.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = td.nothing


# -- sources ---------------------------------------------------------------------------------


def test_tile_text(device: td.Device):
    f = td.compile(PRODUCT, device=device)
    assert f.device == device
    assert np.array_equal(f(A, B), A @ B)


def test_a_mark_of_the_encoding_is_no_part_of_a_text():
    f = td.compile("\ufefffunction (A[N]) -> (B) { B = 2 * A; }")
    assert f.reference(np.float32([1, 2])).tolist() == [2, 4]


def test_files_and_modules(tmp_path: Path):
    tile, mlir = tmp_path / "product.tile", tmp_path / "product.mlir"
    tile.write_text(PRODUCT)
    module = load(PRODUCT, name="product")
    from tiledialect.ir.mlir_text import print_module

    mlir.write_text(print_module(module))
    for source in (tile, str(tile), mlir, str(mlir), module):
        f = td.compile(source)
        assert f.name == "product" and f.inputs == ("A", "B") and f.outputs == ("C",)
        assert np.array_equal(f(A, B), A @ B)


def test_a_module_may_change_afterwards():
    module = load(PRODUCT)
    f = td.compile(module)
    for op in list(module.ops):
        op.detach()
    assert np.array_equal(f(A, B), A @ B)


def test_one_function_of_several(tmp_path: Path):
    path = tmp_path / "both.mlir"
    path.write_text(
        """
        func.func @one(%A: tensor<3xf32>) -> tensor<3xf32> { func.return %A : tensor<3xf32> }
        func.func @two(%A: tensor<3xf32>) -> tensor<3xf32> {
          %B = tile.add %A, %A : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
          func.return %B : tensor<3xf32>
        }
        """
    )
    assert td.compile(path, name="two")(A[:, 0]).tolist() == (2 * A[:, 0]).tolist()
    with pytest.raises(td.TileError, match="name one of the functions here: one, two"):
        td.compile(path)
    with pytest.raises(td.TileError, match="no function three here; there is one, two"):
        td.compile(path, name="three")


def test_the_name_of_a_tile_function():
    assert td.compile(PRODUCT, name="product").name == "product"
    assert td.compile(TWO).name == "two"


# -- calls -----------------------------------------------------------------------------------


def test_inputs_by_name():
    f = td.compile(PRODUCT)
    assert np.array_equal(f(B=B, A=A), A @ B)
    assert np.array_equal(f(A, B=B), A @ B)


def test_several_outputs_are_a_named_tuple():
    result = td.compile(TWO)([1, 2], 3)
    assert type(result).__name__ == "two"
    assert result.S.tolist() == [4, 5] and result.D_prime.tolist() == [-2, -1]
    assert [r.dtype for r in result] == [np.int32, np.int32]


def test_results_are_fresh_and_writable(device: td.Device):
    f = td.compile("function (A[N, M]) -> (B, C) { B = A; C = A; }", device=device)
    b, c = f(A)
    assert not np.shares_memory(b, A) and not np.shares_memory(b, c)
    b[:] = 0
    assert np.array_equal(c, A)


def test_shapes_and_types_may_change_from_call_to_call(device: td.Device):
    f = td.compile(PRODUCT, device=device)
    for dtype in (np.float32, np.int32, np.float32):
        for n in (2, 5, 2):
            a, b = random(3, n, dtype=dtype), random(n, 2, dtype=dtype)
            result = f(a, b)
            assert result.dtype == dtype and np.array_equal(result, a @ b)


def test_the_second_call_does_not_compile(monkeypatch: pytest.MonkeyPatch):
    f = td.compile(PRODUCT)
    f(A, B)
    monkeypatch.setattr(compiling, "compile_module", None)
    monkeypatch.setattr(specialization, "build_program", None)
    assert np.array_equal(f(A + 1, B), (A + 1) @ B)
    assert np.array_equal(f(np.asfortranarray(A), B[:, ::-1]), A @ B[:, ::-1])
    assert np.array_equal(f(A.astype(">f4"), B.tolist()), A @ B)


def test_empty_tensors(device: td.Device):
    f = td.compile(PRODUCT, device=device)
    assert f(random(0, 4), B).shape == (0, 5)
    assert np.array_equal(f(random(3, 0), random(0, 5)), np.zeros((3, 5)))
    g = td.compile("function (A[N]) -> (B) { B = A + 1; }", device=device)
    assert g(np.zeros(0, np.float32)).shape == (0,)


def test_scalars(device: td.Device):
    f = td.compile("function (X[]) -> (Y) { Y = X * X; }", device=device)
    result = f(np.float32(3))
    assert isinstance(result, np.ndarray) and result.shape == () and result == 9
    assert f(4).dtype == np.int32


def test_many_threads():
    f = td.compile(PRODUCT, device=td.devices()[0])
    wrong: list[int] = []

    def work(n: int) -> None:
        for m in range(1, 4):
            a, b = random(n, m), random(m, 3)
            if not np.array_equal(f(a, b), a @ b):
                wrong.append(n)

    in_threads(work, range(1, 5))
    assert not wrong


def test_threads_wait_for_what_one_builds(monkeypatch: pytest.MonkeyPatch):
    built = noted_builds(monkeypatch)
    start = threading.Barrier(6)
    f = td.compile("function (A[N]) -> (B) { B = 3 * A + 7.25; }")

    def work() -> None:
        start.wait()
        f(A[0])

    threads = [threading.Thread(target=work) for _ in range(start.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1


# -- arrays on the device --------------------------------------------------------------------


def test_device_arrays(device: td.Device):
    f = td.compile(PRODUCT, device=device)
    queue = queue_for(device)
    a, b = cla.to_device(queue, A), cla.to_device(queue, B)
    for _ in range(2):
        c = f(a, b)
        assert isinstance(c, cla.Array) and c.queue is queue
        assert np.array_equal(c.get(), A @ B)
    assert np.array_equal(f(a[1:], b).get(), A[1:] @ B)
    assert np.array_equal(f(a, B).get(), A @ B)
    assert np.array_equal(f(a.with_queue(None), b).get(), A @ B)


def test_device_arrays_decide_where_the_work_is_done():
    here = td.compile(PRODUCT, device=td.devices()[0])
    queue = cl.CommandQueue(queue_for(td.devices()[-1]).context)
    c = here(cla.to_device(queue, A), cla.to_device(queue, B))
    assert c.queue == queue and np.array_equal(c.get(), A @ B)


def test_device_arrays_of_a_context_of_the_users():
    context = cl.Context(queue_for(td.devices()[0]).context.devices)
    queue = cl.CommandQueue(context)
    f = td.compile(PRODUCT)
    a, b = cla.to_device(queue, A), cla.to_device(queue, B)
    assert np.array_equal(f(a, b).get(), A @ B)
    another = cl.Context(context.devices)
    other = cl.CommandQueue(another)
    with pytest.raises(td.TileError, match="different OpenCL contexts"):
        f(a, cla.to_device(other, B))


def test_empty_device_arrays():
    queue = queue_for(td.devices()[0])
    f = td.compile(PRODUCT)
    a, b = (cla.to_device(queue, random(*shape)) for shape in ((3, 0), (0, 5)))
    assert np.array_equal(f(a, b).get(), np.zeros((3, 5)))
    assert f(cla.to_device(queue, random(0, 3)), cla.to_device(queue, random(3, 2))).shape == (0, 2)


# -- what can be read ------------------------------------------------------------------------


def test_repr_inputs_and_outputs():
    f = td.compile("function f(A[M, K], B, C[]) -> (D, E) { D = A + B; E = C; }")
    assert repr(f) == "<Function f (A[M, K], B, C[]) -> (D, E)>"
    assert (f.inputs, f.outputs) == (("A", "B", "C"), ("D", "E"))


def test_opencl_and_mlir():
    f = td.compile(PRODUCT)
    text = f.opencl(A, B)
    assert "__kernel" in text
    assert text == f.opencl("3x4xf32", ((4, 5), "float32")) == f.opencl(B=B, A=((3, 4), np.float32))
    assert "gpu.module" in f.mlir(A, B) and f.mlir(A, B) == f.mlir("3x4xf32", "4x5xf32")
    with pytest.raises(td.TileError, match="'3xfoo' is not a type"):
        f.opencl("3xfoo", B)


def test_mlir_reads_back():
    from tiledialect.ir.mlir_text import parse_mlir, print_module

    text = td.compile(PRODUCT).mlir(A, B)
    assert print_module(parse_mlir(text, "product.mlir")) == text


def test_profile(device: td.Device):
    f = td.compile(TWO, device=device)
    result, profile = f.profile(np.float32([1, 2]), np.float32(3))
    assert result.S.tolist() == [4, 5]
    assert profile.device == device and profile.kernels and profile.peak_memory == 8 * 3 + 4


def test_intermediates_share_memory():
    n = 1000
    steps = "".join(f"X{k + 1}[i: N] = +(X{k}[i + j]), j < 2;" for k in range(6))
    f = td.compile(f"function (X0[N]) -> (Y) {{ {steps} Y = X6 * 2; }}")
    x = random(n)
    expected: Array = x
    for _ in range(6):
        expected = expected + np.append(expected[1:], np.float32(0))
    result, profile = f.profile(x)
    assert np.array_equal(result, expected * 2)
    most = 4 * n * (2 + 1.1 * 2)
    assert profile.peak_memory <= most, "the input, the output, and two at a time"


def test_the_reference_semantics():
    f = td.compile(PRODUCT)
    assert np.array_equal(f.reference(A, B), A @ B)
    assert td.compile(TWO).reference([1], 2).S == 3


# -- what is kept ----------------------------------------------------------------------------


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch):
    f = td.compile("function (A[N]) -> (B) { B = A + 1; }")
    kept = (f._calls, f._specializations, f._device_calls)  # pyright: ignore[reportPrivateUsage]
    for recent in kept:
        monkeypatch.setattr(recent, "limit", 4)
    queue = queue_for(f.device)
    for n in (1, 2, 1, 3, 4, 1, 5, 1):
        a = np.zeros(n, np.float32)
        assert f(a).shape == f(cla.to_device(queue, a)).shape == (n,)
        assert all(len(recent) + len(recent.old) <= 4 for recent in kept)
    # What is used again and again stays.
    monkeypatch.setattr(compiling, "compile_module", None)
    monkeypatch.setattr(specialization, "build_program", None)
    assert f(np.zeros(1, np.float32)) == 1


# -- what can be seen ------------------------------------------------------------------------


def test_tile_text_of_a_function_and_its_gradient():
    f = td.compile(PRODUCT)
    assert np.array_equal(td.compile(f.tile)(A, B), A @ B)
    g = f.gradient(wrt="A")
    assert "+(DC[" in g.tile and "-> (DA)" in g.tile
    assert np.array_equal(td.compile(g.tile)(A, B, A @ B), A @ B @ B.T)


def test_ir_after_a_pass(tmp_path: Path):
    f = td.compile(PRODUCT)
    with pytest.raises(td.TileError, match="shapes of A, B are not known yet: call main first"):
        f.ir("tile-bounds")
    bounds = f.ir("tile-bounds", A, B)
    assert "domain <i = 0 to 3" in bounds
    assert "domain" not in f.ir("tile-specialize", "3x4xf32", "4x5xf32")
    f(A, B)
    assert f.ir("tile-bounds") == bounds
    assert f.ir("tile-to-gpu") == f.mlir(A, B)
    assert "DC" in f.gradient().ir("tile-gradient", A, B, A @ B)
    with pytest.raises(
        td.TileError, match=r"no pass nowhere; there is tile-specialize, .*tile-fus"
    ):
        f.ir("nowhere")
    with pytest.raises(td.TileError, match="no pass None; there is"):
        f.ir(None)  # pyright: ignore[reportArgumentType]
    path = tmp_path / "static.mlir"
    path.write_text(
        "func.func @f(%A: tensor<3xf32>) -> tensor<3xf32> { func.return %A : tensor<3xf32> }"
    )
    assert "tensor<3xf32>" in td.compile(path).ir("tile-bounds")


def test_what_can_be_read_is_of_the_last_call():
    f = td.compile("function (A[N]) -> (B) { B = A * A; }")
    for read in (f.opencl, f.mlir, f.schedules, f.explanation):
        with pytest.raises(td.TileError, match="call main first, or give inputs"):
            read()
    single, double = np.ones(3, np.float32), np.ones(4)
    for x in (single, double, single):
        f(x)
        assert f.opencl() == f.opencl(x) and f.mlir() == f.mlir(x)
        f(x)
        assert f.schedules() == f.schedules(x) and f.explanation() == f.explanation(x)
    f(double)
    assert "double" in f.opencl()


def test_a_profile_is_a_table():
    f = td.compile("function (A[N]) -> (B) { B = A * A; }")
    first, kernel, total, memory = str(f.profile(np.ones(3), repeat=3)[1]).splitlines()
    assert first.endswith(", median of 3") and memory == "peak memory 48 bytes"
    assert "GB/s" in kernel and total.startswith("kernels")


def test_what_a_notebook_shows():
    shown = td.compile("function f(A[N]) -> (B) { B = A < 1; }")._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "<code>Function f (A[N]) -&gt; (B)</code>" in shown and "B = A &lt; 1;" in shown


# -- pickles and tracebacks ------------------------------------------------------------------


def test_functions_can_be_pickled(device: td.Device):
    f = td.compile("function two(A[N], B) -> (S, D) { S = A + B; D = A - B; }", device=device)
    for g in (f, f.gradient(wrt="A"), f.value_and_gradient()):
        again = pickle.loads(pickle.dumps(g))
        assert (repr(again), again.device) == (repr(g), g.device)
        inputs = [np.float32([1, 2])] * len(g.inputs)
        assert all(map(np.array_equal, tuple(again(*inputs)), tuple(g(*inputs))))
    assert copy.deepcopy(f).name == "two"


def test_a_pickled_function_still_shows_the_source():
    f = td.compile("function (A[N]) -> (B) {\n  B[i: N - 5] = +(A[i]);\n}")
    with pytest.raises(td.TileError, match=r"2:.*\n  B\[i: N - 5\].*\n.*\^"):
        pickle.loads(pickle.dumps(f))(np.zeros(3, np.float32))


def test_results_can_be_pickled():
    result = td.compile(TWO)([1, 2], 3)
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result) and again._fields == ("S", "D_prime")
    assert np.array_equal(again.S, result.S) and np.array_equal(copy.copy(result).S, result.S)


def test_a_function_beside_one_that_is_declared(tmp_path: Path):
    path = tmp_path / "f.mlir"
    path.write_text("""func.func private @g(tensor<4xf32>) -> tensor<4xf32>
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %b = tile.neg %a : (tensor<4xf32>) -> tensor<4xf32>
      func.return %b : tensor<4xf32>
    }""")
    assert td.compile(path)(np.float32([1, 2, 3, 4])).tolist() == [-1, -2, -3, -4]


def test_the_reference_leaves_out_what_nothing_uses():
    f = td.compile(
        "function (A[N]) -> (B) { U[i, j, k: 1000000, 1000000, 1000000] = +(A[i + j + k]); B = A + 1; }"
    )
    for call in (f, f.reference):
        assert np.array_equal(call(A[0]), A[0] + 1)


def test_a_profile_of_several_runs():
    f = td.compile(PRODUCT)
    result, profile = f.profile(A, B, repeat=5)
    assert np.array_equal(result, A @ B)
    assert profile.runs == 5 and len(profile.kernels) == 1
    for repeat in (0, -1, 1.5, True):
        with pytest.raises(td.TileError, match="repeat says how often to run"):
            f.profile(A, B, repeat=repeat)  # pyright: ignore[reportArgumentType]


def test_precision():
    product = "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"
    ones = np.ones((4, 4), np.float32)
    plain, rounded = td.compile(product), td.compile(product, precision="tf32")
    assert "tile.precision" not in plain.mlir(ones, ones)
    for f in (rounded, rounded.gradient(), pickle.loads(pickle.dumps(rounded))):
        assert 'tile.precision = "tf32"' in f.mlir(*[ones] * len(f.inputs))
    assert np.array_equal(rounded(ones, ones), plain(ones, ones))
    with pytest.raises(td.TileError, match="there is no precision 'f8'; there is f32, tf32, exact"):
        td.compile(product, precision="f8")


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("function (X[N, M]) -> (Y) { Y = softmax(X, 1); }", ["64x300xf32"]),
        ("function (X[A, B, C]) -> (Y) { Y = exp(X); }", ["64x7x7xf32"]),
        (PRODUCT, ["96x64xf32", "64x80xf32"]),
        ("function (X[N]) -> (Y) { Y[] = +(X[i]); }", ["4000000xf32"]),
        ("function (X[N]) -> (Y) { Y[i: N] = +(X[i - k]), k < N; }", ["500xf32"]),
    ],
)
def test_an_explanation_is_of_what_runs(device: td.Device, text: str, types: list[str]):
    f = td.compile(text, device=device)
    explanation = f.explanation(*types)
    splits = explanation.count(": split into partial results, as ")
    assert splits == sum("_parts" in name for name in f.schedules(*types))
    for name, schedule in f.schedules(*types).items():
        assert f"{name}: " in explanation
        if device.type != "simulator":
            assert f"     {schedule}\n" in explanation
