"""`tile-run`: run a Tile program on arrays from files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.interpreters.agreement import counted_terms, disagreement, distance, tolerance
from tiledialect.tools.array_files import destinations, write_arrays
from tiledialect.tools.command import named, run_command, say
from tiledialect.tools.given_program import add_program, given_call, given_program

Array = npt.NDArray[Any]

EPILOG = """\
examples:
  tile-run product.tile --input A=a.npy --input 'B=random(9,4)' --output C=c.npy
  tile-run edges.tile --input I=photo.jpg --input L=l.npy --input K=k.npy --output E=edges.png
"""

SHOWN = 64
"""The elements up to which a summary shows an output in full."""


REPEAT = 5
"""Number of runs of --profile by default."""


def parser() -> ArgumentParser:
    """The command line."""
    p = ArgumentParser(
        "tile-run",
        description="Run a Tile program (.tile or .mlir) or a model (.onnx) on an OpenCL device.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = p.add_argument
    add("--version", action="version", version=f"tile-run {td.__version__}")
    add_program(p, "run")
    add(
        "--output",
        metavar="NAME=PATH",
        action="append",
        default=[],
        help="write an output to a .npy, .npz or image file; without any, a summary is shown",
    )
    add(
        "--list-devices",
        action="store_true",
        help="show the OpenCL devices; * is the default, - what cannot be used",
    )
    add(
        "--measure-device",
        action="store_true",
        help="measure what the device can do, which schedules are chosen by, and keep it",
    )
    add(
        "--schedules",
        metavar="FILE",
        help="run kernels by the schedules in a file; by default FILE.schedules beside FILE.tile",
    )
    add(
        "--fuse",
        metavar="OPTIONS",
        help="fuse kernels by these options of tile-fuse, as 'rows=false apart=E'",
    )
    add("--print-opencl", action="store_true", help="show the OpenCL C of the kernels")
    add("--print-schedules", action="store_true", help="show the schedules of the kernels")
    add("--explain", action="store_true", help="show why the kernels have their schedules")
    add(
        "--profile",
        action="store_true",
        help="show the median times of kernels, and peak memory",
    )
    add("--repeat", metavar="N", type=int, help=f"how often --profile runs, else {REPEAT} times")
    add("--check", action="store_true", help="compare with the reference semantics")
    return p


def list_devices(wanted: str | None) -> None:
    """List the devices, with a mark at the default one, and the refused ones."""
    from tiledialect.lowering.runtime.call.refusals import format_bytes
    from tiledialect.lowering.runtime.device import measure
    from tiledialect.lowering.runtime.device.devices import choose, remedy, unusable
    from tiledialect.lowering.runtime.device.probe import forget_failures

    forget_failures()
    working = td.devices()
    default = choose(wanted)
    for device in working:
        mark = "*" if device == default else " "
        memory = format_bytes(device.global_mem_size)
        print(
            f"{mark} {device.id:12} {device.type:11} {device.compute_units:4} units "
            f"{memory:>11}  {device.name}, {device.platform}"
        )
        if measure.is_measured(device) and (found := measure.found(device)) is not None:
            print(f"{'':15}{found}")
    for device, reason in unusable().items():
        print(f"- {device.id:12} {reason}\n{'':15}{remedy(device)}")


def measure_device(wanted: str | None) -> None:
    """Measure the device that would be used, and print the results."""
    from tiledialect.lowering.runtime.device import measure
    from tiledialect.lowering.runtime.device.devices import choose

    device = choose(wanted)
    if not measure.is_measured(device):
        off = f"{measure.SWITCH} is 0"
        reason = "a simulator has no speed" if device.type == "simulator" else off
        raise TileError(f"{device.id} is not measured: {reason}")
    rates = measure.renewed(device)
    if rates is None:
        raise TileError(f"{device.id} cannot run the measurements")
    print(f"{device.id} {measure.found(device) or rates}")


def outputs_of(function: td.Function, result: Any) -> dict[str, Array]:
    """The outputs by name."""
    values = (result,) if len(function.outputs) == 1 else result
    return dict(zip(function.outputs, values, strict=True))


def summary(name: str, array: Array) -> str:
    """An output in a few lines."""
    head = f"{name}: {array.dtype}[{', '.join(map(str, array.shape))}]"
    if array.size <= SHOWN:
        return f"{head}\n{array}"
    kind = array.astype(np.float64)
    low, high, mean = (f(kind) for f in (np.min, np.max, np.mean))
    return f"{head}  least {low:.6g}  greatest {high:.6g}  mean {mean:.6g}"


def check(actual: Mapping[str, Array], expected: Mapping[str, Array], terms: int = 1) -> bool:
    """Report for each output whether it matches the expected one; whether all do."""
    verdicts = [_agrees(name, actual[name], expected[name], terms) for name in expected]
    return all(verdicts)


def _agrees(name: str, actual: Array, expected: Array, terms: int) -> bool:
    problem = disagreement(actual, expected, terms)
    allowed = tolerance(actual.dtype.name, terms)
    if allowed is None or actual.shape != expected.shape or actual.dtype != expected.dtype:
        print(f"check {name}: {problem or 'equal'}")
        return not problem
    off = f"off by {distance(actual, expected):.1e} of the largest value ({allowed:.0e} allowed)"
    print(f"check {name}: {'DIFFERS' if problem else 'agrees'}, {off}")
    return not problem


def fusion_options(text: str) -> dict[str, Any]:
    """Arguments of `Function.with_fusion` from the options of `tile-fuse` as text."""
    from xdsl.utils.arg_spec import parse_spec
    from xdsl.utils.exceptions import ArgSpecParseError

    from tiledialect.passes.fuse.options import Fusion
    from tiledialect.passes.fuse.tile_fuse import TileFusePass

    try:
        made = TileFusePass.from_spec(parse_spec(f"{TileFusePass.name}{{{text}}}"))
    except (ValueError, ArgSpecParseError):
        names = ", ".join(f.name for f in fields(Fusion))
        raise TileError(
            f"--fuse {text}: write --fuse 'rows=false apart=E'; the options are {names}"
        ) from None
    return {f.name: getattr(made, f.name) for f in fields(Fusion)}


def run(args: Namespace) -> bool:
    """Run the command line; whether every check passed."""
    if args.list_devices:
        list_devices(args.device)
        return True
    if args.measure_device:
        measure_device(args.device)
        return True
    if not args.file:
        raise TileError("give a .tile, .mlir or .onnx file, or --list-devices")
    if args.repeat is not None and (args.repeat < 1 or not args.profile):
        raise TileError("--repeat goes with --profile, and is at least 1")
    function, inputs, paths = prepared(args)
    is_shown = show(args, function, inputs)
    if is_shown and not (paths or args.profile or args.check):
        return True
    # Before the device: the reference finds the accesses that would end this process.
    with counted_terms() as terms:
        # It may change inputs.
        own = deepcopy(inputs) if args.check else {}
        expected = outputs_of(function, function.reference(**own)) if args.check else {}
    results = outputs_of(function, function(**inputs))
    report(results, paths)
    if args.profile:
        profile = function.profile(**inputs, repeat=args.repeat or REPEAT)[1]
        print("\n".join(filter(None, (str(profile), str(profile.layers)))))
    return check(results, expected, terms.most)


def prepared(args: Namespace) -> tuple[td.Function, dict[str, Any], dict[str, str]]:
    """Function or gradient of the command line, with its inputs and the outputs' paths."""
    call = given_call(args, given_program(args))
    function = call.function
    paths = named(args.output, "--output", function.outputs)
    destinations(paths)
    # Cotangents that are not given are ones.
    inputs = {**dict.fromkeys(call.cotangents, 1.0), **call.inputs}
    beside = Path(args.file).with_suffix(".schedules")
    if args.schedules or (beside.is_file() and args.gradient is None):
        function = function.with_schedules(Path(args.schedules or beside))
    return function, inputs, paths


def show(args: Namespace, function: td.Function, inputs: Mapping[str, Any]) -> bool:
    """Print the requested parts of a compiled function; whether any were."""
    if args.fuse is not None:
        function = function.with_fusion(**fusion_options(args.fuse))
    if args.print_schedules:
        for name, schedule in function.schedules(**inputs).items():
            print(f"{name}: {schedule}")
    if args.explain:
        print(function.explanation(**inputs))
    if args.print_opencl:
        print(function.opencl(**inputs), end="")
    return args.print_schedules or args.explain or args.print_opencl


def report(results: Mapping[str, Array], paths: Mapping[str, str]) -> None:
    """Write the outputs that have a path; if none has, show all."""
    for remark in write_arrays(results, paths):
        say(f"tile-run: {remark}")
    if not paths:
        for name, array in results.items():
            print(summary(name, array))


def main() -> None:
    """Run `tile-run` on the command line's arguments; exit with 1 after an error."""
    run_command("tile-run", lambda: 0 if run(parser().parse_args()) else 1)


if __name__ == "__main__":
    main()
