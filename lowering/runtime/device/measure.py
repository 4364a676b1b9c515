"""Measured rates of a device: copying memory, multiplying and adding, starting kernels.

For a CPU, too, the most that a kernel may read and write for its last cache to serve it.

The cost model divides the work of a schedule by these rates. They are measured when something is
compiled for an unknown device, in a fraction of a second, and kept on disk. Rates that were
measured while other processes had the processor, too, are measured again by later processes.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from math import isfinite, sqrt
from pathlib import Path
from statistics import median
from typing import Any

from tiledialect import caches, disk
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.child_process import processors
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.device.probe import machine
from tiledialect.rounding import ceil_div

SWITCH = "TILE_MEASURE"
"""The variable of the environment that is `0` where nothing is to be measured."""

KERNELS = """
__kernel void copy(__global const float4 *a, __global float4 *b)
{
    b[get_global_id(0)] = a[get_global_id(0)];
}

__kernel void arithmetic(__global const float *a, __global float *b)
{
    STARTS
    FLOATS m = (FLOATS)(a[0]), c = (FLOATS)(a[1]);
    for (int k = 0; k < STEPS; ++k) {
        BODY
    }
    b[get_global_id(0)] = (SUM)LANE;
}

__kernel void nothing(__global const float *a, __global float *b)
{
}
"""
STORES = """
__kernel void numbers(__global uint4 *a, __global uint4 *b)
{
    uint4 x = (uint4)(0, 1, 2, 3) + 4 * (uint)get_global_id(0);
    a[get_global_id(0)] = x * 2654435761u;
    b[get_global_id(0)] = x * 2654435761u;
}

#ifdef __clang__
#define STORE_PAST(value, p) __builtin_nontemporal_store(value, p)
#else
#define STORE_PAST(value, p) *(p) = value
#endif

__kernel void copy_past(__global const float16 *a, __global float16 *b)
{
    for (uint k = get_global_id(0) * PIECE; k < (get_global_id(0) + 1) * PIECE; ++k) {
        STORE_PAST(a[k], b + k);
    }
}

__kernel void copy_through(__global const float16 *a, __global float16 *b)
{
    for (uint k = get_global_id(0) * PIECE; k < (get_global_id(0) + 1) * PIECE; ++k) {
        b[k] = a[k];
    }
}
"""
"""Kernels that copy past the caches and through them; numbers differ, as zeros may be faster."""
COPIES = ("copy_through", "copy_past")
PIECE = 1024
"""The vectors that a work-item copies then."""
KEPT = (24, 32, 48)
"""The MiB that are read and written then."""
AS_FAST = 1.12
"""Most times as long that a copy through the caches may take: its reader finds it there.

Copies that the caches keep take 0.5 to 1.06 times as long; others 1.17 to 1.6 times, as each line
is read before it is written. So this is far from both.
"""
MORE_COPIES = 4
"""Most times as many copies that are tried until one is as fast: reads of other processes take room
in the last cache, and never give any."""
STEPS = 2048
CHAINS = 10
"""Independent chains of multiplications and additions: more than their latency needs."""
BYTES = {"gpu": 256 << 20, "cpu": 64 << 20}
"""Bytes to copy, by the type of a device: more than its caches hold, as far as time allows."""
READ = 4096
"""Bytes of these that hold numbers to compute with."""
ITEMS = {"gpu": (32 * 256, 256), "cpu": (1536, 1)}
"""The work-items for each unit that compute, and how many are a group."""
ROUNDS = 5
MORE = 2
"""Most times as many rounds while other processes disturb them."""
LONG = 0.3
"""Seconds after which rounds end."""
OTHERS = 4
"""Most times as fast that a run would be without other processes."""
GIVEN = 0.9
"""Least share of the processor of a process that is alone."""
LAUNCHES = 40
"""Kernels that are started one after the other."""


@dataclass(frozen=True)
class Rates:
    """Rates of a device, in the units of the target spec's entries of the same names."""

    bandwidth: float
    """GB/s that a copy reads and writes."""
    arithmetic: float
    """Multiplications and additions of floats, in GFLOP/s."""
    launch: float
    """Microseconds to start a kernel."""
    kept: float = 0.0
    """The most MiB of `KEPT` that are no slower read and written through the caches; 0: none."""

    @property
    def rounded(self) -> Rates:
        """Rates to two digits: the rest is noise, and would make programs of their own on disk."""
        return Rates(**{name: float(f"{value:.2g}") for name, value in asdict(self).items()})

    def __str__(self) -> str:
        return (
            f"copies {self.bandwidth:g} GB/s, computes {self.arithmetic:g} GFLOP/s, "
            f"starts a kernel in {self.launch:g} us"
        )


MAY_BE_0 = ("kept",)
"""The rates that may be 0."""
NEAR = 1.1
"""Least factor by which a new rate differs to replace a kept one: each new number has all programs
compiled again."""
TRIES = 5
"""Most measurements of a device, if other processes disturb each."""
APART = 60.0
"""Seconds until a device is measured again: the same processes may disturb until then."""


@dataclass(frozen=True)
class Measurement:
    """Rates measured of a device, and whether they are final."""

    rates: Rates
    share: float = 1.0
    """Share of the processor that this process had meanwhile, if the device is the processor."""
    tries: int = 1
    """Number of measurements of the device."""
    time: float = 0.0
    """Time of the last measurement, in seconds as of `time.time`."""

    def __str__(self) -> str:
        again = "; others had a part of the processor, so that this is measured again"
        return f"{self.rates}{again if self._may_be_better else ''}"

    @property
    def _may_be_better(self) -> bool:
        return self.share < GIVEN and self.tries < TRIES

    @property
    def is_due(self) -> bool:
        """Whether the device is to be measured again."""
        return self._may_be_better and abs(time.time() - self.time) > APART

    def after(self, before: Measurement) -> Measurement:
        """Combination with a later measurement.

        All rates are of the measurement with the larger share: schedules depend on their ratios.
        The caches keep the most that was ever seen: other processes only take room in them.
        """
        rates = before.rates
        if self.share > before.share:
            rates = Rates(**{f.name: _renewed(f.name, rates, self.rates) for f in fields(Rates)})
        rates = replace(rates, kept=max(before.rates.kept, self.rates.kept))
        return Measurement(rates, max(self.share, before.share), before.tries + 1, self.time)


def _renewed(name: str, before: Rates, now: Rates) -> float:
    """New rate, or the old one if the two are nearly equal."""
    a, b = getattr(before, name), getattr(now, name)
    return a if a and 1 / NEAR < b / a < NEAR else b


def is_measured(device: Device) -> bool:
    """Whether there is anything to measure: simulators have no speed of their own."""
    return device.type != "simulator" and os.environ.get(SWITCH) != "0"


def rates(device: Device) -> Rates | None:
    """Kept rates of a device, else measured ones; None if it is not to be measured."""
    return _rates(device) if is_measured(device) else None


@caches.DEVICES
def _rates(device: Device) -> Rates | None:
    before = found(device)
    if before is not None and not before.is_due:
        return before.rates
    return renewed(device, before)


def kept(device: Device) -> Rates | None:
    """Rates measured before; None if there are none."""
    before = found(device)
    return before.rates if before is not None else None


def found(device: Device) -> Measurement | None:
    """Kept measurement of a device."""
    try:
        known = json.loads(disk.read(_path(device)) or b"null")
        values = {f.name: float(known["rates"][f.name]) for f in fields(Rates)}
        how = float(known["share"]), int(known["tries"]), float(known["time"])
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None
    sound = all(isfinite(x) and (x > 0 or key in MAY_BE_0) for key, x in values.items())
    return Measurement(Rates(**values), *how) if sound else None


def renewed(device: Device, before: Measurement | None = None) -> Rates | None:
    """Rates measured now, or better ones from before, kept from now on; None if they cannot be."""
    import pyopencl as cl

    from tiledialect.lowering.runtime.progress import progress

    try:
        with progress(f"measuring {device.id}"):
            now = measure(device)
    except (TileError, cl.Error):
        # Too little memory, say: the cost model has numbers of its own.
        return before.rates if before is not None else None
    now = replace(now, rates=now.rates.rounded, time=time.time())
    if before is not None:
        now = now.after(before)
    disk.write(_path(device), json.dumps(asdict(now)).encode())
    return now.rates


def _path(device: Device) -> Path:
    identity = (device.platform, device.name, device.version, device.driver, device.compute_units)
    how = (KERNELS, STORES, KEPT, AS_FAST, MORE_COPIES, STEPS, CHAINS, BYTES, ITEMS, LAUNCHES)
    text = repr((*identity, *how, machine()))
    return disk.folder() / "rates" / hashlib.sha256(text.encode()).hexdigest()


# -- measuring ---------------------------------------------------------------------------------


def measure(device: Device, nbytes: int | None = None, rounds: int = ROUNDS) -> Measurement:
    """Measure a device, by copies of ``nbytes``. Raises pyopencl's errors, or a TileError."""
    import pyopencl as cl

    from tiledialect.lowering.runtime.device.queues import queue_for
    from tiledialect.lowering.runtime.program.build import build_options, build_program

    queue = queue_for(device)
    on_host = device.type == "cpu"
    kind = "cpu" if on_host else "gpu"
    width = max(4, device.native_vector_width) if on_host else 1
    per_unit, group = ITEMS[kind]
    items = per_unit * device.compute_units
    nbytes = min(nbytes or BYTES[kind], device.max_mem_alloc_size // 4)
    # Each work-item writes a float.
    nbytes = 4096 * ceil_div(max(nbytes, 4 * items), 4096)
    source = _source(width) + (STORES.replace("PIECE", str(PIECE)) if on_host else "")
    options = build_options(device.short_platform)
    program = build_program(source, queue.context, queue.device, options)
    buffers = _buffers(queue, program, nbytes, on_host=on_host)

    def launcher(name: str, size: int, local: int, times: int = 1) -> Callable[[], None]:
        kernel: Any = cl.Kernel(program, name)
        kernel.set_args(*buffers)

        def run() -> None:
            for _ in range(times):
                cl.enqueue_nd_range_kernel(queue, kernel, (size,), (local,))
            queue.finish()

        return run

    shared = min(device.compute_units, processors()) if on_host else 0
    runs = (
        _Runs(launcher("copy", nbytes // 16, 64 if on_host else 256), shared, is_copy=True),
        _Runs(launcher("arithmetic", items, group), shared),
        _Runs(launcher("nothing", group * device.compute_units, group, LAUNCHES)),
    )
    share = _run_interleaved(runs, rounds)
    rates = _rates_of(runs, nbytes, 2 * STEPS * CHAINS * width * items)
    if on_host:
        rates = replace(rates, kept=float(_in_caches(queue, program, buffers, nbytes, rounds)))
    return Measurement(rates, share)


def _buffers(queue: Any, program: Any, nbytes: int, *, on_host: bool) -> list[Any]:
    """Buffers of numbers to copy, and to compute with."""
    import numpy as np
    import pyopencl as cl

    buffers = [cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, nbytes) for _ in range(2)]
    if on_host:
        # The threads that will copy memory touch it first, each its own part, as threads of a
        # kernel touch its results: on a machine of several sockets it lies near them.
        cl.Kernel(program, "numbers")(queue, (nbytes // 16,), None, *buffers)
    for buffer in buffers:
        filled = READ if on_host else nbytes
        cl.enqueue_fill_buffer(queue, buffer, np.array(0.5, np.float32), 0, filled)
    return buffers


def _rates_of(runs: Sequence[_Runs], nbytes: int, operations: int) -> Rates:
    """The rates that a copy, so many operations and the launches of nothing took place at."""
    copy, arithmetic, nothing = (each.least for each in runs)
    launch = nothing / LAUNCHES
    # Of little work on many units nearly all is starting it.
    copy, arithmetic = (max(seconds - launch, seconds / 4) for seconds in (copy, arithmetic))
    return Rates(2 * nbytes / copy / 1e9, operations / arithmetic / 1e9, launch * 1e6)


@dataclass
class _Runs:
    """Repeated runs with their times."""

    run: Callable[[], None]
    units: int = 0
    """Units of this machine's processor that this process may use for the work; 0: none."""
    is_copy: bool = False
    """Whether the run moves memory, which the units have in common."""
    elapsed: list[float] = field(default_factory=list[float])
    given: list[float] = field(default_factory=list[float])
    """The seconds that the units gave to this process."""

    def once_more(self) -> None:
        """Run once, and note the time."""
        start, before = time.perf_counter(), time.process_time()
        self.run()
        self.elapsed.append(time.perf_counter() - start)
        self.given.append(time.process_time() - before)

    @property
    def least(self) -> float:
        """The seconds of the fastest run: whatever else the machine does only adds to them.

        Where others had a part of the units in each run, also the median of the seconds that these
        gave, to which others add nothing. Fewer units compute less, but copy nearly as much: then
        the truth is between the two. Units that a container may not use give none.
        """
        least = min(self.elapsed)
        if not self.units or any(map(self._has_all, self.elapsed, self.given)):
            return least
        alone = min(least, max(median(self.given) / self.units, least / OTHERS))
        return sqrt(alone * least) if self.is_copy else alone

    def _has_all(self, elapsed: float, given: float) -> bool:
        return given >= GIVEN * self.units * elapsed

    def share(self, count: int) -> float:
        """Share of the units that the last runs had."""
        most = self.units * sum(self.elapsed[-count:])
        return min(1.0, sum(self.given[-count:]) / most) if most else 1.0


def _run_interleaved(runs: Sequence[_Runs], rounds: int) -> float:
    """Time all runs in rounds, spread over all of the time; the share that they had.

    Then there are more rounds, until so many in a row had nearly all, or it takes too long.
    """
    for each in runs:
        each.run()
    share = 0.0
    for count in range(1, MORE * rounds + 1):
        for each in runs:
            each.once_more()
        share = min(each.share(rounds) for each in runs)
        taken = sum(sum(each.elapsed) for each in runs)
        if count >= rounds and (share >= GIVEN or taken > LONG):
            break
    return share


def _in_caches(queue: Any, program: Any, buffers: Sequence[Any], nbytes: int, rounds: int) -> int:
    """The most MiB that are copied no slower through the caches than past them; 0: none."""
    import pyopencl as cl

    kernels: dict[str, Any] = {name: cl.Kernel(program, name) for name in COPIES}
    cl.Kernel(program, "numbers")(queue, (nbytes // 16,), None, *buffers)

    def seconds(name: str, vectors: int) -> float:
        for is_timed in (False, True):
            # What the other copy left in the caches is gone when the time begins.
            start = time.perf_counter()
            for _ in range(1 + is_timed):
                kernels[name](queue, (vectors // PIECE,), (1,), *buffers)
            queue.finish()
        return time.perf_counter() - start

    found = 0
    for size in KEPT:
        # A vector is 64 bytes, and half of the moved bytes are the result.
        vectors = (size << 20) // 128
        if 64 * vectors > nbytes or not _is_kept(lambda name, n=vectors: seconds(name, n), rounds):
            break
        found = size
    return found


def _is_kept(seconds: Callable[[str], float], rounds: int) -> bool:
    """Whether the fastest copy through the caches takes no longer than the fastest past them.

    There are so many rounds, and then more until it is so, after a first one that does not count.
    """
    times: list[list[float]] = []
    for count in range(1 + MORE_COPIES * rounds):
        times.append([seconds(name) for name in COPIES])
        through, past = map(min, zip(*times[1:] or times, strict=True))
        if count >= rounds and through <= AS_FAST * past:
            return True
    return False


def _source(width: int) -> str:
    """The kernels, for vectors of so many floats."""
    t = f"float{width}" if width > 1 else "float"
    names = [f"x{k}" for k in range(CHAINS)]
    parts = {
        "STARTS": " ".join(f"{t} {x} = ({t})(a[{k + 2}]);" for k, x in enumerate(names)),
        "BODY": " ".join(f"{x} = {x} * m + c;" for x in names),
        "SUM": " + ".join(names),
        "LANE": ".s0" if width > 1 else "",
        "FLOATS": t,
        "STEPS": str(STEPS),
    }
    text = KERNELS
    for name, value in parts.items():
        text = text.replace(name, value)
    return text
