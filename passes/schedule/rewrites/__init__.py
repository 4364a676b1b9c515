"""Rewrites of the passes above: kernels in, kernels whose operands have another layout out.

Read `layout_copies` first, then `blocked_axes`.
"""
