"""The linalg dialect with named ops and forms of upstream that xDSL lacks.

Read `dialect` first; `named` is the table of ops with fixed indexing maps.
"""
