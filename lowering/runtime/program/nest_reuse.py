"""Reuse of nests: kernels that differ in a batch size alone get one nest, resized."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import gpu
from xdsl.dialects.builtin import FunctionType, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile.attributes import DomainAttr, ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.index.expr import Range
from tiledialect.lowering.nest.utils.batch_generalization import resize_groups
from tiledialect.lowering.nest.utils.batch_steps import resize_steps
from tiledialect.lowering.tile_to_nest.kernel import (
    KernelLaunch,
    buffer_type,
    initial_input,
    kernel_tensors,
    set_grid,
)
from tiledialect.lowering.tile_to_nest.kernel_nest import kernel_nest
from tiledialect.lowering.tile_to_nest.tile_to_nest import NestOf
from tiledialect.lru_cache import LruCache
from tiledialect.schedule.loops import LoopLevel, Role

KEPT = 128
"""Number of kernels whose nests are kept, the last ones used: hundreds of kilobytes each."""
SIZES = 2
"""Number of sizes of a kernel for which nests are kept, the last ones."""


@dataclass
class Sizes:
    """The sizes in a kernel: the rest is equal for kernels that differ in these alone."""

    shapes: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    domains: list[tuple[Range, ...]] = field(default_factory=list[tuple[Range, ...]])
    levels: tuple[LoopLevel, ...] = ()

    def rest(self, op: Operation, numbers: dict[SSAValue, int]) -> Hashable:
        """Note the sizes of an op and of all in it; the structure without them."""
        operands = tuple(numbers.setdefault(v, len(numbers)) for v in op.operands)
        for result in op.results:
            numbers[result] = len(numbers)
        inside: list[Hashable] = []
        for block in (b for region in op.regions for b in region.blocks):
            for argument in block.args:
                numbers[argument] = len(numbers)
            inside.append(tuple(self._type(a.type) for a in block.args))
            inside += [self.rest(x, numbers) for x in block.ops]
        given = sorted((*op.properties.items(), *op.attributes.items()))
        said = tuple((n, self._attribute(a)) for n, a in given if n != "sym_name")
        return op.name, operands, tuple(self._type(r.type) for r in op.results), said, *inside

    def _type(self, t: Attribute) -> Hashable:
        if not isinstance(t, TensorType):
            return t
        self.shapes.append(t.get_shape())
        return t.element_type, t.encoding, t.get_num_dims()

    def _attribute(self, a: Attribute) -> Hashable:
        match a:
            case DomainAttr(data=data):
                self.domains.append(tuple(r for _, r in data))
                return tuple(name for name, _ in data)
            case ScheduleAttr(data=schedule):
                self.levels = schedule.levels
                numbers = {(x.index, x.stride): k for k, x in enumerate(schedule.levels)}
                levels = tuple((x.index, x.role, x.axis) for x in schedule.levels)
                at = tuple(s.at if s.at is None else numbers[s.at] for s in schedule.stages)
                stages = tuple(replace(s, at=None) for s in schedule.stages)
                return levels, at, replace(schedule, levels=(), stages=stages)
            case _:
                return a


@dataclass(frozen=True)
class _Kept:
    """A nest as it was built, and the sizes in its kernel."""

    sizes: Sizes
    launch: KernelLaunch

    def resized(self, kernel: KernelOp, sizes: Sizes) -> gpu.FuncOp | None:
        """A copy for a kernel of other sizes; None if more than a batch differs."""
        function = self.launch.function.clone()
        if sizes == self.sizes:
            return function
        changed = [(a, b) for a, b in zip(self.sizes.levels, sizes.levels, strict=True) if a != b]
        # Of steps first, which the number of groups does not depend on.
        changed.sort(key=lambda pair: pair[0].role is Role.GROUP)
        if not changed or not all(_resize(function, old, new, changed) for old, new in changed):
            return None
        types = [buffer_type(v.type) for v in kernel_tensors(kernel)]
        if list(function.body.block.arg_types) != types:
            return None
        function.function_type = FunctionType.from_lists(types, [])
        return function


def _resize(
    kernel: gpu.FuncOp,
    old: LoopLevel,
    new: LoopLevel,
    changed: Sequence[tuple[LoopLevel, LoopLevel]],
) -> bool:
    """Give the loops of a level the steps of another one; whether that is all they differ in."""
    if min(old.extent, new.extent) < 2:
        return False
    if old.stride != new.stride and not any(
        a.role is Role.SERIAL and _is_inside(a, old) and _is_inside(b, new) for a, b in changed
    ):
        return False
    if old.role is Role.GROUP:
        steps = old.extent, new.extent
        return old.extent == new.extent or resize_groups(kernel, old.index, old.axis, *steps)
    is_serial = old.role is Role.SERIAL and old.stride == new.stride
    return is_serial and resize_steps(kernel, old.index, old.extent, new.extent)


def _is_inside(inner: LoopLevel, outer: LoopLevel) -> bool:
    """Whether the steps of one level are a step of another one."""
    return inner.index == outer.index and inner.stride * inner.extent == outer.stride


class KeptNests:
    """Cache of the nests of kernels by their structure without sizes.

    The nest of a kernel computes others that differ from it in a batch alone, with as many steps
    of the loop over the batch: they have no other sizes in common, and each step of the nest
    computes its own elements of the first axis of tensors, as those of any batch.
    """

    def __init__(self, most: int = KEPT):
        self.kernels: LruCache[Hashable, tuple[_Kept, ...]] = LruCache(most)
        self.build: NestOf = kernel_nest

    def nest(self, said: str, kernel: KernelOp, name: str) -> KernelLaunch:
        """Build the function of a scheduled kernel, or resize one that is kept.

        ``said`` is the text of the attributes of the module.
        """
        if kernel.schedule is None:
            return self.build(kernel, name)
        sizes, numbers = Sizes(), dict[SSAValue, int]()
        rest = sizes.rest(kernel, numbers)
        hints = tuple(v.name_hint for v in numbers)
        key = said, rest, hints, initial_input(kernel)
        kept = self.kernels.find(key) or ()
        for own in kept:
            if (function := own.resized(kernel, sizes)) is not None:
                grid = kernel.schedule.data.extents(Role.GROUP)
                function.sym_name = StringAttr(name)
                set_grid(function, grid)
                return KernelLaunch(function, grid, own.launch.block)
        launch = self.build(kernel, name)
        copy = replace(launch, function=launch.function.clone())
        self.kernels.put(key, (_Kept(sizes, copy), *kept)[:SIZES])
        return launch
