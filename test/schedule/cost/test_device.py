"""The device of a module: the entries of its target spec, and defaults for the others."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.dlti import DLTI
from xdsl.parser import Parser

from tiledialect.errors import TileError
from tiledialect.schedule.cost.device import KIB, described, device_of
from tiledialect.schedule.cost.traits import Kind


def module(spec: str) -> ModuleOp:
    """A module with a target spec."""
    context = Context()
    for dialect in (Builtin, DLTI):
        context.load_dialect(dialect)
    return Parser(context, f"module {spec} {{}}").parse_module()


def spec(kind: str, entries: str) -> str:
    """The attribute of a module for one device."""
    return (
        f'attributes {{dlti.target_system_spec = #dlti.target_system_spec<"{kind}" = '
        f"#dlti.target_device_spec<{entries}>>}}"
    )


def test_without_a_spec_there_is_no_device():
    assert device_of(module("")) is None


def test_entries_are_read_and_rates_follow_from_the_units():
    device = device_of(module(spec("GPU", '"compute_units" = 100 : i64, "local_mem_size" = 8')))
    assert device is not None
    assert (device.kind, device.compute_units, device.local_mem_size) == (Kind.GPU, 100, 8)
    generic = described(Kind.GPU, {})
    assert device.max_work_group_size == generic.max_work_group_size
    assert device.arithmetic > generic.arithmetic


def test_what_was_measured_is_taken():
    entries = '"bandwidth" = 123.5, "arithmetic" = 4.5e3, "cache_sizes" = [1, 2]'
    device = device_of(module(spec("CPU", entries)))
    assert device is not None
    assert (device.bandwidth, device.arithmetic, device.cache_sizes) == (123.5, 4500.0, (1, 2))
    assert device.most_kept == 2
    device = device_of(module(spec("CPU", '"kept" = 24.0')))
    assert device is not None and device.most_kept == 24 << 20


def test_a_platform_has_its_own_defaults():
    device = device_of(module(spec("GPU", '"platform" = "NVIDIA CUDA"')))
    assert device is not None
    assert (device.registers, device.local_mem_size) == (255, 48 * KIB)
    device = device_of(module(spec("CPU", '"platform" = "nvidia", "native_vector_width" = 16')))
    assert device is not None
    assert (device.registers, device.local_mem_size) == (32, 32 * KIB), "it is a CPU"


def test_0_says_that_nothing_is_known():
    entries = '"native_vector_width" = 0 : i64, "cache_sizes" = [], "compute_units" = 0 : i64'
    for kind in Kind:
        assert device_of(module(spec(kind.upper(), entries))) == described(kind, {})
    device = device_of(module(spec("CPU", '"local_mem_size" = 0 : i64')))
    assert device is not None and device.local_mem_size == 0, "but there may be no local memory"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('"compute_units" = -1 : i64', "compute_units must be a number, 0 or more, not -1"),
        ('"bandwidth" = "fast"', "bandwidth must be a number, 0 or more, not 'fast'"),
        ('"cache_sizes" = 32768 : i64', "cache_sizes must be numbers, 0 or more, not 32768"),
    ],
)
def test_entries_that_no_device_has(entry: str, said: str):
    with pytest.raises(TileError, match=said):
        device_of(module(spec("GPU", entry)))


@pytest.mark.parametrize(("nbytes", "parts"), [(0, 0), (1, 1), (512, 1), (513, 2), (4096, 8)])
def test_half_of_the_second_cache_holds_what_is_near(nbytes: int, parts: int):
    device = described(Kind.CPU, {"cache_sizes": (64, 1024, 1 << 20)})
    assert device.parts_near(nbytes) == parts
    assert [device.is_near(nbytes, n) for n in (parts - 1, parts)] == [False, True]


def test_lanes_are_those_of_vectors_or_of_sub_groups():
    core = described(Kind.CPU, {"native_vector_width": 16, "sub_group_size": 1})
    unit = described(Kind.GPU, {"native_vector_width": 4, "sub_group_size": 32})
    assert (core.item_lanes, core.simd_lanes, core.has_long_vectors) == (16, 16, True)
    assert (unit.item_lanes, unit.simd_lanes, unit.has_long_vectors) == (1, 32, False)
    assert (core.line, unit.line) == (64, 128)


@pytest.mark.parametrize("platform", ["Portable Computing Language", "AMD"])
def test_a_platform_gives_defaults_to_its_kind(platform: str):
    core, unit = (described(kind, {"platform": platform}) for kind in Kind)
    assert core.loads_first is (platform != "AMD") and not unit.loads_first
    assert (core.sub_group_size, unit.sub_group_size) == (1, 64 if platform == "AMD" else 32)
