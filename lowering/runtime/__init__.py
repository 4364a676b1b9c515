"""The runtime: programs and arrays in, arrays out. It keeps devices, programs and calls.

Read `program/specialization` first.
"""
