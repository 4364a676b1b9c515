"""The scan: running aggregates along an axis, which cumulative contractions become."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, AggregationAttr
from tiledialect.dialects.tile.base import (
    AnyTensor,
    TileOp,
    declared_wide,
    format_shape,
    make_type,
    name_of,
    shape_of,
    tensor_type,
)
from tiledialect.rounding import ceil_div


@irdl_op_definition
class ScanOp(TileOp):
    """The running aggregates of a tensor's elements along an axis.

    An element of the result aggregates the operand's elements up to its own place; with
    `reverse`, those from its place on. `every n` starts anew after each `n` elements, and `from`
    gives the initial values of these blocks: a tensor that has the number of blocks as its
    size along the axis. The aggregation is `add`, `mul`, `max` or `min`; bools count as integers
    in the first two.

    `runs %k` is for a tensor of keys, of the operand's shape: the scan starts anew where an
    element's key is not equal to that of the one before, as a NaN never is. Nothing that comes
    before has a part in later ones, be it infinite or NaN. Such a scan has no blocks.

    Floating-point sums and products are not aggregated in the order of the elements. The result of
    sums of f16 and bf16 may be declared f32.

    Example:

    ```mlir
    %r = tile.scan add %x axis 1 : (tensor<4x9xf32>) -> tensor<4x9xf32>
    %s = tile.scan max %x axis 1 reverse every 4 from %p
         : (tensor<4x9xf32>, tensor<4x3xf32>) -> tensor<4x9xf32>
    %t = tile.scan add %x axis 1 reverse runs %k
         : (tensor<4x9xf32>, tensor<4x9xi32>) -> tensor<4x9xf32>
    ```
    """

    name = "tile.scan"

    operand = operand_def(AnyAttr())
    start = opt_operand_def(AnyAttr())
    keys = opt_operand_def(AnyAttr())
    result = result_def(AnyAttr())

    aggregation = prop_def(AggregationAttr)
    axis = prop_def(IntegerAttr[IndexType])
    every = opt_prop_def(IntegerAttr[IndexType])
    reverse = opt_prop_def(UnitAttr)

    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        aggregation: Aggregation,
        operand: SSAValue,
        axis: int,
        *,
        reverse: bool = False,
        every: int | None = None,
        start: SSAValue | None = None,
        keys: SSAValue | None = None,
    ):
        """Make a scan; the result's type follows from the operand's."""
        t = tensor_type(operand)
        index = IndexType()
        super().__init__(
            operands=[operand, start, keys],
            result_types=[make_type(shape_of(t), _result_type(aggregation, t))],
            properties={
                "aggregation": AggregationAttr(aggregation),
                "axis": IntegerAttr(axis, index),
                "every": None if every is None else IntegerAttr(every, index),
                "reverse": UnitAttr() if reverse else None,
            },
        )

    @property
    def along(self) -> int:
        """The axis."""
        return self.axis.value.data

    @property
    def size(self) -> int:
        """Number of elements along the axis."""
        return (shape_of(tensor_type(self.operand)) or ())[self.along]

    @property
    def block(self) -> int | None:
        """Number of elements after which the scan starts anew; None if it never does."""
        every = self.every.value.data if self.every is not None else self.size
        return every if every < self.size else None

    def inferred_type(self) -> AnyTensor:
        """The operand's shape; sums and products of bools are integers, of 16 bits maybe f32."""
        t = tensor_type(self.operand)
        own = _result_type(self.aggregation.data, t)
        wide = et.CONCRETE["f32"] if declared_wide(self.result, own) else own
        return make_type(shape_of(t), wide)

    def verify_(self) -> None:
        """Check the aggregation, the axis, and the initial values of the blocks."""
        super().verify_()
        if self.aggregation.data is Aggregation.assign:
            raise VerifyException("a tile.scan aggregates: assign does not")
        shape = shape_of(tensor_type(self.operand))
        if shape is not None and not 0 <= self.along < len(shape):
            raise VerifyException(
                f"{name_of(self.operand)} ({format_shape(shape)}) has no axis {self.along}"
            )
        if self.every is not None and self.every.value.data < 1:
            raise VerifyException(f"a block has 1 element at least, not {self.every.value.data}")
        if self.start is not None and shape is not None:
            self._verify_start(self.start, shape)
        if self.keys is not None:
            self._verify_keys(self.keys)

    def _verify_keys(self, keys: SSAValue) -> None:
        if self.every is not None or self.start is not None:
            raise VerifyException("a tile.scan of runs has no blocks and no initial values")
        wanted, shape = (shape_of(tensor_type(v)) for v in (self.operand, keys))
        if wanted is not None and shape is not None and wanted != shape:
            raise VerifyException(
                f"the keys {name_of(keys)} ({format_shape(shape)}) are not of the shape of "
                f"{name_of(self.operand)} ({format_shape(wanted)})"
            )

    def _verify_start(self, start: SSAValue, shape: tuple[int, ...]) -> None:
        if DYNAMIC_INDEX in shape:
            raise VerifyException("the start of a tile.scan is for an operand of a known shape")
        wanted = list(shape)
        wanted[self.along] = ceil_div(self.size, self.block) if self.block else 1
        t = make_type(tuple(wanted), tensor_type(self.result).element_type)
        if start.type != t:
            raise VerifyException(
                f"the blocks of {name_of(self.result)} start with a {t}, not {start.type}"
            )

    # -- syntax ----------------------------------------------------------------------------

    @classmethod
    def parse(cls, parser: Parser) -> ScanOp:
        """Parse the form shown in the class's example."""
        index = IndexType()
        aggregation = parser.parse_str_enum(Aggregation)
        operands = [parser.parse_unresolved_operand()]
        parser.parse_keyword("axis")
        axis = parser.parse_integer(allow_boolean=False)
        reverse = parser.parse_optional_keyword("reverse") is not None
        every = None
        if parser.parse_optional_keyword("every"):
            every = IntegerAttr(parser.parse_integer(allow_boolean=False), index)
        segments = [1, 0, 0]
        for place, word in enumerate(("from", "runs"), 1):
            if parser.parse_optional_keyword(word):
                operands.append(parser.parse_unresolved_operand())
                segments[place] = 1
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        t = parser.parse_function_type()
        properties: dict[str, Attribute] = {
            "aggregation": AggregationAttr(aggregation),
            "axis": IntegerAttr(axis, index),
            AttrSizedOperandSegments.attribute_name: DenseArrayBase.from_list(i32, segments),
        }
        properties |= {"every": every} if every is not None else {}
        properties |= {"reverse": UnitAttr()} if reverse else {}
        return cls.create(
            operands=parser.resolve_operands(operands, t.inputs.data, position),
            result_types=list(t.outputs.data),
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(f" {self.aggregation.data} ")
        printer.print_ssa_value(self.operand)
        printer.print_string(f" axis {self.along}")
        if self.reverse is not None:
            printer.print_string(" reverse")
        if self.every is not None:
            printer.print_string(f" every {self.every.value.data}")
        if self.start is not None:
            printer.print_string(" from ")
            printer.print_ssa_value(self.start)
        if self.keys is not None:
            printer.print_string(" runs ")
            printer.print_ssa_value(self.keys)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)


def _result_type(aggregation: Aggregation, t: AnyTensor):
    adds = aggregation in (Aggregation.add, Aggregation.mul)
    return et.concrete(et.as_number(t.element_type) if adds else t.element_type)
