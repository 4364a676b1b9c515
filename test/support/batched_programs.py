"""Random programs over a batch, with other axes of its size, and steps that depend on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

Dims = tuple[str, ...]

INPUTS: dict[str, Dims] = {
    "A": ("B", "K"), "X": ("B",), "W": ("K", "N"), "V": ("N",), "T": ("B", "K", "N"),
}  # fmt: skip
SIZES = {"K": "5", "N": "8"}
"""Sizes of weights; the batch is open."""
SHAPES = tuple("x".join(SIZES.get(d, "{}") for d in dims) for dims in INPUTS.values())
LITERAL = "8"


@dataclass
class _Writer:
    """The statements of a program, and the dimensions of its tensors."""

    random: Random
    tensors: dict[str, Dims] = field(default_factory=lambda: dict(INPUTS))
    lines: list[str] = field(default_factory=list[str])

    def make(self, dims: Dims, right: str, *, indexed: bool = True) -> str:
        """Write a statement that makes a tensor of these dimensions; its name."""
        name = f"R{len(self.tensors)}"
        place = f"[{self.at(dims)}" + (f": {', '.join(dims)}]" if dims else "]")
        self.lines.append(f"{name}{place if indexed else ''} = {right};")
        self.tensors[name] = dims
        return name

    @staticmethod
    def at(dims: Dims) -> str:
        """The indices of a tensor, an axis of a size each."""
        return ", ".join("0" if d == "1" else f"i_{d}" for d in dims)

    def some(self, dims: Dims) -> Dims:
        """Some of the dimensions, in any order."""
        kept = [d for d in dict.fromkeys(dims) if d != "1" and self.random.random() < 0.6]
        return tuple(self.random.sample(kept, len(kept)))

    def step(self) -> None:
        """Write a statement, or two."""
        choose = self.random.choice
        x = choose([n for n, dims in self.tensors.items() if dims])
        dims = self.tensors[x]
        of_x, axis = f"{x}[{self.at(dims)}]", self.random.randrange(len(dims))
        along = dims[axis]
        match self.random.randrange(10):
            case 0:
                forms = f"{x} * B - {choose('BKN')}", f"abs({x}) + {LITERAL}", f"max({x}, 1)"
                self.make(dims, choose(forms), indexed=False)
            case 1:
                y = choose([n for n, other in self.tensors.items() if other == dims])
                self.make(dims, f"{x} {choose('+-*')} {y}", indexed=False)
            case 2 | 3:
                y = choose([*self.tensors])
                out = self.some(dims + self.tensors[y])
                self.make(out, f"+({of_x} * {y}[{self.at(self.tensors[y])}])")
            case 4:
                summed = self.make(self.some(dims), f"{choose('+>')}({of_x})")
                gone = [d for d in dims if d not in self.tensors[summed]]
                by = " * ".join(gone) or LITERAL
                self.make(self.tensors[summed], f"{summed} / ({by})", indexed=False)
            case 5:
                kept = (*dims[:axis], "1", *dims[axis + 1 :])
                reduced = self.make(kept, choose("+>") + f"({of_x})")
                self.make(dims, f"{x} - {reduced}", indexed=False)
            case 6:
                self.make(dims, f"{x} * index({x}, {axis})", indexed=False)
            case 7 if LITERAL not in dims and along != "1":
                out = (*dims[:axis], LITERAL, *dims[axis + 1 :])
                self.make(out, f"+({of_x.replace(f'i_{along}', f'i_{LITERAL}')})")
            case 8 if along != "1":
                moved = of_x.replace(f"i_{along}", f"i_{along} - j")
                self.make(dims, f"+({moved}), j < {choose((2, 3, 8))}")
            case 9 if along != "1":
                self.make(dims, f"+({of_x}), i_{along} < {choose((5, 8, 20))}")
            case _:
                flat = f"reshape({x}, {' * '.join(dims)}) * 3"
                self.make(dims, f"reshape({flat}, {', '.join(dims)})", indexed=False)


def batched_program(seed: int) -> str:
    """The text of a program, whose inputs have ``SHAPES``."""
    writer = _Writer(Random(seed))
    for _ in range(writer.random.randint(2, 7)):
        writer.step()
    made = [name for name in writer.tensors if name not in INPUTS]
    outputs = writer.random.sample(made, min(len(made), writer.random.randint(1, 3)))
    header = ", ".join(f"{name}[{', '.join(dims)}]" for name, dims in INPUTS.items())
    return f"function ({header}) -> ({', '.join(outputs)}) {{ {' '.join(writer.lines)} }}"
