"""Derivatives of ops: an op and its cotangent in, the operands' cotangents out.

Read `elementwise` first, then `contractions`.
"""
