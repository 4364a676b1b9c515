"""Sums that the cost model splits: results as the reference gives them."""

from __future__ import annotations

import numpy as np
import pytest
from described import check_as, spec
from xdsl.dialects.builtin import TensorType

import tiledialect as td
from tiledialect.api.inputs import types_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.compilation import compile_module

TARGETS = {
    "CPU": spec("CPU", {"type": "cpu", "compute_units": 16, "native_vector_width": 8}),
    "GPU": spec("GPU", {"type": "gpu", "compute_units": 132, "local_mem_size": 49152}),
}
PRODUCT = "function (A[N, K], B[K, M]) -> (S) { S[i, j: N, M] = +(A[i, k] * B[k, j]); }"


@pytest.mark.parametrize("kind", TARGETS)
def test_results_of_a_chosen_split(kind: str, device: td.Device):
    if device.type == "simulator":
        pytest.skip("four million products take a simulator minutes; it runs given splits")
    random, target = np.random.default_rng(0), TARGETS[kind]
    # Sums of integers that f32 holds are exact in any order.
    shapes = (16, 16384), (16384, 16)
    arrays = [random.integers(-3, 4, shape).astype(np.float32) for shape in shapes]
    function = td.compile(PRODUCT, device=device)
    given = function._program  # pyright: ignore[reportPrivateUsage]
    types = types_of(arrays)
    module = compile_module(given.module, given.name, types, target, (), "tile-fuse")
    assert len(ops_of(module, KernelOp)) == 2
    check_as(function, arrays, device, target, ulps=0)


def test_parts_of_a_product_whose_tiles_all_units_have_alike():
    target = TARGETS["GPU"]
    given = td.compile(PRODUCT)._program  # pyright: ignore[reportPrivateUsage]
    types = types_of([np.empty(shape, np.float32) for shape in ((256, 3072), (3072, 768))])
    module = compile_module(given.module, given.name, types, target, (), "tile-fuse")
    parts = ops_of(module, KernelOp)[0].outputs[0].type
    # Eight times 48 tiles of 64 x 64 are nearly 3 for each of 132 units.
    assert isinstance(parts, TensorType) and parts.get_shape() == (8, 256, 768)


ROW_MAXIMA = """function (A[B, N, M]) -> (L) {
    MEAN[b, i, 0: B, N, 1] = +(A[b, i, j]); D = A - MEAN; L[b, c: B, B] = >(D[b, i, j]), b - c < B;
}"""


def test_maxima_that_leave_elements_as_they_are_stay_whole():
    """Half of the result is not written: no maxima of rows could be aggregated there."""
    given = td.compile(ROW_MAXIMA)._program  # pyright: ignore[reportPrivateUsage]
    types = types_of([np.empty((9, 4096, 512), np.float32)])
    module = compile_module(given.module, given.name, types, TARGETS["GPU"], (), "tile-fuse")
    assert not any("part" in n for op in ops_of(module, ContractionOp) for n in op.index_names)
