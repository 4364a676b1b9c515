"""Rewrites that passes share: contractions in, contractions with other index variables out.

Read `change_indices` first.
"""
