"""Split sums of products on tensor cores: their number depends on no clock of one device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.estimate import estimate
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.cost.tiles import TilesWork
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import LoopIndex
from tiledialect.schedule.search.tensor_cores import parts_on_tensor_cores, tensor_core_schedule

GPU = described(
    Kind.GPU, {"platform": "NVIDIA CUDA", "compute_capability": 90, "compute_units": 132}
)


def product(m: int, n: int, k: int) -> Facts:
    """A product of matrices of f16."""

    def tensor(number: int, **axes: int) -> Tensor:
        access = tuple(map(IndexExpr.of, axes))
        return Tensor(number, tuple(axes.values()), access, "f16", 2)

    sizes = {"i": m, "j": n, "k": k}
    indices = tuple(LoopIndex(name, Range(0, size), name != "k") for name, size in sizes.items())
    inputs = tensor(0, i=m, k=k), tensor(1, k=k, j=n)
    return Facts(indices, inputs, (tensor(0, i=m, j=n),), "add", "mul", 2.0)


@pytest.mark.parametrize("size", [(128, 128, 1 << 16), (512, 256, 8192), (2048, 2048, 4096)])
@pytest.mark.parametrize("times", [0.25, 3.0])
def test_a_slower_device_has_the_same_parts(size: tuple[int, int, int], times: float):
    """Device that takes so many times as long for everything."""
    slower = replace(
        GPU,
        latency=times * GPU.latency,
        launch=times * GPU.launch,
        bandwidth=GPU.bandwidth / times,
        arithmetic=GPU.arithmetic / times,
    )
    facts = product(*size)
    own, others = (parts_on_tensor_cores(facts, device, "f32") for device in (GPU, slower))
    assert (own is None) == (others is None) == (size[0] == 2048)
    if own is not None and others is not None:
        assert (own.index, own.count) == (others.index, others.count)
        assert others.seconds == pytest.approx(times * own.seconds)


@pytest.mark.parametrize(
    ("size", "work"),
    [
        ((4096, 4096, 4096), TilesWork(32 * 32, 128 * 128, 128)),
        ((500, 250, 1000), TilesWork(8 * 4, 64 * 64, 32)),
    ],
)
def test_a_schedule_is_estimated_by_its_tiles(size: tuple[int, int, int], work: TilesWork):
    facts = product(*size)
    schedule = tensor_core_schedule(facts, GPU, "f32")
    assert schedule is not None
    found, own = estimate(facts, GPU, schedule), estimate(work, GPU)
    assert (found.seconds, found.waiting, found.groups) == (own.seconds, own.waiting, own.groups)
    assert found.registers > 0 < found.local_memory
    # The rates are those of groups that wait for asynchronous copies.
    plain = replace(schedule, stages=tuple(replace(s, asynchronous=False) for s in schedule.stages))
    assert estimate(facts, GPU, plain).seconds > found.seconds
