"""Feeds random and mutated Tile programs to the compiler, and random values to the properties of the
tests, until stopped (`make fuzz`). The cases and devices that the suite leaves out are run, too.

`python test/fuzz.py --seconds 60 --seed 7` stops after a minute. What it makes up is the same every
time; how far it comes is not. Whole programs, schedules and orders of passes are checked in another
process, and one that takes longer than `--limit` seconds is a finding.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, is_hypothesis_test, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

HERE = Path(__file__).parent
FOLDERS = """
    . support api language lift lowering lowering/tile_to_nest lowering/lift_to_nest lowering/opencl lowering/runtime/program
    index index/integer interpreters schedule schedule/search exploration passes/specialize passes/lift passes/gradient passes/transform passes/split passes/fuse
"""
sys.path[:0] = [str(HERE / folder) for folder in FOLDERS.split()]

import conftest  # noqa: E402, F401  (before the first device is looked for)
import given_schedules  # noqa: E402
import mlir_mutations  # noqa: E402
import pass_orders  # noqa: E402
import piece_programs  # noqa: E402
import printing  # noqa: E402
import random_programs  # noqa: E402
import space_candidates  # noqa: E402
import test_changes  # noqa: E402
import test_contraction  # noqa: E402
import test_cpu_candidates  # noqa: E402
import test_expressions  # noqa: E402
import test_float_widths  # noqa: E402
import test_index_maps  # noqa: E402
import test_index_width  # noqa: E402
import test_instructions  # noqa: E402
import test_kernel_reuse  # noqa: E402
import test_lattice  # noqa: E402
import test_layout  # noqa: E402
import test_many_batches  # noqa: E402
import test_module_reuse  # noqa: E402
import test_operations  # noqa: E402
import test_order  # noqa: E402
import test_output_box  # noqa: E402
import test_piece_programs  # noqa: E402
import test_prefix  # noqa: E402
import test_random_programs  # noqa: E402
import test_schedules  # noqa: E402
import test_sets  # noqa: E402
import test_simplify  # noqa: E402
import test_size  # noqa: E402
import test_size_transfer  # noqa: E402
import test_stencil_fusion  # noqa: E402
import test_tile_gradient  # noqa: E402
import test_tile_jvp  # noqa: E402
import test_tile_split_reduction  # noqa: E402
import test_tile_split_rows  # noqa: E402
import test_tile_to_lift  # noqa: E402
import test_tile_vmap  # noqa: E402
import test_whole_programs  # noqa: E402
import whole_programs  # noqa: E402
from described import Entries, entries  # noqa: E402
from generators import Contraction  # noqa: E402
from gradients import differences  # noqa: E402
from limited import LIMIT, Worker  # noqa: E402
from operations import convolutions  # noqa: E402
from programs import Program, programs  # noqa: E402
from running import Case, reference, run  # noqa: E402
from test_fuzz import compiles, mutated, survives, texts  # noqa: E402
from test_roundtrip import prints_when_specialized, says_the_same  # noqa: E402

import tiledialect as td  # noqa: E402
from tiledialect.lowering.runtime.device.queues import queue_for  # noqa: E402

Described = tuple[str, Entries]


def agrees(program: Program) -> None:
    """The default device and the reference semantics give the same, but for rounding.

    Both refuse a number that is made negative beside integers without a sign.
    """
    inputs = program.arrays()
    try:
        expected = reference(program.source, inputs)
    except td.TileError as refused:
        assert re.search(r"-\d+ does not fit u\d+", refused.message)
        with pytest.raises(td.TileError, match=re.escape(refused.message)):
            run(program.source, inputs, None)
        return
    for a, b in zip(run(program.source, inputs, None), expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-2)


def operation_agrees(operation: Case) -> None:
    """Every device computes an operation as NumPy does."""
    for device in td.devices():
        operation.check(run(operation.source, operation.inputs, device))


def printed_in_order(seed: int) -> None:
    """Every device does what a random kernel says, in its order."""
    for device in td.devices():
        queue = queue_for(device)
        text = printing.gpu_module(test_order.text_of(seed))
        test_order.agrees(queue, printing.build(queue, text), seed)


def slopes_agree(made: tuple[differences.Case, int]) -> None:
    """Gradients of a program are its slopes along a random direction."""
    program, number = made
    differences.check_module(program.module(), program.inputs, program.wrt, number)


def contractions_agree(batch: list[Contraction]) -> None:
    """Every device gives for contractions what the reference semantics give."""
    for device in td.devices():
        test_random_programs.agree(batch, device)


def ir_agrees(program: random_programs.Program) -> None:
    """Every device gives for a program of tile ops what the reference semantics give."""
    for device in td.devices():
        test_random_programs.agrees(program, device)


@st.composite
def compiled_for(draw: st.DrawFn) -> tuple[whole_programs.Program, int, td.Device, Described]:
    """A whole program, how often to differentiate it, a device, and as what it is described."""
    program, device = draw(whole_programs.programs()), draw(st.sampled_from(td.devices()))
    return program, draw(st.integers(0, 2)), device, draw(entries(device))


def whole_agrees(made: tuple[whole_programs.Program, int, td.Device, Described]) -> None:
    """A device gives what the reference gives, as compiled for a described one."""
    test_whole_programs.agrees(*made)


def pieces_agree(made: tuple[piece_programs.Program, int]) -> None:
    """The default device gives for a program of small statements what the reference gives."""
    program, order = made
    test_piece_programs.agrees(program, order, td.devices()[0])


PROPERTY_TESTS = (
    *(
        test_changes,
        test_expressions,
        test_lattice,
        test_prefix,
        test_sets,
        test_simplify,
        test_size,
    ),
    *(test_contraction, test_cpu_candidates, test_float_widths, test_index_maps, test_index_width),
    *(
        test_instructions,
        test_output_box,
        test_size_transfer,
        test_stencil_fusion,
        test_tile_gradient,
        test_tile_to_lift,
    ),
)
PROPERTIES = [
    t for module in PROPERTY_TESTS for t in vars(module).values() if is_hypothesis_test(t)
]
"""Tests with random examples, which are few in `make test`."""


@st.composite
def properties(draw: st.DrawFn) -> tuple[Callable[..., None], dict[str, Any]]:
    """A property, and the values for which it must hold."""
    test = draw(st.sampled_from(PROPERTIES)).hypothesis
    values = {name: draw(made) for name, made in test._given_kwargs.items()}
    if "device" in signature(test.inner_test).parameters:
        values["device"] = draw(st.sampled_from(td.devices()))
    return test.inner_test, values


def property_holds(made: tuple[Callable[..., None], dict[str, Any]]) -> None:
    """A property holds for some values."""
    test, values = made
    test(**values)


TARGETS: tuple[tuple[SearchStrategy[Any], Callable[[Any], None]], ...] = (
    (texts, survives),
    (mutated().map(lambda program: program.source), survives),
    (programs(), says_the_same),
    (programs(max_statements=12), prints_when_specialized),
    (mutated(), compiles),
    (programs(), agrees),
    (st.sampled_from([*test_operations.CASES, *convolutions.EVERY]), operation_agrees),
    (st.integers(0, 2**32), printed_in_order),
    (st.integers(0, 2**32), test_kernel_reuse.kernels_are_those_of_lowering_anew),
    (st.integers(0, 2**32), test_kernel_reuse.other_batches_agree),
    (st.integers(0, 2**32), test_many_batches.any_batches_agree),
    (st.integers(0, 2**32), test_module_reuse.random_batches_agree),
    (st.tuples(st.sampled_from(test_tile_gradient.CASES), st.integers(0, 2**32)), slopes_agree),
    (st.sampled_from(test_tile_gradient.CASES), test_tile_gradient.check_text),
    (
        st.sampled_from([c for c in test_tile_gradient.CASES if c.second]),
        test_tile_gradient.check_second_order,
    ),
    (st.sampled_from(test_tile_jvp.CASES), test_tile_jvp.check_transpose),
    (st.sampled_from(test_tile_vmap.CASES), test_tile_vmap.check_case),
    (test_tile_vmap.batches_of_programs(), lambda given: test_tile_vmap.check(*given)),
    (test_random_programs.batches(5), contractions_agree),
    (random_programs.programs(), ir_agrees),
    (compiled_for(), whole_agrees),
    (st.tuples(piece_programs.programs(12), st.integers(0, 1)), pieces_agree),
    (given_schedules.given_schedules(), given_schedules.schedules_agree),
    (test_schedules.batches(1), test_schedules.nests_agree),
    (space_candidates.of_contractions(), space_candidates.candidates_agree),
    (space_candidates.of_patterns(), space_candidates.candidates_agree),
    (pass_orders.orders(), pass_orders.ends_well),
    (test_layout.programs(), test_layout.devices_agree),
    (mlir_mutations.damaged(), mlir_mutations.survives),
    (test_tile_split_reduction.splits(), test_tile_split_reduction.splits_agree),
    (test_tile_split_rows.ROWS_IN_PARTS, test_tile_split_rows.rows_agree),
    (properties(), property_holds),
)
"""Strategies, and the checks of their values."""

LIMITED = (
    *(whole_agrees, pieces_agree, given_schedules.schedules_agree, pass_orders.ends_well),
    space_candidates.candidates_agree,
)
"""Checks with a time limit for each value."""

TURN = 60.0
"""Seconds of a target before the turn of the next one."""
CASES_TURN = 300.0
"""Seconds of the cases that the suite leaves out, before the next round."""

ENDLESS = settings(
    max_examples=500,
    deadline=None,
    derandomize=False,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def check_left_out(number: int, seconds: float) -> None:
    """Run the cases and the devices that the suite leaves out, in a random order."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        command = [sys.executable, "-m", "pytest", "-q", "-x", f"--left-out={number}"]
        subprocess.run(command, cwd=HERE.parent, timeout=seconds, check=True)


class TimeIsUpError(KeyboardInterrupt):
    """Ends a turn: Hypothesis takes an `Exception` for a finding."""


def check_with(
    made: SearchStrategy[Any], check: Callable[[Any], None], number: int, end: float
) -> None:
    """Check what is made up with one seed until some time; what is found is shrunk after it."""
    found = False

    @seed(number)
    @ENDLESS
    @given(made)
    def every(value: Any) -> None:
        nonlocal found
        if not found and time.monotonic() > end:
            raise TimeIsUpError
        try:
            check(value)
        except BaseException:
            found = True
            raise

    with contextlib.suppress(TimeIsUpError):
        every()


def main() -> None:
    """Run rounds of every target, each with a seed of its own, until something breaks."""
    arguments = ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=float("inf"), help="when to stop")
    arguments.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    arguments.add_argument("--limit", type=float, default=LIMIT, help="seconds for one program")
    options = arguments.parse_args()
    worker = Worker(options.limit)
    end = time.monotonic() + options.seconds
    number = options.seed
    while time.monotonic() < end:
        for k, (made, check) in enumerate(TARGETS):
            now = time.monotonic()
            print(f"seed {number}: {check.__name__}", flush=True)
            turn = min(TURN, (end - now) / (len(TARGETS) + 1 - k))
            run = partial(worker.run, check) if check in LIMITED else check
            check_with(made, run, number, now + turn)
        print(f"seed {number}: {check_left_out.__name__}", flush=True)
        check_left_out(number, min(CASES_TURN, max(end - time.monotonic(), 0)))
        number += 1


if __name__ == "__main__":
    main()
