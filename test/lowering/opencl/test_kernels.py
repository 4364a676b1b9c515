"""Whole kernels written by hand in upstream dialects, with no tile op in them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest
from printing import build, build_options, gpu_module, kernel, launch, parse

from tiledialect.errors import TileError
from tiledialect.lowering.opencl.target import print_opencl

DOCS = Path(__file__).parents[3] / "docs" / "opencl.md"

# C = A B for 32x48 and 48x64: a work-group of 8x8 makes a block of 8x32, four columns a
# work-item, from tiles of A and B in local memory.
MATMUL = """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c4 = arith.constant 4 : index
%c8 = arith.constant 8 : index
%c32 = arith.constant 32 : index
%c48 = arith.constant 48 : index
%tx = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
%ty = "gpu.thread_id"() <{dimension = #gpu<dim y>}> : () -> index
%bx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
%by = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
%tile_a = memref.alloca() : memref<8x8xf32, strided<[9, 1]>, 3 : i32>
%tile_b = memref.alloca() : memref<8x32xf32, 3 : i32>
%first_row = arith.muli %by, %c8 : index
%row = arith.addi %first_row, %ty : index
%first_column = arith.muli %bx, %c32 : index
%lane = arith.muli %tx, %c4 : index
%column = arith.addi %first_column, %lane : index
%zero = arith.constant dense<0.0> : vector<4xf32>
%sum = scf.for %block = %c0 to %c48 step %c8 iter_args(%acc = %zero) -> (vector<4xf32>) {
  %k = arith.addi %block, %tx : index
  %a = memref.load %A[%row, %k] : memref<32x48xf32>
  memref.store %a, %tile_a[%ty, %tx] : memref<8x8xf32, strided<[9, 1]>, 3 : i32>
  %kb = arith.addi %block, %ty : index
  %b = vector.load %B[%kb, %column] : memref<48x64xf32>, vector<4xf32>
  vector.store %b, %tile_b[%ty, %lane] : memref<8x32xf32, 3 : i32>, vector<4xf32>
  "gpu.barrier"() : () -> ()
  %inner = scf.for %kk = %c0 to %c8 step %c1 iter_args(%acc1 = %acc) -> (vector<4xf32>) {
    %x = memref.load %tile_a[%ty, %kk] : memref<8x8xf32, strided<[9, 1]>, 3 : i32>
    %xs = vector.broadcast %x : f32 to vector<4xf32>
    %y = vector.load %tile_b[%kk, %lane] : memref<8x32xf32, 3 : i32>, vector<4xf32>
    %next = vector.fma %xs, %y, %acc1 : vector<4xf32>
    scf.yield %next : vector<4xf32>
  }
  "gpu.barrier"() : () -> ()
  scf.yield %inner : vector<4xf32>
}
vector.store %sum, %C[%row, %column] : memref<32x64xf32>, vector<4xf32>
"""
MATMUL_ARGUMENTS = {"A": "memref<32x48xf32>", "B": "memref<48x64xf32>", "C": "memref<32x64xf32>"}


@pytest.mark.parametrize("index_bits", [32, 64])
def test_tiled_matmul(queue: cl.CommandQueue, index_bits: int):
    text = kernel("matmul", MATMUL_ARGUMENTS, MATMUL)
    program = build(queue, gpu_module(text, index_bits=index_bits))
    random = np.random.default_rng(0)
    a = random.standard_normal((32, 48), np.float32)
    b = random.standard_normal((48, 64), np.float32)
    c = np.zeros((32, 64), np.float32)
    result = launch(queue, program, "matmul", [a, b, c], (16, 32), (8, 8))[-1]
    np.testing.assert_allclose(result, a @ b, rtol=1e-5, atol=1e-5)


def run(queue: cl.CommandQueue, arguments: dict[str, str], body: str, *arrays: np.ndarray):
    program = build(queue, gpu_module(kernel("k", arguments, body)), verify=False)
    return launch(queue, program, "k", list(arrays), (1,))


def test_views_reach_the_elements_of_numpys_slices(queue: cl.CommandQueue):
    a = np.arange(128, dtype=np.float32).reshape(8, 16)
    body = """
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %i = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
    %block = memref.subview %a[%i, 4] [4, 5] [1, 2] : memref<8x16xf32> to memref<4x5xf32, strided<[16, 2], offset: ?>>
    %inner = memref.subview %block[1, %i] [2, 2] [2, 1] : memref<4x5xf32, strided<[16, 2], offset: ?>> to memref<2x2xf32, strided<[32, 2], offset: ?>>
    %row = memref.subview %inner[1, 0] [1, 2] [1, 1] : memref<2x2xf32, strided<[32, 2], offset: ?>> to memref<2xf32, strided<[2], offset: ?>>
    %cube = memref.expand_shape %a [[0 : i64, 1 : i64], [2 : i64]] output_shape [2, 4, 16] : memref<8x16xf32> into memref<2x4x16xf32>
    %flat = memref.collapse_shape %a [[0 : i64, 1 : i64]] : memref<8x16xf32> into memref<128xf32>
    %turned = memref.reinterpret_cast %row to offset: [%c3], sizes: [16, 8], strides: [%i, 16] : memref<2xf32, strided<[2], offset: ?>> to memref<16x8xf32, strided<[?, 16], offset: ?>>
    %0 = memref.load %block[%c3, %c2] : memref<4x5xf32, strided<[16, 2], offset: ?>>
    %1 = memref.load %inner[%c1, %c1] : memref<2x2xf32, strided<[32, 2], offset: ?>>
    %2 = memref.load %row[%c1] : memref<2xf32, strided<[2], offset: ?>>
    %3 = memref.load %cube[%c1, %c3, %c2] : memref<2x4x16xf32>
    %n = memref.dim %a, %c1 : memref<8x16xf32>
    %4 = memref.load %flat[%n] : memref<128xf32>
    %5 = memref.load %turned[%c2, %c3] : memref<16x8xf32, strided<[?, 16], offset: ?>>
    """
    numbers = ["%c0", "%c1", "%c2", "%c3", "%c4", "%c5"]
    body += "%c0 = arith.constant 0 : index\n%c4 = arith.constant 4 : index\n%c5 = arith.constant 5 : index\n"
    body += "\n".join(
        f"memref.store %{n}, %out[{c}] : memref<6xf32>" for n, c in enumerate(numbers)
    )
    out = np.zeros(6, np.float32)
    result = run(queue, {"a": "memref<8x16xf32>", "out": "memref<6xf32>"}, body, a, out)[-1]
    block = a[1:5, 4:14:2]
    inner = block[1:5:2, 1:3]
    expected = [block[3, 2], inner[1, 1], inner[1, 1], a.reshape(2, 4, 16)[1, 3, 2], a.ravel()[16]]
    assert result.tolist() == [*expected, a.ravel()[3 + 2 + 48]]


def test_vectors_lane_by_lane(queue: cl.CommandQueue):
    body = """
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %i = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
    %v = vector.load %a[%c0] : memref<16xf32>, vector<4xf32>
    %w = vector.load %a[%i] : memref<16xf32>, vector<4xf32>
    %x = vector.extract %v[%i] : f32 from vector<4xf32>
    %0 = vector.insert %x, %v[3] : f32 into vector<4xf32>
    %1 = vector.insert %x, %0[%i] : f32 into vector<4xf32>
    %2 = vector.insert %x, %0[0] : f32 into vector<4xf32>
    vector.store %1, %out[%c0] : memref<16xf32>, vector<4xf32>
    vector.store %2, %out[%c4] : memref<16xf32>, vector<4xf32>
    %3 = vector.shuffle %v, %w[7, 0, 5, 2] : vector<4xf32>, vector<4xf32>
    vector.store %3, %out[%c8] : memref<16xf32>, vector<4xf32>
    %sum = vector.reduction <add>, %3, %x : vector<4xf32> into f32
    %product = vector.reduction <mul>, %w : vector<4xf32> into f32
    %big = vector.reduction <maximumf>, %w : vector<4xf32> into f32
    %c12 = arith.constant 12 : index
    %c13 = arith.constant 13 : index
    %c14 = arith.constant 14 : index
    memref.store %sum, %out[%c12] : memref<16xf32>
    memref.store %product, %out[%c13] : memref<16xf32>
    memref.store %big, %out[%c14] : memref<16xf32>
    """
    a = np.arange(2, 18, dtype=np.float32)
    out = np.zeros(16, np.float32)
    result = run(queue, {"a": "memref<16xf32>", "out": "memref<16xf32>"}, body, a, out)[-1]
    v, w = a[:4], a[1:5]
    changed = [v[0], v[1], v[2], v[1]]
    mixed = [w[3], v[0], w[1], v[2]]
    expected = [*changed, v[1], *changed[1:], *mixed, sum(mixed) + v[1], w.prod(), w.max(), 0]
    assert result.tolist() == expected


@pytest.mark.parametrize("space", [1, 3])
def test_atomics_of_many_work_items(queue: cl.CommandQueue, space: int):
    target = "memref<10xi32>" if space == 1 else "memref<10xi32, 3 : i32>"
    floats = target.replace("i32", "f32", 1)
    lines = ['%i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index']
    lines += ["%n = arith.index_cast %i : index to i32", "%x = arith.sitofp %n : i32 to f32"]
    lines += [f"%c{k} = arith.constant {k} : index" for k in range(10)]
    lines += ["%first = arith.cmpi eq, %i, %c0 : index"]
    ints, reals = "%ints", "%reals"
    if space == 3:
        ints, reals = "%local_ints", "%local_reals"
        lines += [f"{ints} = memref.alloca() : {target}", f"{reals} = memref.alloca() : {floats}"]
        lines += ["scf.if %first {"]
        for k in range(10):
            lines += [f"%i{k} = memref.load %ints[%c{k}] : memref<10xi32>"]
            lines += [f"%r{k} = memref.load %reals[%c{k}] : memref<10xf32>"]
            lines += [f"memref.store %i{k}, {ints}[%c{k}] : {target}"]
            lines += [f"memref.store %r{k}, {reals}[%c{k}] : {floats}"]
        lines += ["}", '"gpu.barrier"() : () -> ()']
    for k, kind in enumerate([1, 4, 5, 7, 8, 11, 12, 15]):
        lines.append(
            f'%a{k} = "memref.atomic_rmw"(%n, {ints}, %c{k}) <{{kind = {kind} : i64}}> : (i32, {target}, index) -> i32'
        )
    for k, kind in enumerate([0, 3, 6, 13, 14]):
        lines.append(
            f'%b{k} = "memref.atomic_rmw"(%x, {reals}, %c{k}) <{{kind = {kind} : i64}}> : (f32, {floats}, index) -> f32'
        )
    if space == 3:
        lines += ['"gpu.barrier"() : () -> ()', "scf.if %first {"]
        for k in range(10):
            lines += [f"%o{k} = memref.load {ints}[%c{k}] : {target}"]
            lines += [f"%p{k} = memref.load {reals}[%c{k}] : {floats}"]
            lines += [f"memref.store %o{k}, %ints[%c{k}] : memref<10xi32>"]
            lines += [f"memref.store %p{k}, %reals[%c{k}] : memref<10xf32>"]
        lines += ["}"]
    text = kernel("k", {"ints": "memref<10xi32>", "reals": "memref<10xf32>"}, "\n".join(lines))
    program = build(queue, gpu_module(text))
    ints, reals = np.full(10, 5, np.int32), np.full(10, 5, np.float32)
    ints[2] = -1
    got = launch(queue, program, "k", [ints, reals], (16,), (16,))
    n = np.arange(16)
    xor = 5 ^ np.bitwise_xor.reduce(n)
    assert got[0].tolist() == [125, 15, -1, 0, 0, 15, 0, xor, 5, 5]
    assert got[1].tolist() == [125, 15, 0, 15, 0, 5, 5, 5, 5, 5]


def test_helper_functions(queue: cl.CommandQueue):
    helper = """
    func.func @twice(%x: f32) -> f32 {
      %y = func.call @scaled(%x) : (f32) -> f32
      func.return %y : f32
    }
    func.func @scaled(%x: f32) -> f32 {
      %two = arith.constant 2.0 : f32
      %y = arith.mulf %x, %two : f32
      func.return %y : f32
    }
    """
    body = """
    %i = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index
    %x = memref.load %a[%i] : memref<4xf32>
    %y = func.call @twice(%x) : (f32) -> f32
    memref.store %y, %a[%i] : memref<4xf32>
    """
    program = build(queue, gpu_module(helper, kernel("k", {"a": "memref<4xf32>"}, body)))
    a = np.arange(4, dtype=np.float32)
    assert launch(queue, program, "k", [a], (4,))[0].tolist() == [0, 2, 4, 6]


def test_example_of_the_documentation(queue: cl.CommandQueue):
    blocks = re.findall(r"```(\w+)\n(.*?)```", DOCS.read_text(), re.DOTALL)
    source = next(text for kind, text in blocks if kind == "mlir")
    shown = next(text for kind, text in blocks if kind == "c")
    assert print_opencl(parse(source)) == shown
    program = cl.Program(queue.context, shown).build(build_options(queue))
    a = np.arange(40, dtype=np.float32).reshape(8, 5)
    sums = np.zeros(8, np.float32)
    assert (launch(queue, program, "row_sums", [a, sums], (8,))[-1] == a.sum(axis=1)).all()


# What cannot be printed

ERRORS = {
    "%r = arith.addi %n, %n : i7": "no type i7",
    '%u = "test.make"() : () -> vector<5xf32>\n%r = math.exp %u : vector<5xf32>': "test.make",
    "%w = arith.constant dense<1.0> : vector<5xf32>\nvector.store %w, %a[%i] : memref<4xf32>, vector<5xf32>": "no type vector<5xf32>",
    "%u = arith.constant dense<1.0> : vector<2x2xf32>\n%w = arith.addf %u, %u : vector<2x2xf32>\n"
    'func.call @f(%w) : (vector<2x2xf32>) -> ()': "no type vector<2x2xf32>",
    "%t = arith.constant dense<1.0> : tensor<4xf32>\nfunc.call @f(%t) : (tensor<4xf32>) -> ()": "no type tensor<4xf32>",
    '"scf.parallel"(%i, %i, %i) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({\n^bb1(%j : index):\nscf.reduce\n}) : (index, index, index) -> ()': "scf.parallel",
    '%x = "gpu.subgroup_size"() : () -> index\nmemref.store %f, %a[%x] : memref<4xf32>': "no subgroups",
    '%x = "builtin.unrealized_conversion_cast"(%i) : (index) -> i64\nfunc.call @f(%x) : (i64) -> ()': "unfinished",
    "func.call @missing(%f) : (f32) -> ()": "@missing is not a helper function",
    "func.call @k0() : () -> ()": "recursion",
    "%b = memref.alloca() : memref<4xf32, 1 : i32>\nmemref.store %f, %b[%i] : memref<4xf32, 1 : i32>": "cannot allocate global",
    "%b = memref.alloca() : memref<4xf32, 7 : i32>\nmemref.store %f, %b[%i] : memref<4xf32, 7 : i32>": "no memory space 7",
    "%b = memref.alloca(%i) : memref<?xf32>\nmemref.store %f, %b[%i] : memref<?xf32>": "the size of memref<?xf32> is not known",
    '%r = "memref.atomic_rmw"(%d, %doubles, %i) <{kind = 0 : i64}> : (f64, memref<4xf64>, index) -> f64': "no atomic addf of f64",
    '%r = "memref.atomic_rmw"(%f, %a, %i) <{kind = 11 : i64}> : (f32, memref<4xf32>, index) -> f32': "no atomic ori of f32",
    '%r = "memref.atomic_rmw"(%f, %a, %i) <{kind = 99 : i64}> : (f32, memref<4xf32>, index) -> f32': "no atomic kind 99",
    '%p = memref.alloca() : memref<4xi32>\n%r = "memref.atomic_rmw"(%k, %p, %i) <{kind = 1 : i64}> : (i32, memref<4xi32>, index) -> i32': "no atomic update of private memory",
    "%b = memref.alloca() : memref<4xvector<4xf32>>\nmemref.store %v, %b[%i] : memref<4xvector<4xf32>>": "no buffer of vectors",
    '%x = "vector.bitcast"(%v) : (vector<4xf32>) -> vector<8xf16>\nvector.store %x, %halves[%i] : memref<4xf16>, vector<8xf16>': "no bitcast from vector<4xf32> to vector<8xf16>",
    '%x = "vector.broadcast"(%v) : (vector<4xf32>) -> vector<8xf32>\nvector.store %x, %a[%i] : memref<4xf32>, vector<8xf32>': "no broadcast from vector<4xf32> to vector<8xf32>",
    '%m = arith.constant dense<true> : vector<4xi1>\n%x = "vector.reduction"(%m) <{kind = #vector.kind<and>}> : (vector<4xi1>) -> i1\nscf.if %x { memref.store %f, %a[%i] : memref<4xf32> }': "no reduction of vector<4xi1>",
    "%w = vector.load %strided[%i] : memref<4xf32, strided<[2]>>, vector<4xf32>\nvector.store %w, %strided[%i] : memref<4xf32, strided<[2]>>, vector<4xf32>": "not contiguous",
    "%x = memref.load %unknown[%i, %i] : memref<?x?xf32, strided<[?, 1]>>\nmemref.store %x, %a[%i] : memref<4xf32>": "strides",
    '%x = "arith.cmpf"(%v, %v) <{predicate = 1 : i64, fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> i1\nscf.if %x { memref.store %f, %a[%i] : memref<4xf32> }': "compares vector<4xf32> but gives i1",
    '%x = "memref.memory_space_cast"(%a) : (memref<4xf32>) -> memref<4xf32, 3 : i32>\nmemref.store %f, %x[%i] : memref<4xf32, 3 : i32>': "keeps its address space",
    "%x = arith.select %flag, %a, %a : memref<4xf32>\nmemref.store %f, %x[%i] : memref<4xf32>": "no value of type memref<4xf32>",
    "%x = math.fpowi %f, %l : f32, i64\nmemref.store %x, %a[%i] : memref<4xf32>": "exponent",
    "%x = memref.subview %a[0] [4] [1] : memref<4xf32> to memref<3xf32, strided<[1]>>\nmemref.store %f, %x[%i] : memref<3xf32, strided<[1]>>": "the sizes do not become memref<3xf32",
    '"memref.copy"(%a, %a) : (memref<4xf32>, memref<4xf32>) -> ()': "memref.copy",
    '"gpu.terminator"() : () -> ()': "gpu.terminator",
}  # fmt: skip
ERROR_ARGUMENTS = {
    "n": "i7", "a": "memref<4xf32>", "i": "index", "f": "f32", "d": "f64", "l": "i64", "flag": "i1",
    "doubles": "memref<4xf64>", "strided": "memref<4xf32, strided<[2]>>", "v": "vector<4xf32>",
    "unknown": "memref<?x?xf32, strided<[?, 1]>>", "k": "i32", "halves": "memref<4xf16>",
}  # fmt: skip


@pytest.mark.parametrize("body", ERRORS)
def test_what_cannot_be_printed_is_an_error(body: str):
    arguments = {n: t for n, t in ERROR_ARGUMENTS.items() if re.search(rf"%{n}\b", body)}
    text = gpu_module(kernel("k0", arguments, body))
    with pytest.raises(TileError) as error:
        print_opencl(parse(text, allow_unregistered=True))
    message = str(error.value)
    assert message.startswith("opencl: cannot print '")
    assert "in @k0" in message
    assert ERRORS[body] in message


MODULES = {
    gpu_module(kernel("while", {}, "")): "@while: OpenCL C cannot have this name",
    gpu_module(kernel("a.b", {}, "")): "@a.b: OpenCL C cannot have this name",
    gpu_module(kernel("k", {"a": "memref<4xf32, 5 : i32>"}, "")): "cannot be given private memory",
    gpu_module(kernel("k", {"a": "memref<4xf32, strided<[1], offset: ?>>"}, "")): "the offset of",
    gpu_module("func.func @f() -> (f32, f32) {\n%x = arith.constant 0.0 : f32\nfunc.return %x, %x : f32, f32\n}"): "has one result",
    gpu_module("func.func private @f() -> ()"): "the function has no body",
    gpu_module("func.func @f() {\n^bb0:\ncf.br ^bb1\n^bb1:\nfunc.return\n}"): "branches between blocks",
    gpu_module("builtin.module {}"): "the op is not a function",
    gpu_module("func.func @f() {\n%a = memref.alloca() : memref<1xf32, 3 : i32>\n%b = memref.load %a[] : memref<1xf32, 3 : i32>\nfunc.return\n}".replace("[]", "[%c]").replace("%b =", "%c = arith.constant 0 : index\n%b =")): "only a kernel can allocate local memory",
    gpu_module(kernel("k", {}, ""), index_bits=16): "32 or 64 bits",
}  # fmt: skip


@pytest.mark.parametrize("text", MODULES)
def test_a_module_that_cannot_be_printed_is_an_error(text: str):
    with pytest.raises(TileError, match=re.escape(MODULES[text])):
        print_opencl(parse(text))


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
@pytest.mark.parametrize("element", ["f32", "i32", "f16", "i8"])
def test_vectors_go_past_the_caches_wherever_they_begin(
    queue: cl.CommandQueue, element: str, lanes: int
):
    body = f"""
    %c0 = arith.constant 0 : index
    %v = vector.load %a[%c0] : memref<40x{element}>, vector<{lanes}x{element}>
    %w = arith.{"addf" if element[0] == "f" else "addi"} %v, %v : vector<{lanes}x{element}>
    vector.store %w, %out[%c0] {{nontemporal = true}} : memref<40x{element}>, vector<{lanes}x{element}>
    %end = arith.constant 19 : index
    vector.store %w, %out[%end] {{nontemporal = true}} : memref<40x{element}>, vector<{lanes}x{element}>
    """
    dtype = {"f32": np.float32, "i32": np.int32, "f16": np.float16, "i8": np.int8}[element]
    a = np.arange(40).astype(dtype)
    t = f"memref<40x{element}, 1 : i32>"
    body = body.replace(f"memref<40x{element}>", t)
    result = run(queue, {"a": t, "out": t}, body, a, np.zeros_like(a))[-1]
    expected = np.zeros_like(a)
    expected[:lanes] = expected[19 : 19 + lanes] = 2 * a[:lanes]
    assert result.tolist() == expected.tolist()
