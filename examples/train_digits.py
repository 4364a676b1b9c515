"""Trains a convolutional network to read handwritten digits, with gradients by the compiler.

The network is digits.tile, a forward pass and nothing else; adam.tile improves its weights, which
stay on the device. The digits are scikit-learn's 1797 pictures of 8 x 8 points, of which every
fifth is held out to see how well the network reads digits that it was not trained on. Writes the
loss curve to demo-output/digits.png; ends with status 1 if too few of those are read rightly.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl.array as cla
from PIL import Image, ImageDraw
from sklearn.datasets import load_digits

import tiledialect as td

Array = npt.NDArray[Any]
Digits = tuple[Array, Array]
"""Pictures, and the digit that each shows."""

FOLDER = Path(__file__).parent
OUTPUT = Path("demo-output")
BATCH = 64
RATE = 0.006
"""Adam's learning rate at first; it goes down to 0 along a cosine."""
GOAL, QUICK_GOAL = 0.97, 0.90
"""The share of held-out digits that must be read rightly."""
EPOCHS, QUICK_EPOCHS = 25, 4

WEIGHTS: dict[str, tuple[int, ...]] = {
    "K1": (3, 3, 8),
    "B1": (8,),
    "K2": (3, 3, 8, 16),
    "B2": (16,),
    "K3": (3, 3, 16, 64),
    "B3": (64,),
    "D": (2, 2, 64, 10),
    "B4": (10,),
}


def load_split(random: np.random.Generator) -> tuple[Digits, Digits]:
    """The digits to train on and those held out, in random order."""
    data: Any = load_digits()
    pictures = (data.images / 16).astype(np.float32)
    labels = data.target.astype(np.int32)
    order = random.permutation(len(labels))
    held_out = len(labels) // 5
    parts = order[held_out:], order[:held_out]
    train, test = ((pictures[part], labels[part]) for part in parts)
    return train, test


def initial(shape: Sequence[int], random: np.random.Generator) -> Array:
    """Biases of 0; masks and matrices such that the values keep their size (He et al., 2015)."""
    if len(shape) == 1:
        return np.zeros(shape, np.float32)
    deviation = np.sqrt(2 / np.prod(shape[:-1]))
    return random.normal(0, deviation, shape).astype(np.float32)


@dataclass
class Weight:
    """A tensor of weights on the device, with what Adam remembers about it."""

    value: Any
    mean: Any
    square: Any


class Trainer:
    """A network in training."""

    def __init__(self, device: str | None, random: np.random.Generator):
        self.network = td.compile(FOLDER / "digits.tile", device=device)
        self.gradient = self.network.gradient(wrt=tuple(WEIGHTS), with_outputs=True)
        self.adam = td.compile(FOLDER / "adam.tile", device=device)
        self.queue = td.queue(self.network.device)
        self.weights = {
            name: Weight(*map(self.put, (start, np.zeros_like(start), np.zeros_like(start))))
            for name, shape in WEIGHTS.items()
            for start in [initial(shape, random)]
        }
        self.cotangents = (self.put(np.float32(1)), self.put(np.int32(0)))
        self.steps = 0

    def put(self, array: Any) -> Any:
        """An array, copied to the device."""
        return cla.to_device(self.queue, np.array(array))

    @property
    def values(self) -> list[Any]:
        """The weights in the order of the network's inputs."""
        return [w.value for w in self.weights.values()]

    def step(self, batch: Digits, rate: float) -> tuple[float, int]:
        """Improve the weights a little; the loss, and how many digits were read rightly."""
        loss, hits, *slopes = self.gradient(*batch, *self.values, *self.cotangents)
        self.steps += 1
        rate *= np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        on_device = self.put(np.float32(rate))
        for weight, slope in zip(self.weights.values(), slopes, strict=True):
            weight.value, weight.mean, weight.square = self.adam(
                weight.value, slope, weight.mean, weight.square, on_device
            )
        return float(loss.get()), int(hits.get())

    def accuracy(self, digits: Digits) -> float:
        """The share of digits that are read rightly."""
        _, hits = self.network(*digits, *self.values)
        return int(hits.get()) / len(digits[1])


def batches(digits: Digits, random: np.random.Generator) -> Iterator[Digits]:
    """The digits in random order, as many whole batches as there are."""
    pictures, labels = digits
    order = random.permutation(len(labels))
    for start in range(0, len(order) - BATCH + 1, BATCH):
        chosen = order[start : start + BATCH]
        yield pictures[chosen], labels[chosen]


def train(trainer: Trainer, digits: Digits, epochs: int, random: np.random.Generator) -> Array:
    """Train; the loss at every step."""
    count = epochs * (len(digits[1]) // BATCH)
    losses: list[float] = []
    for epoch in range(1, epochs + 1):
        right = seen = 0
        for batch in batches(digits, random):
            rate = RATE * (1 + np.cos(np.pi * len(losses) / count)) / 2
            loss, hits = trainer.step(batch, rate)
            losses.append(loss)
            right, seen = right + hits, seen + BATCH
            show_progress(epoch, epochs, len(losses) / count, loss, right / seen)
        if not sys.stdout.isatty():
            print(progress(epoch, epochs, len(losses) / count, losses[-1], right / seen))
    if sys.stdout.isatty():
        print()
    return np.array(losses)


def progress(epoch: int, epochs: int, done: float, loss: float, accuracy: float) -> str:
    """A line that says how far the training is."""
    bar = ("#" * int(24 * done)).ljust(24, ".")
    return f"epoch {epoch:2}/{epochs} [{bar}] loss {loss:7.4f}, {accuracy:6.1%} read rightly"


def show_progress(epoch: int, epochs: int, done: float, loss: float, accuracy: float) -> None:
    """Renew the line on a terminal; files get a line an epoch."""
    if sys.stdout.isatty():
        print("\r" + progress(epoch, epochs, done, loss, accuracy), end="", flush=True)


def draw_curve(losses: Array) -> Image.Image:
    """The loss over the steps, on a logarithmic scale with a line at each power of 10."""
    width, height, margin = 640, 360, 48
    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    logs = np.log10(np.maximum(losses, 1e-6))
    low, high = np.floor(logs.min()), max(np.ceil(logs.max()), np.floor(logs.min()) + 1)

    def place(step: float, log: float) -> tuple[float, float]:
        x = margin + (width - 2 * margin) * step / max(1, len(losses) - 1)
        return x, height - margin - (height - 2 * margin) * (log - low) / (high - low)

    for power in range(int(low), int(high) + 1):
        draw.line([place(0, power), place(len(losses) - 1, power)], fill="#d0d0d0")
        draw.text((6, place(0, power)[1] - 6), f"{10.0**power:g}", fill="#606060")
    draw.text(
        (margin, height - margin + 8), f"cross-entropy at {len(losses)} steps", fill="#606060"
    )
    draw.line([place(k, log) for k, log in enumerate(logs)], fill="#a8c8f0")
    window = min(25, len(logs))
    smooth = np.convolve(logs, np.ones(window) / window, mode="valid")
    draw.line([place(k + window / 2, log) for k, log in enumerate(smooth)], "#1050a0", 2)
    return picture


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="Train a network to read handwritten digits.")
    parser.add_argument("--epochs", type=int, help=f"rounds over the digits ({EPOCHS})")
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_EPOCHS} rounds, to a lower goal"
    )
    parser.add_argument("--device", help="an OpenCL device, such as intel")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    options = parser.parse_args(given)
    if options.epochs is None:
        options.epochs = QUICK_EPOCHS if options.quick else EPOCHS
    if options.epochs < 1:
        parser.error("there must be at least one epoch")
    return options


def main(given: Sequence[str] | None = None) -> int:
    """Train and test; 1 if the goal is missed."""
    options = arguments(given)
    goal = QUICK_GOAL if options.quick else GOAL
    random = np.random.default_rng(options.seed)
    digits, held_out = load_split(random)

    start = time.perf_counter()
    trainer = Trainer(options.device, random)
    print(f"digits.tile: {len(digits[1])} digits of 8 x 8 points on {trainer.network.device}")
    losses = train(trainer, digits, options.epochs, random)
    accuracy = trainer.accuracy(held_out)
    seconds = time.perf_counter() - start

    OUTPUT.mkdir(exist_ok=True)
    draw_curve(losses).save(OUTPUT / "digits.png")
    print(f"wrote {OUTPUT}/digits.png; compiled and trained in {seconds:.0f} s")
    print(
        f"of {len(held_out[1])} digits that were held out, {accuracy:.2%} are read rightly "
        f"(goal: {goal:.0%})"
    )
    return 0 if accuracy >= goal else 1


if __name__ == "__main__":
    sys.exit(main())
