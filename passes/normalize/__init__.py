"""Normal form: any contractions in, contractions with integer indices of known ranges out.

Read `tile_bounds` first, then `tile_reduce` and `tile_defract`.
"""
