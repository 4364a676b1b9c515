"""Families of candidate schedules, a file each.

A family is a function of a kernel's facts and a device that gives schedules to compare, and none
for kernels of other families. It need not find the best, which the cost model does, nor test the
limits of the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.loops import Schedule
from tiledialect.schedule.search.candidates.cpu_contractions import cpu_contractions
from tiledialect.schedule.search.candidates.gpu_contractions import gpu_contractions
from tiledialect.schedule.search.candidates.gpu_sums import shared_sums, tables
from tiledialect.schedule.search.candidates.row_kernels import row_kernels
from tiledialect.schedule.search.candidates.streams import streams, transpositions
from tiledialect.schedule.search.candidates.sums import sums, sums_along_memory
from tiledialect.schedule.search.candidates.windows import windows

Family = Callable[[Facts, Device], Iterable[Schedule]]

FAMILIES: Mapping[str, Family] = {
    "contractions on GPUs": gpu_contractions,
    "shared sums on GPUs": shared_sums,
    "tables on GPUs": tables,
    "contractions on CPUs": cpu_contractions,
    "sums along memory on CPUs": sums_along_memory,
    "streams": streams,
    "transpositions": transpositions,
    "sums": sums,
    "windows": windows,
    "row kernels": row_kernels,
}
"""Every family, by the name that explanations have for it."""
