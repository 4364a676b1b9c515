"""Lowering: scheduled kernels in, OpenCL C that runs out.

Read `pipeline` first: the list of passes, stage by stage.
"""
