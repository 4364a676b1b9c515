"""Files kept from one process to the next, in a folder of the user's.

An unreadable file counts as missing. Where no file can be written, none is kept.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

MAGIC = b"tiledialect-2 "
LARGEST = 1 << 30
"""Files of more bytes are none of ours."""


def folder() -> Path:
    """Folder of kept files: ``TILE_CACHE_DIR``, else the user's cache folder."""
    if chosen := os.environ.get("TILE_CACHE_DIR"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("tiledialect"))


def read(path: Path) -> bytes | None:
    """Read a regular file; None if there is none that can be read."""
    try:
        status = path.stat()
        # Reading a pipe would wait for ever.
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return None
        return path.read_bytes()
    except (OSError, MemoryError):
        return None


def write(path: Path, data: bytes) -> bool:
    """Keep ``data`` in a file, if it can be written; is it?"""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            # Readers see the old file or the new one, never a half.
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
            return False
    except OSError:
        return False
    return True


def read_sealed(path: Path) -> bytes | None:
    """Read the content that ``write_sealed`` gave a file of this name; None if the file was
    altered."""
    return unsealed(read(path) or b"", path.name)


def write_sealed(path: Path, data: bytes) -> None:
    """Keep ``data`` in a file behind a line with its checksum, if the file can be written."""
    # A file that was renamed is another's, and not sound.
    write(path, sealed(data, path.name))


def sealed(data: bytes, name: str) -> bytes:
    """Data behind a line with a checksum of them and of a name."""
    return MAGIC + hashlib.sha256(name.encode() + data).hexdigest().encode() + b"\n" + data


def unsealed(whole: bytes, name: str) -> bytes | None:
    """The data that ``sealed`` was given with a name; None if they were altered."""
    _, _, data = whole.partition(b"\n")
    return data if whole == sealed(data, name) else None


def writable(path: Path) -> bool:
    """Can files be made in this folder, which is made if need be?"""
    with suppress(OSError):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as file:
            file.write(b"x")
        return True
    return False
