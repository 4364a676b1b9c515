"""Functions captured in a program, to be emitted elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from xdsl.builder import ImplicitBuilder
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tiledialect.dialects.lift.types import describe
from tiledialect.dialects.lift.values import GetOp, TupleOp
from tiledialect.ir.names import keep_name
from tiledialect.ir.ops_in import outer_operands
from tiledialect.lift.functions import Function
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules.refusal import NotApplicable


class Captured(Function):
    """Computation of ``result`` from ``arguments`` inside of the op ``home``.

    Applied like any function, it writes its ops again, those of all regions of ``home`` that it
    needs. A value that is there in the program is a function without arguments.
    """

    def __init__(self, home: Operation, arguments: Sequence[SSAValue], result: SSAValue):
        names = [a.name_hint for a in arguments]
        parameters = [name for name in names if name is not None]
        super().__init__(
            "f",
            self._inlined,
            None,
            len(arguments),
            parameters if len(parameters) == len(names) else (),
        )
        self.home = home
        self.arguments = tuple(arguments)
        self.result = result

    def over(self, *outer: Value) -> Captured:
        """Turn values that the function uses into its first arguments."""
        arguments = (*(v.ssa for v in outer), *self.arguments)
        return Captured(self.home, arguments, self.result)

    def of(self, argument: Value) -> Captured:
        """Function of ``argument`` alone that gives the same result."""
        return Captured(self.home, [argument.ssa], self.result)

    def uses(self, value: Value) -> bool:
        """Whether the value occurs in the function."""
        return self.result is value.ssa or any(value.ssa is v for v in self._outer_values)

    @cached_property
    def ops(self) -> tuple[Operation, ...]:
        """Needed ops, in order; those in their regions left out."""
        found: set[Operation] = set()
        pending = [self.result]
        while pending:
            value = pending.pop()
            op = value.owner
            if value in self.arguments or not isinstance(op, Operation) or op in found:
                continue
            if self._is_inside(op):
                found.add(op)
                pending += outer_operands(op)
        # An op of a region around another's is before the op that has the region.
        return tuple(op for op in self.home.walk() if op in found)

    @cached_property
    def _outer_values(self) -> tuple[SSAValue, ...]:
        return tuple(v for op in self.ops for v in outer_operands(op))

    def _is_inside(self, op: Operation) -> bool:
        return op is not self.home and self.home.is_ancestor(op)

    def _inlined(self, *args: Value) -> Value:
        values = {a: v.ssa for a, v in zip(self.arguments, args, strict=True)}
        for value in (*self._outer_values, self.result):
            if isinstance(value, BlockArgument) and value not in values:
                around = value.owner.parent_op()
                if around is not None and (around is self.home or self._is_inside(around)):
                    raise NotApplicable(
                        f"a function that is moved uses {describe(value)} "
                        f"of the {around.name.removeprefix('lift.')} around it"
                    )
        copy(self.ops, values)
        return Value(values.get(self.result, self.result))


def copy(ops: Sequence[Operation], values: dict[SSAValue, SSAValue]) -> None:
    """Clone ops, with their values replaced, where the implicit builder stands.

    A component of a tuple that is made there is that component itself.
    """
    for op in ops:
        if isinstance(op, GetOp):
            made = values.get(op.input, op.input).owner
            if isinstance(made, TupleOp):
                values[op.result] = made.components[op.index.data]
                continue
        for old in () if isinstance(op, GetOp) else op.operands:
            given = values.get(old, old).type
            if old.type != given:
                raise NotApplicable(f"a function takes {old.type}, not {given}")
        new = op.clone_without_regions(values)
        for region, place in zip(op.regions, new.regions, strict=True):
            for block in region.blocks:
                written = Block(arg_types=block.arg_types)
                place.add_block(written)
                for old, argument in zip(block.args, written.args, strict=True):
                    values[old] = argument
                    keep_name(argument, old)
                with ImplicitBuilder(written):
                    copy(tuple(block.ops), values)
