// RUN: tile-opt %s -t opencl | filecheck %s

// Upstream's mark of kernels is an attribute. Other functions are helpers.
// CHECK: static inline void helper(
// CHECK: __kernel void k(
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4xf32, 1 : i32>) -> ()}> ({
  ^bb0(%a: memref<4xf32, 1 : i32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "helper", workgroup_attributions = 0 : i64} : () -> ()
  "gpu.func"() <{function_type = (memref<4xf32, 1 : i32>) -> ()}> ({
  ^bb0(%a: memref<4xf32, 1 : i32>):
    "gpu.return"() : () -> ()
  }) {gpu.kernel, sym_name = "k", workgroup_attributions = 0 : i64} : () -> ()
}) : () -> ()
