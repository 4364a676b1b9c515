"""tile-specialize: bind a function's shapes and element types."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.discardable import ASSERTION, COTANGENT_OF, GRADIENT_OF
from tiledialect.dialects.lift import values as lift
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.binding import bind_sizes
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import symbol
from tiledialect.dialects.tile.base import (
    AnyTensor,
    TileOp,
    format_shape,
    make_type,
    name_of,
    shape_of,
    tensor_type,
)
from tiledialect.dialects.tile.canonicalization import substituted
from tiledialect.dialects.tile.constants import constant_of, misfit
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.folding import fold_elementwise
from tiledialect.dialects.tile.elementwise.ops import (
    CastOp,
    ConstantOp,
    DivOp,
    ElementwiseOp,
    SizeOp,
)
from tiledialect.dialects.tile.meetings import element_type
from tiledialect.dialects.tile.special import GatherOp, ScatterOp, SizedOp
from tiledialect.errors import TileError, count
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.control_flow import CONTROL
from tiledialect.ir.names import keep_name, keep_origin, take_name, with_type
from tiledialect.ir.signature import (
    argument_names,
    find_function,
    parse_type,
    result_names,
)
from tiledialect.ir.size_arithmetic import computed_integer
from tiledialect.passes.diagnostics.access_warnings import (
    AxisNames,
    axis_names,
    empty_contraction,
    header_names,
    out_of_range_places,
    partial_read,
)
from tiledialect.passes.diagnostics.reporting import warn
from tiledialect.passes.diagnostics.value_text import described_size
from tiledialect.passes.diagnostics.value_warnings import (
    fractional_access,
    term_count,
    truncated_mean,
    vanishing_quotient,
    wrapping_sum,
)
from tiledialect.passes.specialize.argument_types import (
    check_arguments,
    check_derived_types,
    declared_type,
)
from tiledialect.passes.specialize.types.float_widths import RealWidths
from tiledialect.passes.specialize.types.integer_ranges import IntegerRanges


def specialize(function: func.FuncOp, types: Sequence[TensorType[Attribute]]) -> tuple[str, ...]:
    """Bind the function's inputs to static ``types``, in place; everything else follows.

    Sizes become numbers, symbols leave the contractions, and every type is static afterwards. The
    cotangents that a gradient function takes must be of the types of the function's outputs, if
    that is in the same module; its results get the element types of its inputs. Raises a TileError
    if the types do not fit the header or one another. Returns the warnings for the author of the
    program, for ``reporting.warn``.
    """
    return _specialize(function, types, function.parent_block())


def _specialize(
    function: func.FuncOp, types: Sequence[TensorType[Attribute]], module: Block | None
) -> tuple[str, ...]:
    check_arguments(function, types)
    _check_cotangents(function, types, module)
    specializer = _bound(function, types)
    widths = RealWidths(function, specializer.left_open)
    widths.settle()
    returned = widths.returned
    _cast_cotangents(function, returned)
    function.properties["function_type"] = FunctionType.from_lists(types, returned.operand_types)
    return (*specializer.warnings, *widths.warnings())


def real_widths(
    function: func.FuncOp, types: Sequence[TensorType[Attribute]], numbers: Collection[int]
) -> RealWidths:
    """Widths that reals get in a copy of a function, some inputs of which have none."""
    check_arguments(function, types)
    function = function.clone()
    specializer = _bound(function, types)
    weak = [a for k, a in enumerate(function.body.block.args) if k in numbers]
    return RealWidths(function, specializer.left_open, weak)


def _bound(function: func.FuncOp, types: Sequence[TensorType[Attribute]]) -> _Specializer:
    """Bind the inputs and infer all types; reals without a width in their context are f32."""
    bind_sizes(function, argument_names(function), types)
    for argument, t in zip(list(function.body.block.args), types, strict=True):
        with_type(argument, t)
    specializer = _Specializer({}, {}, header_names(function), {})
    specializer.run(function)
    return specializer


def _check_cotangents(
    function: func.FuncOp, types: Sequence[TensorType[Attribute]], module: Block | None
) -> None:
    """Refuse cotangents for a gradient function that are not of the outputs' types."""
    name = function.attributes.get(GRADIENT_OF)
    if not isinstance(name, SymbolRefAttr) or module is None:
        return
    for forward in module.ops:
        if isinstance(forward, func.FuncOp) and forward.sym_name == name.root_reference:
            count = len(forward.body.block.args)
            forward = forward.clone()
            _specialize(forward, types[:count], module)
            check_derived_types(
                argument_names(function)[count:],
                types[count:],
                result_names(forward),
                forward.function_type.outputs.data,
            )


def _cast_cotangents(function: func.FuncOp, returned: func.ReturnOp) -> None:
    """Give the cotangents of inputs the inputs' element types."""
    names = argument_names(function)
    for k, attrs in enumerate(function.res_attrs or ()):
        of = attrs.data.get(COTANGENT_OF)
        if isinstance(of, StringAttr) and of.data in names:
            own = tensor_type(function.body.block.args[names.index(of.data)]).element_type
            if tensor_type(returned.operands[k]).element_type != own:
                cast = CastOp.to(returned.operands[k], own)
                keep_name(cast.result, returned.operands[k])
                Rewriter.insert_op(cast, InsertPoint.before(returned))
                returned.operands[k] = cast.result


@dataclass
class _Specializer:
    """Visitor of a function's ops in order, with the sizes known so far."""

    sizes: dict[SSAValue, int]
    warnings: dict[str, None]
    """Warnings, each once, in order."""
    axes: dict[SSAValue, AxisNames]
    """Names of the dimensions of tensors in the program."""
    terms: dict[SSAValue, int]
    """Number of elements that sums of integers add up."""
    left_open: set[Operation] = field(default_factory=set[Operation])
    """Ops whose results were declared without an element type."""
    integers: IntegerRanges = field(default_factory=IntegerRanges)

    def run(self, function: func.FuncOp) -> None:
        self.body(function.body.block)

    def body(self, block: Block, types: Sequence[Attribute] = ()) -> list[Attribute]:
        """Visit the ops of a block with arguments of these types; the types that its end takes."""
        for argument, t in zip(list(block.args), types, strict=False):
            with_type(argument, t)
        for op in reversed(self.block(block)):
            if op.results and op.results[0] in self.sizes and not op.results[0].uses:
                op.detach()
                op.erase()
        assert block.last_op is not None
        return [v.type for v in block.last_op.operands]

    def control(self, op: scf.ForOp | scf.WhileOp | scf.IfOp) -> None:
        """Bind the types in a loop or branch."""
        match op:
            case scf.ForOp():
                carried = results = [v.type for v in op.iter_args]
                ends = [self.body(op.body.block, [op.body.block.args[0].type, *carried])]
            case scf.WhileOp():
                carried = [v.type for v in op.arguments]
                _, *results = self.body(op.before_region.block, carried)
                ends = [self.body(op.after_region.block, results)]
            case scf.IfOp():
                carried = results = self.body(op.true_region.block)
                ends = [self.body(op.false_region.block)] if op.false_region.blocks else []
        if any(end != carried for end in ends):
            raise TileError.at(op, f"{op.name}: the types of its results are not always the same")
        for result, t in zip(list(op.results), results, strict=True):
            with_type(result, t)

    def block(self, block: Block) -> list[Operation]:
        """Visit the ops of a block; returns the original ops."""
        ops = list(block.ops)
        for op in ops:
            try:
                self.visit(op)
            except VerifyException as e:
                raise TileError.at(op, self.with_names(op, str(e))) from None
        return ops

    def with_names(self, op: Operation, text: str) -> str:
        """Text with the names of the operands' dimensions beside their shapes."""
        for value in op.operands:
            names = self.axes.get(value, ())
            if any(names) and (shape := shape_of(tensor_type(value))):
                named = " x ".join(name or str(n) for name, n in zip(names, shape, strict=True))
                plain = f"{name_of(value)} ({format_shape(shape)})"
                text = text.replace(plain, f"{name_of(value)} ({named} = {format_shape(shape)})")
        return text

    def visit(self, op: Operation) -> None:
        if isinstance(op, LiftOp):
            self.pattern(op)
        elif op.results and isinstance(op.results[0].type, IndexType):
            self.sizes[op.results[0]] = self.evaluate(op)
        elif isinstance(op, ContractionOp):
            self.substitute(op)
        elif isinstance(op, SizeOp):
            self.note(vanishing_quotient(op, self.sizes))
            self.replace(op, ConstantOp.of(self.sizes[op.size]))
        elif isinstance(op, SizedOp):
            names = axis_names(op, self.axes)
            new = self.sized(op)
            self.replace(op, new)
            self.axes[new.result] = names
        elif isinstance(op, CustomGradientOp):
            self.custom_gradient(op)
        elif isinstance(op, TileOp):
            self.infer(op)
        elif isinstance(op, CONTROL):
            self.control(op)
        elif isinstance(op, func.ReturnOp):
            self.finish(op)

    def pattern(self, op: LiftOp) -> None:
        """Verify a pattern, whose sizes are bound by now."""
        if isinstance(op, lift.SizeOp) and op.size.data.value is not None:
            self.sizes[op.result] = op.size.data.value
        op.verify_()

    def evaluate(self, op: Operation) -> int:
        """Integer that an op on sizes computes."""
        if isinstance(op, tensor.DimOp):
            shape, axis = shape_of(tensor_type(op.source)) or (), self.sizes[op.index]
            if axis >= len(shape):
                raise TileError.at(op, f"{name_of(op.source)} has no dimension {axis}")
            return shape[axis]
        if any(v not in self.sizes for v in op.operands):
            raise TileError.at(op, f"{op.name} does not compute a size")
        try:
            size = computed_integer(op, [self.sizes[v] for v in op.operands])
        except ZeroDivisionError:
            raise TileError.at(op, _division_by_zero(op)) from None
        if size is not None:
            if not et.holds(et.index, size):
                value = op.results[0]
                what = f"the dimension {name_of(value)}" if value.name_hint else "a size here"
                raise TileError.at(op, f"{what} does not fit 64 bits")
            return size
        raise TileError.at(op, f"{op.name} does not compute a size")

    def shape(self, op: ContractionOp | SizedOp) -> tuple[int, ...]:
        """Shape of the result, its open axes filled in."""
        declared = shape_of(tensor_type(op.result)) or ()
        sizes = iter(op.sizes)
        shape = tuple(self.sizes[next(sizes)] if d == DYNAMIC_INDEX else d for d in declared)
        if any(size < 0 for size in shape):
            axis = next(k for k, size in enumerate(shape) if size < 0)
            size = op.sizes[declared[:axis].count(DYNAMIC_INDEX)]
            raise TileError.at(
                op,
                f"axis {axis} of {name_of(op.result)} gets the size {shape[axis]}, "
                f"which is {described_size(size)}",
            )
        return shape

    def substitute(self, op: ContractionOp) -> None:
        """Bind the sizes of a contraction, and note warnings."""
        names, new = axis_names(op, self.axes), self.contraction(op)
        self.note(
            fractional_access(new) or empty_contraction(new, op) or partial_read(new, self.axes)
        )
        self.replace(op, new)
        self.axes[new.result] = names

    def contraction(self, op: ContractionOp) -> ContractionOp:
        values = {symbol(k): IndexExpr.of(self.sizes[v]) for k, v in enumerate(op.symbols)}
        return substituted(op, values, [], shape=self.shape(op))

    def sized(self, op: SizedOp) -> SizedOp:
        t = make_type(self.shape(op), op.element_type(tensor_type(op.operand)))
        return type(op).create(
            operands=[op.operand], result_types=[t], attributes=dict(op.attributes)
        )

    def custom_gradient(self, op: CustomGradientOp) -> None:
        """Visit the body of a custom gradient, whose sizes stay as long as the op."""
        if element_type(op.result) == et.any_type:
            self.left_open.add(op)
        with_type(op.cotangent, op.inferred_type())
        with_type(op.result, op.inferred_type())
        for inner in reversed(self.block(op.body.block)):
            if inner.results and inner.results[0] in self.sizes and not inner.results[0].uses:
                inner.detach()
                inner.erase()
        op.verify_()

    def replace(self, op: TileOp, new: TileOp) -> None:
        keep_origin([new], op)
        Rewriter.replace_op(op, new)
        if element_type(op.results[0]) == et.any_type:
            self.left_open.add(new)
        self.note(self.integers.visit(new, new in self.left_open))
        (result,) = new.results
        if result.type != (inferred := new.inferred_type()):
            with_type(result, inferred)
        new.verify_()
        self.note_sum(new)

    def note_sum(self, op: TileOp) -> None:
        """Note a sum of integers, and a warning if it wraps."""
        self.note(wrapping_sum(op))
        if not et.may_be_float(tensor_type(op.results[0]).element_type):
            self.terms[op.results[0]] = term_count(op)

    def note(self, warning: str | None) -> None:
        if warning is not None:
            self.warnings[warning] = None

    def infer(self, op: TileOp) -> None:
        """Give the result its type; results without a width of their own become constants."""
        (result,) = op.results
        if element_type(result) == et.any_type:
            self.left_open.add(op)
        self.note(self.integers.visit(op, op in self.left_open))
        inferred = op.inferred_type()
        if result.type != inferred:
            _check_rank(op, inferred)
            result = with_type(result, inferred)
        op.verify_()
        self.note_sum(op)
        self.axes[result] = axis_names(op, self.axes)
        if isinstance(op, DivOp):
            self.note(truncated_mean(op, self.terms))
        elif isinstance(op, GatherOp | ScatterOp):
            self.note(out_of_range_places(op))
        if isinstance(op, ElementwiseOp) and et.is_weak(inferred.element_type):
            folded = fold_elementwise(op)
            assert folded is not None, "weak values are constants"
            (value,) = folded
            if isinstance(value, SSAValue):
                take_name(value, result)
                Rewriter.replace_op(op, [], [value])
            else:
                new = ConstantOp.create(result_types=[inferred], properties={"value": value})
                keep_origin([new], op)
                Rewriter.replace_op(op, new)

    def finish(self, op: func.ReturnOp) -> None:
        """Give returned integers without a width of their own their default type."""
        for k, value in enumerate(op.operands):
            t = tensor_type(value).element_type
            if t == et.index:
                self.check_returned(value, et.concrete(t))
                cast = CastOp.to(value, et.concrete(t))
                Rewriter.insert_op(cast, InsertPoint.before(op))
                op.operands[k] = cast.result

    def check_returned(self, value: SSAValue, t: Attribute) -> None:
        """Refuse a number that does not fit the type that it gets as a result."""
        constant = constant_of(value)
        if constant is not None and not et.holds(t, constant.number):
            raise TileError.at(constant, misfit(constant.number, t))


def _check_rank(op: TileOp, inferred: AnyTensor) -> None:
    """Refuse a result with another number of axes than declared."""
    (result,) = op.results
    declared, shape = shape_of(tensor_type(result)), shape_of(inferred)
    if declared is not None and shape is not None and len(declared) != len(shape):
        name = name_of(op.operands[0])
        wanted = count(len(declared), "dimension", "dimensions")
        raise TileError.at(op, f"{name} must have {wanted} here, and is {format_shape(shape)}")


def _division_by_zero(op: Operation) -> str:
    assertion = op.attributes.get(ASSERTION)
    if isinstance(assertion, StringAttr):
        return f"the assertion `{assertion.data}` does not hold"
    return "a dimension is divided by 0 here"


@dataclass(frozen=True)
class TileSpecializePass(ModulePass):
    """Binds the shapes and element types of a function's inputs.

    `arguments` gives a type such as `2x9x9x5xf32` for each input; without it, the types that the
    inputs are declared with must be static, and everything else is inferred from them. Names of
    sizes in `lift` become the numbers that the inputs determine.
    """

    name = "tile-specialize"

    function: str | None = None
    """Name of the function; optional if there is only one."""
    arguments: tuple[str, ...] = ()
    """Types of the inputs, in order."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Specialize the function."""
        function = find_function(op, self.function)
        types = [parse_type(text) for text in self.arguments] or [
            declared_type(name, t)
            for name, t in zip(argument_names(function), function.function_type.inputs, strict=True)
        ]
        warn(specialize(function, types))
