"""Tile text to its syntax tree."""

from __future__ import annotations

import hashlib
import marshal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import lark
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput
from lark.grammar import Rule
from lark.lexer import PatternStr, TerminalDef
from lark.tree import Meta

from tiledialect import caches
from tiledialect.errors import SourceSpan, TileError

from .. import disk
from . import ast
from .parse_errors import parse_error

GRAMMAR = Path(__file__).with_name("grammar.lark")
OPTIONS: dict[str, Any] = {
    "parser": "lalr",
    "lexer": "contextual",
    "propagate_positions": True,
    "maybe_placeholders": True,
}

AGGREGATIONS = {"+": "add", "*": "mul", ">": "max", "<": "min", "=": "assign"}
COMBINATIONS = {
    "single": "none",
    "product": "mul",
    "total": "add",
    "equal": "eq",
    "conditional": "cond",
    "total_equal": "add_eq",
    "product_equal": "mul_eq",
    "total_conditional": "add_cond",
    "product_conditional": "mul_cond",
}
LARGEST_INTEGER = 2**63 - 1


def parse(text: str, filename: str = "<tile>") -> tuple[ast.Function, ...]:
    """The syntax trees of the functions that ``text`` holds.

    Raises TileError, at the place in ``text``, for whatever the grammar does not allow.
    """
    parser = _lark().parse_interactive(text)
    accepted: list[Token] = []
    try:
        for token in parser.lexer_thread.lex(parser.parser_state):
            parser.feed_token(token)
            accepted.append(token)
        tree = parser.feed_token(Token("$END", "", len(text)))
    except UnexpectedInput as error:
        raise parse_error(error, _continuations(accepted), accepted, text, filename) from None
    return _Builder(text, filename).build(tree)


@caches.PACKAGE
def _lark() -> Lark:
    """The parser. Its tables take longer to make than programs to parse: they are kept on disk."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    versions = f"{lark.__version__} {sys.implementation.cache_tag}"
    digest = hashlib.sha256(f"{versions} {OPTIONS} {grammar}".encode()).hexdigest()
    path = disk.folder() / f"grammar-{digest}"
    if (kept := disk.read_sealed(path)) is not None:
        # Its checksum may hold, and its content be another's all the same: anything may be raised.
        with suppress(Exception):
            return Lark.load(marshal.loads(kept))
    made = Lark(grammar, **OPTIONS)
    data, memo = made.memo_serialize([TerminalDef, Rule])
    disk.write_sealed(path, marshal.dumps({"data": data, "memo": memo}))
    return made


@caches.PACKAGE
def _terminals() -> dict[str, str]:
    """The text of every terminal, or its name if it has more than one."""
    texts = {"$END": "$END"}
    for terminal in _lark().terminals:
        fixed = isinstance(terminal.pattern, PatternStr)
        texts[terminal.name] = terminal.pattern.value if fixed else terminal.name
    return texts


def _continuations(tokens: list[Token]) -> set[str]:
    """The texts, or else the names, of the terminals that may follow ``tokens``.

    The parser that failed knows less: it settles some choices before it sees the failure.
    """
    parser = _lark().parse_interactive("")
    for token in tokens:
        parser.feed_token(token)
    return {_terminals()[name] for name in parser.accepts()}


Children = list[Any]


class _Builder:
    """Makes our syntax tree from lark's: the method for a rule of the grammar has its name."""

    def __init__(self, text: str, filename: str):
        self.text = text
        self.filename = filename

    def build(self, tree: Tree[Token]) -> tuple[ast.Function, ...]:
        """The functions of the whole tree, from the leaves up, without recursion."""
        built: dict[int, Any] = {}
        for node in tree.iter_subtrees():
            children = [
                built.pop(id(child)) if isinstance(child, Tree) else child
                for child in node.children
            ]
            built[id(node)] = self._node(node.data, self._span(node.meta), children)
        return built[id(tree)]

    def _node(self, rule: str, span: SourceSpan, children: Children) -> Any:
        if rule in COMBINATIONS:
            return COMBINATIONS[rule], tuple(children)
        make = getattr(self, rule, None)
        if make is None:
            # The rule of an operator is named as the function that the operator is.
            return ast.Call(span, rule, tuple(children))
        return make(span, children)

    def _span(self, place: Meta | Token) -> SourceSpan:
        start = getattr(place, "start_pos", None)
        if start is None:
            # An empty list stands nowhere.
            return SourceSpan(self.text, 1, 1, self.filename)
        assert place.end_pos is not None
        return SourceSpan(
            self.text, place.line or 1, place.column or 1, self.filename, place.end_pos - start
        )

    def _name(self, token: Token) -> ast.Name:
        return ast.Name(self._span(token), str(token))

    # -- the header and the body ---------------------------------------------------------

    def function(self, span: SourceSpan, children: Children) -> ast.Function:
        name, inputs, outputs, body = children
        return ast.Function(span, name and self._name(name), inputs or (), outputs or (), body)

    def any_input(self, span: SourceSpan, children: Children) -> ast.Input:
        return ast.Input(span, self._name(children[0]), None)

    def sized_input(self, span: SourceSpan, children: Children) -> ast.Input:
        return ast.Input(span, self._name(children[0]), children[1] or ())

    def dims(self, span: SourceSpan, children: Children) -> tuple[ast.Name | ast.Integer, ...]:
        return tuple(
            self.integer(self._span(token), [token])
            if token.type == "INTEGER"
            else self._name(token)
            for token in children
        )

    def names(self, span: SourceSpan, children: Children) -> tuple[ast.Name, ...]:
        return tuple(self._name(token) for token in children)

    def inputs(self, span: SourceSpan, children: Children) -> tuple[Any, ...]:
        return tuple(children)

    start = body = expressions = inputs

    # -- statements ----------------------------------------------------------------------

    def statement(self, span: SourceSpan, children: Children) -> ast.Statement:
        *attributes, (kind, fields) = children
        return kind(span, tuple(attributes), *fields)

    def attribute(self, span: SourceSpan, children: Children) -> ast.Attribute:
        name, arguments = children
        return ast.Attribute(span, str(name), tuple(a.text for a in arguments or ()))

    def assignment(self, span: SourceSpan, children: Children) -> tuple[type, Children]:
        target, value = children
        return ast.Assignment, [self._name(target), value]

    def custom_gradient(self, span: SourceSpan, children: Children) -> tuple[type, Children]:
        target, value, inputs, cotangent, gradients, body = children
        fields = [self._name(target), value, inputs, self._name(cotangent), gradients, body]
        return ast.CustomGradient, fields

    def contraction(self, span: SourceSpan, children: Children) -> tuple[type, Children]:
        (output, sizes), aggregation, (combination, operands), *clauses = children
        constraints = tuple(c for c in clauses if isinstance(c, ast.Constraint))
        defaults = [c for c in clauses if isinstance(c, ast.Name)]
        if len(defaults) > 1:
            raise TileError("a contraction has one default", defaults[1].span)
        return ast.Contraction, [
            output,
            sizes,
            AGGREGATIONS[aggregation],
            combination,
            operands,
            constraints,
            defaults[0] if defaults else None,
            "no_defract" in clauses,
        ]

    def access(self, span: SourceSpan, children: Children) -> ast.TensorAccess:
        return ast.TensorAccess(span, self._name(children[0]), children[1] or ())

    def scalar_output(self, span: SourceSpan, children: Children) -> tuple[ast.TensorAccess, Any]:
        return self.access(span, [children[0], ()]), ()

    def unsized_output(self, span: SourceSpan, children: Children) -> tuple[ast.TensorAccess, Any]:
        return self.access(span, children), None

    def sized_output(self, span: SourceSpan, children: Children) -> tuple[ast.TensorAccess, Any]:
        return self.access(span, children[:2]), children[2]

    def constraint(self, span: SourceSpan, children: Children) -> ast.Constraint:
        return ast.Constraint(span, *children)

    def default(self, span: SourceSpan, children: Children) -> ast.Name:
        return self._name(children[0])

    def no_defract(self, span: SourceSpan, children: Children) -> str:
        return "no_defract"

    # -- expressions ---------------------------------------------------------------------

    def call(self, span: SourceSpan, children: Children) -> ast.Call:
        return ast.Call(span, str(children[0]), children[1] or ())

    def variable(self, span: SourceSpan, children: Children) -> ast.Variable:
        return ast.Variable(span, str(children[0]))

    def integer(self, span: SourceSpan, children: Children) -> ast.Integer:
        digits = children[0].lstrip("0")
        # Python refuses to read integers of thousands of digits.
        if len(digits) > 19 or int(digits or "0") > LARGEST_INTEGER:
            raise TileError("the number does not fit 64 bits", span)
        return ast.Integer(span, int(digits or "0"))

    def real(self, span: SourceSpan, children: Children) -> ast.Real:
        return ast.Real(span, float(children[0]))

    def logical_not(self, span: SourceSpan, children: Children) -> ast.Call:
        """``!A``, which is ``A == 0``."""
        return ast.Call(span, "cmp_eq", (children[0], ast.Integer(span, 0)))

    def multiple(self, span: SourceSpan, children: Children) -> ast.Call:
        """``2i``, which is ``2*i`` for an index and nothing else."""
        number, name = children
        if name[0].isupper():
            raise TileError(f"expected an operator between `{number}` and `{name}`", span)
        factors = (
            self.integer(self._span(number), [number]),
            ast.Variable(self._span(name), str(name)),
        )
        return ast.Call(span, "mul", factors)
