"""Settings of an exploration of Lift programs, by Lift's names and with its defaults.

A file in TOML has a table for each phase: ``[algorithmic]``, ``[mapping]``, ``[parameters]`` and
``[search]``. What it leaves out has its default.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiledialect.errors import TileError

if TYPE_CHECKING:
    from tiledialect.schedule.cost.device import Device

LANES = 4
"""Fewest lanes of vectors where settings leave them open: Lift's default."""


@dataclass(frozen=True)
class AlgorithmicSettings:
    """Bounds of algorithmic rewriting."""

    exploration_depth: int = 5
    """Most rules one after the other."""
    depth_filter: int = 6
    """Most maps and reductions around one another. Register blocking may add two."""
    distance_filter: int = 1
    """Most layout patterns between two patterns that compute."""
    rule_repetition: int = 2
    """Most applications of the same rule."""
    vector_width: int = 0
    """Lanes of vectors; 0: the device's. Lift's default is 4."""
    rule_collection: str = "all"
    """Rules that are applied: those of Lift's collections `default`, `convolution1D` and
    `convolution2D`, or `all`."""
    most_rewritten: int = 16
    """Most programs to which rules are applied."""
    most_programs: int = 120
    """Most programs that are found."""


@dataclass(frozen=True)
class MappingSettings:
    """Mappings that are enabled, and ways to use memory and vectors."""

    global0: bool = True
    global01: bool = True
    global10: bool = True
    global012: bool = True
    global210: bool = True
    group0: bool = True
    group01: bool = True
    group10: bool = True
    parts: bool = True
    """Work-groups whose work-items share out elements and the parts of each, on GPUs."""
    lines: bool = True
    """Work-groups along two dimensions, whose work-items share out rows inside, on GPUs."""
    warps: bool = True
    """Warps and lanes, on GPUs."""
    sequential: bool = True
    """Groups of a single work-item, which goes through the inner maps."""
    vectorize: bool = True
    vector_width: int = 0
    """Most lanes of vectors; 0: the device's. Lift's default is 4."""
    unroll_reduce: bool = True
    """Unrolled loops of a small number of steps."""
    local_memory: bool = True
    """Copies of tiles in local memory."""
    private_memory: bool = True
    """Copies of windows in private memory."""
    balance: bool = True
    """Work-groups in proportion to the units of the device, each of which takes several elements
    in strides, besides one for each element."""


@dataclass(frozen=True)
class ParameterSettings:
    """Bounds of the sizes that a derivation leaves open."""

    default_input_size: int = 1024
    """Size of inputs that is assumed where none is known."""
    min_local_size: int = 128
    """Least work-items of a group, on GPUs."""
    max_local_size: int = 1024
    min_global_size: int = 8
    """Least work-items of a kernel."""
    max_private_memory: int = 0
    """Most bytes of private memory of a work-item; 0: the device's registers. Lift's default is
    1024."""
    max_local_memory: int = 0
    """Most bytes of local memory of a group; 0: the device's. Lift's default is 50000."""
    min_workgroups: int = 8
    max_workgroups: int = 10000


@dataclass(frozen=True)
class SearchSettings:
    """Options of `td.explore`."""

    trials: int = 200
    seconds: float = inf
    sampler: str = "tpe"
    seed: int = 0


@dataclass(frozen=True)
class Settings:
    """Settings of all phases.

    Example:
    ```python
    settings = Settings.parse("[algorithmic]\\nexploration_depth = 3")
    assert settings.algorithmic.exploration_depth == 3
    ```
    """

    algorithmic: AlgorithmicSettings = field(default_factory=AlgorithmicSettings)
    mapping: MappingSettings = field(default_factory=MappingSettings)
    parameters: ParameterSettings = field(default_factory=ParameterSettings)
    search: SearchSettings = field(default_factory=SearchSettings)

    @staticmethod
    def parse(text: str, file: str = "<settings>") -> Settings:
        """Settings of a text in TOML; a TileError names what is not known."""
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise TileError(f"{file}: {error}") from None
        kinds = {f.name: f.default_factory for f in fields(Settings)}
        made: dict[str, Any] = {}
        for name, table in tables.items():
            kind = kinds.get(name, MISSING)
            if kind is MISSING:
                raise TileError(f"{file}: there is no table [{name}]; there is {_listed(kinds)}")
            if not isinstance(table, dict):
                raise TileError(f"{file}: {name} is a table [{name}], not {table!r}")
            made[name] = _read(kind, table, f"{file}: [{name}]")
        return Settings(**made)

    @staticmethod
    def read_or_default(file: str | Path | None) -> Settings:
        """Settings of a file, if there is one."""
        return Settings() if file is None else Settings.read(file)

    @staticmethod
    def read(file: str | Path) -> Settings:
        """Settings of a file in TOML."""
        try:
            text = Path(file).read_text()
        except (OSError, ValueError, TypeError) as error:
            raise TileError(f"the settings {file} cannot be read: {error}") from None
        return Settings.parse(text, str(file))


def native_lanes(device: Device | None) -> int:
    """Lanes of vectors where settings leave them open."""
    return LANES if device is None else max(LANES, device.native_vector_width)


def _read(kind: Any, table: Mapping[str, Any], where: str) -> Any:
    """The settings of a table."""
    defaults = {f.name: f.default for f in fields(kind)}
    for name, value in table.items():
        if name not in defaults:
            raise TileError(f"{where} has no {name}; it has {_listed(defaults)}")
        _check(value, defaults[name], f"{where}: {name}")
    return kind(**table)


def _check(value: Any, default: Any, what: str) -> None:
    """Refuse a value of another type than the default, and a negative one."""
    number = isinstance(default, int | float) and not isinstance(default, bool)
    wanted = (int, float) if isinstance(default, float) else type(default)
    if not isinstance(value, wanted) or (number and (isinstance(value, bool) or value < 0)):
        names: dict[type, str] = {bool: "true or false", str: "a text"}
        text = names.get(type(default), "a number, 0 or more")
        raise TileError(f"{what} is {text}, not {value!r}")


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(names)
