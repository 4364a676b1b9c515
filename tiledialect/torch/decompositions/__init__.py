"""Decompositions of ATen operators without a conversion into others.

`table.py` has them by operator.
"""
