"""Programs and inputs that commands are given."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tiledialect as td
from tiledialect.dialects.tile.elementwise.numeric import kind_of
from tiledialect.errors import TileError
from tiledialect.ir.names import kept_name
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


@dataclass(frozen=True)
class Call:
    """A function, or its gradient, and the inputs of a call."""

    forward: td.Function
    """The function of the program."""
    function: td.Function
    """The function, or its gradient."""
    inputs: dict[str, Any]

    @property
    def cotangents(self) -> Sequence[str]:
        """Names of the inputs that only the gradient has."""
        return self.function.inputs[len(self.forward.inputs) :]


class Program:
    """The program of a command line."""

    def __init__(self, args: Namespace):
        self._args = args
        self.forward = td.compile(
            sys.stdin.read().removeprefix("\ufeff")
            if args.file == STANDARD_INPUT
            else Path(args.file),
            device=args.device,
            name=args.function,
            precision=args.precision,
            constants=constants(args.constant),
        )
        """The function of the program."""
        self._wrt = gradient_inputs(args)
        function = self.forward
        if self._wrt is not None:
            function = self.forward.gradient(self._wrt or None)
        self._function = function

    @property
    def inputs(self) -> Sequence[str]:
        """Names of the inputs that can be given."""
        return self._function.inputs

    def call(self, specs: Mapping[str, str]) -> Call:
        """The call with inputs by these specifications."""
        inputs = read_inputs(specs, self.inputs)
        function = self._function
        if self._wrt == ():
            # Integers have no gradient.
            kinds = {n: kind_of(np.asarray(inputs.get(n)).dtype) for n in self.forward.inputs}
            wrt = tuple(name for name, kind in kinds.items() if kind == "f")
            function = self.forward.gradient(wrt or None)
        return Call(self.forward, function, inputs)


class OnnxModel:
    """The model of ONNX of a command line."""

    def __init__(self, args: Namespace):
        for option in ("function", "constant"):
            if getattr(args, option):
                raise TileError(f"--{option} is not for models of ONNX")
        try:
            from tiledialect.onnx import load
        except ImportError as error:
            raise TileError(str(error)) from None
        self._wrt = gradient_inputs(args)
        self._model = load(args.file, device=args.device, precision=args.precision)

    @property
    def inputs(self) -> Sequence[str]:
        """Names of the inputs that can be given: the cotangents of a gradient, too."""
        outputs = () if self._wrt is None else self._model.outputs
        return *self._model.inputs, *(f"D{kept_name(name)}" for name in outputs)

    def call(self, specs: Mapping[str, str]) -> Call:
        """The call with inputs by these specifications."""
        given = read_inputs(specs, self.inputs)
        forward, inputs = self._model.bind(
            **{n: given[n] for n in self._model.inputs if n in given}
        )
        function = forward
        if self._wrt is not None:
            function, inputs = self._model.gradient(self._wrt or None).bind(**given)
        return Call(forward, function, inputs)


def gradient_inputs(args: Namespace) -> tuple[str, ...] | None:
    """Names that ``--gradient`` has, none for all inputs; None without the option."""
    if args.gradient is None:
        return None
    names = tuple(name.strip() for name in args.gradient.split(",") if name.strip())
    if args.gradient and not names:
        raise TileError(f"--gradient {args.gradient}: write --gradient A,B, or no names for all")
    return names


def given_program(args: Namespace) -> Program | OnnxModel:
    """The program, or the model of ONNX, of a command line."""
    if not args.file:
        raise TileError("give a .tile, .mlir or .onnx file")
    check_standard_input(args.file, dict(s.split("=", 1) for s in args.input if "=" in s))
    return (OnnxModel if Path(args.file).suffix == ".onnx" else Program)(args)


def given_call(
    args: Namespace, program: Program | OnnxModel, others: Mapping[str, str] | None = None
) -> Call:
    """The call with inputs by the options, and by other specifications."""
    return program.call({**(others or {}), **named(args.input, "--input", program.inputs)})


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
