"""Operators of neural networks and array programs, as tile ops made by a `TensorBuilder`.

Values in, values of tile ops out, one file a family; conversions of ATen, ONNX and StableHLO
share them. Read `elementwise` first.
"""
