"""OpenCL devices as values, the choice of one, and its description in the IR."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tiledialect import caches
from tiledialect.errors import TileError
from tiledialect.ir.target_spec import RATES, SIMULATOR
from tiledialect.lowering.runtime.device import icd, measure, probe
from tiledialect.platforms import INTEL, NVIDIA, OCLGRIND, POCL

if TYPE_CHECKING:
    import pyopencl as cl
    from xdsl.dialects.dlti import TargetDeviceSpecAttr, TargetSystemSpecAttr

SHORT_NAMES = {
    POCL.name.lower(): POCL.short,
    **{
        short: short
        for short in (OCLGRIND.short, INTEL.short, NVIDIA.short, "amd", "apple", "rusticl")
    },
}
"""Short names of platforms by a part of their names."""

PREFERENCE = ("gpu", "accelerator", "cpu")
FAST_CPUS = (INTEL.short,)
"""Platforms whose CPU device is preferred to others'."""

FROM_PIP = (POCL.short, INTEL.short)
"""Platforms for processors that pip installs."""

IN_PLACE = (POCL.short, INTEL.short)
"""Platforms whose CPU devices compute in the host's own memory."""
SURVIVE_FORKS = (INTEL.short, OCLGRIND.short)
"""Platforms that keep working in a process forked from one that uses them."""


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
    buffer_alignment: int
    """The bytes of which a part of a buffer begins at a multiple."""
    preferred_vector_width: int
    """The number of floats in the vectors that the device prefers; 1: it vectorizes by itself."""
    native_vector_width: int
    """The number of floats in the vectors that the hardware has."""
    fp64: bool
    fp16: bool
    compute_capability: int
    """Compute capability of NVIDIA's devices, times ten; else 0."""
    extensions: tuple[str, ...] = field(repr=False)
    local_mem_unit: int = 0
    """Local memory of a compute unit, which several groups share; 0: not known."""
    sub_group_sizes: tuple[int, ...] = ()
    """The sizes of sub-groups whose work-items can exchange registers; empty: they cannot."""

    @property
    def short_platform(self) -> str:
        """The part of the id before the colon."""
        return self.id.partition(":")[0]

    @property
    def uses_host_memory(self) -> bool:
        """Whether the device computes in place on arrays of the host."""
        return self.type == "cpu" and self.short_platform in IN_PLACE

    def __str__(self) -> str:
        return f"{self.id} ({self.name}, {self.platform})"


@dataclass(frozen=True)
class _Found:
    """Devices that the platforms list, and the results of trying them."""

    opencl: dict[Device, cl.Device]
    """OpenCL devices in the order of preference."""
    reasons: dict[Device, str] = field(default_factory=dict)
    """Reasons why tried devices cannot be used; empty if a device can."""

    def try_all(self) -> None:
        """Try all devices that were not tried, at once."""
        if new := {d: opencl for d, opencl in self.opencl.items() if d not in self.reasons}:
            self.reasons.update(probe.reasons(new))

    def works(self, device: Device) -> bool:
        """Whether a device can be used; tries no other, which would take its time."""
        if device not in self.reasons:
            self.reasons.update(probe.reasons({device: self.opencl[device]}))
        return not self.reasons[device]


@caches.PACKAGE
def _found() -> _Found:
    return _Found(every_device())


def every_device() -> dict[Device, cl.Device]:
    """Devices that the platforms list, usable or not, in the order of preference."""
    import pyopencl as cl

    found: dict[Device, cl.Device] = {}
    counts: dict[str, int] = {}
    for owner, members in icd.platforms():
        for member in members:
            if member in found.values():
                # Its library was loaded twice, under two names.
                continue
            # A driver of which no device can be used now may not even tell its name.
            with suppress(cl.Error):
                short = _short_name(owner.name)
                device = _describe(member, f"{short}:{counts.get(short, 0)}")
                found[device] = member
                counts[short] = counts.get(short, 0) + 1
    return dict(sorted(found.items(), key=lambda item: _rank(item[0])))


def devices() -> tuple[Device, ...]:
    """Every OpenCL device that works, the preferred ones first and simulators last."""
    found = _found()
    found.try_all()
    return tuple(filter(found.works, found.opencl))


def unusable() -> dict[Device, str]:
    """The devices that cannot build and run a kernel, each with the reason."""
    found = _found()
    found.try_all()
    return {d: found.reasons[d] for d in found.opencl if not found.works(d)}


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

    if short == OCLGRIND.short:
        return SIMULATOR
    for name in PREFERENCE:
        if device.type & getattr(cl.device_type, name.upper()):
            return name
    return "accelerator"


def _compute_capability(device: cl.Device, extensions: Sequence[str]) -> int:
    if "cl_nv_device_attribute_query" not in extensions:
        return 0
    return 10 * device.compute_capability_major_nv + device.compute_capability_minor_nv


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
        buffer_alignment=max(64, device.mem_base_addr_align // 8),
        preferred_vector_width=device.preferred_vector_width_float,
        native_vector_width=_native_vector_width(device),
        fp64="cl_khr_fp64" in extensions,
        fp16="cl_khr_fp16" in extensions,
        compute_capability=_compute_capability(device, extensions),
        extensions=extensions,
        local_mem_unit=_local_mem_unit(device),
        sub_group_sizes=_sub_group_sizes(device, extensions),
    )


TARGET = "CL_CONFIG_CPU_TARGET_ARCH"
"""The variable that tells Intel's runtime to compile for another processor than there is."""
FLOATS = {"corei7": 4, "core-avx": 8, "core-avx2": 8}
"""Floats in the vectors of other processors; the runtime reports the present processor."""


def _native_vector_width(device: cl.Device) -> int:
    reported = device.native_vector_width_float
    if _short_name(device.platform.name) != INTEL.short:
        return reported
    return min(reported, FLOATS.get(os.environ.get(TARGET, ""), reported))


NVIDIA_LOCAL = {70: 96, 75: 64, 80: 164, 86: 100, 87: 164, 89: 100, 90: 228, 100: 228, 120: 100}
"""KiB of local memory of a compute unit, by NVIDIA's compute capability, times ten."""


def _local_mem_unit(device: cl.Device) -> int:
    import pyopencl as cl

    try:
        major, minor = device.compute_capability_major_nv, device.compute_capability_minor_nv
    except (cl.Error, AttributeError):
        return 0
    return 1024 * NVIDIA_LOCAL.get(10 * major + minor, 0)


SUB_GROUP_EXTENSIONS = frozenset(("cl_khr_subgroup_shuffle", "cl_intel_required_subgroup_size"))
"""Extensions of devices on which a kernel can choose the size of its sub-groups."""


def _sub_group_sizes(device: cl.Device, extensions: Sequence[str]) -> tuple[int, ...]:
    import pyopencl as cl

    if _compute_capability(device, extensions) >= 30:
        # Its OpenCL lists none, but inline PTX has the functions of a warp.
        return (32,)
    if not SUB_GROUP_EXTENSIONS.issubset(extensions):
        return ()
    return (4, 8, 16, 32, 64) if device.type & cl.device_type.CPU else (16, 32)


# -- choosing --------------------------------------------------------------------------------


def choose(wanted: Device | str | int | None = None) -> Device:
    """The device that ``wanted`` names, else the one that ``TILE_DEVICE`` names, else the best.

    A name is an id (``pocl:0``), a platform's short name (``intel``), a number in the list of
    ``devices()``, a type (``gpu``) or a part of the device's or the platform's name. The best is
    a GPU, then the fastest CPU, never a simulator. Raises a TileError that lists the devices.
    """
    found = _found()
    if isinstance(wanted, Device):
        if wanted not in found.opencl or not found.works(wanted):
            raise _unknown(wanted.id)
        return wanted
    name = str(wanted if wanted is not None else os.environ.get("TILE_DEVICE", "")).strip().lower()
    if name:
        return _named(name)
    for device in found.opencl:
        if device.type != SIMULATOR and found.works(device):
            return device
    raise TileError(
        f"no OpenCL device works here; there is{_listing()}\nto install one: {_advice()}"
    )


def _named(name: str) -> Device:
    if name.isdecimal():
        working = devices()
        if int(name) < len(working):
            return working[int(name)]
        raise _unknown(name)
    found = _found()
    meant = [d for test in _TESTS for d in found.opencl if test(d, name)]
    for device in filter(found.works, meant):
        return device
    if meant:
        raise TileError(f"{meant[0].id} cannot be used; there is{_listing()}")
    raise _unknown(name)


_TESTS: tuple[Callable[[Device, str], bool], ...] = (
    lambda d, name: d.id == name,
    lambda d, name: d.short_platform == name,
    lambda d, name: d.type == name,
    lambda d, name: name in f"{d.name} {d.platform}".lower(),
)
"""Meanings of a name, from the most to the least exact."""


def _unknown(name: str) -> TileError:
    return TileError(f"there is no OpenCL device '{name}'; there is{_listing()}")


def _listing() -> str:
    """List of all devices, a line each."""
    lines = [f"\n  {k}  {device}" for k, device in enumerate(devices())]
    lines += [f"\n  -  {device} {reason}" for device, reason in unusable().items()]
    return "".join(lines) or " none"


def _advice() -> str:
    """The command that installs a device for the processor."""
    if set_by_user := [name for name in icd.USER_VARIABLES if os.environ.get(name)]:
        return f"{set_by_user[0]} is set, so that no others than its are looked for"
    installed = any(d.short_platform == INTEL.short for d in (*devices(), *unusable()))
    again = "--force-reinstall " if installed else ""
    return f"to install one: {sys.executable} -m pip install {again}{_packages()}"


INTEL_PACKAGES = ("intel-opencl-rt", "intel-cmplr-lib-rt")
"""Intel's device for x86-64 processors as pip has it for Linux."""


def _packages() -> str:
    """Packages for the processor, as in ``pyproject.toml``: PoCL does not know every one."""
    intel = sys.platform == "linux" and platform.machine() == "x86_64"
    return " ".join(INTEL_PACKAGES) if intel else "'pyopencl[pocl]'"


def remedy(device: Device) -> str:
    """Remedy for a device that cannot be used."""
    if device.short_platform not in FROM_PIP:
        return f"install a newer driver of {device.platform}"
    if any(d.short_platform == INTEL.short for d in devices()):
        return "nothing need be done: Intel's serves the same processor"
    return _advice()


# -- OpenCL objects --------------------------------------------------------------------------


def queue(device: Device | str | int | None = None) -> cl.CommandQueue:
    """The queue on which functions run on a device, which is chosen as ``compile`` does.

    Arrays that are made on it (``pyopencl.array.to_device``) are taken without a copy.
    """
    return queue_for(choose(device))


def opencl_device(device: Device) -> cl.Device:
    """The OpenCL object behind a device."""
    return _found().opencl[device]


@caches.DEVICES
def device_of(opencl: cl.Device) -> Device:
    """The description of an OpenCL device that the user brought."""
    found = _found()
    for device, known in found.opencl.items():
        if known == opencl and found.works(device):
            return device
    return _describe(opencl, f"{_short_name(opencl.platform.name)}:other")


def check_process(device: Device) -> None:
    """Raise a TileError where the driver would wait for threads that a fork left behind."""
    if icd.is_inherited and device.short_platform not in SURVIVE_FORKS:
        raise TileError(
            f"{device} works in no process that was forked from one where OpenCL was in use; "
            "start processes with multiprocessing's 'spawn', or fork before devices are looked for"
        )


def queue_for(device: Device, profiling: bool = False) -> cl.CommandQueue:
    """The in-order queue of our own on a device."""
    check_process(device)
    return _queue(device, profiling)


EXECUTES_IN_CALLER = "cl_intel_exec_by_local_thread"
"""Extension of devices whose queues can run their commands in the thread that enqueues them."""
IN_CALLER = 1 << 31
"""Property of queues whose commands run in the thread that enqueues them."""


@caches.DEVICES
def queue_in_caller(device: Device) -> cl.CommandQueue | None:
    """A queue whose commands the thread that enqueues them executes itself, alone, before it goes
    on: no other thread is woken nor waited for. None if the device has no such queues.
    """
    import pyopencl as cl

    if EXECUTES_IN_CALLER not in device.extensions:
        return None
    try:
        return cl.CommandQueue(_context(device), properties=IN_CALLER)  # pyright: ignore[reportArgumentType]
    except cl.Error:
        return None


@caches.DEVICES
def _queue(device: Device, profiling: bool) -> cl.CommandQueue:
    import pyopencl as cl

    properties: Any = cl.command_queue_properties.PROFILING_ENABLE if profiling else 0
    return cl.CommandQueue(_context(device), properties=properties)


@caches.DEVICES
def _context(device: Device) -> cl.Context:
    import pyopencl as cl

    return cl.Context([opencl_device(device)])


# -- the device in the IR --------------------------------------------------------------------

SPEC_KEYS = (
    "type",
    "platform",
    "compute_units",
    "max_work_group_size",
    "local_mem_size",
    "global_mem_size",
    "max_mem_alloc_size",
    "buffer_alignment",
    "preferred_vector_width",
    "native_vector_width",
    "fp64",
    "fp16",
    "compute_capability",
)
"""Fields of a device in its description in the IR, by the same names."""
IF_KNOWN = ("local_mem_unit", "sub_group_sizes")
"""Fields of the description only if they are not 0 or empty."""


def target_spec(device: Device, *, measured: bool = True) -> TargetDeviceSpecAttr:
    """The device as a ``#dlti.target_device_spec``: numbers as i64, bools, strings, or a list.

    The measured ``RATES`` are f64; they are left out where nothing is to be measured.
    """
    from xdsl.dialects.builtin import (
        ArrayAttr,
        BoolAttr,
        FloatAttr,
        IntegerAttr,
        StringAttr,
        f64,
    )
    from xdsl.dialects.dlti import TargetDeviceSpecAttr
    from xdsl.ir import Attribute

    def attribute(value: bool | int | str | tuple[int, ...]) -> Attribute:
        if isinstance(value, tuple):
            return ArrayAttr([IntegerAttr(number, 64) for number in value])
        if isinstance(value, bool):
            return BoolAttr.from_bool(value)
        return StringAttr(value) if isinstance(value, str) else IntegerAttr(value, 64)

    known = (*SPEC_KEYS, *(key for key in IF_KNOWN if getattr(device, key)))
    entries = {key: attribute(getattr(device, key)) for key in known}
    if measured and (rates := measure.rates(device)) is not None:
        entries |= {key: FloatAttr(x, f64) for key in RATES if (x := getattr(rates, key))}
    return TargetDeviceSpecAttr(entries)


def target_system_spec(device: Device, *, measured: bool = True) -> TargetSystemSpecAttr:
    """The module attribute ``dlti.target_system_spec``: the device as ``"CPU"`` or ``"GPU"``."""
    from xdsl.dialects.dlti import TargetSystemSpecAttr

    kind = "CPU" if device.type == "cpu" else "GPU"
    return TargetSystemSpecAttr({kind: target_spec(device, measured=measured)})
