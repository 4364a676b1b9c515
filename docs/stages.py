"""Stages of the compiler with their passes."""

from __future__ import annotations

from tiledialect.lowering.pipeline import KERNEL_PASSES, NEST_PASSES, nest_passes, pipeline
from tiledialect.universe import PASSES, PIPELINES

_OWN = [p.name for p in NEST_PASSES]
_NESTS = ((*nest_passes(_OWN, edges=edges), *KERNEL_PASSES) for edges in (True, False))
_RUNS = (pipeline(1), *_NESTS)
PLACES = {p.name: place for run in reversed(_RUNS) for place, p in enumerate(run)}
"""Places of passes in the order in which they run, within their stage."""

STAGES = {
    **{
        folder: sorted(names, key=lambda name: PLACES.get(name, -1))
        for folder, names in PASSES.items()
    },
    "lowering.pipeline": [*PIPELINES],
}
"""Passes by the folder of their stage, in the order of the compiler."""
