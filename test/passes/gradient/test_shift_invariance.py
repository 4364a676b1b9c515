"""Shift-invariant extrema: recognized, and left out of gradients that stay right."""

from __future__ import annotations

import numpy as np
import pytest
from gradients.differences import check_module, cotangents, differentiated, run, specialized

from tiledialect.ir.signature import find_function
from tiledialect.language.to_ir import load
from tiledialect.passes.gradient.rules.shift_invariance import shift_invariant_extrema

ROWS = "M[n, 0: N, 1] = >(X[n, c]); D = X - M; E = exp(D); S[n, 0: N, 1] = +(E[n, c]);"
MASK = "K = index(X, 1) <= index(X, 0);"
INVARIANT = {
    "softmax": f"(X[N, C]) -> (Y) {{ {ROWS} Y = E / S; }}",
    "reciprocal": f"(X[N, C]) -> (Y) {{ {ROWS} Y = E * recip(S); }}",
    "logsoftmax": f"(X[N, C]) -> (Y) {{ {ROWS} Y = D - log(S); }}",
    "logsumexp": f"(X[N, C]) -> (Y) {{ {ROWS} Y = log(S) + M; }}",
    "several results": f"(X[N, C]) -> (Y, Z, L) {{ {ROWS} Y = E / S; Z = Y * X; L = log(S) + M; }}",
    "least": """(X[N, C]) -> (Y) { M[n, 0: N, 1] = <(X[n, c]); E = exp(M - X);
        S[n, 0: N, 1] = +(E[n, c]); Y = E / S; }""",
    "columns": """(X[N, C]) -> (Y) { M[c: C] = >(X[n, c]); E = exp(X - M); S[c: C] = +(E[n, c]);
        Y = E / S; }""",
    "whole": "(X[N, C]) -> (Y) { M[] = >(X[n, c]); E = exp(X - M); S[] = +(E[n, c]); Y = E / S; }",
    "temperature": """(X[N, C]) -> (Y) { M[n, 0: N, 1] = >(X[n, c]); E = exp((X - M) * 0.5 / 4);
        S[n, 0: N, 1] = +(E[n, c]); Y = -E / -S; }""",
    "masked": f"""(X[N, C]) -> (Y) {{ {MASK} F = K ? X : -1e9; M[n, 0: N, 1] = >(F[n, c]);
        E = K ? exp(X - M) : 0; S[n, 0: N, 1] = +(E[n, c]); Y = E / S; }}""",
    "weighted": f"""(X[N, C], V[C, K]) -> (Y) {{ {ROWS} P[n, k: N, K] = +(E[n, c] * V[c, k]);
        Y = P / S; }}""",
    "norm": f"(X[N, C]) -> (Y) {{ {ROWS} Q[n, 0: N, 1] = +(E[n, c] * E[n, c]); Y = E / sqrt(Q); }}",
    "picked": f"""(X[N, C]) -> (L) {{ {ROWS} P = index(X, 1) == 1 ? D - log(S) : 0;
        L[] = +(P[n, c]); }}""",
    "sum of two": "(X, Y) -> (L) { M = max(X, Y); L = log(exp(X - M) + exp(Y - M)) + M; }",
    "place": f"(X[N, C]) -> (Y, B) {{ {ROWS} Y = E / S; B = X == M ? 1 : 0; }}",
}
DEPENDENT = {
    "exponentials": f"(X[N, C]) -> (Y) {{ {ROWS} Y = E; }}",
    "logarithm": f"(X[N, C]) -> (Y) {{ {ROWS} Y = log(S); }}",
    "itself": f"(X[N, C]) -> (Y, M) {{ {ROWS} Y = E / S; }}",
    "one more": f"(X[N, C]) -> (Y) {{ {ROWS} Y = E / (S + 1); }}",
    "other rows": """(X[N, C]) -> (Y) { M[n: N] = >(X[n, c]); T[c, n: C, N] = =(X[n, c]);
        E = exp(X - M); S[n, 0: N, 1] = +(E[n, c]); Y = E / S; }""",
    "powers": f"(X[N, C]) -> (Y) {{ {ROWS} Y = E * E / S; }}",
    "mean": """(X[N, C]) -> (Y) { T[n, 0: N, 1] = +(X[n, c]); D = X - T / C;
        V[n, 0: N, 1] = +(D[n, c] * D[n, c]); Y = D / sqrt(V + 1); }""",
    "differences": f"(X[N, C]) -> (Y) {{ {ROWS} Y = D * 2; }}",
    "default": f"""(X[N, C], Z[N, C]) -> (Y) {{ {ROWS} F[n, c: N, C] = =(E[n, c]), c < 2 default Z;
        Y = F / S; }}""",
}


def _inputs(source: str) -> list[np.ndarray]:
    """Tensors of 3 x 3, or 3 x 2, for the names of the header."""
    rng, header = np.random.default_rng(7), source.split("->", maxsplit=1)[0]
    shapes = {"X": (3, 3), "V": (3, 2), "Y": (3, 3), "Z": (3, 3)}
    return [rng.normal(size=s) for name, s in shapes.items() if name in header]


@pytest.mark.parametrize("name", [*INVARIANT, *DEPENDENT])
def test_found(name: str):
    """Recognition of extrema by whether results depend on them."""
    source = f"function {(INVARIANT | DEPENDENT)[name]}"
    module = specialized(load(source), _inputs(source))
    values = [r for op in find_function(module).body.block.ops for r in op.results]
    assert bool(shift_invariant_extrema(values)) == (name in INVARIANT)


@pytest.mark.parametrize("name", [*INVARIANT, *DEPENDENT])
def test_gradients(name: str):
    """Gradients are those of finite differences, the second ones too."""
    source = f"function {(INVARIANT | DEPENDENT)[name]}"
    inputs = _inputs(source)
    module = specialized(load(source), inputs)
    check_module(module, inputs)
    check_module(differentiated(module), (*inputs, *cotangents(run(module, inputs))))
