"""Rendering of Lift programs and derivations: programs in, text and SVG out.

Read `targets` first.
"""
