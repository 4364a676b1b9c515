"""Division of a printed OpenCL program, so that kernels can be built separately."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tiledialect.lazy import lazy

KERNEL = re.compile(r"^__kernel\b[^{;]*?\bvoid (\w+)\([^{;]*\)\s*\{.*?^\}\n", re.M | re.S)
"""A kernel as it is printed: from its head to the brace that begins a line."""
FUNCTION = re.compile(r"[\w \t*]*?(\w+)\(.*?\)\n\{", re.S)
"""The head of a function beside the kernels."""
MACRO = re.compile(r".*?^#define (\w+)", re.M | re.S)
"""A macro beside the kernels, which may depend on the device."""
DOUBLE = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"
"""The text beside kernels of which some have doubles."""


@dataclass(frozen=True)
class KernelTexts:
    """Kernels of a program, and the text beside them."""

    rest: str
    """The text that kernels may use: extensions, helpers, functions that are no kernels."""
    kernels: Mapping[str, str]
    """The text of each kernel by its name."""

    @staticmethod
    def of(source: str) -> KernelTexts:
        """The parts of a program as the printer writes it."""
        kernels = {m[1]: m[0] for m in KERNEL.finditer(source)}
        return KernelTexts(KERNEL.sub("", source), kernels)

    @lazy
    def _beside(self) -> list[tuple[_Use, str]]:
        """Parts of the text beside, each with the word that kernels use it by."""
        parts = [part.strip("\n") for part in re.split(r"\n{2,}", self.rest) if part.strip("\n")]
        return [(_use(part), part) for part in parts]

    def meaning(self, name: str) -> str:
        """Text of a kernel without its name, after what it uses of the text beside."""
        text = self.kernels[name].replace(f" {name}(", " (", 1)
        # Each function stands after those that it calls.
        for use, part in reversed(self._beside):
            if use.is_in(text):
                text = f"{part}\n{text}"
        return text

    def of_kernels(self, names: Iterable[str]) -> str:
        """A program of some of the kernels."""
        return "\n".join((self.rest, *(self.kernels[name] for name in names)))


@dataclass(frozen=True)
class _Use:
    """Word by which texts use a part of the text beside kernels; empty, where it is unknown."""

    word: str
    ending: str = ""
    """Pattern of what may follow the word."""

    def is_in(self, text: str) -> bool:
        """Whether a text uses the part; most have no such letters, which is found out sooner."""
        if self.word not in text:
            return False
        return not self.word or bool(re.search(rf"\b{self.word}{self.ending}\b", text))


def _use(part: str) -> _Use:
    """Use of a part of the text beside kernels; all use it, where it is unknown."""
    if part == DOUBLE:
        return _Use("double", r"\d*")
    head = FUNCTION.match(part) or MACRO.match(part)
    return _Use(head[1] if head else "")
