"""The ``opencl`` target: prints the gpu.modules of the kernel level as OpenCL C 1.2.

The target takes the upstream dialects gpu, scf, arith, math, memref and vector, from any pipeline;
an op that it cannot print is an :class:`OpenCLError`. docs/opencl.md gives the OpenCL C of each op.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO

from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.dialects.dlti import DataLayoutSpecAttr
from xdsl.utils.target import Target

from tiledialect.ir.ancestors import ancestors
from tiledialect.lowering.names import is_free_name
from tiledialect.lowering.opencl.control import CONTROL_FLOW
from tiledialect.lowering.opencl.function import (
    Function,
    FunctionPrinter,
    Prelude,
    message,
    symbol,
)
from tiledialect.lowering.opencl.statements import STATEMENTS as OTHER_STATEMENTS
from tiledialect.lowering.opencl.types import OpenCLError

__all__ = ["OpenCLError", "OpenCLTarget", "print_opencl"]

STATEMENTS = {**OTHER_STATEMENTS, **CONTROL_FLOW}


@dataclass
class Program:
    """The OpenCL C text of one or more gpu.modules, while it is made."""

    prelude: Prelude = field(default_factory=Prelude)
    functions: list[str] = field(default_factory=list[str])
    names: set[str] = field(default_factory=set[str])

    @property
    def text(self) -> str:
        """Text of the program."""
        pragma = (
            ["#pragma OPENCL EXTENSION cl_khr_fp64 : enable"] if self.prelude.uses_double else []
        )
        return "\n\n".join([*pragma, *self.prelude.helpers.values(), *self.functions]) + "\n"

    def take(self, other: Program) -> None:
        """Add all that another program has."""
        for name, text in other.prelude.helpers.items():
            self.prelude.helpers.setdefault(name, text)
        self.prelude.uses_double |= other.prelude.uses_double
        self.functions += other.functions
        self.names |= other.names

    def add(self, module: gpu.ModuleOp) -> None:
        """Print the functions of a module, each after the functions that it calls."""
        functions = kernel_functions(module)
        for op in module.body.ops:
            if not isinstance(op, Function):
                raise OpenCLError(message(op, f"@{symbol(module)}", "the op is not a function"))
        bits = index_bits(module)
        printed: set[str] = set()
        for name in functions:
            self._add_function(name, functions, printed, (), bits)

    def _add_function(
        self,
        name: str,
        functions: dict[str, Function],
        printed: set[str],
        callers: tuple[str, ...],
        bits: int,
    ) -> None:
        if name in printed:
            return
        function = functions[name]
        printer = FunctionPrinter(self.prelude, STATEMENTS, functions, function, bits)
        for op in printer.inlining.ops:
            callee = op.callee.root_reference.data if isinstance(op, func.CallOp) else None
            if callee in (*callers, name):
                raise OpenCLError(message(op, f"@{name}", "OpenCL C has no recursion"))
            if callee in functions:
                self._add_function(callee, functions, printed, (*callers, name), bits)
        if name in self.names or not is_free_name(name):
            reason = "has the name twice" if name in self.names else "cannot have this name"
            raise OpenCLError(message(function, f"@{name}", f"OpenCL C {reason}"))
        printed.add(name)
        self.names.add(name)
        self.functions.append(printer.text())


def kernel_functions(module: gpu.ModuleOp) -> dict[str, Function]:
    """The functions of a module by name."""
    return {symbol(f): f for f in module.body.ops if isinstance(f, Function)}


def index_bits(module: gpu.ModuleOp) -> int:
    """Width of ``index`` in the nearest data layout, else 64."""
    for op in (module, *ancestors(module)):
        spec = op.attributes.get("dlti.dl_spec")
        for entry in spec.entries if isinstance(spec, DataLayoutSpecAttr) else ():
            if isinstance(entry.key, IndexType):
                bits = entry.value.value.data if isinstance(entry.value, IntegerAttr) else None
                if bits not in (32, 64):
                    raise OpenCLError(f"opencl: index is 32 or 64 bits wide, not {entry.value}")
                return bits
    return 64


def print_opencl(gpu_module: gpu.ModuleOp) -> str:
    """The OpenCL C program of a gpu.module.

    Raises OpenCLError for an op or type that OpenCL C 1.2 or the printer does not have.
    """
    program = Program()
    program.add(gpu_module)
    return program.text


@dataclass(frozen=True)
class OpenCLTarget(Target):
    """``-t opencl``: all gpu.modules as one OpenCL C 1.2 program."""

    name = "opencl"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Print the gpu.modules inside ``module``, or ``module`` itself if it is one."""
        program = Program()
        for op in module.walk():
            if isinstance(op, gpu.ModuleOp):
                program.add(op)
        if not program.functions:
            nothing = "there is no function in a gpu.module to print"
            raise OpenCLError(f"opencl: {nothing}: run tile-compile first")
        output.write(program.text)
