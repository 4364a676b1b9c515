"""Faults and slow functions of OpenCL drivers, each with its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from tiledialect.platforms import INTEL, NVIDIA, OCLGRIND, POCL, Platform

DENORMALS_ARE_ZERO = "-cl-denorms-are-zero"
NOT_OPTIMIZED = "-cl-opt-disable"
NO_WARNINGS = "-w"


class Kind(Enum):
    """Kinds of answers to a quirk."""

    PASS = "pass"
    """A pass, by its name."""
    OPTION = "build option"
    PRELUDE = "OpenCL C"
    """OpenCL C before a program, by its key in `prelude.TEXTS`."""
    CODE = "code"
    """Code of the printer or the runtime, by its file in `lowering`."""


@dataclass(frozen=True)
class Quirk:
    """A fault of drivers, or a slow function, and its answer."""

    platforms: tuple[Platform, ...]
    fault: str
    kind: Kind
    answer: str
    versions: str = ""
    """Versions of the driver with the fault; empty: all known ones."""
    least_capability: int = 0
    """Least compute capability of devices that are concerned."""
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Options of the pass."""


QUIRKS = (
    Quirk(
        (POCL,),
        "loses values of work-items that skip a barrier (3), computes wrongly or never ends (6), "
        "where a barrier stands in a branch",
        Kind.PASS,
        "nest-free-barriers",
        versions="3, 6",
    ),
    Quirk(
        (INTEL,),
        "unrolls loops of 32 iterations with a branch, and takes minutes to make it a mask; "
        "vectorizes loops with calls or integer divisions wrongly, or ends the process",
        Kind.PASS,
        "gpu-keep-loops",
    ),
    Quirk(
        (INTEL,),
        "ends the process at a branch for the last iteration of a loop beside another branch",
        Kind.PASS,
        "nest-peel-last",
    ),
    Quirk(
        (INTEL,),
        "ends the process where the sine and the cosine of a sine or cosine are computed together",
        Kind.PASS,
        "gpu-split-sincos",
    ),
    Quirk(
        (INTEL,),
        "multiplies out products of sums with the same summand and factor in loops that it does "
        "not vectorize, and rounds otherwise",
        Kind.PASS,
        "gpu-keep-sums",
    ),
    Quirk(
        (INTEL, POCL),
        "operations on numbers below the least normal one take a hundred times as long",
        Kind.OPTION,
        DENORMALS_ARE_ZERO,
    ),
    Quirk(
        (POCL,),
        "prints the number of warnings on the standard error",
        Kind.OPTION,
        NO_WARNINGS,
    ),
    Quirk(
        (OCLGRIND,),
        "its check for uninitialized reads does not know LLVM's `freeze`, which optimizations "
        "insert",
        Kind.OPTION,
        NOT_OPTIMIZED,
    ),
    Quirk(
        (INTEL,),
        "ends the process where it vectorizes loops that call `min` and `max`",
        Kind.PRELUDE,
        "clang",
    ),
    Quirk(
        (POCL,),
        "sines of vectors are wrong beside numbers beyond 1e10",
        Kind.PRELUDE,
        "pocl",
    ),
    Quirk(
        (POCL,),
        "`vload` and functions are calls: registers go to memory and back",
        Kind.PRELUDE,
        "pocl",
    ),
    Quirk(
        (NVIDIA,),
        "`vloada_half` and `vstorea_half` move element by element",
        Kind.PRELUDE,
        "whole-halves",
    ),
    Quirk(
        (NVIDIA,),
        "has an instruction that rounds to bf16, and no function for it",
        Kind.PRELUDE,
        "bf16",
        least_capability=80,
    ),
    Quirk(
        (OCLGRIND,),
        "takes the bytes beside a double stored as a half for uninitialized",
        Kind.PRELUDE,
        "halves-by-floats",
    ),
    Quirk(
        (OCLGRIND,),
        "ends the process at lanes of constant vectors, or calls them uninitialized",
        Kind.CODE,
        "opencl/vector_ops.py",
    ),
    Quirk(
        (OCLGRIND,),
        "its check for uninitialized reads ends the process at vectors made of vectors",
        Kind.CODE,
        "opencl/vector_ops.py",
    ),
    Quirk(
        (OCLGRIND,),
        "cannot run the instructions that LLVM makes of a division beside its remainder",
        Kind.CODE,
        "opencl/helpers.py",
    ),
    Quirk(
        (INTEL,),
        "its vectorizer ends the process at calls that convert scalars",
        Kind.CODE,
        "opencl/helpers.py",
    ),
    Quirk(
        (INTEL,),
        "computes wrongly where work-items wait between uses of the same real differences",
        Kind.CODE,
        "opencl/inline.py",
    ),
    Quirk(
        (INTEL,),
        "computes conditions of work-items wrongly in loops between barriers where one number "
        "of an item gives all others",
        Kind.CODE,
        "nest/nest_fuse_horizontally.py",
    ),
    Quirk(
        (POCL,),
        "widens every sum of `int` in an address by itself",
        Kind.CODE,
        "opencl/memory.py",
    ),
    Quirk(
        (INTEL,),
        "copies bytes whose number 128 does not divide up to 80 times as slowly",
        Kind.CODE,
        "runtime/call/copies.py",
    ),
    Quirk(
        (POCL,),
        "refuses copies between rectangles of one buffer that do not overlap",
        Kind.CODE,
        "runtime/call/copies.py",
        versions="3",
    ),
    Quirk(
        (INTEL,),
        "copies inputs in the host's memory that are only read and not aligned",
        Kind.CODE,
        "runtime/call/host_arrays.py",
    ),
    Quirk(
        (INTEL,),
        "gives a work-group 256 KiB of local memory",
        Kind.CODE,
        "runtime/device/icd.py",
    ),
    Quirk(
        (OCLGRIND,),
        "keeps the size and the bytes of a freed buffer for the next one in its place",
        Kind.CODE,
        "runtime/device/queue_state.py",
    ),
    Quirk(
        (INTEL,),
        "`exp` and `erf` are calls",
        Kind.PASS,
        "math-polynomial-approximation",
        arguments={"functions": ("exp", "erf"), "long_halves": ("exp", "erf")},
    ),
    Quirk(
        (POCL,),
        "`exp`, `erf`, `log` and `tanh` take half as long again as polynomials",
        Kind.PASS,
        "math-polynomial-approximation",
    ),
    Quirk(
        (INTEL, POCL),
        "processors divide vectors 16 to 24 times as slowly as they multiply them",
        Kind.PASS,
        "arith-share-reciprocals",
    ),
    Quirk(
        (INTEL, POCL),
        "large results that the program does not read again go through the caches",
        Kind.PASS,
        "nest-stream-stores",
    ),
    Quirk(
        (INTEL, POCL),
        "processors do not fetch the next row ahead",
        Kind.PASS,
        "nest-prefetch",
    ),
    Quirk(
        (INTEL, POCL),
        "processors stop fetching ahead at the end of a page",
        Kind.PASS,
        "nest-prefetch-streams",
    ),
)


def quirks_of(platform: str | None, kind: Kind) -> Iterator[Quirk]:
    """Quirks of a platform, by its name or its short name, with answers of a kind."""
    for quirk in QUIRKS:
        if quirk.kind is kind and any(platform in (p.name, p.short) for p in quirk.platforms):
            yield quirk


def passes_of(platform: str | None) -> dict[str, Mapping[str, tuple[str, ...]]]:
    """Names of the passes that a platform needs, with their options."""
    return {quirk.answer: quirk.arguments for quirk in quirks_of(platform, Kind.PASS)}
