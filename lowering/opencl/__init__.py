"""The printer: `gpu.module`s of the kernel level in, OpenCL C 1.2 out.

Read `target` first, then `function`.
"""
