// RUN: tile-opt %s -t opencl | filecheck %s

// Vectors; loads and stores assume no alignment.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<4x64xf32>, memref<64xf16>, memref<64xi1>, memref<4x64xf32>, index) -> (), kernel}> ({
  ^bb0(%a : memref<4x64xf32>, %h : memref<64xf16>, %f : memref<64xi1>, %out : memref<4x64xf32>, %i : index):
    %c0 = arith.constant 0 : index
    %v2 = vector.load %a[%i, %c0] : memref<4x64xf32>, vector<2xf32>
    vector.store %v2, %out[%c0, %i] : memref<4x64xf32>, vector<2xf32>
    %v3 = vector.load %a[%i, %c0] : memref<4x64xf32>, vector<3xf32>
    vector.store %v3, %out[%c0, %i] : memref<4x64xf32>, vector<3xf32>
    %v4 = vector.load %a[%i, %c0] : memref<4x64xf32>, vector<4xf32>
    vector.store %v4, %out[%c0, %i] : memref<4x64xf32>, vector<4xf32>
    %v8 = vector.load %a[%i, %c0] : memref<4x64xf32>, vector<8xf32>
    vector.store %v8, %out[%c0, %i] : memref<4x64xf32>, vector<8xf32>
    %v16 = vector.load %a[%i, %c0] : memref<4x64xf32>, vector<16xf32>
    vector.store %v16, %out[%c0, %i] : memref<4x64xf32>, vector<16xf32>
    %h4 = vector.load %h[%i] : memref<64xf16>, vector<4xf16>
    %x4 = arith.extf %h4 : vector<4xf16> to vector<4xf32>
    %y4 = arith.addf %x4, %v4 : vector<4xf32>
    %z4 = arith.truncf %y4 : vector<4xf32> to vector<4xf16>
    vector.store %z4, %h[%c0] : memref<64xf16>, vector<4xf16>
    %f4 = vector.load %f[%i] : memref<64xi1>, vector<4xi1>
    vector.store %f4, %f[%c0] : memref<64xi1>, vector<4xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "contiguous"} : () -> ()

  "gpu.func"() <{function_type = (memref<8xf32>, memref<8x16xf32>, memref<16xf32>) -> (), kernel}> ({
  ^bb0(%a : memref<8xf32>, %b : memref<8x16xf32>, %out : memref<16xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (vector<16xf32>) {
      %x = memref.load %a[%k] : memref<8xf32>
      %xs = vector.broadcast %x : f32 to vector<16xf32>
      %y = vector.load %b[%k, %c0] : memref<8x16xf32>, vector<16xf32>
      %next = vector.fma %xs, %y, %acc : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.store %sum, %out[%c0] : memref<16xf32>, vector<16xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "multiply_add"} : () -> ()

  // A step of a sum stands before the next one's factors are loaded: in short vectors and scalars, of
  // which there are registers enough, the sum is one expression.
  "gpu.func"() <{function_type = (memref<8xf32>, memref<8x16xf32>, memref<16xf32>) -> (), kernel}> ({
  ^bb0(%a : memref<8xf32>, %b : memref<8x16xf32>, %out : memref<16xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %sum = vector.load %out[%c0] : memref<16xf32>, vector<16xf32>
    %x = vector.load %b[%c0, %c0] : memref<8x16xf32>, vector<16xf32>
    %0 = arith.mulf %x, %x : vector<16xf32>
    %1 = arith.addf %sum, %0 : vector<16xf32>
    %y = vector.load %b[%c1, %c0] : memref<8x16xf32>, vector<16xf32>
    %2 = arith.mulf %y, %y : vector<16xf32>
    %3 = arith.addf %1, %2 : vector<16xf32>
    vector.store %3, %out[%c0] : memref<16xf32>, vector<16xf32>
    %short = vector.load %out[%c0] : memref<16xf32>, vector<4xf32>
    %xs = vector.load %b[%c0, %c0] : memref<8x16xf32>, vector<4xf32>
    %4 = arith.mulf %xs, %xs : vector<4xf32>
    %5 = arith.addf %short, %4 : vector<4xf32>
    %ys = vector.load %b[%c1, %c0] : memref<8x16xf32>, vector<4xf32>
    %6 = arith.mulf %ys, %ys : vector<4xf32>
    %7 = arith.addf %5, %6 : vector<4xf32>
    vector.store %7, %out[%c0] : memref<16xf32>, vector<4xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "steps"} : () -> ()

  "gpu.func"() <{function_type = (memref<16xf32>, memref<16xf32>, index, vector<4xi32>, memref<4xi32>) -> (), kernel}> ({
  ^bb0(%a : memref<16xf32>, %out : memref<16xf32>, %i : index, %n : vector<4xi32>, %ints : memref<4xi32>):
    %c0 = arith.constant 0 : index
    %v = vector.load %a[%c0] : memref<16xf32>, vector<16xf32>
    %w = vector.load %a[%i] : memref<16xf32>, vector<4xf32>
    %0 = vector.extract %v[11] : f32 from vector<16xf32>
    %1 = vector.extract %w[%i] : f32 from vector<4xf32>
    %2 = vector.insert %0, %w[1] : f32 into vector<4xf32>
    %3 = vector.insert %1, %2[2] : f32 into vector<4xf32>
    %4 = vector.insert %1, %3[%i] : f32 into vector<4xf32>
    %5 = vector.shuffle %w, %w[3, 2, 1, 0] : vector<4xf32>, vector<4xf32>
    %6 = vector.shuffle %4, %w[0, 5, -1, 7] : vector<4xf32>, vector<4xf32>
    %7 = arith.addf %5, %6 : vector<4xf32>
    %8 = vector.reduction <add>, %7 : vector<4xf32> into f32
    %9 = vector.reduction <maxnumf>, %7, %8 : vector<4xf32> into f32
    memref.store %9, %out[%c0] : memref<16xf32>
    %10 = vector.bitcast %7 : vector<4xf32> to vector<4xi32>
    vector.store %10, %ints[%c0] : memref<4xi32>, vector<4xi32>
    %11 = vector.reduction <minui>, %n : vector<4xi32> into i32
    memref.store %11, %ints[%c0] : memref<4xi32>
    %12 = vector.broadcast %11 : i32 to vector<4xi32>
    %13 = arith.ori %12, %n : vector<4xi32>
    vector.store %13, %ints[%c0] : memref<4xi32>, vector<4xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "lanes"} : () -> ()

  "gpu.func"() <{function_type = (memref<16xf32>, memref<16xf32>, f32) -> (), kernel}> ({
  ^bb0(%a : memref<16xf32>, %out : memref<16xf32>, %x : f32):
    %c0 = arith.constant 0 : index
    %v = vector.load %a[%c0] : memref<16xf32>, vector<4xf32>
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %xs = vector.broadcast %x : f32 to vector<4xf32>
    %0 = vector.shuffle %v, %xs[0, 5, -1, 7] : vector<4xf32>, vector<4xf32>
    vector.store %0, %out[%c0] : memref<16xf32>, vector<4xf32>
    %1 = vector.shuffle %v, %xs[4, 5] : vector<4xf32>, vector<4xf32>
    vector.store %1, %out[%c0] : memref<16xf32>, vector<2xf32>
    %2 = vector.shuffle %zeros, %zeros[0, 4] : vector<4xf32>, vector<4xf32>
    vector.store %2, %out[%c0] : memref<16xf32>, vector<2xf32>
    %3 = vector.extract %zeros[3] : f32 from vector<4xf32>
    memref.store %3, %out[%c0] : memref<16xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "lanes_of_one_number"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      static inline float4 round_half4(float4 x)
// CHECK-NEXT: {
// CHECK-NEXT:     ushort4 bits;
// CHECK-NEXT:     vstore_half4_rte(x, 0, (half *)&bits);
// CHECK-NEXT:     return vload_half4(0, (half *)&bits);
// CHECK-NEXT: }
//
// CHECK:      static inline float element_float4_int(float4 v, int i)
// CHECK-NEXT: {
// CHECK-NEXT:     float lanes[4];
// CHECK-NEXT:     vstore4(v, 0, lanes);
// CHECK-NEXT:     return lanes[i];
// CHECK-NEXT: }
//
// CHECK:      static inline float4 with_element_float4_int(float4 v, float x, int i)
// CHECK-NEXT: {
// CHECK-NEXT:     float lanes[4];
// CHECK-NEXT:     vstore4(v, 0, lanes);
// CHECK-NEXT:     lanes[i] = x;
// CHECK-NEXT:     return vload4(0, lanes);
// CHECK-NEXT: }
//
// CHECK:      __kernel void contiguous(
// CHECK-NEXT:     const __global float *restrict a,
// CHECK-NEXT:     __global half *restrict h,
// CHECK-NEXT:     __global uchar *restrict f,
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     int i)
// CHECK-NEXT: {
// CHECK-NEXT:     vstore2(vload2(0, a + i * 64), 0, out + i);
// CHECK-NEXT:     vstore3(vload3(0, a + i * 64), 0, out + i);
// CHECK-NEXT:     float4 v4 = vload4(0, a + i * 64);
// CHECK-NEXT:     vstore4(v4, 0, out + i);
// CHECK-NEXT:     vstore8(vload8(0, a + i * 64), 0, out + i);
// CHECK-NEXT:     vstore16(vload16(0, a + i * 64), 0, out + i);
// CHECK-NEXT:     vstore_half4_rte(vload_half4(0, h + i) + v4, 0, h);
// CHECK-NEXT:     vstore4(convert_uchar4(-(convert_int4(vload4(0, f + i)) != (int4)(0))), 0, f);
// CHECK-NEXT: }
//
// CHECK:      __kernel void multiply_add(
// CHECK-NEXT:     const __global float *restrict a,
// CHECK-NEXT:     const __global float *restrict b,
// CHECK-NEXT:     __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     float16 acc = (float16)(0.0f);
// CHECK-NEXT:     for (int k = 0; k < 8; ++k) {
// CHECK-NEXT:         acc += a[k] * vload16(0, b + k * 16);
// CHECK-NEXT:     }
// CHECK-NEXT:     vstore16(acc, 0, out);
// CHECK-NEXT: }
//
// CHECK:      __kernel void steps(
// CHECK-NEXT:     const __global float *restrict a,
// CHECK-NEXT:     const __global float *restrict b,
// CHECK-NEXT:     __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     float16 x = vload16(0, b);
// CHECK-NEXT:     float16 v = vload16(0, out) + x * x;
// CHECK-NEXT:     float16 y = vload16(0, b + 16);
// CHECK-NEXT:     vstore16(v + y * y, 0, out);
// CHECK-NEXT:     float4 xs = vload4(0, b);
// CHECK-NEXT:     float4 ys = vload4(0, b + 16);
// CHECK-NEXT:     vstore4(vload4(0, out) + xs * xs + ys * ys, 0, out);
// CHECK-NEXT: }
//
// CHECK:      __kernel void lanes(
// CHECK-NEXT:     const __global float *restrict a,
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     int i,
// CHECK-NEXT:     int4 n,
// CHECK-NEXT:     __global int *restrict ints)
// CHECK-NEXT: {
// CHECK-NEXT:     float4 w = vload4(0, a + i);
// CHECK-NEXT:     float v = element_float4_int(w, i);
// CHECK-NEXT:     float4 v_1 = w;
// CHECK-NEXT:     v_1.s1 = vload16(0, a).sb;
// CHECK-NEXT:     v_1.s2 = v;
// CHECK-NEXT:     v_1 = with_element_float4_int(v_1, v, i);
// CHECK-NEXT:     float4 v_2 = w.s3210 + (float4)(v_1.s0, w.s1, v_1.s0, w.s3);
// CHECK-NEXT:     float v_3 = v_2.s0 + v_2.s1 + v_2.s2 + v_2.s3;
// CHECK-NEXT:     out[0] = fmax(fmax(fmax(fmax(v_3, v_2.s0), v_2.s1), v_2.s2), v_2.s3);
// CHECK-NEXT:     vstore4(as_int4(v_2), 0, ints);
// CHECK-NEXT:     int v_4 = min(min(min((uint)n.s0, (uint)n.s1), (uint)n.s2), (uint)n.s3);
// CHECK-NEXT:     ints[0] = v_4;
// CHECK-NEXT:     vstore4((int4)(v_4) | n, 0, ints);
// CHECK-NEXT: }
//
// CHECK:      __kernel void lanes_of_one_number(
// CHECK:          float4 v = vload4(0, a);
// CHECK-NEXT:     vstore4((float4)(v.s0, x, v.s0, x), 0, out);
// CHECK-NEXT:     vstore2((float2)(x), 0, out);
// CHECK-NEXT:     vstore2((float2)(0.0f), 0, out);
// CHECK-NEXT:     out[0] = 0.0f;
// CHECK-NEXT: }
