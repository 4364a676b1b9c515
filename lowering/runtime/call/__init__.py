"""Calls: plans and arrays in, launches and arrays out.

Read `launch` first.
"""
