"""Nests of Lift programs: low-level patterns in, `nest` loops and a host function out.

Read `lift_to_nest` first; `views/` dissolves layout patterns into index expressions.
"""
