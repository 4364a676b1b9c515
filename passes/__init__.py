"""Passes over tensor programs, a folder a stage; `lowering/pipeline.py` lists them in order.

Functions of the `tile` or `lift` dialect in, scheduled kernels out. Read `normalize` first.
"""
