// RUN: tile-opt %s -t opencl --disable-verify | filecheck %s

// Upstream MLIR compares vectors; xDSL's verifier does not know that.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (vector<4xf32>, vector<4xf32>, vector<4xf64>, vector<4xf64>, vector<4xi8>, vector<4xi8>, memref<4xf32>, memref<4xf64>, memref<4xi1>) -> (), kernel}> ({
  ^bb0(%a : vector<4xf32>, %b : vector<4xf32>, %d : vector<4xf64>, %e : vector<4xf64>, %i : vector<4xi8>, %j : vector<4xi8>, %out : memref<4xf32>, %doubles : memref<4xf64>, %flags : memref<4xi1>):
    %c0 = arith.constant 0 : index
    %0 = "arith.cmpf"(%a, %b) <{predicate = 4 : i64, fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xi1>
    %1 = "arith.cmpf"(%d, %e) <{predicate = 11 : i64, fastmath = #arith.fastmath<none>}> : (vector<4xf64>, vector<4xf64>) -> vector<4xi1>
    %2 = arith.andi %0, %1 : vector<4xi1>
    %3 = "arith.select"(%2, %a, %b) : (vector<4xi1>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    vector.store %3, %out[%c0] : memref<4xf32>, vector<4xf32>
    %4 = "arith.select"(%2, %d, %e) : (vector<4xi1>, vector<4xf64>, vector<4xf64>) -> vector<4xf64>
    vector.store %4, %doubles[%c0] : memref<4xf64>, vector<4xf64>
    vector.store %2, %flags[%c0] : memref<4xi1>, vector<4xi1>
    %5 = "arith.cmpi"(%i, %j) <{predicate = 6 : i64}> : (vector<4xi8>, vector<4xi8>) -> vector<4xi1>
    vector.store %5, %flags[%c0] : memref<4xi1>, vector<4xi1>
    %6 = "arith.uitofp"(%5) : (vector<4xi1>) -> vector<4xf32>
    vector.store %6, %out[%c0] : memref<4xf32>, vector<4xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "masks"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      #pragma OPENCL EXTENSION cl_khr_fp64 : enable
//
// CHECK:      __kernel void masks(
// CHECK-NEXT:     float4 a,
// CHECK-NEXT:     float4 b,
// CHECK-NEXT:     double4 d,
// CHECK-NEXT:     double4 e,
// CHECK-NEXT:     char4 i,
// CHECK-NEXT:     char4 j,
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     __global double *restrict doubles,
// CHECK-NEXT:     __global uchar *restrict flags)
// CHECK-NEXT: {
// CHECK-NEXT:     int4 v = (a < b) & convert_int4(!(d >= e));
// CHECK-NEXT:     vstore4(v ? a : b, 0, out);
// CHECK-NEXT:     vstore4(convert_long4(v) ? d : e, 0, doubles);
// CHECK-NEXT:     vstore4(convert_uchar4(-v), 0, flags);
// CHECK-NEXT:     int4 v_1 = convert_int4(as_uchar4(i) < as_uchar4(j));
// CHECK-NEXT:     vstore4(convert_uchar4(-v_1), 0, flags);
// CHECK-NEXT:     vstore4(convert_float4(-v_1), 0, out);
// CHECK-NEXT: }
