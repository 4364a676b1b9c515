"""Random kernels of loops, branches, loads and stores: printing must not change the order in
which things happen."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from printing import build, gpu_module, kernel, launch, own_cases, parse
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.gpu import FuncOp
from xdsl.ir import Block, SSAValue

KERNELS = 30
"""Number of kernels in the suite; `make fuzz` tries others."""
SIZE = 8
MEMORY = f"memref<{SIZE}xi32>"


class Writer:
    """Writes a random kernel that computes in i32 on a small buffer."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%x{self.count}"

    def emit(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def value(self, visible: list[str]) -> str:
        # Rather the newest ones: chains, not bushes.
        return self.random.choice(visible[-4:] if self.random.random() < 0.6 else visible)

    def address(self, visible: list[str]) -> str:
        masked = self.emit(f"arith.andi {self.value(visible)}, %mask : i32")
        return self.emit(f"arith.index_cast {masked} : i32 to index")

    def binary(self, visible: list[str]) -> str:
        op = self.random.choice(["addi", "subi", "muli", "xori", "minsi"])
        return self.emit(f"arith.{op} {self.value(visible)}, {self.value(visible)} : i32")

    def load(self, visible: list[str]) -> str:
        return self.emit(f"memref.load %a[{self.address(visible)}] : {MEMORY}")

    def store(self, visible: list[str]) -> None:
        address = self.address(visible)
        self.lines.append(f"memref.store {self.value(visible)}, %a[{address}] : {MEMORY}")

    def condition(self, visible: list[str]) -> str:
        return self.emit(f"arith.cmpi slt, {self.value(visible)}, {self.value(visible)} : i32")

    def select(self, visible: list[str]) -> str:
        a, b = self.value(visible), self.value(visible)
        return self.emit(f"arith.select {self.condition(visible)}, {a}, {b} : i32")

    def results(self) -> tuple[list[str], str, str]:
        """Names for the results of an op with regions, the left of its line, and their types."""
        names = [self.name() for _ in range(self.random.randint(0, 3))]
        types = ", ".join("i32" for _ in names)
        return names, f"{', '.join(names)} = " if names else "", types

    def terminator(self, visible: list[str], names: list[str], types: str) -> None:
        values = ", ".join(self.value(visible) for _ in names)
        self.lines.append(f"scf.yield {values} : {types}" if names else "scf.yield")

    def branch(self, visible: list[str], depth: int) -> list[str]:
        names, left, types = self.results()
        condition = self.condition(visible)
        self.lines.append(
            f"{left}scf.if {condition} -> ({types}) {{" if names else f"scf.if {condition} {{"
        )
        for _ in range(2):
            inner = self.block(list(visible), depth + 1)
            self.terminator(inner, names, types)
            self.lines.append("} else {")
        self.lines[-1] = "}"
        return names

    def loop(self, visible: list[str], depth: int) -> list[str]:
        names, left, types = self.results()
        arguments = [self.name() for _ in names]
        pairs = ", ".join(f"{a} = {self.value(visible)}" for a in arguments)
        carried = f" iter_args({pairs}) -> ({types})" if names else ""
        i = self.name()
        end = self.emit(f"arith.andi {self.value(visible)}, %mask : i32")
        self.lines.append(f"{left}scf.for {i} = %zero to {end} step %two{carried} : i32 {{")
        inner = self.block([*visible, i, *arguments], depth + 1)
        self.terminator(inner, names, types)
        self.lines.append("}")
        return names

    def block(self, visible: list[str], depth: int) -> list[str]:
        for _ in range(self.random.randint(1, 6)):
            choice = self.random.random()
            if choice < 0.35:
                visible.append(self.binary(visible))
            elif choice < 0.55:
                visible.append(self.load(visible))
            elif choice < 0.7:
                self.store(visible)
            elif choice < 0.8:
                visible.append(self.select(visible))
            elif depth < 3:
                visible += (self.loop if choice < 0.9 else self.branch)(visible, depth)
        return visible

    def text(self, name: str) -> str:
        self.lines = [
            "%zero = arith.constant 0 : i32",
            "%two = arith.constant 2 : i32",
            f"%mask = arith.constant {SIZE - 1} : i32",
        ]
        visible = ["%zero", "%two", "%n", "%m"]
        visible += [self.load(visible), self.load(visible)]
        for _ in range(4):
            visible = self.block(visible, 0)
        self.store(visible)
        return kernel(name, {"a": MEMORY, "n": "i32", "m": "i32"}, "\n".join(self.lines))


def wrapped(x: int) -> int:
    return (x + 2**31) % 2**32 - 2**31


BINARY = {
    arith.AddiOp: lambda a, b: wrapped(a + b),
    arith.SubiOp: lambda a, b: wrapped(a - b),
    arith.MuliOp: lambda a, b: wrapped(a * b),
    arith.XOrIOp: lambda a, b: a ^ b,
    arith.AndIOp: lambda a, b: a & b,
    arith.MinSIOp: min,
    arith.CmpiOp: lambda a, b: a < b,
}


class Evaluator:
    """Does what the ops say, one after the other."""

    def __init__(self, array: np.ndarray):
        self.array = array
        self.values: dict[SSAValue, Any] = {}

    def block(self, block: Block, arguments: list[Any]) -> list[Any]:
        self.values.update(zip(block.args, arguments, strict=True))
        results: list[Any] = []
        for op in block.ops:
            operands = [self.values.get(v) for v in op.operands]
            results = self.op(op, operands)
            self.values.update(zip(op.results, results, strict=False))
        return results

    def op(self, op: Any, operands: list[Any]) -> list[Any]:
        match op:
            case arith.ConstantOp(value=IntegerAttr() as value):
                return [value.value.data]
            case arith.IndexCastOp():
                return operands
            case arith.SelectOp():
                return [operands[1] if operands[0] else operands[2]]
            case memref.LoadOp():
                return [int(self.array[operands[1]])]
            case memref.StoreOp():
                self.array[operands[2]] = operands[0]
                return []
            case scf.YieldOp():
                return operands
            case scf.IfOp():
                region = op.true_region if operands[0] else op.false_region
                return self.block(region.block, []) if region.blocks else []
            case scf.ForOp():
                lower, upper, step, *carried = operands
                for i in range(lower, upper, step):
                    carried = self.block(op.body.block, [i, *carried])
                return carried
            case _:
                function = BINARY.get(type(op))
                return [function(*operands)] if function else []


def text_of(seed: int) -> str:
    return Writer(seed).text(f"random_{seed}")


def agrees(queue: cl.CommandQueue, program: cl.Program, seed: int) -> None:
    """A random kernel of a program leaves what its ops say."""
    start = np.random.default_rng(seed).integers(-9, 9, SIZE, np.int32)
    module = parse(gpu_module(text_of(seed)))
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    for n, m in ((3, -2), (5, 7)):
        expected = start.copy()
        Evaluator(expected).block(function.body.block, [None, n, m])
        result = launch(queue, program, f"random_{seed}", [start], (1,), scalars=[n, m])[0]
        assert (result == expected).all(), (n, m, start, result, expected)


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest, queue: cl.CommandQueue) -> cl.Program:
    return build(queue, gpu_module(*map(text_of, own_cases(request, queue, "seed"))))


@pytest.mark.parametrize("seed", range(KERNELS))
def test_random_kernel(queue: cl.CommandQueue, program: cl.Program, seed: int):
    agrees(queue, program, seed)
