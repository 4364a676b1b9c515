"""Random Tile programs, written statement by statement: the parts that all kinds of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Tensor:
    """A tensor that a program has."""

    name: str
    shape: Shape
    is_index: bool = False
    """Whether it holds numbers of rows."""


@dataclass(frozen=True)
class Program:
    """A program and the tensors that it takes."""

    source: str
    inputs: tuple[Tensor, ...]
    reals: type[np.floating[Any]] = np.float32
    rows: int = 9
    """A bound of the numbers of rows: some are outside of the tensors."""

    def arrays(self) -> list[npt.NDArray[Any]]:
        """Inputs, always the same; no two reals are equal."""
        random = np.random.default_rng(0)
        return [
            random.integers(-1, self.rows, t.shape).astype(np.int32)
            if t.is_index
            else np.asarray(random.uniform(-1, 1, t.shape), self.reals)
            for t in self.inputs
        ]


def row(parts: Sequence[object]) -> str:
    """The text between brackets."""
    return ", ".join(map(str, parts))


@dataclass
class Writer:
    """Writes a program statement by statement."""

    draw: st.DrawFn
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    inputs: list[Tensor] = field(default_factory=list[Tensor])
    lines: list[str] = field(default_factory=list[str])

    def choose(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def input(self, *shape: int, is_index: bool = False) -> Tensor:
        made = Tensor(f"X{len(self.inputs)}", shape, is_index)
        self.inputs.append(made)
        if not is_index:
            self.tensors.append(made)
        return made

    def made(self) -> list[Tensor]:
        """The tensors that are no inputs."""
        return [t for t in self.tensors if t not in self.inputs]

    def source(self, outputs: Sequence[Tensor]) -> str:
        """The text of all that is written."""
        header = (
            f"{t.name}[{row([f'{t.name}_{k}' for k in range(len(t.shape))])}]" for t in self.inputs
        )
        body = "\n".join(f"  {line}" for line in self.lines)
        names = row([t.name for t in outputs])
        return f"function f({', '.join(header)}) -> ({names}) {{\n{body}\n}}\n"
