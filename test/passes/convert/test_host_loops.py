"""Loops that data end, and long ones: run by the host, on devices and by the reference semantics."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import upstream

import tiledialect as td
from tiledialect.ir.mlir_text import parse_mlir

Array = npt.NDArray[Any]

X = np.linspace(0, 1, 8, dtype="f")

COUNTED = """
func.func @f(%x: tensor<8xf32>, %n: index, %eps: f32) -> (tensor<8xf32>, f32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %k0 = arith.constant 0 : i32
  %k1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %s = %z, %k = %k0)
      -> (tensor<8xf32>, f32, i32) {
    %e = tensor.empty() : tensor<8xf32>
    %j = arith.index_cast %i : index to i32
    %b = arith.sitofp %j : i32 to f32
    %g = linalg.generic {
      indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
      iterator_types = ["parallel"]
    } ins(%a: tensor<8xf32>) outs(%e: tensor<8xf32>) {
      ^bb0(%p: f32, %o: f32):
       %q = arith.mulf %p, %eps : f32
       %t = arith.addf %q, %b : f32
       linalg.yield %t : f32
    } -> tensor<8xf32>
    %v = tensor.extract %g[%i] : tensor<8xf32>
    %s2 = arith.addf %s, %v : f32
    %k2 = arith.addi %k, %k1 : i32
    scf.yield %g, %s2, %k2 : tensor<8xf32>, f32, i32
  }
  func.return %r#0, %r#1, %r#2 : tensor<8xf32>, f32, i32
}
"""
"""A loop over a number that is given, which carries numbers and asks for its index."""


def counted(x: Array, n: int, eps: float) -> tuple[Array, float, int]:
    total = np.float32(0)
    for i in range(n):
        x = x * np.float32(eps) + np.float32(i)
        total += x[i]
    return x, total, max(n, 0)


HALVED = """
func.func @f(%x: tensor<8xf32>, %tol: f32) -> (tensor<8xf32>, i64) {
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 1 : i64
  %half = arith.constant 0.5 : f32
  %c2 = arith.constant 2 : index
  %r:2 = scf.while (%a = %x, %k = %k0) : (tensor<8xf32>, i64) -> (tensor<8xf32>, i64) {
    %v = tensor.extract %a[%c2] : tensor<8xf32>
    %c = arith.cmpf ogt, %v, %tol : f32
    scf.condition(%c) %a, %k : tensor<8xf32>, i64
  } do {
   ^bb0(%a: tensor<8xf32>, %k: i64):
    %e = tensor.splat %half : tensor<8xf32>
    %b = arith.mulf %a, %e : tensor<8xf32>
    %kk = arith.addi %k, %k1 : i64
    scf.yield %b, %kk : tensor<8xf32>, i64
  }
  func.return %r#0, %r#1 : tensor<8xf32>, i64
}
"""
"""A loop that ends by an element."""

NESTED = """
func.func @f(%x: tensor<8xf32>, %n: i64, %c: i1) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = arith.constant dense<0.5> : tensor<8xf32>
  %m = arith.index_cast %n : i64 to index
  %r:2 = scf.for %i = %c0 to %m step %c1 iter_args(%a = %x, %b = %w)
      -> (tensor<8xf32>, tensor<8xf32>) {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%d = %a) -> (tensor<8xf32>) {
      %t = arith.addf %d, %b : tensor<8xf32>
      scf.yield %t : tensor<8xf32>
    }
    %q = scf.if %c -> (tensor<8xf32>) {
      %u = scf.for %j = %c0 to %i step %c1 iter_args(%d = %s) -> (tensor<8xf32>) {
        %t = arith.mulf %d, %b : tensor<8xf32>
        scf.yield %t : tensor<8xf32>
      }
      scf.yield %u : tensor<8xf32>
    } else {
      scf.yield %x : tensor<8xf32>
    }
    scf.yield %b, %q : tensor<8xf32>, tensor<8xf32>
  }
  func.return %r#0, %r#1, %r#0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
"""
"""Loops in a loop, one in a branch; what is carried changes places, and is returned twice."""


def nested(x: Array, n: int, c: bool) -> tuple[Array, Array, Array]:
    a, b = x, np.full(8, 0.5, "f")
    for i in range(n):
        s = a
        for _ in range(i):
            s = s + b
        q = x
        if c:
            q = s
            for _ in range(i):
                q = q * b
        a, b = b, q
    return a, b, a


LONG = """
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 1003 : index
  %w = arith.constant dense<0.5> : tensor<8xf32>
  %r = scf.for %i = %c3 to %n step %c2 iter_args(%a = %x) -> (tensor<8xf32>) {
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %s = tensor.splat %f : tensor<8xf32>
    %b = arith.mulf %a, %w : tensor<8xf32>
    %t = arith.addf %b, %s : tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  func.return %r : tensor<8xf32>
}
"""


def long(x: Array) -> Array:
    for i in range(3, 1003, 2):
        x = x * np.float32(0.5) + np.float32(i)
    return x


OPEN = COUNTED.replace("8xf32", "?xf32").replace(
    "%e = tensor.empty()", "%m = tensor.dim %a, %c0 : tensor<?xf32>\n    %e = tensor.empty(%m)"
)

I64 = np.int64
CASES: dict[str, tuple[str, Callable[..., Any], tuple[Any, ...]]] = {
    **{f"counted {n}": (COUNTED, counted, (X, I64(n), np.float32(0.5))) for n in (-1, 0, 1, 7)},
    "open": (OPEN, counted, (X[:5], I64(4), np.float32(0.5))),
    "halved": (HALVED, lambda x, tol: (x / 32, 5), (100 * X, np.float32(1))),
    "not halved": (HALVED, lambda x, tol: (x, 0), (X, np.float32(9))),
    **{
        f"nested {n} {c}": (NESTED, nested, (X, I64(n), np.bool_(c)))
        for n in (0, 3, 4)
        for c in (True, False)
    },
    "long": (LONG, long, (X,)),
}


def agree(results: Any, wanted: Any) -> None:
    results = results if isinstance(results, tuple) else (results,)
    for result, own in zip(
        results, wanted if isinstance(wanted, tuple) else (wanted,), strict=True
    ):
        # The same few operations on f32, of which devices contract some.
        np.testing.assert_allclose(result, own, rtol=1e-5, atol=1e-6)


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("name", CASES)
def test_programs(name: str, device: td.Device) -> None:
    text, meaning, inputs = CASES[name]
    f = td.compile(parse_mlir(text, "f.mlir"), device=device)
    wanted = meaning(*inputs)
    for run in (f, f.reference, f, pickle.loads(pickle.dumps(f))):
        agree(run(*inputs), wanted)


def test_the_kernel_level(device: td.Device) -> None:
    text, meaning, inputs = CASES["nested 4 True"]
    f = td.compile(parse_mlir(text, "f.mlir"), device=device)
    lowered = f.mlir(*inputs)
    upstream.mlir_opt(lowered, "-allow-unregistered-dialect")
    again = td.compile(parse_mlir(lowered, "kernels.mlir"), device=device)
    wanted = meaning(*inputs)
    for run in (again, again.reference):
        agree(tuple(run(*inputs)), wanted)


def test_plans_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: td.Device) -> None:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    text, meaning, inputs = CASES["nested 4 True"]
    for _ in range(2):
        f = td.compile(parse_mlir(text, "f.mlir"), device=device)
        agree(f(*inputs), meaning(*inputs))


def test_profiles_count_every_iteration(device: td.Device) -> None:
    text, meaning, inputs = CASES["counted 7"]
    f = td.compile(parse_mlir(text, "f.mlir"), device=device)
    results, profile = f.profile(*inputs, repeat=2)
    agree(results, meaning(*inputs))
    assert profile.seconds > 0 and "part" in str(profile)


def test_pyopencl_arrays(device: td.Device) -> None:
    import pyopencl.array as cla

    from tiledialect.lowering.runtime.device.queues import queue_for

    text, meaning, inputs = CASES["counted 7"]
    x, *rest = inputs
    results = td.compile(parse_mlir(text, "f.mlir"), device=device)(
        cla.to_device(queue_for(device), x), *rest
    )
    agree(tuple(r.get() for r in results), meaning(*inputs))


def test_gradients() -> None:
    f = td.compile(parse_mlir(LONG.replace("1003", "303"), "f.mlir"))
    # Each of 150 iterations halves.
    (gradient,) = f.gradient()(X, np.ones(8, "f") * 2.0**120).reshape(1, 8)
    np.testing.assert_allclose(gradient, np.full(8, 2.0**-30, "f"), rtol=1e-6)
    with pytest.raises(td.TileError, match=r"scf\.for has no gradient: 5000 iterations"):
        td.compile(parse_mlir(LONG.replace("1003", "10003"), "f.mlir")).gradient()(X, X)
    with pytest.raises(td.TileError, match=r"scf\.while has no gradient: data decide"):
        td.compile(parse_mlir(HALVED, "f.mlir")).gradient("x")(100 * X, np.float32(1), X)
