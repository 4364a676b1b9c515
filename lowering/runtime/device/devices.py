"""Choice among the OpenCL devices that work."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tiledialect import caches
from tiledialect.errors import TileError
from tiledialect.ir.target_spec import RATES, SIMULATOR
from tiledialect.lowering.runtime.device import icd, measure, probe
from tiledialect.lowering.runtime.device.description import system_spec
from tiledialect.lowering.runtime.device.device import Device, describe, short_name
from tiledialect.lowering.runtime.device.queues import listed, queue_for
from tiledialect.platforms import INTEL, POCL

if TYPE_CHECKING:
    import pyopencl as cl
    from xdsl.dialects.dlti import TargetSystemSpecAttr

FROM_PIP = (POCL.short, INTEL.short)
"""Platforms for processors that pip installs."""


@dataclass(frozen=True)
class _ListedDevices:
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
def _found() -> _ListedDevices:
    return _ListedDevices(listed())


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
    raise TileError(f"no OpenCL device works here; there is{_listing()}\n{_advice()}")


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


@caches.DEVICES
def device_of(opencl: cl.Device) -> Device:
    """The description of an OpenCL device that the user brought."""
    found = _found()
    for device, known in found.opencl.items():
        if known == opencl and found.works(device):
            return device
    return describe(opencl, f"{short_name(opencl.platform.name)}:other")


# -- the device in the IR --------------------------------------------------------------------


def target_system_spec(device: Device) -> TargetSystemSpecAttr:
    """The device with its measured rates as the module attribute ``dlti.target_system_spec``."""
    return system_spec(device, _rates(device))


def _rates(device: Device) -> dict[str, float]:
    rates = measure.rates(device)
    return {} if rates is None else {key: getattr(rates, key) for key in RATES}
