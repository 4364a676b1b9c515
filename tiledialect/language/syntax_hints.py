"""Syntax hints: forms of other languages, and Tile's forms in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto

from lark import Token


class ErrorPlace(Enum):
    """Place of an error in a function."""

    STATEMENT = auto()
    """Begin of a statement."""
    OUTPUT = auto()
    """Brackets of a contraction's output."""
    AGGREGATION = auto()
    """Behind `O[…] =`."""
    OPERANDS = auto()
    """In the parentheses of an aggregation."""
    INDICES = auto()
    """In the brackets of an operand."""
    CONSTRAINT = auto()
    """Behind a comma after them."""
    CLAUSE = auto()
    """Place at which such a comma may stand."""
    EXPRESSION = auto()
    """In an elementwise statement."""


BEFORE = "an aggregation takes elements of tensors: write `T = {};` before it, and take `T[…]`"
AFTER = "a contraction is a whole statement: compute with `{0}` in the next one"
CONSTRAINTS = "separate constraints with `,`"
ELEMENTWISE = (
    "elementwise statements have no indices, as in `C = A + B;`, "
    "and copies are `C[i: N] = =(A[i]);`"
)
STATEMENTS = "a statement is `O = …;` or `O[…] = +(…);`, and the header names the outputs"
COUNTED = "`k < 3` means 0 <= k < 3"

HINTS_BY_PLACE: dict[ErrorPlace, dict[str, str]] = {
    ErrorPlace.STATEMENT: {"word": STATEMENTS, "name": STATEMENTS},
    ErrorPlace.OUTPUT: {"+": "write `O[…] = +(…);`"},
    ErrorPlace.AGGREGATION: {
        "name": ELEMENTWISE,
        "word": ELEMENTWISE,
        "aggregate": "aggregations are signs, as in `S[i: N] = +(A[i, j]);` and `>(A[i, j])`",
        "number": "a number is an elementwise statement, as in `C = 1.0;`",
        "=": "what lands on an element alone is taken by `=(…)`",
        ">": "`>(…)` takes the largest, `<(…)` the smallest",
    },
    ErrorPlace.OPERANDS: {
        "(": BEFORE.format("{1}(…)"),
        "number": BEFORE.format("A {2} {0}"),
        "!": BEFORE.format("!A"),
        "~": BEFORE.format("~A"),
        "-": BEFORE.format("-B"),
        "/": BEFORE.format("A / B"),
        "^": BEFORE.format("pow(A, 2)"),
        "*": BEFORE.format("pow(A, 2)"),
        "operator": BEFORE.format("A {0} B"),
        "=": "elements are compared by `==`",
        "?": "a condition compares elements, as in `A[i] == B[i] ? C[i]`",
        ":": "a condition has no other case: where it does not hold, 0 is taken",
        "+": "products are not added in one aggregation: add the sums of both",
        ",": "operands are combined by `*`, `+` or `==`",
        "[": "one pair of brackets has all indices, as in `A[i, j]`",
    },
    ErrorPlace.INDICES: {
        ":": "there are no slices: an index takes all places, `j < 3` behind a comma fewer",
        "[": "no tensor is an index: take rows by `gather(A, I)`",
    },
    ErrorPlace.CONSTRAINT: {
        "<=": "`k < 3` means 0 <= k < 3: a bound is one more than the largest value",
        ">": f"{COUNTED}: `k > 0` is `k - 1 < N`",
        ">=": f"{COUNTED}: `k >= 1` is `k - 1 < N`",
        "==": "where two indices are one, write the same index, or `i - k < 1`",
        "and": CONSTRAINTS,
        "&": CONSTRAINTS,
    },
    ErrorPlace.CLAUSE: {
        "and": CONSTRAINTS,
        "&": CONSTRAINTS,
        "word": "constraints follow a comma, as in `+(A[i, j]), j < 3`",
        "operator": AFTER,
        "number": "a default is a tensor; without one, it is 0",
        "-": "a default is a tensor; without one, it is 0",
    },
    ErrorPlace.EXPRESSION: {
        "[": "only contractions have indices: row 0 is `R[j: M] = =(A[0, j]);`",
        "@": "a product of matrices is `C[i, j: N, M] = +(A[i, k] * B[k, j]);`",
        ".": "functions stand alone, as in `exp(A)`",
        "and": "use `&`",
        "or": "use `|`",
        "xor": "use `^`",
        "not": "use `!`",
        "if": "write `A > 0 ? A : B`",
    },
}
"""Hints by place, and by the misplaced text or its kind.

`{0}` is the text, or the name that the statement defines, `{1}` the text before, `{2}` the
combination of operands.
"""

NUMBER = frozenset("0123456789.")
COMBINED = frozenset(("*", "+", "=="))
OPERATORS = frozenset(("+", "-", "*", "/", "%", "^", "<", ">", "=", "!", "&", "|", "?", "~"))


def hint(tokens: Sequence[Token], found: str) -> str | None:
    """Hint for the text ``found``, which may not stand behind ``tokens``."""
    statement = _statement(tokens)
    before = statement[-1] if statement else ""
    place = place_of(statement)
    said = HINTS_BY_PLACE[place]
    kinds = [*_kinds(found), *([before] if before[:1].isalpha() else ())]
    text = next((said[kind] for kind in kinds if kind in said), None)
    if text is None or (found == "(" and not before[:1].isalpha()):
        return None
    shown = statement[0] if place is ErrorPlace.CLAUSE else found
    return text.format(shown, before, before if before in COMBINED else "*")


def place_of(statement: Sequence[Token]) -> ErrorPlace:
    """Place in a statement behind these tokens."""
    if not statement:
        return ErrorPlace.STATEMENT
    types = [token.type for token in statement]
    if "AGGREGATION" in types:
        return _place_in_contraction(statement[types.index("AGGREGATION") + 1 :])
    if "=" in statement:
        return (
            ErrorPlace.AGGREGATION
            if statement[-1] == "=" and "]" in statement
            else ErrorPlace.EXPRESSION
        )
    return ErrorPlace.OUTPUT if "[" in statement else ErrorPlace.STATEMENT


def _place_in_contraction(tokens: Sequence[Token]) -> ErrorPlace:
    """The same behind the sign of the aggregation."""
    depth, is_closed, place = 0, False, ErrorPlace.AGGREGATION
    for token in tokens:
        depth += (token in ("(", "[")) - (token in (")", "]"))
        is_closed |= not depth
        if is_closed:
            place = (
                ErrorPlace.CONSTRAINT
                if token == "," or place is ErrorPlace.CONSTRAINT
                else ErrorPlace.CLAUSE
            )
            if token == "default":
                place = ErrorPlace.CLAUSE
        else:
            place = ErrorPlace.INDICES if depth > 1 else ErrorPlace.OPERANDS
    return place


def _statement(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of the statement that is not yet complete; without its attributes."""
    ends = [k for k, token in enumerate(tokens) if token in ("{", "}", ";", "]]")]
    return list(tokens[ends[-1] + 1 :]) if ends else []


def _kinds(found: str) -> Iterator[str]:
    """Keys of a text in a table of hints, the closest first."""
    yield found
    if found[:1] in NUMBER and found != ".":
        yield "number"
    elif found[:1].isalpha():
        yield from ("aggregate",) if found in AGGREGATES else ()
        yield "name" if found[0].isupper() else "word"
    elif found[:1] in OPERATORS:
        yield "operator"


AGGREGATES = {"sum": "+", "prod": "*", "amax": ">", "amin": "<", "max": ">", "min": "<"}
"""Aggregations of contractions by their names elsewhere."""

FIRST = "P = A == H ? index(A, 1) : M; O[i: N] = <(P[i, j])"
"""First place of an element equal to H in each row."""
SQUARES = "S[j: M] = +(A[i, j]); D = A - S / N; R[j: M] = +(D[i, j] * D[i, j])"
"""The sums of the squares of the columns' distances from their means."""
RANKS = (
    "C = reshape(A, N, 1); L = (C > A) | (C == A) & (index(C, 0) > index(A, 0)); "
    "R[i: N] = +(L[i, j])"
)
"""Ranks of a vector's elements: the number of elements before each in order."""
MIDDLE = "P = (N - 1) / 2; Q = N / 2; X[] = =(T[P]); Y[] = =(T[Q]); O = (X + Y) / 2"
"""The median of a vector in order."""

REPLACEMENTS = {
    **{name: f"S[i: N] = {sign}(A[i, j])" for name, sign in AGGREGATES.items()},
    "any": "Y = A > 0; C[i: N] = +(Y[i, j]); O = C > 0",
    "all": "Y = A > 0; C[i: N] = +(Y[i, j]); O = C == M",
    "argmax": f"H[i, 0: N, 1] = >(A[i, j]); {FIRST}",
    "argmin": f"H[i, 0: N, 1] = <(A[i, j]); {FIRST}",
    "var": f"{SQUARES}; O = R / N",
    "std": f"{SQUARES}; O = sqrt(R / N)",
    "norm": "S[i: N] = +(A[i, j] * A[i, j]); O = sqrt(S)",
    **dict.fromkeys(("mean", "average"), "S[i: N] = +(A[i, j]); O = S / M"),
    **dict.fromkeys(
        ("matmul", "dot", "mm", "einsum", "tensordot"), "C[i, j: N, M] = +(A[i, k] * B[k, j])"
    ),
    **dict.fromkeys(("transpose", "permute", "swapaxes"), "O[j, i: M, N] = =(A[i, j])"),
    **dict.fromkeys(
        ("concat", "concatenate", "cat"),
        "T[i: N + M] = =(A[i]); O[N + i: N + M] = =(B[i]) default T",
    ),
    "stack": "T[0, i: 2, N] = =(A[i]); O[1, i: 2, N] = =(B[i]) default T",
    "roll": "T[0: N] = =(A[N - 1]); O[i + 1: N] = =(A[i]) default T",
    "sort": f"{RANKS}; O = scatter(A, R, A)",
    "argsort": f"{RANKS}; O = scatter(index(A, 0), R, A)",
    "topk": f"{RANKS}; T = scatter(A, R, A); O[k: 3] = =(T[N - 1 - k])",
    "median": f"{RANKS}; T = scatter(A, R, A); {MIDDLE}",
    "outer": "O[i, j: N, M] = =(A[i] * B[j])",
    "trace": "O[] = +(A[i, i])",
    **dict.fromkeys(("diag", "diagonal"), "O[i: min(N, M)] = =(A[i, i])"),
    "tril": "O = index(A, 0) >= index(A, 1) ? A : 0",
    "triu": "O = index(A, 0) <= index(A, 1) ? A : 0",
    "repeat": "O[3*i + k: 3*N] = =(A[i]), k < 3",
    "tile": "O[i + N*k: 3*N] = =(A[i])",
    "diff": "H[i: N - 1] = =(A[i + 1]); L[i: N - 1] = =(A[i]); O = H - L",
    **dict.fromkeys(("flatten", "ravel"), "O = reshape(A, N * M)"),
    **dict.fromkeys(("squeeze", "unsqueeze", "expand_dims"), "O = reshape(A, N, 1, M)"),
    "cumsum": "O[i: N] = +(A[k]), i - k < N",
    "flip": "O[i: N] = =(A[N - 1 - i])",
    "pad": "O[i + 1: N + 2] = =(A[i])",
    "kron": "O[M*i + j: N*M] = =(A[i] * B[j])",
    "convolve": "O[i + j: N + M - 1] = +(A[i] * B[j])",
    "correlate": "O[i: N - M + 1] = +(A[i + j] * B[j])",
    "cumprod": "O[i: N] = *(A[k]), i - k < N",
    "ptp": "H[] = >(A[i]); L[] = <(A[i]); O = H - L",
    "bincount": "R = index(B, 0); O[m: M] = +(R[m] == A[i])",
    "one_hot": "R = index(B, 0); O[i, m: N, M] = +(A[i] == R[m])",
    "eye": "V = 1.0; O[i, i: N, N] = =(V[])",
    "take": "O = gather(A, B)",
    "broadcast_to": "O[n, i: M, N] = =(A[i])",
    "sliding_window_view": "O[i, k: N - 2, 3] = =(A[i + k])",
    **dict.fromkeys(("zeros", "ones", "full"), "V = 0.0; O[i, j: N, M] = =(V[])"),
    **dict.fromkeys(("arange", "range", "iota"), "O = index(A, 0)"),
    "linspace": "O = index(A, 0) * (1.0 / (N - 1))",
    **dict.fromkeys(("astype", "float", "double"), "O = as_float(A, 32)"),
    "int": "O = as_int(A, 32)",
    **dict.fromkeys(
        ("rand", "random", "uniform"), "Step = prng_step(State, N); O = prng_value(Step)"
    ),
    **dict.fromkeys(("where", "if"), "O = A > 0 ? A : B"),
    **dict.fromkeys(("clip", "clamp"), "O = min(max(A, 0), 1)"),
    **dict.fromkeys(("maximum", "fmax"), "O = max(A, B)"),
    **dict.fromkeys(("minimum", "fmin"), "O = min(A, B)"),
    "sign": "O = A > 0 ? 1.0 : (A < 0 ? -1.0 : 0.0)",
    "square": "O = A * A",
    "hypot": "O = sqrt(A * A + B * B)",
    "power": "O = pow(A, B)",
    **dict.fromkeys(("absolute", "fabs"), "O = abs(A)"),
    "trunc": "O = A < 0 ? ceil(A) : floor(A)",
    "logical_and": "O = (A != 0) & (B != 0)",
    "logical_or": "O = (A != 0) | (B != 0)",
    "logical_xor": "O = (A != 0) ^ (B != 0)",
    "logical_not": "O = A == 0",
    "rsqrt": "O = recip(sqrt(A))",
    "exp2": "O = exp(0.6931471805599453 * A)",
    "log2": "O = 1.4426950408889634 * log(A)",
    "log10": "O = 0.4342944819032518 * log(A)",
    **dict.fromkeys(("mod", "remainder"), "O = A - B * floor(A / B)"),
    "fmod": "T = A / B; O = A - B * (T < 0 ? ceil(T) : floor(T))",
    **dict.fromkeys(("floor_div", "floor_divide"), "O = floor(A / B)"),
    "isnan": "O = A != A",
    "gelu": "O = A * (1 + erf(A / 1.4142135623730951)) / 2",
    **dict.fromkeys(("silu", "swish"), "O = A * sigmoid(A)"),
    "leaky_relu": "O = A > 0 ? A : 0.01 * A",
    "elu": "O = A > 0 ? A : expm1(A)",
    "softplus": "O = max(A, 0) + log1p(exp(-abs(A)))",
}
"""Replacements for functions of other languages; docs/from-numpy.md has their variants."""

NUMBERS = {
    "pi": "3.141592653589793",
    "tau": "6.283185307179586",
    "e": "2.718281828459045",
    "inf": "1e400",
    "infinity": "1e400",
    "nan": "(0.0 / 0.0)",
    "true": "1",
    "false": "0",
}
"""Numbers and truth values that other languages have names for, in small letters."""
