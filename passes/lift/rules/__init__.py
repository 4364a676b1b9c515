"""Rewrite rules of Lift programs, a file a collection: a pattern in, an equal pattern out.

Read `rule` first, then `patterns` and `collections`.
"""
