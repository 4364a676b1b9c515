"""tile-loop-tiling: split the indices of kernels and give each part its role."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.schedule_text import named_kernels, read_schedules, set_schedules
from tiledialect.errors import TileError
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.ir.structural_hash import structural_hash
from tiledialect.ir.target_spec import entries, precision_of
from tiledialect.passes.diagnostics.long_kernel_warnings import long_kernel_warnings
from tiledialect.passes.diagnostics.reporting import keep_warnings
from tiledialect.passes.diagnostics.schedule_explanation import GIVEN, described_device, explanation
from tiledialect.passes.fuse.kernel_fusion import notes_of
from tiledialect.passes.schedule.rewrites.layout_copies import insert_layout_copies
from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.cost.estimate import estimate, estimated
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.default_schedule import LOCAL_SIZE, default_levels
from tiledialect.schedule.loops import Schedule
from tiledialect.schedule.scans import RUN_BYTES, SHARED_BYTES, ScanShape, scan_schedules
from tiledialect.schedule.scatters import scatter_schedules
from tiledialect.schedule.search import budget
from tiledialect.schedule.search.ahead import search_ahead
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.choice import (
    TRANSFERRED,
    best_or_default,
    default,
    ranked,
)
from tiledialect.schedule.search.tensor_cores import PRECISIONS, tensor_core_schedule

SCHEDULE_ADVICE = (
    'to take another: tile-loop-tiling{schedules="NAME: <…>"}, '
    'or f.with_schedules({"NAME": "<…>"}) in Python'
)
FUSION_ADVICE = 'to fuse otherwise: tile-fuse{apart=NAME}, or f.with_fusion(apart="NAME") in Python'
"""Advice to users on other choices."""
DEVICE_ADVICE = (
    "to have schedules chosen for a device: tile-opt --device ID, or a dlti.target_system_spec "
    "on the module; f.explanation(…) in Python and tile-run --explain say it for theirs"
)
"""Advice to users on the description of a device."""
NO_KERNELS = "there is no kernel to schedule: tile-fuse makes them"
"""Message where there is nothing to explain."""


def default_schedule(kernel: KernelOp, local_size: int) -> ScheduleAttr:
    """Schedule with a work-item for each element of the output, in work-groups of at most
    ``local_size``.
    """
    if kernel.scan is not None:
        return ScheduleAttr(next(scan_schedules_of(kernel.scan, None)))
    return ScheduleAttr(Schedule(default_levels(kernel.indices, local_size)))


def scan_schedules_of(op: ScanOp, device: Device | None) -> Iterator[Schedule]:
    """Schedules of a kernel with a scan, the preferred one first; without a device, those that all
    can run."""
    shape = ScanShape(shape_of(tensor_type(op.result)) or (), op.along, op.block)
    if device is None:
        return scan_schedules(shape, vectors=True, most_items=1)
    shared = SHARED_BYTES + (RUN_BYTES if op.keys is not None else 0)
    room = device.local_mem_size // shared
    most = max(1, min(device.max_work_group_size, room))
    return scan_schedules(shape, device.traits.has_vectors, most)


LISTED_FAMILIES = ("scan", "scatter")
"""Families whose kernels have no schedules but those that are listed."""


def preferred_candidates(kernel: KernelOp, facts: Facts, device: Device) -> Iterator[Candidate]:
    """Candidates that a kernel's kind prefers to those of patterns, whatever the estimates."""
    schedules: Iterable[Schedule]
    if kernel.scan is not None:
        family, schedules = "scan", scan_schedules_of(kernel.scan, device)
    elif kernel.scatter is not None:
        shape = shape_of(tensor_type(kernel.scatter.result)) or ()
        axis = kernel.scatter.row_axis
        family, schedules = "scatter", scatter_schedules(shape, axis, device)
    else:
        # Nothing else is nearly as fast.
        family = "tensor cores"
        module = kernel.get_toplevel_object()
        precision = precision_of(module) if isinstance(module, ModuleOp) else PRECISIONS[0]
        found = tensor_core_schedule(facts, device, precision)
        schedules = () if found is None else (found,)
    for schedule in schedules:
        yield Candidate(family, schedule, estimated(Model(facts, schedule, device)))


def weighed_candidates(kernel: KernelOp, device: Device) -> list[Candidate]:
    """Candidates for a kernel, the best first; the default is one of them, or the only one."""
    facts = kernel_facts(kernel, device)
    first, *others = [*preferred_candidates(kernel, facts, device)] or [None]
    if first is not None and first.family in LISTED_FAMILIES:
        return [first, *sorted((c for c in others if c is not None), key=_seconds)]
    found = sorted((*ranked(facts, device), default(facts, device)), key=_seconds)
    chosen = best_or_default(facts, device)
    if chosen.family == TRANSFERRED:
        found = [chosen, *(c for c in found if c.schedule != chosen.schedule)]
    return found if first is None else [first, *found]


def _seconds(candidate: Candidate) -> float:
    return candidate.estimate.seconds


def best_candidate(kernel: KernelOp, device: Device) -> Candidate:
    """The first of `weighed_candidates`, without estimates of all others."""
    facts = kernel_facts(kernel, device)
    first = next(preferred_candidates(kernel, facts, device), None)
    return first or best_or_default(facts, device)


def choose(kernel: KernelOp, device: Device) -> None:
    """Give a kernel the best schedule that it can run."""
    if not _runs(kernel, best_candidate(kernel, device)):
        weighed_choice(kernel, device)


def weighed_choice(kernel: KernelOp, device: Device) -> tuple[Candidate, ...]:
    """Candidates weighed for a kernel, the best first; the kernel gets the best that it can run."""
    weighed = weighed_candidates(kernel, device)
    while not _runs(kernel, weighed[0]) and len(weighed) > 1:
        weighed.pop(0)
    return tuple(weighed)


def weighed_given(kernel: KernelOp, device: Device) -> tuple[Candidate, ...]:
    """The given schedule of a kernel, and the candidates without it; nothing if there is only
    one.
    """
    given = kernel.schedule
    others = weighed_choice(kernel, device)
    kernel.schedule = given
    if given is None:
        return ()
    found = estimate(kernel_facts(kernel, device), device, given.data)
    return Candidate(GIVEN, given.data, found), *others


def _runs(kernel: KernelOp, candidate: Candidate) -> bool:
    """Give a kernel a schedule; whether it can run it."""
    kernel.schedule = ScheduleAttr(candidate.schedule)
    try:
        kernel.verify_schedule(kernel.schedule)
    except VerifyException:
        return False
    return True


def _with_advice(reasons: Sequence[str], op: ModuleOp) -> list[str]:
    """Explanations of kernels' schedules, with the lines common to all."""
    device = device_of(op)
    head = [described_device(device)] if device is not None else []
    tail = [DEVICE_ADVICE] if entries(op) is None else []
    notes = any(notes_of(kernel) for kernel in ops_of(op, KernelOp))
    return [*head, *reasons, *([FUSION_ADVICE] if notes else []), *tail, SCHEDULE_ADVICE]


@dataclass(frozen=True)
class TileLoopTilingPass(PassWithFlags):
    """Gives kernels their named schedules, and chosen ones to the others.

    The cost model weighs the candidates for the device of the module's DLTI target spec. Without
    one, and where no candidate fits, each element of the output has a work-item, in work-groups of
    up to `local-size` items. Matrix products of f16 and bf16 run on tensor cores, where the device
    has them and they fill its tiles; products of f32 do if the module's attribute `tile.precision`
    is `"tf32"`, which rounds the factors to 10 bits. `explain` prints the weighed candidates to the
    standard error. Operands that a schedule stages in global memory are copied by kernels of their
    own, which are scheduled like the others.
    """

    name = "tile-loop-tiling"

    local_size: int = LOCAL_SIZE
    """Maximum work-items of a work-group by default."""
    schedules: tuple[str, ...] = ()
    """Schedules such as `C: <group.x 8*i : 4, …> stage <A local>`, by the kernels' results."""
    explain: bool = False
    """Whether to print the reason for each schedule."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Schedule every kernel."""
        reasons = self.schedule(op)
        for reason in reasons or ([NO_KERNELS] if self.explain else []):
            print(reason, file=sys.stderr)
        keep_warnings(op, long_kernel_warnings(op))

    def schedule(self, op: ModuleOp) -> list[str]:
        """Schedule every kernel; with `explain`, the reason for each schedule."""
        if self.local_size < 1:
            raise TileError(f"`local-size` must be at least 1, got {self.local_size}")
        self._set_schedules(op)
        kernels = named_kernels(op)
        reasons = self._choose(kernels, op)
        # Chosen schedules need kernels for their copies, too.
        insert_layout_copies(op)
        copies = {n: k for n, k in named_kernels(op).items() if n not in kernels}
        reasons += self._choose(copies, op)
        return _with_advice(reasons, op) if self.explain and reasons else []

    def _choose(self, kernels: Mapping[str, KernelOp], op: ModuleOp) -> list[str]:
        """Schedule some kernels; with `explain`, the reasons."""
        device, reasons = device_of(op), list[str]()
        open_ones = {name: kernel for name, kernel in kernels.items() if kernel.schedule is None}
        chosen: dict[Hashable, ScheduleAttr | None] = {}
        if device is not None:
            search_ahead((kernel_facts(k, device) for k in open_ones.values()), device)
        for name, kernel in kernels.items():
            if kernel.schedule is not None:
                weighed = weighed_given(kernel, device) if device and self.explain else ()
                why = f"{name}: its schedule is given"
                if device is not None and weighed:
                    why = explanation(name, kernel, kernel_facts(kernel, device), device, weighed)
                reasons.append(why)
            elif device is None:
                kernel.schedule = default_schedule(kernel, self.local_size)
                why = (
                    "no device is described" if entries(op) is None else "a simulator has no speed"
                )
                reasons.append(f"{name}: a work-item for each element, as {why}")
            elif self.explain:
                weighed = weighed_choice(kernel, device)
                facts = kernel_facts(kernel, device)
                reasons.append(explanation(name, kernel, facts, device, weighed))
            elif (key := structural_hash(kernel)) in chosen:
                kernel.schedule = chosen[key]
            else:
                choose(kernel, device)
                chosen[key] = kernel.schedule
        if device is not None:
            facts = ((name, kernel_facts(kernel, device)) for name, kernel in open_ones.items())
            keep_warnings(op, budget.warnings(facts))
        return reasons

    def _set_schedules(self, op: ModuleOp) -> None:
        """Give kernels their named schedules, and split off the operands that they stage."""
        given = {n: text for texts in self.schedules for n, text in read_schedules(texts).items()}
        kernels = named_kernels(op)
        set_schedules(op, {n: text for n, text in given.items() if n in kernels})
        insert_layout_copies(op)
        # The other schedules are for the copies, which exist now.
        set_schedules(op, {n: text for n, text in given.items() if n not in kernels})
