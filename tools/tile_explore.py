"""`tile-explore`: search the fastest implementation of a program for some shapes."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

import tiledialect as td
from tiledialect.api.exploring import Result, progress_line
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES, kind_of
from tiledialect.errors import TileError
from tiledialect.exploration.lift.settings import Settings
from tiledialect.ir.mlir_text import read_text
from tiledialect.ir.signature import parse_type, type_text
from tiledialect.tools.array_files import STANDARD_INPUT, read_array
from tiledialect.tools.command import each_named, named, run_command, say
from tiledialect.tools.given_program import Program, add_program, given_call, given_program

if TYPE_CHECKING:
    from tiledialect.exploration.explore import Progress

NAME = "tile-explore"
PROGRAMS = 100
"""Most programs that a phase prints by default."""

EPILOG = """\
examples:
  tile-explore mm.tile --shapes A=1024x1024xf32,B=1024x1024xf32 --trials 200 --save mm.explored
  tile-explore mm.tile --shapes A=64x64xf32,B=64x64xf32 --storage sqlite:///mm.db --resume
"""


def parser() -> ArgumentParser:
    """The command line."""
    p = ArgumentParser(
        NAME,
        description="Search the fastest implementation of a program (.tile or .mlir) for inputs of "
        "some shapes on an OpenCL device.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = p.add_argument
    add("--version", action="version", version=f"{NAME} {td.__version__}")
    add_program(p, "explore")
    add(
        "--shapes",
        metavar="NAME=TYPE",
        action="append",
        default=[],
        help="types of inputs, such as A=64x64xf32,B=64xf32, which are random",
    )
    add("--trials", metavar="N", type=int, help="most candidates to measure (200)")
    add("--time", metavar="TIME", help="most time, such as 90s, 10m or 2h")
    add("--storage", metavar="WHERE", help="URL of a database, or FILE.log, that keeps the trials")
    add("--resume", action="store_true", help="go on with the trials of the storage")
    add(
        "--workers",
        metavar="N",
        help="number of processes, or the address of a scheduler of Dask",
    )
    add("--sampler", metavar="NAME", help="sampler of Optuna: tpe or random")
    add("--seed", metavar="N", type=int, help="seed of all random choices (0)")
    add("--settings", metavar="FILE", help="settings of the phases and of the search, in TOML")
    add(
        "--phase",
        metavar="NAME",
        help="print the programs of one phase, or of the phase before, as MLIR: algorithmic, and "
        "for Lift's patterns mapping or parameters",
    )
    add("--programs", metavar="N", type=int, help=f"most programs of a phase ({PROGRAMS})")
    add("--plot", metavar="FILE", help="write a chart of the trials, as SVG")
    add("--save", metavar="FILE", help="write what was found, for td.compile(…, explored=FILE)")
    return p


def run(args: Namespace) -> int:
    """Search by the command line, and print the result; or print the programs of a phase."""
    settings = Settings.read_or_default(args.settings)
    if args.phase is not None:
        return run_phase(args, settings)
    if args.programs is not None:
        raise TileError("--programs goes with --phase")
    if args.resume and args.storage is None:
        raise TileError("--resume goes on with the trials of a --storage, and none is given")
    places = {option: _place(option, getattr(args, option)) for option in ("plot", "save")}
    function, inputs = prepared(args)
    result = td.explore(
        function,
        *(inputs.get(name) for name in function.inputs),
        trials=args.trials,
        time=args.time,
        storage=args.storage,
        workers=_workers(args.workers or "1"),
        sampler=args.sampler,
        seed=args.seed,
        settings=settings,
        resume=args.resume,
        progress=None if sys.stderr is not None and sys.stderr.isatty() else _Bests(),
    )
    show(result, places["plot"], places["save"])
    return 0


def run_phase(args: Namespace, settings: Settings) -> int:
    """Print the programs of a phase."""
    from tiledialect.tools.explore_phases import Programs, phase_texts, tile_texts

    given = [f"--{name}" for name in SEARCHING if getattr(args, name) not in (None, False, [])]
    if given:
        raise TileError(f"{given[0]} is for searches, and --phase measures nothing")
    if not args.file or args.file.endswith(".onnx"):
        raise TileError("give a .tile or .mlir file")
    most = PROGRAMS if args.programs is None else args.programs
    if most < 1:
        raise TileError(f"--programs must be at least 1, got {most}")
    types = {name: _type(name, t) for name, t in named(_pairs(args), "--shapes").items()}
    is_text = args.file == STANDARD_INPUT
    if args.file.endswith(".tile"):
        texts = tile_texts(args.phase, Program(args).forward, types, most)
    else:
        text = sys.stdin.read() if is_text else read_text(Path(args.file))
        programs = Programs(text, "<stdin>" if is_text else args.file, args.function, types)
        texts = phase_texts(args.phase, programs, args.device, settings, most)
    for program in texts:
        print(program)
    return 0


SEARCHING = (
    *("input", "constant", "gradient", "precision", "trials", "time", "storage", "resume"),
    *("workers", "sampler", "seed", "plot", "save"),
)
"""Options that a phase does not have."""


def _workers(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _pairs(args: Namespace) -> list[str]:
    return [pair for text in args.shapes for pair in text.split(",") if pair.strip()]


def prepared(args: Namespace) -> tuple[td.Function, dict[str, Any]]:
    """Function or gradient of the command line, with its inputs."""
    program = given_program(args)
    shapes = named(_pairs(args), "--shapes", program.inputs)
    twice = [name for name in named(args.input, "--input") if name in shapes]
    if twice:
        raise TileError(f"{twice[0]} is given by --input and by --shapes")
    call = given_call(args, program, {name: _random(name, text) for name, text in shapes.items()})
    function, inputs = call.function, call.inputs
    missing = [name for name in call.forward.inputs if name not in inputs]
    if missing:
        raise TileError(f"give the type of {missing[0]}: --shapes {missing[0]}=64x64xf32")
    if call.cotangents:
        own = {name: inputs[name] for name in call.forward.inputs}
        outputs = call.forward.output_types(**own)
        for seed, (name, t) in enumerate(zip(call.cotangents, outputs, strict=True), len(own)):
            # Cotangents of integers are left out.
            if kind_of(NUMPY_TYPES[t.element_type]) == "f":
                inputs.setdefault(name, read_array(f"random({type_text(t)})", seed))
    return function, inputs


def _random(name: str, text: str) -> str:
    """Specification of a random array of a type."""
    return f"random({type_text(_type(name, text))})"


def _type(name: str, text: str) -> TensorType[Attribute]:
    """Type of an input of ``--shapes``."""
    try:
        return parse_type(text)
    except TileError as error:
        raise TileError(f"--shapes {name}={text}: {error.message}") from None


def _place(option: str, path: str | None) -> Path | None:
    """A file that a search will write, which must not fail after it."""
    if path is None:
        return None
    place = Path(path)
    if place.is_dir() or not place.absolute().parent.is_dir():
        reason = "it is a folder" if place.is_dir() else f"there is no folder {place.parent}"
        raise TileError(f"--{option} {path} cannot be written: {reason}")
    return place


@dataclass
class _Bests:
    """A line for each new best, where there is no terminal."""

    best: float = inf

    def __call__(self, progress: Progress) -> None:
        if progress.best < self.best:
            self.best = progress.best
            say(f"{NAME}: {progress_line(progress)}")


def show(result: Result, plot: Path | None, save: Path | None) -> None:
    """Print a result and the defects that it found, and write what was asked for."""
    print(result)
    for trial in result.wrong:
        say(f"{NAME}: a wrong result, which is a defect:\n{result.report(trial)}")
    if plot is not None:
        result.plot(plot)
    if save is not None:
        result.save(save)


def main() -> None:
    """Run `tile-explore` on the command line's arguments; exit with 1 after an error."""
    run_command(NAME, lambda: run(parser().parse_args(each_named(sys.argv[1:]))))


if __name__ == "__main__":
    main()
