"""Tile text in, functions of the `tile` dialect out, and back.

Read `parser` first, then `to_ir`; `printer` is the way back.
"""
