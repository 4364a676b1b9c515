"""Cheaper algebra for the same results: contractions in; scans, gathers and products out.

Read `tile_scan` first.
"""
