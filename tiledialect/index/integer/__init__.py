"""Integer expressions of address arithmetic: expressions and facts about variables in, simpler
expressions, ranges and proofs out.

Read `expressions` first, then `ranges` and `simplify`.
"""
