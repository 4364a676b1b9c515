"""The cost model's orderings: which of two schedules it thinks faster, and why. No times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.device import PLATFORMS, Device, described
from tiledialect.schedule.cost.estimate import estimated
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.cost.parts import Estimate
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import LoopIndex, LoopLevel, Role, Schedule, Stage
from tiledialect.schedule.search.choice import best_or_default, ranked

GPU = described(Kind.GPU, {"platform": "NVIDIA", "compute_units": 132})
assert GPU.registers == PLATFORMS[Kind.GPU]["nvidia"]["registers"]


def product(m: int, n: int, k: int) -> Facts:
    """A matrix product."""

    def tensor(number: int, rows: tuple[str, int], columns: tuple[str, int]) -> Tensor:
        access = tuple(IndexExpr.of(name) for name, _ in (rows, columns))
        return Tensor(number, (rows[1], columns[1]), access, "f32", 4)

    i, j, s = ("i", m), ("j", n), ("k", k)
    indices = tuple(LoopIndex(name, Range(0, size), name != "k") for name, size in (i, j, s))
    inputs = (tensor(0, i, s), tensor(1, s, j))
    return Facts(indices, inputs, (tensor(0, i, j),), "add", "mul", 2.0)


def tiled(m: int, n: int, k: int, tile: int, *, staged: bool = True) -> Schedule:
    """Square tiles of registers, 16 x 16 items, chunks of 8."""
    block = 16 * tile
    levels = (
        LoopLevel("i", block, -(-m // block), Role.GROUP, "y"),
        LoopLevel("j", block, -(-n // block), Role.GROUP, "x"),
        LoopLevel("i", tile, 16, Role.LOCAL, "x"),
        LoopLevel("j", tile, 16, Role.LOCAL, "x"),
        LoopLevel("k", 8, -(-k // 8), Role.SERIAL),
        LoopLevel("k", 1, 8, Role.UNROLL),
        LoopLevel("i", 1, tile, Role.UNROLL),
        LoopLevel("j", 1, tile, Role.VECTOR),
    )
    stages = tuple(Stage(k, local=True, at=("k", 8), vector=4) for k in (0, 1))
    return Schedule(levels, stages if staged else ())


def estimate(size: int, schedule: Schedule, device: Device = GPU) -> Estimate:
    """The estimate of a square product."""
    return estimated(Model(product(size, size, size), schedule, device))


def test_larger_register_tiles_read_less():
    small, large = (estimate(2048, tiled(2048, 2048, 2048, n)) for n in (2, 8))
    assert large.seconds < small.seconds
    assert large.local < small.local and large.cache < small.cache


def test_small_problems_want_more_groups():
    small, large = (estimate(256, tiled(256, 256, 256, n)) for n in (2, 8))
    assert small.groups > large.groups
    assert small.seconds < large.seconds


def test_stages_spare_the_caches():
    staged, direct = (estimate(1024, tiled(1024, 1024, 1024, 4, staged=s)) for s in (True, False))
    assert staged.cache < direct.cache
    assert staged.local_memory > direct.local_memory == 0


def test_fetching_ahead_hides_waiting_and_costs_registers():
    plain = tiled(512, 512, 512, 8)
    ahead = replace(plain, stages=tuple(replace(s, copies=2) for s in plain.stages))
    a, b = estimate(512, plain), estimate(512, ahead)
    assert b.waiting < a.waiting
    assert b.registers > a.registers
    assert b.local_memory == 2 * a.local_memory


def test_too_many_registers_are_slow():
    few = replace(GPU, registers=64)
    schedule = tiled(2048, 2048, 2048, 8)
    assert estimate(2048, schedule, few).seconds > 2 * estimate(2048, schedule).seconds


@pytest.mark.parametrize("kind", list(Kind))
def test_a_slower_device_is_slower(kind: Kind):
    device = described(kind, {})
    slower = replace(device, arithmetic=device.arithmetic / 4, bandwidth=device.bandwidth / 4)
    schedule = tiled(512, 512, 512, 4)
    assert estimate(512, schedule, slower).seconds > estimate(512, schedule, device).seconds


@pytest.mark.parametrize(("m", "n", "k"), [(4096, 4096, 4096), (1000, 700, 3000), (4096, 4096, 64)])
def test_the_chosen_one_beats_plain_tiles(m: int, n: int, k: int):
    facts = product(m, n, k)
    best = ranked(facts, GPU)[0]
    assert best.estimate.seconds <= estimated(Model(facts, tiled(m, n, k, 4), GPU)).seconds
    assert best.estimate.local_memory <= GPU.local_mem_size
    assert any(s.local for s in best.schedule.stages)


def test_two_groups_on_a_unit_hide_the_barriers_of_one_another():
    for size in (4096, 8192):
        best = ranked(product(size, size, size), GPU)[0].estimate
        assert best.resident == 2 and best.groups == (size // 128) ** 2


def rows(count: int, length: int, items: int, held: int = 0) -> Estimate:
    """The estimate of a row kernel that reads its rows three times, with so many items a row."""
    d0, d1 = ("d0", count), ("d1", length)
    x = Tensor(0, (count, length), (IndexExpr.of("d0"), IndexExpr.of("d1")), "f32", 4)
    indices = tuple(LoopIndex(n, Range(0, size), n == "d0") for n, size in (d0, d1))
    facts = Facts(
        indices, (x,), (x,), "add", is_rows=True, kept=(0,), held=held, live=1, passes=(3,)
    )
    levels = (
        LoopLevel("d0", 1, count, Role.GROUP, "x"),
        LoopLevel("d1", 1, items, Role.LOCAL, "x"),
        LoopLevel("d1", 4 * items, length // (4 * items), Role.SERIAL),
        LoopLevel("d1", items, 4, Role.UNROLL),
    )
    return estimated(Model(facts, Schedule(levels), GPU))


def test_groups_of_a_unit_read_what_all_read_from_its_first_cache():
    i, k = (LoopIndex(n, Range(0, 16384), n == "i") for n in "ik")
    matrix, vector, result = (
        Tensor(n, (16384,) * len(names), tuple(map(IndexExpr.of, names)), "f32", 4)
        for n, names in enumerate(("ik", "k", "i"))
    )
    facts = Facts((i, k), (matrix, vector), (replace(result, number=0),), "add", "mul", 2.0)
    best = ranked(facts, GPU)[0]
    assert (best.schedule.levels[-1].index, best.schedule.levels[-1].role) == ("k", Role.VECTOR)


def test_other_groups_hide_how_groups_of_short_sums_begin_and_end():
    best = ranked(product(4096, 4096, 64), GPU)[0].estimate
    assert best.resident == 2 and best.groups == 32**2
    items = best.arithmetic  # the same products by fewer, larger tiles of a work-item
    few = [c.estimate for c in ranked(product(4096, 4096, 64), GPU) if c.estimate.registers > 200]
    assert all(e.seconds > best.seconds for e in few) and any(e.arithmetic < items for e in few)


def test_what_is_fetched_late_is_waited_for():
    late = replace(GPU, latency=2 * GPU.latency)
    schedule = tiled(512, 512, 512, 4)
    waits = [estimate(512, schedule, device).waiting for device in (GPU, late)]
    assert 0 < waits[0] < waits[1]


def test_what_waits_for_memory_is_slower_by_lone_groups():
    thin, schedule = product(4096, 4096, 8), tiled(4096, 4096, 8, 8)
    lone, pairs = (replace(GPU, local_mem_unit=kib << 10) for kib in (12, 24))
    slow, fast = (estimated(Model(thin, schedule, device)) for device in (lone, pairs))
    assert (slow.resident, fast.resident, fast.bound) == (1, 2, "memory")
    assert slow.seconds > 1.05 * fast.seconds


def test_a_lone_group_waits_for_tiles_that_its_products_do_not_hide():
    plain = tiled(2048, 2048, 2048, 4)
    ahead = replace(plain, stages=tuple(replace(s, copies=2) for s in plain.stages))
    lone, pairs = (replace(GPU, local_mem_unit=kib << 10) for kib in (12, 20))
    for device in (lone, pairs):
        slow = replace(device, bandwidth=device.bandwidth / 4)
        rest, more = (estimate(2048, ahead, x) for x in (device, slow))
        assert rest.resident == more.resident == (1 if device is lone else 2)
        assert (more.waiting > rest.waiting) is (device is lone)


def test_vectors_that_begin_anywhere_in_local_memory_are_loaded_element_by_element():
    plain = tiled(512, 512, 512, 4)

    def of_pad(pad: int) -> Model:
        first, second = plain.stages
        own = Stage(1, local=False, at=("k", 1), vector=4)
        stages = (first, replace(second, pad=pad), own)
        return Model(product(512, 512, 512), replace(plain, stages=stages), GPU)

    whole, apart = of_pad(4), of_pad(1)
    assert [m.reads[1][2] for m in (whole, apart)] == [4, 1]
    assert estimated(apart).local > estimated(whole).local
    assert estimated(apart).arithmetic > estimated(whole).arithmetic


def test_few_last_groups_wait_for_memory_like_others():
    thin, schedule = product(4096, 4096, 8), tiled(4096, 4096, 8, 8)
    pairs = replace(GPU, local_mem_unit=24 << 10)
    # 1024 groups are 4.06 waves of 126 units, and 4.97 of 103, whose units have a group more.
    rest, whole = (
        estimated(Model(thin, schedule, replace(pairs, compute_units=n))) for n in (126, 103)
    )
    assert (rest.bound, rest.resident, whole.resident) == ("memory", 2, 2)
    assert rest.memory == whole.memory and rest.seconds > whole.seconds


def test_rows_that_the_last_cache_holds_are_read_once():
    assert rows(4096, 8192, 1024).memory < rows(4096, 131072, 1024).memory / 20
    assert rows(2048, 49152, 1024).memory < rows(2048, 49152, 128).memory


def test_what_lanes_of_rows_add_up_is_in_registers():
    few, many = (rows(2048, 49152, 1024, held) for held in (2, 9))
    assert many.registers == few.registers + 7


def sharing(m: int, n: int, k: int) -> int:
    """Work-items that share each sum of the chosen schedule of a product."""
    facts = product(m, n, k)
    return Model(facts, ranked(facts, GPU)[0].schedule, GPU).sharing


def test_sub_groups_share_the_sums_of_tiles_that_fill_no_device():
    assert sharing(256, 3072, 768) > 1
    assert sharing(197, 2304, 768) > 1
    assert sharing(4096, 4096, 768) == 1
    assert sharing(256, 3072, 64) == 1


def of_items(schedule: Schedule, **rates: float) -> Estimate:
    """Estimate of a product's schedule with other rates."""
    items = replace(GPU.rates.items, **rates)
    model = Model(product(256, 3072, 768), schedule, GPU)
    return estimated(model.at(replace(GPU.rates, items=items)))


def test_schedulers_with_fewer_sub_groups_wait_for_others():
    schedules = [c.schedule for c in ranked(product(256, 3072, 768), GPU)]
    found = [(s, Model(product(256, 3072, 768), s, GPU).items) for s in schedules]
    six, twelve = (next(s for s, n in found if n == items) for items in (64, 128))
    assert (of_items(six).resident, of_items(twelve).resident) == (3, 3)
    assert of_items(six).seconds > of_items(six, uneven=0.0).seconds
    assert of_items(twelve).seconds == of_items(twelve, uneven=0.0).seconds


def test_more_sub_groups_hide_the_waits_for_operands_that_work_items_read_themselves():
    def shared(items: int) -> Schedule:
        outer, inner = [("i", 8, 16, "y"), ("j", 32, 24, "x")], [("k", 1, items), ("j", 4, 8)]
        return Schedule(
            (
                *(LoopLevel(n, step, extent, Role.GROUP, axis) for n, step, extent, axis in outer),
                *(LoopLevel(n, step, extent, Role.LOCAL, "x") for n, step, extent in inner),
                LoopLevel("k", 4 * items, 128 // items, Role.SERIAL),
                LoopLevel("k", items, 4, Role.UNROLL),
                LoopLevel("i", 1, 8, Role.UNROLL),
                LoopLevel("j", 1, 4, Role.VECTOR),
            )
        )

    few, many = (Model(product(128, 768, 512), shared(n), GPU) for n in (16, 32))
    assert estimated(many).seconds < estimated(few).seconds
    items = replace(GPU.rates.items, loads_at_a_time=float("inf"))
    few, many = (m.at(replace(GPU.rates, items=items)) for m in (few, many))
    assert estimated(few).seconds < estimated(many).seconds


@pytest.mark.parametrize(("shared", "tiles"), [(2, 1), (4, 3), (8, 6)])
def test_sums_that_work_items_share_need_local_memory_for_the_parts_given_away(
    shared: int, tiles: int
):
    schedule = tiled(512, 512, 512, 4)
    first, *rest = schedule.levels[2:]
    items = (LoopLevel("k", 8 // shared, shared, Role.LOCAL, "x"), first, *rest)
    own = [
        x if x.role is not Role.UNROLL or x.index != "k" else replace(x, extent=8 // shared)
        for x in items
    ]
    divided = replace(schedule, levels=(*schedule.levels[:2], *own))
    more = [Model(product(512, 512, 512), s, GPU).local_memory for s in (divided, schedule)]
    assert more[0] - more[1] == tiles * 64 * 64 * 4


@pytest.mark.parametrize("kind", [Kind.CPU, Kind.GPU])
@pytest.mark.parametrize("sizes", [(0, 4, 4), (4, 0, 4), (4, 4, 0)])
def test_products_without_elements(sizes, kind):
    device = described(kind, {"native_vector_width": 16})
    assert best_or_default(product(*sizes), device).estimate.seconds >= device.launch_seconds
