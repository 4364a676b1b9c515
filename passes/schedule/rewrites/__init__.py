"""Rewrites of the passes above: layout copies and collapsed reads.

Read `layout_copies` first.
"""
