"""Fusion rules, a file each: two kernels in, one kernel out, where legal.

Read `producer_inlining` first.
"""
