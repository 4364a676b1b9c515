"""Answers to faults of drivers: passes, OpenCL C before a program, build options.

Read first: `table.py`, which lists every fault with its answer; docs/runtime.md shows it.
"""
