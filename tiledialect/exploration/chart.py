"""Chart of the trials of an exploration as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import floor, inf, log10

from tiledialect.exploration.proposals import DRAW, MUTATION, SAMPLER, SEED
from tiledialect.exploration.study import Trial

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 20, 40
COLORS = {SEED: "#4472c4", MUTATION: "#ed7d31", SAMPLER: "#70ad47", DRAW: "#7f6084"}
"""Colours of trials by the origin of their candidates."""


class _Scales:
    """Places of trials: their number along x, the logarithm of seconds along y."""

    def __init__(self, count: int, least: float, most: float):
        self.count = max(count - 1, 1)
        self.low, self.high = log10(least) - 0.05, log10(most) + 0.05

    def x(self, number: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * number / self.count

    def y(self, seconds: float) -> float:
        share = (log10(seconds) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def chart(trials: Sequence[Trial], default: float, limit: float) -> str:
    """Seconds of each trial, the best so far as a line, the default's and the device's limit."""
    times = [t.seconds for t in trials if 0 < t.seconds < inf]
    known = [x for x in (*times, default, limit) if 0 < x < inf]
    if not known:
        known = [1.0]
    scales = _Scales(len(trials), min(known), max(known))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *_axis(scales),
        *_level(scales, default, "default"),
        *_level(scales, limit, "device's limit"),
        *_points(scales, trials),
        _best(scales, trials),
        *_legend(),
        "</svg>",
    ]
    return "\n".join(parts)


def _axis(scales: _Scales) -> Iterator[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    yield f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#888"/>'
    for power in range(floor(scales.low), floor(scales.high) + 1):
        for digit in (1, 2, 5):
            seconds = digit * 10.0**power
            if scales.low <= log10(seconds) <= scales.high:
                y = scales.y(seconds)
                place = f'x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end"'
                yield f"<text {place}>{_time(seconds)}</text>"
                yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#eee"/>'
    yield f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 10}" text-anchor="middle">trials</text>'


def _level(scales: _Scales, seconds: float, name: str) -> Iterator[str]:
    if 0 < seconds < inf:
        y, right = scales.y(seconds), WIDTH - RIGHT
        yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#555" stroke-dasharray="4 3"/>'
        yield f'<text x="{right + 6}" y="{y + 4:.1f}">{escape(name)}</text>'


def _points(scales: _Scales, trials: Sequence[Trial]) -> Iterator[str]:
    for number, trial in enumerate(trials):
        x, color = scales.x(number), COLORS.get(trial.source, "#555")
        title = f"<title>{escape(trial.text)}</title>"
        if 0 < trial.seconds < inf:
            y = scales.y(trial.seconds)
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}">{title}</circle>'
        else:
            place = f'x="{x:.1f}" y="{TOP + 8}" text-anchor="middle"'
            yield f'<text {place} fill="{color}">x{title}</text>'


def _best(scales: _Scales, trials: Sequence[Trial]) -> str:
    """Line of the best so far."""
    best, path = inf, ""
    for number, trial in enumerate(trials):
        best = min(best, trial.seconds)
        if best < inf:
            x, y = scales.x(number), scales.y(best)
            path += f"H{x:.1f}V{y:.1f}" if path else f"M{x:.1f} {y:.1f}"
    return f'<path d="{path}" fill="none" stroke="#222" stroke-width="1.5"/>'


def _legend() -> Iterator[str]:
    for number, (name, color) in enumerate(COLORS.items()):
        y = HEIGHT - BOTTOM - 14 * number
        yield f'<circle cx="{WIDTH - RIGHT + 12}" cy="{y - 4}" r="3" fill="{color}"/>'
        yield f'<text x="{WIDTH - RIGHT + 20}" y="{y}">{name}</text>'


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds * 1e9:g} ns"
