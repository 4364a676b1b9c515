"""The front door of exploration: from a function and inputs to its fastest implementation."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiledialect.api.error_boundary import front_door
from tiledialect.api.function import Function
from tiledialect.errors import TileError

if TYPE_CHECKING:
    from tiledialect.exploration.explore import Explored, Progress
    from tiledialect.exploration.lift.settings import Settings
    from tiledialect.exploration.study import Trial
    from tiledialect.lowering.runtime.device.device import Device

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)")
_UNITS = {"s": 1, "": 1, "m": 60, "min": 60, "h": 3600}


@dataclass(frozen=True)
class Result:
    """Result of an exploration."""

    function: Function
    """The function that was explored."""
    data: Explored

    @cached_property
    def best(self) -> Function:
        """The function, computed by the fastest implementation for the explored shapes."""
        return self.function.with_found((self.data.found,))

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Trials in the storage, with those of earlier sessions."""
        return self.data.trials

    @property
    def seconds(self) -> float:
        """Least seconds of the kernels of a call."""
        return self.data.found.seconds

    @property
    def default_seconds(self) -> float:
        """The same without exploration."""
        return self.data.found.default_seconds

    @property
    def speedup(self) -> float:
        """Seconds without exploration over the least ones."""
        return self.default_seconds / self.seconds

    @property
    def wrong(self) -> tuple[Trial, ...]:
        """Trials whose results were not those of the reference semantics: defects of the
        compiler, or of the driver."""
        return tuple(trial for trial in self.trials if trial.failure == "wrong")

    def __str__(self) -> str:
        """The implementation, its time, and how it was found."""
        found, data = self.data.found, self.data
        wrong = len(self.wrong)
        defects = [f"{wrong} gave wrong results: `report` says how to see that again"]
        return "\n".join(
            [
                f"{self.function.name} for {found.types} on {found.device}",
                f"{len(self.trials)} trials: {_us(found.seconds)}, {self.speedup:.2f} times as fast"
                f" as without exploration ({_us(found.default_seconds)}), "
                f"{data.least / found.seconds:.0%} of the device's limit",
                f"the cost model expects {_us(data.estimate)}",
                *(defects if wrong else []),
                str(found.implementation) or "the program as it is compiled without exploration",
            ]
        )

    def _repr_html_(self) -> str:
        """The same, and the chart, for notebooks."""
        import html

        return f"<pre>{html.escape(str(self))}</pre>{self.plot()}"

    def plot(self, path: str | Path | None = None) -> str:
        """Chart of the trials as SVG, which is also written to a file, if one is named."""
        from tiledialect.exploration.chart import chart

        text = chart(self.trials, self.default_seconds, self.data.least)
        if path is not None:
            _write(Path(path), text)
        return text

    def report(self, trial: Trial) -> str:
        """Program, inputs, device and candidate of a trial: a script that runs it again.

        It is what a defect needs to be seen by others.
        """
        from tiledialect.exploration.defects import report

        return report(self.data.program, self.function.device, self.data.found, trial)

    def save(self, path: str | Path) -> None:
        """Write what was found to a file, for ``compile(…, explored=path)``."""
        from tiledialect.exploration import kept

        kept.save(Path(path), (self.data.found,))


@front_door
def explore(
    function: Function,
    *args: Any,
    trials: int | None = None,
    time: float | str | None = None,
    device: Device | str | int | None = None,
    storage: str | Path | None = None,
    workers: int | str = 1,
    resume: bool = True,
    sampler: str | None = None,
    seed: int | None = None,
    settings: str | Path | Settings | None = None,
    progress: Callable[[Progress], None] | None = None,
    **named: Any,
) -> Result:
    """Search the fastest implementation of a function for inputs of some shapes.

    Every candidate is built and run in a process of its own, and compared with the reference
    semantics before it may win. What was found is kept on disk for the device and the shapes.

    Args:
        function: the function, a gradient too.
        args: its inputs, in order.
        trials: most candidates to measure, by default 200.
        time: most seconds, or a text such as ``"10m"``.
        device: where to run, as for ``compile``; by default the function's device.
        storage: where trials are kept, so that a search goes on where another one ended: a URL of
            a database, such as ``"sqlite:///mm.db"``, or a file ``….log``.
        workers: number of processes that compile candidates, or the address of a scheduler of
            Dask. The device measures one candidate at a time.
        resume: whether to go on where the storage has trials of the function for these shapes;
            else that is an error.
        sampler: sampler of Optuna: ``tpe``, the default, or ``random``.
        seed: seed of all random choices, by default 0.
        settings: file in TOML with the rules, mappings and bounds of sizes for programs of
            patterns, and defaults of this function in its table ``[search]``.
        progress: function to call after each trial; without it a line on a terminal.
        named: inputs by name.

    Raises:
        TileError: the inputs do not fit, or there is nothing to explore.
    """
    from tiledialect.exploration.explore import Options, explored
    from tiledialect.exploration.lift.settings import SearchSettings, Settings
    from tiledialect.exploration.subject import check_speed

    if not isinstance(function, Function):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"`function` must be a function that `compile` gave, got {function!r}")
    given = settings if isinstance(settings, Settings) else Settings.read_or_default(settings)
    search = SearchSettings(
        trials=_whole("trials", given.search.trials if trials is None else trials),
        seconds=given.search.seconds if time is None else _seconds(time),
        sampler=given.search.sampler if sampler is None else sampler,
        seed=_whole("seed", given.search.seed if seed is None else seed, 0),
    )
    options = Options(storage, _workers(workers), resume, replace(given, search=search))
    function = function if device is None else function.on_device(device)
    check_speed(function.device)
    subject = function.subject(args, named)
    if progress is not None:
        return Result(function, explored(subject, options, progress))
    with _progress_bar() as report:
        return Result(function, explored(subject, options, report))


def _whole(name: str, value: int, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"`{name}` must be a whole number, at least {least}, got {value!r}")
    return value


def _workers(value: int | str) -> int | str:
    return value if isinstance(value, str) else _whole("workers", value)


def _seconds(value: float | str) -> float:
    """Seconds of a number or of a text such as ``10m``."""
    match = _DURATION.fullmatch(str(value).strip())
    if match is None:
        raise TileError(
            f'`time` must be a number of seconds, or as "90s", "10m", "2h", got {value!r}'
        )
    return float(match[1]) * _UNITS[match[2]]


@contextmanager
def _progress_bar() -> Generator[Callable[[Progress], None]]:
    """A line on a terminal with the best time so far."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda progress: None
        return

    def show(text: str) -> None:
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()

    try:
        yield lambda progress: show(progress_line(progress))
    finally:
        show("")


def progress_line(progress: Progress) -> str:
    """State of an exploration in a line."""
    return (
        f"trial {progress.count}: best {_us(progress.best)}, "
        f"{progress.default / progress.best:.2f} times the default, "
        f"{progress.least / progress.best:.0%} of the limit"
    )


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise TileError(f"{path} cannot be written: {error}") from None
