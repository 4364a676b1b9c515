"""The linalg dialect: xDSL's ops, the table of named ops, and ops with a syntax of their own."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import linalg
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ShapedType,
    StringAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    prop_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.linalg import scalars, syntax
from tiledialect.dialects.linalg.attributes import ElementwiseKindAttr, TypeFnAttr
from tiledialect.dialects.linalg.named import NAMED_OPS, TableOp


class GenericOp(linalg.ops.GenericOp):
    """Syntax of xDSL's op, with several results, too."""

    @classmethod
    def parse(cls, parser: Parser):
        """Parse the form of upstream."""
        position = parser.pos
        # A dictionary, or the name of one.
        attributes = parser.parse_optional_attribute()
        given = dict(attributes.data) if isinstance(attributes, DictionaryAttr) else {}
        maps = given.pop("indexing_maps", None)
        kinds = syntax.iterator_types(given.pop("iterator_types", StringAttr("")))
        if not isinstance(maps, ArrayAttr) or kinds is None:
            parser.raise_error(
                "linalg.generic needs indexing_maps and iterator_types", position, parser.pos
            )
        inputs = syntax.parse_operands(parser, "ins")
        outputs = syntax.parse_operands(parser, "outs")
        if parser.parse_optional_keyword("attrs") is not None:
            parser.parse_punctuation("=")
            given |= parser.parse_optional_attr_dict()
        body = parser.parse_region()
        results = syntax.parse_results(parser)
        texts = {
            k: v for k in ("doc", "library_call") if isinstance(v := given.pop(k, None), StringAttr)
        }
        op = linalg.ops.GenericOp(inputs, outputs, body, maps, kinds, results, **texts)
        op.attributes |= given
        return op


class InitializedOp(LinalgStructuredOperation):
    """An op that aggregates into, or writes to, tensors that it is given."""

    def rank(self) -> int:
        """Number of axes of the larger operands."""
        shapes = [v.type.get_shape() for v in self.operands if isinstance(v.type, ShapedType)]
        return max((len(shape) for shape in shapes), default=0)


@irdl_op_definition
class MapOp(InitializedOp):
    """A function of the elements at each place of its inputs."""

    name = "linalg.map"

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        """All are identities."""
        same = AffineMapAttr(AffineMap.identity(self.rank()))
        return ArrayAttr([same] * len(self.operands))

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        """All loops are parallel."""
        return syntax.iterators([True] * self.rank())

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `{ arith.addf } ins(…) outs(…)`, or `ins(…) outs(…) (%a: f32) { … }`."""
        short = syntax.parse_short_body(parser)
        inputs = syntax.parse_operands(parser, "ins")
        outputs = syntax.parse_operands(parser, "outs")
        attributes = parser.parse_optional_attr_dict()
        types = [_element(v) for v in (*inputs, *outputs)]
        if short is None:
            body = syntax.parse_body(parser)
        else:
            body = short([*types[: len(inputs)], types[-1]])
            _drop_last_operand(body)
        if len(body.block.args) == len(inputs):
            # Older texts have no argument for the output.
            body.block.insert_arg(types[-1], len(inputs))
        return cls.create(
            operands=[*inputs, *outputs],
            result_types=[v.type for v in outputs if isinstance(v.type, TensorType)],
            properties={"operandSegmentSizes": _segments(inputs, outputs)},
            attributes=attributes,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        """Print the long form."""
        syntax.print_operands(printer, "ins", self.inputs)
        syntax.print_operands(printer, "outs", self.outputs)
        printer.print_op_attributes(self.attributes)
        syntax.print_body(printer, self.body)


@irdl_op_definition
class ReduceOp(InitializedOp):
    """The aggregates of tensors along some of their axes."""

    name = "linalg.reduce"

    irdl_options = (SameVariadicOperandSize(),)

    dimensions = prop_def(DenseArrayBase.constr(i64))

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        """Identities, and the axes that are kept."""
        rank, dropped = self.rank(), set(self.dimensions.get_values())
        same = AffineMap.identity(rank)
        kept = AffineMap(rank, 0, tuple(AffineDimExpr(k) for k in range(rank) if k not in dropped))
        maps = [same] * len(self.inputs) + [kept] * len(self.outputs)
        return ArrayAttr(list(map(AffineMapAttr, maps)))

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        """Reductions along the dimensions."""
        dropped = set(self.dimensions.get_values())
        return syntax.iterators([k not in dropped for k in range(self.rank())])

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `{ arith.addf } ins(…) outs(…) dimensions = [1]`, or with a body at the end."""
        short = syntax.parse_short_body(parser)
        inputs = syntax.parse_operands(parser, "ins")
        outputs = syntax.parse_operands(parser, "outs")
        dimensions = syntax.parse_dimensions(parser, "dimensions")
        attributes = parser.parse_optional_attr_dict()
        types = [_element(v) for v in (*inputs, *outputs)]
        body = syntax.parse_body(parser) if short is None else short(types)
        return cls.create(
            operands=[*inputs, *outputs],
            result_types=[v.type for v in outputs if isinstance(v.type, TensorType)],
            properties={"dimensions": dimensions},
            attributes=attributes,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        """Print the long form."""
        syntax.print_operands(printer, "ins", self.inputs)
        syntax.print_operands(printer, "outs", self.outputs)
        syntax.print_dimensions(printer, "dimensions", self.dimensions)
        printer.print_op_attributes(self.attributes)
        syntax.print_body(printer, self.body)


@irdl_op_definition
class ElementwiseOp(TableOp):
    """A function, given by its name, of elements at each place."""

    name = "linalg.elementwise"

    kind = prop_def(ElementwiseKindAttr)

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `kind=#linalg.elementwise_kind<exp> ins(…) outs(…) -> type`."""
        parser.parse_keyword("kind")
        parser.parse_punctuation("=")
        position = parser.pos
        kind = parser.parse_attribute()
        properties: dict[str, Attribute] = {"kind": kind}
        if parser.parse_optional_keyword("indexing_maps") is not None:
            parser.parse_punctuation("=")
            properties["indexing_maps"] = parser.parse_attribute()
        inputs = syntax.parse_operands(parser, "ins")
        outputs = syntax.parse_operands(parser, "outs")
        name = kind.data if isinstance(kind, ElementwiseKindAttr) else str(kind)
        types = [_element(v) for v in (*inputs, *outputs)]
        functions = scalars.FUNCTIONS
        try:
            if name == "select":
                body = scalars.select_body(types)
            elif name in functions:
                body = scalars.elementwise_body(functions[name], types, "unsigned" in name)
            else:
                raise ValueError("there is no such function")
        except ValueError as e:
            parser.raise_error(f"linalg.elementwise {name}: {e}", position, parser.pos)
        return cls.build(
            operands=(inputs, outputs),
            result_types=(syntax.parse_results(parser),),
            properties=properties,
            regions=(body,),
        )

    def print(self, printer: Printer) -> None:
        """Print the form that is parsed."""
        printer.print_string(" kind=")
        printer.print_attribute(self.kind)
        super().print(printer)


@irdl_op_definition
class SoftmaxOp(IRDLOperation):
    """The softmax along a dimension."""

    name = "linalg.softmax"

    input = operand_def()
    output = operand_def()
    result = var_result_def()
    dimension = prop_def(IntegerAttr)

    def verify_(self) -> None:
        """Check the dimension."""
        t = self.input.type
        if isinstance(t, ShapedType) and not 0 <= self.dimension.value.data < len(t.get_shape()):
            raise VerifyException(f"there is no dimension {self.dimension.value.data}")

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `dimension(1) ins(…) outs(…) -> type`."""
        parser.parse_keyword("dimension")
        with parser.in_parens():
            number = parser.parse_integer()
        inputs = syntax.parse_operands(parser, "ins")
        outputs = syntax.parse_operands(parser, "outs")
        return cls.create(
            operands=[*inputs, *outputs],
            result_types=syntax.parse_results(parser),
            properties={"dimension": IntegerAttr(number, i64)},
        )

    def print(self, printer: Printer) -> None:
        """Print the form that is parsed."""
        printer.print_string(f" dimension({self.dimension.value.data})")
        syntax.print_operands(printer, "ins", [self.input])
        syntax.print_operands(printer, "outs", [self.output])
        syntax.print_results(printer, self)


def _element(value: SSAValue) -> Attribute:
    return getattr(value.type, "element_type", value.type)


def _segments(*groups: Sequence[SSAValue]) -> Attribute:
    return DenseArrayBase.from_list(i32, [len(group) for group in groups])


def _drop_last_operand(body: Region) -> None:
    """Let the op of a short body take the inputs alone."""
    op = body.block.first_op
    assert op is not None
    op.operands = list(op.operands)[:-1]


_OWN: tuple[type[Operation], ...] = (
    *(op for op in NAMED_OPS),
    *(GenericOp, MapOp, ReduceOp, ElementwiseOp, SoftmaxOp),
)


_NAMES = {op.name for op in _OWN}

Linalg = Dialect(
    "linalg",
    [*(op for op in linalg.Linalg.operations if op.name not in _NAMES), *_OWN],
    [*linalg.Linalg.attributes, ElementwiseKindAttr, TypeFnAttr],
)
