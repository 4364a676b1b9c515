"""Differentiation, reverse and forward: a function in, one of its derivatives out.

Read `tile_gradient` first; `rules/` holds the derivatives.
"""
