"""Functions as data, without their compiled programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tiledialect.api.options import Choices
from tiledialect.passes.transform.transforms import Transform

if TYPE_CHECKING:
    from tiledialect.lowering.runtime.device.device import Device


def device_name(device: Device | str | int | None) -> str | int | None:
    """A device that was asked for, as another process may ask for it."""
    return device if device is None or isinstance(device, str | int) else device.id


@dataclass(frozen=True)
class Saved:
    """Sources and options of a function."""

    module: str
    """Program as MLIR, with the locations of its ops in the text."""
    text: str
    """Source text, empty if there is none."""
    name: str
    device: str | int | None
    transforms: tuple[Transform, ...]
    choices: Choices
