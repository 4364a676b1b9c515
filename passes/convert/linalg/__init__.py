"""Patterns of `convert-linalg-to-tile`, a file for each family of ops.

Read `structured` first; `elements` holds the values that loops compute.
"""
