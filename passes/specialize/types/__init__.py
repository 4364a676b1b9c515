"""Inference of element types: numbers without a width in, their types out.

Read `float_widths` first.
"""
