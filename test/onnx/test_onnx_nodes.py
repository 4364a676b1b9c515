"""ONNX's own tests of nodes: a sample of them; `make onnx` runs all."""

# pyright: basic

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import tiledialect as td

pytest.importorskip("onnx")

sys.path.append(str(Path(__file__).parents[1]))

import onnx_oracle

STEP = 48
"""Number of tests of which one runs in the suite."""


def _cases() -> list[Any]:
    return onnx_oracle.cases()


@pytest.mark.parametrize("part", range(4))
def test_sample_passes_or_is_refused(part: int):
    wrong = []
    for case in _cases()[part * STEP :: 4 * STEP]:
        outcome, reason = onnx_oracle.run(case, None)
        if outcome not in ("passed", "refused"):
            wrong.append((case.name, reason))
    assert not wrong


ON_DEVICES = (
    "test_basic_conv_with_padding",
    "test_convtranspose_pads",
    "test_gemm_all_attributes",
    "test_layer_normalization_2d_axis1",
    "test_lstm_with_peepholes",
    "test_basic_deform_conv_with_padding",
    "test_maxpool_with_argmax_2d_precomputed_pads",
    "test_resize_upsample_scales_linear",
    "test_roialign_aligned_true",
    "test_scatter_elements_with_axis",
    "test_top_k",
)


@pytest.mark.parametrize("name", ON_DEVICES)
def test_on_device(device: td.Device, name: str):
    case = next(c for c in _cases() if c.name == name)
    assert onnx_oracle.run(case, device.id) == ("passed", "")


BY_REFERENCE = (
    "test_adam_multiple",
    "ai_onnx_ml_array_feature_extractor",
    "ai_onnx_ml_binarizer",
    "test_flexattention",
    "test_melweightmatrix",
    "test_nesterov_momentum",
    # A state of a loop is a sequence that is empty at first.
    "test_sequence_map_identity_1_sequence",
)


@pytest.mark.parametrize("name", BY_REFERENCE)
def test_by_reference(name: str):
    case = next(c for c in _cases() if name in c.name)
    assert onnx_oracle.run(case, None) == ("passed", "")
