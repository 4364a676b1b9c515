"""The reference semantics: modules and NumPy arrays in, NumPy arrays out.

Read `tile` first; `nest` executes kernels at every level below.
"""
