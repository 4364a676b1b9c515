"""`tile-opt`: run passes on MLIR or Tile text and print the result in a target's form.

Everything that `xdsl-opt` does, with Tile text (`.tile`) as input besides, and with a line or two
and status 1 where the input or the command is wrong.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from io import BytesIO, StringIO
from pathlib import Path, PurePath
from typing import IO, NoReturn, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.dlti import TargetSystemSpecAttr
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, VerifyException
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from tiledialect import __version__
from tiledialect.errors import TileError, meant
from tiledialect.ir.mlir_text import parse_mlir, read_text
from tiledialect.ir.signature import argument_names, find_function, parse_type
from tiledialect.ir.target_spec import SPEC
from tiledialect.ir.target_spec import describe as describe_target
from tiledialect.ir.verification import check_structure, verify
from tiledialect.output_files import replacing
from tiledialect.passes.convert.sources import convert_sources
from tiledialect.tools.command import Located, constants, describe, each_named, named, run_command
from tiledialect.universe import full_universe

DESCRIPTION = "Run passes on MLIR or Tile text and print the result."


class TileOptMain(xDSLOptMain):
    """xDSL's driver, with Tile text as input and all errors of the user as exceptions."""

    version_format = f"tile-opt {__version__}, built from xdsl version {{xdsl_version}}"

    def __init__(self, args: Sequence[str] | None = None):
        self.source = ""
        self._output = _Buffer()
        super().__init__(DESCRIPTION, each_named(sys.argv[1:] if args is None else args))

    def register_all_arguments(self, arg_parser: ArgumentParser) -> None:
        """Register the arguments of `xdsl-opt`, and a few more."""
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "tile-opt"
        arg_parser.error = _refuse
        add = arg_parser.add_argument
        add(
            "--shapes",
            metavar="NAME=TYPE,…",
            action="append",
            help="bind the inputs' types, as A=4x8xf32,B=f32, before the passes run",
        )
        add(
            "--device",
            metavar="ID",
            help="describe this device to the passes: an id of tile-run --list-devices, part of a "
            "name, or a .mlir file with a dlti.target_system_spec",
        )
        add(
            "--constant",
            metavar="NAME=NUMBER",
            action="append",
            default=[],
            help="a number for a name that Tile text uses and does not define",
        )
        add("--function", metavar="NAME", help="whose inputs --shapes binds, if there are several")
        add("--list-passes", action="store_true", help="show the passes, and stop")
        add("--show-dialects", action="store_true", help="show the dialects, and stop")

    def register_all_dialects(self) -> None:
        """Register the dialects of `xdsl-opt`, and this package's where it is not installed."""
        for name, make in full_universe().all_dialects.items():
            self.ctx.register_dialect(name, make)

    def register_all_passes(self) -> None:
        """The same."""
        self.available_passes |= full_universe().all_passes

    def register_all_targets(self) -> None:
        """The same."""
        self.available_targets = full_universe().all_targets | self.available_targets

    def register_all_frontends(self) -> None:
        """Register the frontends of `xdsl-opt`, and Tile text."""
        super().register_all_frontends()
        self.available_frontends["mlir"] = self._parse_mlir
        self.available_frontends["tile"] = self._parse_tile

    def _parse_mlir(self, stream: IO[bytes]) -> ModuleOp:
        self.source = self._text(stream)
        if self.args.constant:
            raise TileError("--constant gives numbers for names in Tile text, and this is MLIR")
        implicit = not self.args.no_implicit_module
        return parse_mlir(self.source, self.get_input_name(), self.ctx, implicit)

    def _parse_tile(self, stream: IO[bytes]) -> ModuleOp:
        from tiledialect.language.to_ir import load

        self.source = self._text(stream)
        name = self.get_input_name()
        given = constants(self.args.constant)
        return load(self.source, filename=name, name=PurePath(name).stem, constants=given)

    def _text(self, stream: IO[bytes]) -> str:
        try:
            return stream.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise TileError(f"{self.get_input_name()} is not text in UTF-8") from None

    def setup_pipeline(self) -> None:
        """Parse the passes; a TileError if they, or options of theirs or the target, are wrong."""
        try:
            self._check_passes()
            super().setup_pipeline()
            target = parse_spec(self.args.target)
            factory = self.available_targets[target.name]
            cast(Callable[[], type[Target]], factory)().from_spec(target)
        except ValueError as e:
            raise TileError(f"-p '{self.args.passes}' -t '{self.args.target}': {e}") from e
        except ArgSpecParseError as e:
            unquoted = 'values with other signs than letters, digits and _ - are quoted: at="map.1"'
            apart = "passes are separated by commas"
            e.add_note(apart if "Expected a comma" in str(e) else unquoted)
            raise
        between = self.pipeline.callback
        assert between is not None

        def placed(
            previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
        ) -> None:
            try:
                between(previous, module, following)
            except VerifyException as e:
                if previous is None:
                    verify(module)
                    raise
                e.args = (f"{previous.name} made what does not verify: {e}",)
                raise

        self.pipeline = replace(self.pipeline, callback=placed)

    def _check_passes(self) -> None:
        """A TileError if there is no such pass, or it has no such option."""
        for spec in parse_pipeline(self.args.passes):
            if spec.name not in self.available_passes:
                like = meant(spec.name, self.available_passes)
                raise TileError(
                    f"there is no pass {spec.name}{like or '; --list-passes shows all'}"
                )
            options = [f.name.replace("_", "-") for f in fields(self.available_passes[spec.name]())]
            for option in spec.normalize_parameter_names().parameters:
                name = option.replace("_", "-")
                if name not in options:
                    has = f"has {', '.join(options)}" if options else "has none"
                    raise TileError(f"{spec.name} has no option {name}: it {has}")

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        """The input; `-` is the standard input."""
        if self.args.input_file == "-":
            self.args.input_file = None
        if self.args.input_file is None and sys.stdin is None:
            raise TileError("the standard input is closed")
        return super().get_input_stream()

    def get_input_name(self) -> str:
        """Name of the input, as text even where the file's name is none."""
        return os.fsencode(super().get_input_name()).decode(errors="replace")

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        """Split the input; a TileError if no frontend reads it."""
        try:
            return super().prepare_input()
        except ValueError as e:
            known = " or ".join(f"-f {name}" for name in self.available_frontends)
            raise TileError(f"{self.get_input_name()}: {e}; give its language with {known}") from e

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        """Parse a piece of the input; with `--parsing-diagnostics` errors are output."""
        # Empty lines stand for the pieces before, so that all places are right.
        if start_offset:
            chunk = BytesIO(b"\n" * start_offset + chunk.read())
        try:
            return super().parse_chunk(chunk, file_extension, start_offset)
        except TileError as e:
            if not self.args.parsing_diagnostics:
                raise
            print(describe(e))
            return None

    def apply_passes(self, prog: ModuleOp) -> None:
        """Bind the shapes and run the passes; with `--verify-diagnostics` errors are output."""
        with self._located():
            if not self.args.disable_verify:
                check_structure(prog)
            if self.args.device is not None:
                describe_device(prog, self.args.device)
            if self.args.shapes is not None or _takes_tile(self.args.passes):
                convert_sources(prog)
            if self.args.shapes is not None:
                bind_shapes(prog, ",".join(self.args.shapes), self.args.function)
            super().apply_passes(prog)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """Print in the target's form; with `--verify-diagnostics` errors are output."""
        with self._located():
            return super().output_resulting_program(prog)

    @contextmanager
    def _located(self) -> Generator[None]:
        """Convert TileErrors to the errors that xDSL's driver handles, with their lines."""
        try:
            yield
        except TileError as e:
            # A location in the IR may be one in another file.
            if e.span is not None and e.span.filename == self.get_input_name():
                e = e.with_source(self.source).with_constants(constants(self.args.constant))
            raise Located(e) from e

    def run(self) -> None:
        """Run the arguments; the output file is written at the end."""
        if self.args.list_passes or self.args.show_dialects:
            print("\n".join(self._listed()))
            return
        if self.args.output_file in (None, "-"):
            self.args.output_file = None
            super().run()
            return
        with replacing(self.args.output_file) as file:
            super().run()
            file.write(self._output.text.encode())

    def prepare_output(self) -> IO[str]:
        """The standard output, or a buffer for the output file."""
        if self.args.output_file is None:
            return sys.stdout
        return self._output

    def _listed(self) -> Iterator[str]:
        if self.args.show_dialects:
            yield from sorted(self.ctx.registered_dialect_names)
        if self.args.list_passes:
            for name, factory in sorted(self.available_passes.items()):
                yield f"{name:32} {_first_line(factory)}".rstrip()


def _takes_tile(passes: str) -> bool:
    """Whether the first of the passes takes programs of the tile dialect."""
    names = [spec.name for spec in parse_pipeline(passes)]
    return bool(names) and names[0].startswith("tile-")


class _Buffer(StringIO):
    """A text that outlives its stream, which xDSL's driver closes."""

    text = ""

    def close(self) -> None:
        """Keep the text."""
        self.text = self.getvalue()
        super().close()


def _first_line(factory: Callable[[], type[ModulePass]]) -> str:
    """First line of a pass's documentation; empty if the pass needs a package that is not
    installed."""
    try:
        made = factory()
    except ImportError:
        return ""
    lines = (line.strip() for line in (made.__doc__ or "").splitlines())
    first = next((line for line in lines if line), "")
    # The text that `dataclass` makes is no documentation.
    return "" if first.startswith(f"{made.__name__}(") else first


def _refuse(message: str) -> NoReturn:
    """Report an error of the command line, without the page that argparse shows before it."""
    words = message.removeprefix("unrecognized arguments: ").replace(",", " ").split()
    if message.startswith("unrecognized") and all(w in full_universe().all_passes for w in words):
        message = f"passes are given as -p {','.join(words)}"
    elif "--target" in message:
        message += "; OpenCL C is -t opencl, after tile-compile"
    raise TileError(f"{message}; --help shows all options")


def describe_device(module: ModuleOp, wanted: str) -> None:
    """Describe a device to a module, as the runtime does: one that is here, or a file's."""
    if not wanted.endswith(".mlir"):
        from tiledialect.lowering.runtime.device.devices import choose, target_system_spec

        return describe_target(module, target_system_spec(choose(wanted)))
    spec = parse_mlir(read_text(Path(wanted)), wanted).attributes.get(SPEC)
    if not isinstance(spec, TargetSystemSpecAttr) or not spec.entries.data:
        raise TileError(f"{wanted} describes no device: its module has no {SPEC} of one")
    return describe_target(module, spec)


def bind_shapes(module: ModuleOp, shapes: str, name: str | None) -> None:
    """Specialize a function for shapes written ``A=4x8xf32,B=f32``.

    Inputs that are not named must be declared with a static type.
    """
    from tiledialect.passes.diagnostics.reporting import warn
    from tiledialect.passes.specialize.argument_types import declared_type
    from tiledialect.passes.specialize.tile_specialize import specialize

    function = find_function(module, name)
    names = argument_names(function)
    given = named((pair for pair in shapes.split(",") if pair.strip()), "--shapes", names)
    types = zip(names, function.function_type.inputs, strict=True)
    bound = [parse_type(given[n]) if n in given else declared_type(n, t) for n, t in types]
    warn(specialize(function, bound))


def main() -> None:
    """Run `tile-opt` on the command line's arguments; exit with 1 after an error."""

    def run() -> int:
        TileOptMain().run()
        return 0

    run_command("tile-opt", run)


if __name__ == "__main__":
    main()
