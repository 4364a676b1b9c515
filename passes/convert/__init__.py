"""Conversion: tensor programs of other dialects in, functions of tile ops out.

Read `sources` first, the table of dialects that programs may come in.
"""
