"""Measurements as a table, as JSON and as a picture."""

from __future__ import annotations

import html
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from limits import Limits
from measure import Measurement

HEADER = (
    f"{'workload':36} {'device':10} {'time':>10} {'rate':>14} {'of limit':>8} "
    f"{'ratio':>6}  fastest peer, and others"
)


def duration(seconds: float) -> str:
    """``seconds`` for people."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2f} {unit}"
    return f"{seconds * 1e6:.1f} us"


def line(row: Measurement, name: str = "") -> str:
    """A line of the table, under another name if one is given; the ratio is to the fastest peer."""
    best = f"{row.ratios[row.best]:6.2f}" if row.best else f"{'-':>6}"
    order = sorted(row.ratios, key=row.ratios.__getitem__)
    peers = [f"{name} {duration(row.peers[name])}" for name in order]
    return (
        f"{name or row.name:36} {row.device:10} {duration(row.seconds):>10} {row.rate:>14} "
        f"{row.limit:8.2f} {best}  {', '.join([*peers, *row.notes])}"
    )


def describe(device: str, limits: Limits, missing: Sequence[str]) -> str:
    """Describe the limits of a device, and the absent peers."""
    text = (
        f"{device}: a copy moves {limits.bandwidth / 1e9:.0f} GB/s, "
        f"float32 {limits.flops / 1e9:.0f} GFLOP/s"
    )
    return f"{text}; not installed: {', '.join(missing)}" if missing else text


def progress(done: int, total: int, name: str) -> None:
    """Print a progress bar on the standard error, if it is a terminal; an empty name removes it."""
    if not sys.stderr.isatty():
        return
    full = 30 * done // max(total, 1)
    bar = f"[{'#' * full}{'.' * (30 - full)}] {done}/{total} {name[:40]}" if name else ""
    sys.stderr.write(f"\r\033[K{bar}")
    sys.stderr.flush()


def write_json(path: Path, rows: Sequence[Measurement], limits: Mapping[str, Limits]) -> None:
    """Everything that was measured."""
    data = {
        "limits": {name: asdict(limit) for name, limit in limits.items()},
        "rows": [asdict(row) for row in rows],
    }
    path.write_text(json.dumps(data, indent=1) + "\n")


BAR, LEFT, WIDTH, TOP = 16, 330, 900, 40
LEAST, MOST = 0.05, 8.0
"""The ratios at the ends of the logarithmic scale."""


def write_plot(path: Path, rows: Sequence[Measurement]) -> None:
    """A bar for each ratio to the fastest peer, on a logarithmic scale about 1."""
    compared = [row for row in rows if row.best]
    height = TOP + BAR * len(compared) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        '<text x="10" y="16">How many times as fast as the fastest peer</text>',
    ]
    for tick in (0.1, 0.25, 0.5, 1, 2, 4):
        x = _place(tick)
        colour = "black" if tick == 1 else "#cccccc"
        parts.append(f'<path d="M{x:.1f} {TOP - 6}V{height - 14}" stroke="{colour}"/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP - 10}" text-anchor="middle">{tick:g}</text>')
    parts += [_bar(row, TOP + BAR * k) for k, row in enumerate(compared)]
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


def _place(ratio: float) -> float:
    """Position of a ratio on the scale."""
    inside = min(max(ratio, LEAST), MOST)
    return LEFT + (WIDTH - LEFT - 60) * math.log(inside / LEAST) / math.log(MOST / LEAST)


def _bar(row: Measurement, y: int) -> str:
    assert row.best is not None
    ratio = row.ratios[row.best]
    ends = sorted((_place(1.0), _place(ratio)))
    colour = "#3a7d44" if ratio >= 1 else "#b5483a"
    name = html.escape(f"{row.name} ({row.device})")
    value = html.escape(f"{ratio:.2f} {row.best}")
    return (
        f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{name}</text>'
        f'<rect x="{ends[0]:.1f}" y="{y + 2}" width="{ends[1] - ends[0]:.1f}" '
        f'height="{BAR - 4}" fill="{colour}"/>'
        f'<text x="{max(ends[1], _place(1.0)) + 4:.1f}" y="{y + 11}">{value}</text>'
    )
