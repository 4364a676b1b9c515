"""Ops of a batch: an op on one element in, the ops on all elements of a batch out.

Read `batch` first, then `tensors`.
"""
