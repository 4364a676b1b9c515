"""Decompositions: ATen operators without a conversion in, operators that have one out.

Read `table` first, which has them by operator.
"""
