"""Export of models of PyTorch to ONNX, with operators that PyTorch's exporter lacks."""

# pyright: basic, reportMissingImports=false, reportPrivateImportUsage=false

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.onnx import symbolic_helper

OPSET = 20
INT64 = 7
"""Number of the type in ONNX."""


def _difference(graph: Any, x: Any, _: Any, dim: Any, before: Any, after: Any) -> Any:
    """``torch.diff`` of neighbours, which transformers use to find the ends of sequences."""
    axis = symbolic_helper._get_const(dim, "i", "dim")
    parts = [v for v in (before, x, after) if not symbolic_helper._is_none(v)]
    whole = graph.op("Concat", *parts, axis_i=axis) if len(parts) > 1 else x
    later, earlier = (
        symbolic_helper._slice_helper(graph, whole, axes=[axis], starts=[start], ends=[end])
        for start, end in ((1, sys.maxsize), (0, -1))
    )
    return graph.op("Sub", later, earlier)


def _running_sum(graph: Any, x: Any, dim: Any, dtype: Any) -> Any:
    """``torch.cumsum``, of booleans too."""
    if x.type().dtype() == torch.bool:
        x = graph.op("Cast", x, to_i=INT64)
    return graph.op("CumSum", x, dim)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what PyTorch prints of a graph that it cannot export from the standard output."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def exported(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> bytes:
    """The model as an ``.onnx`` file for inputs of these shapes."""
    for name, symbolic in (("diff", _difference), ("cumsum", _running_sum)):
        torch.onnx.register_custom_op_symbolic(f"aten::{name}", symbolic, OPSET)
    file: Any = io.BytesIO()
    with _quiet():
        torch.onnx.export(model, inputs, file, dynamo=False, opset_version=OPSET)
    return file.getvalue()
