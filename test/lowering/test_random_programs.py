"""Random contractions and programs: every device against the reference semantics.

`pytest test/test_random_programs.py --examples 3000` tries 3000 contractions, and a tenth as many
programs, of which each device has a share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any
from zlib import crc32

import ml_dtypes
import numpy as np
import pytest
from compare import assert_close
from generators import Contraction, contraction_module, contractions
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st
from random_programs import Program, programs
from running import reference, run
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr

import tiledialect as td
from tiledialect.dialects.discardable import UPDATES
from tiledialect.dialects.tile.elementwise.numeric import kind_of
from tiledialect.ir.signature import argument_names, find_function

BATCH = 20
"""Number of contractions that are built as one program."""


def batches(size: int = BATCH) -> st.SearchStrategy[list[Contraction]]:
    """Contractions; the output indices of half of them are single ones."""
    return st.lists(st.booleans().flatmap(contractions), min_size=size, max_size=size)


def agree(batch: Sequence[Contraction], device: Any) -> None:
    """Fail unless the device gives what the reference gives; name the contraction that differs."""
    module, arrays = contraction_module(batch)
    expected = reference(module, arrays)
    try:
        for actual, wanted in zip(run(module, arrays, device), expected, strict=True):
            assert_close(actual, wanted)
    except Exception:
        if len(batch) == 1:
            note(f"{module}\n{batch[0]}")
            raise
        for made in batch:
            agree([made], device)
        raise


def agrees(program: Program, device: Any) -> None:
    """Fail unless the device gives what the reference gives, up to rounding."""
    are_expected(program, run(program.module, program.arrays, device))


def are_expected(program: Program, actual: Sequence[Any]) -> None:
    """Fail unless these are the results that the reference gives, up to rounding."""
    expected = reference(program.module, program.arrays)
    for a, e, error in zip(actual, expected, program.errors, strict=True):
        eps = float(ml_dtypes.finfo(e.dtype).eps) if kind_of(e.dtype) == "f" else 1
        assert_close(a, e, length=0, ulps=2 * error / eps, scale=1)


def searching(examples: int) -> settings:
    """Settings for so many examples; batches are not shrunk, as `agree` takes them apart."""
    return settings(
        max_examples=max(1, examples),
        deadline=None,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


def sharing(
    examples: int, device: td.Device
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """A device's share of so many examples: others than those of the other devices."""
    share = searching(examples // len(td.devices()))
    return lambda test: seed(crc32(device.id.encode()))(share(test))


def test_contractions(device: td.Device, request: pytest.FixtureRequest):
    @sharing(request.config.getoption("--examples") // BATCH, device)
    @given(batches())
    def check(batch: list[Contraction]) -> None:
        agree(batch, device)

    check()


def test_random_programs(device: td.Device, request: pytest.FixtureRequest):
    @sharing(request.config.getoption("--examples") // 10, device)
    @given(programs())
    def check(program: Program) -> None:
        agrees(program, device)

    check()


def updating(program: Program, random: Random) -> tuple[ModuleOp, dict[int, int]]:
    """The program with results that update inputs of their types, and the numbers of both."""
    module = program.module.clone()
    function = find_function(module)
    results, inputs = function.function_type.outputs.data, function.function_type.inputs.data
    chosen: dict[int, int] = {}
    for k in random.sample(range(len(results)), len(results)):
        fitting = [n for n, t in enumerate(inputs) if t == results[k] and n not in chosen.values()]
        if fitting:
            chosen[k] = random.choice(fitting)
    names = argument_names(function)
    updates = [{UPDATES: names[chosen[k]]} if k in chosen else {} for k in range(len(results))]
    attributes = [{key: StringAttr(n) for key, n in own.items()} for own in updates]
    function.res_attrs = ArrayAttr(map(DictionaryAttr, attributes))
    return module, chosen


def test_random_updates(device: td.Device, request: pytest.FixtureRequest):
    """Results that are written over inputs are those that are returned otherwise."""

    @sharing(request.config.getoption("--examples") // 10, device)
    @given(programs(), st.randoms(use_true_random=False))
    def check(program: Program, random: Random) -> None:
        module, chosen = updating(program, random)
        arrays = [np.array(a, order="C") for a in program.arrays]
        others = iter(run(module, arrays, device))
        found = range(len(program.errors))
        are_expected(program, [arrays[chosen[k]] if k in chosen else next(others) for k in found])
        for n, (a, before) in enumerate(zip(arrays, program.arrays, strict=True)):
            assert n in chosen.values() or a.tobytes() == np.ascontiguousarray(before).tobytes()

    check()


@pytest.mark.parametrize(
    "statement",
    [
        "O[] = +(A[i/2]), i < 4",
        "O[i: 4] = +(A[i/2])",
        "O[2*i: 4] = =(A[i])",
        "O[k: 3] = +(A[k + i/2]), i < 3",
    ],
)
def test_no_defract_changes_no_result(statement: str, device: Any):
    program = td.compile(f"function (A[N]) -> (O) {{ {statement} no_defract; }}", device=device)
    a = np.float32([1, 2])
    assert np.array_equal(program(a), program.reference(a))
