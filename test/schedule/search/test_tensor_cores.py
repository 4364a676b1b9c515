"""Split sums of products on tensor cores: their number depends on no clock of one device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.cost.device import Kind, described
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import LoopIndex
from tiledialect.schedule.search.tensor_cores import parts_on_tensor_cores

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
    """One that takes so many times as long for everything."""
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
