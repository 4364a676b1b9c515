"""Answers to faults of drivers: passes, OpenCL C before a program, build options.

Read `table` first, which lists every fault with its answer; docs/runtime.md shows it.
"""
