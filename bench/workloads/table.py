"""All workloads, in the order of the table."""

from __future__ import annotations

from frame import Workload

from workloads import (
    attention,
    convolutions,
    elementwise,
    networks,
    pooling,
    products,
    reductions,
    rows,
    scans,
    stencils,
)

FAMILIES = (
    products,
    convolutions,
    pooling,
    rows,
    reductions,
    elementwise,
    scans,
    stencils,
    attention,
    networks,
)
WORKLOADS: list[Workload] = [w for family in FAMILIES for w in family.WORKLOADS]
