"""The front door: programs in, functions of arrays out.

Read `front_door` first (`td.compile`), then `function`.
"""
