"""Reverse-mode differentiation: a function in, its gradient function out.

Read `tile_gradient` first; `rules/` holds the derivatives.
"""
