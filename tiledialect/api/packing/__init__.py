"""Prepacking: a function and its constant inputs in, functions of these alone and the rest out.

Read `packing` first.
"""
