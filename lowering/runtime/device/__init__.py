"""Devices: OpenCL implementations in; probed, measured devices and their queues out.

Read `devices` first, then `probe`.
"""
