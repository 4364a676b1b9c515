"""tile-jvp: forward-mode differentiation of a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.analysis.shape_operands import depend_on
from tiledialect.dialects.discardable import DIMS, GRADIENT_OF, NAME, TANGENT_OF
from tiledialect.errors import TileError
from tiledialect.ir.names import give_name
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.ir.signature import argument_names, find_function, result_names
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.gradient.rules.elementwise import can_flow
from tiledialect.passes.gradient.tile_gradient import (
    derived_names,
    differentiate,
    named_attributes,
    selected_inputs,
)


def jvp(function: func.FuncOp, wrt: Sequence[str] = ()) -> func.FuncOp:
    """The function of derivatives along directions of ``function``, which stays as it is.

    It takes the inputs, then a tangent for each input of ``wrt`` (all real ones if empty), named
    ``T`` + input; it gives the outputs, then the tangents of the real ones. Raises a TileError for
    names that are no inputs, for integers, and for a custom gradient that is not linear.

    The gradient is linear in the cotangents, and its own gradient by them is the derivative
    along the tangents: both directions have one table of rules (Townsend, "A new trick for
    calculating Jacobian vector products", 2017; Radul et al., "You only linearize once", 2023).
    """
    result = function.clone()
    differentiate_forward(result, wrt)
    return result


def differentiate_forward(
    function: func.FuncOp, wrt: Sequence[str], outputs: Sequence[str] | None = None
) -> None:
    """Make a function that of its derivatives along directions, in place; see ``jvp``.

    ``outputs`` names those that get a tangent, zeros for integers; by default the real ones do.
    """
    original = function.clone()
    name = function.sym_name.data
    inputs = [argument_names(function)[k] for k in selected_inputs(function, wrt)]
    own = len(function.body.block.args)
    differentiate(function, inputs, with_outputs=True)
    cotangents = function.body.block.args[own:]
    added = zip(argument_names(function)[own:], cotangents, strict=True)
    real = [n for n, cotangent in added if can_flow(cotangent)]
    if not real:
        raise TileError.at(original, "no output holds reals: there are no tangents")
    differentiate(function, real, with_outputs=True)
    _finish(function, original, own, cotangents, inputs, outputs)
    function.sym_name = StringAttr(f"{name}_jvp")


def _finish(
    result: func.FuncOp,
    function: func.FuncOp,
    own: int,
    cotangents: Sequence[BlockArgument],
    inputs: Sequence[str],
    outputs: Sequence[str] | None,
) -> None:
    """Let the twice differentiated function take tangents alone, and give no cotangents."""
    block = result.body.block
    returned = block.last_op
    assert isinstance(returned, func.ReturnOp)
    names = result_names(function)
    count = len(names)
    values, tangents = returned.operands[:count], returned.operands[count + len(inputs) :]
    _check_linear(function, cotangents, tangents)
    for cotangent, value in zip(cotangents, values, strict=True):
        # The shape alone of the cotangent is used, which is the output's.
        cotangent.replace_all_uses_with(value)
    flowing = [n for n, v in zip(names, values, strict=True) if can_flow(v)]
    found = dict(zip(flowing, tangents, strict=True))
    b = TensorBuilder(returned)
    for name, value in zip(names, values, strict=True):
        if name in (outputs or ()) and name not in found:
            found[name] = b.zeros_like(value)
    real = [n for n in names if n in found]
    tangents = [found[n] for n in real]
    Rewriter.replace_op(returned, func.ReturnOp(*values, *tangents))
    region_dce(result.body)
    for argument in reversed(block.args[own : own + 2 * count]):
        block.erase_arg(argument)
    _name(result, function, own, values, tangents, inputs, real)


def _check_linear(
    function: func.FuncOp, cotangents: Sequence[SSAValue], tangents: Sequence[SSAValue]
) -> None:
    """Raise a TileError if a gradient depends on its cotangents otherwise than linearly."""
    depending = depend_on(cotangents)
    if any(t in depending for t in tangents):
        raise TileError.at(
            function,
            "a custom gradient is not linear in its cotangent: there are no tangents through it",
        )


def _name(
    result: func.FuncOp,
    function: func.FuncOp,
    own: int,
    values: Sequence[SSAValue],
    tangents: Sequence[SSAValue],
    inputs: Sequence[str],
    real: Sequence[str],
) -> None:
    """Give arguments and results their names and attributes."""
    block = result.body.block
    names, outputs = argument_names(function), result_names(function)
    added = derived_names("T", inputs, names)
    gained = derived_names("T", real, outputs)
    for argument, name in zip(block.args[own:], added, strict=True):
        give_name(argument, name)
    for value, name in zip(tangents, gained, strict=True):
        if not isinstance(value, BlockArgument):
            give_name(value, name)
    taken = named_attributes(function.arg_attrs, names)
    given = named_attributes(function.res_attrs, outputs)
    of = [taken[names.index(name)] for name in inputs]
    result.arg_attrs = ArrayAttr([*taken, *map(_tangent, added, inputs, of)])
    result.res_attrs = ArrayAttr([*given, *map(_tangent, gained, real)])
    result.function_type = FunctionType.from_lists(
        block.arg_types, [v.type for v in (*values, *tangents)]
    )
    result.attributes.pop(GRADIENT_OF, None)


def _tangent(name: str, of: str, like: DictionaryAttr | None = None) -> DictionaryAttr:
    """Attributes of an argument or result that is the tangent of another."""
    dims = {k: v for k, v in (like.data if like else {}).items() if k == DIMS}
    return DictionaryAttr({NAME: StringAttr(name), TANGENT_OF: StringAttr(of), **dims})


@dataclass(frozen=True)
class TileJvpPass(PassWithFlags):
    """Adds the function of derivatives along directions of a function.

    For `f(A, B) -> (C)` that is `f_jvp(A, B, TA, TB) -> (C, TC)`: from the inputs and their
    tangents to the outputs and theirs.
    """

    name = "tile-jvp"

    function: str | None = None
    """The function to differentiate; optional if there is only one."""
    wrt: tuple[str, ...] = ()
    """Inputs that have tangents; by default all that hold reals, or whose type is open."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Add the function after the function."""
        function = find_function(op, self.function)
        Rewriter.insert_op(jvp(function, self.wrt), InsertPoint.after(function))
