"""The syntax tree of a Tile function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from tiledialect.errors import SourceSpan

T = TypeVar("T")


@dataclass(frozen=True)
class Node:
    """Node with a place in a source text."""

    span: SourceSpan


@dataclass(frozen=True)
class Name(Node):
    """A name where it is written: defined, or used where nothing but a name may stand."""

    text: str

    @property
    def is_capital(self) -> bool:
        """Whether this names a tensor or a dimension, and not an index or a function."""
        return self.text[0].isupper()


@dataclass(frozen=True)
class Integer(Node):
    """An integer literal."""

    value: int

    @property
    def text(self) -> str:
        """The literal as it is written."""
        return str(self.value)


@dataclass(frozen=True)
class Real(Node):
    """A floating-point literal."""

    value: float


@dataclass(frozen=True)
class Variable(Node):
    """A tensor, a dimension or an index used as a value."""

    name: str


@dataclass(frozen=True)
class Call(Node):
    """A function of expressions. An operator is its named form: ``A + B`` is ``add(A, B)``."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Integer | Real | Variable | Call


@dataclass(frozen=True)
class Attribute(Node):
    """A hint, ``[[name(argument, ...)]]``."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Input(Node):
    """A parameter; ``dims`` is None where the header says nothing of its dimensions."""

    name: Name
    dims: tuple[Name | Integer, ...] | None

    @property
    def dim_names(self) -> tuple[str, ...]:
        """The names among the dimensions."""
        return tuple(dim.text for dim in self.dims or () if isinstance(dim, Name))


@dataclass(frozen=True)
class TensorAccess(Node):
    """A tensor with its indices."""

    tensor: Name
    indices: tuple[Expression, ...]


@dataclass(frozen=True)
class Constraint(Node):
    """``0 <= expression < bound``, of which the source omits the ``0 <=``."""

    expression: Expression
    bound: Expression


@dataclass(frozen=True)
class Contraction(Node):
    """``output[indices: sizes] = aggregation(operands), constraints ...``."""

    attributes: tuple[Attribute, ...]
    output: TensorAccess
    sizes: tuple[Expression, ...] | None
    """None where the source gives no sizes."""
    aggregation: str
    """Aggregation: add, mul, max, min or assign."""
    combination: str
    """Combination: none, mul, add, eq, cond, add_eq, mul_eq, add_cond, mul_cond."""
    operands: tuple[TensorAccess, ...]
    constraints: tuple[Constraint, ...]
    default: Name | None
    no_defract: bool

    @property
    def target(self) -> Name:
        """The name that the statement defines."""
        return self.output.tensor


@dataclass(frozen=True)
class Assignment(Node):
    """``target = value``, elementwise."""

    attributes: tuple[Attribute, ...]
    target: Name
    value: Expression


@dataclass(frozen=True)
class CustomGradient(Node):
    """``target = custom_gradient(value, inputs) (cotangent) -> (gradients) { body }``."""

    attributes: tuple[Attribute, ...]
    target: Name
    value: Expression
    inputs: tuple[Name, ...]
    cotangent: Name
    gradients: tuple[Name, ...]
    body: tuple[Statement, ...]


Statement = Contraction | Assignment | CustomGradient


@dataclass(frozen=True)
class Function(Node):
    """A whole Tile function; ``name`` is None where it has none."""

    name: Name | None
    inputs: tuple[Input, ...]
    outputs: tuple[Name, ...]
    body: tuple[Statement, ...]


def targets(body: tuple[Statement, ...]) -> Iterator[str]:
    """The names that the statements of a body define, also inside of them."""
    for statement in body:
        yield statement.target.text
        if isinstance(statement, CustomGradient):
            yield statement.cotangent.text
            yield from targets(statement.body)


def postorder(
    expression: Expression, is_leaf: Callable[[Call], bool] = lambda call: False
) -> Iterator[Expression]:
    """Every node of ``expression``, arguments before their call; none inside of leaves.

    Not recursive, because a machine-written expression may be nested deeper than Python's stack.
    """
    stack: list[tuple[Expression, bool]] = [(expression, False)]
    while stack:
        node, done = stack.pop()
        if done or not isinstance(node, Call) or is_leaf(node):
            yield node
            continue
        stack.append((node, True))
        stack.extend((argument, False) for argument in reversed(node.arguments))


def evaluate(
    expression: Expression,
    visit: Callable[[Expression, list[T]], T],
    is_leaf: Callable[[Call], bool] = lambda call: False,
) -> T:
    """The value of ``expression``, where ``visit`` gives a node's from its arguments' values.

    The arguments of a leaf are not visited, and it is visited without them.
    """
    values: list[T] = []
    for node in postorder(expression, is_leaf):
        arity = 0
        if isinstance(node, Call) and not is_leaf(node):
            arity = len(node.arguments)
        arguments = values[len(values) - arity :]
        del values[len(values) - arity :]
        values.append(visit(node, arguments))
    (value,) = values
    return value
