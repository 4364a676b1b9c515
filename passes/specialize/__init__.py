"""Bind shapes and element types: functions of any types in, functions of static types out.

Read `tile_specialize` first; `types/` infers the widths of numbers.
"""
