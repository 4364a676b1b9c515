"""Reuse of kernels: nests are lowered and printed once in a process, for many shapes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Block, Region
from xdsl.parser import Parser
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect import caches
from tiledialect.dialects.nest.call import calls_of
from tiledialect.ir.disposal import dispose
from tiledialect.ir.kernels import kernels_by_name
from tiledialect.ir.mlir_text import all_dialects, print_module
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.structural_hash import attributes_text, structural_hash_with_names
from tiledialect.lowering.host.gpu_arena import GpuArenaPass
from tiledialect.lowering.nest.nest_fuse_horizontally import NestFuseHorizontallyPass
from tiledialect.lowering.nest.nest_stream_stores import mark_unread
from tiledialect.lowering.nest.utils.batch_generalization import generalize_batch
from tiledialect.lowering.nest.utils.batch_steps import open_steps
from tiledialect.lowering.opencl.function import ArgumentAccess
from tiledialect.lowering.opencl.target import Program
from tiledialect.lowering.pipeline import join_nests, lower_joined_nests
from tiledialect.lowering.runtime.program.early_builds import Builder, End
from tiledialect.lowering.runtime.program.nest_reuse import KeptNests
from tiledialect.lowering.runtime.program.plan import Plan
from tiledialect.lowering.runtime.program.plan_building import accesses_of, plan_of
from tiledialect.lowering.runtime.program.processes import NoAnswerError, Processes
from tiledialect.lowering.tile_to_nest.tile_to_nest import Labels, lower_to_nests
from tiledialect.lru_cache import LruCache
from tiledialect.schedule.cost.device import device_or_common

KEPT = 1024
"""Number of kernels that are kept, the last ones used: tens of kilobytes each."""


@dataclass(frozen=True)
class Printed:
    """A lowered and printed kernel, with its accesses to its arguments."""

    program: Program
    accesses: Sequence[ArgumentAccess]


@dataclass(frozen=True)
class Use:
    """A kernel of a program: the printed one, and the values of its size arguments."""

    printed: Printed
    sizes: Sequence[int]


class PrintedKernels:
    """Cache of printed kernels by the structure of their nests."""

    def __init__(self, most: int = KEPT):
        self.kernels: LruCache[Hashable, Printed] = LruCache(most)
        self.nests = KeptNests()

    def use(
        self,
        kernel: gpu.FuncOp,
        called: Sequence[gpu.FuncOp],
        module: ModuleOp,
        said: Hashable,
        others: Processes | None,
    ) -> Callable[[], Use]:
        """Take a kernel from a module, and begin to print it, if it is new, in another process.

        The result is the function that gives it, and prints it here if nobody has.
        ``called`` are the kernels that it consists of, ``said`` is the text of the attributes of
        the modules around it.
        """
        alone = _alone([kernel, *called], module)
        (around,) = ops_of(alone, gpu.ModuleOp)
        device = device_or_common(alone)
        generalize_batch(kernel, device)
        sizes = open_steps(kernel, device)
        names = tuple(f.sym_name for f in (kernel, *called))
        key = said, names, structural_hash_with_names(around)
        if (found := self.kernels.find(key)) is not None:
            dispose(alone)
            return partial(Use, found, sizes)
        job = others and others.submit(printed_text, print_module(alone), len(sizes))
        return partial(self._finish, key, alone, sizes, job)

    def _finish(
        self, key: Hashable, alone: ModuleOp, sizes: Sequence[int], job: Future[Printed] | None
    ) -> Use:
        """The kernel that a module has, as another process or this one prints it."""
        try:
            found = printed(alone, len(sizes)) if job is None else job.result()
        except NoAnswerError:
            found = printed(alone, len(sizes))
        dispose(alone)
        return Use(self.kernels.put(key, found), sizes)


FUSED = NestFuseHorizontallyPass()
PRINTED = PrintedKernels()
"""The cache of the process."""


def printed(alone: ModuleOp, sizes: int) -> Printed:
    """Lower and print the first kernel of a module, whose last arguments are so many sizes."""
    own, *_ = ops_of(alone, gpu.FuncOp)
    (around,) = ops_of(alone, gpu.ModuleOp)
    lower_joined_nests(Context(), alone)
    program = Program()
    program.add(around)
    return Printed(program, accesses_of(own)[: len(own.body.block.args) - sizes])


def printed_text(alone: str, sizes: int) -> Printed:
    """Lower and print the kernel of a module that is given as text, with the names that it has."""
    return printed(Parser(_dialects(), alone).parse_module(), sizes)


@caches.PACKAGE
def _dialects() -> Context:
    return all_dialects()


def _alone(kernels: Sequence[gpu.FuncOp], module: ModuleOp) -> ModuleOp:
    """Move kernels to a module of their own, with the attributes of those around the first."""
    around = kernels[0].parent_op()
    assert isinstance(around, gpu.ModuleOp)
    kernels[0].detach()
    own = gpu.ModuleOp.create(
        properties=around.properties,
        attributes=around.attributes,
        regions=[Region(Block(kernels))],
    )
    return ModuleOp([own], dict(module.attributes))


def _leave_declaration(kernel: gpu.FuncOp) -> gpu.FuncOp:
    """Insert a kernel without ops before a kernel, which can be moved then."""
    found = gpu.FuncOp.create(
        properties=kernel.properties,
        attributes=kernel.attributes,
        regions=[Region(Block(arg_types=kernel.body.block.arg_types))],
    )
    Rewriter.insert_op(found, InsertPoint.before(kernel))
    return found


def plan_of_nests(
    module: ModuleOp,
    name: str,
    labels: Labels | None = None,
    kept: PrintedKernels = PRINTED,
    builder: Builder | None = None,
    others: Processes | None = None,
    horizontal: NestFuseHorizontallyPass = FUSED,
) -> Plan:
    """The plan of a function of scheduled kernels and nests, as lowering all of it would give it.

    Each kernel is lowered by itself, maybe by others, unless it is among those that are kept, and
    given to ``builder`` before the next. ``horizontal`` fuses launches. Launches get the attributes
    of their kernels in ``labels``. The module loses its ops.
    """
    context = Context()
    lower_to_nests(module, partial(kept.nests.nest, attributes_text(module)), labels)
    join_nests(context, module)
    mark_unread(module)
    horizontal.apply(context, module)
    GpuArenaPass().apply(context, module)
    launched = {launch.kernel for launch in ops_of(module, gpu.LaunchFuncOp)}
    others = others and others.for_jobs(len(launched))
    begun: dict[gpu.FuncOp, Callable[[], Use]] = {}
    for around in ops_of(module, gpu.ModuleOp):
        said = attributes_text(module), attributes_text(around)
        kernels = kernels_by_name(around)
        own = [k for n, k in kernels.items() if SymbolRefAttr(around.sym_name, [n]) in launched]
        # Kernels are moved one after the other.
        calls = {
            k: [f.clone() for f in dict.fromkeys(call.kernel for call in calls_of(k))] for k in own
        }
        for kernel, called in calls.items():
            declared = _leave_declaration(kernel)
            begun[declared] = kept.use(kernel, called, module, said, others)
    program, uses = Program(), dict[gpu.FuncOp, Use]()
    for declared, finish in begun.items():
        uses[declared] = finish()
        own = uses[declared].printed.program
        program.take(own)
        if builder is not None:
            builder(own)
    if builder is not None:
        builder(End.WHOLE)
    plan = plan_of(
        module, name, program, lambda k: uses[k].printed.accesses, lambda k: uses[k].sizes
    )
    dispose(module)
    return plan
