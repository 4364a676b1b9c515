// RUN: tile-opt %s -p gpu-widen-bf16 | filecheck %s
// RUN: tile-opt %s -p gpu-widen-bf16 -t opencl | filecheck %s --check-prefix=OPENCL
// RUN: not tile-opt %s -t opencl 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: cannot print 'arith.addf' in @k {{.*}}: arithmetic on bf16 must be in f32: run gpu-widen-bf16 first

// A constant that is computed with is one of f32; a value is extended once, where it is defined.
// CHECK:      %one = arith.constant 1.000000e+00 : bf16
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %x = memref.load %a[%i] : memref<8xbf16, 1 : i32>
// CHECK-NEXT: %[[X:.*]] = arith.extf %x : bf16 to f32
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[X]], %[[ONE]] : f32
// CHECK-NEXT: %sum = arith.truncf %[[SUM]] : f32 to bf16
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.extf %sum : bf16 to f32

// The sign of a number of bf16 needs no rounding before it is used; what moves numbers stays.
// CHECK-NEXT: %[[NEG:.*]] = arith.negf %[[X]] : f32
// CHECK-NEXT: %neg = arith.truncf %[[NEG]] : f32 to bf16
// CHECK-NEXT: %[[POSITIVE:.*]] = math.absf %[[NEG]] : f32
// CHECK-NEXT: %positive = arith.truncf %[[POSITIVE]] : f32 to bf16
// CHECK-NEXT: %less = arith.cmpf olt, %[[X]], %[[ONE]] : f32
// CHECK-NEXT: %least = arith.select %less, %positive, %one : bf16
// CHECK-NEXT: memref.store %least
// CHECK-NEXT: %whole = arith.fptosi %[[X]] : f32 to i32
// CHECK-NEXT: %[[REAL:.*]] = arith.sitofp %whole : i32 to f32
// CHECK-NEXT: %real = arith.truncf %[[REAL]] : f32 to bf16
// CHECK-NEXT: memref.store %real
// CHECK-NEXT: %wide = arith.extf %x : bf16 to f64
// CHECK-NEXT: memref.store %wide
// CHECK-NEXT: %back = arith.truncf %wide : f64 to bf16
// CHECK:      scf.for %k = {{.*}} iter_args(%c = %back) -> (bf16)
// CHECK-NEXT:   %[[C:.*]] = arith.extf %c : bf16 to f32
// CHECK-NEXT:   arith.mulf %[[C]], %[[ROUNDED]] : f32
// CHECK-NEXT:   %next = arith.truncf
// CHECK-NEXT:   scf.yield %next : bf16
// CHECK:      %v = vector.load
// CHECK-NEXT: %[[V:.*]] = arith.extf %v : vector<4xbf16> to vector<4xf32>
// CHECK-NEXT: %twos =
// CHECK-NEXT: %[[TWOS:.*]] = arith.constant dense<2.000000e+00> : vector<4xf32>
// CHECK-NEXT: %[[E:.*]] = arith.mulf %[[V]], %[[TWOS]] : vector<4xf32>
// CHECK-NEXT: %e = arith.truncf %[[E]] : vector<4xf32> to vector<4xbf16>
// CHECK:      arith.bitcast %first : bf16 to f16

// In OpenCL C a number of bf16 is its bits.
// OPENCL:      static inline float float_from_bf16(short bits)
// OPENCL:      return as_float((uint)(as_ushort(bits)) << 16);
// OPENCL:      static inline short bf16_from_float(float x)
// OPENCL:      return as_short((ushort)(x != x ? (uint)0x7fc0 : nearest));
// OPENCL:      static inline float4 float4_from_bf16(short4 bits)
// OPENCL:      return as_float4(convert_uint4(as_ushort4(bits)) << 16);
// OPENCL:      static inline short4 bf16_from_float4(float4 x)
// OPENCL:      __kernel void k(__global short *restrict a, __global double *restrict d, int i)
// OPENCL:      short x = a[i];
// OPENCL-NEXT: float x_1 = float_from_bf16(x);
// OPENCL-NEXT: float sum = float_from_bf16(bf16_from_float(x_1 + 1.0f));
// OPENCL-NEXT: a[i] = (short)(x_1 < 1.0f ? bf16_from_float(fabs(-x_1)) : 16256);
// OPENCL-NEXT: a[i] = bf16_from_float((float)(int)x_1);
// OPENCL-NEXT: double wide = (double)float_from_bf16(x);
// OPENCL-NEXT: d[i] = wide;
// OPENCL-NEXT: short c = bf16_from_float((float)wide);
// OPENCL-NEXT: for (int k_1 = 0; k_1 < i; ++k_1) {
// OPENCL-NEXT:     c = bf16_from_float(float_from_bf16(c) * sum);
// OPENCL-NEXT: }
// OPENCL-NEXT: a[i] = c;
// OPENCL-NEXT: short4 e = bf16_from_float4(float4_from_bf16(vload4(0, a)) * 2.0f);
// OPENCL-NEXT: vstore4(e, 0, a);
// OPENCL-NEXT: d[i] = (double)round_half_from_bits(e.s0);
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<8xbf16, 1 : i32>, memref<8xf64, 1 : i32>, index) -> (), kernel}> ({
  ^bb0(%a: memref<8xbf16, 1 : i32>, %d: memref<8xf64, 1 : i32>, %i: index):
    %one = arith.constant 1.0 : bf16
    %x = memref.load %a[%i] : memref<8xbf16, 1 : i32>
    %sum = arith.addf %x, %one : bf16
    %neg = arith.negf %x : bf16
    %positive = math.absf %neg : bf16
    %less = arith.cmpf olt, %x, %one : bf16
    %least = arith.select %less, %positive, %one : bf16
    memref.store %least, %a[%i] : memref<8xbf16, 1 : i32>
    %whole = arith.fptosi %x : bf16 to i32
    %real = arith.sitofp %whole : i32 to bf16
    memref.store %real, %a[%i] : memref<8xbf16, 1 : i32>
    %wide = arith.extf %x : bf16 to f64
    memref.store %wide, %d[%i] : memref<8xf64, 1 : i32>
    %back = arith.truncf %wide : f64 to bf16
    %zero = arith.constant 0 : index
    %step = arith.constant 1 : index
    %last = scf.for %k = %zero to %i step %step iter_args(%c = %back) -> (bf16) {
      %next = arith.mulf %c, %sum : bf16
      scf.yield %next : bf16
    }
    memref.store %last, %a[%i] : memref<8xbf16, 1 : i32>
    %v = vector.load %a[%zero] : memref<8xbf16, 1 : i32>, vector<4xbf16>
    %twos = arith.constant dense<2.0> : vector<4xbf16>
    %e = arith.mulf %v, %twos : vector<4xbf16>
    vector.store %e, %a[%zero] : memref<8xbf16, 1 : i32>, vector<4xbf16>
    %first = vector.extract %e[0] : bf16 from vector<4xbf16>
    %half = arith.bitcast %first : bf16 to f16
    %other = arith.extf %half : f16 to f64
    memref.store %other, %d[%i] : memref<8xf64, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "k"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()
