"""Lowering of nests to the kernel level: `gpu`, `scf`, `memref`, `vector`, `arith`, `math`.

Read `nest_to_gpu` first.
"""
