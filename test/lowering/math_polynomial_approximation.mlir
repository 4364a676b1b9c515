// RUN: tile-opt %s -p math-polynomial-approximation | filecheck %s
// RUN: tile-opt %s -p math-polynomial-approximation -t opencl | filecheck %s --check-prefix=OPENCL

// Exponentials of f32 become arithmetic, on vectors too; those of other types stay.
// CHECK-NOT:  math.exp
// CHECK:      nest.lanes "arith.cmpf" {predicate = 4 : i64
// CHECK:      arith.shli {{.*}} : vector<8xi32>
// CHECK:      arith.bitcast {{.*}} : vector<8xi32> to vector<8xf32>
// CHECK:      %e = arith.mulf {{.*}} : vector<8xf32>
// CHECK:      math.exp %h : f16
// CHECK-NOT:  math.exp

// OPENCL:      float8 v = x < (float8)(-105.0f) ? (float8)(-105.0f) : x;
// OPENCL-NEXT: float8 v_1 = v > (float8)(89.0f) ? (float8)(89.0f) : v;
// OPENCL-NEXT: float8 v_2 = v_1 * 0.7213475f + 1.2583039e+07f;
// OPENCL-NEXT: float8 v_3 = v_2 - 1.2583039e+07f;
// OPENCL-NEXT: float8 v_4 = v_1 - v_3 * 1.3867188f - v_3 * -0.00042438888f;
// OPENCL-NEXT: float8 v_5 = as_float8(as_int8(as_uint8(as_int8(v_2)) << (int8)(23)));
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, memref<1xf16, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<8xf32, 1 : i32>, %H: memref<1xf16, 1 : i32>):
    %zero = arith.constant 0 : index
    %x = vector.load %X[%zero] : memref<8xf32, 1 : i32>, vector<8xf32>
    %e = math.exp %x : vector<8xf32>
    vector.store %e, %X[%zero] : memref<8xf32, 1 : i32>, vector<8xf32>
    %s = memref.load %X[%zero] : memref<8xf32, 1 : i32>
    %f = math.exp %s : f32
    memref.store %f, %X[%zero] : memref<8xf32, 1 : i32>
    %h = memref.load %H[%zero] : memref<1xf16, 1 : i32>
    %g = math.exp %h : f16
    memref.store %g, %H[%zero] : memref<1xf16, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
