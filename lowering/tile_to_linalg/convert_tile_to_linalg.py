"""convert-tile-to-linalg: tensor programs in dialects of upstream alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass, PassPipeline
from xdsl.rewriter import InsertPoint
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.dead_code_elimination import dce

from tiledialect.dialects.discardable import PREFIXES
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import TileOp, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp, SizeOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import (
    GatherOp,
    PrngStateOp,
    PrngValueOp,
    ReshapeOp,
    ScatterOp,
    ShapeOp,
)
from tiledialect.errors import TileError
from tiledialect.ir.common_subexpressions import NamingCsePass
from tiledialect.ir.names import keep_name, with_type
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import argument_names
from tiledialect.lowering.tile_to_linalg.contraction import contraction
from tiledialect.lowering.tile_to_linalg.elementwise import elements
from tiledialect.lowering.tile_to_linalg.loops import scan, scatter
from tiledialect.lowering.tile_to_linalg.nests import LinalgBuilder
from tiledialect.lowering.tile_to_linalg.values import Values
from tiledialect.passes.algebra.tile_one_hot import TileOneHotPass
from tiledialect.passes.algebra.tile_scan import TileScanPass
from tiledialect.passes.diagnostics.reporting import warn
from tiledialect.passes.normalize.tile_bounds import TileBoundsPass
from tiledialect.passes.normalize.tile_broadcast import TileBroadcastPass
from tiledialect.passes.normalize.tile_decompose import TileDecomposePass
from tiledialect.passes.normalize.tile_defract import TileDefractPass
from tiledialect.passes.normalize.tile_reduce import TileReducePass
from tiledialect.passes.specialize.argument_types import declared_type
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.passes.specialize.tile_widen import TileWidenPass

Lower = Callable[[Values, Operation], SSAValue]


def _contraction(values: Values, op: Operation) -> SSAValue:
    assert isinstance(op, ContractionOp)
    return contraction(values, op)


def _scan(values: Values, op: Operation) -> SSAValue:
    assert isinstance(op, ScanOp)
    return scan(values, op)


def _scatter(values: Values, op: Operation) -> SSAValue:
    assert isinstance(op, ScatterOp)
    return scatter(values, op)


def _reshape(values: Values, op: Operation) -> SSAValue:
    shape = shape_of(tensor_type(op.results[0])) or ()
    t = et.concrete(tensor_type(op.results[0]).element_type)
    return values.linalg.reshaped(values.converted(op.operands[0], t), shape)


LOWERINGS: Mapping[type[Operation], Lower] = {
    ContractionOp: _contraction,
    ScanOp: _scan,
    ScatterOp: _scatter,
    ReshapeOp: _reshape,
    GatherOp: elements,
    ShapeOp: elements,
    PrngValueOp: elements,
    PrngStateOp: elements,
}
"""Lowering of each op that is not elementwise."""


class ConvertTileToLinalgPass(ModulePass):
    """Lowers tile ops to linalg, tensor, arith, math and scf.

    Contractions become `linalg.generic` after bounds, reduce and defract; where an access leaves
    its tensor, that is padded, and points that do not count are left out by `arith.select`.
    Scans and scatters are loops of scf. Integers are signless, as upstream has them, and the
    attributes of our dialects are dropped, so that any compiler of MLIR takes the result. The
    inputs of the functions need static types.
    """

    name = "convert-tile-to-linalg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function that has tile ops."""
        functions = [f for f in ops_of(op, func.FuncOp) if ops_of(f, TileOp)]
        for function in functions:
            _check(function)
            types = zip(argument_names(function), function.function_type.inputs, strict=True)
            warn(specialize(function, [declared_type(name, t) for name, t in types]))
        normalize = (
            *(TileWidenPass(), CanonicalizePass(), NamingCsePass(), TileDecomposePass()),
            *(TileBroadcastPass(), TileBoundsPass(), TileOneHotPass(), TileScanPass()),
            *(TileReducePass(), TileDefractPass(), CanonicalizePass()),
        )
        PassPipeline(normalize).apply(ctx, op)
        for function in functions:
            _lower(function)
        for function in ops_of(op, func.FuncOp):
            _strip(function)
        _strip_attributes(op)
        dce(op)


def _check(function: func.FuncOp) -> None:
    for op in ops_of(function, LiftOp, KernelOp):
        raise TileError.at(op, f"{op.name} has no counterpart in linalg")


def _lower(function: func.FuncOp) -> None:
    """Lower the tile ops of a function."""
    block = function.body.block
    lowered: list[Operation] = []
    values = Values(LinalgBuilder(Builder(InsertPoint.at_start(block))))
    given = list(block.args)
    for argument in given:
        made = block.insert_arg(_storage(argument.type), argument.index)
        keep_name(made, argument)
        values.made[argument] = made
    for op in list(block.ops):
        values.linalg.builder.insertion_point = InsertPoint.before(op)
        if isinstance(op, TileOp):
            lowered.append(op)
            if not isinstance(op, ConstantOp | SizeOp):
                made = _lowered(values, op)
                made.name_hint = op.results[0].name_hint
                values.made[op.results[0]] = made
        else:
            op.operands = [_taken(values, v) for v in op.operands]
            for result in op.results:
                values.made[result] = result
    for op in reversed(lowered):
        op.detach()
        op.erase()
    for argument in given:
        block.erase_arg(argument)


def _lowered(values: Values, op: TileOp) -> SSAValue:
    if isinstance(op, CustomGradientOp):
        return values.of(op.value)
    lower = LOWERINGS.get(type(op))
    if lower is None and isinstance(op, ElementwiseOp):
        lower = elements
    if lower is None:
        raise TileError.at(op, f"{op.name} has no counterpart in linalg")
    return lower(values, op)


def _taken(values: Values, value: SSAValue) -> SSAValue:
    """Tensor for an operand of an op that is not lowered."""
    return values.of(value) if isinstance(value.owner, TileOp | Block) else value


def _strip(function: func.FuncOp) -> None:
    """Let a function take and return signless integers, and drop our attributes."""
    for region in function.regions:
        for block in region.blocks:
            for value in [r for op in block.ops for r in op.results]:
                if (t := _storage(value.type)) != value.type:
                    with_type(value, t)
    types = function.function_type
    function.properties["function_type"] = FunctionType.from_lists(
        [_storage(t) for t in types.inputs], [_storage(t) for t in types.outputs]
    )
    for key in ("arg_attrs", "res_attrs"):
        given = function.properties.get(key)
        if isinstance(given, ArrayAttr):
            kept = [_plain(a) for a in given if isinstance(a, DictionaryAttr)]
            if any(a.data for a in kept):
                function.properties[key] = ArrayAttr(kept)
            else:
                del function.properties[key]


def _storage(t: Attribute) -> Attribute:
    if isinstance(t, TensorType) and not isinstance(t.element_type, IndexType):
        return TensorType(et.storage_type(t.element_type), t.get_shape())
    return t


def _plain(attributes: DictionaryAttr) -> DictionaryAttr:
    return DictionaryAttr({k: v for k, v in attributes.data.items() if not k.startswith(PREFIXES)})


def _strip_attributes(module: ModuleOp) -> None:
    for op in module.walk():
        for name in [name for name in op.attributes if name.startswith(PREFIXES)]:
            del op.attributes[name]
