"""Recurrent layers of ONNX."""

# pyright: basic

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tiledialect as td

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402

TIMES, BATCH, SIZE, HIDDEN = 12, 2, 3, 32
GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}


def _model(kind: str, times: int, **options: Any) -> Any:
    def of(name: str, *sizes: int) -> Any:
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, sizes)

    rows = GATES[kind] * HIDDEN
    weights = of("W", 1, rows, SIZE), of("R", 1, rows, HIDDEN), of("B", 1, 2 * rows)
    node = helper.make_node(kind, ["X", "W", "R", "B"], ["Y"], hidden_size=HIDDEN, **options)
    inputs, outputs = [of("X", times, BATCH, SIZE), *weights], [of("Y", times, 1, BATCH, HIDDEN)]
    return helper.make_model(helper.make_graph([node], "g", inputs, outputs))


def _inputs(model: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    sizes = [[d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input]
    return [0.3 * rng.standard_normal(s).astype(np.float32) for s in sizes]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _gru(x: np.ndarray, w: np.ndarray, r: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Steps of a GRU whose reset follows the product, as PyTorch's, in ONNX's order of gates."""
    h, steps = np.zeros((BATCH, HIDDEN)), []
    own_bias, state_bias = np.split(b[0].astype(np.float64), 2)
    for row in x.astype(np.float64):
        z, reset, own = np.split(row @ w[0].T + own_bias, 3, axis=1)
        past_z, past_reset, past = np.split(h @ r[0].T + state_bias, 3, axis=1)
        z = _sigmoid(z + past_z)
        n = np.tanh(own + _sigmoid(reset + past_reset) * past)
        h = (1 - z) * n + z * h
        steps.append(h)
    return np.array(steps)[:, None]


def _lstm(bound: float, x: np.ndarray, w: np.ndarray, r: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Steps of an LSTM whose forget gate is what the input gate leaves, with clipped sums."""
    h, c, steps = np.zeros((BATCH, HIDDEN)), np.zeros((BATCH, HIDDEN)), []
    bias = sum(np.split(b[0].astype(np.float64), 2))
    for row in x.astype(np.float64):
        total = np.clip(row @ w[0].T + h @ r[0].T + bias, -bound, bound)
        i, o, _, g = np.split(total, 4, axis=1)
        c = (1 - _sigmoid(i)) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        steps.append(h)
    return np.array(steps)[:, None]


def test_reset_after_the_product(device: td.Device):
    model = _model("GRU", TIMES, linear_before_reset=1)
    arrays = _inputs(model)
    found = td.onnx.load(model, device=device)(*arrays)
    # Twelve steps of sums of about 32 numbers of about 1, by other orders.
    np.testing.assert_allclose(found, _gru(*arrays), rtol=1e-5, atol=1e-5)


def test_clipped_sums_and_joined_gates(device: td.Device):
    model = _model("LSTM", TIMES, clip=0.7, input_forget=1)
    arrays = _inputs(model)
    found = td.onnx.load(model, device=device)(*arrays)
    np.testing.assert_allclose(found, _lstm(0.7, *arrays), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", GATES)
def test_steps_have_the_same_kernels(kind: str):
    """Inputs of all steps are one product, and a step reads a piece of it."""
    numbers = set[int]()
    for times in (6, 12):
        model = _model(kind, times)
        numbers.add(td.onnx.load(model).opencl(*_inputs(model)).count("__kernel "))
    assert len(numbers) == 1
