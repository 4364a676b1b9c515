"""The dialects `tile`, `lift` and `nest`, a folder each, and the syntax that they share.

Read `tile/contraction` first: the op that everything is about.
"""
