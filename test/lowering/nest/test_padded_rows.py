"""Padded rows in local memory: the same results, as compiled for a described GPU."""

import numpy as np
import pytest
from described import check_as, spec

import tiledialect as td
from tiledialect import lift
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.runtime.program.plan_building import make_plan
from tiledialect.passes.lift import Derivation, replay

GPU = {"type": "gpu", "platform": "NVIDIA CUDA", "compute_units": 16, "local_mem_size": 49152}

PRODUCT = """
reduce_map_fusion at map/map/reduce
hold_blocks_2d(m=16, n=64, p=2, q=8, k=4) at map
map_wrg(dim=1) at map
map_wrg(dim=0) at map_wrg/map
add_transposed_identity_in_reduce(k=1) at map_wrg/map_wrg/reduce_seq
map_lcl(dim=1) at map_wrg/map_wrg/reduce_seq/map
map_lcl(dim=0) at map_wrg/map_wrg/reduce_seq/map_lcl/map
to_local at map_wrg/map_wrg/reduce_seq/map_lcl
map_lcl(dim=1) at map_wrg/map_wrg/reduce_seq/map
map_lcl(dim=0) at map_wrg/map_wrg/reduce_seq/map_lcl.1/map
to_private at map_wrg/map_wrg/reduce_seq
"""


def dot(row: lift.Value, column: lift.Value) -> lift.Value:
    return lift.zip(row, column) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)


@lift.fun
def matmul(a: lift.array(32, 16), b: lift.array(16, 64)):
    columns = b >> lift.transpose
    return a >> lift.map(lambda row: columns >> lift.map(lambda column: dot(row, column)))


@lift.fun
def turned(x: lift.array(2, 32, 32)):
    kept = lift.to_local(lift.map_lcl(1)(lift.map_lcl(0)(lift.id)))
    copied = lift.map_lcl(1)(lift.map_lcl(0)(lift.id))
    return x >> lift.map_wrg(lambda tile: tile >> kept >> lift.transpose >> copied)


@pytest.mark.parametrize("ahead", [False, True])
def test_copies_of_parts(ahead: bool, device: td.Device):
    derivation = replay(matmul, PRODUCT)
    if ahead:
        derivation = replay(derivation, "fetch_ahead at map_wrg/map_wrg/reduce_seq/to_local")
    check(derivation, [(32, 16), (16, 64)], "item_x * 9", device)


def test_squares(device: td.Device):
    check(Derivation.of(turned), [(2, 32, 32)], "[1056]", device)


def check(
    derivation: Derivation, shapes: list[tuple[int, ...]], text: str, device: td.Device
) -> None:
    """Compare results with the reference's; some text shows that rows are padded."""
    random = np.random.default_rng(0)
    # Small whole numbers have exact sums, in whatever order.
    arrays = [random.integers(-8, 8, shape).astype(np.float32) for shape in shapes]
    function, target = td.compile(derivation.module, device=device), spec("GPU", GPU)
    check_as(function, arrays, device, target, ulps=0)
    module = compile_module(derivation.module, None, function.types(arrays, {}), target)
    assert text in make_plan(module, derivation.function.sym_name.data).source
