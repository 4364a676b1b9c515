"""The schedules that are weighed against one another: each family is a file.

A family is a function of a kernel's facts and a device that gives the schedules worth a look, and
none for kernels that are not its own. It need not know which is best, which the cost model says,
nor test what the device can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tiledialect.schedule.candidates.cpu_contractions import cpu_contractions
from tiledialect.schedule.candidates.cpu_rows import cpu_rows
from tiledialect.schedule.candidates.gpu_contractions import gpu_contractions
from tiledialect.schedule.candidates.gpu_shared_sums import gpu_shared_sums
from tiledialect.schedule.candidates.gpu_tables import gpu_tables
from tiledialect.schedule.candidates.row_kernels import row_kernels
from tiledialect.schedule.candidates.streams import streams
from tiledialect.schedule.candidates.sums import sums
from tiledialect.schedule.candidates.transpositions import transpositions
from tiledialect.schedule.candidates.windows import windows
from tiledialect.schedule.device import Device
from tiledialect.schedule.facts import Facts
from tiledialect.schedule.leaves import Schedule

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
