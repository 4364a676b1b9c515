"""Models of ONNX of some nodes, for tests."""

# pyright: basic

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def onnx_model(nodes: Any, inputs: Any, outputs: Any, **weights: np.ndarray) -> Any:
    """A model of tensors of f32; weights are its initializers."""

    def infos(given: Any) -> Any:
        return [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in given]

    initializers = [numpy_helper.from_array(v, k) for k, v in weights.items()]
    graph = helper.make_graph(nodes, "net", infos(inputs), infos(outputs), initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
