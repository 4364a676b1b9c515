"""Rewrites of the passes above: an aggregate in, its parts and their merge out.

Read `reduction_split` first.
"""
