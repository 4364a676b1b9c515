"""Arrays from what a command line says, and into files."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from tiledialect.errors import TileError

Array = npt.NDArray[Any]

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
SPECS = "x.npy, x.npz:key, an image, random(2,9,9,5) or a number"


def read_array(spec: str, seed: int = 0) -> Array | int | float | bool:
    """What ``spec`` says; see docs/tile-run.md. Raises a TileError if that cannot be had.

    ``seed`` is for a ``random(…)`` that does not give its own.
    """
    if (match := re.fullmatch(r"\s*random\((.*)\)\s*", spec)) is not None:
        return random_array(match[1], seed)
    if (number := _number(spec)) is not None:
        return number
    path, key = spec, ""
    if (match := re.fullmatch(r"(.*\.npz):(.+)", spec)) is not None:
        path, key = match[1], match[2]
    suffix = Path(path).suffix.lower()
    try:
        if suffix == ".npy":
            return _read_npy(path)
        if suffix == ".npz":
            return _read_npz(path, key)
        if suffix in IMAGES:
            return _read_image(path)
    except OSError as error:
        raise TileError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, BadZipFile, EOFError) as error:
        raise TileError(f"{path} is not a sound {suffix} file: {error}") from None
    raise TileError(f"'{spec}' is none of {SPECS}")


def _number(spec: str) -> int | float | bool | None:
    try:
        value = ast.literal_eval(spec.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, int | float) else None


# -- random numbers --------------------------------------------------------------------------

DRAW: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "f": lambda rng, shape: rng.uniform(-1, 1, shape),
    "i": lambda rng, shape: rng.integers(-10, 11, shape),
    "u": lambda rng, shape: rng.integers(0, 11, shape),
    "b": lambda rng, shape: rng.integers(0, 2, shape),
}
"""How numbers of each kind are drawn: reals from [-1, 1), integers up to 10."""


def random_array(text: str, seed: int = 0) -> Array:
    """The array for the ``text`` in ``random(text)``: sizes, then ``dtype=…`` and ``seed=…``."""
    from tiledialect.lowering.runtime.arrays import DTYPES

    parts = [part.strip() for part in text.split(",") if part.strip()]
    options = dict(part.split("=", 1) for part in parts if "=" in part)
    sizes = [part for part in parts if "=" not in part]
    try:
        shape = tuple(int(size) for size in sizes)
        dtype = np.dtype(options.pop("dtype", "float32"))
        seed = int(options.pop("seed", seed))
        if options or dtype not in DTYPES or min((seed, *shape)) < 0:
            raise ValueError
    except (ValueError, TypeError):
        raise TileError(
            f"random({text}) is not sizes, and perhaps dtype=float32 and seed=1"
        ) from None
    try:
        return DRAW[dtype.kind](np.random.default_rng(seed), shape).astype(dtype)
    except (MemoryError, ValueError) as error:
        raise TileError(f"random({text}) is too large: {error}") from None


# -- files -----------------------------------------------------------------------------------


def _read_npy(path: str) -> Array:
    array = np.load(path, allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise ValueError("it holds several arrays")
    return array


def _read_npz(path: str, key: str) -> Array:
    archive = np.load(path, allow_pickle=False)
    if isinstance(archive, np.ndarray):
        raise ValueError("it holds no named arrays")
    with archive:
        if not key and len(archive.files) == 1:
            key = archive.files[0]
        if key not in archive.files:
            wanted = f"no array {key}" if key else "several arrays"
            raise TileError(f"{path} has {wanted}; write {path}:KEY, {', '.join(archive.files)}")
        return archive[key]


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise TileError("images need Pillow: pip install pillow") from None
    return Image


def _read_image(path: str) -> Array:
    """Height, width, and 3 channels if there is colour; u8 (u16 for 16 bits of grey)."""
    image_module = _pillow()
    try:
        with image_module.open(path) as image:
            if image.mode.startswith("I;16"):
                return np.asarray(image).astype(np.uint16)
            grey = image.mode in ("1", "L", "LA")
            return np.array(image.convert("L" if grey else "RGB"))
    except image_module.UnidentifiedImageError:
        raise TileError(f"{path} is not an image") from None


def writer_of(path: str) -> str:
    """The suffix that decides how an output is written; a TileError if there is no such way."""
    suffix = Path(re.sub(r"(\.npz):.+$", r"\1", path)).suffix.lower()
    if suffix not in (".npy", ".npz", *IMAGES):
        raise TileError(f"cannot tell from its name what to write to {path}: .npy, .npz or .png")
    return suffix


def write_arrays(arrays: Mapping[str, Array], paths: Mapping[str, str]) -> list[str]:
    """Write named arrays to their paths; gives remarks for the user.

    Several go to one ``.npz`` file under their names, or under the key in ``x.npz:key``.
    """
    archives: dict[str, dict[str, Array]] = {}
    remarks: list[str] = []
    for name, path in paths.items():
        array, suffix = arrays[name], writer_of(path)
        try:
            if suffix == ".npy":
                np.save(path, array)
            elif suffix == ".npz":
                file, _, key = path.partition(".npz:")
                archives.setdefault(file if not key else f"{file}.npz", {})[key or name] = array
            else:
                remarks += _write_image(name, array, path)
        except OSError as error:
            raise _cannot_write(path, error) from None
    for path, members in archives.items():
        try:
            with open(path, "wb") as file:
                np.savez(file, allow_pickle=False, **members)
        except OSError as error:
            raise _cannot_write(path, error) from None
    return remarks


def _cannot_write(path: str, error: OSError) -> TileError:
    return TileError(f"cannot write {path}: {error.strerror or error}")


def _write_image(name: str, array: Array, path: str) -> list[str]:
    """Write grey (height, width[, 1]) or colour (height, width, 3); cut to 0..255."""
    image_module = _pillow()
    flat = array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array
    if not flat.size or (flat.ndim != 2 and (flat.ndim != 3 or flat.shape[2] != 3)):
        raise TileError(f"{name} of shape {list(array.shape)} is no image of grey or 3 channels")
    scaled = flat * 255 if flat.dtype == bool else flat
    with np.errstate(invalid="ignore"):
        picture = np.clip(np.nan_to_num(np.rint(scaled.astype(np.float64))), 0, 255)
    image_module.fromarray(picture.astype(np.uint8)).save(path)
    low, high = scaled.min(), scaled.max()
    if low >= 0 and high <= 255:
        return []
    return [f"{path}: {name} has values from {low:g} to {high:g}, cut to 0 to 255"]
