"""The choice of a schedule: facts of a kernel and a device in, the best candidates out.

Read `choice` first; `candidates/` holds a file a family.
"""
