"""Loops and branches in OpenCL C: the ops of scf."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.discardable import KEEP_LOOP, KEEP_SCALARS
from tiledialect.lowering.opencl.function import FunctionPrinter, Statement
from tiledialect.lowering.opencl.types import binary, negation, variable


def _yielded(block: Block) -> Sequence[SSAValue]:
    """Operands of a block's terminator."""
    last = block.last_op
    return last.operands if isinstance(last, scf.YieldOp) else ()


def _carried(
    p: FunctionPrinter, op: Operation, inits: Sequence[SSAValue], arguments: Sequence[SSAValue]
) -> list[str]:
    """Variables for the values that a loop carries; the variable of the initial value, if nothing
    else needs it."""
    names: list[str] = []
    for init, argument, result in zip(inits, arguments, op.results, strict=False):
        name = p.reusable(init, op, names, inside=False)
        if name is None:
            hint = argument.name_hint or result.name_hint
            name = p.new_variable(argument, p.expr(init), hint, "acc")
        else:
            p.rebind(argument, name)
        names.append(name)
    return names


PRAGMAS = {KEEP_SCALARS: "clang loop vectorize(disable)", KEEP_LOOP: "unroll 1"}
"""Pragmas of loops with an attribute."""


def _print_for(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, scf.ForOp)
    body = op.body.block
    names = _carried(p, op, op.iter_args, body.args[1:])
    lower, upper, step = (p.expr(v) for v in (op.lb, op.ub, op.step))
    type = p.ctype(op.lb.type)
    with p.nested():
        i = p.new_name(body.args[0].name_hint, "i")
        p.values[body.args[0]] = variable(i)
        end = binary("<", variable(i), upper).text
        advance = f"++{i}" if step.value == 1 else f"{i} += {step.text}"
        p.indent -= 1
        for attribute, pragma in PRAGMAS.items():
            if attribute in op.attributes:
                p.line(f"#pragma {pragma}")
        p.line(f"for ({type.name} {i} = {lower.assigned}; {end}; {advance}) {{")
        p.indent += 1
        p.block(body)
        p.op = op
        _assign_yielded(p, names, body)
    p.line("}")
    for result, name in zip(op.results, names, strict=True):
        p.rebind(result, name)


def _assign_yielded(p: FunctionPrinter, names: Sequence[str], block: Block) -> None:
    """Assign the yielded values of the block to the variables."""
    values = _yielded(block)
    p.assign([(n, p.expr(v), p.ctype(v.type)) for n, v in zip(names, values, strict=True)])


def _print_if(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, scf.IfOp)
    blocks = [p.single_block(r) for r in op.regions if r.blocks]
    condition = p.expr(op.cond)
    names = _branch_variables(p, op, blocks)
    texts = [_branch(p, op, block, names) for block in blocks]
    then, otherwise = texts[0], texts[1] if len(texts) > 1 else []
    if otherwise and not then:
        condition, then, otherwise = negation(condition), otherwise, []
    p.line(f"if ({condition.text}) {{")
    p.lines += then
    if otherwise:
        p.line("} else {")
        p.lines += otherwise
    p.line("}")
    for result, name in zip(op.results, names, strict=True):
        p.rebind(result, name)


def _branch_variables(p: FunctionPrinter, op: Operation, blocks: Sequence[Block]) -> list[str]:
    """A variable for each result: one that a branch leaves as it is, if nothing else needs it."""
    names: list[str] = []
    for i, result in enumerate(op.results):
        values = [_yielded(block)[i] for block in blocks]
        old = [p.reusable(value, op, names, inside=True) for value in values]
        reused = next((name for name in old if name), None)
        names.append(reused or p.new_variable(result, None, result.name_hint, "v"))
    return names


def _branch(p: FunctionPrinter, op: Operation, block: Block, names: Sequence[str]) -> list[str]:
    """The lines of a branch."""
    lines, p.lines = p.lines, []
    with p.nested():
        p.block(block)
        p.op = op
        _assign_yielded(p, names, block)
    lines, p.lines = p.lines, lines
    return lines


def _print_switch(p: FunctionPrinter, op: Operation) -> None:
    assert isinstance(op, scf.IndexSwitchOp)
    regions = [*op.case_regions, op.default_region]
    names = [p.new_variable(r, None, r.name_hint, "v") for r in op.results]
    p.line(f"switch ({p.expr(op.arg).text}) {{")
    for i, region in enumerate(regions):
        labels = [f"case {v}" for v in op.cases.get_values()]
        p.line(f"{[*labels, 'default'][i]}: {{")
        p.lines += _branch(p, op, p.single_block(region), names)
        p.line("    break;")
        p.line("}")
    p.line("}")


def _print_while(p: FunctionPrinter, op: Operation) -> None:
    """``while (condition)`` if the condition is an expression, else a loop left by ``break``."""
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    condition = before.last_op
    assert isinstance(condition, scf.ConditionOp)
    names = [
        p.new_variable(a, p.expr(init), a.name_hint, "state")
        for init, a in zip(op.arguments, before.args, strict=True)
    ]
    passed = [_passed_variable(p, op, i, v, before) for i, v in enumerate(condition.args)]
    lines, p.lines = p.lines, []
    with p.nested():
        p.block(before)
        p.op = op
        p.assign(
            [(n, p.expr(v), p.ctype(v.type)) for n, v in zip(passed, condition.args, strict=True)]
        )
        test = p.expr(condition.condition)
        head = "while (true) {"
        if p.lines:
            p.line(f"if ({negation(test).text}) {{")
            p.line("    break;")
            p.line("}")
        else:
            head = f"while ({test.text}) {{"
        for argument, name in zip(after.args, passed, strict=True):
            p.bind(argument, name)
        p.block(after)
        p.op = op
        _assign_yielded(p, names, after)
    body, p.lines = p.lines, lines
    p.line(head)
    p.lines += body
    p.line("}")
    for result, name in zip(op.results, passed, strict=True):
        p.bind(result, name)


def _passed_variable(
    p: FunctionPrinter, op: Operation, i: int, value: SSAValue, before: Block
) -> str:
    """Variable of a value that a condition passes on: its own, if it is an argument."""
    if value in before.args:
        return p.values[value].text
    return p.new_variable(op.results[i], None, op.results[i].name_hint, "passed")


def _print_nothing(p: FunctionPrinter, op: Operation) -> None:
    """Print nothing: the op that contains this one prints its effect."""


CONTROL_FLOW: dict[type[Operation], Statement] = {
    scf.ForOp: _print_for,
    scf.IfOp: _print_if,
    scf.IndexSwitchOp: _print_switch,
    scf.WhileOp: _print_while,
    scf.YieldOp: _print_nothing,
    scf.ConditionOp: _print_nothing,
}
