"""Lower tile ops to upstream dialects: linalg, tensor, arith, math, scf.

Read `convert_tile_to_linalg` first; `nests` builds loop nests, the other files are families of ops.
"""
