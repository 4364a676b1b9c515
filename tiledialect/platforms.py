"""Names of the OpenCL platforms that the compiler knows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Platform:
    """An OpenCL implementation."""

    short: str
    """First part of the ids of its devices."""
    name: str
    """Name in OpenCL and in the target spec of a module."""
    title: str
    """Name in the documentation."""


INTEL = Platform("intel", "Intel(R) OpenCL", "Intel")
"""Intel's runtime for processors; its runtime for GPUs has another name and the same short name."""
POCL = Platform("pocl", "Portable Computing Language", "PoCL")
NVIDIA = Platform("nvidia", "NVIDIA CUDA", "NVIDIA")
OCLGRIND = Platform("oclgrind", "Oclgrind", "Oclgrind")
