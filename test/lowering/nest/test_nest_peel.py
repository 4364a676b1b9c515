"""Interior and edge apart: the same results, and no test left in the interior."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from running import reference, run
from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp

from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.interpreters.host import run_host
from tiledialect.lowering.nest.nest_peel import NestPeelPass
from tiledialect.lowering.nest.nest_pipeline import NestPipelinePass
from tiledialect.lowering.nest.utils.builder import LOCAL
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass
from tiledialect.schedule.loops import Role
from tiledialect.tools.tile_opt import TileOptMain

Array = npt.NDArray[Any]


def kernel(inputs: str, result: str, schedule: str, body: str) -> str:
    """A function of one kernel with a schedule; ``inputs`` are types, called %a and %b inside."""
    types = inputs.split()
    names = "ab"[: len(types)]
    arguments = ", ".join(f"%{n.upper()}: {t}" for n, t in zip(names, types, strict=True))
    bound = ", ".join(f"%{n} = %{n.upper()} : {t}" for n, t in zip(names, types, strict=True))
    return f"""func.func @f({arguments}) -> {result} {{
      %O = tile.kernel({bound}) -> {result} schedule <{schedule}> {{
        %o = {body} : ({", ".join(types)}) -> {result}
        tile.yield %o : {result}
      }}
      func.return %O : {result}
    }}"""


def product(m: int, n: int, k: int, schedule: str) -> str:
    """A matrix product; the schedule may hold ``stage <…>`` after a ``|``."""
    levels, _, stages = schedule.partition("|")
    text = kernel(
        f"tensor<{m}x{k}xf32> tensor<{k}x{n}xf32>",
        f"tensor<{m}x{n}xf32>",
        levels,
        "tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] "
        f"domain <i = 0 to {m}, j = 0 to {n}, k = 0 to {k}>",
    )
    return text.replace(f"<{levels}>", f"<{levels}> {stages}") if stages else text


TILES = "serial 8*k : {steps}, serial k : 8, unroll i : 4, unroll j : 4"
GROUPS = "group.y 16*i : 3, group.x 16*j : 3, local.y 4*i : 4, local.x 4*j : 4"
STAGES = "stage <%a local at 8*k{copies}, %b local at 8*k{copies}>"

PEELED = {
    "product": product(38, 38, 16, f"{GROUPS}, {TILES.format(steps=2)}"),
    "staged": product(38, 38, 16, f"{GROUPS}, {TILES.format(steps=2)}|{STAGES.format(copies='')}"),
    "convolution": kernel(
        "tensor<19x22x3xf32> tensor<3x3x3x5xf32>",
        "tensor<19x22x5xf32>",
        "group.y 4*y : 5, group.x 4*x : 6, local.y y : 4, local.x co : 5, "
        "serial j : 3, serial i : 3, serial ci : 3, unroll x : 4",
        "tile.contraction add(%a[y + j - 1, x + i - 1, ci] mul %b[j, i, ci, co]) -> [y, x, co] "
        "domain <y = 0 to 19, j = 0 to 3, x = 0 to 22, i = 0 to 3, ci = 0 to 3, co = 0 to 5>",
    ),
    "stencil": kernel(
        "tensor<500xf32> tensor<5xf32>",
        "tensor<500xf32>",
        "group.x 64*x : 8, local.x 4*x : 16, unroll k : 5, vector x : 4",
        "tile.contraction add(%a[x + k - 2] mul %b[k]) -> [x] domain <x = 0 to 500, k = 0 to 5>",
    ),
    "maximum": kernel(
        "tensor<500xf32>",
        "tensor<500xf32>",
        "group.x 32*x : 16, local.x x : 32, serial k : 5",
        "tile.contraction max(%a[x + k - 2]) -> [x] where 0 <= k < 5 "
        "domain <x = 0 to 500, k = 0 to 5>",
    ),
    "serial tiles": kernel(
        "tensor<8x200xf32> tensor<3xf32>",
        "tensor<8x200xf32>",
        "group.x y : 8, serial 16*x : 13, unroll k : 3, vector x : 16",
        "tile.contraction add(%a[y, x + k - 1] mul %b[k]) -> [y, x] "
        "domain <y = 0 to 8, x = 0 to 200, k = 0 to 3>",
    ),
}
"""Kernels whose interior needs no test at all."""

SPLIT = {
    "long": product(32, 32, 29, f"{GROUPS.replace('3', '2')}, {TILES.format(steps=4)}"),
    "both": product(38, 38, 29, f"{GROUPS}, {TILES.format(steps=4)}|{STAGES.format(copies='')}"),
    "fetched ahead": product(
        38, 38, 29, f"{GROUPS}, {TILES.format(steps=4)}|{STAGES.format(copies=' copies 2')}"
    ),
    "large": product(
        1000,
        700,
        3000,
        "group.y 128*i : 8, group.x 128*j : 6, local.y 8*i : 16, local.x 8*j : 16, "
        "serial 16*k : 188, serial k : 16, unroll i : 8, unroll j : 8"
        "|stage <%a local at 16*k copies 2 pad 4, %b local at 16*k copies 2>",
    ),
    "private": product(
        38,
        38,
        29,
        f"{GROUPS}, {TILES.format(steps=4)}|stage <%a private at k, %b private at k>",
    ),
}
"""Kernels with a loop whose last steps alone need a test."""


def parse(text: str) -> ModuleOp:
    module = TileOptMain([]).parse_chunk(io.BytesIO(text.encode()), "mlir")
    assert module is not None
    module.verify()
    return module


def nest(text: str) -> ModuleOp:
    """The nest of a kernel, pipelined."""
    module = parse(text)
    for lower in (TileToNestPass(), NestPipelinePass()):
        lower.apply(Context(), module)
    return module


def peeled(module: ModuleOp) -> ModuleOp:
    module = module.clone()
    NestPeelPass().apply(Context(), module)
    module.verify()
    return module


def guarded(op: Any) -> list[Any]:
    """The ops that make a test."""
    return [
        x for x in op.walk() if isinstance(x, IfOp | LoadOp | StoreOp) and x.condition is not None
    ]


def interior(module: ModuleOp) -> Any:
    """The branch of the interior."""
    (branch,) = (
        x
        for x in module.walk()
        if isinstance(x, IfOp)
        and x.otherwise is not None
        and any(isinstance(y, ForOp) for y in x.then.walk())
    )
    assert guarded(branch.otherwise)
    return branch.then


def arrays(module: ModuleOp) -> list[Array]:
    """Small whole numbers, so that nothing is rounded."""
    random = np.random.default_rng(0)
    (function,) = (x for x in module.ops if isinstance(x, FuncOp))
    shapes = [tensor_type(v).get_shape() for v in function.body.block.args]
    return [random.integers(-3, 4, shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("name", PEELED)
def test_no_test_is_left_in_the_interior(name: str):
    before = nest(PEELED[name])
    assert guarded(before)
    assert not guarded(interior(peeled(before)))


@pytest.mark.parametrize("name", SPLIT)
def test_the_last_steps_alone_are_tested(name: str):
    module = peeled(nest(SPLIT[name]))
    place = module if name == "long" else interior(module)
    loops = (x for x in place.walk() if isinstance(x, ForOp))
    first, last = (x for x in loops if x.role.data.role is Role.SERIAL and not is_inner(x))
    assert not guarded(first)
    assert guarded(last)
    assert last.extent is not None and last.extent <= 2


def is_inner(loop: ForOp) -> bool:
    parent = loop.parent_op()
    return isinstance(parent, ForOp) and parent.role.data.role is Role.SERIAL


def test_local_memory_is_there_once():
    before = nest(SPLIT["fetched ahead"])
    after = peeled(before)

    def count(module: ModuleOp) -> int:
        buffers = (x.result.type for x in module.walk() if isinstance(x, BufferOp))
        return sum(isinstance(t, MemRefType) and t.memory_space == LOCAL for t in buffers)

    assert count(before) == count(after) == 2


ALWAYS = """"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<50xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<50xf32, 1 : i32>):
    nest.for %i : local.x to 32 {
      %tile = nest.buffer : memref<40xf32, 3 : i32>
      nest.for %k : serial to 3 {
        %a = nest.load %A[%i + %k] if %i + %k < 50 : memref<50xf32, 1 : i32>
        nest.store %a, %tile[%i + %k] : f32, memref<40xf32, 3 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
"""


def test_what_always_holds_is_written_once():
    module = parse(ALWAYS)
    assert guarded(module)
    NestPeelPass().apply(Context(), module)
    inside = set(module.walk())
    assert not guarded(module) and not any(isinstance(op, IfOp) for op in inside)
    (tile,) = (op for op in inside if isinstance(op, BufferOp))
    assert all(use.operation in inside for use in tile.result.uses)


RUN = {k: v for k, v in (PEELED | SPLIT).items() if k != "large"}


@pytest.mark.parametrize("name", RUN)
def test_the_meaning_is_kept(name: str):
    module = parse(RUN[name])
    inputs = arrays(module)
    (wanted,) = reference(module, inputs)
    before = nest(RUN[name])
    for form in (before, peeled(before)):
        (result,) = run_host(form, None, inputs)
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("name", ["both", "fetched ahead", "convolution", "stencil", "maximum"])
def test_devices(name: str, device: Any):
    module = parse(RUN[name])
    inputs = arrays(module)
    (wanted,), (result,) = reference(module, inputs), run(module, inputs, device)
    np.testing.assert_array_equal(result, wanted)
