"""Fusion: functions of tile ops in, functions of `tile.kernel`s out.

Read `tile_fuse` first, then `fusion_rules` and `fusion_cost`.
"""
