// RUN: tile-opt %s -t opencl | filecheck %s

// What may be a part of an allocation comes with the number of its first element there.
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>, memref<8xf32>, index) -> (), kernel}> ({
  ^bb0(%a: memref<8xf32>, %b: memref<8xf32>, %n: index):
    %0 = memref.load %a[%n] : memref<8xf32>
    memref.store %0, %b[%n] : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "parts", tile.parts = array<i32: 1>} : () -> ()
}) : () -> ()

// CHECK:      __kernel void parts(
// CHECK-NEXT:     const __global float *restrict a,
// CHECK-NEXT:     __global float *restrict b, long b_start,
// CHECK-NEXT:     long n)
// CHECK-NEXT: {
// CHECK-NEXT:     b += b_start;
// CHECK-NEXT:     b[n] = a[n];
// CHECK-NEXT: }
