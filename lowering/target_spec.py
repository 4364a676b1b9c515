"""What a module says of its device: the entries of its DLTI target spec."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.dlti import DLTIEntryMap
from xdsl.ir import Attribute


def entry(module: ModuleOp, key: str) -> Attribute | None:
    """What the target spec has under a key; None without one."""
    spec = module.attributes.get("dlti.target_system_spec")
    if isinstance(spec, DLTIEntryMap):
        for device in spec.entries:
            for e in device.value.entries if isinstance(device.value, DLTIEntryMap) else ():
                if isinstance(e.key, StringAttr) and e.key.data == key:
                    return e.value
    return None


def limit(module: ModuleOp, key: str, default: int) -> int:
    """An integer of the target spec."""
    value = entry(module, key)
    return value.value.data if isinstance(value, IntegerAttr) else default


def platform(module: ModuleOp) -> str | None:
    """The platform of the device, if it is known."""
    value = entry(module, "platform")
    return value.data if isinstance(value, StringAttr) else None


def is_gpu(module: ModuleOp) -> bool:
    """Whether the module's target is a GPU."""
    spec = module.attributes.get("dlti.target_system_spec")
    return isinstance(spec, DLTIEntryMap) and any(
        isinstance(e.key, StringAttr) and e.key.data == "GPU" for e in spec.entries
    )
