"""The machine that a schedule is chosen for: a few numbers, read from a module's target spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tiledialect.errors import TileError
from tiledialect.ir.target_spec import SIMULATOR, entries
from tiledialect.platforms import NVIDIA, POCL
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.rates import Rates, rates
from tiledialect.schedule.cost.traits import TRAITS, Kind, Traits, kind_of

KIB = 1024
MIB = 1024 * KIB

WIDEST = 16
"""Number of lanes of OpenCL's widest vectors."""


LINE = TRAITS[Kind.CPU].line
"""Bytes of a cache line in models and passes for CPUs alone."""


@dataclass(frozen=True)
class Device:
    """A device as the cost model sees it; sizes in bytes, rates in units of 10^9 a second.

    A field is the entry of the same name in the module's DLTI target spec. An absent entry has the
    value of a common device of the platform or the kind.
    """

    kind: Kind
    platform: str
    compute_units: int
    max_work_group_size: int
    local_mem_size: int
    """Local memory that a work-group can have."""
    local_mem_unit: int
    """Local memory that the groups on a compute unit have together."""
    sub_group_size: int
    """Number of work-items that run in lockstep: 1 on CPUs."""
    native_vector_width: int
    """The number of floats in the vectors that the hardware has."""
    max_vector_width: int
    """Width of the widest access, in floats."""
    registers: int
    """Number of registers, of a float or of a vector, that a work-item can have."""
    registers_unit: int
    """Number of registers shared by the work-items on a compute unit; 0: they are not shared."""
    work_items_unit: int
    """Number of work-items on a compute unit at a time."""
    cache_sizes: tuple[int, ...]
    """Sizes from the nearest cache, of a compute unit, to the last, which all share."""
    bandwidth: float
    """Bandwidth of global memory, in GB/s."""
    arithmetic: float
    """Multiplications and additions of floats, in GFLOP/s."""
    launch: float
    """Cost of starting a kernel, in microseconds."""
    latency: float
    """Microseconds until data from memory arrives: on a GPU while all units ask for some, on a CPU,
    which prefetches rows, the part that is not hidden."""
    kept: float = 0.0
    """The most MiB seen to be read and written no slower through the caches; 0: unknown."""
    loads_first: bool = False
    """Whether its compiler loads the vectors of all unrolled steps before the first, where their
    number in a step is no power of two."""
    compute_capability: int = 0
    """Compute capability of a device of NVIDIA: 80 is 8.0."""
    sub_group_sizes: tuple[int, ...] = ()
    """The sizes of sub-groups whose work-items can exchange registers."""

    @property
    def traits(self) -> Traits:
        """Structure that it has in common with the devices of its kind."""
        return TRAITS[self.kind]

    @property
    def item_lanes(self) -> int:
        """Number of floats that an instruction of a work-item computes."""
        return self.native_vector_width if self.traits.has_vectors else 1

    @property
    def simd_lanes(self) -> int:
        """Number of floats that an instruction computes: in a vector, or in a sub-group."""
        return self.native_vector_width if self.traits.has_vectors else self.sub_group_size

    @property
    def launch_seconds(self) -> float:
        """Seconds that starting a kernel costs."""
        return self.launch * 1e-6

    @property
    def line(self) -> int:
        """Bytes of a cache line."""
        return self.traits.line

    @property
    def second_cache(self) -> int:
        """The size of the second cache, or of the only one."""
        return self.cache_sizes[:2][-1]

    def parts_near(self, nbytes: int) -> int:
        """Fewest parts of some data such that half of the second cache holds one of them.

        It is near then: it stays there from one read to the next.
        """
        return ceil_div(2 * nbytes, self.second_cache)

    def is_near(self, nbytes: int, parts: int = 1) -> bool:
        """Whether each of so many parts of some data is near."""
        return self.parts_near(nbytes) <= parts

    @property
    def most_kept(self) -> float:
        """Number of bytes that a kernel may read and write for its results to stay in the last
        cache."""
        return max(self.kept * MIB, self.cache_sizes[-1])

    @property
    def has_long_vectors(self) -> bool:
        """Whether its vectors are as long as those of AVX-512.

        Such processors have more registers, and take an operand of a multiply-add from memory.
        """
        return self.item_lanes >= LONG_VECTOR

    @property
    def microarchitecture(self) -> str:
        """Name of the file of its rates: that of its kind where none is closer."""
        return "avx512" if self.has_long_vectors else str(self.kind)

    @property
    def rates(self) -> Rates:
        """Fitted numbers of its microarchitecture."""
        return rates(self.microarchitecture)

    @property
    def whole_vectors(self) -> int:
        """Number of whole vectors that the registers hold: PoCL's compiler takes two for each."""
        return self.registers // 2 if self.loads_first else self.registers

    def is_busy_with(self, groups: int) -> bool:
        """Whether so many work-groups, as rows have one each, are enough: half of the units."""
        return 2 * groups > self.compute_units

    def lanes(self, element_type: str, nbytes: int) -> int:
        """Number of elements in a vector that both the hardware and OpenCL C have.

        Numbers of 16 bits are computed with as floats.
        """
        size = 4 if element_type in ("f16", "bf16") else max(nbytes, 1)
        width = min(WIDEST, max(1, self.native_vector_width * 4 // size))
        return 1 << (width.bit_length() - 1)


COMMON: dict[Kind, Mapping[str, Any]] = {
    Kind.GPU: {
        "compute_units": 64,
        "max_work_group_size": 256,
        "local_mem_size": 32 * KIB,
        "local_mem_unit": 64 * KIB,
        "sub_group_size": 32,
        "native_vector_width": 1,
        "max_vector_width": 4,
        "registers": 128,
        "registers_unit": 64 * KIB,
        "work_items_unit": 1024,
        "cache_sizes": (32 * KIB, 4 * MIB),
        "launch": 5.0,
        "latency": 0.7,
    },
    Kind.CPU: {
        "compute_units": 4,
        "max_work_group_size": 4096,
        "local_mem_size": 32 * KIB,
        "local_mem_unit": 32 * KIB,
        "sub_group_size": 1,
        "native_vector_width": 8,
        "max_vector_width": 16,
        "registers": 16,
        "registers_unit": 0,
        "work_items_unit": 1,
        "cache_sizes": (32 * KIB, MIB, 16 * MIB),
        "launch": 10.0,
        "latency": 0.006,
    },
}
"""Defaults for a device of each kind."""

PLATFORMS: dict[Kind, dict[str, Mapping[str, Any]]] = {
    Kind.GPU: {
        NVIDIA.short: {
            "max_work_group_size": 1024,
            "local_mem_size": 48 * KIB,
            "local_mem_unit": 96 * KIB,
            "registers": 255,
            "work_items_unit": 2048,
            "cache_sizes": (128 * KIB, 32 * MIB),
        },
        "amd": {
            "local_mem_size": 64 * KIB,
            "local_mem_unit": 64 * KIB,
            "sub_group_size": 64,
            "registers": 255,
            "registers_unit": 128 * KIB,
            "work_items_unit": 2048,
        },
    },
    Kind.CPU: {POCL.name.lower(): {"loads_first": True}},
}
"""Defaults for devices of a platform, whose name contains the key."""

LONG_VECTOR = 16
"""Number of floats in a vector of AVX-512."""

UNIT_FLOPS = {Kind.GPU: 480.0, Kind.CPU: 12.0}
"""GFLOP/s of a compute unit: on a CPU, of a lane of its vectors."""
UNIT_BANDWIDTH = {Kind.GPU: 20.0, Kind.CPU: 10.0}
"""GB/s of global memory for a compute unit."""


def device_of(module: ModuleOp) -> Device | None:
    """The device of a module's target spec; None without a spec.

    A simulator has None, too: it runs work-items one by one, so tiles would only cost time.
    """
    given = entries(module)
    if given is None or given.get("type") == SIMULATOR:
        return None
    return described(kind_of(module), given)


def device_or_common(module: ModuleOp) -> Device:
    """The device of a module's target spec; a common CPU without one, and for a simulator."""
    return device_of(module) or described(Kind.CPU, {})


def described(kind: Kind, given: Mapping[str, Any]) -> Device:
    """The device of a kind with the entries of a spec, and defaults for the others."""
    platform = str(given.get("platform", "")).lower()
    found = dict(COMMON[kind])
    for name, values in PLATFORMS[kind].items():
        if name in platform:
            found |= values
    names = {f.name for f in fields(Device)} - {"kind", "platform"}
    own = {k: v for k, v in given.items() if k in names and _is_known(k, v)}
    units, lanes = (own.get(k, found[k]) for k in ("compute_units", "native_vector_width"))
    has_vectors = TRAITS[kind].has_vectors
    rates = {
        "arithmetic": UNIT_FLOPS[kind] * units * (lanes if has_vectors else 1),
        "bandwidth": UNIT_BANDWIDTH[kind] * units,
    }
    if has_vectors and lanes > 8:
        found["registers"] = 32
    return Device(kind=kind, platform=platform, **{**found, **rates, **own})


LISTS = ("cache_sizes", "sub_group_sizes")
"""The entries that are lists of numbers."""
MAY_BE_NONE = frozenset(
    (
        "local_mem_size",
        "registers_unit",
        "launch",
        "kept",
        "compute_capability",
        "sub_group_sizes",
    )
)
"""The entries that may be 0; where another one is, nothing is known of it."""


def _is_known(name: str, value: object) -> bool:
    """Whether an entry has a known value; a TileError if it has a wrong type or sign."""
    parts = value if isinstance(value, tuple) and name in LISTS else (value,)
    numbers = [part for part in parts if isinstance(part, int | float) and part >= 0]
    if len(numbers) < len(parts) or (name in LISTS) is not isinstance(value, tuple):
        wanted = "numbers" if name in LISTS else "a number"
        raise TileError(f"the target spec's {name} must be {wanted}, 0 or more, not {value!r}")
    return name in MAY_BE_NONE or (bool(numbers) and all(numbers))
