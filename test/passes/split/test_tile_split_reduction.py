"""Contractions split into partial results and their aggregate, against the reference semantics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from building import function_module, type_of
from compare import LARGEST, assert_close
from generators import Array, Contraction, contraction_module, contractions
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from running import reference, run
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

import tiledialect as td
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import give_name
from tiledialect.ir.signature import find_function
from tiledialect.language.to_ir import load
from tiledialect.passes.normalize.tile_bounds import TileBoundsPass
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.passes.split.tile_split_reduction import TileSplitReductionPass

BATCH = 10


def searching(examples: int) -> settings:
    return settings(
        max_examples=max(1, examples),
        deadline=None,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


def summed(made: Contraction) -> list[str]:
    """The indices at which a contraction can be split, by its form."""
    ranges = sets.ranges(made.space())
    outputs = made.space().output_variables
    if made.aggregation is Aggregation.assign:
        return []
    return [n for n, r in ranges.items() if n not in outputs and r.extent > 1]


@st.composite
def splits(draw: st.DrawFn) -> tuple[ModuleOp, ModuleOp, list[Array]]:
    """A contraction, the same split at some index, and inputs."""
    made = draw(contractions(draw(st.booleans())).filter(summed))
    index, parts = draw(st.sampled_from(summed(made))), draw(st.integers(2, 5))
    module, arrays = contraction_module([made])
    split = module.clone()
    if draw(st.booleans()):
        TileBoundsPass().apply(Context(), split)
    note(f"{split}\nat {index} in {parts}")
    try:
        TileSplitReductionPass(index, parts).apply(Context(), split)
    except TileError as e:
        # Then nothing lands for some values of the output's indices.
        assert "elements on which nothing lands" in e.message
        assert not sets.is_full(made.space())
        split = module
    split.verify()
    return module, split, arrays


def test_parts_have_the_type_that_a_default_gives(device: Any):
    """A product of i8 over a default of u32 is i64, and so are its parts."""
    text = "function (A[N], B) -> (O) { O[] = *(A[i]) default B; }"
    arrays = [np.full(9, 100, np.int8), np.array(7, np.uint32)]
    module = load(text)
    specialize(find_function(module), [type_of(a) for a in arrays])
    TileSplitReductionPass("i", 3).apply(Context(), module)
    (result,) = run(module, arrays, device)
    assert (result.dtype, int(result)) == (np.int64, 100**9)


def splits_agree(case: tuple[ModuleOp, ModuleOp, list[Array]]) -> None:
    """By the reference, a contraction that is split gives what it gives as a whole."""
    module, split, arrays = case
    note(str(split))
    for actual, wanted in zip(reference(split, arrays), reference(module, arrays), strict=True):
        assert_close(actual, wanted, scale=LARGEST)


def test_random_splits(request: pytest.FixtureRequest):
    searching(request.config.getoption("--examples") // 2)(given(splits())(splits_agree))()


def test_random_splits_on_devices(device: Any, request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // 20)
    @given(splits())
    def check(case: tuple[ModuleOp, ModuleOp, list[Array]]) -> None:
        module, split, arrays = case
        note(str(split))
        for actual, wanted in zip(
            run(split, arrays, device), reference(module, arrays), strict=True
        ):
            assert_close(actual, wanted, scale=LARGEST)

    check()


def full_sum(array: Array) -> ModuleOp:
    """The sum of a matrix, split by its rows."""
    block = Block(arg_types=[type_of(array)])
    access = [IndexExpr.of("i"), IndexExpr.of("k")]
    inputs = [(block.args[0], access)]
    total = ContractionOp(Aggregation.add, Combination.none, [], inputs, shape=())
    give_name(total.result, "S")
    block.add_op(total)
    module = function_module(block, [total.result])
    TileSplitReductionPass("i", 16).apply(Context(), module)
    return module


def test_f16_sums_keep_the_precision_of_the_accumulator(device: Any):
    """2048 + 1 is 2048 in f16, so that partial results of that type would lose the ones."""
    data = np.ones((64, 64), np.float16)
    data[::8, 0] = 2048
    module, wanted = full_sum(data), np.float16(data.astype(np.float64).sum())
    assert reference(module, [data])[0] == wanted
    if device.fp16:
        assert run(module, [data], device)[0] == wanted


def test_work_groups_share_a_sum(device: Any):
    data = np.random.default_rng(0).integers(-3, 4, (100, 300)).astype(np.float32)
    schedules = {
        "S_parts": "<group.x i_part : 15, local.x k : 32, serial i : 7, serial 32*k : 10>",
        "S": "<local.x i_part : 16>",
    }
    f = td.compile(full_sum(data), device=device).with_schedules(schedules)
    assert f.schedules(data) == schedules
    assert f(data) == data.sum()
