"""OpenCL devices as values, the choice of one, and its description in the IR."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from tiledialect.errors import TileError
from tiledialect.lowering.runtime import icd

if TYPE_CHECKING:
    import pyopencl as cl
    from xdsl.dialects.dlti import TargetDeviceSpecAttr, TargetSystemSpecAttr

SHORT_NAMES = {
    "portable computing language": "pocl",
    "oclgrind": "oclgrind",
    "intel": "intel",
    "nvidia": "nvidia",
    "amd": "amd",
    "apple": "apple",
    "rusticl": "rusticl",
}
"""The short name of a platform whose name contains the key."""

PREFERENCE = ("gpu", "accelerator", "cpu")
FAST_CPUS = ("intel",)
"""The platforms whose CPU device is preferred to others'."""

SIMULATOR = "simulator"
IN_PLACE = ("pocl", "intel")
"""The platforms whose CPU devices compute in the host's own memory."""


@dataclass(frozen=True)
class Device:
    """An OpenCL device; sizes are in bytes."""

    id: str
    """Short and stable: ``pocl:0`` is the first device of PoCL."""
    name: str
    platform: str
    type: str
    """``gpu``, ``accelerator``, ``cpu`` or ``simulator``."""
    version: str
    driver: str
    compute_units: int
    max_work_group_size: int
    max_work_item_sizes: tuple[int, ...]
    local_mem_size: int
    global_mem_size: int
    max_mem_alloc_size: int
    preferred_vector_width: int
    """The number of floats in the vectors that the device prefers; 1: it vectorizes by itself."""
    native_vector_width: int
    """The number of floats in the vectors that the hardware has."""
    fp64: bool
    fp16: bool
    extensions: tuple[str, ...] = field(repr=False)

    @property
    def short_platform(self) -> str:
        """The part of the id before the colon."""
        return self.id.partition(":")[0]

    @property
    def uses_host_memory(self) -> bool:
        """Does it compute in place on arrays of the host?"""
        return self.type == "cpu" and self.short_platform in IN_PLACE

    def __str__(self) -> str:
        return f"{self.id} ({self.name}, {self.platform})"


@cache
def _found() -> dict[Device, cl.Device]:
    import pyopencl as cl

    found: dict[Device, cl.Device] = {}
    counts: dict[str, int] = {}
    for platform in icd.platforms():
        try:
            members = platform.get_devices()
        except cl.Error:
            continue
        for member in members:
            short = _short_name(platform.name)
            number = counts[short] = counts.get(short, -1) + 1
            found[_describe(member, f"{short}:{number}")] = member
    return dict(sorted(found.items(), key=lambda item: _rank(item[0])))


def devices() -> tuple[Device, ...]:
    """Every OpenCL device found, the preferred ones first and simulators last."""
    return tuple(_found())


def _short_name(platform: str) -> str:
    lower = platform.lower()
    for part, short in SHORT_NAMES.items():
        if part in lower:
            return short
    return re.sub(r"[^a-z0-9]+", "-", lower).strip("-") or "unknown"


def _rank(device: Device) -> tuple[int, int, str]:
    kind = PREFERENCE.index(device.type) if device.type in PREFERENCE else len(PREFERENCE)
    return kind, device.short_platform not in FAST_CPUS, device.id


def _type(device: cl.Device, short: str) -> str:
    import pyopencl as cl

    if short == "oclgrind":
        return SIMULATOR
    for name in PREFERENCE:
        if device.type & getattr(cl.device_type, name.upper()):
            return name
    return "accelerator"


def _describe(device: cl.Device, identity: str) -> Device:
    extensions = tuple(device.extensions.split())
    return Device(
        id=identity,
        name=device.name.strip(),
        platform=device.platform.name.strip(),
        type=_type(device, identity.partition(":")[0]),
        version=device.version.strip(),
        driver=device.driver_version.strip(),
        compute_units=device.max_compute_units,
        max_work_group_size=device.max_work_group_size,
        max_work_item_sizes=tuple(device.max_work_item_sizes),
        local_mem_size=device.local_mem_size,
        global_mem_size=device.global_mem_size,
        max_mem_alloc_size=device.max_mem_alloc_size,
        preferred_vector_width=device.preferred_vector_width_float,
        native_vector_width=device.native_vector_width_float,
        fp64="cl_khr_fp64" in extensions,
        fp16="cl_khr_fp16" in extensions,
        extensions=extensions,
    )


# -- choosing --------------------------------------------------------------------------------


def choose(wanted: Device | str | int | None = None) -> Device:
    """The device that ``wanted`` names, else the one that ``TILE_DEVICE`` names, else the best.

    A name is an id (``pocl:0``), a platform's short name (``intel``), a number in the list of
    ``devices()``, a type (``gpu``) or a part of the device's or the platform's name. The best is
    a GPU, then the fastest CPU, never a simulator. Raises a TileError that lists what there is.
    """
    if isinstance(wanted, Device):
        if wanted not in _found():
            raise _unknown(wanted.id)
        return wanted
    name = str(wanted if wanted is not None else os.environ.get("TILE_DEVICE", "")).strip().lower()
    if name:
        return _named(name)
    for device in devices():
        if device.type != SIMULATOR:
            return device
    raise TileError(
        "there is no OpenCL device here; 'pip install pyopencl[pocl]' brings one for the CPU"
    )


def _named(name: str) -> Device:
    everything = devices()
    if name.isdecimal():
        if int(name) < len(everything):
            return everything[int(name)]
        raise _unknown(name)
    tests: tuple[Callable[[Device], bool], ...] = (
        lambda d: d.id == name,
        lambda d: d.short_platform == name,
        lambda d: d.type == name,
        lambda d: name in f"{d.name} {d.platform}".lower(),
    )
    for test in tests:
        for device in everything:
            if test(device):
                return device
    raise _unknown(name)


def _unknown(name: str) -> TileError:
    there = "".join(f"\n  {k}  {device}" for k, device in enumerate(devices()))
    return TileError(f"there is no OpenCL device '{name}'; there is{there or ' none'}")


# -- OpenCL objects --------------------------------------------------------------------------


def opencl_device(device: Device) -> cl.Device:
    """The OpenCL object behind a device."""
    return _found()[device]


@cache
def device_of(opencl: cl.Device) -> Device:
    """The description of an OpenCL device that the user brought."""
    for device, known in _found().items():
        if known == opencl:
            return device
    return _describe(opencl, f"{_short_name(opencl.platform.name)}:other")


@cache
def queue_for(device: Device, profiling: bool = False) -> cl.CommandQueue:
    """The in-order queue of our own on a device."""
    import pyopencl as cl

    properties: Any = cl.command_queue_properties.PROFILING_ENABLE if profiling else 0
    return cl.CommandQueue(_context(device), properties=properties)


@cache
def _context(device: Device) -> cl.Context:
    import pyopencl as cl

    return cl.Context([opencl_device(device)])


# -- the device in the IR --------------------------------------------------------------------

SPEC_KEYS = (
    "type",
    "compute_units",
    "max_work_group_size",
    "local_mem_size",
    "global_mem_size",
    "max_mem_alloc_size",
    "preferred_vector_width",
    "native_vector_width",
    "fp64",
    "fp16",
)
"""The fields of a device that its description in the IR has, under the same names."""


def target_spec(device: Device) -> TargetDeviceSpecAttr:
    """The device as a ``#dlti.target_device_spec``: ``SPEC_KEYS`` as i64, bool or string."""
    from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr
    from xdsl.dialects.dlti import TargetDeviceSpecAttr
    from xdsl.ir import Attribute

    def attribute(value: bool | int | str) -> Attribute:
        if isinstance(value, bool):
            return BoolAttr.from_bool(value)
        return StringAttr(value) if isinstance(value, str) else IntegerAttr(value, 64)

    return TargetDeviceSpecAttr({key: attribute(getattr(device, key)) for key in SPEC_KEYS})


def target_system_spec(device: Device) -> TargetSystemSpecAttr:
    """The module attribute ``dlti.target_system_spec``: the device as ``"CPU"`` or ``"GPU"``."""
    from xdsl.dialects.dlti import TargetSystemSpecAttr

    kind = "CPU" if device.type == "cpu" else "GPU"
    return TargetSystemSpecAttr({kind: target_spec(device)})
