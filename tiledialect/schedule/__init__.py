"""Schedules as data, and their legality; `cost` estimates them, `search` chooses them.

A kernel's index ranges in, loops with roles and tiles out. Read `loops` first.
"""
