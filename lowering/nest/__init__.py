"""Passes over nests, one file each: nests in, better nests out.

Read `nest_vectorize` first; `utils/` holds the shared helpers of the passes, `cost/` counts.
"""
