"""Structure of kernel bodies, which the kernel op verifies and passes read.

Ops of a body in; row axes, operand loads, small stencils, parts and legal schedules out.
Read `row_axes` first.
"""
