"""Rates: the fitted numbers of the cost model, one file a microarchitecture.

A file in `rates/` has tables of numbers, each with a comment; one that `extends` another has only
the numbers that differ. Counts and sizes of the machine's structure stand in the code.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

from tiledialect import caches
from tiledialect.errors import TileError

FOLDER = Path(__file__).parent / "rates"


@dataclass(frozen=True)
class Source:
    """Origin of the numbers of a file."""

    date: str
    """Month of the last measurements."""
    device: str
    data: str
    """Measurements that the numbers come from."""


@dataclass(frozen=True)
class Items:
    """Work-items of a group, and groups on a compute unit."""

    overlap_loss: float
    wait: float
    loads_at_a_time: float
    barrier: float
    seen: float
    local_rate: float
    shared_rate: float
    stored_again: float
    copies_seen: float
    lone: float
    last_wave: float
    near: float
    unhidden: float
    copy_instructions: float
    word_instructions: float
    join_instructions: float
    loop_instructions: float
    group_instructions: float
    spill: float
    warps_for_half: float
    uneven: float
    ends: float
    warps_for_ends: float
    cycles_a_word: float
    own_registers: float
    ahead_registers: float
    test_registers: float


@dataclass(frozen=True)
class Core:
    """Contractions on a core of a CPU, in cycles."""

    loop_step: float
    copied_vector: float
    copied_element: float
    transposed_vector: float
    waiting_near: float
    waiting_far: float
    stored: float
    interleaved: float
    written_line: float
    far_line: float
    evicted_line: float
    group: float
    edge: float
    edge_lanes: float
    alone_lanes: float
    unknown_lanes: float
    tested: float
    alone: float
    uneven_whole: float
    uneven_rest: float
    piece_begin: float
    shared_rate: float
    shared_loss: float
    chain: float
    window: float
    spilled: float
    spilled_sum: float
    loaded: float
    own_load: float
    split_load: float
    shuffled: float
    parted_line: float
    reused_share: float
    near_bytes: float
    second_bytes: float
    far_bytes: float
    scattered: float
    page: float
    stream_begin: float
    conflict: float


@dataclass(frozen=True)
class CoreScatters:
    """Scatters on a core of a CPU, and sums that could be scatters."""

    test: float
    take: float
    rows: float
    counted_rows: float


@dataclass(frozen=True)
class GpuScatters:
    """Scatters on a GPU, and sums that could be scatters."""

    searched: float
    add: float
    comparison: float
    add_latencies: float
    read_bytes: float


@dataclass(frozen=True)
class TensorCores:
    """Products of matrices on tensor cores."""

    speed: float
    step: float
    half_tile: float
    quarter_tile: float


@dataclass(frozen=True)
class Kernels:
    """Rows of fused kernels, and kernels one after the other."""

    row_share: float
    cache_rate: float
    handover: float
    queued: float


@dataclass(frozen=True)
class Nests:
    """Nests that patterns are lowered to, counted op by op."""

    access: float
    loop_step: float
    slow: float
    cache_rate: float
    group: float
    hiding: float
    busy: float
    resident: float
    step_latency: float
    operand_latency: float
    asking: float
    overlap_loss: float
    own_registers: float


@dataclass(frozen=True)
class CoreAccesses:
    """Accesses of nests on a core of a CPU, in operations of vectors."""

    apart: float
    test: float
    masked_lane: float
    tested_lane: float


@dataclass(frozen=True)
class Cpu:
    """Numbers that only CPUs have."""

    core: Core
    accesses: CoreAccesses
    scatters: CoreScatters


@dataclass(frozen=True)
class Gpu:
    """Numbers that only GPUs have."""

    tensor_cores: TensorCores
    scatters: GpuScatters


@dataclass(frozen=True)
class Rates:
    """The fitted numbers of a microarchitecture, or those of a kind of device."""

    source: Source
    items: Items
    kernels: Kernels
    nests: Nests
    cpu: Cpu | None = None
    gpu: Gpu | None = None

    @property
    def scatters(self) -> CoreScatters | GpuScatters:
        """The numbers of scatters on its kind of device."""
        return self.cpu.scatters if self.cpu is not None else self.of_gpu.scatters

    @property
    def of_cpu(self) -> Cpu:
        """The numbers of a CPU."""
        assert self.cpu is not None
        return self.cpu

    @property
    def of_gpu(self) -> Gpu:
        """The numbers of a GPU."""
        assert self.gpu is not None
        return self.gpu


@caches.RATES
def rates(name: str) -> Rates:
    """The rates in a file of the package, by its name without the suffix."""
    return load(FOLDER / f"{name}.toml")


def load(path: Path) -> Rates:
    """The rates in a file.

    Raises:
        TileError: a number is missing, is unknown, or is no number.
    """
    found = _read(Rates, tables(path), "")
    if (found.cpu is None) is (found.gpu is None):
        raise TileError(f"{path.name} must have either the table cpu or the table gpu")
    return found


def tables(path: Path) -> Mapping[str, Any]:
    """The tables of a file, with those of the files that it extends."""
    own = tomllib.loads(path.read_text())
    if (base := own.pop("extends", None)) is None:
        return own
    return _merged(tables(path.with_stem(base)), own)


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Tables with the numbers of others in their place."""
    both = {k: _merged(base[k], v) for k, v in own.items() if isinstance(v, dict) and k in base}
    return {**base, **own, **both}


def _read(cls: type, given: object, place: str) -> Any:
    """A dataclass of tables and numbers, none of them missing or unknown."""
    if not is_dataclass(cls):
        if isinstance(given, int | float) and cls is float and not isinstance(given, bool):
            return float(given)
        if isinstance(given, str) and cls is str:
            return given
        raise TileError(f"the rate {place} is {given!r}, which is no {cls.__name__}")
    if not isinstance(given, Mapping):
        raise TileError(f"{place} must be a table of rates, not {given!r}")
    hints = get_type_hints(cls)
    names = {f.name: f for f in fields(cls)}
    inside = f"{place}." if place else ""
    for name in given:
        if name not in names:
            raise TileError(f"there is no rate {inside}{name}")
    found: dict[str, Any] = {}
    for name in names:
        optional = isinstance(hints[name], UnionType)
        if name in given:
            own = get_args(hints[name])[0] if optional else hints[name]
            found[name] = _read(own, given[name], f"{inside}{name}")
        elif not optional:
            raise TileError(f"the rate {inside}{name} is missing")
    return cls(**found)
