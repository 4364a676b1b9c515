"""Calls and tuples of StableHLO, and the ops that stand for their operands."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl_jax.dialects import stablehlo as hlo

from tiledialect.dialects import stablehlo as added
from tiledialect.errors import TileError

Values = Sequence[SSAValue]


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
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, operands, strict=True))
    for inner in block.ops:
        if inner is block.last_op:
            results = [values.get(v, v) for v in inner.operands]
            Rewriter.replace_op(op, [], results)
            return
        copy = inner.clone(values)
        for new, old in zip(copy.walk(), inner.walk(), strict=True):
            new.location = old.location
        Rewriter.insert_op(copy, InsertPoint.before(op))


class DropTuple(RewritePattern):
    """An element of a tuple is the value that it was made of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: added.GetTupleElementOp, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by the element."""
        if (element := op.element) is not None:
            rewriter.replace(op, [], [element])


class DropBarrier(RewritePattern):
    """A barrier against optimizations is its operands."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: hlo.OptimizationBarrierOp, rewriter: PatternRewriter) -> None:
        """Replace ``op`` by its operands."""
        rewriter.replace(op, [], list(op.operands))


REASONS: dict[str, str] = {
    "stablehlo.rng_bit_generator": (
        "its bits are those of XLA's own generators; jax.random with `threefry2x32` is of plain ops"
    ),
    "stablehlo.custom_call": "it is code of another compiler",
    **dict.fromkeys(
        ("stablehlo.complex", "stablehlo.real", "stablehlo.imag", "stablehlo.fft"),
        "there are no complex numbers",
    ),
}


def check_converted(module: ModuleOp) -> None:
    """Refuse what is left of StableHLO."""
    for op in module.walk():
        name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
        if name.partition(".")[0] in ("stablehlo", "chlo", "sdy"):
            of = f" of @{op.call_target_name.data}" if isinstance(op, hlo.CustomCallOp) else ""
            reason = REASONS.get(name, "there is no conversion of it")
            raise TileError.at(op, f"{name}{of} cannot be converted: {reason}")
