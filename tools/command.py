"""Shared parts of the commands: messages of errors, exit."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NoReturn

from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException

from tiledialect.errors import TileError

TRACEBACK = "TILE_TRACEBACK"
"""The variable that asks for the traceback of an internal error."""

_SHAPE = re.compile(r"[A-Za-z]\w*'?=(?!=)")
"""Begin of an input's type on the command line."""

INTERRUPTED = 130
"""The status after Ctrl-C, as shells have it."""


def run_command(name: str, command: Callable[[], int]) -> NoReturn:
    """Run a command and exit with its status; with 1 after an error, which is said in short."""
    _open_standard_files()
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning(name)
        status = _status(name, command)
    _abandon_output()
    sys.exit(status)


def _status(name: str, command: Callable[[], int]) -> int:
    try:
        try:
            status = command()
        except SystemExit as error:
            # argparse prints its own message and ends with status 2.
            status = 1 if error.code else 0
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        return 1
    except (TileError, DiagnosticException, ArgSpecParseError) as error:
        return _complain(name, error)
    except OSError as error:
        file = error.filename if error.filename is not None else "the standard output"
        return _complain(name, f"{file}: {error.strerror or error}")
    except MemoryError as error:
        return _complain(name, f"not enough memory: {error}".removesuffix(": "))
    except RecursionError:
        return _complain(name, "the program is nested too deeply")
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        (what, *_) = f"internal error: {type(error).__name__}: {error}".splitlines()
        return _complain(name, f"{what}; {TRACEBACK}=1 shows where")


class _ClosedOutput(io.TextIOBase):
    """The standard output where there is none."""

    def write(self, text: str, /) -> int:
        """Refuse."""
        raise TileError("the standard output is closed")


def _open_standard_files() -> None:
    """Let no file that is opened later take the number of a closed standard one."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = _ClosedOutput()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files may be unprintable on the terminal, or no text at all.
        sys.stdout.reconfigure(errors="backslashreplace")


def _abandon_output() -> None:
    """Discard the rest of the output; Python would complain once more when it closes it."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _complain(name: str, error: BaseException | str) -> int:
    error = error.error if isinstance(error, Located) else error
    placed = isinstance(error, TileError) and error.span is not None
    text = describe(error) if isinstance(error, BaseException) else error
    say(text if placed else f"{name}: {text}")
    return 1


def say(text: str) -> None:
    """Write a line on the standard error, after the output, if the stream is open."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            print(text, file=sys.stderr, flush=True)


def describe(error: BaseException, kind: str = "error") -> str:
    """Message of an error for the user, with the location in the form that editors know.

    A verifier's error after a pass comes with the IR that it is about.
    """
    if isinstance(error, TileError) and error.span is not None:
        s = error.span
        head = f"{s.filename}:{s.line}:{s.column}: {kind}: {error.message}"
        return f"{head}\n{s.excerpt()}".rstrip()
    return "\n".join([str(error), *getattr(error, "__notes__", ())]).rstrip()


def named(pairs: Iterable[str], option: str, known: Sequence[str] | None = None) -> dict[str, str]:
    """NAME=VALUE arguments as a dict, each name once and among the known ones."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name or not value:
            raise TileError(f"{option} {pair}: write {option} NAME=…")
        if known is not None and name not in known:
            raise TileError(f"{option} {pair}: there is no {name}; there is {', '.join(known)}")
        if name in found:
            raise TileError(f"{option} {pair}: {name} is given twice")
        found[name] = value
    return found


def each_named(arguments: Sequence[str]) -> list[str]:
    """The same arguments, with `--shapes` before each input of `--shapes A=f32 B=f32`."""
    given: list[str] = []
    are_types = False
    for argument in arguments:
        is_type = _SHAPE.match(argument) is not None
        if are_types and is_type and given[-1] != "--shapes":
            given.append("--shapes")
        are_types = argument == "--shapes" or (are_types and is_type)
        given.append(argument)
    return given


def constants(pairs: Iterable[str]) -> dict[str, int | float]:
    """The numbers of ``--constant NAME=NUMBER`` arguments."""
    return {name: _number(name, text) for name, text in named(pairs, "--constant").items()}


def _number(name: str, text: str) -> int | float:
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    raise TileError(f"--constant {name}={text}: {text} is no number")


class Located(DiagnosticException):
    """A TileError in the form of xDSL's driver, which handles its own kind alone."""

    def __init__(self, error: TileError):
        super().__init__(describe(error))
        self.error = error


def _show_warning(name: str) -> Callable[..., None]:
    """Warnings take one line, without the place in this program that they come from."""

    def show(message: Warning | str, *_: object) -> None:
        say(f"{name}: warning: {message}")

    return show
