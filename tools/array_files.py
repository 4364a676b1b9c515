"""Arrays from specifications on the command line, and into files."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt
from xdsl.dialects.builtin import bf16
from xdsl.ir import Attribute

from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES, NUMPY_TYPES, kind_of
from tiledialect.errors import TileError
from tiledialect.ir.signature import parse_type
from tiledialect.output_files import replacing

Array = npt.NDArray[Any]

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
SPECS = (
    "x.npy, x.npz:key, an image, random(2,9,9,5), random(2x9xu8), ones(3), zeros(2,3), "
    "[1,2,1], a number, or - for a .npy file from the standard input"
)
STANDARD_INPUT = "-"
"""The spec of an array from there."""
GIF_COLOURS = 256
"""Largest number of colours of a GIF."""
WRITTEN = ".npy, .npz or .png"


def read_array(spec: str, seed: int = 0) -> Array | list[Any] | int | float | bool:
    """Make the array of ``spec``; see docs/tile-run.md. Raises a TileError if that is impossible.

    ``seed`` is for a ``random(…)`` that does not give its own.
    """
    if (match := re.fullmatch(r"\s*random\((.*)\)\s*", spec)) is not None:
        return random_array(match[1], seed)
    if (match := re.fullmatch(r"\s*(ones|zeros)\((.*)\)\s*", spec)) is not None:
        return filled_array(match[1], match[2])
    if (number := _number(spec)) is not None:
        return number
    if is_standard_input(spec):
        path, suffix, key = "the standard input", ".npy", ""
    else:
        path, suffix, key = split_path(spec)
    try:
        if is_standard_input(spec):
            # A pipe cannot be sought in, as some formats of .npy files need.
            return read_npy(BytesIO(sys.stdin.buffer.read()))
        if suffix == ".npy":
            with open(path, "rb") as file:
                return read_npy(file)
        if suffix == ".npz":
            return _read_npz(path, key)
        if suffix in IMAGES:
            return _read_image(path)
    except TileError:
        raise
    except MemoryError as error:
        raise TileError(f"{path} is too large: {error}") from None
    except Exception as error:
        # The error of a decoder depends on the wrong byte.
        if isinstance(error, OSError) and error.strerror:
            raise TileError(f"cannot read {path}: {error.strerror}") from None
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TileError(f"{path} is not a sound {suffix} file: {reason}") from None
    raise TileError(f"'{spec}' is none of {SPECS}")


def is_standard_input(spec: str) -> bool:
    """Whether an array comes from the standard input."""
    return spec.strip() == STANDARD_INPUT


def split_path(text: str) -> tuple[str, str, str]:
    """The file that ``text`` names, its suffix in small letters, and the KEY of ``x.npz:KEY``."""
    match = re.fullmatch(r"(.*\.npz):(.+)", text, re.I | re.S)
    path, key = (match[1], match[2]) if match is not None else (text, "")
    return path, Path(path).suffix.lower(), key


def _number(spec: str) -> list[Any] | int | float | bool | None:
    try:
        value = ast.literal_eval(spec.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, int | float | list) else None


# -- random numbers --------------------------------------------------------------------------

DRAW: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "f": lambda rng, shape: rng.uniform(-1, 1, shape),
    "i": lambda rng, shape: rng.integers(-10, 11, shape),
    "u": lambda rng, shape: rng.integers(0, 11, shape),
    "b": lambda rng, shape: rng.integers(0, 2, shape),
}
"""Random numbers of each kind: reals from [-1, 1), integers up to 10."""


def random_array(text: str, seed: int = 0) -> Array:
    """The array for the ``text`` in ``random(text)``.

    That is sizes, then ``dtype=…``, or a type such as ``2x9xf32``; then perhaps ``seed=…``.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    options = dict(part.split("=", 1) for part in parts if "=" in part)
    sizes = [part for part in parts if "=" not in part]
    try:
        if len(sizes) == 1 and "dtype" not in options and not sizes[0].isdecimal():
            element_type, shape = _type(sizes[0])
            dtype = NUMPY_TYPES[element_type]
        else:
            shape = tuple(int(size) for size in sizes)
            dtype = _dtype(options.pop("dtype", "f32"))
        seed = int(options.pop("seed", seed))
        if options or min((seed, *shape)) < 0:
            raise ValueError
    except (ValueError, TypeError, TileError):
        raise TileError(
            f"random({text}) is not sizes, and perhaps dtype=f32 and seed=1; or 2x9xf32"
        ) from None
    try:
        return DRAW[kind_of(dtype)](np.random.default_rng(seed), shape).astype(dtype)
    except (MemoryError, ValueError) as error:
        raise TileError(f"random({text}) is too large: {error}") from None


def filled_array(function: str, text: str) -> Array:
    """The array for ``ones(text)`` or ``zeros(text)``: sizes, as of ``random``, or a type."""
    try:
        return np.full_like(random_array(text), int(function == "ones"))
    except TileError as error:
        raise TileError(error.message.replace("random(", f"{function}(", 1)) from None


def _type(text: str) -> tuple[Attribute, tuple[int, ...]]:
    t = parse_type(text)
    return t.element_type, t.get_shape()


def _dtype(text: str) -> np.dtype[Any]:
    """An element type by its name in the IR (``ui8`` or ``u8``) or in NumPy (``uint8``).

    NumPy's short names are none: its ``u8`` has 8 bytes.
    """
    for dtype in ELEMENT_TYPES:
        if dtype.name == text:
            return dtype
    element_type, shape = _type(text)
    if shape:
        raise ValueError
    return NUMPY_TYPES[element_type]


# -- files -----------------------------------------------------------------------------------


def read_npy(file: IO[bytes]) -> Array:
    """The array in a file in NumPy's format; any exception if it is damaged."""
    array = npy.read_array(file, allow_pickle=False)
    # The format has no name for bfloat16: it is written as two bytes of anything.
    return array.view(NUMPY_TYPES[bf16]) if array.dtype == np.dtype("V2") else array


def _read_npz(path: str, key: str) -> Array:
    with ZipFile(path) as archive:
        members = {name.removesuffix(".npy"): name for name in archive.namelist()}
        if not key and len(members) == 1:
            (key,) = members
        if key not in members:
            wanted = f"no array {key}" if key else "several arrays" if members else "no arrays"
            raise TileError(f"{path} has {wanted}; write {path}:KEY, {', '.join(members)}")
        with archive.open(members[key]) as file:
            return read_npy(file)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise TileError("images need Pillow: pip install pillow") from None
    return Image


GREY = ("1", "L", "LA", "La")
WIDE = {"F": np.float32, "I": np.int32}
"""Pillow's modes of one channel of more than 8 bits; the modes of 16 bits, I;16…, are besides."""


def _read_image(path: str) -> Array:
    """Height, width, and 3 channels if there is colour; u8 unless the file has wider greys."""
    image_module = _pillow()
    try:
        with image_module.open(path) as image:
            if getattr(image, "is_animated", False):
                warnings.warn(
                    f"{path} holds {image.n_frames} images; the first is read", stacklevel=2
                )
            if any(";16" in str(tile[-1]) for tile in image.tile) and image.mode == "RGB":
                warnings.warn(f"{path} has 16 bits a channel, of which 8 are read", stacklevel=2)
            if image.mode.startswith("I;16"):
                return np.asarray(image).astype(np.uint16)
            if image.mode in WIDE:
                return np.asarray(image).astype(WIDE[image.mode])
            return np.array(image.convert("L" if image.mode in GREY else "RGB"))
    except image_module.UnidentifiedImageError:
        raise TileError(f"{path} is not an image") from None


@dataclass(frozen=True)
class Destination:
    """Destination of an output: a file, its kind, and the name in a ``.npz``."""

    path: str
    suffix: str
    key: str

    @property
    def file(self) -> str:
        """The file, whatever it is called."""
        return os.path.realpath(self.path)


def destinations(paths: Mapping[str, str]) -> dict[str, Destination]:
    """Destinations of named outputs; a TileError if one is impossible, or if two outputs have
    one."""
    found: dict[str, Destination] = {}
    for name, text in paths.items():
        path, suffix, key = split_path(text)
        if suffix not in (".npy", ".npz", *IMAGES):
            raise TileError(f"the name of {text} must end in {WRITTEN}")
        if not os.path.isdir(folder := os.path.dirname(os.path.realpath(path))):
            raise TileError(f"cannot write {path}: there is no folder {folder}")
        this = Destination(path, suffix, (key or name) if suffix == ".npz" else "")
        for other, there in found.items():
            if this.file == there.file and (this.key == there.key or not (this.key and there.key)):
                raise TileError(f"{other} and {name} would both be written to {text}")
        found[name] = this
    return found


def write_arrays(arrays: Mapping[str, Array], paths: Mapping[str, str]) -> list[str]:
    """Write named arrays to their paths, all or none; gives remarks for the user.

    Several go to one ``.npz`` file under their names, or under the key in ``x.npz:key``.
    """
    files: dict[str, dict[str, Destination]] = {}
    for name, destination in destinations(paths).items():
        files.setdefault(destination.file, {})[name] = destination
    remarks: list[str] = []
    with ExitStack() as opened:
        for members in files.values():
            (name, first), *_ = members.items()
            file = opened.enter_context(replacing(first.path))
            if first.suffix == ".npy":
                write_npy(arrays[name], file)
            elif first.suffix == ".npz":
                _write_npz({d.key: arrays[n] for n, d in members.items()}, file)
            else:
                remarks += _write_image(name, arrays[name], first, file)
    return remarks


def write_npy(array: Array, file: IO[bytes]) -> None:
    """Write an array in NumPy's format."""
    npy.write_array(file, array, allow_pickle=False)


def _write_npz(arrays: Mapping[str, Array], file: IO[bytes]) -> None:
    """As ``np.savez``, which cannot write arrays called ``file``."""
    with ZipFile(file, "w") as archive:
        for key, array in arrays.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                write_npy(array, member)


def _write_image(name: str, array: Array, there: Destination, file: IO[bytes]) -> list[str]:
    """Write grey (height, width[, 1]) or colour (height, width, 3), cut to 0..255; remarks."""
    flat = array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array
    if not flat.size or (flat.ndim != 2 and (flat.ndim != 3 or flat.shape[2] != 3)):
        raise TileError(f"{name} of shape {list(array.shape)} is no image of grey or 3 channels")
    scaled = flat * 255 if flat.dtype == bool else flat
    with np.errstate(invalid="ignore"):
        image = np.clip(np.nan_to_num(np.rint(scaled.astype(np.float64))), 0, 255)
    _encode(image.astype(np.uint8), there, file)
    remarks: list[str] = []
    if there.suffix == ".gif" and flat.ndim == 3:
        colours = len(np.unique(image.reshape(-1, 3), axis=0))
        if colours > GIF_COLOURS:
            lost = f"{name} has {colours} colours, and a .gif holds {GIF_COLOURS}"
            remarks.append(f"{there.path}: {lost}: others are near them")
    low, high = scaled.min(), scaled.max()
    if low < 0 or high > 255:
        remarks.append(f"{there.path}: {name} has values from {low:g} to {high:g}, cut to 0 to 255")
    return remarks


def _encode(pixels: Array, there: Destination, file: IO[bytes]) -> None:
    image_module = _pillow()
    try:
        form = image_module.registered_extensions()[there.suffix]
        image_module.fromarray(pixels).save(file, format=form)
    except Exception as error:
        # Errors of encoders: the format cannot hold the image, or the encoder is missing.
        if isinstance(error, OSError) and error.strerror:
            raise
        raise TileError(f"cannot write {there.path}: {error}") from None
