"""Labels of launches: the kernel of the program that is computed, and a model's layers in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, StringAttr, f64
from xdsl.ir import Attribute, Operation

from tiledialect.dialects.discardable import LAYERS, PART


def labels(part: str, layers: Mapping[str, float]) -> dict[str, Attribute]:
    """Attributes with the name of a kernel, and the operations of the layers that it computes."""
    numbers = {name: FloatAttr(number, f64) for name, number in layers.items()}
    return {PART: StringAttr(part), LAYERS: DictionaryAttr(numbers)}


def part_of(launch: Operation) -> str:
    """Name of the kernel of the program that a launch computes; empty without a label."""
    part = launch.attributes.get(PART)
    return part.data if isinstance(part, StringAttr) else ""


def layers_of(launch: Operation) -> dict[str, float]:
    """Operations of the layers that a launch computes; none without a label."""
    layers = launch.attributes.get(LAYERS)
    numbers = layers.data.items() if isinstance(layers, DictionaryAttr) else ()
    return {name: n.value.data for name, n in numbers if isinstance(n, FloatAttr)}


def joined_labels(part: str, launches: Iterable[Operation]) -> dict[str, Attribute]:
    """Labels of a launch that computes the layers of several; none if they have no layers."""
    layers: dict[str, float] = {}
    for launch in launches:
        for name, number in layers_of(launch).items():
            layers[name] = layers.get(name, 0.0) + number
    return labels(part, layers) if layers else {}
