"""Helpers on xDSL's IR: text in and out, verification, signatures, the device's target spec.

Input and output are ops and modules of any dialect. Read `signature` first.
"""
