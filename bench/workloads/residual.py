"""A residual network (He et al., 2015), written in a loop as Tile text, and by PyTorch.

Bottleneck blocks, batch normalization in training, softmax and cross-entropy; 50 layers make some
160 contractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

STAGES = {14: (1, 1, 1, 1), 26: (2, 2, 2, 2), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}
"""The residual blocks in each of the four stages, by the number of layers."""
WIDTH, IMAGES, SIZE, CLASSES = 4, 2, 32, 10
"""Channels, images and points: small, as the time to compile does not depend on them."""


class ResidualNetwork:
    """A residual network as Tile text, with the shapes of its inputs."""

    def __init__(
        self,
        blocks: tuple[int, ...],
        width: int = WIDTH,
        images: int = IMAGES,
        size: int = SIZE,
    ):
        self.inputs: dict[str, str] = {}
        self.header: list[str] = []
        self.body: list[str] = []
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.layers = self.contractions = 0
        self.flops = 0.0
        self.images = images
        self.input("X", images, size, size, 3)
        self.inputs["L"] = f"{images}xi32"
        self.shapes["L"] = (images,)
        self.header.append("L[X_0]")
        x = self.layer("X", 3, width, size, 3)
        x, channels = self.relu(x), width
        for stage, count in enumerate(blocks):
            for k in range(count):
                stride = 2 if stage and not k else 1
                size //= stride
                x = self.block(x, channels, width << stage, size, stride)
                channels = 4 * (width << stage)
        self.classify(x, channels, size)
        self.text = (
            f"function residual({', '.join(self.header)}) -> (LOSS) {{\n"
            + "".join(f"  {statement};\n" for statement in self.body)
            + "}\n"
        )

    @property
    def weights(self) -> tuple[str, ...]:
        return tuple(name for name in self.inputs if name not in "XL")

    def input(self, name: str, *shape: int) -> str:
        self.inputs[name] = "x".join(map(str, shape)) + "xf32"
        self.shapes[name] = shape
        self.header.append(f"{name}[{', '.join(f'{name}_{k}' for k in range(len(shape)))}]")
        return name

    def write(self, target: str, index: str, value: str) -> str:
        """A contraction if there is an index, else an elementwise statement."""
        self.contractions += bool(index)
        self.body.append(f"{target}{index} = {value}")
        return target

    def layer(self, x: str, before: int, after: int, size: int, mask: int, stride: int = 1) -> str:
        """A convolution to `size` x `size` points, and its normalization."""
        k = self.layers = self.layers + 1
        self.flops += 2.0 * self.images * size * size * mask * mask * before * after
        weights, edge = self.input(f"K{k}", mask, mask, before, after), mask // 2
        y, x_ = (f"{stride} * {a} + {b} - {edge}" for a, b in ("yj", "xi"))
        sizes = f"X_0, {size}, {size}, {weights}_3"
        c = self.write(
            f"C{k}", f"[n, y, x, c: {sizes}]", f"+({x}[n, {y}, {x_}, b] * {weights}[j, i, b, c])"
        )
        scale, shift = self.input(f"S{k}", after), self.input(f"T{k}", after)
        total = self.write(f"M{k}", f"[c: {scale}_0]", f"+({c}[n, y, x, c])")
        d = self.write(f"D{k}", "", f"{c} - {total} / (X_0 * {size * size})")
        q = self.write(f"Q{k}", "", f"{d} * {d}")
        v = self.write(f"V{k}", f"[c: {scale}_0]", f"+({q}[n, y, x, c])")
        v = self.write(f"W{k}", "", f"sqrt({v} / (X_0 * {size * size}) + 0.00001)")
        return self.write(f"N{k}", "", f"{d} / {v} * {scale} + {shift}")

    def relu(self, x: str) -> str:
        return self.write(f"R{x}", "", f"relu({x})")

    def block(self, x: str, before: int, width: int, size: int, stride: int) -> str:
        """Three layers, whose result is added to their input."""
        y = self.relu(self.layer(x, before, width, size, 1, stride))
        y = self.relu(self.layer(y, width, width, size, 3))
        y = self.layer(y, width, 4 * width, size, 1)
        if stride > 1 or before != 4 * width:
            # The addition does not count as a layer, though it is one to the compiler.
            x = self.layer(x, before, 4 * width, size, 1, stride)
        return self.relu(self.write(f"A{self.layers}", "", f"{x} + {y}"))

    def classify(self, x: str, channels: int, size: int) -> None:
        """The mean over each image, a dense layer, softmax and cross-entropy."""
        weights, bias = self.input("K", channels, CLASSES), self.input("B", CLASSES)
        self.write("P", f"[n, c: X_0, {weights}_0]", f"+({x}[n, y, x, c])")
        self.write("F", f"[n, k: X_0, {weights}_1]", f"+(P[n, c] * {weights}[c, k])")
        self.write("Z", "", f"F / {size * size} + {bias}")
        self.write("G", "[n, 0: X_0, 1]", ">(Z[n, k])")
        self.write("E", "", "exp(Z - G)")
        self.write("H", "[n, 0: X_0, 1]", "+(E[n, k])")
        self.write("O", "", "Z - G - log(H)")
        self.write("I", "", f"index({bias}, 0)")
        self.write("U", "[]", "+(I[k] == L[n] ? O[n, k])")
        self.write("LOSS", "", "-U / X_0")


def torch_network(blocks: tuple[int, ...]) -> Callable[..., Any]:
    """The loss by PyTorch, for the inputs in their order."""

    def loss(images: Any, labels: Any, *weights: Any) -> Any:
        from torch.nn.functional import cross_entropy

        rest = iter(weights)
        x = _layer(images.permute(0, 3, 1, 2), rest).relu()
        for stage, count in enumerate(blocks):
            for k in range(count):
                x = _block(x, rest, 2 if stage and not k else 1)
        dense, bias = rest
        return cross_entropy(x.mean((2, 3)) @ dense + bias, labels)

    return loss


def _layer(x: Any, weights: Iterator[Any], stride: int = 1) -> Any:
    import torch
    from torch.nn.functional import batch_norm, conv2d

    mask, scale, shift = (next(weights) for _ in range(3))
    kernel = mask.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    c = conv2d(x, kernel, stride=stride, padding=mask.shape[0] // 2)
    return batch_norm(c, None, None, scale, shift, training=True)


def _block(x: Any, weights: Iterator[Any], stride: int) -> Any:
    y = _layer(x, weights, stride).relu()
    y = _layer(y, weights).relu()
    y = _layer(y, weights)
    if stride > 1 or x.shape[1] != y.shape[1]:
        x = _layer(x, weights, stride)
    return (x + y).relu()
