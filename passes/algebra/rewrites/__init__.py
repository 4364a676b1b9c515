"""Rewrites of the passes above: a contraction in, its cheaper form out.

Read `segmented_scans` first.
"""
