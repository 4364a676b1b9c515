"""The front door: from a program to a function of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr

from tiledialect.api.error_boundary import front_door, sourced
from tiledialect.api.function import Function
from tiledialect.api.loading import load
from tiledialect.api.options import Choices
from tiledialect.dialects.discardable import PRECISION
from tiledialect.errors import TileError

if TYPE_CHECKING:
    from tiledialect.lowering.runtime.device.device import Device


@front_door
def compile(
    source: str | Path | ModuleOp,
    *,
    device: Device | str | int | None = None,
    name: str | None = None,
    tune: int | str = 0,
    explored: str | Path | None = None,
    precision: str | None = None,
    constants: Mapping[str, int | float] | None = None,
    compile_budget: float | None = None,
) -> Function:
    """A function of arrays from Tile text, a ``.tile`` or ``.mlir`` file or an xDSL module.

    Args:
        source: the program; a string without line ends that ends in ``.tile`` or ``.mlir`` is
            a path.
        device: where to run: a ``Device``, its id or a part of its name; else what the variable
            ``TILE_DEVICE`` says, else a GPU, else the fastest CPU. How fast it is, is measured
            when something is first compiled for it; docs/runtime.md says more.
        name: which function, if there are several; or a name for a Tile function that has none.
        tune: number of schedules of each kernel to measure, at the first call with new shapes,
            on its inputs; the fastest are kept on disk. ``"kept"`` takes what ``explore`` has kept
            for the shapes of a call. docs/schedule-choice.md says more.
        explored: a file that a result of ``explore`` has saved; calls with its shapes, on the same
            kind of device, are computed so.
        precision: ``tf32`` lets matrix products of f32 run on tensor cores, where the device has
            them, with factors of 10 bits; ``f32`` does not; ``exact`` has sums computed as they are
            written, too, not with fewer products, every statement of f16 or bf16 rounded, and
            numbers next to 0 kept. Else the module says (f32).
        constants: numbers for names that Tile text uses and does not define, such as
            ``{"STRIDE": 2}``.
        compile_budget: seconds of a compilation after which it searches for schedules no longer:
            the other kernels get the first schedule that fits, and a ``TileWarning`` names them.
            Which these are depends on the machine and its load. None: no limit.

    Raises:
        TileError: the source or another argument is wrong.
    """
    from tiledialect.ir.host_functions import is_lowered, needs_tensors
    from tiledialect.ir.signature import check_tensors, find_function

    if name is not None and not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"`name` must be a text, got {name!r}")
    if explored is not None and not isinstance(explored, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"`explored` must be a file, got {explored!r}")
    with sourced():
        loaded = load(source, name, constants)
    with loaded.error_context():
        chosen = find_function(loaded.module, loaded.symbol(name))
        if is_lowered(chosen):
            from tiledialect.lowering.host.given_kernels import return_stored

            for option, is_given in (
                ("tune", tune),
                ("explored", explored),
                ("precision", precision),
                ("compile_budget", compile_budget is not None),
            ):
                if is_given:
                    raise needs_tensors(chosen.sym_name.data, option)
            return_stored(loaded.module, chosen.sym_name.data)
        else:
            check_tensors(chosen)
        if precision is not None:
            set_precision(loaded.module, precision)
        choices = Choices(tune=tune, budget=compile_budget)
        function = Function(loaded, chosen.sym_name.data, device, choices=choices)
        return function if explored is None else function.with_explored(Path(explored))


def set_precision(module: ModuleOp, precision: str) -> None:
    """Set a module's precision for the factors of products of f32."""
    from tiledialect.schedule.search.tensor_cores import PRECISIONS

    if precision not in PRECISIONS:
        raise TileError(f"there is no precision {precision!r}; there is {', '.join(PRECISIONS)}")
    module.attributes[PRECISION] = StringAttr(precision)
