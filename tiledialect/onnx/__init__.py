"""Models of ONNX: protobufs in, functions of arrays out, for any OpenCL device.

Read `model` first; `backend` has the interface of ONNX's own tests.
"""

from tiledialect.onnx.model import Model, load

__all__ = ["Model", "load"]
