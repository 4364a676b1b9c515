"""OpenCL devices as values: every device that the platforms list."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tiledialect.ir.target_spec import SIMULATOR
from tiledialect.lowering.runtime.device import icd
from tiledialect.platforms import INTEL, NVIDIA, OCLGRIND, POCL
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.traits import Kind

if TYPE_CHECKING:
    import pyopencl as cl

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

IN_PLACE = (POCL.short, INTEL.short)
"""Platforms whose CPU devices compute in the host's own memory."""


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
    cache_sizes: tuple[int, ...] = ()
    """The sizes of the caches, the nearest one first; empty: not known."""

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
                short = short_name(owner.name)
                device = describe(member, f"{short}:{counts.get(short, 0)}")
                found[device] = member
                counts[short] = counts.get(short, 0) + 1
    return dict(sorted(found.items(), key=lambda item: rank(item[0])))


def short_name(platform: str) -> str:
    """Short name of a platform, for ids of its devices."""
    lower = platform.lower()
    for part, short in SHORT_NAMES.items():
        if part in lower:
            return short
    return re.sub(r"[^a-z0-9]+", "-", lower).strip("-") or "unknown"


def rank(device: Device) -> tuple[int, int, str]:
    """Key by which devices are sorted, the preferred ones first."""
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


def describe(device: cl.Device, identity: str) -> Device:
    """Describe a device of OpenCL under an id."""
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
        cache_sizes=_cache_sizes(device),
    )


TARGET = "CL_CONFIG_CPU_TARGET_ARCH"
"""The variable that tells Intel's runtime to compile for another processor than there is."""
FLOATS = {"corei7": 4, "core-avx": 8, "core-avx2": 8}
"""Floats in the vectors of other processors; the runtime reports the present processor."""


def _native_vector_width(device: cl.Device) -> int:
    reported = device.native_vector_width_float
    if short_name(device.platform.name) != INTEL.short:
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


def _cache_sizes(device: cl.Device) -> tuple[int, ...]:
    """The sizes of the caches: Intel's CPU runtime tells a core's second one."""
    import pyopencl as cl

    is_cpu = bool(device.type & cl.device_type.CPU)
    second = device.global_mem_cache_size
    if not is_cpu or short_name(device.platform.name) != INTEL.short or not second:
        return ()
    first, _, *further = described(Kind.CPU, {}).cache_sizes
    return (first, second, *further)


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
