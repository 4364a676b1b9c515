"""The rules of Tile that a function must keep whatever the shapes of its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tiledialect.errors import SourceSpan, TileError, meant

from . import ast
from .functions import FUNCTIONS, is_assertion
from .syntax_hints import NUMBERS, REPLACEMENTS


@dataclass(frozen=True)
class ValueKind:
    """ValueKind of value of a name or an expression."""

    noun: str
    rank: int | None = None
    """Number of dimensions of a tensor, or of a random number step's draw, where known."""
    elements: tuple[ValueKind, ...] = ()
    """Kinds of a tuple's elements."""

    def __str__(self) -> str:
        return self.noun

    @property
    def is_tensor(self) -> bool:
        """Whether this is a tensor."""
        return self.noun == "a tensor"


def tensor(rank: int | None) -> ValueKind:
    """A tensor of ``rank`` dimensions; None if that is not known."""
    return ValueKind("a tensor", rank)


MATRIX_FUNCTIONS = {"builtin_softmax": "softmax", "builtin_logsoftmax": "logsoftmax"}
"""Functions of matrices alone, each with its equivalent for any tensor."""

SIZE = ValueKind("a dimension")
STEP = ValueKind("a random number step")


def check(functions: Sequence[ast.Function], default: str) -> dict[str, ast.Function]:
    """Check functions; the result is by name, ``default`` for a function without one.

    Raises TileError at the first place in a function that breaks a rule of the language.
    """
    program = _Program({})
    for function in functions:
        name = function.name.text if function.name is not None else default
        if name in program.functions:
            place = function.name.span if function.name is not None else function.span
            raise TileError(f"there are two functions `{name}`", place)
        program.functions[name] = function
    for name, function in program.functions.items():
        program.results(name, function.span)
    return program.functions


@dataclass
class _Program:
    """The functions of a text, checked when they are first called."""

    functions: dict[str, ast.Function]
    checked: dict[str, tuple[ValueKind, ...]] = field(
        default_factory=dict[str, "tuple[ValueKind, ...]"]
    )
    """Kinds of each function's results."""
    calling: list[str] = field(default_factory=list[str])
    """The functions that are being checked, each of which calls the next."""

    def results(self, name: str, place: SourceSpan) -> tuple[ValueKind, ...]:
        """Kinds of the results of a function that is called at ``place``."""
        if name in self.calling:
            circle = " calls ".join(f"`{f}`" for f in [*self.calling, name])
            raise TileError(f"a function cannot call itself: {circle}", place)
        if name not in self.checked:
            self.calling.append(name)
            self.checked[name] = _Checker(self).check(self.functions[name])
            self.calling.pop()
        return self.checked[name]


class _Checker:
    def __init__(self, program: _Program):
        self.program = program
        self.kinds: dict[str, ValueKind] = {}
        self.places: dict[str, SourceSpan] = {}

    def check(self, function: ast.Function) -> tuple[ValueKind, ...]:
        """The kinds of the function's outputs."""
        self.header(function)
        for statement in function.body:
            self.statement(statement)
        self.results(function)
        kinds = (self.kinds[output.text] for output in function.outputs)
        return tuple(tensor(0) if kind == SIZE else kind for kind in kinds)

    # -- names -----------------------------------------------------------------------------

    def define(self, name: ast.Name, kind: ValueKind) -> None:
        if not name.is_capital:
            raise TileError(
                f"`{name.text}` must begin with a capital letter, as it is {kind}", name.span
            )
        if name.text in self.kinds:
            line = self.places[name.text].line
            raise TileError(f"`{name.text}` is already defined, in line {line}", name.span)
        self.kinds[name.text] = kind
        self.places[name.text] = name.span

    def kind_of(self, name: str, span: SourceSpan) -> ValueKind:
        if name in self.kinds:
            return self.kinds[name]
        if name != "E" and (number := NUMBERS.get(name.lower())) is not None:
            raise TileError(f"Tile has no name for `{name}`: write `{number}`", span)
        if name[0].islower():
            raise TileError(
                f"`{name}` is an index, as it begins with a lower case letter, and indices "
                "stand only in the brackets and constraints of a contraction",
                span,
            )
        raise TileError(f"`{name}` is not defined{self.hint_of(name)}", span)

    def hint_of(self, name: str) -> str:
        """Hint for a name that is not defined: a similar one, or the way to give a number."""
        number = f': a number is given by constants={{"{name}": …}}'
        return meant(name, self.kinds) or (number if len(name) > 1 else "")

    # -- the header ------------------------------------------------------------------------

    def header(self, function: ast.Function) -> None:
        for parameter in function.inputs:
            dims = parameter.dims
            self.define(parameter.name, tensor(None if dims is None else len(dims)))
            for dim in dims or ():
                if isinstance(dim, ast.Name) and self.kinds.get(dim.text) != SIZE:
                    self.define(dim, SIZE)
        if not function.outputs:
            raise TileError("a function has at least one output", function.span)
        seen: set[str] = set()
        for output in function.outputs:
            if output.text in seen:
                raise TileError(f"the output `{output.text}` is named twice", output.span)
            if output.text in self.kinds:
                raise TileError(
                    f"the output `{output.text}` is the name of {self.kinds[output.text]} of the "
                    "header already",
                    output.span,
                )
            seen.add(output.text)

    def results(self, function: ast.Function) -> None:
        for output in function.outputs:
            if output.text not in self.kinds:
                raise TileError(f"the output `{output.text}` is never assigned", output.span)
            kind = self.kinds[output.text]
            if not kind.is_tensor and kind != SIZE:
                raise TileError(f"the output `{output.text}` is {kind}", output.span)

    def statement(self, statement: ast.Statement) -> None:
        match statement:
            case ast.Contraction():
                self.contraction(statement)
            case ast.Assignment():
                self.assignment(statement)
            case ast.CustomGradient():
                self.custom_gradient(statement)

    # -- custom gradients ------------------------------------------------------------------

    def custom_gradient(self, statement: ast.CustomGradient) -> None:
        kind = self.tensor_value(statement.value, "the value of a custom gradient")
        for name in statement.inputs:
            of = self.kind_of(name.text, name.span)
            if not of.is_tensor:
                raise TileError(
                    f"a custom gradient is by tensors, and `{name.text}` is {of}", name.span
                )
        outside = dict(self.kinds), dict(self.places)
        self.define(statement.cotangent, kind)
        for inner in statement.body:
            self.statement(inner)
        for name in statement.gradients:
            self.tensor_value(ast.Variable(name.span, name.text), "a cotangent")
        self.kinds, self.places = outside
        if len(statement.gradients) != len(statement.inputs):
            raise TileError(
                f"a custom gradient by {_count(len(statement.inputs), 'tensor', 'tensors')} gives "
                f"{_count(len(statement.gradients), 'cotangent', 'cotangents')}",
                statement.gradients[-1].span,
            )
        self.define(statement.target, kind)

    def tensor_value(self, expression: ast.Expression, what: str) -> ValueKind:
        """The kind of an expression that must be a tensor, or a dimension as one."""
        kind = self.value(expression)
        if kind != SIZE and not kind.is_tensor:
            raise TileError(f"{what} must be a tensor, not {kind}", expression.span)
        return tensor(0) if kind == SIZE else kind

    # -- elementwise -----------------------------------------------------------------------

    def assignment(self, statement: ast.Assignment) -> None:
        kind = self.value(statement.value)
        self.define(statement.target, kind)

    def value(self, expression: ast.Expression) -> ValueKind:
        """ValueKind of an expression outside of brackets."""
        return ast.evaluate(expression, self._value)

    def _value(self, node: ast.Expression, arguments: list[ValueKind]) -> ValueKind:
        match node:
            case ast.Integer():
                return SIZE
            case ast.Real():
                return tensor(0)
            case ast.Variable():
                return self.kind_of(node.name, node.span)
            case ast.Call():
                return self.call(node, arguments)

    def call(self, node: ast.Call, arguments: list[ValueKind]) -> ValueKind:
        """The kind of a call; raises TileError if the function does not take the arguments."""
        name = node.function
        if is_assertion(name):
            if len(arguments) != 1:
                raise TileError(f"`{name}` takes 1 argument, not {len(arguments)}", node.span)
            self._expect(node, arguments, SIZE)
            return SIZE
        if name == "custom_gradient":
            raise TileError("a custom gradient is a statement of its own", node.span)
        if name not in FUNCTIONS:
            if name in self.program.functions:
                return self.called(node, arguments)
            callable_here = (f for f in self.program.functions if f not in self.program.calling)
            known = [*FUNCTIONS, *callable_here]
            raise TileError(
                f"there is no function `{name}`{_replacement_hint(name, known)}", node.span
            )
        signature = FUNCTIONS[name]
        if not signature.accepts(len(arguments)):
            raise TileError(f"`{name}` takes {signature.arity}, not {len(arguments)}", node.span)
        if name in MATRIX_FUNCTIONS and not _may_have_rank(arguments[0], 2):
            any_rank = f"`{MATRIX_FUNCTIONS[name]}(X, axis)` takes any"
            raise TileError(
                f"`{name}` takes a tensor of 2 dimensions ({any_rank})", node.arguments[0].span
            )
        if name == "tuple":
            return ValueKind("a tuple", elements=tuple(arguments))
        if name == "element":
            return self.element(node, arguments[0])
        if name in ("prng_value", "prng_state"):
            self._expect(node, arguments, STEP)
            return tensor(arguments[0].rank if name == "prng_value" else None)
        first_constant = len(arguments) if signature.constants is None else signature.constants
        for argument, kind in zip(node.arguments, arguments[:first_constant], strict=False):
            if not kind.is_tensor and kind != SIZE:
                raise TileError(f"`{name}` takes tensors, not {kind}", argument.span)
        self._expect(node, arguments, SIZE, first_constant)
        if signature.of_dims and all(kind == SIZE for kind in arguments):
            return SIZE
        if name == "dim":
            return SIZE
        if name == "prng_step":
            return replace(STEP, rank=len(arguments) - 1)
        return tensor(_rank(name, arguments))

    def called(self, node: ast.Call, arguments: list[ValueKind]) -> ValueKind:
        """The kind of a call of a function of the text: of several results it is a tuple."""
        name, function = node.function, self.program.functions[node.function]
        if len(arguments) != len(function.inputs):
            takes = _count(len(function.inputs), "argument", "arguments")
            raise TileError(f"`{name}` takes {takes}, not {len(arguments)}", node.span)
        for argument, kind, parameter in zip(
            node.arguments, arguments, function.inputs, strict=True
        ):
            if not kind.is_tensor and kind != SIZE:
                raise TileError(f"`{name}` takes tensors, not {kind}", argument.span)
            rank = 0 if kind == SIZE else kind.rank
            if parameter.dims is not None and rank not in (None, len(parameter.dims)):
                wanted = _count(len(parameter.dims), "dimension", "dimensions")
                raise TileError(
                    f"`{name}` takes a tensor of {wanted} here, and this has {rank or 'none'}",
                    argument.span,
                )
        results = self.program.results(name, node.span)
        return results[0] if len(results) == 1 else ValueKind("a tuple", elements=results)

    def element(self, node: ast.Call, of: ValueKind) -> ValueKind:
        tuple_, position = node.arguments
        if of.noun != "a tuple":
            raise TileError(f"`element` takes a tuple, and this is {of}", tuple_.span)
        if not isinstance(position, ast.Integer):
            raise TileError("the position of an element is a number", position.span)
        if position.value >= len(of.elements):
            raise TileError(f"the tuple has only {len(of.elements)} elements", position.span)
        return of.elements[position.value]

    def _expect(
        self, node: ast.Call, arguments: list[ValueKind], kind: ValueKind, start: int = 0
    ) -> None:
        for argument, found in zip(node.arguments[start:], arguments[start:], strict=False):
            if found.noun != kind.noun:
                given = "a real number" if isinstance(argument, ast.Real) else found
                raise TileError(
                    f"`{node.function}` takes {kind} here, and this is {given}", argument.span
                )

    # -- contractions ----------------------------------------------------------------------

    def contraction(self, statement: ast.Contraction) -> None:
        output, sizes = statement.output, statement.sizes
        for access in (output, *statement.operands):
            for index in access.indices:
                self.index(index)
        for access in statement.operands:
            self.operand(access)
        for constraint in statement.constraints:
            self.index(constraint.expression)
            self.bound(constraint)
        for size in sizes or ():
            self.size(size, "a size")
        if sizes is not None and len(sizes) != len(output.indices):
            raise TileError(
                f"`{output.tensor.text}` has {_count(len(output.indices), 'index', 'indices')} "
                f"and {_count(len(sizes), 'size', 'sizes')}",
                output.span,
            )
        if statement.default is not None:
            self.default(statement.default, output)
        self.define(output.tensor, tensor(len(output.indices)))

    def operand(self, access: ast.TensorAccess) -> None:
        """Checks that a tensor stands here and has as many dimensions as it has indices."""
        name = access.tensor.text
        if not access.tensor.is_capital:
            raise TileError(f"tensors begin with a capital letter, `{name}` does not", access.span)
        kind = self.kind_of(name, access.tensor.span)
        if not kind.is_tensor:
            raise TileError(f"`{name}` is {kind}, not a tensor", access.tensor.span)
        count = len(access.indices)
        if kind.rank is None:
            # Whatever it is, it has as many dimensions wherever else it stands.
            self.kinds[name] = replace(kind, rank=count)
        elif kind.rank != count:
            raise TileError(
                f"`{name}` has {_count(kind.rank, 'dimension', 'dimensions')} "
                f"and {_count(count, 'index', 'indices')} here",
                access.span,
            )

    def default(self, default: ast.Name, output: ast.TensorAccess) -> None:
        """Checks that a default has as many dimensions as the output."""
        kind = self.kind_of(default.text, default.span)
        wanted = len(output.indices)
        if kind.is_tensor and kind.rank not in (None, wanted):
            has = _count(kind.rank or 0, "dimension", "dimensions")
            number = f" (`T[i: N] = =({default.text}[]);` is a number along an axis)"
            raise TileError(
                f"the default `{default.text}` has {has} and `{output.tensor.text}` has "
                f"{wanted or 'none'}: a default has the shape of the output"
                f"{'' if kind.rank else number}",
                default.span,
            )
        self.operand(ast.TensorAccess(default.span, default, output.indices))

    def bound(self, constraint: ast.Constraint) -> None:
        """Checks that a constraint compares an expression with a size."""
        self.size(constraint.bound, "a bound", "; `j < i` is written `i - j - 1 < N`")

    def size(self, expression: ast.Expression, what: str, instead: str = "") -> None:
        """Checks that an expression is computed from dimensions and whole numbers alone."""
        for node in ast.postorder(expression):
            if isinstance(node, ast.Variable) and node.name[0].islower():
                text = f"{what} must hold no index, got `{node.name}`{instead}"
                raise TileError(text, node.span)
            if isinstance(node, ast.Real):
                text = f"{what} must be made of dimensions and whole numbers, not {node.value}"
                raise TileError(text, node.span)
        kind = self.value(expression)
        if kind != SIZE:
            raise TileError(f"{what} must be made of dimensions, not {kind}", expression.span)

    def index(self, expression: ast.Expression) -> None:
        """Checks that an expression is affine in the indices."""
        ast.evaluate(expression, self._index, _is_dim)

    def _index(self, node: ast.Expression, arguments: list[bool]) -> bool:
        """Whether an index is part of ``node``, whose arguments may have some."""
        match node:
            case ast.Integer():
                return False
            case ast.Real():
                raise TileError("indices are whole numbers; write `i/2` for half of i", node.span)
            case ast.Variable():
                return self.index_variable(node)
            case ast.Call() if _is_dim(node):
                self.value(node)
                return False
            case ast.Call():
                return self.index_call(node, arguments)

    def index_variable(self, node: ast.Variable) -> bool:
        if node.name[0].islower():
            return True
        if node.name not in self.kinds:
            raise TileError(
                f"there is no dimension `{node.name}`{self.hint_of(node.name)} "
                "(indices begin with a lower case letter)",
                node.span,
            )
        kind = self.kinds[node.name]
        if kind != SIZE:
            raise TileError(
                f"`{node.name}` is {kind}, where an index or a dimension is needed", node.span
            )
        return False

    def index_call(self, node: ast.Call, has_index: list[bool]) -> bool:
        name = node.function
        if not any(has_index):
            # A function of dimensions is a dimension, or an error.
            kind = self.call(node, [SIZE] * len(has_index))
            if kind != SIZE:
                raise TileError(f"`{name}` of dimensions is no dimension", node.span)
        elif name == "mul" and all(has_index):
            raise TileError("an index expression may not multiply indices", node.span)
        elif name == "div" and has_index[1]:
            raise TileError("an index expression may not divide by an index", node.span)
        elif name not in ("neg", "add", "sub", "mul", "div"):
            raise TileError(f"an index expression may not hold `{name}` of an index", node.span)
        return any(has_index)


def _is_dim(call: ast.Call) -> bool:
    """Whether a call gives a dimension of a tensor."""
    return call.function == "dim"


RANK_OF_FIRST = frozenset(
    ("as_float", "as_bfloat", "as_int", "as_uint", "as_bool", "index", "softmax", "logsoftmax")
)
"""The functions whose results have the dimensions of their first operand."""


def _rank(function: str, arguments: list[ValueKind]) -> int | None:
    """Rank of the result of ``function``, where known."""
    ranks = [0 if kind == SIZE else kind.rank for kind in arguments]
    match function, ranks:
        case "reshape", _:
            return len(ranks) - 1
        case "shape", _:
            return 1
        case "sum_to", [_, like]:
            return like
        case _, [rank, *_] if function in RANK_OF_FIRST:
            return rank
        case (("builtin_softmax" | "builtin_logsoftmax"), _):
            return 2
        case "gather", [int(values), int(indices)]:
            return indices + values - 1
        case "scatter", [int(updates), int(indices), _]:
            return updates - indices + 1 if updates else 1
        case (("gather" | "scatter"), _):
            return None
        case _:
            known = [rank for rank in ranks if rank is not None]
            return max(known) if len(known) == len(ranks) else None


def _may_have_rank(kind: ValueKind, rank: int) -> bool:
    return kind.is_tensor and kind.rank in (None, rank)


def _count(number: int, one: str, many: str) -> str:
    return f"{number or 'no'} {one if number == 1 else many}"


def _replacement_hint(name: str, known: Iterable[str]) -> str:
    """Hint for a function that does not exist."""
    if (text := REPLACEMENTS.get(name)) is not None:
        return f": write `{text};`"
    return meant(name, known)
