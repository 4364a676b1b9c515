// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt < %s | filecheck %s
// RUN: tile-opt - < %s | filecheck %s
// RUN: tile-opt %S/Inputs/pool.tile | filecheck %s --check-prefix POOL
// RUN: cat %S/Inputs/pool.tile | tile-opt -f tile - | filecheck %s --check-prefix STDIN
// RUN: tile-opt %S/Inputs/pool.tile -t tile | filecheck %s --check-prefix TEXT
// RUN: tile-opt %S/Inputs/pool.tile -p 'tile-specialize{arguments="8xf32"},tile-compile' -t opencl | filecheck %s --check-prefix OPENCL
// RUN: tile-opt %S/Inputs/pool.tile -o %t.mlir
// RUN: xdsl-opt %t.mlir -p 'tile-specialize{arguments="8xf32"},tile-compile' -t opencl | filecheck %s --check-prefix XDSL
// RUN: xdsl-opt %s | filecheck %s

// CHECK: %r = tile.exp %a : (tensor<4xf32>) -> tensor<4xf32>
%a = "test.op"() : () -> tensor<4xf32>
%r = tile.exp %a : (tensor<4xf32>) -> tensor<4xf32>

// POOL: func.func @pool(%I: tensor<?x!tile.any>
// STDIN: func.func @pool(%I: tensor<?x!tile.any>
// TEXT: function pool(I[N]) -> (O) {
// TEXT-NEXT: O[x: N / 2] = >(I[2*x + k]), k < 2;
// OPENCL: __kernel {{.*}} void pool_0_O(
// Names that no location gives are no names of kernels.
// XDSL: __kernel {{.*}} void pool_0_kernel(
