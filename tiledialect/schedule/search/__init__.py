"""The choice of a schedule: facts of a kernel and a device in, the best candidates out.

Read `choice` first; `candidates/patterns.py` has the table of what is proposed.
"""
