"""Patterns that convert StableHLO: its ops in, tile ops out, one file a family of ops.

Read `base` first, then `elementwise`.
"""
