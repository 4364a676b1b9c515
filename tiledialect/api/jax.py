"""Functions of JAX, compiled for OpenCL devices by way of StableHLO.

JAX is not among the requirements of tiledialect; importing this module needs it.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
)

from tiledialect.api.error_boundary import front_door, sourced
from tiledialect.api.front_door import compile as compile_module
from tiledialect.api.function import Function
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import all_dialects, parse_mlir
from tiledialect.ir.names import give_name, set_place
from tiledialect.passes.convert.convert_stablehlo_to_tile import ConvertStablehloToTilePass

try:
    import jax
    import jax.tree_util as trees
except ImportError:
    raise ImportError("td.jax needs JAX: pip install 'tiledialect[jax]'") from None

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class _Traced:
    """A function of arrays for one tree of arguments of given shapes."""

    function: Function
    types: Sequence[np.dtype[Any]]
    """Element types of the arguments' arrays."""
    sizes: Sequence[int]
    """Number of arrays of each argument, those by name together last."""
    result: Any
    """Tree of the results."""


class JaxFunction:
    """A function of JAX compiled for an OpenCL device; made by ``td.jax.compile``.

    It takes what the function takes, any tree of arrays and numbers, and gives its results as
    arrays of JAX, or of NumPy if no argument is one of JAX. It is traced and compiled anew for new
    shapes, element types and static arguments.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        options: dict[str, Any],
        static_argnums: Sequence[int],
        static_argnames: Sequence[str],
    ):
        self._given = fn, options, static_argnums, static_argnames
        self._options = options
        names = _parameters(fn)
        self._static_places = {
            *(k % len(names) if names else k for k in static_argnums),
            *(names.index(name) for name in static_argnames if name in names),
        }
        self._static_names = {
            *static_argnames,
            *(names[k] for k in self._static_places if k < len(names)),
        }
        self._parameters = names
        # Unused arguments stay inputs, in their places.
        self._jitted = jax.jit(
            fn,
            keep_unused=True,
            static_argnums=tuple(static_argnums) or None,
            static_argnames=tuple(static_argnames) or None,
        )
        self._traced: dict[Any, _Traced] = {}
        self._gradients: dict[tuple[Function, tuple[int, ...]], Function] = {}
        self.__name__ = getattr(fn, "__name__", "function")
        self.__doc__ = fn.__doc__

    def __repr__(self) -> str:
        return f"<JaxFunction {self.__name__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # JAX's function is traced again.
        return JaxFunction, self._given

    @front_door
    def __call__(self, *args: Any, **named: Any) -> Any:
        """The results for these arguments."""
        traced, arrays, is_jax = self._bound(args, named)
        results = traced.function(*arrays)
        return _tree(traced.result, _listed(traced.function, results), is_jax)

    @front_door
    def function(self, *args: Any, **named: Any) -> Function:
        """The function of arrays for the arguments' shapes and static values.

        Its inputs are the arrays of the arguments in order.
        """
        return self._bound(args, named)[0].function

    def gradient(self, argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
        """The gradient of a function with one scalar result, as ``jax.grad`` gives it.

        The compiled function is differentiated, not JAX's.

        Args:
            argnums: places of the arguments to differentiate by, one or several.
        """
        both = self.value_and_gradient(argnums)
        return lambda *args, **named: both(*args, **named)[1]

    def value_and_gradient(self, argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
        """The result and the gradient, as ``jax.value_and_grad`` gives them."""
        return front_door(lambda *args, **named: self._value_and_gradient(argnums, args, named))

    def _value_and_gradient(
        self, argnums: int | Sequence[int], args: Sequence[Any], named: dict[str, Any]
    ) -> tuple[Any, Any]:
        traced, arrays, is_jax = self._bound(args, named)
        if len(traced.function.outputs) != 1:
            raise TileError(f"{self.__name__} has several results: a gradient is of one number")
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        dynamic = [k for k in range(len(args)) if k not in self._static_places]
        wrt: list[int] = []
        for place in places:
            if place not in dynamic:
                raise TileError(f"{self.__name__} has no argument {place} to differentiate by")
            k = dynamic.index(place)
            first = sum(traced.sizes[:k])
            wrt += range(first, first + traced.sizes[k])
        key = traced.function, tuple(wrt)
        if key not in self._gradients:
            self._gradients[key] = traced.function.value_and_gradient(wrt)
        value, *slopes = self._gradients[key](*arrays)
        trees_of = [trees.tree_structure(args[place]) for place in places]
        found: list[Any] = []
        for tree in trees_of:
            found.append(_tree(tree, slopes[: tree.num_leaves], is_jax))
            slopes = slopes[tree.num_leaves :]
        gradient = found[0] if isinstance(argnums, int) else tuple(found)
        return _tree(traced.result, [value], is_jax), gradient

    def _bound(self, args: Sequence[Any], named: dict[str, Any]) -> tuple[_Traced, list[Any], bool]:
        """The function for these arguments, their arrays, and whether any is one of JAX."""
        given = [a for k, a in enumerate(args) if k not in self._static_places]
        by_name = {k: v for k, v in named.items() if k not in self._static_names}
        leaves = trees.tree_leaves((given, by_name))
        stage = self._jitted.trace(*args, **named)
        key = stage.jaxpr, stage.in_tree, stage.out_tree
        if (traced := self._traced.get(key)) is None:
            traced = self._traced[key] = self._compiled(stage, given, by_name)
        arrays = [_array(leaf, t) for leaf, t in zip(leaves, traced.types, strict=True)]
        return traced, arrays, any(isinstance(leaf, jax.Array) for leaf in leaves)

    def _compiled(self, stage: Any, given: Sequence[Any], by_name: dict[str, Any]) -> _Traced:
        if any(map(_is_key, trees.tree_leaves(stage.out_info))):
            raise TileError(f"{self.__name__} gives keys of jax.random: give their `key_data`")
        module = _module(stage.lower().compiler_ir("stablehlo"))
        with sourced():
            ConvertStablehloToTilePass().apply(Context(), module)
        main = next(f for f in module.ops if isinstance(f, func.FuncOp))
        types = [NUMPY_TYPES[t.element_type] for t in main.body.block.arg_types]
        _name_inputs(main, self._input_names(given, by_name))
        main.properties["sym_name"] = StringAttr(re.sub(r"\W+", "_", self.__name__).strip("_"))
        sizes = [trees.tree_structure(a).num_leaves for a in (*given, by_name)]
        function = compile_module(module, **self._options)
        return _Traced(function, types, sizes, stage.out_tree)

    def _input_names(self, given: Sequence[Any], by_name: dict[str, Any]) -> list[str]:
        """Names of the arrays of arguments: the parameter's, and the path in its tree."""
        own = [n for k, n in enumerate(self._parameters) if k not in self._static_places]
        own += [f"arg{k}" for k in range(len(own), len(given))]
        named = [*zip(own, given, strict=False), *sorted(by_name.items())]
        return [
            re.sub(r"\W+", "_", name + trees.keystr(path)).strip("_")
            for name, value in named
            for path, _ in trees.tree_flatten_with_path(value)[0]
        ]


@front_door
def compile(
    fn: Callable[..., Any],
    *,
    device: Any = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    tune: int | str = 0,
    precision: str | None = None,
) -> JaxFunction:
    """A function of JAX or NumPy arrays, compiled for an OpenCL device.

    ``fn`` is traced as ``jax.jit`` does; it may be a gradient (``jax.grad(f)``) or mapped
    (``jax.vmap(f)``). On a device that works in the host's memory, arrays pass without a copy.

    Args:
        fn: a function of trees of arrays.
        device: where to run, as for ``td.compile``.
        static_argnums: places of arguments that are no arrays; the function is compiled for each
            of their values.
        static_argnames: names of such arguments.
        tune: number of schedules of each kernel to measure, as for ``td.compile``.
        precision: of sums of products, as for ``td.compile``.

    Raises:
        TileError: at a call, where the function has an op that cannot be compiled, with its place.
    """
    if not callable(fn):
        raise TileError(f"td.jax.compile takes a function, not {type(fn)}")
    options = {"device": device, "tune": tune, "precision": precision}
    places = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    return JaxFunction(fn, options, places, names)


def _parameters(fn: Callable[..., Any]) -> list[str]:
    """Names of parameters that can be given by place."""
    try:
        found = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in found if p.kind in kinds]


_PLACE = re.compile(r'"([^"]+)":(\d+):(\d+)')


def _module(lowered: Any) -> ModuleOp:
    """StableHLO of JAX as a module of xDSL, with the places of ops in the user's files."""
    operation = lowered.operation
    # Ops that no dialect has are refused later, with their places.
    context = all_dialects()
    context.allow_unregistered = True
    # Forms of JAX's own printer differ from one version to another, the generic one does not.
    module = parse_mlir(operation.get_asm(print_generic_op_form=True), "<jax>", context)
    places: list[FileLineColLoc | None] = []

    def note(op: Any) -> Any:
        found = _PLACE.search(str(op.location))
        places.append(
            FileLineColLoc(StringAttr(found[1]), *(IntAttr(int(found[k])) for k in (2, 3)))
            if found
            else None
        )
        return WalkResult.ADVANCE

    from jaxlib.mlir.ir import WalkOrder, WalkResult

    operation.walk(note, WalkOrder.PRE_ORDER)
    for op, place in zip(module.walk(), places, strict=True):
        set_place(op, place)
    return module


def _name_inputs(main: func.FuncOp, names: Sequence[str]) -> None:
    """Name a function's inputs, each with a name of its own."""
    seen: dict[str, int] = {}
    for argument, name in zip(main.body.block.args, names, strict=True):
        seen[name] = seen.get(name, 0) + 1
        give_name(argument, name if seen[name] == 1 else f"{name}_{seen[name]}")
    main.properties.pop("arg_attrs", None)


def _is_key(value: Any) -> bool:
    """Whether a value is a key of jax.random, of a type of its own."""
    return jax.dtypes.issubdtype(getattr(value, "dtype", None), jax.dtypes.prng_key)


def _array(leaf: Any, t: np.dtype[Any]) -> Any:
    """An argument's array, of an element type."""
    if isinstance(leaf, jax.Array):
        return jax.random.key_data(leaf) if _is_key(leaf) else leaf
    return np.asarray(leaf, t)


def _listed(function: Function, results: Any) -> Sequence[Any]:
    """A function's outputs in a list."""
    return results if len(function.outputs) != 1 else [results]


def _tree(tree: Any, arrays: Sequence[Any], is_jax: bool) -> Any:
    """Arrays as the leaves of a tree."""
    if is_jax:
        arrays = [jax.numpy.asarray(a) for a in arrays]
    return trees.tree_unflatten(tree, arrays)


__all__: Sequence[str] = ["JaxFunction", "compile"]
