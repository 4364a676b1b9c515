"""Random programs with random legal schedules: the nest after each pass, and every device.

`pytest test/test_schedules.py --examples 3000` tries many times as many as by default.
"""

from __future__ import annotations

import io
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from compare import assert_close
from generators import contraction_module, contractions
from hypothesis import given, note, reject
from hypothesis import strategies as st
from random_programs import Program, programs
from running import reference, run
from schedules import schedules
from test_random_programs import searching
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.tile import Tile
from tiledialect.dialects.tile.elementwise.numeric import kind_of
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.errors import TileError
from tiledialect.interpreters.host import run_host
from tiledialect.lowering.pipeline import TileToGpuPass, nest_passes, pipeline
from tiledialect.lowering.quirks.nest_free_barriers import NestFreeBarriersPass
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass
from tiledialect.passes.diagnostics.schedule_explanation import explanation
from tiledialect.passes.schedule.rewrites.layout_copies import insert_layout_copies
from tiledialect.passes.schedule.tile_loop_tiling import TileLoopTilingPass, weighed_given
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.traits import Kind
from tiledialect.tools.tile_opt import TileOptMain

Array = npt.NDArray[Any]

BATCH = 4
"""Number of contractions that are built as one program."""


def fused(module: ModuleOp) -> ModuleOp:
    """A copy of a module of tile ops, with kernels that have no schedule yet."""
    context, module = Context(), module.clone()
    for dialect in (Arith, Tile):
        context.load_dialect(dialect)
    for step in pipeline(64):
        if not isinstance(step, TileLoopTilingPass | TileToGpuPass):
            step.apply(context, module)
    return module


@st.composite
def scheduled(draw: st.DrawFn, module: ModuleOp) -> ModuleOp:
    """The kernels of a module with schedules drawn at random."""
    module = fused(module)
    for kernel in [op for op in module.walk() if isinstance(op, KernelOp)]:
        kernel.schedule = draw(schedules(kernel))
    insert_layout_copies(module)
    for copy in [op for op in module.walk() if isinstance(op, KernelOp) and op.schedule is None]:
        copy.schedule = draw(schedules(copy))
    module.verify()
    return module


@st.composite
def batches(draw: st.DrawFn, size: int = BATCH) -> tuple[ModuleOp, ModuleOp, list[Array]]:
    """Contractions, the same with schedules, and inputs."""
    made = [draw(contractions(draw(st.booleans()))) for _ in range(size)]
    module, arrays = contraction_module(made)
    return module, draw(scheduled(module)), arrays


def agree(actual: Sequence[Array], expected: Sequence[Array], errors: Sequence[float]) -> None:
    """Fail unless results are what they must be, up to rounding."""
    for a, e, error in zip(actual, expected, errors, strict=True):
        eps = float(ml_dtypes.finfo(e.dtype).eps) if kind_of(e.dtype) == "f" else 1
        assert_close(a, e, length=0, ulps=2 * error / eps, scale=1)


TOO_LARGE = ("tiles that are fetched ahead must fit registers", "bytes in local memory")


@contextmanager
def tiles_that_fit() -> Generator[None]:
    """Draw another schedule where tiles are too large for the device, which is refused."""
    try:
        yield
    except TileError as error:
        if any(text in error.message for text in TOO_LARGE):
            reject()
        raise


def check_passes(
    module: ModuleOp,
    arrays: Sequence[Array],
    expected: Sequence[Array],
    errors: Sequence[float],
    *,
    free: bool,
) -> None:
    """Fail unless the nests give the right results after each pass that changes them."""
    scheduled = before = str(module)
    for lower in (TileToNestPass(), *nest_passes({NestFreeBarriersPass.name} if free else ())):
        try:
            lower.apply(Context(), module)
            module.verify()
            if (text := str(module)) != before:
                agree(run_host(module, None, arrays), expected, errors)
            before = text
        except Exception as error:
            error.add_note(f"{scheduled}\nafter {lower.name}:\n{module}")
            raise


def is_free(module: ModuleOp) -> bool:
    """Whether barriers are taken out of branches: for every other module, as it comes."""
    return len(str(module)) % 2 == 0


MOST_STEPS, FEW_STEPS = 100_000, 30_000
"""Most ops of a nest that is interpreted after each pass: a few seconds in `make fuzz`, one here."""


def steps(op: Operation) -> int:
    """Number of ops that a nest runs, branches not taken among them."""
    own = op.extent or 1 if isinstance(op, ForOp) else 1
    return own * (1 + sum(steps(x) for r in op.regions for b in r.blocks for x in b.ops))


def is_long(module: ModuleOp, most: int) -> bool:
    """Whether nests run too many ops to be interpreted after each pass."""
    nests = module.clone()
    TileToNestPass().apply(Context(), nests)
    return steps(nests) > most


def nests_agree(batch: tuple[ModuleOp, ModuleOp, list[Array]], most: int = MOST_STEPS) -> None:
    """The nest of a contraction gives after each pass what the reference gives."""
    module, with_schedules, arrays = batch
    with tiles_that_fit():
        if is_long(with_schedules, most):
            reject()
        check_passes(with_schedules, arrays, reference(module, arrays), [0], free=False)


def test_contractions_after_each_pass(request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // 10)
    @given(batches(1))
    def check(batch: tuple[ModuleOp, ModuleOp, list[Array]]) -> None:
        nests_agree(batch, FEW_STEPS)

    check()


DEVICES = (
    ("CPU", {"platform": "Intel(R) OpenCL", "compute_units": 2, "native_vector_width": 16}),
    ("CPU", {"platform": "Portable Computing Language", "compute_units": 8}),
    ("GPU", {"platform": "NVIDIA CUDA", "compute_units": 132, "sub_group_sizes": (32,)}),
)


def test_given_schedules_are_compared(request: pytest.FixtureRequest):
    """A user's schedules are weighed, and stay."""

    @searching(request.config.getoption("--examples") // 8)
    @given(scheduled_programs(), st.sampled_from(DEVICES))
    def check(case: tuple[Program, ModuleOp], described_as: tuple[str, dict[str, Any]]) -> None:
        _, module = case
        kind, entries = described_as
        device = described(Kind[kind], entries)
        for kernel in [op for op in module.walk() if isinstance(op, KernelOp)]:
            given_one = kernel.schedule
            weighed = weighed_given(kernel, device)
            assert kernel.schedule == given_one
            assert all(math.isfinite(c.estimate.seconds) for c in weighed)
            assert not weighed or "given: 1, " in explanation(
                "K", kernel, kernel_facts(kernel, device), device, weighed
            )

    check()


@st.composite
def scheduled_programs(draw: st.DrawFn) -> tuple[Program, ModuleOp]:
    """A program of a few statements, and the same with schedules."""
    program = draw(programs(6))
    return program, draw(scheduled(program.module))


def test_programs_after_each_pass(request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // 10)
    @given(scheduled_programs())
    def check(made: tuple[Program, ModuleOp]) -> None:
        program, with_schedules = made
        expected, free = reference(program.module, program.arrays), is_free(with_schedules)
        with tiles_that_fit():
            check_passes(with_schedules, program.arrays, expected, program.errors, free=free)

    check()


def test_contractions(device: Any, request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // (16 * BATCH))
    @given(batches())
    def check(batch: tuple[ModuleOp, ModuleOp, list[Array]]) -> None:
        module, with_schedules, arrays = batch
        note(str(with_schedules))
        expected = reference(module, arrays)
        with tiles_that_fit():
            agree(run(with_schedules, arrays, device), expected, [0] * len(expected))

    check()


def test_random_programs(device: Any, request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // 40)
    @given(scheduled_programs())
    def check(made: tuple[Program, ModuleOp]) -> None:
        program, with_schedules = made
        note(str(with_schedules))
        expected = reference(program.module, program.arrays)
        with tiles_that_fit():
            agree(run(with_schedules, program.arrays, device), expected, program.errors)

    check()


SUMS_OF_ROWS = """
func.func @f(%A: tensor<{0}xf32>) -> tensor<{1}xf32> {{
  %R = tile.kernel(%a = %A : tensor<{0}xf32>) -> tensor<{1}xf32> schedule <serial i : {3}, serial k : {4}> {{
    %r = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to {1}, k = 0 to {2}>
         : (tensor<{0}xf32>) -> tensor<{1}xf32>
    tile.yield %r : tensor<{1}xf32>
  }}
  func.return %R : tensor<{1}xf32>
}}"""
"""Intel's compiler takes row 0 for all rows, or ends the process, where a branch leaves steps out."""

KERNELS = {
    "loops past the points, inside the output": (
        """
func.func @f(%A: tensor<3xf32>, %D: tensor<8xf32>) -> tensor<8xf32> {
  %R = tile.kernel(%a = %A : tensor<3xf32>, %d = %D : tensor<8xf32>) -> tensor<8xf32>
    schedule <local.x i : 4> {
    %r = tile.contraction add(%a[i]) -> [2*i] default %d domain <i = 0 to 3>
         : (tensor<3xf32>, tensor<8xf32>) -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  func.return %R : tensor<8xf32>
}""",
        [(3,), (8,)],
    ),
    "no point, though the tile has neutral elements": (
        """
func.func @f(%A: tensor<4xf32>) -> tensor<3xf32> {
  %R = tile.kernel(%a = %A : tensor<4xf32>) -> tensor<3xf32>
    schedule <local.x i : 3, serial k : 2> stage <%a local> {
    %r = tile.contraction max(%a[4*i + k]) -> [i] where 0 <= k < 2
         domain <i = 0 to 3, k = 0 to 2> : (tensor<4xf32>) -> tensor<3xf32>
    tile.yield %r : tensor<3xf32>
  }
  func.return %R : tensor<3xf32>
}""",
        [(4,)],
    ),
    "a guard that follows from that of a staged operand": (
        """
func.func @f(%A: tensor<4xf32>, %B: tensor<4xf32>) -> tensor<3xf32> {
  %R = tile.kernel(%a = %A : tensor<4xf32>, %b = %B : tensor<4xf32>) -> tensor<3xf32>
    schedule <local.x i : 3, serial k : 3> stage <%a local> {
    %r = tile.contraction add(%a[i + 2*k] mul %b[i + 2*k]) -> [i] where 0 <= k < 2
         domain <i = 0 to 3, k = 0 to 2>
         : (tensor<4xf32>, tensor<4xf32>) -> tensor<3xf32>
    tile.yield %r : tensor<3xf32>
  }
  func.return %R : tensor<3xf32>
}""",
        [(4,), (4,)],
    ),
    "work-items without an element help to copy": (
        """
func.func @f(%A: tensor<6xf32>) -> tensor<5xf32> {
  %R = tile.kernel(%a = %A : tensor<6xf32>) -> tensor<5xf32>
    schedule <group.x 4*i : 2, local.x i : 4, serial k : 2> stage <%a local> {
    %r = tile.contraction add(%a[i + k]) -> [i] where 0 <= k < 2
         domain <i = 0 to 5, k = 0 to 2> : (tensor<6xf32>) -> tensor<5xf32>
    tile.yield %r : tensor<5xf32>
  }
  func.return %R : tensor<5xf32>
}""",
        [(6,)],
    ),
    "comparisons in lanes": (
        """
func.func @f(%A: tensor<8xf32>, %B: tensor<8xf32>) -> tensor<8xf32> {
  %R = tile.kernel(%a = %A : tensor<8xf32>, %b = %B : tensor<8xf32>) -> tensor<8xf32>
    schedule <local.x 4*d0 : 2, vector d0 : 4> {
    %c = tile.cmp_lt %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %r = tile.select %c, %a, %b : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  func.return %R : tensor<8xf32>
}""",
        [(8,), (8,)],
    ),
    "two copies for a work-item by itself": (
        """
func.func @f(%A: tensor<4x8xf32>) -> tensor<4xf32> {
  %R = tile.kernel(%a = %A : tensor<4x8xf32>) -> tensor<4xf32>
    schedule <group.x i : 4, serial 4*k : 2, serial k : 4> stage <%a local at k copies 2> {
    %r = tile.contraction add(%a[i, k]) -> [i]
         domain <i = 0 to 4, k = 0 to 8> : (tensor<4x8xf32>) -> tensor<4xf32>
    tile.yield %r : tensor<4xf32>
  }
  func.return %R : tensor<4xf32>
}""",
        [(4, 8)],
    ),
    "a barrier in one arm of a branch that a loop takes but sometimes": (
        """
func.func @f(%A: tensor<7x27x15xf32>, %B: tensor<11x8xf32>, %C: tensor<5x19xf32>)
    -> tensor<7xf32> {
  %R = tile.kernel(%a = %A : tensor<7x27x15xf32>, %b = %B : tensor<11x8xf32>,
                   %c = %C : tensor<5x19xf32>) -> tensor<7xf32>
    schedule <local.y m : 3, group.z 5*i : 2, group.x i : 5, serial k : 3, vector j : 2>
    stage <%a local copies 2 rotate 1 vector 2, %b local copies 2 rotate 4 vector 4,
           %c local at k pad 1 rotate 1, %a local at j pad 1 rotate 1 order (1, 0, 2)> {
    %r = tile.contraction add(%a[k + 1, k - 3*i + 17, 2*j + 2*k + 4] add %b[-3*k + 8, i + 1]
                              add %c[2*j + 1, k + 2*m + i + 3]) -> [i] where 0 <= m < 3
         domain <i = 0 to 7, k = 0 to 3, j = 0 to 2, m = 0 to 3>
         : (tensor<7x27x15xf32>, tensor<11x8xf32>, tensor<5x19xf32>) -> tensor<7xf32>
    tile.yield %r : tensor<7xf32>
  }
  func.return %R : tensor<7xf32>
}""",
        [(7, 27, 15), (11, 8), (5, 19)],
    ),
    "loops over the points of a copy that has none": (
        """
func.func @f(%A: tensor<1x7x0xf32>) -> tensor<1x7x0xf32> {
  %R = tile.kernel(%a = %A : tensor<1x7x0xf32>) -> tensor<1x7x0xf32>
    schedule <group.x k : 4, group.x j : 3, group.z i : 2> stage <%a private> {
    %r = tile.contraction assign(%a[i, j, k]) -> [i, j, k]
         domain <i = 0 to 0, j = 0 to 0, k = 0 to 0> : (tensor<1x7x0xf32>) -> tensor<1x7x0xf32>
    tile.yield %r : tensor<1x7x0xf32>
  }
  func.return %R : tensor<1x7x0xf32>
}""",
        [(1, 7, 0)],
    ),
    "loops over the points of sums that have none": (
        """
func.func @f(%A: tensor<3x0xf32>, %B: tensor<0x5xf32>) -> tensor<3x5xf32> {
  %R = tile.kernel(%a = %A : tensor<3x0xf32>, %b = %B : tensor<0x5xf32>) -> tensor<3x5xf32>
    schedule <local.y i : 3, serial k : 2, vector j : 8> {
    %r = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j]
         domain <i = 0 to 3, j = 0 to 5, k = 0 to 0>
         : (tensor<3x0xf32>, tensor<0x5xf32>) -> tensor<3x5xf32>
    tile.yield %r : tensor<3x5xf32>
  }
  func.return %R : tensor<3x5xf32>
}""",
        [(3, 0), (0, 5)],
    ),
    "one work-item for a result without elements": (
        """
func.func @f(%A: tensor<3x0xf32>) -> tensor<3x0xf32> {
  %R = tile.kernel(%a = %A : tensor<3x0xf32>) -> tensor<3x0xf32> schedule <> {
    %r = tile.contraction max(%a[i, j]) -> [i, j] domain <i = 0 to 0, j = 0 to 0>
         : (tensor<3x0xf32>) -> tensor<3x0xf32>
    tile.yield %r : tensor<3x0xf32>
  }
  func.return %R : tensor<3x0xf32>
}""",
        [(3, 0)],
    ),
    "work-items share a sum of no points": (
        """
func.func @f(%A: tensor<3x0xf32>) -> tensor<3xf32> {
  %R = tile.kernel(%a = %A : tensor<3x0xf32>) -> tensor<3xf32>
    schedule <group.x i : 3, local.x k : 4> stage <%a local> {
    %r = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 3, k = 0 to 0>
         : (tensor<3x0xf32>) -> tensor<3xf32>
    tile.yield %r : tensor<3xf32>
  }
  func.return %R : tensor<3xf32>
}""",
        [(3, 0)],
    ),
    "barriers in both arms of a branch in a loop": (
        """
func.func @f(%A: tensor<3x1xf32>) -> tensor<1x3xf32> {
  %R = tile.kernel(%a = %A : tensor<3x1xf32>) -> tensor<1x3xf32>
    schedule <local.z k : 2, serial i : 3, unroll j : 1, vector 2*k : 2> {
    %r = tile.contraction add(%a[i + k - 1, j]) -> [j, i] where 0 <= k < 3
         domain <j = 0 to 1, i = 0 to 3, k = 0 to 3> : (tensor<3x1xf32>) -> tensor<1x3xf32>
    tile.yield %r : tensor<1x3xf32>
  }
  func.return %R : tensor<1x3xf32>
}""",
        [(3, 1)],
    ),
    "vectors of a copy in vectors, the last of which are cut": (
        """
func.func @f(%A: tensor<5x7xf32>) -> tensor<7xf32> {
  %R = tile.kernel(%a = %A : tensor<5x7xf32>) -> tensor<7xf32>
    schedule <local.x 2*i : 4, serial 2*k : 3, serial i : 2, vector k : 2>
    stage <%a local at k vector 2> {
    %r = tile.contraction add(%a[k, i]) -> [i]
         domain <i = 0 to 7, k = 0 to 5> : (tensor<5x7xf32>) -> tensor<7xf32>
    tile.yield %r : tensor<7xf32>
  }
  func.return %R : tensor<7xf32>
}""",
        [(5, 7)],
    ),
    "barriers of a loop in both arms of a branch": (
        """
func.func @f(%A: tensor<40xf32>) -> tensor<18xf32> {
  %R = tile.kernel(%a = %A : tensor<40xf32>) -> tensor<18xf32>
    schedule <group.x 4*i : 5, local.x i : 4, serial 2*k : 3, serial k : 2> stage <%a local at k> {
    %r = tile.contraction add(%a[2*i + k]) -> [i] where 0 <= k < 6
         domain <i = 0 to 18, k = 0 to 6> : (tensor<40xf32>) -> tensor<18xf32>
    tile.yield %r : tensor<18xf32>
  }
  func.return %R : tensor<18xf32>
}""",
        [(40,)],
    ),
    "a loop a step longer than its index": (SUMS_OF_ROWS.format("7x37", 7, 37, 8, 37), [(7, 37)]),
    "a long loop a step longer than its index": (
        SUMS_OF_ROWS.format("61x64", 61, 64, 62, 64),
        [(61, 64)],
    ),
}
"""Kernels that were once wrong, and the shapes of their inputs."""


def kernel_named(name: str) -> tuple[ModuleOp, list[Array]]:
    """A kernel, and inputs for it."""
    text, shapes = KERNELS[name]
    module = TileOptMain([]).parse_chunk(io.BytesIO(text.encode()), "mlir")
    assert module is not None
    module.verify()
    random = np.random.default_rng(0)
    return module, [random.integers(1, 9, shape).astype(np.float32) for shape in shapes]


@pytest.mark.covering(1)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_after_each_pass(name: str, free: bool):
    module, arrays = kernel_named(name)
    check_passes(module, arrays, reference(module, arrays), [0], free=free)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str, device: Any):
    module, arrays = kernel_named(name)
    agree(run(module, arrays, device), reference(module, arrays), [0])
