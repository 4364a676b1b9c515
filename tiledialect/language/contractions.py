"""A contraction statement to its op."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation, Combination, symbol
from tiledialect.dialects.tile.base import DYNAMIC_INDEX
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import SourceSpan, TileError
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.index.lattice import first_undetermined

from . import ast
from .append import Size
from .scope import Axis, Scope

AFFINE = ("add", "sub", "mul", "div", "neg")
"""The functions of which index expressions are made."""


def index_name(name: str) -> str:
    """The name of an index in IR, whose names have no ``'``."""
    return name.replace("'", ".prime")


def lower_contraction(scope: Scope, statement: ast.Contraction) -> SSAValue:
    """Append the contraction op of ``statement``."""
    reader = IndexReader(scope)
    output = [reader.read(index) for index in statement.output.indices]
    accesses = [[reader.read(index) for index in a.indices] for a in statement.operands]
    constrained = [reader.read(c.expression) for c in statement.constraints]
    exprs = [*output, *(e for access in accesses for e in access), *constrained]
    _check_bounded(statement, exprs)
    symbols = Symbols(scope, reader.symbols)
    symbols.resolve(exprs)
    bounds = [symbols.bound(c.bound) for c in statement.constraints]
    inputs = [scope.tensor(a.tensor) for a in statement.operands]
    sizes = _sizes(scope, statement, accesses)
    default = statement.default and scope.tensor(statement.default)
    rename = symbols.renaming
    span = statement.output.span
    result = scope.appender.make(
        lambda: _verified(
            ContractionOp(
                Aggregation(statement.aggregation),
                Combination(statement.combination),
                [e.substitute(rename) for e in output],
                [
                    (value, [e.substitute(rename) for e in access])
                    for value, access in zip(inputs, accesses, strict=True)
                ],
                [
                    Constraint(e.substitute(rename), bound)
                    for e, bound in zip(constrained, bounds, strict=True)
                ],
                shape=tuple(s if isinstance(s, int) else DYNAMIC_INDEX for s in sizes),
                symbols=symbols.operands,
                sizes=[s for s in sizes if isinstance(s, SSAValue)],
                default=default,
                no_defract=statement.no_defract,
            )
        ),
        span,
    )
    scope.known_sizes[result] = tuple(sizes)
    return result


def _verified(op: ContractionOp) -> ContractionOp:
    op.verify_()
    return op


# -- index expressions ---------------------------------------------------------------------


@dataclass
class IndexReader:
    """Makes index expressions of syntax, in which dimensions are symbols not looked up yet.

    They are looked up only once it is known which of them stay: `N - N + i` asks for no N.
    """

    scope: Scope
    symbols: list[SSAValue | ast.Expression] = field(
        default_factory=list[SSAValue | ast.Expression]
    )

    def read(self, expression: ast.Expression) -> IndexExpr:
        """The index expression that ``expression`` writes."""
        return ast.evaluate(expression, self._visit, self._is_leaf)

    def _is_leaf(self, call: ast.Call) -> bool:
        if call.function == "div":
            return not self._is_literal(call.arguments[1])
        return call.function not in AFFINE

    def _is_literal(self, expression: ast.Expression) -> bool:
        """Whether an expression is a number, or made of names of numbers."""
        names = [n.name for n in ast.postorder(expression) if isinstance(n, ast.Variable)]
        return all(isinstance(self.scope.values.get(name), int) for name in names)

    def _visit(self, node: ast.Expression, arguments: list[IndexExpr]) -> IndexExpr:
        match node:
            case ast.Integer():
                return IndexExpr.of(node.value)
            case ast.Variable(name=name) if name[0].islower():
                return IndexExpr.of(index_name(name))
            case ast.Variable(name=name):
                value = self.scope.values.get(name)
                if isinstance(value, int):
                    return IndexExpr.of(value)
                return self._symbol(value if isinstance(value, SSAValue) else node)
            case ast.Call() if self._is_leaf(node):
                return self._leaf(node)
            case ast.Call(function=function):
                return _affine(function, arguments, node.span)
            case ast.Real():
                raise AssertionError("checked before")

    def _leaf(self, node: ast.Call) -> IndexExpr:
        """A function of dimensions alone."""
        for part in ast.postorder(node):
            if isinstance(part, ast.Variable) and part.name[0].islower():
                raise TileError("an index may be divided only by a number", node.span)
        if self._is_literal(node):
            value = self.scope.size(node)
            assert isinstance(value, int)
            return IndexExpr.of(value)
        return self._symbol(node)

    def _symbol(self, meaning: SSAValue | ast.Expression) -> IndexExpr:
        for k, known in enumerate(self.symbols):
            if known is meaning or (
                isinstance(known, ast.Variable)
                and isinstance(meaning, ast.Variable)
                and known.name == meaning.name
            ):
                return IndexExpr.of(symbol(k))
        self.symbols.append(meaning)
        return IndexExpr.of(symbol(len(self.symbols) - 1))


def _affine(function: str, arguments: list[IndexExpr], span: SourceSpan) -> IndexExpr:
    match function, arguments:
        case "neg", [a]:
            return -a
        case "add", [a, b]:
            return a + b
        case "sub", [a, b]:
            return a - b
        case "mul", [a, b]:
            return a * b
        case _:
            a, b = arguments
            if not b.constant:
                raise TileError("an index is divided by 0 here", span)
            return a / b.constant


@dataclass
class Symbols:
    """The symbol operands of a contraction, in the order in which its expressions name them."""

    scope: Scope
    meanings: Sequence[SSAValue | ast.Expression]
    operands: list[SSAValue] = field(default_factory=list[SSAValue])
    renaming: dict[str, IndexExpr] = field(default_factory=dict[str, IndexExpr])

    def resolve(self, exprs: Iterable[IndexExpr]) -> None:
        """Look up or compute the symbols that ``exprs`` name."""
        numbers = {symbol(k): k for k in range(len(self.meanings))}
        for name in dict.fromkeys(name for expr in exprs for name in expr.names):
            if name in numbers:
                meaning = self.meanings[numbers[name]]
                if not isinstance(meaning, SSAValue):
                    value = self.scope.size(meaning)
                    meaning = self.scope.appender.size(value, meaning.span)
                self.renaming[name] = self.operand(meaning)

    def bound(self, expression: ast.Expression) -> IndexExpr:
        """The bound of a constraint: a number or one symbol."""
        value = self.scope.size(expression)
        return IndexExpr.of(value) if isinstance(value, int) else self.operand(value)

    def operand(self, value: SSAValue) -> IndexExpr:
        """The symbol that stands for ``value``, which becomes an operand."""
        if value not in self.operands:
            self.operands.append(value)
        return IndexExpr.of(symbol(self.operands.index(value)))


def _check_bounded(statement: ast.Contraction, exprs: Sequence[IndexExpr]) -> None:
    """Raises a TileError if an index can grow without any of ``exprs`` growing."""
    places = _index_places(statement)
    symbols = {s for e in exprs for s in e.names if s.startswith("symbol(")}
    indices = list(places)
    rows: list[tuple[Fraction, ...]] = []
    for expr in exprs:
        if any(len(monomial) > 1 and set(monomial) - symbols for monomial, _ in expr):
            return  # The coefficients are not known yet.
        rows.append(tuple(expr.coefficient(name) for name in indices))
    free = first_undetermined(rows, len(indices))
    if free is None:
        return
    node = places[indices[free]]
    raise TileError(f"nothing bounds the index `{node.name}`", node.span)


def _index_places(statement: ast.Contraction) -> dict[str, ast.Variable]:
    """First place of each index, also if nothing is left of it as in `j*0`."""
    places: dict[str, ast.Variable] = {}
    for access in (statement.output, *statement.operands, *statement.constraints):
        parts = [access.expression] if isinstance(access, ast.Constraint) else access.indices
        for node in (node for part in parts for node in ast.postorder(part)):
            if isinstance(node, ast.Variable) and node.name[0].islower():
                places.setdefault(index_name(node.name), node)
    return places


# -- sizes ---------------------------------------------------------------------------------


def _sizes(
    scope: Scope, statement: ast.Contraction, accesses: Sequence[Sequence[IndexExpr]]
) -> list[Size]:
    """Sizes of the output: as given, or else of the axes along which its indices run."""
    if statement.sizes is not None:
        sizes = [scope.size(size) for size in statement.sizes]
        for axis, (size, written) in enumerate(zip(sizes, statement.sizes, strict=True)):
            if isinstance(size, int) and size < 0:
                name = statement.output.tensor.text
                raise TileError(f"axis {axis} of {name} gets the size {size}", written.span)
        return [*sizes]
    return [_run(scope, statement, index) for index in statement.output.indices]


def _run(scope: Scope, statement: ast.Contraction, index: ast.Expression) -> Size:
    """The size of the axes on which ``index`` stands alone."""
    name = statement.target.text
    if not isinstance(index, ast.Variable):
        raise TileError(f"`{name}` needs its sizes, as in `{name}[i: N]`", statement.output.span)
    found: list[Size | Axis] = []
    for access in statement.operands:
        sizes = scope.sizes_of(scope.tensor(access.tensor))
        for position, other in enumerate(access.indices):
            if isinstance(other, ast.Variable) and other.name == index.name:
                if sizes is None:
                    raise TileError(
                        f"`{name}` needs its sizes, as in `{name}[i: N]`, because the sizes of "
                        f"`{access.tensor.text}` have no names",
                        statement.output.span,
                    )
                if sizes[position] not in found:
                    found.append(sizes[position])
    if len(found) != 1:
        reason = "none" if not found else "several"
        raise TileError(
            f"`{name}` needs its sizes, as in `{name}[i: N]`: `{index.name}` runs along {reason} "
            "of the operands' dimensions",
            statement.output.span,
        )
    (size,) = found
    return scope.axis_size(size, index.span)
