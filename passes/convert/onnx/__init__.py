"""From graphs of ONNX, for inputs of given shapes, to functions of tile ops.

Read `graph` first; the other files hold the conversions of ops, one file a family.
"""
