"""Compiled programs: functions and types in, plans with built kernels out, kept on disk.

Read `specialization` first, then `plan`.
"""
