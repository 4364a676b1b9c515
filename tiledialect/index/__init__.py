"""The index algebra: expressions, spaces, lattices, exact sets, simplification; no IR.

Points and expressions in, exact answers out. Read `contraction` first, then `expr` and `integer/`.
"""
