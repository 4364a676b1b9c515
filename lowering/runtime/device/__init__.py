"""Devices: OpenCL implementations in; probed, measured devices and their queues out.

Read `device` first, then `devices` and `probe`.
"""
