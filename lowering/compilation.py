"""Compilation of one function of a module, from the tensor level to the kernel level."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute
from xdsl.passes import ModulePass, PassPipeline

from tiledialect.caches import compilation
from tiledialect.dialects.discardable import WARNINGS
from tiledialect.dialects.tile import Tile
from tiledialect.errors import TileError
from tiledialect.ir.signature import find_function
from tiledialect.ir.target_spec import describe
from tiledialect.lowering.host.gpu_arena import GpuArenaPass
from tiledialect.lowering.host.shape_binding import bind_shapes
from tiledialect.lowering.module_reuse import Form, KeptModules
from tiledialect.lowering.pipeline import MODELLED, local_size_of, open_pipeline, pipeline
from tiledialect.passes.algebra.tile_split_product import TileSplitProductPass
from tiledialect.passes.diagnostics.reporting import keep_warnings
from tiledialect.passes.fuse.options import Fusion
from tiledialect.passes.schedule.tile_join_axes import TileJoinAxesPass
from tiledialect.passes.transform.transforms import Transform, specialize_transformed
from tiledialect.schedule.default_schedule import LOCAL_SIZE

OPEN_PASSES = frozenset(p.name for p in open_pipeline(LOCAL_SIZE, 32))
"""Names of the passes that compile functions of patterns with open sizes."""


@compilation()
def compile_module(
    module: ModuleOp,
    name: str | None,
    types: Sequence[TensorType[Attribute]],
    target: Attribute | None = None,
    transforms: Sequence[Transform] = (),
    after: str | None = None,
    schedules: tuple[str, ...] = (),
    fusion: Fusion = MODELLED,
    passes: tuple[str, ...] = (),
    kept: KeptModules | None = None,
) -> ModuleOp:
    """The kernel-level module of a function for inputs of these types; ``module`` stays as it is.

    ``target`` is the DLTI target spec of the device. With ``transforms`` the function is
    transformed like this, and ``types`` are those that it then takes; with ``after``
    the passes after the one of that name are not run. ``schedules`` are given to the kernels, see
    ``tile-loop-tiling``, and ``fusion`` to ``tile-fuse``; ``passes`` take the place of the cost
    model's choices, see `GivenPasses`; ``kept`` are modules of the same program for other sizes,
    to which this one is added. Warnings for the user are in the
    attribute ``tile.warnings``. Raises a TileError if the types do not fit.
    """
    source = find_function(module, name)
    module = only(module.clone(), name)
    function = find_function(module, name)
    describe(module, target)
    keep_warnings(module, specialize_transformed(function, types, transforms, source))
    steps = pipeline(local_size_of(module), schedules, fusion, passes)
    _run(_until(steps, after), _folding(), module, kept)
    return module


def run_between(
    module: ModuleOp,
    first: str,
    last: str,
    schedules: tuple[str, ...] = (),
    fusion: Fusion = MODELLED,
    passes: tuple[str, ...] = (),
) -> None:
    """Run the passes of ``compile_module`` from one to another, for which a module is ready."""
    steps = _until(pipeline(local_size_of(module), schedules, fusion, passes), last)
    begin = [p.name for p in steps].index(first)
    PassPipeline(steps[begin:]).apply(_folding(), module)


def _folding() -> Context:
    """A context for passes that fold: that makes constants, for which it asks their dialects."""
    context = Context()
    for dialect in (Arith, Tile):
        context.load_dialect(dialect)
    return context


def _run(
    passes: tuple[ModulePass, ...], context: Context, module: ModuleOp, kept: KeptModules | None
) -> None:
    """Run passes; what is decided for a neighbouring batch may take the place of some of them."""
    names = [p.name for p in passes]
    if kept is None or TileJoinAxesPass.name not in names:
        PassPipeline(passes).apply(context, module)
        return
    first = names.index(TileSplitProductPass.name) + 1
    last = names.index(TileJoinAxesPass.name) + 1
    PassPipeline(passes[:first]).apply(context, module)
    form = Form.of(module)
    if form is None:
        PassPipeline(passes[first:last]).apply(context, module)
    elif not kept.resize(module, form):
        is_known = True
        for step in passes[first:last]:
            step.apply(context, module)
            # Looked at before a later pass merges equal constants.
            is_known = is_known and form.has_numbers(module)
        if is_known:
            kept.keep(form, module)
    PassPipeline(passes[last:]).apply(context, module)


@compilation()
def compile_open(
    module: ModuleOp,
    name: str,
    index_width: int,
    target: Attribute | None,
    after: str | None,
) -> ModuleOp:
    """The kernel-level module of a function of patterns, for inputs of all sizes.

    Raises an ``OpenSizeError`` if a size must be a number.
    """
    module = only(module.clone(), name)
    describe(module, target)
    passes = open_pipeline(local_size_of(module), index_width)
    PassPipeline(_until(passes, after)).apply(_folding(), module)
    return module


def close(module: ModuleOp, name: str, types: Sequence[TensorType[Attribute]]) -> ModuleOp:
    """Module of ``compile_open`` for inputs of these types."""
    module = bind_shapes(module, name, [t.get_shape() for t in types])
    GpuArenaPass().apply(Context(), module)
    return module


def only(module: ModuleOp, name: str | None) -> ModuleOp:
    """The module without other functions."""
    function = find_function(module, name)
    for other in list(module.body.block.ops):
        if other is not function:
            other.detach()
            other.erase(safe_erase=False)
    return module


def warnings_of(module: ModuleOp) -> tuple[str, ...]:
    """Warnings for the user in a compiled module."""
    texts = module.attributes.get(WARNINGS)
    given = texts if isinstance(texts, ArrayAttr) else ()
    return tuple(text.data for text in given if isinstance(text, StringAttr))


BEFORE = ("tile-specialize", "tile-gradient")
"""Passes before the pipeline."""


def _until(passes: tuple[ModulePass, ...], after: str | None) -> tuple[ModulePass, ...]:
    """The passes up to the one called ``after``."""
    if after is None:
        return passes
    names = [p.name for p in passes]
    if after in BEFORE:
        return ()
    if after not in names:
        raise TileError(f"there is no pass {after}; there is {', '.join((*BEFORE, *names))}")
    # A pass may be there several times: for what is given, and for the rest.
    return passes[: len(names) - names[::-1].index(after)]
