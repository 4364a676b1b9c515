"""tile-vmap: functions of batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.discardable import DIMS, GRADIENT_OF
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.ops import ElementwiseOp
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.errors import TileError, count
from tiledialect.ir.control_flow import write_out_all
from tiledialect.ir.names import give_name, given_name, keep_name
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.ir.signature import argument_dims, argument_names, find_function, result_names
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.passes.gradient.tile_gradient import named_attributes
from tiledialect.passes.lift.lift_to_tile import without_patterns
from tiledialect.passes.transform.rules.batch import Batch
from tiledialect.passes.transform.rules.tensors import RULES, elementwise


def vmap(
    function: func.FuncOp,
    size: int,
    in_axes: Mapping[str, int],
    out_axes: Mapping[str, int | None] | None = None,
) -> None:
    """Make a function one of a batch of ``size`` elements, in place.

    ``in_axes`` gives for each input that has the batch the axis of it, ``out_axes`` those of the
    outputs: 0 where it says nothing, None for an output that is the same for all elements. Raises
    a TileError for inputs and axes that are not there, for an op without a rule, and where a
    shape is not known.
    """
    without_patterns(function)
    write_out_all(function, "batched form")
    _check_static(function)
    names, outputs = argument_names(function), result_names(function)
    block = function.body.block
    assert block.last_op is not None
    ops, args = list(block.ops), list(block.args)
    batch = Batch(size, TensorBuilder(ops[0]))
    taken = named_attributes(function.arg_attrs, names)
    dim = batch_name([d for own in argument_dims(function) or () for d in own or ()])
    for name, axis in in_axes.items():
        k = names.index(name)
        axis = _add_batch(batch, args[k], name, axis)
        taken[k] = _with_dim(taken[k], dim, axis)
    _replace(batch, ops)
    returned = block.last_op
    batch.at(returned)
    found = {n: (out_axes or {}).get(n, 0) for n in outputs}
    values = [_output(batch, v, *a) for v, a in zip(returned.operands, found.items(), strict=True)]
    given = named_attributes(function.res_attrs, outputs)
    Rewriter.replace_op(returned, func.ReturnOp(*values))
    for op in reversed(batch.replaced):
        op.detach()
        op.erase()
    for argument in (a for a in args if a in batch.values):
        block.erase_arg(argument)
    function.sym_name = StringAttr(f"{function.sym_name.data}_vmap")
    function.arg_attrs, function.res_attrs = ArrayAttr(taken), ArrayAttr(given)
    function.function_type = FunctionType.from_lists(block.arg_types, [v.type for v in values])
    function.attributes.pop(GRADIENT_OF, None)
    region_dce(function.body)


def batch_name(dims: Sequence[str]) -> str:
    """Name of the dimension that is the batch, beside others."""
    names = ("B", *(f"B_{k}" for k in range(2, len(dims) + 3)))
    return next(n for n in names if n not in dims)


def batch_axis(name: str, rank: int, axis: int) -> int:
    """Number of the axis of the batch in an input of a number of axes, counted from the front."""
    if not -rank <= axis < rank:
        axes = count(rank, "axis", "axes")
        raise TileError(f"{name} has {axes}, and no axis {axis} to map over")
    return axis % rank


def _check_static(function: func.FuncOp) -> None:
    """Refuse a function of which a shape or an element type is not known."""
    for value in (*function.body.block.args, *(r for op in function.walk() for r in op.results)):
        t = value.type
        is_tensor = hasattr(t, "element_type")
        if is_tensor and (
            not isinstance(t, TensorType)
            or not t.has_static_shape()
            or t.element_type == et.any_type
        ):
            name = given_name(value) or "a value"
            raise TileError.at(
                function, f"the type of {name} is not known: run tile-specialize before tile-vmap"
            )


def _add_batch(batch: Batch, argument: BlockArgument, name: str, axis: int) -> int:
    """Add an input with the batch before an input; its axis of the batch."""
    block: Block = argument.owner
    sizes = list(shape_of(tensor_type(argument)) or ())
    axis = batch_axis(name, len(sizes) + 1, axis)
    sizes.insert(axis, batch.size)
    whole = block.insert_arg(TensorType(tensor_type(argument).element_type, sizes), argument.index)
    give_name(whole, name)
    batch.values[argument] = batch.moved(whole, axis, 0)
    return axis


def _with_dim(attributes: DictionaryAttr, dim: str, axis: int) -> DictionaryAttr:
    """Attributes of an input with the name of a further dimension."""
    dims = attributes.data.get(DIMS)
    if not isinstance(dims, ArrayAttr):
        return attributes
    names = list(dims.data)
    names.insert(axis, StringAttr(dim))
    return DictionaryAttr({**attributes.data, DIMS: ArrayAttr(names)})


def _replace(batch: Batch, ops: Sequence[Operation]) -> None:
    """Insert the batched ops of a block."""
    for op in ops:
        if not op.results or not batch.has(*_read(op)):
            continue
        batch.at(op)
        rule = RULES.get(type(op))
        if isinstance(op, CustomGradientOp):
            batch.replaced.append(op)
            made = _custom_gradient(batch, op)
        elif rule is not None:
            made = rule(batch, op)
        elif isinstance(op, ElementwiseOp):
            made = elementwise(batch, op)
        else:
            raise TileError.at(op, f"{op.name} has no batched form")
        if made is not None:
            batch.note(op, made)
            if not isinstance(op, CustomGradientOp):
                batch.replaced.append(op)


def _read(op: Operation) -> list[SSAValue]:
    """Values that an op or its body reads."""
    inner = [v for region in op.regions for o in region.walk() for v in o.operands]
    return [*op.operands, *inner]


def _custom_gradient(batch: Batch, op: CustomGradientOp) -> SSAValue:
    """The op with all that it reads batched: a repeated value gets the sum of the cotangents."""
    made = CustomGradientOp.of(batch.full(op.value), [batch.full(v) for v in op.inputs])
    result = batch.b.insert(made)
    batch.values[op.cotangent] = made.cotangent
    keep_name(made.cotangent, op.cotangent)
    yielded = list(op.yielded)
    inner = list(op.body.block.ops)
    for o in inner:
        o.detach()
        made.body.block.add_op(o)
    _replace(batch, inner)
    batch.at(inner[-1])
    shares = [_share(batch, v, like) for v, like in zip(yielded, op.inputs, strict=True)]
    Rewriter.replace_op(inner[-1], YieldOp(shares))
    return result


def _share(batch: Batch, share: SSAValue, like: SSAValue) -> SSAValue:
    """Batched cotangent; a number counts for each element of the input."""
    if not layout.shape(share) and (sizes := layout.shape(like)):
        rows = layout.reshape(batch.b, batch.full(share), (batch.size, *(1,) * len(sizes)))
        return layout.broadcast(batch.b, rows, (batch.size, *sizes), range(len(sizes) + 1))
    return batch.full(share)


def _output(batch: Batch, value: SSAValue, name: str, axis: int | None) -> SSAValue:
    """Output with the batch at an axis."""
    if axis is None:
        if batch.has(value):
            raise TileError(f"{name} differs between the elements of the batch: give it an axis")
        return value
    whole = batch.full(value)
    result = batch.moved(whole, 0, batch_axis(name, len(layout.shape(whole)), axis))
    if isinstance(result.owner, Operation):
        give_name(result, name)
    return result


@dataclass(frozen=True)
class TileVmapPass(PassWithFlags):
    """Makes a function one of a batch: it computes the same for each of several elements.

    The axis of the batch is added to every access. Inputs without it are the same for all elements.
    Shapes must be known: `tile-specialize` runs before, with the types of one element.
    """

    name = "tile-vmap"

    size: int
    """Number of elements of the batch."""
    function: str | None = None
    """Name of the function; optional if there is only one."""
    inputs: tuple[str, ...] = ()
    """Inputs that have the batch; by default all."""
    in_axes: tuple[int, ...] = ()
    """Axis of the batch in each of them; by default 0, the first."""
    out_axes: tuple[int, ...] = ()
    """Axis of the batch in each output; by default 0."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the function."""
        if self.size < 0:
            raise TileError(f"`size` must be at least 0, got {self.size}")
        function = find_function(op, self.function)
        names, outputs = argument_names(function), result_names(function)
        inputs = self.inputs or tuple(names)
        for name in inputs:
            if name not in names:
                raise TileError(
                    f"there is no input {name} to map over; there is {', '.join(names)}"
                )
        in_axes = _each("in-axes", self.in_axes, inputs)
        vmap(function, self.size, in_axes, _each("out-axes", self.out_axes, outputs))


def _each(option: str, axes: Sequence[int], names: Sequence[str]) -> dict[str, int]:
    """Axis for each name."""
    axes = axes or (0,) * len(names)
    if len(axes) != len(names):
        raise TileError(f"{option} gives {count(len(axes), 'axis', 'axes')} for {', '.join(names)}")
    return dict(zip(names, axes, strict=True))
