"""The contraction: all of Tile's `O[…] = +(A[…] * B[…]), … < …;` in one op."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    IndexType,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import (
    AccessAttr,
    Aggregation,
    AggregationAttr,
    Combination,
    CombinationAttr,
    ConstraintAttr,
    DomainAttr,
    parse_constraint,
    print_expr,
    symbol_number,
)
from tiledialect.dialects.tile.base import (
    AnyTensor,
    Shape,
    TileOp,
    declared_wide,
    format_shape,
    make_type,
    name_of,
    shape_of,
    tensor_type,
)
from tiledialect.dialects.tile.combinations import (
    ARITY,
    COMPARED,
    OPERATORS,
    compared_type,
    result_element_type,
)
from tiledialect.dialects.tile.constants import check_numbers
from tiledialect.dialects.tile.contraction_syntax import ContractionSyntax
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.errors import count
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError
from tiledialect.index.expr import Constraint, IndexExpr, Range


@irdl_op_definition
class ContractionOp(TileOp):
    """Combines elements of one to three tensors at all valid points and aggregates them.

    A point gives each index an integer. It is valid if every index expression, the output's too,
    is an integer inside its axis and every constraint `0 <= expression < bound` holds. At each
    valid point the inputs' elements are combined; values of one output element are aggregated.
    Elements on which nothing lands are 0, or that of the `default` tensor, or the constant without
    axes that is the default of all. An index that nothing bounds is an error, and so is `assign`
    where two points land on one element.

    The result has the type that the inputs' types give; of f16 and bf16 it may also be declared
    f32, in which values are combined and aggregated then.

    Index expressions are affine in the indices, with rational coefficients; `index` operands may
    stand in them, and after an output expression the size of an axis that the result type leaves
    open (`-> [n : %N, x]`). `domain` gives the indices' ranges once they are known: a box that
    holds every point.

    Example:

    ```mlir
    %O = tile.contraction add(%I[n, 3*y + 2*j, ci] mul %K[j, ci, co]) -> [n, y, co]
         : (tensor<2x9x5xf32>, tensor<2x5x7xf32>) -> tensor<2x3x7xf32>
    %P = tile.contraction max(%O[n, 2*y + j, c]) -> [n, y, c] where 0 <= j < 2
         : (tensor<2x3x7xf32>) -> tensor<2x2x7xf32>
    ```
    """

    name = "tile.contraction"

    inputs = var_operand_def(AnyAttr())
    symbols = var_operand_def(IndexType())
    sizes = var_operand_def(IndexType())
    default = opt_operand_def(AnyAttr())
    result = result_def(AnyAttr())

    aggregation = prop_def(AggregationAttr)
    combination = prop_def(CombinationAttr)
    output = prop_def(AccessAttr)
    accesses = prop_def(ArrayAttr[AccessAttr])
    constraints = prop_def(ArrayAttr[ConstraintAttr])
    domain = opt_prop_def(DomainAttr)
    no_defract = opt_prop_def(UnitAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self,
        aggregation: Aggregation,
        combination: Combination,
        output: Sequence[IndexExpr],
        inputs: Sequence[tuple[SSAValue, Sequence[IndexExpr]]],
        constraints: Sequence[Constraint] = (),
        *,
        shape: Shape,
        symbols: Sequence[SSAValue] = (),
        sizes: Sequence[SSAValue] = (),
        default: SSAValue | None = None,
        domain: DomainAttr | None = None,
        no_defract: bool = False,
        attributes: dict[str, Attribute] | None = None,
        is_wide: bool = False,
    ):
        """Make a contraction; ``shape`` is the result's, its open axes sized by ``sizes``.

        One that ``is_wide`` has a result of f32 where it would be of 16 bits.
        """
        operands = [value for value, _ in inputs]
        element_type = result_element_type(aggregation, combination, operands, default)
        if is_wide and element_type in et.SHORT_FLOATS:
            element_type = et.CONCRETE["f32"]
        super().__init__(
            operands=[operands, symbols, sizes, default],
            result_types=[make_type(shape, element_type)],
            properties={
                "aggregation": AggregationAttr(aggregation),
                "combination": CombinationAttr(combination),
                "output": AccessAttr(output),
                "accesses": ArrayAttr([AccessAttr(access) for _, access in inputs]),
                "constraints": ArrayAttr([ConstraintAttr(c) for c in constraints]),
                "domain": domain,
                "no_defract": UnitAttr() if no_defract else None,
            },
            attributes=attributes or {},
        )

    # -- looking ---------------------------------------------------------------------------

    @property
    def all_exprs(self) -> tuple[IndexExpr, ...]:
        """Every index expression: the output's, the inputs', the constraints'."""
        accesses = (self.output, *self.accesses)
        return (
            *(expr for access in accesses for expr in access.data),
            *(c.data.expr for c in self.constraints),
        )

    @property
    def index_names(self) -> tuple[str, ...]:
        """The indices, in order of appearance: output, inputs, constraints."""
        names = (name for expr in self.all_exprs for name in expr.names)
        return tuple(dict.fromkeys(name for name in names if symbol_number(name) is None))

    @property
    def is_static(self) -> bool:
        """Whether all shapes are known and no symbol is left."""
        values = (*self.inputs, self.result)
        return not self.symbols and all(
            isinstance(v.type, TensorType) and v.type.has_static_shape() for v in values
        )

    def space(self) -> IndexSpace:
        """The pure index part of a static contraction."""
        return IndexSpace(
            output=self.output.data,
            output_shape=self._static_shape(self.result),
            inputs=tuple(access.data for access in self.accesses),
            input_shapes=tuple(self._static_shape(value) for value in self.inputs),
            constraints=tuple(c.data for c in self.constraints),
        )

    def _static_shape(self, value: SSAValue) -> Shape:
        shape = shape_of(tensor_type(value))
        assert shape is not None and DYNAMIC_INDEX not in shape, "shapes are not known yet"
        return shape

    # -- verifying -------------------------------------------------------------------------

    @property
    def is_wide(self) -> bool:
        """Whether the result is declared f32, and would be of 16 bits."""
        return declared_wide(self.result, self._own_type())

    def inferred_type(self) -> AnyTensor:
        """The declared shape with the element type that the inputs give, or f32 for 16 bits."""
        t = tensor_type(self.result)
        return make_type(shape_of(t), t.element_type if self.is_wide else self._own_type())

    def _own_type(self) -> Attribute:
        """The element type that the inputs give."""
        return result_element_type(
            self.aggregation.data, self.combination.data, self.inputs, self.default
        )

    def set_default(self, value: SSAValue | None) -> None:
        """Set the values of the elements on which no point lands; 0 without any."""
        own = [] if value is None else [value]
        segments = [len(self.inputs), len(self.symbols), len(self.sizes), len(own)]
        self.operands = [*self.inputs, *self.symbols, *self.sizes, *own]
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, segments)

    def verify_(self) -> None:
        """Check counts, ranks, and that the expressions are affine."""
        combination = self.combination.data
        if len(self.inputs) not in ARITY[combination]:
            *few, most = ARITY[combination]
            wanted = "".join(f"{n} or " for n in few) + count(most, "tensor", "tensors")
            raise VerifyException(
                f"combination {combination} takes {wanted}, not {len(self.inputs)}"
            )
        if len(self.accesses) != len(self.inputs):
            raise VerifyException(
                f"{count(len(self.inputs), 'tensor', 'tensors')} with "
                f"{count(len(self.accesses), 'list', 'lists')} of index expressions"
            )
        for value, access in zip(self.inputs, self.accesses, strict=True):
            _check_rank(value, access)
        _check_rank(self.result, self.output)
        self._verify_sizes()
        self._verify_expressions()
        super().verify_()
        compared = COMPARED.get(combination, 0)
        if compared:
            check_numbers(self.inputs[:compared], compared_type(combination, self.inputs))
        check_numbers(self.inputs[compared:], tensor_type(self.result).element_type)

    def _verify_sizes(self) -> None:
        shape = shape_of(tensor_type(self.result))
        if shape is None:
            raise VerifyException(f"the rank of {name_of(self.result)} must be known")
        if shape.count(DYNAMIC_INDEX) != len(self.sizes):
            raise VerifyException(
                f"{name_of(self.result)} has "
                f"{count(shape.count(DYNAMIC_INDEX), 'open axis', 'open axes')} "
                f"but {count(len(self.sizes), 'size', 'sizes')}"
            )
        if self.default is not None:
            default = shape_of(tensor_type(self.default))
            is_number = default == () and isinstance(self.default.owner, ConstantOp)
            if default is not None and not is_number and not _compatible(default, shape):
                raise VerifyException(
                    f"the default {name_of(self.default)} ({format_shape(default)}) has not the "
                    f"shape of {name_of(self.result)} ({format_shape(shape)})"
                )

    def _verify_expressions(self) -> None:
        for expr in self.all_exprs:
            for monomial, _ in expr:
                indices = [name for name in monomial if symbol_number(name) is None]
                if len(indices) > 1:
                    raise VerifyException(f"{expr} is not affine in its indices")
        bounds = [c.data.bound for c in self.constraints]
        for bound in bounds:
            if any(symbol_number(name) is None for name in bound.names):
                raise VerifyException(f"the bound {bound} of a constraint holds an index")
        for expr in (*self.all_exprs, *bounds):
            for name in expr.names:
                number = symbol_number(name)
                if number is not None and number >= len(self.symbols):
                    raise VerifyException(f"there is no operand for {name}")
        if self.domain is not None:
            self._verify_domain(self.domain.ranges)

    def _verify_domain(self, domain: dict[str, Range]) -> None:
        if set(self.index_names) != set(domain):
            raise VerifyException("the domain must give the range of each index, and no other")
        if not self.is_static:
            raise VerifyException("a domain is for a contraction whose sizes are known")
        try:
            box = sets.ranges(self.space())
        except UnboundedIndexError as e:
            raise VerifyException(f"nothing bounds the index {e.name}") from None
        for name, r in box.items():
            if r.extent and not (domain[name].lower <= r.lower and r.upper <= domain[name].upper):
                raise VerifyException(f"the domain {name} = {domain[name]} leaves out points")

    # -- syntax ----------------------------------------------------------------------------

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""

        def expr(e: IndexExpr) -> None:
            print_expr(printer, str(e), lambda k: _ignore(printer.print_ssa_value(self.symbols[k])))

        printer.print_string(f" {self.aggregation.data}(")
        operators = OPERATORS[self.combination.data]
        for k, (value, access) in enumerate(zip(self.inputs, self.accesses, strict=True)):
            if k:
                printer.print_string(f" {operators[k - 1]} ")
            printer.print_ssa_value(value)
            with printer.in_square_brackets():
                printer.print_list(access.data, expr)
        printer.print_string(") -> ")
        self._print_output(printer, expr)
        if self.constraints:
            printer.print_string(" where ")
            printer.print_list(self.constraints, lambda c: _print_constraint(printer, c.data, expr))
        if self.default is not None:
            printer.print_string(" default ")
            printer.print_ssa_value(self.default)
        if self.domain is not None:
            printer.print_string(" domain ")
            self.domain.print_parameter(printer)
        if self.no_defract is not None:
            printer.print_string(" no_defract")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        types = [v.type for v in (*self.inputs, *([self.default] if self.default else []))]
        printer.print_attribute(FunctionType.from_lists(types, [self.result.type]))

    def _print_output(self, printer: Printer, expr: Callable[[IndexExpr], None]) -> None:
        shape = shape_of(tensor_type(self.result)) or ()
        sizes = iter(self.sizes)

        def item(axis: int) -> None:
            expr(self.output.data[axis])
            if shape[axis] == DYNAMIC_INDEX:
                printer.print_string(" : ")
                printer.print_ssa_value(next(sizes))

        with printer.in_square_brackets():
            printer.print_list(range(len(self.output.data)), item)

    @classmethod
    def parse(cls, parser: Parser) -> ContractionOp:
        """Parse the form shown in the class's example."""
        syntax = ContractionSyntax(parser)
        aggregation = parser.parse_str_enum(Aggregation)
        parser.parse_punctuation("(")
        combination, inputs = syntax.parse_inputs()
        parser.parse_punctuation(")")
        parser.parse_punctuation("->")
        output, sized_axes, sizes = syntax.parse_output()
        constraints: list[Constraint] = []
        if parser.parse_optional_keyword("where"):
            constraints = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, lambda: parse_constraint(parser, syntax.parse_symbol)
            )
        default: list[UnresolvedOperand] = []
        if parser.parse_optional_keyword("default"):
            default = [parser.parse_unresolved_operand()]
        domain = None
        if parser.parse_optional_keyword("domain"):
            domain = DomainAttr(DomainAttr.parse_parameter(parser))
        no_defract = parser.parse_optional_keyword("no_defract") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        t = parser.parse_function_type()
        tensors = [value for value, _ in inputs]
        if len(t.inputs) != len(tensors) + len(default) or len(t.outputs) != 1:
            parser.raise_error("the types do not match the operands in number", position)
        if sized_axes != _open_axes(t.outputs.data[0]):
            parser.raise_error("a size is given for each open axis of the result", position)
        values = parser.resolve_operands([*tensors, *default], t.inputs.data, position)
        segments = [len(tensors), len(syntax.symbols), len(sizes), len(default)]
        resolved = [parser.resolve_operand(v, IndexType()) for v in (*syntax.symbols, *sizes)]
        return cls.create(
            operands=[*values[: len(tensors)], *resolved, *values[len(tensors) :]],
            result_types=list(t.outputs.data),
            properties={
                "operandSegmentSizes": DenseArrayBase.from_list(i32, segments),
                "aggregation": AggregationAttr(aggregation),
                "combination": CombinationAttr(combination),
                "output": AccessAttr(output),
                "accesses": ArrayAttr([AccessAttr(access) for _, access in inputs]),
                "constraints": ArrayAttr([ConstraintAttr(c) for c in constraints]),
                **({"domain": domain} if domain else {}),
                **({"no_defract": UnitAttr()} if no_defract else {}),
            },
            attributes=attributes,
        )


def _print_constraint(
    printer: Printer, constraint: Constraint, expr: Callable[[IndexExpr], None]
) -> None:
    printer.print_string("0 <= ")
    expr(constraint.expr)
    printer.print_string(" < ")
    expr(constraint.bound)


def _ignore(_: object) -> None:
    """Drop a value where a callback must return none."""


def _open_axes(t: Attribute) -> list[int]:
    shape = t.get_shape() if isinstance(t, TensorType) else ()
    return [axis for axis, size in enumerate(shape) if size == DYNAMIC_INDEX]


def _compatible(a: Shape, b: Shape) -> bool:
    return len(a) == len(b) and all(
        DYNAMIC_INDEX in (m, n) or m == n for m, n in zip(a, b, strict=True)
    )


def _check_rank(value: SSAValue, access: AccessAttr) -> None:
    shape = shape_of(tensor_type(value))
    if shape is not None and len(shape) != len(access.data):
        raise VerifyException(
            f"{name_of(value)} has {count(len(shape), 'axis', 'axes')} ({format_shape(shape)}) "
            f"but {count(len(access.data), 'index expression', 'index expressions')}"
        )
