"""Backend of ONNX's interface (``onnx.backend.base``), as its own tests take it."""

# pyright: basic

from __future__ import annotations

from typing import Any

import onnx
from onnx.backend.base import Backend, BackendRep

from tiledialect.lowering.runtime.device.devices import devices
from tiledialect.onnx.model import Model, load


class TileRep(BackendRep):
    """Model that is ready to run."""

    def __init__(self, model: Model):
        self.model = model

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs for inputs in order, or by name."""
        named = (
            inputs
            if isinstance(inputs, dict)
            else dict(zip(self.model.inputs, inputs, strict=False))
        )
        found = self.model(**named)
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
    def supports_device(cls, device: str) -> bool:
        """Whether there is a device of a kind."""
        return _device(device) is not None


def _device(name: str) -> Any:
    kind = "gpu" if name.partition(":")[0] == "CUDA" else "cpu"
    return next((d for d in devices() if d.type == kind), None)


prepare = TileBackend.prepare
run_model = TileBackend.run_model
supports_device = TileBackend.supports_device
is_compatible = TileBackend.is_compatible
run_node = TileBackend.run_node
