// RUN: tile-opt %s -t opencl | filecheck %s

// Buffers are pointers; a view is an offset and strides.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<2x3x4xf32>, memref<?x4xf32, 1 : i32>, memref<4x4xf32, strided<[8, 2], offset: 3>>, memref<f32>, index, index) -> (), kernel}> ({
  ^bb0(%a : memref<2x3x4xf32>, %b : memref<?x4xf32, 1 : i32>, %c : memref<4x4xf32, strided<[8, 2], offset: 3>>, %scalar : memref<f32>, %i : index, %j : index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %0 = memref.load %a[%i, %j, %c2] : memref<2x3x4xf32>
    %1 = memref.load %b[%i, %c0] : memref<?x4xf32, 1 : i32>
    %2 = memref.load %c[%i, %j] : memref<4x4xf32, strided<[8, 2], offset: 3>>
    %3 = memref.load %a[%c1, %c2, %j] : memref<2x3x4xf32>
    %4 = arith.addi %i, %c1 : index
    %5 = memref.load %b[%4, %j] : memref<?x4xf32, 1 : i32>
    %6 = arith.addf %0, %1 : f32
    %7 = arith.mulf %2, %3 : f32
    %8 = arith.addf %6, %7 : f32
    %9 = arith.addf %8, %5 : f32
    memref.store %9, %scalar[] : memref<f32>
    "gpu.return"() : () -> ()
  }) {sym_name = "layouts"} : () -> ()

  "gpu.func"() <{function_type = (memref<64xf32>, memref<f32>, index) -> (), kernel}> ({
  ^bb0(%a : memref<64xf32>, %scalar : memref<f32>, %i : index):
    %c5 = arith.constant 5 : index
    %less = arith.constant -7 : index
    %0 = arith.addi %i, %c5 : index
    %1 = arith.subi %i, %c5 : index
    %2 = arith.subi %i, %less : index
    %3 = memref.load %a[%0] : memref<64xf32>
    %4 = memref.load %a[%1] : memref<64xf32>
    %5 = memref.load %a[%2] : memref<64xf32>
    %6 = arith.addf %3, %4 : f32
    %7 = arith.addf %6, %5 : f32
    memref.store %7, %scalar[] : memref<f32>
    %c8 = arith.constant 8 : index
    %near = arith.addi %i, %c8 : index
    %whole = vector.load %a[%near] : memref<64xf32>, vector<4xf32>
    %odd = arith.addi %i, %c5 : index
    %part = vector.load %a[%odd] : memref<64xf32>, vector<4xf32>
    %sum = arith.addf %whole, %part : vector<4xf32>
    vector.store %sum, %a[%i] : memref<64xf32>, vector<4xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "alone", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()

  "gpu.func"() <{function_type = (memref<4xi8>, memref<4xi1>, memref<4xf16>, memref<4xi64>, memref<4xindex>, index) -> (), kernel}> ({
  ^bb0(%bytes : memref<4xi8>, %flags : memref<4xi1>, %halves : memref<4xf16>, %longs : memref<4xi64>, %indices : memref<4xindex>, %i : index):
    %0 = memref.load %flags[%i] : memref<4xi1>
    %1 = memref.load %bytes[%i] : memref<4xi8>
    %2 = memref.load %halves[%i] : memref<4xf16>
    %3 = memref.load %indices[%i] : memref<4xindex>
    %4 = arith.select %0, %1, %1 : i8
    memref.store %0, %flags[%3] : memref<4xi1>
    memref.store %4, %bytes[%3] : memref<4xi8>
    memref.store %2, %halves[%3] : memref<4xf16>
    %5 = arith.index_cast %3 : index to i64
    memref.store %5, %longs[%i] : memref<4xi64>
    "gpu.return"() : () -> ()
  }) {sym_name = "types"} : () -> ()

  "gpu.func"() <{function_type = (memref<16xf32>, index) -> (), kernel}> ({
  ^bb0(%out : memref<16xf32>, %i : index):
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %padded = memref.alloca() : memref<4x8xf32, strided<[9, 1]>, 3 : i32>
    %halves = memref.alloc() : memref<16xf16, 3 : i32>
    %flags = memref.alloca() {alignment = 16 : i64} : memref<16xi1, 3 : i32>
    %private = memref.alloca() : memref<4xf32>
    %five = memref.alloca() : memref<4xf32, 5 : i32>
    %unused = memref.alloca() : memref<4xf32, 5 : i32>
    %v = vector.load %padded[%c3, %c0] : memref<4x8xf32, strided<[9, 1]>, 3 : i32>, vector<8xf32>
    vector.store %v, %out[%c0] : memref<16xf32>, vector<8xf32>
    %h = memref.load %halves[%i] : memref<16xf16, 3 : i32>
    memref.store %h, %halves[%c3] : memref<16xf16, 3 : i32>
    %hv = vector.load %halves[%i] : memref<16xf16, 3 : i32>, vector<4xf16>
    vector.store %hv, %halves[%c0] : memref<16xf16, 3 : i32>, vector<4xf16>
    %f = memref.load %flags[%i] : memref<16xi1, 3 : i32>
    memref.store %f, %flags[%c3] : memref<16xi1, 3 : i32>
    %p = memref.load %private[%i] : memref<4xf32>
    memref.store %p, %five[%i] : memref<4xf32, 5 : i32>
    memref.dealloc %halves : memref<16xf16, 3 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "arrays"} : () -> ()

  "gpu.func"() <{function_type = (memref<8x16xf32>, memref<128xf32>, index, index) -> (), kernel}> ({
  ^bb0(%a : memref<8x16xf32>, %out : memref<128xf32>, %i : index, %j : index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %block = memref.subview %a[%i, 4] [4, 8] [1, 2] : memref<8x16xf32> to memref<4x8xf32, strided<[16, 2], offset: ?>>
    %0 = memref.load %block[%c1, %j] : memref<4x8xf32, strided<[16, 2], offset: ?>>
    %inner = memref.subview %block[1, %j] [2, 2] [1, 1] : memref<4x8xf32, strided<[16, 2], offset: ?>> to memref<2x2xf32, strided<[16, 2], offset: ?>>
    %1 = memref.load %inner[%c1, %c1] : memref<2x2xf32, strided<[16, 2], offset: ?>>
    %row = memref.subview %a[%i, 0] [1, 16] [1, 1] : memref<8x16xf32> to memref<16xf32, strided<[1], offset: ?>>
    %2 = memref.load %row[%j] : memref<16xf32, strided<[1], offset: ?>>
    %cast = "memref.cast"(%a) : (memref<8x16xf32>) -> memref<?x16xf32>
    %aligned = memref.assume_alignment %cast, 64 : memref<?x16xf32>
    %3 = memref.load %aligned[%i, %j] : memref<?x16xf32>
    %flat = memref.collapse_shape %a [[0 : i64, 1 : i64]] : memref<8x16xf32> into memref<128xf32>
    %4 = memref.load %flat[%i] : memref<128xf32>
    %wide = memref.reinterpret_cast %out to offset: [%i], sizes: [4, 8], strides: [%j, 1] : memref<128xf32> to memref<4x8xf32, strided<[?, 1], offset: ?>>
    memref.store %0, %wide[%c1, %c0] : memref<4x8xf32, strided<[?, 1], offset: ?>>
    %cube = memref.expand_shape %a [[0 : i64, 1 : i64], [2 : i64]] output_shape [2, 4, 16] : memref<8x16xf32> into memref<2x4x16xf32>
    %5 = memref.load %cube[%c1, %i, %j] : memref<2x4x16xf32>
    %d = memref.dim %cube, %c1 : memref<2x4x16xf32>
    %r = "memref.rank"(%cube) : (memref<2x4x16xf32>) -> index
    %6 = arith.addf %1, %2 : f32
    %7 = arith.addf %6, %3 : f32
    %8 = arith.addf %7, %4 : f32
    %9 = arith.addf %8, %5 : f32
    memref.store %9, %out[%d] : memref<128xf32>
    memref.store %9, %out[%r] : memref<128xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "views"} : () -> ()

  "gpu.func"() <{function_type = (memref<4xf32>, memref<4xi32>, f32, i32, index) -> (), kernel}> ({
  ^bb0(%floats : memref<4xf32>, %ints : memref<4xi32>, %x : f32, %n : i32, %i : index):
    %0 = "memref.atomic_rmw"(%x, %floats, %i) <{kind = 0 : i64}> : (f32, memref<4xf32>, index) -> f32
    %1 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 1 : i64}> : (i32, memref<4xi32>, index) -> i32
    %2 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 2 : i64}> : (i32, memref<4xi32>, index) -> i32
    %3 = "memref.atomic_rmw"(%x, %floats, %i) <{kind = 3 : i64}> : (f32, memref<4xf32>, index) -> f32
    %4 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 4 : i64}> : (i32, memref<4xi32>, index) -> i32
    %5 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 5 : i64}> : (i32, memref<4xi32>, index) -> i32
    %6 = "memref.atomic_rmw"(%x, %floats, %i) <{kind = 6 : i64}> : (f32, memref<4xf32>, index) -> f32
    %7 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 7 : i64}> : (i32, memref<4xi32>, index) -> i32
    %8 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 8 : i64}> : (i32, memref<4xi32>, index) -> i32
    %9 = "memref.atomic_rmw"(%x, %floats, %i) <{kind = 9 : i64}> : (f32, memref<4xf32>, index) -> f32
    %10 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 10 : i64}> : (i32, memref<4xi32>, index) -> i32
    %11 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 11 : i64}> : (i32, memref<4xi32>, index) -> i32
    %12 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 12 : i64}> : (i32, memref<4xi32>, index) -> i32
    %13 = "memref.atomic_rmw"(%x, %floats, %i) <{kind = 13 : i64}> : (f32, memref<4xf32>, index) -> f32
    %14 = "memref.atomic_rmw"(%x, %floats, %i) <{kind = 14 : i64}> : (f32, memref<4xf32>, index) -> f32
    %15 = "memref.atomic_rmw"(%n, %ints, %i) <{kind = 15 : i64}> : (i32, memref<4xi32>, index) -> i32
    %local = memref.alloca() : memref<4xf32, 3 : i32>
    %old = "memref.atomic_rmw"(%x, %local, %i) <{kind = 2 : i64}> : (f32, memref<4xf32, 3 : i32>, index) -> f32
    %sum = "memref.atomic_rmw"(%old, %local, %i) <{kind = 0 : i64}> : (f32, memref<4xf32, 3 : i32>, index) -> f32
    "gpu.return"() : () -> ()
  }) {sym_name = "atomics"} : () -> ()

  "gpu.func"() <{function_type = (memref<4xf32>, memref<4xf32>, index) -> (), kernel}> ({
  ^bb0(%a : memref<4xf32>, %b : memref<4xf32>, %i : index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = memref.load %a[%c0] : memref<4xf32>
    memref.store %0, %b[%c0] : memref<4xf32>
    %before = memref.load %b[%i] : memref<4xf32>
    %also = memref.load %b[%c1] : memref<4xf32>
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %b[%i] : memref<4xf32>
    memref.store %before, %b[%c1] : memref<4xf32>
    "gpu.barrier"() : () -> ()
    memref.store %also, %b[%c0] : memref<4xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "order"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      static inline float atomic_addf_float_global(volatile __global float *p, float value)
// CHECK-NEXT: {
// CHECK-NEXT:     volatile __global int *bits = (volatile __global int *)p;
// CHECK-NEXT:     int seen = 0;
// CHECK-NEXT:     int expected;
// CHECK-NEXT:     do {
// CHECK-NEXT:         expected = seen;
// CHECK-NEXT:         float old = as_float(expected);
// CHECK-NEXT:         seen = atomic_cmpxchg(bits, expected, as_int(old + value));
// CHECK-NEXT:     } while (seen != expected);
// CHECK-NEXT:     return as_float(seen);
// CHECK-NEXT: }
//
// CHECK:      static inline float maximum_float(float a, float b)
// CHECK-NEXT: {
// CHECK-NEXT:     float zero = as_float(as_int(a) & as_int(b));
// CHECK-NEXT:     return a == b ? zero : (a > b || a != a) ? a : b;
// CHECK-NEXT: }
//
// CHECK:      static inline float atomic_maximumf_float_global(volatile __global float *p, float value)
// CHECK-NEXT: {
// CHECK-NEXT:     volatile __global int *bits = (volatile __global int *)p;
// CHECK-NEXT:     int seen = 0;
// CHECK-NEXT:     int expected;
// CHECK-NEXT:     do {
// CHECK-NEXT:         expected = seen;
// CHECK-NEXT:         float old = as_float(expected);
// CHECK-NEXT:         seen = atomic_cmpxchg(bits, expected, as_int(maximum_float(old, value)));
// CHECK-NEXT:     } while (seen != expected);
// CHECK-NEXT:     return as_float(seen);
// CHECK-NEXT: }
//
// CHECK:      static inline float minimum_float(float a, float b)
// CHECK-NEXT: {
// CHECK-NEXT:     float zero = as_float(as_int(a) | as_int(b));
// CHECK-NEXT:     return a == b ? zero : (a < b || a != a) ? a : b;
// CHECK-NEXT: }
//
// CHECK:      static inline float atomic_minimumf_float_global(volatile __global float *p, float value)
// CHECK-NEXT: {
// CHECK-NEXT:     volatile __global int *bits = (volatile __global int *)p;
// CHECK-NEXT:     int seen = 0;
// CHECK-NEXT:     int expected;
// CHECK-NEXT:     do {
// CHECK-NEXT:         expected = seen;
// CHECK-NEXT:         float old = as_float(expected);
// CHECK-NEXT:         seen = atomic_cmpxchg(bits, expected, as_int(minimum_float(old, value)));
// CHECK-NEXT:     } while (seen != expected);
// CHECK-NEXT:     return as_float(seen);
// CHECK-NEXT: }
//
// CHECK:      static inline float atomic_mulf_float_global(volatile __global float *p, float value)
// CHECK-NEXT: {
// CHECK-NEXT:     volatile __global int *bits = (volatile __global int *)p;
// CHECK-NEXT:     int seen = 0;
// CHECK-NEXT:     int expected;
// CHECK-NEXT:     do {
// CHECK-NEXT:         expected = seen;
// CHECK-NEXT:         float old = as_float(expected);
// CHECK-NEXT:         seen = atomic_cmpxchg(bits, expected, as_int(old * value));
// CHECK-NEXT:     } while (seen != expected);
// CHECK-NEXT:     return as_float(seen);
// CHECK-NEXT: }
//
// CHECK:      static inline int atomic_muli_int_global(volatile __global int *p, int value)
// CHECK-NEXT: {
// CHECK-NEXT:     volatile __global int *bits = (volatile __global int *)p;
// CHECK-NEXT:     int seen = 0;
// CHECK-NEXT:     int expected;
// CHECK-NEXT:     do {
// CHECK-NEXT:         expected = seen;
// CHECK-NEXT:         int old = as_int(expected);
// CHECK-NEXT:         seen = atomic_cmpxchg(bits, expected, as_int((int)((uint)old * value)));
// CHECK-NEXT:     } while (seen != expected);
// CHECK-NEXT:     return as_int(seen);
// CHECK-NEXT: }
//
// CHECK:      static inline float atomic_maxnumf_float_global(volatile __global float *p, float value)
// CHECK-NEXT: {
// CHECK-NEXT:     volatile __global int *bits = (volatile __global int *)p;
// CHECK-NEXT:     int seen = 0;
// CHECK-NEXT:     int expected;
// CHECK-NEXT:     do {
// CHECK-NEXT:         expected = seen;
// CHECK-NEXT:         float old = as_float(expected);
// CHECK-NEXT:         seen = atomic_cmpxchg(bits, expected, as_int(fmax(old, value)));
// CHECK-NEXT:     } while (seen != expected);
// CHECK-NEXT:     return as_float(seen);
// CHECK-NEXT: }
//
// CHECK:      static inline float atomic_minnumf_float_global(volatile __global float *p, float value)
// CHECK-NEXT: {
// CHECK-NEXT:     volatile __global int *bits = (volatile __global int *)p;
// CHECK-NEXT:     int seen = 0;
// CHECK-NEXT:     int expected;
// CHECK-NEXT:     do {
// CHECK-NEXT:         expected = seen;
// CHECK-NEXT:         float old = as_float(expected);
// CHECK-NEXT:         seen = atomic_cmpxchg(bits, expected, as_int(fmin(old, value)));
// CHECK-NEXT:     } while (seen != expected);
// CHECK-NEXT:     return as_float(seen);
// CHECK-NEXT: }
//
// CHECK:      static inline float atomic_addf_float_local(volatile __local float *p, float value)
// CHECK-NEXT: {
// CHECK-NEXT:     volatile __local int *bits = (volatile __local int *)p;
// CHECK-NEXT:     int seen = 0;
// CHECK-NEXT:     int expected;
// CHECK-NEXT:     do {
// CHECK-NEXT:         expected = seen;
// CHECK-NEXT:         float old = as_float(expected);
// CHECK-NEXT:         seen = atomic_cmpxchg(bits, expected, as_int(old + value));
// CHECK-NEXT:     } while (seen != expected);
// CHECK-NEXT:     return as_float(seen);
// CHECK-NEXT: }
//
// CHECK:      __kernel void layouts(
// CHECK-NEXT:     const __global float *restrict a,
// CHECK-NEXT:     const __global float *restrict b,
// CHECK-NEXT:     const __global float *restrict c,
// CHECK-NEXT:     __global float *restrict scalar,
// CHECK-NEXT:     int i,
// CHECK-NEXT:     int j)
// CHECK-NEXT: {
// CHECK-NEXT:     scalar[0] = a[i * 12 + j * 4 + 2] + b[i * 4] + c[i * 8 + j * 2 + 3] * a[j + 20] + b[(i + 1) * 4 + j];
// CHECK-NEXT: }
//
// Constants are added to the pointer where a work-item is alone; whole vectors are counted.
// CHECK:      __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void alone(
// CHECK:          scalar[0] = (a + i)[5] + (a + i)[-5] + (a + i)[7];
// CHECK-NEXT:     vstore4(vload4(2, a + i) + vload4(0, a + i + 5), 0, a + i);

// CHECK:      __kernel void types(
// CHECK-NEXT:     __global char *restrict bytes,
// CHECK-NEXT:     __global uchar *restrict flags,
// CHECK-NEXT:     __global half *restrict halves,
// CHECK-NEXT:     __global long *restrict longs,
// CHECK-NEXT:     const __global int *restrict indices,
// CHECK-NEXT:     int i)
// CHECK-NEXT: {
// CHECK-NEXT:     bool v = flags[i] != 0;
// CHECK-NEXT:     char v_1 = bytes[i];
// CHECK-NEXT:     float v_2 = vload_half(i, halves);
// CHECK-NEXT:     int v_3 = indices[i];
// CHECK-NEXT:     flags[v_3] = v;
// CHECK-NEXT:     bytes[v_3] = (char)(v ? v_1 : v_1);
// CHECK-NEXT:     vstore_half_rte(v_2, v_3, halves);
// CHECK-NEXT:     longs[i] = (long)v_3;
// CHECK-NEXT: }
//
// CHECK:      __kernel void arrays(__global float *restrict out, int i)
// CHECK-NEXT: {
// CHECK-NEXT:     __local float padded[35] __attribute__((aligned(64)));
// CHECK-NEXT:     __local ushort halves[16] __attribute__((aligned(64)));
// CHECK-NEXT:     __local uchar flags[16] __attribute__((aligned(16)));
// CHECK-NEXT:     float private_[4];
// CHECK-NEXT:     float five[4];
// CHECK-NEXT:     vstore8(vload8(0, padded + 27), 0, out);
// CHECK-NEXT:     ((__local short *)halves)[3] = ((const __local short *)halves)[i];
// CHECK-NEXT:     vstore4(vload4(0, (const __local short *)((__local half *)halves + i)), 0, (__local short *)((__local half *)halves));
// CHECK-NEXT:     flags[3] = flags[i] != 0;
// CHECK-NEXT:     five[i] = private_[i];
// CHECK-NEXT: }
//
// CHECK:      __kernel void views(const __global float *restrict a, __global float *restrict out, int i, int j)
// CHECK-NEXT: {
// CHECK-NEXT:     float v = a[i * 16 + j * 2 + 38];
// CHECK-NEXT:     float v_1 = a[i * 16 + j];
// CHECK-NEXT:     float v_2 = a[i * 16 + j];
// CHECK-NEXT:     float v_3 = a[i];
// CHECK-NEXT:     out[i + j] = a[i * 16 + j * 2 + 20];
// CHECK-NEXT:     float v_4 = v + v_1 + v_2 + v_3 + a[i * 16 + j + 64];
// CHECK-NEXT:     out[4] = v_4;
// CHECK-NEXT:     out[3] = v_4;
// CHECK-NEXT: }
//
// CHECK:      __kernel void atomics(
// CHECK-NEXT:     __global float *restrict floats,
// CHECK-NEXT:     __global int *restrict ints,
// CHECK-NEXT:     float x,
// CHECK-NEXT:     int n,
// CHECK-NEXT:     int i)
// CHECK-NEXT: {
// CHECK-NEXT:     __local float local_[4];
// CHECK-NEXT:     atomic_addf_float_global(&floats[i], x);
// CHECK-NEXT:     atomic_add(&ints[i], n);
// CHECK-NEXT:     atomic_xchg(&ints[i], n);
// CHECK-NEXT:     atomic_maximumf_float_global(&floats[i], x);
// CHECK-NEXT:     atomic_max(&ints[i], n);
// CHECK-NEXT:     atomic_max((volatile __global uint *)&ints[i], (uint)n);
// CHECK-NEXT:     atomic_minimumf_float_global(&floats[i], x);
// CHECK-NEXT:     atomic_min(&ints[i], n);
// CHECK-NEXT:     atomic_min((volatile __global uint *)&ints[i], (uint)n);
// CHECK-NEXT:     atomic_mulf_float_global(&floats[i], x);
// CHECK-NEXT:     atomic_muli_int_global(&ints[i], n);
// CHECK-NEXT:     atomic_or(&ints[i], n);
// CHECK-NEXT:     atomic_and(&ints[i], n);
// CHECK-NEXT:     atomic_maxnumf_float_global(&floats[i], x);
// CHECK-NEXT:     atomic_minnumf_float_global(&floats[i], x);
// CHECK-NEXT:     atomic_xor(&ints[i], n);
// CHECK-NEXT:     float old = atomic_xchg(&local_[i], x);
// CHECK-NEXT:     atomic_addf_float_local(&local_[i], old);
// CHECK-NEXT: }
//
// CHECK:      __kernel void order(const __global float *restrict a, __global float *restrict b, int i)
// CHECK-NEXT: {
// CHECK-NEXT:     b[0] = a[0];
// CHECK-NEXT:     float before = b[i];
// CHECK-NEXT:     float also = b[1];
// CHECK-NEXT:     b[i] = 0.0f;
// CHECK-NEXT:     b[1] = before;
// CHECK-NEXT:     barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
// CHECK-NEXT:     b[0] = also;
// CHECK-NEXT: }
