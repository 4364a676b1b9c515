// RUN: tile-opt %s -t opencl | filecheck %s

// Conversions.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (i32, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%a : i32, %out : memref<1xf32>):
    %c0 = arith.constant 0 : index
    %0 = arith.sitofp %a : i32 to f32
    memref.store %0, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "sitofp_i32_f32"} : () -> ()

  "gpu.func"() <{function_type = (i32, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%a : i32, %out : memref<1xf32>):
    %c0 = arith.constant 0 : index
    %0 = arith.uitofp %a : i32 to f32
    memref.store %0, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "uitofp_i32_f32"} : () -> ()

  "gpu.func"() <{function_type = (i1, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%a : i1, %out : memref<1xf32>):
    %c0 = arith.constant 0 : index
    %0 = arith.sitofp %a : i1 to f32
    memref.store %0, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "sitofp_i1_f32"} : () -> ()

  "gpu.func"() <{function_type = (i1, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%a : i1, %out : memref<1xf32>):
    %c0 = arith.constant 0 : index
    %0 = arith.uitofp %a : i1 to f32
    memref.store %0, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "uitofp_i1_f32"} : () -> ()

  "gpu.func"() <{function_type = (i8, memref<1xf16>) -> (), kernel}> ({
  ^bb0(%a : i8, %out : memref<1xf16>):
    %c0 = arith.constant 0 : index
    %0 = arith.sitofp %a : i8 to f16
    memref.store %0, %out[%c0] : memref<1xf16>
    "gpu.return"() : () -> ()
  }) {sym_name = "sitofp_i8_f16"} : () -> ()

  "gpu.func"() <{function_type = (f32, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : f32, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.fptosi %a : f32 to i32
    memref.store %0, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "fptosi_f32_i32"} : () -> ()

  "gpu.func"() <{function_type = (f32, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : f32, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.fptoui %a : f32 to i32
    memref.store %0, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "fptoui_f32_i32"} : () -> ()

  "gpu.func"() <{function_type = (f16, memref<1xi8>) -> (), kernel}> ({
  ^bb0(%a : f16, %out : memref<1xi8>):
    %c0 = arith.constant 0 : index
    %0 = arith.fptosi %a : f16 to i8
    memref.store %0, %out[%c0] : memref<1xi8>
    "gpu.return"() : () -> ()
  }) {sym_name = "fptosi_f16_i8"} : () -> ()

  "gpu.func"() <{function_type = (f32, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : f32, %out : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %0 = arith.fptosi %a : f32 to i1
    memref.store %0, %out[%c0] : memref<1xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "fptosi_f32_i1"} : () -> ()

  "gpu.func"() <{function_type = (i8, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : i8, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.extsi %a : i8 to i32
    memref.store %0, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "extsi_i8_i32"} : () -> ()

  "gpu.func"() <{function_type = (i8, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : i8, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.extui %a : i8 to i32
    memref.store %0, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "extui_i8_i32"} : () -> ()

  "gpu.func"() <{function_type = (i1, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : i1, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.extsi %a : i1 to i32
    memref.store %0, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "extsi_i1_i32"} : () -> ()

  "gpu.func"() <{function_type = (i1, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : i1, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.extui %a : i1 to i32
    memref.store %0, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "extui_i1_i32"} : () -> ()

  "gpu.func"() <{function_type = (i32, memref<1xi8>) -> (), kernel}> ({
  ^bb0(%a : i32, %out : memref<1xi8>):
    %c0 = arith.constant 0 : index
    %0 = arith.trunci %a : i32 to i8
    memref.store %0, %out[%c0] : memref<1xi8>
    "gpu.return"() : () -> ()
  }) {sym_name = "trunci_i32_i8"} : () -> ()

  "gpu.func"() <{function_type = (i64, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : i64, %out : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %0 = arith.trunci %a : i64 to i1
    memref.store %0, %out[%c0] : memref<1xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "trunci_i64_i1"} : () -> ()

  "gpu.func"() <{function_type = (f16, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%a : f16, %out : memref<1xf32>):
    %c0 = arith.constant 0 : index
    %0 = arith.extf %a : f16 to f32
    memref.store %0, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "extf_f16_f32"} : () -> ()

  "gpu.func"() <{function_type = (f32, memref<1xf64>) -> (), kernel}> ({
  ^bb0(%a : f32, %out : memref<1xf64>):
    %c0 = arith.constant 0 : index
    %0 = arith.extf %a : f32 to f64
    memref.store %0, %out[%c0] : memref<1xf64>
    "gpu.return"() : () -> ()
  }) {sym_name = "extf_f32_f64"} : () -> ()

  "gpu.func"() <{function_type = (f64, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%a : f64, %out : memref<1xf32>):
    %c0 = arith.constant 0 : index
    %0 = arith.truncf %a : f64 to f32
    memref.store %0, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "truncf_f64_f32"} : () -> ()

  "gpu.func"() <{function_type = (f32, memref<1xf16>) -> (), kernel}> ({
  ^bb0(%a : f32, %out : memref<1xf16>):
    %c0 = arith.constant 0 : index
    %0 = arith.truncf %a : f32 to f16
    memref.store %0, %out[%c0] : memref<1xf16>
    "gpu.return"() : () -> ()
  }) {sym_name = "truncf_f32_f16"} : () -> ()

  "gpu.func"() <{function_type = (f64, memref<1xf16>) -> (), kernel}> ({
  ^bb0(%a : f64, %out : memref<1xf16>):
    %c0 = arith.constant 0 : index
    %0 = arith.truncf %a : f64 to f16
    memref.store %0, %out[%c0] : memref<1xf16>
    "gpu.return"() : () -> ()
  }) {sym_name = "truncf_f64_f16"} : () -> ()

  "gpu.func"() <{function_type = (i64, memref<1xindex>) -> (), kernel}> ({
  ^bb0(%a : i64, %out : memref<1xindex>):
    %c0 = arith.constant 0 : index
    %0 = arith.index_cast %a : i64 to index
    memref.store %0, %out[%c0] : memref<1xindex>
    "gpu.return"() : () -> ()
  }) {sym_name = "index_cast_i64_index"} : () -> ()

  "gpu.func"() <{function_type = (index, memref<1xi64>) -> (), kernel}> ({
  ^bb0(%a : index, %out : memref<1xi64>):
    %c0 = arith.constant 0 : index
    %0 = arith.index_cast %a : index to i64
    memref.store %0, %out[%c0] : memref<1xi64>
    "gpu.return"() : () -> ()
  }) {sym_name = "index_cast_index_i64"} : () -> ()

  "gpu.func"() <{function_type = (i32, memref<1xindex>) -> (), kernel}> ({
  ^bb0(%a : i32, %out : memref<1xindex>):
    %c0 = arith.constant 0 : index
    %0 = arith.index_cast %a : i32 to index
    memref.store %0, %out[%c0] : memref<1xindex>
    "gpu.return"() : () -> ()
  }) {sym_name = "index_cast_i32_index"} : () -> ()

  "gpu.func"() <{function_type = (f32, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : f32, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.bitcast %a : f32 to i32
    memref.store %0, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "bitcast_f32_i32"} : () -> ()

  "gpu.func"() <{function_type = (i64, memref<1xf64>) -> (), kernel}> ({
  ^bb0(%a : i64, %out : memref<1xf64>):
    %c0 = arith.constant 0 : index
    %0 = arith.bitcast %a : i64 to f64
    memref.store %0, %out[%c0] : memref<1xf64>
    "gpu.return"() : () -> ()
  }) {sym_name = "bitcast_i64_f64"} : () -> ()

  "gpu.func"() <{function_type = (i16, memref<1xf16>) -> (), kernel}> ({
  ^bb0(%a : i16, %out : memref<1xf16>):
    %c0 = arith.constant 0 : index
    %0 = arith.bitcast %a : i16 to f16
    memref.store %0, %out[%c0] : memref<1xf16>
    "gpu.return"() : () -> ()
  }) {sym_name = "bitcast_i16_f16"} : () -> ()

  "gpu.func"() <{function_type = (f16, memref<1xi16>) -> (), kernel}> ({
  ^bb0(%a : f16, %out : memref<1xi16>):
    %c0 = arith.constant 0 : index
    %0 = arith.bitcast %a : f16 to i16
    memref.store %0, %out[%c0] : memref<1xi16>
    "gpu.return"() : () -> ()
  }) {sym_name = "bitcast_f16_i16"} : () -> ()

  "gpu.func"() <{function_type = (i8, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : i8, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.extui %a : i8 to i32
    %1 = arith.muli %0, %0 : i32
    memref.store %1, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "chain"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      #pragma OPENCL EXTENSION cl_khr_fp64 : enable
//
// CHECK:      static inline float round_half(float x)
// CHECK-NEXT: {
// CHECK-NEXT:     ushort bits;
// CHECK-NEXT:     vstore_half_rte(x, 0, (half *)&bits);
// CHECK-NEXT:     return vload_half(0, (half *)&bits);
// CHECK-NEXT: }
//
// CHECK:      static inline float round_half_double(double x)
// CHECK-NEXT: {
// CHECK-NEXT:     ushort bits;
// CHECK-NEXT:     vstore_half_rte(x, 0, (half *)&bits);
// CHECK-NEXT:     return vload_half(0, (half *)&bits);
// CHECK-NEXT: }
//
// CHECK:      static inline float round_half_from_bits(short bits)
// CHECK-NEXT: {
// CHECK-NEXT:     return vload_half(0, (half *)&bits);
// CHECK-NEXT: }
//
// CHECK:      static inline short round_half_to_bits(float x)
// CHECK-NEXT: {
// CHECK-NEXT:     short bits;
// CHECK-NEXT:     vstore_half_rte(x, 0, (half *)&bits);
// CHECK-NEXT:     return bits;
// CHECK-NEXT: }
//
// CHECK:      __kernel void sitofp_i32_f32(int a, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (float)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void uitofp_i32_f32(int a, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (float)(uint)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void sitofp_i1_f32(uchar a, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a != 0 ? -1.0f : 0.0f;
// CHECK-NEXT: }
//
// CHECK:      __kernel void uitofp_i1_f32(uchar a, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (float)(a != 0);
// CHECK-NEXT: }
//
// CHECK:      __kernel void sitofp_i8_f16(char a, __global half *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     vstore_half_rte((float)a, 0, out);
// CHECK-NEXT: }
//
// CHECK:      __kernel void fptosi_f32_i32(float a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (int)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void fptoui_f32_i32(float a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (uint)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void fptosi_f16_i8(float a, __global char *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (char)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void fptosi_f32_i1(float a, __global uchar *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (int)a != 0;
// CHECK-NEXT: }
//
// CHECK:      __kernel void extsi_i8_i32(char a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (int)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void extui_i8_i32(char a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (uint)(uchar)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void extsi_i1_i32(uchar a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a != 0 ? -1 : 0;
// CHECK-NEXT: }
//
// CHECK:      __kernel void extui_i1_i32(uchar a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (int)(a != 0);
// CHECK-NEXT: }
//
// CHECK:      __kernel void trunci_i32_i8(int a, __global char *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (char)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void trunci_i64_i1(long a, __global uchar *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (a & 1) != 0;
// CHECK-NEXT: }
//
// CHECK:      __kernel void extf_f16_f32(float a, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void extf_f32_f64(float a, __global double *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (double)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void truncf_f64_f32(double a, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (float)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void truncf_f32_f16(float a, __global half *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     vstore_half_rte(a, 0, out);
// CHECK-NEXT: }
//
// CHECK:      __kernel void truncf_f64_f16(double a, __global half *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     vstore_half_rte(a, 0, out);
// CHECK-NEXT: }
//
// CHECK:      __kernel void index_cast_i64_index(long a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (int)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void index_cast_index_i64(int a, __global long *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (long)a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void index_cast_i32_index(int a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void bitcast_f32_i32(float a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = as_int(a);
// CHECK-NEXT: }
//
// CHECK:      __kernel void bitcast_i64_f64(long a, __global double *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = as_double(a);
// CHECK-NEXT: }
//
// CHECK:      __kernel void bitcast_i16_f16(short a, __global half *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     ((__global short *)out)[0] = a;
// CHECK-NEXT: }
//
// CHECK:      __kernel void bitcast_f16_i16(float a, __global short *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = round_half_to_bits(a);
// CHECK-NEXT: }
//
// CHECK:      __kernel void chain(char a, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     int v = (uint)(uchar)a;
// CHECK-NEXT:     out[0] = (uint)v * v;
// CHECK-NEXT: }
