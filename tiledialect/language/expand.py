"""Writes statements out in simpler ones, so that every value used twice has a name.

After this a statement holds no tuples, none of the functions that the templates below define,
no other names of dimensions that have one, and random numbers only as its whole value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

from tiledialect import caches
from tiledialect.errors import SourceSpan

from . import ast
from .functions import FUNCTIONS, is_assertion
from .library import LIBRARY
from .parser import parse

Expanded: TypeAlias = "ast.Expression | tuple[Expanded, ...]"


@dataclass(frozen=True)
class ExpandedExpression:
    """A part of an expression, expanded."""

    value: Expanded
    is_size: bool


TEMPLATES = """
function builtin_softmax(X, Rows, Columns) -> (Y) {
    Max[i, 0: Rows, 1] = >(X[i, j]);
    Exp = exp(X - stop_gradient(Max));
    Sum[i, 0: Rows, 1] = +(Exp[i, j]);
    Y = Exp / Sum;
}
function builtin_logsoftmax(X, Rows, Columns) -> (Y) {
    Max[i, 0: Rows, 1] = >(X[i, j]);
    Shifted = X - stop_gradient(Max);
    Exp = exp(Shifted);
    Sum[i, 0: Rows, 1] = +(Exp[i, j]);
    Y = Shifted - log(Sum);
}
function builtin_binary_crossentropy(P, T, Scale) -> (Y) {
    Y = -T * log(P) - (1 - T) * log(1 - P);
}
"""
"""Functions of tensors.

The number subtracted before `exp` changes no value, and so no derivative either.
"""

SIZE_TEMPLATES = """
function ident(X) -> (Y) { Y = X; }
function abs(X) -> (Y) { Y = max(X, -X); }
function cmp_eq(A, B) -> (Y) { Y = 1 - min(max(A - B, B - A), 1); }
function cmp_ne(A, B) -> (Y) { Y = min(max(A - B, B - A), 1); }
function cmp_lt(A, B) -> (Y) { Y = min(max(B - A, 0), 1); }
function cmp_le(A, B) -> (Y) { Y = min(max(B - A + 1, 0), 1); }
function cmp_gt(A, B) -> (Y) { Y = min(max(A - B, 0), 1); }
function cmp_ge(A, B) -> (Y) { Y = min(max(A - B + 1, 0), 1); }
function select(C, A, B) -> (Y) { Y = B + min(max(C, -C), 1) * (A - B); }
function cond(C, A, B) -> (Y) { Y = B + min(max(C, -C), 1) * (A - B); }
"""
"""Functions of dimensions, in the arithmetic that sizes have; a comparison gives 1 or 0."""


@caches.TEMPLATES
def _templates(text: str) -> dict[str, ast.Function]:
    return {f.name.text: f for f in parse(text) if f.name is not None}


@dataclass(frozen=True)
class Invocation:
    """A call of a function that is written in Tile: its results get names."""

    targets: tuple[ast.Name, ...]
    call: ast.Call


class Expander:
    """Expander of statements, one after the other."""

    def __init__(
        self,
        is_size: Callable[[str], bool],
        fresh: Callable[[str], str],
        emit: Callable[[ast.Statement | Invocation], None],
        outputs: Set[str],
        functions: Mapping[str, ast.Function],
    ):
        self.is_size = is_size
        """Whether a name that was handed on stands for a dimension."""
        self.fresh = fresh
        """A new name, after the current statement's, that ends in a suffix."""
        self.emit = emit
        self.outputs = outputs
        self.functions = functions
        """Functions that may be called besides `FUNCTIONS`."""
        self.meanings: dict[str, Expanded] = {}
        """Tuples, random number steps and second names of dimensions, which no statement keeps."""

    def expand(self, statement: ast.Statement) -> None:
        """Hand on the statements that ``statement`` becomes."""
        if isinstance(statement, ast.Contraction):
            self.emit(self.contraction(statement))
            return
        if isinstance(statement, ast.CustomGradient):
            # The body is expanded when it is lowered.
            self.emit(replace(statement, value=self.simple(statement.value)))
            return
        value = self.expression(statement.value, is_whole=True)
        if (
            isinstance(value, tuple)
            or _is_step(value)
            or self.is_second_name(statement.target.text, value)
        ):
            self.meanings[statement.target.text] = value
        else:
            self.emit(replace(statement, value=value))

    def is_second_name(self, target: str, value: ast.Expression) -> bool:
        """Whether ``value`` is the name of a dimension, and ``target`` may go without its own."""
        return (
            isinstance(value, ast.Variable)
            and self.is_size(value.name)
            and target not in self.outputs
        )

    def contraction(self, statement: ast.Contraction) -> ast.Contraction:
        """The contraction, with its expressions expanded."""

        def access(a: ast.TensorAccess) -> ast.TensorAccess:
            return replace(a, indices=tuple(map(self.simple, a.indices)))

        return replace(
            statement,
            output=access(statement.output),
            operands=tuple(map(access, statement.operands)),
            constraints=tuple(
                replace(c, expression=self.simple(c.expression), bound=self.simple(c.bound))
                for c in statement.constraints
            ),
            sizes=statement.sizes and tuple(map(self.simple, statement.sizes)),
        )

    def simple(self, expression: ast.Expression) -> ast.Expression:
        """An expression that is no tuple, expanded."""
        value = self.expression(expression)
        assert not isinstance(value, tuple)
        return value

    def expression(self, expression: ast.Expression, is_whole: bool = False) -> Expanded:
        """An expression, expanded; ``is_whole`` if it is the value of a statement."""

        def visit(node: ast.Expression, arguments: list[ExpandedExpression]) -> ExpandedExpression:
            if isinstance(node, ast.Call):
                return self.call(node, arguments, is_whole and node is expression)
            return self.part(self.meaning(node))

        return ast.evaluate(expression, visit).value

    def meaning(self, node: ast.Integer | ast.Real | ast.Variable) -> Expanded:
        """Expression of a name that no statement keeps; else the node."""
        return self.meanings.get(node.name, node) if isinstance(node, ast.Variable) else node

    def part(self, value: Expanded) -> ExpandedExpression:
        """A tuple, a name, a number, or a call that is no dimension."""
        match value:
            case ast.Integer():
                return ExpandedExpression(value, True)
            case ast.Variable():
                return ExpandedExpression(
                    value, value.name[0].isupper() and self.is_size(value.name)
                )
            case _:
                return ExpandedExpression(value, False)

    def call(
        self, node: ast.Call, arguments: list[ExpandedExpression], is_whole: bool
    ) -> ExpandedExpression:
        """A call, whose arguments are expanded already."""
        name = node.function
        values = [a.value for a in arguments]
        if name == "tuple":
            return self.part(tuple(self.atom(a, str(k)) for k, a in enumerate(values)))
        simple = tuple(a for a in values if not isinstance(a, tuple))
        if name == "element":
            (elements,) = (a for a in values if isinstance(a, tuple))
            (position,) = simple
            assert isinstance(position, ast.Integer)
            return self.part(elements[position.value])
        if name == "prng_step":
            simple = tuple(self.name(a, "drawn") for a in simple)
        call = replace(node, arguments=simple)
        if name in LIBRARY or (name not in FUNCTIONS and name in self.functions):
            return self.part(self.invoke(call))
        if name in ("prng_value", "prng_state"):
            return self.part(call if is_whole else self.name(call, name.removeprefix("prng_")))
        if name in _templates(TEMPLATES):
            return ExpandedExpression(self.inline(_templates(TEMPLATES)[name], call), False)
        of_dims = is_assertion(name) or FUNCTIONS[name].of_dims
        is_size = name == "dim" or (of_dims and all(a.is_size for a in arguments))
        if is_size and name in _templates(SIZE_TEMPLATES):
            return ExpandedExpression(self.inline(_templates(SIZE_TEMPLATES)[name], call), True)
        return ExpandedExpression(call, is_size)

    def invoke(self, call: ast.Call) -> Expanded:
        """The results of a function that is written in Tile: the only one, or a tuple."""
        names = LIBRARY.get(call.function) or [
            output.text for output in self.functions[call.function].outputs
        ]
        targets = tuple(ast.Name(call.span, self.fresh(name.lower())) for name in names)
        self.emit(Invocation(targets, call))
        first, *more = (ast.Variable(call.span, target.text) for target in targets)
        return (first, *more) if more else first

    # -- naming ----------------------------------------------------------------------------

    def atom(self, expression: Expanded, suffix: str) -> Expanded:
        """A name or number with the value of ``expression``, or a tuple of such."""
        return expression if isinstance(expression, tuple) else self.name(expression, suffix)

    def name(self, expression: ast.Expression, suffix: str) -> ast.Expression:
        """A name or number with the value of ``expression``."""
        if not isinstance(expression, ast.Call) or _is_step(expression):
            return expression
        name = ast.Name(expression.span, self.fresh(suffix))
        self.emit(ast.Assignment(expression.span, (), name, expression))
        return ast.Variable(expression.span, name.text)

    def inline(self, template: ast.Function, call: ast.Call) -> ast.Expression:
        """Expand a call of ``template`` to its value; the statements before the value are handed
        on."""
        body = _Inlining(self, call.span)
        for parameter, argument in zip(template.inputs, call.arguments, strict=True):
            name = parameter.name.text
            uses = _uses(template, name)
            if uses > 1:
                argument = self.name(argument, name.lower())
            body.meaning[name] = argument
        *statements, last = template.body
        for statement in statements:
            body.statement(statement)
        assert isinstance(last, ast.Assignment)
        return body.expression(last.value)


def _is_step(expression: ast.Expression) -> bool:
    return isinstance(expression, ast.Call) and expression.function == "prng_step"


def _uses(template: ast.Function, name: str) -> int:
    """Number of uses of a template's parameter; one in brackets counts twice, being a name
    there."""
    count = 0
    for statement in template.body:
        if isinstance(statement, ast.Assignment):
            expressions = [statement.value]
        else:
            assert isinstance(statement, ast.Contraction)
            expressions = list(statement.sizes or ())
            count += 2 * sum(access.tensor.text == name for access in statement.operands)
        for expression in expressions:
            count += sum(
                isinstance(node, ast.Variable) and node.name == name
                for node in ast.postorder(expression)
            )
    return count


class _Inlining:
    """A template's statements with its names replaced."""

    def __init__(self, expander: Expander, span: SourceSpan):
        self.expander = expander
        self.span = span
        self.meaning: dict[str, ast.Expression] = {}

    def statement(self, statement: ast.Statement) -> None:
        """Hand on a statement of the template."""
        local = statement.target.text
        target = ast.Name(self.span, self.expander.fresh(local.lower()))
        if isinstance(statement, ast.Assignment):
            new: ast.Statement = ast.Assignment(
                self.span, (), target, self.expression(statement.value)
            )
        else:
            assert isinstance(statement, ast.Contraction)
            new = replace(
                statement,
                span=self.span,
                output=replace(statement.output, span=self.span, tensor=target),
                operands=tuple(map(self.access, statement.operands)),
                sizes=tuple(map(self.expression, statement.sizes or ())),
            )
        self.expander.emit(new)
        self.meaning[local] = ast.Variable(self.span, target.text)

    def access(self, access: ast.TensorAccess) -> ast.TensorAccess:
        meaning = self.meaning[access.tensor.text]
        name = meaning.name if isinstance(meaning, ast.Variable) else ""
        return replace(access, span=self.span, tensor=ast.Name(self.span, name))

    def expression(self, expression: ast.Expression) -> ast.Expression:
        def visit(node: ast.Expression, arguments: list[ast.Expression]) -> ast.Expression:
            if isinstance(node, ast.Variable):
                return self.meaning[node.name]
            if isinstance(node, ast.Call):
                return replace(node, span=self.span, arguments=tuple(arguments))
            return replace(node, span=self.span)

        return ast.evaluate(expression, visit)
