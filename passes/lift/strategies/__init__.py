"""Strategies and derivations: rules and places in, rewritten programs out.

Read `combinators` first, then `derivation`.
"""
