"""Models of ONNX as functions of arrays, for any OpenCL device.

Begin with `load`; `backend` is what ONNX's own tests of backends take.
"""

from tiledialect.onnx.model import Model, load

__all__ = ["Model", "load"]
