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
from tiledialect.schedule.search.candidates.cpu_rows import cpu_rows
from tiledialect.schedule.search.candidates.gpu_contractions import gpu_contractions
from tiledialect.schedule.search.candidates.gpu_shared_sums import gpu_shared_sums
from tiledialect.schedule.search.candidates.gpu_tables import gpu_tables
from tiledialect.schedule.search.candidates.row_kernels import row_kernels
from tiledialect.schedule.search.candidates.streams import streams
from tiledialect.schedule.search.candidates.sums import sums
from tiledialect.schedule.search.candidates.transpositions import transpositions
from tiledialect.schedule.search.candidates.windows import windows

Family = Callable[[Facts, Device], Iterable[Schedule]]

FAMILIES: Mapping[str, Family] = {
    "contractions on GPUs": gpu_contractions,
    "shared sums on GPUs": gpu_shared_sums,
    "tables on GPUs": gpu_tables,
    "contractions on CPUs": cpu_contractions,
    "sums along memory on CPUs": cpu_rows,
    "streams": streams,
    "transpositions": transpositions,
    "sums": sums,
    "windows": windows,
    "row kernels": row_kernels,
}
"""Every family, by the name that explanations have for it."""
