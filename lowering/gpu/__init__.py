"""Passes over the kernel level, one file each: kernels in, faster kernels out.

Read `gpu_count_copies` first.
"""
