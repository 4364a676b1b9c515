"""The cost service: an estimate for every kind of kernel."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from cpu_cases import product, tensor

from tiledialect.index.expr import Range
from tiledialect.schedule.cost.device import Device, described
from tiledialect.schedule.cost.estimate import (
    estimate,
    estimated,
    estimated_below,
    in_sequence,
    least_seconds,
    modelled,
)
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.cost.nests import NestWork
from tiledialect.schedule.cost.parts import PARTS, Work
from tiledialect.schedule.cost.scatters import OneHot, ScatterWork
from tiledialect.schedule.cost.tiles import TilesWork
from tiledialect.schedule.cost.traffic import Machine
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import LoopIndex
from tiledialect.schedule.search.choice import best_or_default

CPU = described(Kind.CPU, {"native_vector_width": 16})
GPU = described(Kind.GPU, {"platform": "NVIDIA", "compute_units": 132})
DEVICES = {"CPU": CPU, "GPU": GPU}


def copy(*shape: int) -> Facts:
    """A kernel that reads a tensor and writes it."""
    names = [f"d{k}" for k in range(len(shape))]
    own = tensor(0, shape, *names)
    indices = tuple(
        LoopIndex(n, Range(0, size), True) for n, size in zip(names, shape, strict=True)
    )
    return Facts(indices, (own,), (own,), operations_after=1.0)


def sums(rows: int, length: int) -> Facts:
    """Sums of rows."""
    facts = product(rows, 1, length)
    first, _ = facts.inputs
    return replace(facts, inputs=(first,))


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
@pytest.mark.parametrize(
    ("small", "large"),
    [
        (product(128, 128, 128), product(512, 512, 512)),
        (sums(1024, 512), sums(4096, 2048)),
        (copy(512, 512), copy(4096, 4096)),
    ],
    ids=["product", "sums", "copy"],
)
def test_kernels_with_schedules(small: Facts, large: Facts, device: Device):
    """More work takes longer, no part takes longer than all, and none beats the device."""
    chosen = [best_or_default(facts, device) for facts in (small, large)]
    found = [estimate(f, device, c.schedule) for f, c in zip((small, large), chosen, strict=True)]
    assert found == [c.estimate for c in chosen]
    assert found[0].seconds < found[1].seconds
    for own, facts in zip(found, (small, large), strict=True):
        assert own.launch == device.launch * 1e-6
        assert max(getattr(own, part) for part in PARTS) <= own.seconds
        assert least_seconds(facts, device) <= own.seconds


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
def test_estimates_below_a_bound(device: Device):
    facts = product(256, 256, 256)
    model = modelled(facts, best_or_default(facts, device).schedule, device)
    found = estimated(model)
    assert estimated_below(model, 1.01 * found.seconds) == found
    assert estimated_below(model, found.seconds) is None
    assert estimated_below(model, 0.0) is None


def nest(size: int) -> NestWork:
    return NestWork(
        operations=float(size),
        accesses=0.5 * size,
        traffic=4.0 * size,
        touched=4.0 * size,
        groups=512,
        items=64,
    )


def scatter(indices: int) -> ScatterWork:
    return ScatterWork(indices, parts=1, groups=4, slabs=4, nbytes=1024)


WORK = {
    "nest on a CPU": (CPU, nest(1 << 20), nest(1 << 26)),
    "nest on a GPU": (GPU, nest(1 << 24), nest(1 << 30)),
    "scatter on a CPU": (CPU, scatter(1 << 10), scatter(1 << 20)),
    "scatter on a GPU": (GPU, scatter(1 << 10), scatter(1 << 20)),
    "tiles": (GPU, TilesWork(132, 64 * 64, 4), TilesWork(132, 64 * 64, 64)),
    "more tiles": (GPU, TilesWork(132, 128 * 128, 64), TilesWork(133, 128 * 128, 64)),
}


@pytest.mark.parametrize(("device", "small", "large"), WORK.values(), ids=WORK)
def test_counted_work(device: Device, small: Work, large: Work):
    first, second = estimate(small, device), estimate(large, device)
    assert device.launch * 1e-6 <= first.seconds < second.seconds


def test_a_larger_tile_reads_less():
    """Four tiles of 64 x 64 take longer than one of 128 x 128."""
    small, large = TilesWork(4 * 132, 64 * 64, 64), TilesWork(132, 128 * 128, 64)
    assert large.on(GPU).seconds < small.on(GPU).seconds


def test_parts_of_a_scatter_are_summed():
    whole = ScatterWork(1 << 10, parts=1, groups=4, slabs=4, nbytes=1 << 20)
    parts = replace(whole, parts=4, groups=16)
    assert estimate(whole, GPU).memory == 0.0 < estimate(parts, GPU).memory


def test_one_hot_sums_of_few_rows_are_compared():
    few, many = (OneHot(n, 1 << 20, 1, False) for n in (2, 1 << 14))
    for device in (CPU, GPU):
        for sums, is_faster in ((many, True), (few, False)):
            seconds = estimate(sums.scattered, device).seconds
            assert (seconds < estimate(sums, device).seconds) is is_faster


def test_fusion_without_a_device_is_for_a_common_gpu():
    assert Machine.of(None) == Machine.of(described(Kind.GPU, {}))


def test_few_rows_leave_units_idle():
    machine = Machine.of(GPU)
    moved = prod((1 << 10, 1 << 10, 4))
    few, many = (machine.rows(moved, groups).time for groups in (8, 1 << 10))
    assert few > many == max(moved, machine.launch)


@pytest.mark.parametrize("name", DEVICES)
def test_kernels_in_sequence(name: str) -> None:
    device = DEVICES[name]
    launch, long, short = device.launch_seconds, 1e-3, 1e-7
    together = in_sequence([launch + long, launch + long], device)
    between = device.rates.kernels.handover * device.latency * 1e-6
    if device is CPU:
        assert together == pytest.approx(2 * (launch + long))
    else:
        # The second launch takes place while the first kernel runs.
        assert together == pytest.approx(launch + 2 * long + between)
    # The host launches one after the other.
    many = in_sequence([launch + short] * 50, device)
    assert many >= 50 * launch
    assert in_sequence([launch + long], device) == pytest.approx(launch + long)
