"""Along which indices the lanes of vectors run on CPUs, where windows have strides."""

from __future__ import annotations

import pytest

from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.cost.cpu_body import TilePart
from tiledialect.schedule.cost.cpu_estimate import CpuModel
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import LoopIndex, LoopLevel, Role, Schedule, Stage
from tiledialect.schedule.search.choice import ranked


def tensor(number: int, shape: tuple[int, ...], *access: IndexExpr | str) -> Tensor:
    """A tensor of floats."""
    return Tensor(number, shape, tuple(IndexExpr.of(e) for e in access), "f32", 4)


def windows(size: int, taps: int, stride: int, channels: int, *, pooled: bool = False) -> Facts:
    """A convolution of rows, channels first; or sums of windows alone."""
    row = stride * IndexExpr.of("x") + IndexExpr.of("t")
    length = stride * (size - 1) + taps
    inputs = (tensor(0, (channels, length), "d" if pooled else "c", row),)
    summed = {"t": taps}
    if not pooled:
        inputs = (*inputs, tensor(1, (channels, channels, taps), "d", "c", "t"))
        summed = {"c": channels, "t": taps}
    sizes = {"d": channels, "x": size, **summed}
    indices = tuple(LoopIndex(n, Range(0, count), n in ("d", "x")) for n, count in sizes.items())
    result = tensor(0, (channels, size), "d", "x")
    return Facts(indices, inputs, (result,), "add", "" if pooled else "mul", 2.0)


def lanes(case: Facts, width: int) -> set[str]:
    """The indices along which candidates have lanes."""
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": width})
    last = (c.schedule.levels[-1] for c in ranked(case, device) if "contractions" in c.family)
    return {level.index for level in last if level.role is Role.VECTOR}


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("stride", [1, 2, 3, 4])
def test_lanes_along_channels_are_tried_where_windows_are_apart(stride: int, width: int):
    """Of neighbours, and of every other place, lanes that fill vectors are as good."""
    assert ("d" in lanes(windows(1000, 4 * stride, stride, 2 * width), width)) == (stride > 2)


def test_windows_that_share_nothing_have_lanes_along_rows_where_all_comes_from_memory():
    """The rows are copied in long pieces; vectors of 8 take as long to shuffle."""
    near, far = windows(4000, 4, 4, 64), windows(400_000, 4, 4, 64)
    assert ["d" in lanes(case, 16) for case in (near, far)] == [True, False]
    assert "d" in lanes(far, 8)
    assert "d" in lanes(windows(400_000, 16, 4, 64), 16)


def test_what_serves_one_result_is_not_turned():
    assert "d" not in lanes(windows(1000, 4, 4, 64, pooled=True), 8)


@pytest.mark.parametrize(("rows", "registers"), [(12, 15), (14, 17)])
def test_the_next_element_is_loaded_before_a_sum_has_the_place_of_this_one(
    rows: int, registers: int
):
    """Without instructions that multiply by what is in memory."""
    case = windows(14 * 12, 8, 4, 8)
    levels = (
        LoopLevel("x", rows, 168 // rows, Role.SERIAL),
        LoopLevel("c", 1, 8, Role.SERIAL),
        LoopLevel("t", 1, 8, Role.SERIAL),
        LoopLevel("x", 1, rows, Role.UNROLL),
        LoopLevel("d", 1, 8, Role.VECTOR),
    )
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 8})
    stages = (Stage(1, local=True, order=(1, 2, 0)),)
    model = CpuModel(case, Schedule(levels, stages), device)
    assert model.held == registers
    assert (model.spilled > 0) is (registers > device.registers)


def test_products_that_meet_their_vector_alone_load_what_windows_share():
    """With AVX-512 each takes its element from memory: it waits for that longer than it computes.
    Elements that meet two vectors are loaded for both, once for all windows."""
    case = windows(14 * 12, 8, 1, 32)

    def model(columns: int) -> CpuModel:
        levels = (
            LoopLevel("x", 14, 12, Role.SERIAL),
            LoopLevel("c", 1, 32, Role.SERIAL),
            LoopLevel("t", 1, 8, Role.UNROLL),
            LoopLevel("x", 1, 14, Role.UNROLL),
            LoopLevel("d", 16, columns, Role.UNROLL),
            LoopLevel("d", 1, 16, Role.VECTOR),
        )
        stages = (Stage(1, local=True, order=(1, 2, 0)),)
        device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
        return CpuModel(case, Schedule(levels, stages), device)

    alone, together = model(1), model(2)
    core = alone.device.rates.of_cpu.core
    loads = core.own_load * 14 * 8 + 8
    assert alone.busy_in(TilePart()) == pytest.approx(loads / core.loaded)
    assert alone.busy_in(TilePart()) > alone.operations / 2
    assert together.busy_in(TilePart()) == together.operations / 2
