"""Conversion of PyTorch's graphs: nodes of ATen operators in, functions of tile ops out.

Read `graph` first, then `table`; the other files hold the conversions, one file a family.
"""
