"""Transformers as Tile text: attention over a batch with heads, and a small GPT of two layers."""

from __future__ import annotations

FUNCTIONS = """
function norm(X[B, T, C], G[C], S[C]) -> (Y) {
  M[b, t, 0: B, T, 1] = +(X[b, t, c]);
  D = X - M / C;
  V[b, t, 0: B, T, 1] = +(D[b, t, c] * D[b, t, c]);
  Y = D / sqrt(V / C + 0.00001) * G + S;
}
function dense(X[B, T, C], W[C, N], S[N]) -> (Y) {
  P[b, t, n: B, T, N] = +(X[b, t, c] * W[c, n]);
  Y = P + S;
}
function attention(X[B, T, C], WQ[C, H, D], WK[C, H, D], WV[C, H, D], WO[H, D, C]) -> (Y) {
  Q[b, h, t, d: B, H, T, D] = +(X[b, t, c] * WQ[c, h, d]);
  K[b, h, t, d: B, H, T, D] = +(X[b, t, c] * WK[c, h, d]);
  V[b, h, t, d: B, H, T, D] = +(X[b, t, c] * WV[c, h, d]);
  L[b, h, s, t: B, H, T, T] = +(Q[b, h, s, d] * K[b, h, t, d]);
  P = softmax(index(L, 3) > index(L, 2) ? -1000.0 : L * 0.25, 3);
  O[b, t, h, d: B, T, H, D] = +(P[b, h, t, s] * V[b, h, s, d]);
  Y[b, t, c: B, T, C] = +(O[b, t, h, d] * WO[h, d, c]);
}
"""
"""Layer normalization, a dense layer, and causal attention."""
LAYER = {
    **{"G1": "C", "S1": "C", "WQ": "C, H, D", "WK": "C, H, D", "WV": "C, H, D", "WO": "H, D, C"},
    **{"G2": "C", "S2": "C", "W1": "C, F", "B1": "F", "W2": "F, C", "B2": "C"},
}
"""The weights of a layer, with their dimensions."""


SIZES = {"T": 128, "C": 256, "H": 4, "D": 64, "F": 1024, "VOCAB": 512}
"""The sizes that it is compiled for, but for the batch."""


def _type(dims: str, batch: int, element: str = "f32") -> str:
    """A type such as ``4x128xf32``."""
    sizes = {**SIZES, "B": batch}
    return "x".join((*(str(sizes[d]) for d in dims.split(", ")), element))


def attention_types(batch: int) -> dict[str, str]:
    """Types of the inputs of attention."""
    dims = {"X": "B, T, C", **{name: LAYER[name] for name in ("WQ", "WK", "WV", "WO")}}
    return {name: _type(own, batch) for name, own in dims.items()}


def gpt_types(layers: int, batch: int) -> dict[str, str]:
    """Types of the inputs of a GPT."""
    tokens = {name: _type("B, T", batch, "i32") for name in ("X", "N")}
    weights = {f"{name}_{k}": dims for k in range(layers) for name, dims in LAYER.items()}
    dims = {"E": "VOCAB, C", "PLACES": "T, C", **weights, "G": "C", "S": "C"}
    return {**tokens, **{name: _type(own, batch) for name, own in dims.items()}}


def gpt(layers: int) -> str:
    """The loss of a GPT of so many layers that predicts the next token at each place."""
    header = ["X[B, T]", "N[B, T]", "E[VOCAB, C]", "PLACES[T, C]"]
    body = ["A_0 = gather(E, X) + PLACES"]
    for k in range(layers):
        header += [f"{name}_{k}[{dims}]" for name, dims in LAYER.items()]
        w = {name: f"{name}_{k}" for name in LAYER}
        weights = ", ".join(w[name] for name in ("WQ", "WK", "WV", "WO"))
        hidden = f"dense(norm(M_{k}, {w['G2']}, {w['S2']}), {w['W1']}, {w['B1']})"
        body += [
            f"M_{k} = A_{k} + attention(norm(A_{k}, {w['G1']}, {w['S1']}), {weights})",
            f"H_{k} = {hidden}",
            f"U_{k} = 0.5 * H_{k} * (1 + tanh(0.79788456 * (H_{k} + 0.044715 * pow(H_{k}, 3))))",
            f"A_{k + 1} = M_{k} + dense(U_{k}, {w['W2']}, {w['B2']})",
        ]
    header += ["G[C]", "S[C]"]
    body += [
        f"Z = norm(A_{layers}, G, S)",
        "Y[b, t, v: B, T, VOCAB] = +(Z[b, t, c] * E[v, c])",
        "R = logsoftmax(Y, 2)",
        "I = index(R, 2)",
        "T1[b, t: B, T] = +(N[b, t] == I[b, t, v] ? R[b, t, v])",
        "SUM[] = +(T1[b, t])",
        "LOSS = -SUM / (B * T)",
    ]
    statements = "".join(f"  {s};\n" for s in body)
    return f"{FUNCTIONS}function gpt({', '.join(header)}) -> (LOSS) {{\n{statements}}}\n"
