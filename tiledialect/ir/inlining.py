"""Inlining of calls."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.errors import TileError
from tiledialect.ir.names import place_of

Values = Sequence[SSAValue]

MOST_UNROLLED = 400
"""Most ops that a loop becomes, as each iteration is ops of its own; the host runs others."""


def inline_calls(module: ModuleOp) -> None:
    """Put the bodies of functions in the place of calls; private ones are left out then."""
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
    done: set[str] = set()
    for name in functions:
        _inline(functions, name, done, ())
    for function in functions.values():
        visibility = function.sym_visibility
        if visibility is not None and visibility.data == "private" and not function.is_declaration:
            function.detach()
            function.erase()


def _inline(
    functions: dict[str, func.FuncOp], name: str, done: set[str], callers: tuple[str, ...]
) -> None:
    if name in done:
        return
    for call in [op for op in functions[name].walk() if isinstance(op, func.CallOp)]:
        called = call.callee.root_reference.data
        if called in (*callers, name):
            raise TileError.at(call, f"{called} calls itself")
        if (callee := functions.get(called)) is None or callee.is_declaration:
            raise TileError.at(call, f"there is no function {called} here")
        _inline(functions, called, done, (*callers, name))
        inline_block(callee.body.block, call, call.operands)
    done.add(name)


def inline_block(block: Block, op: Operation, operands: Values) -> None:
    """Put a copy of a block, on these operands, in the place of an op."""
    Rewriter.replace_op(op, [], copy_block(block, op, operands))


def copy_block(block: Block, op: Operation, operands: Values) -> list[SSAValue]:
    """Put a copy of a block, on these operands, before an op; returns what its last op takes."""
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, operands, strict=True))
    last = block.last_op
    for inner in block.ops:
        if inner is last:
            break
        copy = inner.clone(values)
        for new, old in zip(copy.walk(), inner.walk(), strict=True):
            # Some frontends do not say where ops of functions stand that they have kept.
            new.location = old.location if place_of(old) is not None else op.location
        Rewriter.insert_op(copy, InsertPoint.before(op))
    return [] if last is None else [values.get(v, v) for v in last.operands]
