"""The first cost of a nest: more work, scattered accesses and idle units take longer."""

from small_programs import program
from xdsl.context import Context

from tiledialect.lowering.lift_to_nest.lift_to_nest import LiftToNestPass
from tiledialect.lowering.nest.utils.estimate import estimate_nest
from tiledialect.passes.lift import RULES, Derivation
from tiledialect.passes.lift.lift_lower import LiftLowerPass
from tiledialect.schedule.cost.device import Device, Kind, described

CPU, GPU = (described(kind, {}) for kind in (Kind.CPU, Kind.GPU))


def seconds(derivation: Derivation, device: Device = CPU) -> float:
    module = derivation.module.clone()
    LiftLowerPass().apply(Context(), module)
    LiftToNestPass(64).apply(Context(), module)
    return estimate_nest(module, device)


def product(n: int) -> Derivation:
    return program("matmul").initial.bind(M=n, N=n, K=n)


def test_more_work_takes_longer():
    for device in (CPU, GPU):
        assert seconds(product(512), device) > 4 * seconds(product(256), device)


def test_one_work_item_is_slower_than_all():
    whole = program("dot").initial.bind(N=1 << 20)
    parts = whole.apply(RULES["partial_reduce"], n=1 << 12).apply(RULES["fuse_parts"])
    parts = parts.apply(RULES["map_glb"], "map")
    assert seconds(parts) < seconds(whole)
    assert seconds(parts, GPU) < seconds(whole, GPU)


def test_neighbours_are_read_faster_than_rows():
    start = product(256)
    columns = start.apply(RULES["map_glb"](dim=1), "map").apply(RULES["map_glb"], "map_glb/map")
    rows = start.apply(RULES["map_glb"], "map").apply(RULES["map_glb"](dim=1), "map_glb/map")
    assert seconds(columns, GPU) < seconds(rows, GPU)
