// RUN: tile-opt %s -p gpu-leave-branches | filecheck %s
// RUN: tile-opt %s -p gpu-leave-branches -t opencl | filecheck %s --check-prefix=OPENCL

// A kernel with barriers and branches is marked, one that has but one of them is not.
// CHECK: sym_name = "f", tile.not_optimized}
// CHECK: sym_name = "g", tile.not_optimized}
// CHECK: sym_name = "h"}
// CHECK: sym_name = "i"}

// OPENCL: __kernel __attribute__((optnone)) void f(
// OPENCL: __kernel __attribute__((optnone)) void g(
// OPENCL: __kernel void h(
// OPENCL: __kernel void i(
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, index, index, f32) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32, 1 : i32>, %i: index, %j: index, %x: f32):
    %c = arith.cmpi slt, %i, %j : index
    scf.if %c {
      "gpu.barrier"() : () -> ()
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, index, index, f32) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32, 1 : i32>, %i: index, %j: index, %x: f32):
    %c = arith.cmpi slt, %i, %j : index
    "gpu.barrier"() : () -> ()
    scf.if %c {
      memref.store %x, %A[%i] : memref<8xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "g"} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, index, f32) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32, 1 : i32>, %i: index, %x: f32):
    "gpu.barrier"() : () -> ()
    memref.store %x, %A[%i] : memref<8xf32, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "h"} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, index, index, f32) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32, 1 : i32>, %i: index, %j: index, %x: f32):
    %c = arith.cmpi slt, %i, %j : index
    scf.if %c {
      memref.store %x, %A[%i] : memref<8xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "i"} : () -> ()
}) : () -> ()
