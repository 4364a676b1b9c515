"""Programs: sources of compilations for types and devices that are open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute

from tiledialect.ir.host_functions import is_lowered
from tiledialect.ir.signature import find_function
from tiledialect.passes.fuse.options import Fusion

if TYPE_CHECKING:
    from tiledialect.lowering.module_reuse import KeptModules
    from tiledialect.passes.transform.transforms import Transform
    from tiledialect.schedule.search.size_transfer import KnownSchedules

Types = tuple[TensorType[Attribute], ...]


KernelKey = tuple[cl.Context, str]
"""Context of a kernel, and its text without its name, after the functions that it uses."""


@dataclass(frozen=True)
class Built:
    """A kernel as a device built it, maybe together with others."""

    program: cl.Program
    name: str
    """Name of the kernel in the built program, which may be of another plan."""
    code: bytes
    """The binary that can be kept; empty if none can."""


@dataclass(frozen=True)
class Program:
    """A function of a module, with the text that tells it from others."""

    header: ModuleOp
    """The module, or one of the same functions without bodies, if it is read later."""
    name: str
    text: str
    transforms: tuple[Transform, ...] = ()
    """Gradients and batches of the function, in order."""
    schedules: tuple[str, ...] = ()
    """Schedules for kernels, as `tile-loop-tiling` takes them."""
    fusion: Fusion = field(default_factory=Fusion)
    """Fusion that the user decides."""
    passes: tuple[str, ...] = ()
    """Passes in place of the cost model's choices, as `GivenPasses` takes them."""
    budget: float | None = None
    """Seconds after which a compilation searches for schedules no longer; None: no limit."""
    opened: dict[tuple[Attribute, int, str | None], ModuleOp | None] = field(
        default_factory=dict[tuple[Attribute, int, str | None], "ModuleOp | None"], compare=False
    )
    """The modules for inputs of all sizes, for a target, with a width of indices, after a pass."""
    built: dict[KernelKey, Built] = field(default_factory=dict[KernelKey, Built], compare=False)
    """The kernels that devices built of texts, which may serve several types."""
    read: Callable[[], ModuleOp] | None = field(default=None, compare=False)
    """Function that reads the module when it is needed first."""

    @cached_property
    def module(self) -> ModuleOp:
        """The module."""
        return self.header if self.read is None else self.read()

    @property
    def is_chosen(self) -> bool:
        """Whether the user has decided on schedules or on fusion."""
        return bool(self.schedules) or self.fusion != Fusion()

    @cached_property
    def is_lowered(self) -> bool:
        """Whether the program launches kernels of its module."""
        return is_lowered(find_function(self.module, self.name))

    @cached_property
    def is_scheduled(self) -> bool:
        """Whether kernels have schedules: programs of patterns alone have rules instead."""
        from tiledialect.lowering.lift_to_nest.sizes import is_of_patterns

        if self.is_lowered:
            return False
        return bool(self.transforms) or not is_of_patterns(find_function(self.module, self.name))

    @cached_property
    def known_schedules(self) -> KnownSchedules:
        """The schedules that were found for other shapes."""
        # What is on disk needs none of it.
        from tiledialect.schedule.search.size_transfer import KnownSchedules

        return KnownSchedules()

    @cached_property
    def kept_modules(self) -> KeptModules:
        """The modules for other sizes."""
        from tiledialect.lowering.module_reuse import KeptModules

        return KeptModules()

    @property
    def result_name(self) -> str:
        """Name of the function that the transformations make."""
        return self.name + "".join(step.suffix for step in self.transforms)
