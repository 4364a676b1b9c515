"""Finds the edges in a photograph with a Tile program, and checks the result.

Writes the photograph and its edges to demo-output/. Runs on the device that TILE_DEVICE names, else
on the fastest that works.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from sklearn.datasets import load_sample_image

import tiledialect as td
from tiledialect.api.reference import run_function
from tiledialect.language.to_ir import load

Array = npt.NDArray[Any]

PROGRAM = Path(__file__).with_name("edges.tile")
OUTPUT = Path("demo-output")
LUMINANCE = np.array([0.2126, 0.7152, 0.0722], np.float32)
"""The shares of red, green and blue in brightness (ITU-R BT.709)."""
SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
TOLERANCE = 1e-5
"""Of the largest value; rounding in float32 stays well below."""


def photograph() -> Array:
    """A photograph that scikit-learn ships: height, width, 3 channels, u8."""
    return np.asarray(load_sample_image("china.jpg"))


def grey(edges: Array) -> Image.Image:
    """The picture with the steepest edge white."""
    return Image.fromarray((edges * (255 / edges.max())).astype(np.uint8))


def main() -> int:
    """Run the program on a device and by the reference semantics; 1 if the results differ."""
    picture = photograph()
    edges = td.compile(PROGRAM)
    print(f"{PROGRAM.name}: a {picture.shape[1]} x {picture.shape[0]} photograph on {edges.device}")
    result = timed("compiled and ran", lambda: edges(picture, LUMINANCE, SOBEL))
    result = timed("ran again", lambda: edges(picture, LUMINANCE, SOBEL))

    OUTPUT.mkdir(exist_ok=True)
    Image.fromarray(picture).save(OUTPUT / "photograph.png")
    grey(result).save(OUTPUT / "edges.png")
    print(f"wrote {OUTPUT}/photograph.png and {OUTPUT}/edges.png")

    module = load(PROGRAM.read_text(), filename=str(PROGRAM))
    (expected,) = run_function(module, None, [picture, LUMINANCE, SOBEL])
    difference = float(np.abs(result - expected).max() / expected.max())
    matches = result.shape == expected.shape and difference <= TOLERANCE
    verdict = "matches" if matches else "DOES NOT match"
    print(
        f"the result {verdict} the reference semantics: the largest difference is "
        f"{difference:.1e} of the largest value (tolerance {TOLERANCE:.0e})"
    )
    return 0 if matches else 1


def timed(what: str, run: Any) -> Array:
    """Print the time of ``run``, and give its result."""
    start = time.perf_counter()
    result = run()
    print(f"{what} in {(time.perf_counter() - start) * 1000:.0f} ms")
    return result


if __name__ == "__main__":
    sys.exit(main())
