"""Host functions: allocations and launches in; one arena and bound shapes out.

Read `gpu_arena` first.
"""
