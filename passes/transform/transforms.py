"""Transformations of functions that a call applies once it knows the types: gradients, batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias
from weakref import WeakKeyDictionary

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute
from xdsl.transforms.canonicalize import CanonicalizePass

from tiledialect.dialects.tile import Tile
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.errors import TileError
from tiledialect.ir.signature import argument_names, find_function, miscounted, result_names
from tiledialect.passes.gradient.rules.elementwise import can_flow
from tiledialect.passes.gradient.tile_gradient import (
    check_names,
    cotangent_names,
    derived_names,
    differentiate,
)
from tiledialect.passes.gradient.tile_jvp import differentiate_forward
from tiledialect.passes.lift.lift_to_tile import without_patterns
from tiledialect.passes.specialize.argument_types import check_derived_types
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.passes.transform.tile_vmap import batch_axis, batch_name, vmap

Names = tuple[str, ...]
Types = Sequence[TensorType[Attribute] | None]
"""Types of a function's inputs, None for one that is not given."""
Dims = Mapping[str, Sequence[str] | None]


@dataclass(frozen=True)
class Gradient:
    """Differentiation: the inputs to differentiate by, and whether the outputs are kept."""

    wrt: Names
    with_outputs: bool = False
    only_reals: bool = False
    """Whether inputs that turn out to hold integers are left out; else they are refused."""

    suffix: ClassVar[str] = "_gradient"
    batched_inputs: ClassVar[Names] = ()

    @property
    def call(self) -> str:
        """The method of a function that transforms it like this."""
        wrt = None if self.only_reals else self.wrt
        return f"gradient({wrt!r}, with_outputs={self.with_outputs})"

    def signature(self, inputs: Names, outputs: Names) -> tuple[Names, Names]:
        """The names of the gradient function's inputs and outputs."""
        check_names(self.wrt, inputs)
        added = cotangent_names(outputs, inputs)
        kept = outputs if self.with_outputs else ()
        return (*inputs, *added), (*kept, *cotangent_names(self.wrt, kept))

    def inner(self, inputs: Names, types: Types) -> Types:
        """The types of the inputs before."""
        return types[: len(inputs)]

    def outer(self, inputs: Names, types: Types, outputs: Sequence[Attribute]) -> Types:
        """Types with those of the cotangents, which are the outputs' ones."""
        return [*types, *(t for t in outputs if isinstance(t, TensorType))]

    def dims(self, dims: Dims) -> Dims:
        """Names of the inputs' dimensions."""
        return dims

    def apply(self, function: func.FuncOp, types: Types, *, may_drop: bool) -> None:
        """Differentiate a function, in place."""
        args = zip(argument_names(function), function.body.block.args, strict=True)
        reals = {name for name, a in args if et.may_be_float(tensor_type(a).element_type)}
        wrt = tuple(n for n in self.wrt if n in reals) if self.only_reals else self.wrt
        integers = ", ".join(n for n in self.wrt if n not in reals)
        if not wrt:
            raise TileError(f"there is no gradient with respect to integers: {integers}")
        if wrt != self.wrt and not may_drop:
            # Its cotangent would be an input that is there or not.
            raise TileError(
                f"{integers} holds integers: say by what the inner gradient differentiates, "
                f"as in .gradient(wrt={wrt}).gradient()"
            )
        differentiate(function, wrt, with_outputs=self.with_outputs)


@dataclass(frozen=True)
class Jvp:
    """Derivatives along directions of some inputs, of the outputs that may hold reals."""

    wrt: Names
    reals: Names

    suffix: ClassVar[str] = "_jvp"
    with_outputs: ClassVar[bool] = True
    batched_inputs: ClassVar[Names] = ()

    @property
    def call(self) -> str:
        """The method of a function that transforms it like this."""
        return f"jvp({self.wrt!r})"

    def signature(self, inputs: Names, outputs: Names) -> tuple[Names, Names]:
        """Names of the inputs and outputs with those of their tangents."""
        check_names(self.wrt, inputs)
        added, gained = (
            derived_names("T", self.wrt, inputs),
            derived_names("T", self.reals, outputs),
        )
        return (*inputs, *added), (*outputs, *gained)

    def inner(self, inputs: Names, types: Types) -> Types:
        """The types of the inputs before."""
        return types[: len(inputs)]

    def outer(self, inputs: Names, types: Types, outputs: Sequence[Attribute]) -> Types:
        """Types with those of the tangents, which are the inputs' ones."""
        return [*types, *(types[inputs.index(name)] for name in self.wrt)]

    def dims(self, dims: Dims) -> Dims:
        """Names of the inputs' dimensions, which are the tangents' ones."""
        added = derived_names("T", self.wrt, tuple(dims))
        return {**dims, **{t: dims[n] for t, n in zip(added, self.wrt, strict=True)}}

    def apply(self, function: func.FuncOp, types: Types, *, may_drop: bool) -> None:
        """Differentiate a function, in place."""
        args = dict(zip(argument_names(function), function.body.block.args, strict=True))
        for name in self.wrt:
            if not can_flow(args[name]):
                kind = et.type_name(tensor_type(args[name]).element_type)
                raise TileError(f"{name} holds {kind}: there are no tangents of integers")
        differentiate_forward(function, self.wrt, self.reals)


@dataclass(frozen=True)
class Vmap:
    """A batch: the axis of it in each input that has it, and in each output."""

    in_axes: tuple[tuple[str, int], ...]
    out_axes: tuple[tuple[str, int | None], ...]

    suffix: ClassVar[str] = "_vmap"
    with_outputs: ClassVar[bool] = True

    @property
    def batched_inputs(self) -> Names:
        """Names of the inputs that have the batch."""
        return tuple(name for name, _ in self.in_axes)

    @property
    def call(self) -> str:
        """The method of a function that transforms it like this."""
        return f"vmap({dict(self.in_axes)}, {dict(self.out_axes)})"

    def signature(self, inputs: Names, outputs: Names) -> tuple[Names, Names]:
        """The names stay."""
        return inputs, outputs

    def size(self, inputs: Names, types: Types) -> int:
        """Number of elements of the batch."""
        found: dict[str, tuple[int, int]] = {}
        for name, axis in self.in_axes:
            if (t := types[inputs.index(name)]) is not None:
                shape = t.get_shape()
                axis = batch_axis(name, len(shape), axis)
                found[name] = shape[axis], axis
        if len({size for size, _ in found.values()}) > 1:
            named = ", ".join(f"{size} in {n} (axis {axis})" for n, (size, axis) in found.items())
            raise TileError(f"the sizes to map over differ: {named}")
        if not found:
            missing = ", ".join(self.batched_inputs)
            raise TileError(f"the size of the batch is not known: give {missing}")
        return next(iter(found.values()))[0]

    def inner(self, inputs: Names, types: Types) -> Types:
        """The types of one element."""
        axes = dict(self.in_axes)
        return [
            t if t is None or name not in axes else _without(name, t, axes[name])
            for name, t in zip(inputs, types, strict=False)
        ]

    def outer(self, inputs: Names, types: Types, outputs: Sequence[Attribute]) -> Types:
        """The types stay: ``derived_types`` adds the batch, the size of which it knows."""
        return types

    def batched(self, inputs: Names, types: Types, size: int) -> Types:
        """The types of a batch."""
        axes = dict(self.in_axes)
        return [
            t if t is None or name not in axes else _with(name, t, axes[name], size)
            for name, t in zip(inputs, types, strict=False)
        ]

    def dims(self, dims: Dims) -> Dims:
        """Names of the inputs' dimensions with that of the batch."""
        found = dict(dims)
        own = batch_name([d for names in dims.values() for d in names or ()])
        for name, axis in self.in_axes:
            if (names := dims.get(name)) is not None:
                names = list(names)
                if -len(names) - 1 <= axis <= len(names):
                    names.insert(axis % (len(names) + 1), own)
                found[name] = names
        return found

    def apply(self, function: func.FuncOp, types: Types, *, may_drop: bool) -> None:
        """Make a function one of a batch, in place."""
        size = self.size(tuple(argument_names(function)), types)
        vmap(function, size, dict(self.in_axes), dict(self.out_axes))


Transform: TypeAlias = Gradient | Jvp | Vmap


def _without(name: str, t: TensorType[Attribute], axis: int) -> TensorType[Attribute]:
    shape = list(t.get_shape())
    del shape[batch_axis(name, len(shape), axis)]
    return TensorType(t.element_type, shape)


def _with(name: str, t: TensorType[Attribute], axis: int, size: int) -> TensorType[Attribute]:
    shape = list(t.get_shape())
    shape.insert(batch_axis(name, len(shape) + 1, axis), size)
    return TensorType(t.element_type, shape)


def signatures(function: func.FuncOp, transforms: Iterable[Transform]) -> list[tuple[Names, Names]]:
    """Names of inputs and outputs: of a function, and after each transformation."""
    found = [(tuple(argument_names(function)), tuple(result_names(function)))]
    for step in transforms:
        found.append(step.signature(*found[-1]))
    return found


def real_outputs(function: func.FuncOp, transforms: Sequence[Transform]) -> Names:
    """Names of the outputs that may hold reals."""
    returned = function.body.block.last_op
    assert returned is not None
    names = signatures(function, transforms)
    reals = {n for n, v in zip(names[0][1], returned.operands, strict=True) if can_flow(v)}
    for step, (_, before), (_, after) in zip(transforms, names, names[1:], strict=False):
        kept = len(before) if step.with_outputs else 0
        reals = {n for n in after[:kept] if n in reals} | set(after[kept:])
    return tuple(n for n in names[-1][1] if n in reals)


_SPECIALIZED: WeakKeyDictionary[func.FuncOp, tuple[Types, func.FuncOp, tuple[str, ...]]] = (
    WeakKeyDictionary()
)
"""Copies of functions that ``derived_types`` specialized, with their types and warnings, until they
are compiled: that begins with the same."""


def _specialize_once(
    function: func.FuncOp, types: Sequence[TensorType[Attribute]], source: func.FuncOp | None
) -> tuple[str, ...]:
    """Bind the types of a copy of ``source``, unless there is one with these types."""
    found = None if source is None else _SPECIALIZED.pop(source, None)
    if found is None or list(found[0]) != list(types):
        return specialize(function, types)
    _, own, warnings = found
    function.properties, function.attributes = own.properties, own.attributes
    function.detach_region(0).drop_all_references()
    function.add_region(own.detach_region(0))
    return warnings


def specialize_transformed(
    function: func.FuncOp,
    types: Sequence[TensorType[Attribute]],
    transforms: Sequence[Transform],
    source: func.FuncOp | None = None,
) -> tuple[str, ...]:
    """Bind the inputs' types, then transform the function, in place.

    The function may be a copy of ``source``. Returns the warnings of ``specialize``.
    """
    if not transforms:
        return specialize(function, types)
    names = signatures(function, transforms)
    inputs = names[-1][0]
    if len(inputs) != len(types):
        what = function.sym_name.data + "".join(step.suffix for step in transforms)
        raise TileError(miscounted(what, inputs, len(types), inputs[len(types) :]))
    levels = _levels(names, types, transforms)
    warnings = _specialize_once(function, [t for t in levels[0] if t is not None], source)
    for k, step in enumerate(transforms):
        before = function.body.block.args
        own, count = result_names(function), len(before)
        if isinstance(step, Jvp):
            of, wanted = step.wrt, [before[names[k][0].index(n)].type for n in step.wrt]
        else:
            of, wanted = own, function.function_type.outputs.data
        step.apply(function, levels[k + 1], may_drop=_may_drop(transforms[k + 1 :]))
        check_derived_types(names[k + 1][0][count:], levels[k + 1][count:], of, wanted)
    return warnings


def _may_drop(later: Sequence[Transform]) -> bool:
    """Whether outputs may be missing for the transformations that follow."""
    return all(isinstance(step, Vmap) for step in later)


def _levels(
    names: Sequence[tuple[Names, Names]], types: Types, transforms: Sequence[Transform]
) -> list[Types]:
    """Types of the inputs before each transformation, and after the last."""
    levels = [types]
    for step, (inputs, _) in zip(reversed(transforms), reversed(names[:-1]), strict=True):
        levels.insert(0, step.inner(inputs, levels[0]))
    return levels


def inner_types(
    function: func.FuncOp, types: Types, transforms: Sequence[Transform]
) -> list[TensorType[Attribute]]:
    """Types of a function's own inputs without batches, of those with all batches."""
    levels = _levels(signatures(function, transforms), types, transforms)
    return [t for t in levels[0] if t is not None]


def derived_types(
    function: func.FuncOp, types: Types, transforms: Sequence[Transform]
) -> list[TensorType[Attribute]]:
    """Types of the cotangents and tangents that transformations take besides a function's inputs.

    Of ``types`` those may be None.
    """
    source, function = function, function.clone()
    names = signatures(function, transforms)
    levels = _levels(names, types, transforms)
    own = len(names[0][0])
    bound = [t for t in levels[0][:own] if t is not None]
    warnings = specialize(function, bound)
    known: Types = levels[0][:own]
    pending: list[tuple[Transform, Types]] = []
    for k, step in enumerate(transforms):
        if not isinstance(step, Vmap):
            # The function after the last of these is of no interest.
            for earlier, own_types in pending:
                earlier.apply(function, own_types, may_drop=False)
            pending.clear()
            known = step.outer(names[k][0], known, function.function_type.outputs.data)
        else:
            known = step.batched(names[k][0], known, step.size(names[k][0], levels[k + 1]))
        pending.append((step, known))
    if len(pending) == len(transforms):
        _SPECIALIZED[source] = bound, function, warnings
    return [t for t in known[own:] if t is not None]


def transformed(
    module: ModuleOp,
    name: str,
    transforms: Sequence[Transform],
    types: Sequence[TensorType[Attribute]],
) -> func.FuncOp:
    """Function of a copy of a module, transformed and canonicalized.

    With the types of its inputs, a function of patterns becomes one of tensors.
    """
    module = module.clone()
    function = find_function(module, name)
    if types:
        specialize_transformed(function, types, transforms)
        without_patterns(function)
    else:
        for step in transforms:
            step.apply(function, (), may_drop=True)
    if transforms or types:
        context = Context()
        for dialect in (Arith, Tile):
            context.load_dialect(dialect)
        CanonicalizePass().apply(context, module)
    return function
