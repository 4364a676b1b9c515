"""The cost model: facts of a kernel, a schedule and a device in, seconds out.

Read `facts` and `device` first, then `estimate`; `traits` tells CPUs from GPUs.
"""
