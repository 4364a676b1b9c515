"""Files that take the place of old ones only when all of them is written."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tiledialect.errors import TileError


@contextmanager
def replacing(path: str | Path) -> Generator[IO[bytes]]:
    """A file to write, which becomes ``path`` at the end; a TileError if that cannot be.

    Whatever goes wrong, also in the block under it, the file at ``path`` stays as it was. Symbolic
    links are followed; a device or a pipe is written directly.
    """
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as file:
                yield file
            return
        # Beside it, as files cannot be renamed across file systems; short, as names are limited.
        draft = os.path.join(os.path.dirname(target), f".tile-{secrets.token_hex(8)}")
        try:
            with open(draft, "xb") as file:
                yield file
            if os.path.exists(target):
                os.chmod(draft, os.stat(target).st_mode & 0o7777)
            os.replace(draft, target)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft)
    except OSError as error:
        raise TileError(f"cannot write {path}: {error.strerror or error}") from None
