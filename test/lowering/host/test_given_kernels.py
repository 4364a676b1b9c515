"""Modules of nests and kernels, as they are printed or written by hand, run at the front door."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline

import tiledialect as td
from tiledialect.api.inputs import Types
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir, print_module
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.pipeline import nest_passes
from tiledialect.lowering.quirks.table import passes_of
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass
from tiledialect.platforms import INTEL

PROGRAM = """
function f(X[N, M], B[M, K]) -> (P, Y, U) {
  P[i, k: N, K] = +(X[i, j] * B[j, k]);
  Y = softmax(P, 1);
  U = as_uint(X * X, 8);
}
"""
X = np.random.default_rng(0).normal(size=(5, 11)).astype(np.float32)
B = np.random.default_rng(1).normal(size=(11, 3)).astype(np.float32)

OF_NESTS = nest_passes(passes_of(INTEL.name), edges=True)


def lowered(types: Types, device: Device, *passes: Any, after: str) -> str:
    f = td.compile(PROGRAM)
    target = target_system_spec(device)
    module = compile_module(
        parse_mlir(print_module(f._source.module), "f"), "f", types, target, after=after
    )
    PassPipeline(passes).apply(Context(), module)
    return print_module(module)


LEVELS: dict[str, Callable[[Types, Device], str]] = {
    "tile-to-nest": lambda t, d: lowered(t, d, TileToNestPass(), after="lift-to-nest"),
    **{
        p.name: lambda t, d, k=k: lowered(
            t, d, TileToNestPass(), *OF_NESTS[: k + 1], after="lift-to-nest"
        )
        for k, p in enumerate(OF_NESTS)
        if p.name in ("nest-vectorize", "nest-to-gpu")
    },
    "gpu-arena": lambda t, d: lowered(t, d, after="gpu-arena"),
}


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_printed_at_each_level_runs(level: str, device: td.Device):
    given = td.compile(PROGRAM, device=device)
    text = LEVELS[level](given.types((X, B), {}), device)
    f = td.compile(parse_mlir(text, "f.mlir"), device=device)
    assert (f.inputs, f.outputs) == (given.inputs, given.outputs)
    assert f.output_types(X, B) == given.output_types(X, B)
    expected = given.reference(X, B)
    for results in (f(X, B), f.reference(X, B)):
        for found, wanted in zip(results, expected, strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


ADD = """
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>, memref<8xf32>) -> (), kernel}> ({
  ^bb0(%X : memref<8xf32>, %Y : memref<8xf32>):
    %i = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index
    %x = memref.load %X[%i] : memref<8xf32>
    %y = memref.load %Y[%i] : memref<8xf32>
    %sum = arith.addf %x, %y : f32
    memref.store %sum, %Y[%i] : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "add"} : () -> ()
}) : () -> ()
func.func @accumulate(%X : memref<8xf32>, %Y : memref<8xf32>) {
  %one = arith.constant 1 : index
  %groups = arith.constant 2 : index
  %items = arith.constant 4 : index
  "gpu.launch_func"(%groups, %one, %one, %items, %one, %one, %X, %Y) <{
    kernel = @kernels::@add, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>
  }> : (index, index, index, index, index, index, memref<8xf32>, memref<8xf32>) -> ()
  func.return
}
"""
EIGHT, ONES = np.arange(8, dtype=np.float32), np.ones(8, np.float32)


def module(*changes: tuple[str, str]) -> ModuleOp:
    text = ADD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return parse_mlir(text, "add.mlir")


def test_what_is_stored_to_is_returned(device: td.Device):
    f = td.compile(module(), device=device)
    assert f.outputs == ("Y",)
    for run in (f, f.reference, pickle.loads(pickle.dumps(f))):
        np.testing.assert_array_equal(run(EIGHT, ONES), EIGHT + 1)
    np.testing.assert_array_equal(ONES, 1)


def test_arguments_that_are_stored_to_may_have_any_name():
    named = '%Y : memref<8xf32> {tile.name = "1 Y\'"}) {'
    f = td.compile(module(("%Y : memref<8xf32>) {", named)))
    assert f.outputs == ("1 Y'",)
    np.testing.assert_array_equal(f(EIGHT, ONES), EIGHT + 1)


def test_what_is_stored_to_and_returned_is_returned_once(device: td.Device):
    both = "%Y : memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {"
    last = "  func.return %Y, %X : memref<8xf32>, memref<8xf32>\n}"
    f = td.compile(module(("%Y : memref<8xf32>) {", both), ("  func.return\n}", last)))
    assert f.outputs == ("Y", "X")
    for found in (f(EIGHT, ONES), f.reference(EIGHT, ONES)):
        np.testing.assert_array_equal(found.Y, EIGHT + 1)
        np.testing.assert_array_equal(found.X, EIGHT)


OPEN = (
    ("memref<8xf32>", "memref<?xf32>"),
    (
        "%groups = arith.constant 2 : index\n  %items = arith.constant 4 : index",
        "%zero = arith.constant 0 : index\n  %items = arith.constant 4 : index\n"
        "  %size = memref.dim %X, %zero : memref<?xf32>\n"
        "  %groups = arith.divui %size, %items : index",
    ),
)


def test_open_sizes(device: td.Device):
    f = td.compile(module(*OPEN), device=device)
    for size in (8, 20):
        x = np.arange(size, dtype=np.float32)
        for run in (f, f.reference):
            np.testing.assert_array_equal(run(x, x), 2 * x)


@pytest.mark.parametrize(
    ("what", "of"),
    [
        (lambda f: f.gradient(), "a gradient"),
        (lambda f: f.schedules(), "a schedule"),
        (lambda f: f.with_schedules({"Y": "<>"}), "a schedule"),
        (lambda f: f.with_fusion(rows=True), "a choice of fusion"),
        (lambda f: f.explanation(), "an explanation"),
        (lambda f: f.tile, "Tile text"),
        (lambda f: f.ir("tile-bounds"), "IR after a pass"),
        (lambda f: f.views(), "a view"),
        (lambda f: td.compile(module(), tune=3), "tune"),
        (lambda f: td.compile(module(), precision="exact"), "precision"),
    ],
)
def test_what_needs_tensors(what: Callable[[td.Function], Any], of: str):
    f = td.compile(module())
    with pytest.raises(TileError, match=f"^accumulate is of memrefs and kernels: {of} needs a"):
        what(f)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@kernels::@add", "@kernels::@sub", "17:3: there is no kernel @kernels::@sub"),
        ("@kernels::@add", "@add", "17:3: there is no kernel @add"),
        (") -> (), kernel}", ") -> ()}", "17:3: @kernels::@add is launched, but has no attribute"),
        ("%Y : memref<8xf32>) {", "%Y : memref<8xf32>, %n : f32) {", "n of accumulate is declared as f32"),
        ("constant 2", "constant -2", "17:3: @kernels::@add is launched with a size below 0"),
        ('"add"}', '"add", gpu.known_block_size = array<i32: 8>}', "is for 8 x 1 x 1 work-items, not for 4 x 1 x 1"),
        ("%Y : memref<8xf32>) {", "%Y : memref<8xf32> {tile.element_type = f64}) {", "is said to be of f64"),
        ("%groups = arith.constant 2 : index", "%z = arith.constant 0 : index %groups = arith.divsi %one, %z : index", "arith.divsi of [1, 0] is no number"),
        ("%groups = arith.constant 2 : index", "%groups = memref.dim %X, %one : memref<8xf32>", "memref<8xf32> has no dimension 1"),
        ("  func.return", "  %f = arith.constant 1.0 : f32 memref.store %f, %Y[%one] : memref<8xf32>\n  func.return", "the host cannot execute memref.store"),
        ("memref<8xf32>", "memref<8xf32, strided<[2]>>", "not an array without gaps"),
    ],
)  # fmt: skip
def test_what_is_refused(old: str, new: str, message: str):
    for run in (lambda f: f(EIGHT, ONES), lambda f: f.reference(EIGHT, ONES)):
        with pytest.raises(TileError) as caught:
            run(td.compile(module((old, new))))
        assert message in str(caught.value)


def test_arguments_of_other_types_than_the_kernel_takes():
    host = module(("memref<8xf32>", "memref<16xf32>"))
    host.body.block.first_op.detach()
    host.body.block.insert_op_before(module().body.block.first_op.clone(), host.body.block.first_op)
    for run in (lambda f: f([0] * 16, [0] * 16), lambda f: f.reference([0] * 16, [0] * 16)):
        with pytest.raises(TileError, match=r"add takes .memref<8xf32>, memref<8xf32>., not"):
            run(td.compile(host))


def test_the_reference_says_what_a_kernel_must_not_do():
    f = td.compile(module(("constant 2", "constant 3")))
    with pytest.raises(
        TileError, match=r"add.mlir:6:10: memref.load of %X: element .8. is outside"
    ):
        f.reference(EIGHT, ONES)


NEST = """
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>, memref<8xf32>) -> (), kernel}> ({
  ^bb0(%X : memref<8xf32>, %Y : memref<8xf32>):
    nest.for %i : local.x to 8 {
      %x = nest.load %X[%i] : memref<8xf32>
      nest.store %x, %Y[%i] : f32, memref<8xf32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "add"} : () -> ()
}) : () -> ()
"""


def test_parallel_loops_have_a_step_for_each_work_item(device: td.Device):
    host = ADD[ADD.index("func.func") :]
    right = host.replace("constant 2", "constant 1").replace("constant 4", "constant 8")
    f = td.compile(parse_mlir(NEST + right, "nest.mlir"), device=device)
    for run in (f, f.reference):
        np.testing.assert_array_equal(run(EIGHT, ONES), EIGHT)
    f = td.compile(parse_mlir(NEST + host, "nest.mlir"), device=device)
    for run in (f, f.reference):
        with pytest.raises(
            TileError, match=r"nest.mlir:5:5: the local.x loops have 8 steps, but 4"
        ):
            run(EIGHT, ONES)


@pytest.mark.tries_kernels
@pytest.mark.usefixtures("ready_python")
def test_a_crash_does_not_reach_the_caller():
    far = ("memref.store %sum, %Y[%i]", "memref.store %sum, %Y[%far]")
    place = (
        "%sum =",
        "%c = arith.constant 99999999999 : index %far = arith.addi %i, %c : index %sum =",
    )
    f = td.compile(module(place, far))
    if f.device.type != "cpu":
        pytest.skip("other devices have memory of their own")
    with pytest.raises(TileError, match=r"ends the process that uses it .* in a launch of add"):
        f(EIGHT, ONES)
