"""The commands `tile-opt`, `tile-run` and `tile-explore`, one file each.

Programs and files in, text and files out. Read `tile_run` first.
"""
