"""Residence: tensors that stay in the memory of a device, in a file, or in the host's memory.

Read `residence` first.
"""
