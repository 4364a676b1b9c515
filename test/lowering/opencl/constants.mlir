// RUN: tile-opt %s -t opencl | filecheck %s

// Literals have exactly the value, and where it matters the type.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<1xi1>, memref<1xi8>, memref<1xi32>, memref<1xi64>, memref<1xf32>, memref<1xf64>, memref<1xf16>, memref<4xf32>, memref<4xi32>, memref<4xi1>, memref<1xindex>) -> (), kernel}> ({
  ^bb0(%o_i1 : memref<1xi1>, %o_i8 : memref<1xi8>, %o_i32 : memref<1xi32>, %o_i64 : memref<1xi64>, %o_f32 : memref<1xf32>, %o_f64 : memref<1xf64>, %o_f16 : memref<1xf16>, %vf : memref<4xf32>, %vi : memref<4xi32>, %vb : memref<4xi1>, %ix : memref<1xindex>):
    %c0 = arith.constant 0 : index
    %0 = arith.constant true
    memref.store %0, %o_i1[%c0] : memref<1xi1>
    %1 = arith.constant -128 : i8
    memref.store %1, %o_i8[%c0] : memref<1xi8>
    %2 = arith.constant -2147483648 : i32
    memref.store %2, %o_i32[%c0] : memref<1xi32>
    %3 = arith.constant 2147483647 : i32
    memref.store %3, %o_i32[%c0] : memref<1xi32>
    %4 = arith.constant -9223372036854775808 : i64
    memref.store %4, %o_i64[%c0] : memref<1xi64>
    %5 = arith.constant 5000000000 : i64
    memref.store %5, %o_i64[%c0] : memref<1xi64>
    %6 = arith.constant -1 : i64
    memref.store %6, %o_i64[%c0] : memref<1xi64>
    %7 = arith.constant 0.1 : f32
    memref.store %7, %o_f32[%c0] : memref<1xf32>
    %8 = arith.constant -0.0 : f32
    memref.store %8, %o_f32[%c0] : memref<1xf32>
    %9 = arith.constant 0x7F800000 : f32
    memref.store %9, %o_f32[%c0] : memref<1xf32>
    %10 = arith.constant 0xFF800000 : f32
    memref.store %10, %o_f32[%c0] : memref<1xf32>
    %11 = arith.constant 0x7FC00000 : f32
    memref.store %11, %o_f32[%c0] : memref<1xf32>
    %12 = arith.constant 1.0e-45 : f32
    memref.store %12, %o_f32[%c0] : memref<1xf32>
    %13 = arith.constant 3.0e+38 : f32
    memref.store %13, %o_f32[%c0] : memref<1xf32>
    %14 = arith.constant 0.1 : f64
    memref.store %14, %o_f64[%c0] : memref<1xf64>
    %15 = arith.constant 0x7FF0000000000000 : f64
    memref.store %15, %o_f64[%c0] : memref<1xf64>
    %16 = arith.constant 0.1 : f16
    memref.store %16, %o_f16[%c0] : memref<1xf16>
    %l = arith.constant 2147483647 : index
    %l2 = arith.constant 1 : index
    %v0 = arith.constant dense<1.5> : vector<4xf32>
    vector.store %v0, %vf[%c0] : memref<4xf32>, vector<4xf32>
    %v1 = arith.constant dense<[1.0, -2.0, 0.5, 3.0]> : vector<4xf32>
    vector.store %v1, %vf[%c0] : memref<4xf32>, vector<4xf32>
    %v2 = arith.constant dense<[1, -2]> : vector<2xi32>
    vector.store %v2, %vi[%c0] : memref<4xi32>, vector<2xi32>
    %v3 = arith.constant dense<[true, false]> : vector<2xi1>
    vector.store %v3, %vb[%c0] : memref<4xi1>, vector<2xi1>
    %big = arith.addi %l, %l2 : index
    memref.store %big, %ix[%c0] : memref<1xindex>
    %min = arith.minsi %big, %l : index
    memref.store %min, %ix[%c0] : memref<1xindex>
    "gpu.return"() : () -> ()
  }) {sym_name = "constants"} : () -> ()
}) : () -> ()

// CHECK:      #pragma OPENCL EXTENSION cl_khr_fp64 : enable
//
// CHECK:      __kernel void constants(
// CHECK-NEXT:     __global uchar *restrict o_i1,
// CHECK-NEXT:     __global char *restrict o_i8,
// CHECK-NEXT:     __global int *restrict o_i32,
// CHECK-NEXT:     __global long *restrict o_i64,
// CHECK-NEXT:     __global float *restrict o_f32,
// CHECK-NEXT:     __global double *restrict o_f64,
// CHECK-NEXT:     __global half *restrict o_f16,
// CHECK-NEXT:     __global float *restrict vf,
// CHECK-NEXT:     __global int *restrict vi,
// CHECK-NEXT:     __global uchar *restrict vb,
// CHECK-NEXT:     __global long *restrict ix)
// CHECK-NEXT: {
// CHECK-NEXT:     o_i1[0] = true;
// CHECK-NEXT:     o_i8[0] = -128;
// CHECK-NEXT:     o_i32[0] = INT_MIN;
// CHECK-NEXT:     o_i32[0] = 2147483647;
// CHECK-NEXT:     o_i64[0] = LONG_MIN;
// CHECK-NEXT:     o_i64[0] = 5000000000L;
// CHECK-NEXT:     o_i64[0] = -1;
// CHECK-NEXT:     o_f32[0] = 0.1f;
// CHECK-NEXT:     o_f32[0] = -0.0f;
// CHECK-NEXT:     o_f32[0] = INFINITY;
// CHECK-NEXT:     o_f32[0] = -INFINITY;
// CHECK-NEXT:     o_f32[0] = NAN;
// CHECK-NEXT:     o_f32[0] = 1e-45f;
// CHECK-NEXT:     o_f32[0] = 3e+38f;
// CHECK-NEXT:     o_f64[0] = 0.1;
// CHECK-NEXT:     o_f64[0] = INFINITY;
// CHECK-NEXT:     vstore_half_rte(0.099975586f, 0, o_f16);
// CHECK-NEXT:     vstore4((float4)(1.5f), 0, vf);
// CHECK-NEXT:     vstore4((float4)(1.0f, -2.0f, 0.5f, 3.0f), 0, vf);
// CHECK-NEXT:     vstore2((int2)(1, -2), 0, vi);
// CHECK-NEXT:     vstore2(convert_uchar2(-(int2)(-1, 0)), 0, vb);
// CHECK-NEXT:     long big = 2147483647L + 1;
// CHECK-NEXT:     ix[0] = big;
// CHECK-NEXT:     ix[0] = min(big, 2147483647L);
// CHECK-NEXT: }
