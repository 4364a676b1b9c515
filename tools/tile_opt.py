"""`tile-opt`: run passes on MLIR or Tile text and print the result in a target's form.

Everything that `xdsl-opt` does, with Tile text (`.tile`) as input besides, and with one line and
status 1 where the input or the command is wrong.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import IO, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
    PassFailedException,
)
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from tiledialect import __version__
from tiledialect.errors import TileError

DESCRIPTION = "Run passes on MLIR or Tile text and print the result."


class TileOptMain(xDSLOptMain):
    """xDSL's driver, with Tile text as input and all errors of the user as exceptions."""

    version_format = f"tile-opt {__version__}, built from xdsl version {{xdsl_version}}"

    def __init__(self, args: Sequence[str] | None = None):
        self.source = ""
        super().__init__(DESCRIPTION, args)

    def register_all_arguments(self, arg_parser: ArgumentParser) -> None:
        """Those of `xdsl-opt`."""
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "tile-opt"

    def register_all_frontends(self) -> None:
        """Those of `xdsl-opt`, and Tile text."""
        super().register_all_frontends()
        self.available_frontends["tile"] = self._parse_tile

    def _parse_tile(self, stream: IO[bytes]) -> ModuleOp:
        from tiledialect.language.to_ir import load

        self.source = stream.read().decode()
        name = self.get_input_name()
        return load(self.source, filename=name, name=PurePath(name).stem)

    def setup_pipeline(self) -> None:
        """Parse the passes; a TileError if they, or options of theirs or the target, are wrong."""
        try:
            super().setup_pipeline()
            target = parse_spec(self.args.target)
            if target.parameters:
                factory = self.available_targets[target.name]
                cast(Callable[[], type[Target]], factory)().from_spec(target)
        except ValueError as e:
            raise TileError(f"-p '{self.args.passes}' -t '{self.args.target}': {e}") from e

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        """The input; `-` is the standard input."""
        if self.args.input_file == "-":
            self.args.input_file = None
        return super().get_input_stream()

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        """Split the input; a TileError if no frontend reads it."""
        try:
            return super().prepare_input()
        except ValueError as e:
            known = " or ".join(f"-f {name}" for name in self.available_frontends)
            raise TileError(f"{self.get_input_name()}: {e}; say what it is with {known}") from e

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        """Parse a piece of the input; with `--parsing-diagnostics` errors are output."""
        try:
            return super().parse_chunk(chunk, file_extension, start_offset)
        except UnicodeDecodeError as e:
            raise TileError(f"{self.get_input_name()} is not text in UTF-8") from e
        except RecursionError as e:
            raise TileError(f"{self.get_input_name()} is nested too deeply") from e
        except TileError as e:
            if not self.args.parsing_diagnostics:
                raise
            print(e)
            return None

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run the passes; with `--verify-diagnostics` errors are output."""
        try:
            super().apply_passes(prog)
        except TileError as e:
            raise PassFailedException(str(e.with_source(self.source))) from e

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """Print in the target's form; with `--verify-diagnostics` errors are output."""
        try:
            return super().output_resulting_program(prog)
        except TileError as e:
            raise PassFailedException(str(e.with_source(self.source))) from e


def describe(error: BaseException) -> str:
    """What to tell the user: a verifier's error comes with the IR that it is about."""
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


def main() -> None:
    """Run `tile-opt` on the command line's arguments; exit with 1 after an error."""
    try:
        TileOptMain().run()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has enough; Python would complain once more when it closes the output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (TileError, ParseError, ArgSpecParseError, DiagnosticException, OSError) as e:
        print(f"tile-opt: {describe(e)}", file=sys.stderr)
        sys.exit(1)
    except SystemExit as e:
        sys.exit(1 if e.code else 0)


if __name__ == "__main__":
    main()
