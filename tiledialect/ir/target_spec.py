"""A module's description of its device: the entries of its DLTI target spec."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.dlti import DLTIEntryMap, TargetDeviceSpecAttr, TargetSystemSpecAttr
from xdsl.ir import Attribute

from tiledialect.dialects.discardable import PRECISION

Value = bool | int | float | str | tuple["Value", ...]

SPEC = "dlti.target_system_spec"

SIMULATOR = "simulator"
"""The entry `type` of a simulator."""

BUFFER_ALIGNMENT = 128
"""The bytes of which a part of an allocation begins at a multiple, where no device says its own."""

RATES = ("bandwidth", "arithmetic", "launch", "kept")
"""Entries with the rates of a device; the rates in a module's own spec take precedence."""


def precision_of(module: ModuleOp) -> str:
    """Precision of the factors of sums of f32."""
    given = module.attributes.get(PRECISION)
    return given.data if isinstance(given, StringAttr) else "f32"


def entries(module: ModuleOp) -> dict[str, Value] | None:
    """The entries of the target spec whose values are numbers, texts or lists; None without one."""
    spec = module.attributes.get(SPEC)
    if not isinstance(spec, DLTIEntryMap):
        return None
    found: dict[str, Value] = {}
    for device in spec.entries:
        for e in device.value.entries if isinstance(device.value, DLTIEntryMap) else ():
            value = _value(e.value)
            if isinstance(e.key, StringAttr) and value is not None:
                found.setdefault(e.key.data, value)
    return found


def buffer_alignment(module: ModuleOp) -> int:
    """The bytes of which a part of an allocation begins at a multiple; 0 where allocations have no
    parts: a simulator watches the bounds of every one."""
    if (entries(module) or {}).get("type") == SIMULATOR:
        return 0
    return limit(module, "buffer_alignment", BUFFER_ALIGNMENT)


def describe(module: ModuleOp, target: Attribute | None) -> None:
    """Give a module the target spec of the device that it is compiled for, if that is known."""
    if target is None:
        return
    own = _rates(module.attributes.get(SPEC))
    if own and isinstance(target, TargetSystemSpecAttr):
        target = TargetSystemSpecAttr(
            {device.key: _with(device.value, own) for device in target.entries}
        )
    module.attributes[SPEC] = target


def _rates(spec: Attribute | None) -> dict[StringAttr, Attribute]:
    """The rates that a spec gives."""
    devices = [d.value for d in spec.entries] if isinstance(spec, DLTIEntryMap) else []
    entries = [e for d in devices if isinstance(d, DLTIEntryMap) for e in d.entries]
    return {
        e.key: e.value for e in entries if isinstance(e.key, StringAttr) and e.key.data in RATES
    }


def _with(device: Attribute, own: Mapping[StringAttr, Attribute]) -> Attribute:
    """The description of a device with entries in the place of its own."""
    assert isinstance(device, TargetDeviceSpecAttr)
    return TargetDeviceSpecAttr({**{e.key: e.value for e in device.entries}, **own})


def _value(attribute: Attribute) -> Value | None:
    if isinstance(attribute, StringAttr):
        return attribute.data
    if isinstance(attribute, IntegerAttr):
        is_bool = isinstance(attribute.type, IntegerType) and attribute.type.width.data == 1
        return bool(attribute.value.data) if is_bool else attribute.value.data
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, ArrayAttr):
        values = [_value(a) for a in attribute]
        return tuple(v for v in values if v is not None)
    if isinstance(attribute, DenseArrayBase):
        return tuple(attribute.get_values())
    return None


def limit(module: ModuleOp, key: str, default: int) -> int:
    """An integer of the target spec."""
    value = (entries(module) or {}).get(key)
    return value if isinstance(value, int) else default


def platform(module: ModuleOp) -> str | None:
    """The platform of the device, if it is known."""
    value = (entries(module) or {}).get("platform")
    return value if isinstance(value, str) else None


def is_gpu(module: ModuleOp) -> bool:
    """Whether the module's target is a GPU."""
    spec = module.attributes.get(SPEC)
    return isinstance(spec, DLTIEntryMap) and any(
        isinstance(e.key, StringAttr) and e.key.data == "GPU" for e in spec.entries
    )
