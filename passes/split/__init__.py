"""Split reductions: long aggregates in, partial aggregates and their combination out.

Read `tile_split_reduction` first; `rewrites/split_choice` decides.
"""
