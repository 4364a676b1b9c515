"""Helpers on nests: scopes of indices, builders, registers, index expressions as values.

Read `scope` first, then `builder`.
"""
