"""Loops and branches."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import (
    IndexType,
)
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    opt_region_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.nest.attributes import (
    ConditionAttr,
    ExprsAttr,
    LoopRole,
    RoleAttr,
)
from tiledialect.dialects.nest.indexed import (
    IndexedOp,
    Names,
    Syntax,
    bind,
)
from tiledialect.dialects.role_syntax import parse_role
from tiledialect.index.integer.expressions import Condition, Expr
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.ops_in import ops_of
from tiledialect.rounding import ceil_div
from tiledialect.schedule.loops import PARALLEL, UNROLLED


@irdl_op_definition
class ForOp(IndexedOp):
    """A loop over an index from a lower end (0 unless given) to an upper end, which is excluded.

    The role maps the steps to the device: `group` and `local` are the work-groups of the grid and
    the work-items of a group, along an axis; all of them run at the same time, op by op. `serial`
    is a loop, `unroll` an unrolled one, `vector` one whose steps are lanes. The ends and the
    step (1 unless given) may be expressions of symbols and outer indices. A loop carries nothing:
    values that last are in a `nest.buffer`.

    Example:

    ```mlir
    nest.for %i : local.x to 64 {
      nest.for %k = %i to 1024 step 64 : serial {
      }
    }
    ```
    """

    name = "nest.for"

    bounds = prop_def(ExprsAttr)
    role = prop_def(RoleAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    def __init__(
        self,
        names: Names,
        role: LoopRole,
        upper: Expr | int,
        body: Block | None = None,
        *,
        lower: Expr | int = 0,
        step: Expr | int = 1,
    ):
        """Build a loop; ``names`` are the values of the names in its bound."""
        operands, exprs, _ = bind(names, [Expr.of(lower), Expr.of(upper), Expr.of(step)])
        super().__init__(
            operands=[operands],
            properties={"bounds": ExprsAttr(exprs), "role": RoleAttr(role)},
            regions=[Region(body or Block(arg_types=[IndexType()]))],
        )

    @property
    def index(self) -> SSAValue:
        """The index."""
        return self.body.block.args[0]

    @property
    def block(self) -> Block:
        """The body."""
        return self.body.block

    @property
    def is_parallel(self) -> bool:
        """Whether the steps are work-groups or work-items."""
        return self.role.data.role in PARALLEL

    @property
    def is_unrolled(self) -> bool:
        """Whether there is no loop in the kernel: its body stands there for each step."""
        role = self.role.data.role
        return role in UNROLLED or (not self.is_parallel and self.extent == 1)

    @property
    def extent(self) -> int | None:
        """Number of steps, if it is static."""
        lower, upper, step = (e.value for e in self.bounds.data)
        if lower is None or upper is None or step is None:
            return None
        return max(0, ceil_div(upper - lower, step))

    @property
    def inner_steps(self) -> int:
        """The steps of the loops in it with its role, for each of its own."""
        inner = (x for x in ops_of(self, ForOp) if x is not self and x.role == self.role)
        return prod(x.extent or 1 for x in inner)

    @property
    def all_steps(self) -> int:
        """The steps of it and of the loops in it and around it with its role together."""
        around = (x for x in ancestors(self) if isinstance(x, ForOp) and x.role == self.role)
        own = self.inner_steps * (1 if self.extent is None else self.extent)
        return prod((x.extent or 1 for x in around), start=own)

    def verify_(self) -> None:
        """Check the bounds, the body's argument and the place of parallel loops."""
        self.verify_names(self.bounds)
        if len(self.bounds.data) != 3:
            raise VerifyException("a nest.for has a lower end, an upper end and a step")
        if tuple(self.body.block.arg_types) != (IndexType(),):
            raise VerifyException("the body of a nest.for takes the index")
        step = self.bounds.data[2].value
        if step is not None and step < 1:
            raise VerifyException("the step of a nest.for is at least 1")
        if self.role.data.role in UNROLLED and self.extent is None:
            raise VerifyException(f"a loop with role {self.role.data} has a known number of steps")
        parent = self.parent_op()
        if self.is_parallel and isinstance(parent, ForOp) and not parent.is_parallel:
            raise VerifyException(
                f"the {self.role.data} loop must stand outside the loops of a work-item"
            )

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        lower, upper, step = self.bounds.data
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        if lower:
            printer.print_string(" = ")
            Syntax.print(printer, self, lower)
            printer.print_string(" to ")
            Syntax.print(printer, self, upper)
            if step.value != 1:
                printer.print_string(" step ")
                Syntax.print(printer, self, step)
            printer.print_string(f" : {self.role.data} ")
        else:
            printer.print_string(f" : {self.role.data} to ")
            Syntax.print(printer, self, upper)
            if step.value != 1:
                printer.print_string(" step ")
                Syntax.print(printer, self, step)
            printer.print_string(" ")
        Syntax.print_body(printer, self.body)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        """Parse the form shown in the class's example."""
        syntax = Syntax(parser)
        index = parser.parse_argument(expect_type=False).resolve(IndexType())
        lower = role = None
        if parser.parse_optional_punctuation("="):
            lower = syntax.expr()
        else:
            parser.parse_punctuation(":")
            role = LoopRole(*parse_role(parser))
        parser.parse_keyword("to")
        upper = syntax.expr()
        step = syntax.expr() if parser.parse_optional_keyword("step") else Expr.const(1)
        if role is None:
            parser.parse_punctuation(":")
            role = LoopRole(*parse_role(parser))
        body = parser.parse_region([index])
        op = cls.create(
            operands=syntax.indices,
            properties={
                "bounds": ExprsAttr([lower or Expr(), upper, step]),
                "role": RoleAttr(role),
            },
            regions=[body],
        )
        op.attributes.update(parser.parse_optional_attr_dict())
        return op


@irdl_op_definition
class IfOp(IndexedOp):
    """A branch on a condition on indices; elsewhere the second region runs, if there.

    Example:

    ```mlir
    nest.if %i + %j < 8 {
    } else {
    }
    ```
    """

    name = "nest.if"

    condition = prop_def(ConditionAttr)
    then = region_def("single_block")
    otherwise = opt_region_def("single_block")

    traits = traits_def(NoTerminator())

    def __init__(
        self, names: Names, condition: Condition, then: Block, otherwise: Block | None = None
    ):
        """A branch on a condition of ``names``."""
        operands, _, own = bind(names, (), condition)
        super().__init__(
            operands=[operands],
            properties={"condition": ConditionAttr(own)},
            regions=[Region(then), Region(otherwise) if otherwise is not None else []],
        )

    def verify_(self) -> None:
        """Check the condition."""
        self.verify_names(self.condition)

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(" ")
        Syntax.print(printer, self, self.condition.data)
        printer.print_string(" ")
        Syntax.print_body(printer, self.then)
        if self.otherwise is not None:
            printer.print_string(" else ")
            Syntax.print_body(printer, self.otherwise)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        """Parse the form shown in the class's example."""
        syntax = Syntax(parser)
        condition = syntax.condition()
        regions = [parser.parse_region()]
        if parser.parse_optional_keyword("else"):
            regions.append(parser.parse_region())
        for region in regions:
            if not region.blocks:
                region.add_block(Block())
        op = cls.create(
            operands=syntax.indices, properties={"condition": condition}, regions=regions
        )
        op.attributes.update(parser.parse_optional_attr_dict())
        return op
