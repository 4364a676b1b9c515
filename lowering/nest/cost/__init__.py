"""Counts of a nest for the cost model: loops and accesses in, operations, lines and registers out.

Read `estimate` first, then `core_accesses` for CPUs, `warp_accesses` for GPUs.
"""
