"""Roles of graphs of ATen operators: inference, a forward pass, or a backward pass."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

INFERENCE, FORWARD, BACKWARD = "model", "forward", "backward"
"""Names of the functions of graphs; those of parts of graphs go on with a number."""


@dataclass(frozen=True)
class Role:
    """Role of a graph for AOTAutograd."""

    name: str
    """Name of its function."""
    saved: int | None = None
    """Number of the first output that only a backward pass takes."""
    counted: frozenset[int] = frozenset()
    """Numbers of the inputs whose changes PyTorch has counted when it calls."""

    @classmethod
    def of(cls, name: str) -> Role:
        """Role of a graph with a name that AOTAutograd compiles now."""
        context = torch._guards.TracingContext.try_get()
        metadata = getattr(context, "fw_metadata", None)
        return cls(name, _saved_from(name, metadata), _counted(name, metadata))

    @property
    def is_inference(self) -> bool:
        """Whether no backward pass follows."""
        return self.name.startswith(INFERENCE)


def _saved_from(name: str, metadata: Any) -> int | None:
    """Number of the first output of a forward graph that only its backward pass takes."""
    return getattr(metadata, "num_forward_returns", None) if name == FORWARD else None


def _counted(name: str, metadata: Any) -> frozenset[int]:
    """Numbers of the inputs whose changes by a graph PyTorch counts, before it calls it; none if
    they are not known, as those of a backward graph."""
    if name == BACKWARD:
        return frozenset()
    return frozenset(getattr(metadata, "mutated_graph_handled_indices_seen_by_autograd", ()))
