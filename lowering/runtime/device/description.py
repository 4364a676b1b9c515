"""Description of a device in the IR."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, FloatAttr, IntegerAttr, StringAttr, f64
from xdsl.dialects.dlti import TargetDeviceSpecAttr, TargetSystemSpecAttr
from xdsl.ir import Attribute

from tiledialect.lowering.runtime.device.device import Device

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
IF_KNOWN = ("local_mem_unit", "sub_group_sizes", "cache_sizes")
"""Fields of the description only if they are not 0 or empty."""


def device_spec(device: Device, rates: Mapping[str, float]) -> TargetDeviceSpecAttr:
    """The device as a ``#dlti.target_device_spec``: numbers as i64, bools, strings, or a list.

    Measured rates are f64; those that are 0 are not known, and left out.
    """
    known = (*SPEC_KEYS, *(key for key in IF_KNOWN if getattr(device, key)))
    entries = {key: _attribute(getattr(device, key)) for key in known}
    entries |= {key: FloatAttr(rate, f64) for key, rate in rates.items() if rate}
    return TargetDeviceSpecAttr(entries)


def _attribute(value: bool | int | str | tuple[int, ...]) -> Attribute:
    if isinstance(value, tuple):
        return ArrayAttr([IntegerAttr(number, 64) for number in value])
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    return StringAttr(value) if isinstance(value, str) else IntegerAttr(value, 64)


def system_spec(device: Device, rates: Mapping[str, float]) -> TargetSystemSpecAttr:
    """The module attribute ``dlti.target_system_spec``: the device as ``"CPU"`` or ``"GPU"``."""
    kind = "CPU" if device.type == "cpu" else "GPU"
    return TargetSystemSpecAttr({kind: device_spec(device, rates)})
