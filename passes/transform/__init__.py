"""Transformations of functions: a function in, one with other inputs and outputs out.

Read `transforms` first; `rules/` holds the ops of a batch.
"""
