"""Convert tensor programs between other dialects and the tile dialect.

Read `sources` first, the table of dialects that programs may come in.
"""
