"""Helpers on the kernel level: loops of `scf`, arithmetic on floats.

Read `loops` first.
"""
