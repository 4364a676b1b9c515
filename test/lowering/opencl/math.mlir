// RUN: tile-opt %s -t opencl | filecheck %s

// The functions of math.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (f32, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%a : f32, %out : memref<1xf32>):
    %c0 = arith.constant 0 : index
    %0 = math.absf %a : f32
    memref.store %0, %out[%c0] : memref<1xf32>
    %1 = math.ceil %a : f32
    memref.store %1, %out[%c0] : memref<1xf32>
    %2 = math.floor %a : f32
    memref.store %2, %out[%c0] : memref<1xf32>
    %3 = math.trunc %a : f32
    memref.store %3, %out[%c0] : memref<1xf32>
    %4 = math.round %a : f32
    memref.store %4, %out[%c0] : memref<1xf32>
    %5 = math.roundeven %a : f32
    memref.store %5, %out[%c0] : memref<1xf32>
    %6 = math.sqrt %a : f32
    memref.store %6, %out[%c0] : memref<1xf32>
    %7 = math.rsqrt %a : f32
    memref.store %7, %out[%c0] : memref<1xf32>
    %8 = math.cbrt %a : f32
    memref.store %8, %out[%c0] : memref<1xf32>
    %9 = math.exp %a : f32
    memref.store %9, %out[%c0] : memref<1xf32>
    %10 = math.exp2 %a : f32
    memref.store %10, %out[%c0] : memref<1xf32>
    %11 = math.expm1 %a : f32
    memref.store %11, %out[%c0] : memref<1xf32>
    %12 = math.log %a : f32
    memref.store %12, %out[%c0] : memref<1xf32>
    %13 = math.log2 %a : f32
    memref.store %13, %out[%c0] : memref<1xf32>
    %14 = math.log10 %a : f32
    memref.store %14, %out[%c0] : memref<1xf32>
    %15 = math.log1p %a : f32
    memref.store %15, %out[%c0] : memref<1xf32>
    %16 = math.sin %a : f32
    memref.store %16, %out[%c0] : memref<1xf32>
    %17 = math.cos %a : f32
    memref.store %17, %out[%c0] : memref<1xf32>
    %18 = math.tan %a : f32
    memref.store %18, %out[%c0] : memref<1xf32>
    %19 = math.asin %a : f32
    memref.store %19, %out[%c0] : memref<1xf32>
    %20 = math.acos %a : f32
    memref.store %20, %out[%c0] : memref<1xf32>
    %21 = math.atan %a : f32
    memref.store %21, %out[%c0] : memref<1xf32>
    %22 = math.sinh %a : f32
    memref.store %22, %out[%c0] : memref<1xf32>
    %23 = math.cosh %a : f32
    memref.store %23, %out[%c0] : memref<1xf32>
    %24 = math.tanh %a : f32
    memref.store %24, %out[%c0] : memref<1xf32>
    %25 = math.asinh %a : f32
    memref.store %25, %out[%c0] : memref<1xf32>
    %26 = math.acosh %a : f32
    memref.store %26, %out[%c0] : memref<1xf32>
    %27 = math.atanh %a : f32
    memref.store %27, %out[%c0] : memref<1xf32>
    %28 = math.erf %a : f32
    memref.store %28, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "unary"} : () -> ()

  "gpu.func"() <{function_type = (f32, f32, i32, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%a : f32, %b : f32, %n : i32, %out : memref<1xf32>):
    %c0 = arith.constant 0 : index
    %0 = math.powf %a, %b : f32
    memref.store %0, %out[%c0] : memref<1xf32>
    %1 = math.atan2 %a, %b : f32
    memref.store %1, %out[%c0] : memref<1xf32>
    %2 = math.copysign %a, %b : f32
    memref.store %2, %out[%c0] : memref<1xf32>
    %3 = math.fma %a, %b, %a : f32
    memref.store %3, %out[%c0] : memref<1xf32>
    %4 = math.fpowi %a, %n : f32, i32
    memref.store %4, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "others"} : () -> ()

  "gpu.func"() <{function_type = (f16, memref<1xf16>) -> (), kernel}> ({
  ^bb0(%a : f16, %out : memref<1xf16>):
    %c0 = arith.constant 0 : index
    %0 = math.floor %a : f16
    memref.store %0, %out[%c0] : memref<1xf16>
    %1 = math.exp %a : f16
    memref.store %1, %out[%c0] : memref<1xf16>
    %2 = math.absf %a : f16
    memref.store %2, %out[%c0] : memref<1xf16>
    "gpu.return"() : () -> ()
  }) {sym_name = "halves"} : () -> ()

  "gpu.func"() <{function_type = (vector<8xf32>, memref<8xf32>) -> (), kernel}> ({
  ^bb0(%a : vector<8xf32>, %out : memref<8xf32>):
    %c0 = arith.constant 0 : index
    %0 = math.exp %a : vector<8xf32>
    %1 = math.sqrt %0 : vector<8xf32>
    vector.store %1, %out[%c0] : memref<8xf32>, vector<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "vectors"} : () -> ()

  "gpu.func"() <{function_type = (i32, i32, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : i32, %b : i32, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = math.absi %a : i32
    memref.store %0, %out[%c0] : memref<1xi32>
    %1 = math.ctlz %a : i32
    memref.store %1, %out[%c0] : memref<1xi32>
    %2 = math.cttz %a : i32
    memref.store %2, %out[%c0] : memref<1xi32>
    %3 = math.ctpop %a : i32
    memref.store %3, %out[%c0] : memref<1xi32>
    %4 = math.ipowi %a, %b : i32
    memref.store %4, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "integers"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      static inline float round_half(float x)
// CHECK-NEXT: {
// CHECK-NEXT:     ushort bits;
// CHECK-NEXT:     vstore_half_rte(x, 0, (half *)&bits);
// CHECK-NEXT:     return vload_half(0, (half *)&bits);
// CHECK-NEXT: }
//
// CHECK:      static inline int cttz_int(uint a)
// CHECK-NEXT: {
// CHECK-NEXT:     uint below = ~a & (a - 1);
// CHECK-NEXT:     return as_int(popcount(below));
// CHECK-NEXT: }
//
// CHECK:      static inline int ipow_int(int base, int power)
// CHECK-NEXT: {
// CHECK-NEXT:     if (power < 0)
// CHECK-NEXT:         return base == 1 ? 1 : base == -1 ? (power & 1 ? -1 : 1) : 0;
// CHECK-NEXT:     uint square = base;
// CHECK-NEXT:     uint result = 1;
// CHECK-NEXT:     for (; power > 0; power >>= 1) {
// CHECK-NEXT:         if (power & 1)
// CHECK-NEXT:             result *= square;
// CHECK-NEXT:         square *= square;
// CHECK-NEXT:     }
// CHECK-NEXT:     return result;
// CHECK-NEXT: }
//
// CHECK:      __kernel void unary(float a, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = fabs(a);
// CHECK-NEXT:     out[0] = ceil(a);
// CHECK-NEXT:     out[0] = floor(a);
// CHECK-NEXT:     out[0] = trunc(a);
// CHECK-NEXT:     out[0] = round(a);
// CHECK-NEXT:     out[0] = rint(a);
// CHECK-NEXT:     out[0] = sqrt(a);
// CHECK-NEXT:     out[0] = rsqrt(a);
// CHECK-NEXT:     out[0] = cbrt(a);
// CHECK-NEXT:     out[0] = exp(a);
// CHECK-NEXT:     out[0] = exp2(a);
// CHECK-NEXT:     out[0] = expm1(a);
// CHECK-NEXT:     out[0] = log(a);
// CHECK-NEXT:     out[0] = log2(a);
// CHECK-NEXT:     out[0] = log10(a);
// CHECK-NEXT:     out[0] = log1p(a);
// CHECK-NEXT:     out[0] = sin(a);
// CHECK-NEXT:     out[0] = cos(a);
// CHECK-NEXT:     out[0] = tan(a);
// CHECK-NEXT:     out[0] = asin(a);
// CHECK-NEXT:     out[0] = acos(a);
// CHECK-NEXT:     out[0] = atan(a);
// CHECK-NEXT:     out[0] = sinh(a);
// CHECK-NEXT:     out[0] = cosh(a);
// CHECK-NEXT:     out[0] = tanh(a);
// CHECK-NEXT:     out[0] = asinh(a);
// CHECK-NEXT:     out[0] = acosh(a);
// CHECK-NEXT:     out[0] = atanh(a);
// CHECK-NEXT:     out[0] = erf(a);
// CHECK-NEXT: }
//
// CHECK:      __kernel void others(float a, float b, int n, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = pow(a, b);
// CHECK-NEXT:     out[0] = atan2(a, b);
// CHECK-NEXT:     out[0] = copysign(a, b);
// CHECK-NEXT:     out[0] = fma(a, b, a);
// CHECK-NEXT:     out[0] = pown(a, n);
// CHECK-NEXT: }
//
// CHECK:      __kernel void halves(float a, __global half *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     vstore_half_rte(floor(a), 0, out);
// CHECK-NEXT:     vstore_half_rte(exp(a), 0, out);
// CHECK-NEXT:     vstore_half_rte(fabs(a), 0, out);
// CHECK-NEXT: }
//
// CHECK:      __kernel void vectors(float8 a, __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     vstore8(sqrt(exp(a)), 0, out);
// CHECK-NEXT: }
//
// CHECK:      __kernel void integers(int a, int b, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = abs(a);
// CHECK-NEXT:     out[0] = clz(a);
// CHECK-NEXT:     out[0] = cttz_int((uint)a);
// CHECK-NEXT:     out[0] = popcount(a);
// CHECK-NEXT:     out[0] = ipow_int(a, b);
// CHECK-NEXT: }
