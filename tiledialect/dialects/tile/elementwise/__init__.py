"""Elementwise ops: operand types in, ops with result types, syntax, semantics and folding out.

Read `ops` first, then `base`.
"""
