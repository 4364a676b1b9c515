"""Nests in, the kernel level out: `gpu`, `scf`, `memref`, `vector`, `arith`, `math`.

Read `nest_to_gpu` first.
"""
