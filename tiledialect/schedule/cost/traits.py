"""Differences between CPUs and GPUs, each by its reason: the one table of both kinds."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.str_enum import StrEnum

from tiledialect.ir.target_spec import is_gpu


class Kind(StrEnum):
    """Kind of a device: CPU or GPU."""

    CPU = "cpu"
    GPU = "gpu"


@dataclass(frozen=True)
class Traits:
    """Structure of the devices of a kind, as passes and the cost model distinguish it."""

    has_vectors: bool
    """Whether an instruction of a work-item computes a vector. If not, the lanes of the hardware
    are the work-items of a sub-group, with registers of their own."""
    unaligned_vectors: bool
    """Whether vectors are accessed as fast where they do not begin at multiples of their size. If
    not, their elements are accessed one by one there."""
    interleaves_groups: bool
    """Whether a unit runs several work-groups at a time, some of which compute while others wait.
    If not, a core runs one after another, prefetches their rows, and keeps them in its caches."""
    has_local_memory: bool
    """Whether local memory is a memory of the unit. If not, it is cached as all memory is."""
    line: int
    """Bytes of a cache line: on a CPU of all caches, on a GPU of the first."""
    sector: int
    """Bytes that are fetched from memory together."""


TRAITS = {
    Kind.CPU: Traits(
        has_vectors=True,
        unaligned_vectors=True,
        interleaves_groups=False,
        has_local_memory=False,
        line=64,
        sector=64,
    ),
    Kind.GPU: Traits(
        has_vectors=False,
        unaligned_vectors=False,
        interleaves_groups=True,
        has_local_memory=True,
        line=128,
        sector=32,
    ),
}


def kind_of(module: ModuleOp) -> Kind:
    """Kind of a module's target: a CPU where none is described, a GPU for a simulator."""
    return Kind.GPU if is_gpu(module) else Kind.CPU


def traits_of(module: ModuleOp) -> Traits:
    """Traits of a module's target."""
    return TRAITS[kind_of(module)]
