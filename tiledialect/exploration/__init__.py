"""Exploration: a program and its inputs in, the fastest implementation that a search finds out.

Read `search` first, then `kernels` for the space and `evaluation` for a trial.
"""
