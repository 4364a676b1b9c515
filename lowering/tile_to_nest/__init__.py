"""Nests of Tile kernels: scheduled `tile.kernel`s in, `nest` loops and a host function out.

Read `tile_to_nest` first, then `kernel_nest`.
"""
