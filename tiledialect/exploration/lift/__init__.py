"""Spaces of Lift programs: a program of patterns in, derivations that compute it on a device out.

Read `patterns` first, then `algorithmic`, `mapping` and `parameters` in the order of their steps.
"""
