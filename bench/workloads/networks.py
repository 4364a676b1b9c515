"""Networks: a digit classifier, and a residual network of 50 layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from frame import Problem, Scale, Shapes, Workload, problem

from workloads.residual import STAGES, ResidualNetwork, torch_network

DIGITS = (Path(__file__).parents[2] / "examples" / "digits.tile").read_text()
WEIGHTS = ("K1", "B1", "K2", "B2", "K3", "B3", "D", "B4")


def _digits(x: Any, labels: Any, *weights: Any) -> Any:
    from torch.nn.functional import conv2d, cross_entropy, max_pool2d

    k1, b1, k2, b2, k3, b3, dense, b4 = weights
    mask = (3, 2, 0, 1)
    a = conv2d(x[:, None], k1.permute(2, 0, 1)[:, None], b1, padding=1).relu()
    a = conv2d(a, k2.permute(mask), b2, padding=2, dilation=2).relu()
    a = conv2d(max_pool2d(a, 2), k3.permute(mask), b3, stride=2, padding=1).relu()
    z = a.permute(0, 2, 3, 1).flatten(1) @ dense.flatten(0, 2) + b4
    return cross_entropy(z, labels)


def _digits_flops(shapes: Shapes) -> float:
    n, h, w = shapes["X"]
    masks = [shapes[name] for name in ("K1", "K2", "K3")]
    points = [n * h * w, n * h * w, n * h * w // 16]
    total = 0.0
    for (rows, columns, *channels), count in zip(masks, points, strict=True):
        work = 2.0 * count * rows * columns
        for c in channels:
            work *= c
        total += work
    j, i, c, classes = shapes["D"]
    return total + 2.0 * n * j * i * c * classes


def _digits_at(n: int, side: int, *channels: int) -> Problem:
    c1, c2, c3 = channels
    sizes = {"N": n, "H": side, "W": side, "R": 3, "S": 3, "C1": c1, "C2": c2, "C3": c3}
    # Comments may have brackets, too.
    text = "\n".join(line for line in DIGITS.splitlines() if not line.lstrip().startswith("//"))
    return problem(text, {**sizes, "J": side // 4, "I": side // 4, "CLASSES": 10})


BLOCKS: dict[Scale, tuple[int, ...]] = {"test": (1,), "cpu": STAGES[50], "gpu": STAGES[50]}
NETWORKS: dict[Scale, ResidualNetwork] = {
    "test": ResidualNetwork(BLOCKS["test"], 2, 2, 4),
    "cpu": ResidualNetwork(BLOCKS["cpu"], 64, 2, 56),
    "gpu": ResidualNetwork(BLOCKS["gpu"], 64, 32, 56),
}


def _residual_flops(shapes: Shapes) -> float:
    return next(n.flops for n in NETWORKS.values() if n.shapes == shapes)


def _torch_residual(images: Any, labels: Any, *weights: Any) -> Any:
    # Three tensors for each layer, and two of the last: few in the network for tests.
    blocks = BLOCKS["test"] if len(weights) < 20 else STAGES[50]
    return torch_network(blocks)(images, labels, *weights)


WORKLOADS: list[Workload] = [
    Workload(
        "network/digits",
        {
            "test": _digits_at(3, 8, 2, 3, 4),
            "cpu": _digits_at(64, 8, 8, 16, 64),
            "gpu": _digits_at(1024, 8, 8, 16, 64),
        },
        torch=_digits,
        flops=_digits_flops,
        gradients=WEIGHTS,
        step=True,
        integers={"L": ("B4", 0)},
        scales=dict.fromkeys(WEIGHTS, 0.2),
    ),
    Workload(
        "network/residual 50",
        {scale: Problem(n.text, n.shapes) for scale, n in NETWORKS.items()},
        torch=_torch_residual,
        flops=_residual_flops,
        gradients=NETWORKS["cpu"].weights,
        step=True,
        integers={"L": ("B", 0)},
        scales=dict.fromkeys(NETWORKS["cpu"].weights, 0.1),
    ),
]
