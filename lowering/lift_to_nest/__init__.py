"""Nests of Lift programs: low-level patterns in, `nest` loops and a host function out.

Read `lift_to_nest` first, then `views`.
"""
