"""Running a program by the reference semantics, at the front door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.analysis.memory_updates import updates
from tiledialect.api.inputs import Types, types_of
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.interpreters.tile import interpret
from tiledialect.ir.host_functions import declaration, is_lowered
from tiledialect.ir.signature import array_type, find_function, output_names, updated_names

if TYPE_CHECKING:
    from tiledialect.passes.transform.transforms import Transform

Array = npt.NDArray[Any]
Outputs: TypeAlias = tuple[list[str], Sequence[Any]]
"""The names of results, and these."""


def run_function(module: ModuleOp, name: str | None, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Run the function ``name`` (None: the only one) of a module on arrays, its ops as they are.

    The module stays as it is: a function that leaves types open is specialized in a copy. Raises
    a TileError if there is no such function, if the arrays do not fit, or if the program is wrong.
    """
    from tiledialect.passes.specialize.tile_specialize import specialize

    function = find_function(module, name)
    types = [array_type(array) for array in arrays]
    if list(function.function_type.inputs) != types:
        module = module.clone()
        function = find_function(module, function.sym_name.data)
        specialize(function, types)
    return interpret(module, function.sym_name.data, arrays)


def run_reference(
    module: ModuleOp, name: str, transforms: Sequence[Transform], arrays: Sequence[Array]
) -> Outputs:
    """The outputs of a function of a module, transformed like this, and their names."""
    try:
        if is_lowered(find_function(module, name)):
            return _run_lowered(module, name, arrays)
        return _run_tensors(module, name, transforms, arrays)
    except MemoryError as error:
        raise TileError(f"there is not enough memory for this: {error}") from None


def run_whole_arrays(
    module: ModuleOp, name: str, transforms: Sequence[Transform], arrays: Sequence[Array]
) -> Outputs:
    """The outputs as ``run_reference`` gives them, for arrays of many elements.

    Patterns that have a form in Tile are computed in it: the reference semantics of patterns takes
    one element after the other, that of Tile whole arrays.
    """
    from tiledialect.passes.lift.lift_to_tile import has_lift_ops, without_patterns
    from tiledialect.passes.specialize.tile_specialize import specialize

    function = find_function(module, name)
    if transforms or is_lowered(function) or not has_lift_ops(function):
        return run_reference(module, name, transforms, arrays)
    copy = module.clone()
    try:
        specialize(find_function(copy, name), types_of(arrays))
        without_patterns(find_function(copy, name))
    except TileError:
        copy = module
    return run_reference(copy, name, transforms, arrays)


def _run_lowered(module: ModuleOp, name: str, arrays: Sequence[Array]) -> Outputs:
    from tiledialect.interpreters.host import run_host
    from tiledialect.lowering.host.given_kernels import bound

    module = bound(module, name, types_of(arrays))
    return _updated(find_function(module, name), arrays, run_host(module, name, arrays))


def _run_tensors(
    module: ModuleOp, name: str, transforms: Sequence[Transform], arrays: Sequence[Array]
) -> Outputs:
    from tiledialect.lowering.runtime.call.arrays import check_shape
    from tiledialect.passes.specialize.tile_widen import TileWidenPass
    from tiledialect.passes.transform.transforms import specialize_transformed

    module = module.clone()
    function = find_function(module, name)
    specialize_transformed(function, types_of(arrays), transforms)
    TileWidenPass().apply(Context(), module)
    # Unused ops are not compiled either, whatever their errors.
    region_dce(function.body)
    for value in (v for op in function.body.block.ops for v in op.results):
        t = value.type
        dtype = NUMPY_TYPES.get(et.concrete(getattr(t, "element_type", et.any_type)))
        if isinstance(t, TensorType) and dtype is not None:
            check_shape(value.name_hint or "an intermediate", t.get_shape(), dtype)
    return _updated(function, arrays, interpret(module, function.sym_name.data, arrays))


def _updated(function: func.FuncOp, arrays: Sequence[Array], results: Sequence[Array]) -> Outputs:
    """The outputs, and their names; other results replace the elements of inputs."""
    changed = updates(function)
    for k, number in changed.items():
        arrays[number][...] = results[k]
    return output_names(function), tuple(r for k, r in enumerate(results) if k not in changed)


def output_types(
    module: ModuleOp, name: str, transforms: Sequence[Transform], types: Types
) -> Types:
    """The types of the outputs for inputs of these types. Compiles nothing."""
    from tiledialect.lowering.host.given_kernels import bound
    from tiledialect.passes.transform.transforms import specialize_transformed

    function = find_function(module, name)
    if is_lowered(function):
        function = declaration(find_function(bound(module, name, types), name))
    else:
        function = function.clone()
        specialize_transformed(function, types, transforms)
    pairs = zip(function.function_type.outputs, updated_names(function), strict=True)
    return tuple(t for t, changed in pairs if changed is None and isinstance(t, TensorType))
