// RUN: tile-opt %s -p math-polynomial-approximation | filecheck %s
// RUN: tile-opt %s -p 'math-polynomial-approximation{functions=erf,exp long_halves=erf}' | filecheck %s --check-prefix=FLOATS
// RUN: tile-opt %s -p math-polynomial-approximation | filecheck %s --check-prefix=LOG
// RUN: tile-opt %s -p math-polynomial-approximation -t opencl | filecheck %s --check-prefix=OPENCL

// Exponentials of f32 become arithmetic, on vectors too, those of f16 in f32; others stay.
// CHECK-NOT:  math.exp
// CHECK:      arith.cmpf olt
// CHECK:      arith.shli {{.*}} : vector<8xi32>
// CHECK:      arith.bitcast {{.*}} : vector<8xi32> to vector<8xf32>
// CHECK:      %e = arith.mulf {{.*}} : vector<8xf32>
// CHECK:      arith.extf %h : f16 to f32
// CHECK:      %g = arith.truncf {{.*}} : f32 to f16
// CHECK:      math.exp %d : f64
// CHECK-NOT:  math.exp
// FLOATS:     %g = arith.truncf
// FLOATS:     %es = math.exp %hs : vector<16xf16>
// FLOATS:     math.exp %d : f64
// FLOATS:     math.log %t : f32

// The logarithm's exponent is an integer, and what is no positive number has its own result.
// LOG:        arith.shrsi {{.*}} : i32
// LOG:        arith.sitofp {{.*}} : i32 to f32
// LOG-NOT:    math.log
// LOG-NOT:    math.tanh

// OPENCL:      float8 v = x < (float8)(-88.0f) ? (float8)(-88.0f) : x;
// OPENCL-NEXT: float8 v_1 = v > (float8)(89.0f) ? (float8)(89.0f) : v;
// OPENCL-NEXT: float8 v_2 = v_1 * 1.442695f + -0.5f + 1.2583039e+07f;
// OPENCL-NEXT: float8 v_3 = v_2 - 1.2583039e+07f;
// OPENCL-NEXT: float8 v_4 = v_1 - v_3 * 0.6933594f - v_3 * -0.00021219444f;
// OPENCL-NEXT: float8 v_5 = (((({{.*}} * v_4 + 0.5f) * v_4 + 1.0f;
// OPENCL-NEXT: vstore8((v_5 * v_4 + 1.0f) * as_float8(as_int8(as_uint8(as_int8(v_2)) << (int8)(23))), 0, X);

// What is not positive is only compared with the lower end, and parted at the nearest power of two.
// OPENCL:      float8 [[X:v_.*]] = y < (float8)(-88.0f) ? (float8)(-88.0f) : y;
// OPENCL-NEXT: float8 [[N:v_.*]] = [[X]] * 1.442695f + 1.2583039e+07f;
// OPENCL:      float8 {{.*}} = ((((0.0013814467f * {{.*}} + 0.5f) * {{.*}} + 1.0f;

// A half's is of fewer operations, and by the nearest power of two, too.
// OPENCL:      float [[H:v_.*]] = h < -18.0f ? -18.0f : h;
// OPENCL-NEXT: float [[I:v_.*]] = [[H]] > 12.0f ? 12.0f : [[H]];
// OPENCL-NEXT: float [[P:v_.*]] = [[I]] * 1.442695f + 1.2583039e+07f;
// OPENCL-NEXT: float [[R:v_.*]] = [[I]] - ([[P]] - 1.2583039e+07f) * 0.6931472f;
// OPENCL:      float g = round_half(

// Beyond a bound the error function takes an exponential, and the sign of its argument.
// OPENCL:      float [[SIZE:v_.*]] = fabs(t);
// OPENCL:      int [[FAR:v_.*]] = (as_int(t) & INT_MIN) | as_int(1.0f - {{.*}});
// OPENCL-NEXT: X[0] = [[SIZE]] > 0.9277344f ? as_float([[FAR]]) : ({{.*}} + 0.12837917f) * t + t;
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, memref<16xf16, 1 : i32>, memref<1xf64, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<8xf32, 1 : i32>, %H: memref<16xf16, 1 : i32>, %D: memref<1xf64, 1 : i32>):
    %zero = arith.constant 0 : index
    %x = vector.load %X[%zero] : memref<8xf32, 1 : i32>, vector<8xf32>
    %e = math.exp %x : vector<8xf32>
    vector.store %e, %X[%zero] : memref<8xf32, 1 : i32>, vector<8xf32>
    %y = vector.load %X[%zero] : memref<8xf32, 1 : i32>, vector<8xf32>
    %b = math.exp %y {tile.not_positive} : vector<8xf32>
    vector.store %b, %X[%zero] : memref<8xf32, 1 : i32>, vector<8xf32>
    %s = memref.load %X[%zero] : memref<8xf32, 1 : i32>
    %f = math.exp %s : f32
    memref.store %f, %X[%zero] : memref<8xf32, 1 : i32>
    %h = memref.load %H[%zero] : memref<16xf16, 1 : i32>
    %g = math.exp %h : f16
    memref.store %g, %H[%zero] : memref<16xf16, 1 : i32>
    %d = memref.load %D[%zero] : memref<1xf64, 1 : i32>
    %hs = vector.broadcast %g : f16 to vector<16xf16>
    %es = math.exp %hs : vector<16xf16>
    vector.store %es, %H[%zero] : memref<16xf16, 1 : i32>, vector<16xf16>
    %k = math.exp %d : f64
    memref.store %k, %D[%zero] : memref<1xf64, 1 : i32>
    %t = memref.load %X[%zero] : memref<8xf32, 1 : i32>
    %u = math.erf %t : f32
    memref.store %u, %X[%zero] : memref<8xf32, 1 : i32>
    %l = math.log %t : f32
    %m = math.tanh %l : f32
    memref.store %m, %X[%zero] : memref<8xf32, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
