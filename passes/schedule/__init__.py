"""Scheduling: kernels in, kernels with schedules out.

Read `tile_loop_tiling` first.
"""
