"""The commands `tile-opt` and `tile-run`, one file each.

Programs and files in, text and files out. Read `tile_run` first.
"""
