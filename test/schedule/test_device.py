"""The device of a module: the entries of its target spec, and defaults for the others."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.dlti import DLTI
from xdsl.parser import Parser

from tiledialect.schedule.device import GENERIC, KIB, Kind, device_of


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
    generic = GENERIC[Kind.GPU]
    assert device.max_work_group_size == generic.max_work_group_size
    assert device.arithmetic > generic.arithmetic


def test_what_was_measured_is_taken():
    entries = '"bandwidth" = 123.5, "arithmetic" = 4.5e3, "cache_sizes" = [1, 2]'
    device = device_of(module(spec("CPU", entries)))
    assert device is not None
    assert (device.bandwidth, device.arithmetic, device.cache_sizes) == (123.5, 4500.0, (1, 2))


def test_a_platform_has_its_own_defaults():
    device = device_of(module(spec("GPU", '"platform" = "NVIDIA CUDA"')))
    assert device is not None
    assert (device.registers, device.local_mem_size) == (255, 48 * KIB)
    device = device_of(module(spec("CPU", '"platform" = "nvidia", "native_vector_width" = 16')))
    assert device is not None
    assert (device.registers, device.local_mem_size) == (32, 32 * KIB), "it is a CPU"
