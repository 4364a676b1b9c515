"""Functions of which others are made: gradients, batches, and copies with other choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tiledialect.api.batches import Axes
from tiledialect.api.error_boundary import front_door
from tiledialect.api.options import Choices
from tiledialect.api.printed_function import PrintedFunction
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import read_text

if TYPE_CHECKING:
    from tiledialect.exploration.implementation import Found
    from tiledialect.lowering.runtime.device.device import Device
    from tiledialect.passes.transform.transforms import Transform


class TransformedFunction(PrintedFunction):
    """Function of which transformed copies are made, and copies with other choices."""

    def _with(self, transforms: tuple[Transform, ...], choices: Choices) -> Self:
        """The same program on the same device, transformed and run like this."""
        given = self._source, self._base_name, self._wanted_device
        return type(self)(*given, transforms, choices)

    # -- gradients and batches --------------------------------------------------------------------

    @front_door
    def gradient(
        self, wrt: Sequence[str | int] | str | int | None = None, *, with_outputs: bool = False
    ) -> Self:
        """The function that propagates cotangents back to the inputs.

        For ``f(A, B) -> (C)`` it is ``(A, B, DC) -> (DA, DB)``: ``DC``, of the shape and element
        type of ``C``, holds the derivatives of some number by the elements of ``C``; ``DA`` those
        by the elements of ``A``. Cotangents that are left out are 0; where all are, that of an
        output without axes is 1. Its kernels are others, so that schedules and fusion that were
        given are not kept.

        Args:
            wrt: the inputs to differentiate by, in the order of the results, by name or place.
                They must hold real numbers. If None, all are meant that do: an input that a call
                gives as integers is left out of that call's results.
            with_outputs: whether to return the function's own outputs too, before the others.

        Raises:
            TileError: there is no such input, or none that may hold reals.
        """
        from tiledialect.passes.transform.transforms import Gradient

        self._check_tensors("a gradient")
        self._inputs.check_unchanged("gradient")
        names = self._inputs.chosen(wrt)
        step = Gradient(names, with_outputs, only_reals=wrt is None)
        return self._transformed(step)

    def _transformed(self, step: Transform) -> Self:
        """Copy with a further transformation."""
        # What was found belongs to a program with its gradients: this function's is not taken.
        given = self._choices
        choices = Choices(tune=given.tune, found=given.found, budget=given.budget)
        return self._with((*self._transforms, step), choices)

    def value_and_gradient(self, wrt: Sequence[str | int] | str | int | None = None) -> Self:
        """The function that gives the outputs and then the gradient, as one named tuple.

        ``loss, DA, DB = f.value_and_gradient()(a, b)``: it is ``gradient(wrt, with_outputs=True)``.
        """
        return self.gradient(wrt, with_outputs=True)

    @front_door
    def jvp(self, wrt: Sequence[str | int] | str | int | None = None) -> Self:
        """The function of derivatives along directions: forward-mode differentiation.

        For ``f(A, B) -> (C)`` it is ``(A, B, TA, TB) -> (C, TC)``: ``TA``, of the shape and element
        type of ``A``, is the direction in which ``A`` changes, and ``TC`` that in which ``C`` does.
        Outputs of integers have no tangents. Tangents are converted as cotangents are.

        Args:
            wrt: the inputs that have tangents, by name or place. If None, all that may hold reals.

        Raises:
            TileError: there is no such input, or one that holds integers.
        """
        from tiledialect.passes.transform.transforms import Jvp, real_outputs

        self._check_tensors("a derivative")
        self._inputs.check_unchanged("derivative")
        names = self._inputs.chosen(wrt)
        reals = real_outputs(self._function, self._transforms)
        if not reals:
            raise TileError(f"no output of {self.name} holds reals: there are no tangents")
        return self._transformed(Jvp(names, reals))

    @front_door
    def vmap(self, in_axes: Axes = 0, out_axes: Axes = 0) -> Self:
        """The function of a batch: it computes the same for each of several elements at once.

        ``f.vmap()(A, B)`` gives what calls of ``f`` with ``A[0], B[0]``, ``A[1], B[1]`` and so on
        give, stacked. A batch is one more axis of arrays, and of all kernels: there is no loop.

        Args:
            in_axes: the axis of the batch in each input, None for one that is the same for all
                elements. A number is meant for all inputs; a tuple has one for each; a dict has
                them by name, and None for the others.
            out_axes: the axis of the batch in each output, likewise, and 0 for the others of a
                dict. None is for an output that is the same for all elements.

        Raises:
            TileError: there is no such input or output, or no input has the batch. That axes are
                not there, or that sizes differ, is said at the call.
        """
        from tiledialect.api.batches import chosen_axes
        from tiledialect.passes.transform.transforms import Vmap

        self._check_tensors("a batch")
        given = chosen_axes("in_axes", in_axes, self.inputs, None)
        mapped = tuple((n, axis) for n, axis in given if axis is not None)
        if not mapped:
            raise TileError(f"in_axes is None for all inputs of {self.name}: none has a batch")
        return self._transformed(Vmap(mapped, chosen_axes("out_axes", out_axes, self._outputs, 0)))

    # -- copies with other choices ---------------------------------------------------------

    def with_found(self, found: Sequence[Found]) -> Self:
        """Copy that is computed by implementations of an exploration, for their shapes and device.

        Calls with other shapes, or on other devices, are compiled as without them.
        """
        return self._with(self._transforms, replace(self._choices, found=tuple(found)))

    def with_explored(self, path: Path) -> Self:
        """Copy that is computed by the implementations in a file of an exploration."""
        from tiledialect.exploration import kept

        found = kept.load(path)
        kept.check_source(found, self._program, path)
        return self.with_found(found)

    @front_door
    def with_schedules(self, schedules: Mapping[str, str] | Path) -> Self:
        """Copy with other schedules for some kernels, for all shapes that they fit.

        Args:
            schedules: the text of a schedule for each kernel, by the name of its result, as
                ``schedules`` gives them; or a file of such, ``name: <…> stage <…>``.
                docs/schedules.md says how to write one.

        Raises:
            TileError: they are not of this form. Errors in a schedule, and kernels that
                cannot run so, are refused at the first call with their shapes.
        """
        from tiledialect.dialects.tile.schedule_text import checked_schedules, read_schedules

        self._check_tensors("a schedule")
        if isinstance(schedules, Path):
            schedules = read_schedules(read_text(schedules))
        texts = (*self._choices.schedules, *checked_schedules(schedules))
        return self._with(self._transforms, replace(self._choices, schedules=texts))

    @front_door
    def with_fusion(
        self,
        *,
        loads: bool | None = None,
        rows: bool | None = None,
        again: bool | None = None,
        beside: bool | None = None,
        apart: str | Iterable[str] = (),
    ) -> Self:
        """Copy with other ops in one kernel than the cost model would choose.

        The arguments are the options of ``tile-fuse``, see docs/fusion.md: a flag that is False
        keeps kernels apart, one that is True merges whatever can be; ``apart`` names what is
        written to memory, and nothing else computed with it.
        """
        self._check_tensors("a choice of fusion")
        flags = {"loads": loads, "rows": rows, "again": again, "beside": beside}
        fusion = self._choices.fusion.but(apart, **flags)
        return self._with(self._transforms, replace(self._choices, fusion=fusion))

    def on_device(self, device: Device | str | int) -> Self:
        """Copy for another device."""
        return type(self)(self._source, self._base_name, device, self._transforms, self._choices)
