"""Build options that single platforms need, each an answer to a fault of the driver."""

from __future__ import annotations

from collections.abc import Mapping

DENORMALS_ARE_ZERO = "-cl-denorms-are-zero"
"""An operation on a number below the least normal one takes a hundred times as long on CPUs."""
NOT_OPTIMIZED = "-cl-opt-disable"
"""The check for uninitialized reads does not know LLVM's freeze, which optimizations insert."""
NO_WARNINGS = "-w"
"""The number of warnings goes to the standard error: there are some where vectors are wide."""

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "oclgrind": (NOT_OPTIMIZED,),
    "intel": (DENORMALS_ARE_ZERO,),
    "pocl": (DENORMALS_ARE_ZERO, NO_WARNINGS),
}
"""The options by the platform's short name."""
