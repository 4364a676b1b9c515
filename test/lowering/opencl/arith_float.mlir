// RUN: tile-opt %s -t opencl | filecheck %s

// Floats; a half is held in a float and rounded after every operation.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (f32, f32, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%a : f32, %b : f32, %out : memref<1xf32>):
    %c0 = arith.constant 0 : index
    %0 = arith.addf %a, %b : f32
    memref.store %0, %out[%c0] : memref<1xf32>
    %1 = arith.subf %a, %b : f32
    memref.store %1, %out[%c0] : memref<1xf32>
    %2 = arith.mulf %a, %b : f32
    memref.store %2, %out[%c0] : memref<1xf32>
    %3 = arith.divf %a, %b : f32
    memref.store %3, %out[%c0] : memref<1xf32>
    %4 = arith.minimumf %a, %b : f32
    memref.store %4, %out[%c0] : memref<1xf32>
    %5 = arith.maximumf %a, %b : f32
    memref.store %5, %out[%c0] : memref<1xf32>
    %6 = arith.minnumf %a, %b : f32
    memref.store %6, %out[%c0] : memref<1xf32>
    %7 = arith.maxnumf %a, %b : f32
    memref.store %7, %out[%c0] : memref<1xf32>
    %8 = arith.negf %a : f32
    memref.store %8, %out[%c0] : memref<1xf32>
    %9 = arith.maximumf %a, %b fastmath<nnan,nsz> : f32
    memref.store %9, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "floats_f32"} : () -> ()

  "gpu.func"() <{function_type = (f64, f64, memref<1xf64>) -> (), kernel}> ({
  ^bb0(%a : f64, %b : f64, %out : memref<1xf64>):
    %c0 = arith.constant 0 : index
    %0 = arith.addf %a, %b : f64
    memref.store %0, %out[%c0] : memref<1xf64>
    %1 = arith.subf %a, %b : f64
    memref.store %1, %out[%c0] : memref<1xf64>
    %2 = arith.mulf %a, %b : f64
    memref.store %2, %out[%c0] : memref<1xf64>
    %3 = arith.divf %a, %b : f64
    memref.store %3, %out[%c0] : memref<1xf64>
    %4 = arith.minimumf %a, %b : f64
    memref.store %4, %out[%c0] : memref<1xf64>
    %5 = arith.maximumf %a, %b : f64
    memref.store %5, %out[%c0] : memref<1xf64>
    %6 = arith.minnumf %a, %b : f64
    memref.store %6, %out[%c0] : memref<1xf64>
    %7 = arith.maxnumf %a, %b : f64
    memref.store %7, %out[%c0] : memref<1xf64>
    %8 = arith.negf %a : f64
    memref.store %8, %out[%c0] : memref<1xf64>
    %9 = arith.maximumf %a, %b fastmath<nnan,nsz> : f64
    memref.store %9, %out[%c0] : memref<1xf64>
    "gpu.return"() : () -> ()
  }) {sym_name = "floats_f64"} : () -> ()

  "gpu.func"() <{function_type = (f16, f16, memref<1xf16>) -> (), kernel}> ({
  ^bb0(%a : f16, %b : f16, %out : memref<1xf16>):
    %c0 = arith.constant 0 : index
    %0 = arith.addf %a, %b : f16
    memref.store %0, %out[%c0] : memref<1xf16>
    %1 = arith.subf %a, %b : f16
    memref.store %1, %out[%c0] : memref<1xf16>
    %2 = arith.mulf %a, %b : f16
    memref.store %2, %out[%c0] : memref<1xf16>
    %3 = arith.divf %a, %b : f16
    memref.store %3, %out[%c0] : memref<1xf16>
    %4 = arith.minimumf %a, %b : f16
    memref.store %4, %out[%c0] : memref<1xf16>
    %5 = arith.maximumf %a, %b : f16
    memref.store %5, %out[%c0] : memref<1xf16>
    %6 = arith.minnumf %a, %b : f16
    memref.store %6, %out[%c0] : memref<1xf16>
    %7 = arith.maxnumf %a, %b : f16
    memref.store %7, %out[%c0] : memref<1xf16>
    %8 = arith.negf %a : f16
    memref.store %8, %out[%c0] : memref<1xf16>
    %9 = arith.maximumf %a, %b fastmath<nnan,nsz> : f16
    memref.store %9, %out[%c0] : memref<1xf16>
    "gpu.return"() : () -> ()
  }) {sym_name = "floats_f16"} : () -> ()

  "gpu.func"() <{function_type = (f32, f32, vector<4xf32>, memref<1xf32>, memref<4xf32>) -> (), kernel}> ({
  ^bb0(%a : f32, %b : f32, %v : vector<4xf32>, %out : memref<1xf32>, %vectors : memref<4xf32>):
    %c0 = arith.constant 0 : index
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %a : f32
    %2 = arith.subf %b, %1 : f32
    %3 = arith.negf %2 : f32
    %4 = arith.negf %3 : f32
    memref.store %4, %out[%c0] : memref<1xf32>
    %5 = vector.broadcast %a : f32 to vector<4xf32>
    %6 = arith.mulf %v, %5 : vector<4xf32>
    %7 = arith.addf %6, %v : vector<4xf32>
    vector.store %7, %vectors[%c0] : memref<4xf32>, vector<4xf32>
    %8 = arith.maximumf %v, %5 fastmath<nsz> : vector<4xf32>
    vector.store %8, %vectors[%c0] : memref<4xf32>, vector<4xf32>
    %zero = arith.constant 0.0 : f32
    %zeros = vector.broadcast %zero : f32 to vector<4xf32>
    %9 = arith.maximumf %zeros, %v : vector<4xf32>
    vector.store %9, %vectors[%c0] : memref<4xf32>, vector<4xf32>
    %six = arith.constant 6.0 : f32
    %10 = arith.minimumf %a, %six : f32
    memref.store %10, %out[%c0] : memref<1xf32>
    %11 = arith.minimumf %a, %zero : f32
    memref.store %11, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "mixed"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      #pragma OPENCL EXTENSION cl_khr_fp64 : enable
//
// CHECK:      static inline float minimum_float(float a, float b)
// CHECK-NEXT: {
// CHECK-NEXT:     float zero = as_float(as_int(a) | as_int(b));
// CHECK-NEXT:     return a == b ? zero : (a < b || a != a) ? a : b;
// CHECK-NEXT: }
//
// CHECK:      static inline float maximum_float(float a, float b)
// CHECK-NEXT: {
// CHECK-NEXT:     float zero = as_float(as_int(a) & as_int(b));
// CHECK-NEXT:     return a == b ? zero : (a > b || a != a) ? a : b;
// CHECK-NEXT: }
//
// CHECK:      static inline double minimum_double(double a, double b)
// CHECK-NEXT: {
// CHECK-NEXT:     double zero = as_double(as_long(a) | as_long(b));
// CHECK-NEXT:     return a == b ? zero : (a < b || a != a) ? a : b;
// CHECK-NEXT: }
//
// CHECK:      static inline double maximum_double(double a, double b)
// CHECK-NEXT: {
// CHECK-NEXT:     double zero = as_double(as_long(a) & as_long(b));
// CHECK-NEXT:     return a == b ? zero : (a > b || a != a) ? a : b;
// CHECK-NEXT: }
//
// CHECK:      static inline float round_half(float x)
// CHECK-NEXT: {
// CHECK-NEXT:     ushort bits;
// CHECK-NEXT:     vstore_half_rte(x, 0, (half *)&bits);
// CHECK-NEXT:     return vload_half(0, (half *)&bits);
// CHECK-NEXT: }
//
// CHECK:      static inline float4 maximum_or_nan_float4(float4 a, float4 b)
// CHECK-NEXT: {
// CHECK-NEXT:     return as_float4(as_int4(a > b ? a : b) | (a != a));
// CHECK-NEXT: }
//
// Where one is a number, NaN and the sign of zero take no tests: but for the zero that is not taken.
// CHECK:      static inline float4 maximum_with_number_float4(float4 a, float4 b)
// CHECK-NEXT: {
// CHECK-NEXT:     return a <= b ? b : a;
// CHECK-NEXT: }
//
// CHECK:      static inline float minimum_with_number_float(float a, float b)
// CHECK-NEXT: {
// CHECK-NEXT:     return a >= b ? b : a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void floats_f32(float a, float b, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a + b;
// CHECK-NEXT:     out[0] = a - b;
// CHECK-NEXT:     out[0] = a * b;
// CHECK-NEXT:     out[0] = a / b;
// CHECK-NEXT:     out[0] = minimum_float(a, b);
// CHECK-NEXT:     out[0] = maximum_float(a, b);
// CHECK-NEXT:     out[0] = fmin(a, b);
// CHECK-NEXT:     out[0] = fmax(a, b);
// CHECK-NEXT:     out[0] = -a;
// CHECK-NEXT:     out[0] = fmax(a, b);
// CHECK-NEXT: }
//
// CHECK:      __kernel void floats_f64(double a, double b, __global double *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a + b;
// CHECK-NEXT:     out[0] = a - b;
// CHECK-NEXT:     out[0] = a * b;
// CHECK-NEXT:     out[0] = a / b;
// CHECK-NEXT:     out[0] = minimum_double(a, b);
// CHECK-NEXT:     out[0] = maximum_double(a, b);
// CHECK-NEXT:     out[0] = fmin(a, b);
// CHECK-NEXT:     out[0] = fmax(a, b);
// CHECK-NEXT:     out[0] = -a;
// CHECK-NEXT:     out[0] = fmax(a, b);
// CHECK-NEXT: }
//
// CHECK:      __kernel void floats_f16(float a, float b, __global half *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     vstore_half_rte(a + b, 0, out);
// CHECK-NEXT:     vstore_half_rte(a - b, 0, out);
// CHECK-NEXT:     vstore_half_rte(a * b, 0, out);
// CHECK-NEXT:     vstore_half_rte(a / b, 0, out);
// CHECK-NEXT:     vstore_half_rte(minimum_float(a, b), 0, out);
// CHECK-NEXT:     vstore_half_rte(maximum_float(a, b), 0, out);
// CHECK-NEXT:     vstore_half_rte(fmin(a, b), 0, out);
// CHECK-NEXT:     vstore_half_rte(fmax(a, b), 0, out);
// CHECK-NEXT:     vstore_half_rte(-a, 0, out);
// CHECK-NEXT:     vstore_half_rte(fmax(a, b), 0, out);
// CHECK-NEXT: }
//
// CHECK:      __kernel void mixed(
// CHECK-NEXT:     float a,
// CHECK-NEXT:     float b,
// CHECK-NEXT:     float4 v,
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     __global float *restrict vectors)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = -(-(b - (a * b + a)));
// CHECK-NEXT:     vstore4(v * a + v, 0, vectors);
// CHECK-NEXT:     vstore4(maximum_or_nan_float4(v, (float4)(a)), 0, vectors);
// CHECK-NEXT:     vstore4(maximum_with_number_float4(v, (float4)(0.0f)), 0, vectors);
// CHECK-NEXT:     out[0] = minimum_with_number_float(a, 6.0f);
// CHECK-NEXT:     out[0] = minimum_float(a, 0.0f);
// CHECK-NEXT: }
