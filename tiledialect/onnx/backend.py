"""Backend of ONNX's interface (``onnx.backend.base``), as its own tests take it."""

# pyright: basic

from __future__ import annotations

from typing import Any

import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep

from tiledialect.errors import TileError
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.device.devices import devices
from tiledialect.onnx.model import Model, load

KINDS = {"CPU": "cpu", "CUDA": "gpu"}
"""Types of OpenCL devices by ONNX's names of devices."""


class TileRep(BackendRep):
    """Model that is ready to run."""

    def __init__(self, model: Model):
        self.model = model

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs for inputs in order, or by name."""
        found = self.model(**inputs) if isinstance(inputs, dict) else self.model(*inputs)
        return tuple(found) if isinstance(found, tuple) else (found,)


class TileBackend(Backend):
    """ONNX models on OpenCL devices; ``CPU`` is one for the processor, ``CUDA`` a GPU."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> TileRep:
        """Read and check a model."""
        onnx.checker.check_model(model)
        return TileRep(load(model, device=_device(device)))

    @classmethod
    def run_model(
        cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any
    ) -> tuple[Any, ...]:
        """The outputs of a model."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """The outputs of a node, of the version of operators that ONNX's package has."""
        types = map(helper.np_dtype_to_tensor_dtype, (array.dtype for array in inputs))
        named = zip(filter(None, node.input), types, inputs, strict=True)
        given = [helper.make_tensor_value_info(name, t, array.shape) for name, t, array in named]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], node.op_type, given, outputs)
        return TileRep(load(helper.make_model(graph), device=_device(device))).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether there is a device of a kind."""
        return _found(device) is not None


def _found(name: str) -> Device | None:
    kind = KINDS.get(name.partition(":")[0])
    return next((d for d in devices() if d.type == kind), None)


def _device(name: str) -> Device:
    if (found := _found(name)) is None:
        raise TileError(f"there is no OpenCL device for {name}")
    return found


prepare = TileBackend.prepare
run_model = TileBackend.run_model
supports_device = TileBackend.supports_device
is_compatible = TileBackend.is_compatible
run_node = TileBackend.run_node
