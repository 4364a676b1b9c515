"""Programs and inputs that commands are given."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tiledialect as td
from tiledialect.dialects.tile.elementwise.numeric import kind_of
from tiledialect.errors import TileError
from tiledialect.tools.array_files import SPECS, STANDARD_INPUT, is_standard_input, read_array
from tiledialect.tools.command import constants, named


def add_program(parser: ArgumentParser, verb: str) -> None:
    """Add the options of a program and its inputs; ``verb`` says what is done with it."""
    add = parser.add_argument
    add("file", nargs="?", help="the program; - is Tile text from the standard input")
    add("--function", metavar="NAME", help="which function of a .mlir file")
    add("--input", metavar="NAME=SPEC", action="append", default=[], help=f"an input: {SPECS}")
    add(
        "--constant",
        metavar="NAME=NUMBER",
        action="append",
        default=[],
        help="a number for a name that the program uses and does not define",
    )
    add(
        "--precision",
        metavar="KIND",
        help="how exactly to compute: f32, tf32 or exact; by default as the program says, else f32",
    )
    add(
        "--gradient",
        metavar="NAMES",
        nargs="?",
        const="",
        help=f"{verb} the gradient function, by these inputs (a,b) or all",
    )
    add(
        "--device",
        metavar="ID",
        help=f"where to {verb}: an id of tile-run --list-devices, or part of a name",
    )


class Given:
    """The function of a command line, or its gradient, and the inputs."""

    def __init__(self, args: Namespace):
        if not args.file:
            raise TileError("give a .tile or .mlir file")
        self._args = args
        specs = dict(spec.split("=", 1) for spec in args.input if "=" in spec)
        check_standard_input(args.file, specs)
        is_text = args.file == STANDARD_INPUT
        self.forward = td.compile(
            sys.stdin.read().removeprefix("\ufeff") if is_text else Path(args.file),
            device=args.device,
            name=args.function,
            precision=args.precision,
            constants=constants(args.constant),
        )
        """The function of the program."""
        names = (args.gradient or "").split(",")
        self._wrt = tuple(name.strip() for name in names if name.strip())
        self.function = self.forward
        """The function, or its gradient."""
        if args.gradient is not None:
            self.function = self.forward.gradient(self._wrt if args.gradient else None)
        self.inputs: dict[str, Any] = {}

    @property
    def cotangents(self) -> Sequence[str]:
        """Names of the inputs that only the gradient has."""
        return self.function.inputs[len(self.forward.inputs) :]

    def read_inputs(self, others: Mapping[str, str] | None = None) -> None:
        """Make the inputs by the options, and by other specifications."""
        names = self.function.inputs
        specs = named(self._args.input, "--input", names)
        self.inputs = read_inputs({**(others or {}), **specs}, names)
        if self.function is not self.forward and not self._wrt:
            # Integers have no gradient.
            kinds = {n: kind_of(np.asarray(self.inputs.get(n)).dtype) for n in self.forward.inputs}
            wrt = tuple(name for name, kind in kinds.items() if kind == "f")
            self.function = self.forward.gradient(wrt or None)


def check_standard_input(file: str, specs: Mapping[str, str]) -> None:
    """Raise a TileError if the standard input is to be read for two things."""
    readers = [name for name, spec in specs.items() if is_standard_input(spec)]
    readers = [*(["the program"] if file == STANDARD_INPUT else []), *readers]
    if len(readers) > 1:
        raise TileError(f"{readers[0]} and {readers[1]} are both read from the standard input")


def read_inputs(specs: Mapping[str, str], names: Sequence[str]) -> dict[str, Any]:
    """The inputs, each random one with a seed of its own."""
    arrays: dict[str, Any] = {}
    for seed, name in enumerate(names):
        if name in specs:
            try:
                arrays[name] = read_array(specs[name], seed)
            except TileError as error:
                raise TileError(f"input {name}: {error}") from None
    return arrays
