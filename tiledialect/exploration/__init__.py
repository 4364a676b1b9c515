"""Exploration: a program and its inputs in, the fastest implementation that a search finds out.

Read `search` first, then `kernels` and `programs` for the spaces, `evaluation` for a trial.
"""
