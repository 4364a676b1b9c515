"""Copies as views: contractions that only move elements in, fewer copies out.

Read `concatenation` first. `fuse/tile_fuse` applies these rewrites.
"""
