"""Operators of neural networks and array programs, as tile ops made by a `TensorBuilder`.

One file a family. Other dialects' ops are converted by these: each is written once.
"""
