"""Nests of row kernels: bodies that reduce along rows in, passes over each row out.

Read `row_kernel` first, then `row_vector_tails`.
"""
