"""The reference semantics: an xDSL interpreter of the tile dialect in NumPy.

Everything else is compared with it, so it is written to be read. Tensors are NumPy arrays of the
element type's own dtype (weak types: int64 and float64), sizes are Python integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.interpreters.func import FuncFunctions
from xdsl.interpreters.scf import ScfFunctions
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import symbol
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise import numeric
from tiledialect.dialects.tile.elementwise.ops import (
    ELEMENTWISE_OPS,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    IndexOp,
    SelectOp,
    SizeOp,
)
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import (
    GatherOp,
    PrngStateOp,
    PrngValueOp,
    ReshapeOp,
    ScatterOp,
    ShapeOp,
    SumToOp,
)
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.errors import TileError
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import IndexExpr
from tiledialect.interpreters import philox
from tiledialect.interpreters.contraction import contract
from tiledialect.interpreters.lift import LiftFunctions
from tiledialect.interpreters.scalars import ScalarFunctions
from tiledialect.interpreters.scan import scan
from tiledialect.ir.signature import array_type, find_function

Array = npt.NDArray[Any]


class TileFunctions(InterpreterFunctions):
    """The ops of the tile dialect on NumPy arrays."""

    # -- elementwise -----------------------------------------------------------------------

    def run_elementwise(
        self, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        """Any op that `numeric.FUNCTIONS` has."""
        assert isinstance(op, ElementwiseOp)
        return (numeric.apply(op.name, op.operand_type(), list(args)),)

    @impl(SelectOp)
    def run_select(
        self, interpreter: Interpreter, op: SelectOp, args: PythonValues
    ) -> PythonValues:
        """The second operand's elements where the first's are not 0, else the third's."""
        condition, *values = args
        a, b = (numeric.convert(value, _element_type(op.result)) for value in values)
        return (np.where(condition != 0, a, b),)

    @impl(CastOp)
    def run_cast(self, interpreter: Interpreter, op: CastOp, args: PythonValues) -> PythonValues:
        """The elements in another type."""
        return (numeric.convert(args[0], _element_type(op.result)),)

    @impl(IndexOp)
    def run_index(self, interpreter: Interpreter, op: IndexOp, args: PythonValues) -> PythonValues:
        """Each element's position along an axis."""
        shape, axis = args[0].shape, op.axis.value.data
        along = np.arange(shape[axis], dtype=np.int32)
        return (np.broadcast_to(along.reshape(-1, *(1,) * (len(shape) - axis - 1)), shape),)

    @impl(ConstantOp)
    def run_constant(
        self, interpreter: Interpreter, op: ConstantOp, args: PythonValues
    ) -> PythonValues:
        """A number."""
        return (numeric.number(op.number, _element_type(op.result)),)

    @impl(SizeOp)
    def run_size(self, interpreter: Interpreter, op: SizeOp, args: PythonValues) -> PythonValues:
        """A size as a number."""
        return (np.asarray(args[0], np.int64),)

    # -- contraction -----------------------------------------------------------------------

    @impl(ContractionOp)
    def run_contraction(
        self, interpreter: Interpreter, op: ContractionOp, args: PythonValues
    ) -> PythonValues:
        """Visits all points; see `interpreters.contraction`."""
        remaining = list(args)
        inputs, symbols, sizes = (
            [remaining.pop(0) for _ in group] for group in (op.inputs, op.symbols, op.sizes)
        )
        values = {symbol(k): IndexExpr.of(value) for k, value in enumerate(symbols)}
        space = IndexSpace(
            output=tuple(e.substitute(values) for e in op.output.data),
            output_shape=_shape(op.result, sizes),
            inputs=tuple(
                tuple(e.substitute(values) for e in access.data) for access in op.accesses
            ),
            input_shapes=tuple(array.shape for array in inputs),
            constraints=tuple(c.data.substitute(values) for c in op.constraints),
        )
        default = remaining[0] if op.default is not None else None
        return (contract(op, inputs, space, default),)

    @impl(ScanOp)
    def run_scan(self, interpreter: Interpreter, op: ScanOp, args: PythonValues) -> PythonValues:
        """Running aggregates; see `interpreters.scan`."""
        starts = args[1] if op.start is not None else None
        keys = args[-1] if op.keys is not None else None
        return (scan(op, args[0], starts, keys),)

    # -- special ---------------------------------------------------------------------------

    @impl(GatherOp)
    def run_gather(
        self, interpreter: Interpreter, op: GatherOp, args: PythonValues
    ) -> PythonValues:
        """Slices along the first axis; indices are brought into range."""
        array, indices = args
        wide = indices.astype(np.uint64 if indices.dtype == np.uint64 else np.int64)
        inside = np.clip(wide, 0, max(0, len(array) - 1))
        return (array[inside.astype(np.int64)],)

    @impl(ScatterOp)
    def run_scatter(
        self, interpreter: Interpreter, op: ScatterOp, args: PythonValues
    ) -> PythonValues:
        """Sums of slices; real numbers are summed in float64 and rounded once."""
        updates, indices, like = args
        updates = updates if updates.ndim else np.broadcast_to(updates, indices.shape)
        element_type = _element_type(op.result)
        dtype = np.float64 if et.is_float(element_type) else numeric.NUMPY_TYPES[element_type]
        total = np.zeros((op.part_count, len(like), *updates.shape[indices.ndim :]), dtype)
        inside = (indices >= 0) & (indices < len(like))
        part = np.arange(indices.size).reshape(indices.shape) // max(op.part_size, 1)
        places = part[inside], indices[inside].astype(np.int64)
        np.add.at(total, places, updates[inside].astype(dtype))
        return (numeric.convert(total if op.parts else total[0], element_type),)

    @impl(SumToOp)
    def run_sum_to(self, interpreter: Interpreter, op: SumToOp, args: PythonValues) -> PythonValues:
        """The sum over the axes along which the second operand was broadcast."""
        value, like = args
        element_type = _element_type(op.result)
        added = tuple(range(value.ndim - like.ndim))
        stretched = tuple(axis + len(added) for axis, size in enumerate(like.shape) if size == 1)
        is_float = et.is_float(element_type)
        dtype = np.float64 if is_float else numeric.NUMPY_TYPES[element_type]
        total = value.sum(axis=(*added, *stretched), dtype=dtype).reshape(like.shape)
        return (numeric.convert(total, element_type),)

    @impl(ReshapeOp)
    def run_reshape(
        self, interpreter: Interpreter, op: ReshapeOp, args: PythonValues
    ) -> PythonValues:
        """The same elements with other axes."""
        array, *sizes = args
        return (numeric.convert(array, _element_type(op.result)).reshape(_shape(op.result, sizes)),)

    @impl(ShapeOp)
    def run_shape(self, interpreter: Interpreter, op: ShapeOp, args: PythonValues) -> PythonValues:
        """The sizes of the axes."""
        return (np.array(args[0].shape, np.int32),)

    @impl(PrngValueOp)
    def run_prng_value(
        self, interpreter: Interpreter, op: PrngValueOp, args: PythonValues
    ) -> PythonValues:
        """Random numbers."""
        state, *sizes = args
        shape = _shape(op.result, sizes)
        return (philox.uniform(state, int(np.prod(shape))).reshape(shape),)

    @impl(PrngStateOp)
    def run_prng_state(
        self, interpreter: Interpreter, op: PrngStateOp, args: PythonValues
    ) -> PythonValues:
        """The state after a draw."""
        state, drawn = args
        return (philox.advance(state, drawn.size),)

    @impl(CustomGradientOp)
    def run_custom_gradient(
        self, interpreter: Interpreter, op: CustomGradientOp, args: PythonValues
    ) -> PythonValues:
        """The value; the gradient makes no difference."""
        return (numeric.convert(args[0], _element_type(op.result)),)

    # -- kernel ----------------------------------------------------------------------------

    @impl(KernelOp)
    def run_kernel(
        self, interpreter: Interpreter, op: KernelOp, args: PythonValues
    ) -> PythonValues:
        """Run the body; the schedule makes no difference."""
        return interpreter.run_ssacfg_region(op.body, args, op.name)

    @impl_terminator(YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """The results of a kernel."""
        return ReturnedValues(args), ()


for _op_type in ELEMENTWISE_OPS:
    if _op_type.name in numeric.FUNCTIONS:
        _run = impl(_op_type)(TileFunctions.run_elementwise)
        setattr(TileFunctions, _op_type.name.replace("tile.", "run_"), _run)
register_impls(TileFunctions)


@register_impls
class TensorFunctions(InterpreterFunctions):
    """Upstream ops on tensors that stand between the dialects' ops."""

    @impl(tensor.DimOp)
    def run_dim(
        self, interpreter: Interpreter, op: tensor.DimOp, args: PythonValues
    ) -> PythonValues:
        """The size of an axis."""
        array, axis = args
        return (array.shape[axis],)

    @impl(tensor.ExtractOp)
    def run_extract(
        self, interpreter: Interpreter, op: tensor.ExtractOp, args: PythonValues
    ) -> PythonValues:
        """An element."""
        array, *indices = args
        return (array[tuple(indices)],)

    @impl(tensor.FromElementsOp)
    def run_from_elements(
        self, interpreter: Interpreter, op: tensor.FromElementsOp, args: PythonValues
    ) -> PythonValues:
        """Numbers as a tensor."""
        t = tensor_type(op.result)
        elements = np.array(args, numeric.NUMPY_TYPES[t.element_type])
        return (elements.reshape(shape_of(t) or ()),)


def _element_type(value: SSAValue) -> Attribute:
    return tensor_type(value).element_type


def _shape(result: SSAValue, sizes: Sequence[int]) -> tuple[int, ...]:
    """The shape of ``result``, its open axes filled in with ``sizes``."""
    declared, rest = shape_of(tensor_type(result)), iter(sizes)
    assert declared is not None
    return tuple(next(rest) if d == DYNAMIC_INDEX else d for d in declared)


INTERPRETERS = (
    FuncFunctions(),
    ScfFunctions(),
    ScalarFunctions(),
    TensorFunctions(),
    TileFunctions(),
    LiftFunctions(),
)
"""The functions of all dialects that programs are made of."""

# -- running a function ------------------------------------------------------------------------


def interpret(module: ModuleOp, name: str | None, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Run the specialized function ``name`` (None: the only one) on arrays of its types.

    Raises a TileError if there is no such function, or if its types are others.
    """
    function = find_function(module, name)
    if list(function.function_type.inputs) != [array_type(array) for array in arrays]:
        raise TileError(f"{function.sym_name.data} is not specialized for these arrays")
    interpreter = Interpreter(module)
    for functions in INTERPRETERS:
        interpreter.register_implementations(functions)
    try:
        with np.errstate(all="ignore"):
            results = interpreter.call_op(function, tuple(arrays))
    except InterpretationError as error:
        raise TileError(f"the reference semantics do not cover this: {error}") from None
    returned = function.body.block.last_op
    assert returned is not None
    return tuple(
        np.array(numeric.convert(result, et.concrete(_element_type(value))))
        for result, value in zip(results, returned.operands, strict=True)
    )
