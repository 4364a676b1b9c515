"""Conversion of graphs of PyTorch's ATen operators to the tile dialect.

One file a family of operators.
"""
