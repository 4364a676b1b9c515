"""Programs: what is compiled, for which types and on which device is open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute

from tiledialect.choices import Fusion

if TYPE_CHECKING:
    from tiledialect.passes.tile_gradient import Gradient

Types = tuple[TensorType[Attribute], ...]


@dataclass(frozen=True)
class Program:
    """A function of a module at the tensor level, with the text that tells it from others."""

    module: ModuleOp
    name: str
    text: str
    gradients: tuple[Gradient, ...] = ()
    """How often, and by what, the function is differentiated."""
    schedules: tuple[str, ...] = ()
    """Schedules for kernels, as `tile-loop-tiling` takes them."""
    fusion: Fusion = field(default_factory=Fusion)
    """What is fused, where the user decides."""
    opened: dict[tuple[Attribute, int, str | None], ModuleOp | None] = field(
        default_factory=dict[tuple[Attribute, int, str | None], "ModuleOp | None"], compare=False
    )
    """The modules for inputs of all sizes, for a target, with a width of indices, after a pass."""
    built: dict[tuple[cl.Context, str], cl.Program] = field(
        default_factory=dict[tuple[cl.Context, str], cl.Program], compare=False
    )
    """What devices made of the kernels' text, which may serve several types."""

    @property
    def result_name(self) -> str:
        """What the function is called in the end."""
        return self.name + "_gradient" * len(self.gradients)
