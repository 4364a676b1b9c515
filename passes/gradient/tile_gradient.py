"""tile-gradient: reverse-mode differentiation of a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.discardable import COTANGENT_OF, GRADIENT_OF, NAME
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.ops import CastOp, ElementwiseOp
from tiledialect.dialects.tile.meetings import element_type, leave_open
from tiledialect.errors import TileError
from tiledialect.ir.control_flow import write_out_all
from tiledialect.ir.names import give_name, given_name, place_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.ir.signature import argument_names, find_function, result_names
from tiledialect.ir.tensor_builder import Origins, TensorBuilder
from tiledialect.passes.gradient.rules.approximate_division import approximate_divisions
from tiledialect.passes.gradient.rules.contractions import contraction_gradient
from tiledialect.passes.gradient.rules.elementwise import DERIVATIVES, can_flow
from tiledialect.passes.gradient.rules.shift_invariance import shift_invariant_extrema
from tiledialect.passes.lift.lift_to_tile import without_patterns
from tiledialect.passes.specialize.types.float_widths import RealWidths


def cotangent_names(names: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Names `D` + name, with a number behind where the name is taken."""
    return derived_names("D", names, taken)


def derived_names(prefix: str, names: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Names with a prefix, and with a number behind where the name is taken."""
    used = set(taken)
    result: list[str] = []
    for name in names:
        derived, number = f"{prefix}{name}", 2
        while derived in used:
            derived, number = f"{prefix}{name}_{number}", number + 1
        used.add(derived)
        result.append(derived)
    return tuple(result)


def check_names(wrt: Sequence[str], inputs: Sequence[str]) -> None:
    """Refuse names that are not inputs, and repeated ones."""
    for name in wrt:
        if name not in inputs:
            raise TileError(
                f"there is no input {name} to differentiate by; there is {', '.join(inputs)}"
            )
    if len(set(wrt)) < len(wrt):
        raise TileError("an input to differentiate by is named twice")


def gradient(
    function: func.FuncOp,
    wrt: Sequence[str] = (),
    *,
    name: str | None = None,
    with_outputs: bool = False,
) -> func.FuncOp:
    """The gradient function of ``function``, which stays as it is.

    It takes the inputs and a cotangent for each output, named ``D`` + output, and gives the
    cotangents of the inputs ``wrt`` (all real ones if empty), in that order; ``with_outputs`` the
    function's own outputs before them. Raises a TileError for names that are no inputs, and for
    inputs that hold integers.
    """
    result = function.clone()
    differentiate(result, wrt, name=name, with_outputs=with_outputs)
    return result


def differentiate(
    function: func.FuncOp,
    wrt: Sequence[str],
    *,
    name: str | None = None,
    with_outputs: bool,
) -> None:
    """Make a function its gradient function, in place; see ``gradient``."""
    inputs = selected_inputs(function, wrt)
    without_patterns(function)
    write_out_all(function, "gradient")
    function.attributes[GRADIENT_OF] = SymbolRefAttr(function.sym_name)
    function.sym_name = StringAttr(name or f"{function.sym_name.data}_gradient")
    before = set(function.walk())
    _Differentiator(function, inputs, with_outputs).run()
    _settle_widths(function, [op for op in function.walk() if op not in before])


def _settle_widths(function: func.FuncOp, added: Sequence[Operation]) -> None:
    """Give the reals that derivatives make of integers and numbers alone the width they meet."""
    if any(element_type(a) == et.any_type for a in function.body.block.args):
        for op in added:
            leave_open(op)
        return
    returned = function.body.block.last_op
    assert isinstance(returned, func.ReturnOp)
    types = [element_type(v) for v in returned.operands]
    RealWidths(function, added).settle()
    for k, (value, t) in enumerate(zip(returned.operands, types, strict=True)):
        if element_type(value) != t:
            cast = CastOp.to(value, t)
            Rewriter.insert_op(cast, InsertPoint.before(returned))
            returned.operands[k] = cast.result


def selected_inputs(function: func.FuncOp, wrt: Sequence[str]) -> list[int]:
    """Numbers of the inputs to differentiate by: ``wrt``, or all that may hold reals."""
    names = argument_names(function)
    for name, argument in zip(names, function.body.block.args, strict=True):
        if not isinstance(argument.type, TensorType | UnrankedTensorType):
            raise TileError.at(
                function,
                f"{name} is of type {argument.type}, not a tensor: "
                "tile-gradient runs before kernels are made",
            )
    types = [tensor_type(a).element_type for a in function.body.block.args]
    if not wrt:
        return [k for k, t in enumerate(types) if et.may_be_float(t)]
    check_names(wrt, names)
    for name in wrt:
        if not et.may_be_float(types[names.index(name)]):
            raise TileError(
                f"{name} holds {et.type_name(types[names.index(name)])}: "
                "there is no gradient with respect to integers"
            )
    return [names.index(name) for name in wrt]


@dataclass
class _Differentiator:
    """Turns a clone of a function into its gradient function."""

    function: func.FuncOp
    inputs: list[int]
    with_outputs: bool
    cotangents: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    shaped_as: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Value whose cotangent, and shape, each cotangent has."""
    active: set[SSAValue] = field(default_factory=set[SSAValue])
    """Values that depend on the inputs to differentiate by."""
    origins: Origins = field(default_factory=Origins)

    def run(self) -> None:
        block = self.function.body.block
        returned = block.last_op
        assert isinstance(returned, func.ReturnOp)
        ops = list(block.ops)
        names = argument_names(self.function)
        old_outputs = result_names(self.function) if self.with_outputs else []
        self._find_active(ops, [block.args[k] for k in self.inputs])
        for op in ops:
            # In order, so that no question goes deep.
            self.origins.note(op.results)
        added = self._add_cotangents(returned)
        for op in reversed(ops):
            self._visit(op, self._builder(returned, place_of(op)))
        outputs = list(returned.operands) if self.with_outputs else []
        results = [self._result(k, names[k], self._builder(returned)) for k in self.inputs]
        new_names = cotangent_names([names[k] for k in self.inputs], old_outputs)
        self._finish(returned, added, outputs, results, new_names)

    def _builder(self, before: Operation, place: FileLineColLoc | None = None) -> TensorBuilder:
        return TensorBuilder(before, place, self.shaped_as, origins=self.origins)

    def _find_active(self, ops: Sequence[Operation], sources: Sequence[SSAValue]) -> None:
        self.active.update(sources)
        for op in ops:
            # A custom gradient is the only way through its op.
            sources = op.inputs if isinstance(op, CustomGradientOp) else op.operands
            if any(v in self.active for v in sources):
                self.active.update(r for r in op.results if can_flow(r))
        self.active -= shift_invariant_extrema(self.active)

    def _add_cotangents(self, returned: func.ReturnOp) -> tuple[str, ...]:
        """Add an argument for the cotangent of each output; their names."""
        block = self.function.body.block
        added = cotangent_names(result_names(self.function), argument_names(self.function))
        b = self._builder(returned)
        for output, name in zip(returned.operands, added, strict=True):
            argument = block.insert_arg(output.type, len(block.args))
            give_name(argument, name)
            # The cotangent of an output of integers is not used.
            if can_flow(output):
                self._accumulate(b, output, argument)
        return added

    def _visit(self, op: Operation, b: TensorBuilder) -> None:
        cotangent = next((self.cotangents[r] for r in op.results if r in self.cotangents), None)
        if cotangent is None or op.results[0] not in self.active:
            return
        if isinstance(op, CustomGradientOp):
            operands, shares = list(op.inputs), inlined_gradient(b, op, cotangent)
        elif isinstance(op, ContractionOp):
            operands = [*op.inputs, *([op.default] if op.default is not None else [])]
            wanted = [v in self.active for v in operands]
            shares = contraction_gradient(b, op, cotangent, wanted)
        elif (rule := DERIVATIVES.get(type(op))) is not None:
            operands, shares = list(op.operands), list(rule(b, op, cotangent))
        else:
            raise TileError.at(op, f"{op.name} has no gradient")
        for operand, share in zip(operands, shares, strict=True):
            if share is not None and operand in self.active:
                if isinstance(op, ElementwiseOp) and _may_broadcast(op, operand):
                    share = b.sum_to(share, operand)
                self._accumulate(b, operand, share)

    def _accumulate(self, b: TensorBuilder, value: SSAValue, share: SSAValue) -> None:
        if value in self.cotangents:
            share = b.add(self.cotangents[value], share)
        if given_name(share) is None and (name := given_name(value)) is not None:
            give_name(share, f"D{name}")
        self.cotangents[value] = share
        self.shaped_as.setdefault(share, value)

    def _result(self, k: int, name: str, b: TensorBuilder) -> SSAValue:
        """Cotangent of an input, in the input's own type."""
        argument = self.function.body.block.args[k]
        result = self.cotangents.get(argument)
        if result is None:
            result = b.zeros_like(argument)
        own, found = tensor_type(argument).element_type, tensor_type(result).element_type
        if et.any_type not in (own, found) and own != found:
            result = b.insert(CastOp.to(result, own))
        if isinstance(result.owner, Operation):
            give_name(result, f"D{name}")
        return result

    def _finish(
        self,
        returned: func.ReturnOp,
        added: Sequence[str],
        outputs: list[SSAValue],
        results: list[SSAValue],
        names: Sequence[str],
    ) -> None:
        """Return the results, and give arguments and results their names."""
        function = self.function
        inputs_named = argument_names(function)[: len(function.function_type.inputs)]
        outputs_named = result_names(function)
        argument_attrs = named_attributes(function.arg_attrs, inputs_named)
        kept = outputs_named if self.with_outputs else []
        result_attrs = named_attributes(function.res_attrs if kept else None, kept)
        Rewriter.replace_op(returned, func.ReturnOp(*outputs, *results))
        types = [v.type for v in (*outputs, *results)]
        function.function_type = FunctionType.from_lists(function.body.block.arg_types, types)
        sources = [inputs_named[k] for k in self.inputs]
        function.arg_attrs = ArrayAttr([*argument_attrs, *map(_cotangent, added, outputs_named)])
        function.res_attrs = ArrayAttr([*result_attrs, *map(_cotangent, names, sources)])
        region_dce(function.body)
        approximate_divisions(function, outputs)


def _may_broadcast(op: ElementwiseOp, operand: SSAValue) -> bool:
    """Whether the result of an op may have another shape than an operand."""
    others = (v for v in op.operands if v is not operand)
    return any(shape_of(tensor_type(v)) != () for v in others)


def _cotangent(name: str, of: str) -> DictionaryAttr:
    """Attributes of an argument or result that is the cotangent of another."""
    return DictionaryAttr({NAME: StringAttr(name), COTANGENT_OF: StringAttr(of)})


def inlined_gradient(b: TensorBuilder, op: CustomGradientOp, g: SSAValue) -> list[SSAValue | None]:
    """Cotangents that a custom gradient's body computes from the result's."""
    own, found = tensor_type(op.result).element_type, tensor_type(g).element_type
    if et.any_type not in (own, found) and own != found:
        g = b.insert(CastOp.to(g, own))
    values: dict[SSAValue, SSAValue] = {op.cotangent: g}
    for inner in op.body.block.ops:
        if inner.results:
            copy = inner.clone(values)
            Rewriter.insert_op(copy, InsertPoint.before(b.before))
    shares = [values.get(v, v) for v in op.yielded]
    # A scalar counts for each element.
    return [
        b.like(share, tensor) if shape_of(tensor_type(share)) == () else share
        for share, tensor in zip(shares, op.inputs, strict=True)
    ]


def named_attributes(
    attrs: ArrayAttr[DictionaryAttr] | None, names: Sequence[str]
) -> list[DictionaryAttr]:
    """Attributes of a function's arguments or results, each with its name."""
    given = [entry.data for entry in attrs] if attrs is not None else [{} for _ in names]
    return [
        DictionaryAttr({NAME: StringAttr(name), **entry})
        for name, entry in zip(names, given, strict=True)
    ]


@dataclass(frozen=True)
class TileGradientPass(PassWithFlags):
    """Adds the gradient function of a function.

    For `f(A, B) -> (C)` that is `f_gradient(A, B, DC) -> (DA, DB)`: from the inputs and the
    cotangents of the outputs to the cotangents of the inputs.
    """

    name = "tile-gradient"

    function: str | None = None
    """The function to differentiate; optional if there is only one."""
    wrt: tuple[str, ...] = ()
    """Inputs to differentiate by; by default all that hold reals, or whose type is open."""
    with_outputs: bool = False
    """Whether the gradient function also returns the function's own outputs, first."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Add the gradient function after the function."""
        function = find_function(op, self.function)
        result = gradient(function, self.wrt, with_outputs=self.with_outputs)
        Rewriter.insert_op(result, InsertPoint.after(function))
